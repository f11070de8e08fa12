"""Hand-in 3: what exploration determines, a smallest variance, a fit, and how long to explore."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from paper.coursework._feedback import (
    array_of,
    distinct,
    number_of,
    passed,
    require,
    symmetric_of,
)
from paper.coursework._names import arrows, first_that, frozen, normalised, numbers, shares_of
from speedlib import estimation_cost, identifiability

#: Rewards of each explored action in the table of task 12, and how far a fit may be off.
TABLE_ROWS, FIT_TOLERANCE = 60, 0.04


class TwoLooks(NamedTuple):
    """Two explored arrows (2, 2), the deviations of their noise (2,), and a third arrow (2,)."""

    explored: np.ndarray
    sigma: np.ndarray
    third: np.ndarray


class Table(NamedTuple):
    """Three explored arrows (3, 2) and the rewards of each, one row an action."""

    features: np.ndarray
    rewards: np.ndarray


class LengthProblem(NamedTuple):
    """Unrelated actions: shares of the policy (A,), deviations (A,), the rounds in all."""

    policy: np.ndarray
    sigma: np.ndarray
    rounds: int


def looks_problem(student: str) -> np.ndarray:
    """Return the student's six arrows in the plane, some of them parallel."""
    return _looks_problem(normalised(student))


@lru_cache(maxsize=256)
def _looks_problem(student: str) -> np.ndarray:
    rng = numbers(student, "looks")
    lines = arrows(rng, 4, 2)
    again = rng.choice(4, 2, replace=False)
    copies = lines[again] * rng.choice([-2.0, -1.0, 2.0], 2)[:, None]
    return frozen(rng.permutation(np.vstack([lines, copies])))


def check_explored(student: str, explored: Any) -> None:
    """Check a set of actions: it must determine the noise of all six, with as few as possible."""
    x = looks_problem(student)
    require(explored is not None and explored is not ..., "explored is still empty.")
    looks = array_of("explored", explored, (len(np.ravel(explored)),), "a list of actions")
    require(
        np.all(looks == np.round(looks)),
        "explored must list actions by their numbers, 0 to 5.",
    )
    require(
        looks.size > 0 and looks.min() >= 0 and looks.max() <= 5,
        "There is no such action: Python counts the six actions from 0 to 5.",
    )
    chosen = np.unique(looks.astype(int))
    require(len(chosen) == len(looks), "An action is listed twice: it counts once.")
    require(
        len(chosen) >= 3,
        f"You explore {len(chosen)} actions: a symmetric 2 × 2 matrix has three unknowns, so "
        "fewer than three actions leave something open.",
    )
    seen = np.isin(np.arange(6), chosen).astype(float)
    lengths = np.linalg.norm(x, axis=1)
    for place, first in enumerate(chosen):
        for second in chosen[:place]:
            cosine = x[first] @ x[second] / (lengths[first] * lengths[second])
            lonely = len(chosen) == 3 and abs(abs(cosine) - 1) < 1e-9
            require(
                not lonely,
                f"Actions {second} and {first} are parallel: the second one shows nothing new "
                "about the noise.",
            )
    require(identifiability(x, seen).complete, "These actions leave some variance open.")
    require(
        len(chosen) == 3,
        f"These {len(chosen)} actions do show the noise of all, but three are enough.",
    )
    passed("Task 10")


def two_looks_problem(student: str) -> TwoLooks:
    """Return two explored arrows with their noise, and a third arrow, which is not explored."""
    return _two_looks_problem(normalised(student))


@lru_cache(maxsize=256)
def _two_looks_problem(student: str) -> TwoLooks:
    def draw(rng: np.random.Generator) -> TwoLooks:
        explored = arrows(rng, 2, 2, 2)
        parts = rng.choice([-2, -1, 1, 2], 2)
        sigma = rng.choice([1.0, 1.5, 2.0, 3.0, 4.0], 2, replace=False)
        return TwoLooks(explored, frozen(sigma), frozen(parts @ explored))

    def accept(drawn: TwoLooks) -> bool:
        parts = abs(np.linalg.solve(drawn.explored.T, drawn.third))
        first, second = parts * drawn.sigma
        lengths = np.linalg.norm(drawn.explored, axis=1)
        if abs(drawn.explored[0] @ drawn.explored[1]) > 0.7513 * lengths.prod():
            return False
        return bool(abs(first - second) > 0.4013 and min(first, second) > 0.5013)

    return first_that(numbers(student, "two looks"), draw, accept)


def check_smallest(student: str, Sigma: Any) -> None:
    """Check a noise matrix: it must fit both explored arrows and give the third the least noise."""
    explored, sigma, third = two_looks_problem(student)
    matrix = symmetric_of("Sigma", Sigma, 2)
    seen = np.einsum("ai,ij,aj->a", explored, matrix, explored)
    require(
        not np.allclose(seen, sigma, rtol=5e-3),
        "Your matrix gives the deviations where it should give the variances: x @ Sigma @ x is "
        "sigma squared.",
    )
    for place in range(2):
        require(
            np.isclose(seen[place], sigma[place] ** 2, rtol=0.015),
            f"Exploration found the variance {sigma[place] ** 2:g} at explored arrow {place}, but "
            f"your matrix gives {seen[place]:.3f}.",
        )
    correlation = explored[0] @ matrix @ explored[1] / sigma.prod()
    require(
        abs(correlation) <= 1.015,
        "Your matrix is not positive semidefinite: the noise of the explored arrows would have the "
        f"correlation {correlation:.3f}, and some direction a negative variance.",
    )
    first, second = abs(np.linalg.solve(explored.T, third)) * sigma
    found = float(third @ matrix @ third)
    require(
        not np.isclose(found, (first + second) ** 2, rtol=0.01),
        "This is the largest variance that exploration allows. Change the sign of the correlation.",
    )
    require(
        not np.isclose(found, first**2 + second**2, rtol=0.01),
        "You took the noise of the two explored arrows for uncorrelated. Exploration does not show "
        "that it is, and a correlation makes the third arrow quieter.",
    )
    require(
        found <= 1.03 * (first - second) ** 2 + 0.03 * first * second,
        f"Your matrix is possible and gives the third arrow the variance {found:.3f}. Another one "
        "that fits gives less.",
    )
    passed("Task 11")


def table_problem(student: str) -> Table:
    """Return the rewards of an exploration: three arrows, sixty rewards of each."""
    return _table_problem(normalised(student))


@lru_cache(maxsize=256)
def _table_problem(student: str) -> Table:
    def draw(rng: np.random.Generator) -> Table:
        x = arrows(rng, 3, 2, 2)
        root = rng.integers(-2, 3, (2, 2)) + 3 * np.eye(2)
        deviations = np.sqrt(((x @ root) ** 2).sum(axis=1)) / 2
        theta = rng.choice([-4.0, -3.0, 3.0, 4.0], 2)
        noise = rng.standard_normal((3, TABLE_ROWS)) * deviations[:, None]
        return Table(x, frozen(np.round((x @ theta)[:, None] + noise, 2)))

    def accept(drawn: Table) -> bool:
        right = drawn.rewards.var(axis=1, ddof=1)
        mistakes = [(row, "") for row, _ in _table_mistakes(drawn)]
        matrix = _fit(drawn.features, right)
        good = np.linalg.eigvalsh(matrix)[0] > 0.05 * np.trace(matrix)
        far = all(max(abs(row / right - 1)) > 0.3 for row, _ in mistakes)
        mixed = abs(2 * drawn.features.prod(axis=1) * matrix[0, 1]) / right
        good = good and mixed.max() > 0.2
        return bool(good and far and distinct(right, [row for row, _ in mistakes], 0.05))

    return first_that(numbers(student, "table"), draw, accept)


def _fit(x: np.ndarray, variances: np.ndarray) -> np.ndarray:
    rows = np.column_stack([x[:, 0] ** 2, 2 * x[:, 0] * x[:, 1], x[:, 1] ** 2])
    first, mixed, last = np.linalg.solve(rows, variances)
    return np.array([[first, mixed], [mixed, last]])


def _table_mistakes(problem: Table) -> list[tuple[np.ndarray, str]]:
    rewards = problem.rewards
    within = rewards.var(axis=1)
    return [
        (
            (rewards**2).mean(axis=1),
            "You squared the rewards themselves. Subtract the mean of each action first: only the "
            "rest is noise.",
        ),
        (
            np.sqrt(rewards.var(axis=1, ddof=1)),
            "You fitted the deviations. x @ Sigma @ x is a variance.",
        ),
        (
            within * TABLE_ROWS,
            "You summed the squared residuals. Divide by the number of rewards of that action.",
        ),
        (
            within / 3,
            "You divided by the number of all rewards. Each action's squares belong to its own "
            f"{TABLE_ROWS} rewards.",
        ),
        (
            within / TABLE_ROWS,
            "This is the variance of a mean. The noise of a single reward is "
            f"{TABLE_ROWS} times as large.",
        ),
        (
            np.full(3, within.mean()),
            "You gave all actions the same variance. Here the noise depends on the action.",
        ),
        (
            rewards.var() * np.ones(3),
            "You pooled all rewards. Different means are not noise: treat each action by itself.",
        ),
    ]


def check_fitted(student: str, Sigma_hat: Any) -> None:
    """Check a fitted noise matrix by the variances that it gives the explored arrows."""
    problem = table_problem(student)
    x, rewards = problem
    matrix = symmetric_of("Sigma_hat", Sigma_hat, 2)
    found = np.einsum("ai,ij,aj->a", x, matrix, x)
    right = rewards.var(axis=1, ddof=1)
    theta = np.linalg.lstsq(x, rewards.mean(axis=1), rcond=None)[0]
    residual = ((rewards - (x @ theta)[:, None]) ** 2).mean(axis=1)
    if any(np.allclose(found, each, rtol=FIT_TOLERANCE) for each in (right, residual)):
        passed("Task 12")
        return
    for value, feedback in _table_mistakes(problem):
        require(not np.allclose(found, value, rtol=FIT_TOLERANCE), feedback)
    halved = found - x[:, 0] * x[:, 1] * matrix[0, 1]
    require(
        not np.allclose(halved, right, rtol=FIT_TOLERANCE),
        "Your entry off the diagonal is twice too large: x @ Sigma @ x holds it twice, once for "
        "each order.",
    )
    raise AssertionError(
        f"Your matrix gives the explored arrows the variances {found.round(2).tolist()}; their "
        f"rewards scatter with {right.round(2).tolist()}."
    )


def length_problem(student: str) -> LengthProblem:
    """Return the student's five unrelated actions, all explored equally often, and the rounds."""
    return _length_problem(normalised(student))


@lru_cache(maxsize=256)
def _length_problem(student: str) -> LengthProblem:
    def draw(rng: np.random.Generator) -> LengthProblem:
        sigma = rng.choice([0.5, 1.0, 2.0, 4.0, 8.0], 5, replace=False)
        return LengthProblem(shares_of(rng, 5), frozen(sigma), 1000 * int(rng.integers(4, 41)))

    def accept(drawn: LengthProblem) -> bool:
        right, mistakes = _lengths(drawn)
        return distinct(right, [value for value, _ in mistakes], 0.0813)

    return first_that(numbers(student, "length"), draw, accept)


def cost_of_noise(problem: LengthProblem) -> float:
    """Return ψ for equal exploration of the five actions and Gaussian noise."""
    policy, sigma, _ = problem
    best = policy * sigma / (policy @ sigma)
    return float(estimation_cost(np.eye(5), sigma**2, best, np.full(5, 0.2)))


def _lengths(problem: LengthProblem) -> tuple[float, list[tuple[float, str]]]:
    policy, sigma, n = problem
    psi = cost_of_noise(problem)
    at_policy = float(estimation_cost(np.eye(5), sigma**2, policy, np.full(5, 0.2)))
    return float(np.sqrt(psi * n)), [
        (np.sqrt(n), "This is the paper's √n. The best length depends on ψ as well."),
        (psi * n, "You forgot the root: both costs are equal at √(ψ n)."),
        (psi * np.sqrt(n), "ψ belongs under the root as well: both costs are equal at √(ψ n)."),
        (
            np.sqrt(n / psi),
            "You inverted ψ: where the noise is more expensive to learn, explore longer.",
        ),
        (
            np.sqrt(at_policy * n),
            "You took ψ at the policy's shares. Take it at the best shares, which are in "
            "proportion to policy · sigma.",
        ),
        (2 * np.sqrt(psi * n), "These are all the lost rounds. Exploration is half of them."),
        (float(n), "All n rounds would be exploration, and none is left to commit."),
    ]


def check_length(student: str, length: Any) -> None:
    """Check the length of exploration: the number of lost rounds must be the least."""
    problem = length_problem(student)
    gamma = number_of("length", length)
    right, mistakes = _lengths(problem)
    for value, feedback in mistakes:
        require(abs(gamma - value) > 0.01 * value, feedback)
    require(gamma == round(gamma), f"length must be a whole number of rounds; got {gamma:g}.")
    n = problem.rounds
    require(0 < gamma < n, f"length must lie between 1 and {n - 1}; got {gamma:g}.")
    lost, least = gamma + right**2 / gamma, 2 * right
    require(
        abs(gamma - right) <= 1,
        f"With {gamma:g} rounds of exploration {lost:.1f} rounds are lost in all; the least is "
        f"{least:.1f}.",
    )
    passed("Task 13")
