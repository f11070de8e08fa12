"""Hand-in 1: the target direction, sharing tries, Proposition 1, an estimate."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from paper.coursework._feedback import (
    array_of,
    close,
    distinct,
    number_of,
    passed,
    recognise,
    require,
)
from paper.coursework._names import arrows, first_that, frozen, normalised, numbers, shares_of

#: Replications with which an estimate is tried, and how many standard errors it may be off.
REPLICATIONS, STANDARD_ERRORS = 2000, 5


class Arrows(NamedTuple):
    """A bandit with its policy: features (A, d), shares (A,), standard deviations of noise (A,)."""

    features: np.ndarray
    policy: np.ndarray
    sigma: np.ndarray


class Arms(NamedTuple):
    """Unrelated actions: shares of the policy (A,), deviations (A,), the rounds to spend."""

    policy: np.ndarray
    sigma: np.ndarray
    rounds: int


def first_problem(student: str) -> Arrows:
    """Return the student's four arrows in the plane, their policy and their noise."""
    return _first_problem(normalised(student))


@lru_cache(maxsize=256)
def _first_problem(student: str) -> Arrows:
    counts = estimate_counts(student)

    def draw(rng: np.random.Generator) -> Arrows:
        sigma = rng.choice([0.5, 1.0, 1.5, 2.0, 3.0, 4.0], 4, replace=False)
        return Arrows(arrows(rng, 4, 2), shares_of(rng, 4), frozen(sigma))

    def accept(drawn: Arrows) -> bool:
        right, mistakes = _directions(drawn)
        length = np.linalg.norm(right)
        apart = distinct(right, [value for value, _ in mistakes])
        return bool(
            length > 0.4013
            and abs(length - 1) > 0.1013
            and apart
            and _coefficients_differ(drawn, counts)
        )

    return first_that(numbers(student, "first"), draw, accept)


def _directions(problem: Arrows) -> tuple[np.ndarray, list[tuple[np.ndarray, str]]]:
    x, policy, sigma = problem
    right = policy @ x
    mistakes = [
        (
            x.mean(axis=0),
            "You averaged the arrows as if the policy played all of them equally often. Weight "
            "each arrow by its share policy[a].",
        ),
        (x.sum(axis=0), "You added the arrows without the policy. Weight each by policy[a]."),
        (policy**2 @ x, "The policy enters once: you used its square."),
        ((1 / policy) @ x, "You divided by the policy. Multiply each arrow by policy[a]."),
        (
            (policy * sigma) @ x,
            "The noise does not enter the target direction. Leave sigma out here.",
        ),
        (
            (policy / sigma) @ x,
            "The noise does not enter the target direction. Leave sigma out here.",
        ),
        (
            right / np.linalg.norm(right),
            "You scaled c to length 1. Its length counts: the value is c @ theta.",
        ),
    ]
    return right, mistakes


def check_direction(student: str, c: Any) -> None:
    """Check the target direction: it must give the policy's value for every parameter."""
    problem = first_problem(student)
    values = array_of("c", c, (2,), "one entry for each feature")
    right, mistakes = _directions(problem)
    recognise(values, mistakes)
    theta = numbers(student, "theta").integers(1, 6, 2).astype(float)
    value = float(problem.policy @ (problem.features @ theta))
    require(
        close(values, right),
        f"For theta = {theta.tolist()} the policy earns {value:.3f} on average, but c @ theta is "
        f"{values @ theta:.3f}.",
    )
    passed("Task 1")


def arms_problem(student: str) -> Arms:
    """Return the student's four unrelated actions and the budget for them."""
    return _arms_problem(normalised(student))


@lru_cache(maxsize=256)
def _arms_problem(student: str) -> Arms:
    def draw(rng: np.random.Generator) -> Arms:
        sigma = rng.choice([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 4, replace=False)
        return Arms(shares_of(rng, 4), frozen(sigma), int(rng.integers(60, 121)))

    def accept(drawn: Arms) -> bool:
        right, mistakes = _allocations(drawn)
        parts = [right, *(value for value, _ in mistakes)]
        apart = all(
            abs(parts[i] - parts[j]).max() > 4.013 for i in range(len(parts)) for j in range(i)
        )
        over = np.ceil(right).sum() > drawn.rounds > np.floor(right).sum()
        return bool(
            apart and over and right.min() > 3.013 and abs(right - np.round(right)).min() > 0.0513
        )

    return first_that(numbers(student, "arms"), draw, accept)


def _allocations(problem: Arms) -> tuple[np.ndarray, list[tuple[np.ndarray, str]]]:
    policy, sigma, rounds = problem

    def share(parts: np.ndarray) -> np.ndarray:
        return np.asarray(rounds * parts / parts.sum())

    mistakes = [
        (
            share(policy),
            "You shared the tries as the policy does, which forgets the noise. A noisy action "
            "needs more tries.",
        ),
        (
            share(policy * sigma**2),
            "You used the variance sigma². The rule has the deviation: tries in proportion to "
            "policy · sigma.",
        ),
        (
            share(policy**2 * sigma**2),
            "You used policy² · sigma², which is a variance. Tries belong in proportion to its "
            "root, policy · sigma.",
        ),
        (
            share(sigma),
            "You shared by the noise alone. An action that the policy plays more often counts "
            "more.",
        ),
        (
            share(policy / sigma),
            "You gave the noisy actions fewer tries. More noise needs more tries: multiply by "
            "sigma, do not divide.",
        ),
        (share(np.ones(4)), "You gave all actions the same number of tries."),
    ]
    return share(policy * sigma), mistakes


def least_counts(problem: Arms) -> np.ndarray:
    """Return the best whole numbers of tries; each try goes to the action where it helps most."""
    parts = problem.policy * problem.sigma
    counts = np.ones(len(parts), dtype=int)
    for _ in range(problem.rounds - len(parts)):
        counts[np.argmax(parts**2 / (counts * (counts + 1)))] += 1
    return counts


def check_counts(student: str, counts: Any) -> None:
    """Check tries: whole numbers that spend the budget, with almost the least error."""
    problem = arms_problem(student)
    given = array_of("counts", counts, (4,), "one number for each action")
    _, mistakes = _allocations(problem)
    for value, feedback in mistakes:
        require(abs(given - value).max() > 1.5, feedback)
    require(
        np.all(given == np.round(given)),
        f"A try cannot be split: counts must be whole numbers; got {given.tolist()}.",
    )
    require(given.min() >= 1, "Each action needs at least one try: the policy plays all of them.")
    total, budget = int(given.sum()), problem.rounds
    require(
        total <= budget,
        f"Your counts sum to {total}, but the budget is {budget}: rounding up spends too much.",
    )
    require(
        total >= budget,
        f"Your counts sum to {total}, and the budget is {budget}: rounding down left "
        f"{budget - total} unused.",
    )
    parts = (problem.policy * problem.sigma) ** 2
    found, least = (parts / given).sum(), (parts / least_counts(problem)).sum()
    require(
        found <= 1.005 * least,
        f"Your mean squared error is {100 * (found / least - 1):.1f} per cent above the least: is "
        "one more try worth the same for every action?",
    )
    passed("Task 2")


def _information(counts: np.ndarray, x: np.ndarray, precision: np.ndarray) -> np.ndarray:
    return np.asarray((x * (counts * precision)[:, None]).T @ x)


def check_mse(student: str, mse: Callable[..., Any]) -> None:
    """Check a function for the mean squared error of Proposition 1 on three allocations."""
    problem = first_problem(student)
    x, sigma = problem.features, problem.sigma
    c, variances = problem.policy @ x, sigma**2
    rng = numbers(student, "mse")
    for place in range(3):
        counts = rng.integers(2, 30, 4)
        if place == 2:
            counts[rng.integers(4)] = 0
        try:
            answer = mse(counts, x, variances, c)
        except (ZeroDivisionError, FloatingPointError, np.linalg.LinAlgError) as error:
            raise AssertionError(f"mse fails for counts = {counts.tolist()}: {error}.") from None
        require(answer is not None, "mse returns nothing: end it with `return`.")
        inverse = np.linalg.inv(_information(counts, x, 1 / variances))
        right = c @ inverse @ c
        alike = np.linalg.inv(_information(counts, x, np.ones(4)))
        deviation = np.linalg.inv(_information(counts, x, 1 / sigma))
        require(
            not np.any(np.isnan(np.asarray(answer, dtype=float))),
            f"mse is not a number for counts = {counts.tolist()}: an action with 0 tries adds "
            "nothing to the information, so never divide by counts.",
        )
        mistakes = [
            (
                c @ alike @ c,
                "You left the noise out: each action's term is divided by its variance.",
            ),
            (
                c @ deviation @ c,
                "You divided by sigma, the deviation: the weights of least squares are one over "
                "the variance, sigma squared.",
            ),
            (
                np.trace(inverse),
                "You took the trace of the inverse. Only the direction c counts: c @ inverse @ c.",
            ),
            (
                right / counts.sum(),
                "You divided by n once too often: the counts hold n already.",
            ),
            (
                right * counts.sum(),
                "This is n times the error: the sum over actions must use the counts, not the "
                "shares.",
            ),
            (np.sqrt(right), "You returned the root of the mean squared error."),
            (
                c @ _information(counts, x, 1 / variances) @ c,
                "You forgot to invert the information matrix: more tries made your error larger.",
            ),
        ]
        found = number_of("mse(...)", answer)
        recognise(found, mistakes, 1e-6)
        require(
            close(found, right, 1e-6),
            f"For counts = {counts.tolist()} the mean squared error is not {found:.5g}.",
        )
    passed("Task 3")


def _wls(counts: np.ndarray, x: np.ndarray, precision: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Return the coefficients of the mean rewards under given precisions."""
    inverse = np.linalg.inv(_information(counts, x, precision))
    return np.asarray(counts * precision * (x @ inverse @ c))


def estimate_counts(student: str) -> np.ndarray:
    """Return the numbers of tries for checking an estimate; the last action has none."""
    counts = numbers(student, "tries").choice(np.arange(3, 12), 4, replace=False)
    counts[3] = 0
    return np.asarray(counts)


def _coefficients_differ(problem: Arrows, counts: np.ndarray) -> bool:
    x, policy, sigma = problem
    c = policy @ x
    ways = [_wls(counts, x, v, c) for v in (1 / sigma**2, 1 / sigma, np.ones(4), sigma**2)]
    ways.append(_wls(np.minimum(counts, 1), x, 1 / sigma**2, c))
    return distinct(ways[0], [*ways[1:], policy], 0.0513)


def check_estimate(student: str, estimate: Callable[..., Any]) -> None:
    """Check an estimate: common mistakes by its coefficients, then bias and error by simulation."""
    problem = first_problem(student)
    x, policy, sigma = problem
    c, variances, counts = policy @ x, sigma**2, estimate_counts(student)
    rng = numbers(student, "rewards")

    def value(means: np.ndarray) -> float:
        return number_of("estimate(...)", estimate(means, counts, x, variances, c))

    coefficients = np.array([value(row) for row in np.eye(4)])
    mistakes = [
        (
            policy,
            "You averaged the mean rewards with the policy's shares. Action 3 has no rewards, so "
            "its 0 makes the estimate wrong: fit theta first.",
        ),
        (
            _wls(counts, x, np.ones(4), c),
            "Your least squares is unweighted: it is unbiased, but its error is larger than "
            "need be. Weight each action by counts / variances.",
        ),
        (
            _wls(counts, x, 1 / sigma, c),
            "Your weights are not squared: they use sigma where least squares needs the variance.",
        ),
        (
            _wls(counts, x, sigma**2, c),
            "You multiplied by the variance: noisy actions must count less, so divide.",
        ),
        (
            _wls(np.minimum(counts, 1), x, 1 / sigma**2, c),
            "You forgot how often each action was tried: a mean of more rewards counts more.",
        ),
    ]
    recognise(coefficients, mistakes, 1e-6)
    theta = rng.integers(1, 5, 2).astype(float)
    noise = rng.standard_normal((REPLICATIONS, 4)) * sigma / np.sqrt(np.maximum(counts, 1))
    means = np.where(counts > 0, x @ theta + noise, 0.0)
    errors = np.array([value(row) for row in means]) - c @ theta
    spread = errors.std() / np.sqrt(REPLICATIONS)
    require(
        abs(errors.mean()) <= STANDARD_ERRORS * max(spread, 1e-12),
        f"Your estimate is biased: over {REPLICATIONS} experiments it is off by "
        f"{errors.mean():.3g} on average, with a standard error of {spread:.2g}.",
    )
    least = c @ np.linalg.inv(_information(counts, x, 1 / variances)) @ c
    allowed = least * (1 + STANDARD_ERRORS * np.sqrt(2 / REPLICATIONS))
    found = (errors**2).mean()
    require(
        found <= allowed,
        f"Your estimate is unbiased, but its mean squared error, {found:.3g}, is above what "
        f"weighted least squares has, {least:.3g}.",
    )
    passed("Task 4")
