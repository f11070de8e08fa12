"""Hand-in 2: the shortest walk, the best shares, a slope that proves it, and what follows."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from paper.coursework._feedback import (
    array_of,
    close,
    design_of,
    distinct,
    number_of,
    passed,
    recognise,
    require,
    whole_number_of,
)
from paper.coursework._names import arrows, first_that, frozen, normalised, numbers, shares_of
from speedlib import optimal_design, pe_loss


class WalkProblem(NamedTuple):
    """Six arrows (6, 3), a policy and standard deviations (6,), a new arrow (3,), and a budget."""

    features: np.ndarray
    policy: np.ndarray
    sigma: np.ndarray
    newcomer: np.ndarray
    rounds: int


class Optimum(NamedTuple):
    """The shortest walk: its weights (A,), its length in steps, and a slope (d,) that proves it."""

    weights: np.ndarray
    steps: float
    slope: np.ndarray


def _optimum(x: np.ndarray, sigma: np.ndarray, c: np.ndarray) -> Optimum:
    best = optimal_design(x, sigma**2, direction=c)
    weights = np.zeros(len(x))
    weights[best.support] = np.linalg.lstsq(x[best.support].T, c, rcond=None)[0]
    return Optimum(weights, float(np.sqrt(best.value)), best.dual)


def walk_problem(student: str) -> WalkProblem:
    """Return the student's six arrows in three dimensions, with a policy and a budget."""
    return _walk_problem(normalised(student))


@lru_cache(maxsize=256)
def _walk_problem(student: str) -> WalkProblem:
    def draw(rng: np.random.Generator) -> WalkProblem:
        sigma = rng.choice([0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0], 6, replace=False)
        newcomer = rng.integers(-3, 4, 3)
        rounds = 10 * int(rng.integers(20, 61))
        return WalkProblem(
            arrows(rng, 6, 3), shares_of(rng, 6), frozen(sigma), frozen(newcomer), rounds
        )

    return first_that(numbers(student, "walk"), draw, _separates)


def _separates(problem: WalkProblem) -> bool:
    x, policy, sigma, newcomer, rounds = problem
    c = policy @ x
    if np.linalg.norm(c) < 0.4013:
        return False
    best = _optimum(x, sigma, c)
    legs = abs(best.weights) * sigma
    climbs = abs(x @ best.slope) / sigma
    if np.sum(legs > 0) != 3 or legs[legs > 0].min() < 0.0813 * best.steps:
        return False
    if np.sort(climbs)[2] > 0.9713 or best.weights.min() >= 0:
        return False
    if newcomer @ best.slope > -0.4987 or abs(newcomer @ best.slope + 1) < 0.1013:
        return False
    walks, shares, slopes, counts, thresholds = _all_mistakes(problem, best)
    ratio = pe_loss(policy, x, sigma**2, direction=c) / best.steps**2
    exact = rounds * ratio
    if not 1.3013 < ratio < 5.013 or not 0.0513 < exact - np.floor(exact) < 0.9487:
        return False
    return (
        distinct(best.weights, [value for value, _ in walks], 0.0513)
        and distinct(legs / legs.sum(), [value for value, _ in shares])
        and distinct(best.slope, [value for value, _ in slopes], 0.0513)
        and all(abs(value - exact) > 4.013 for value, _ in counts)
        and distinct(-newcomer @ best.slope, [value for value, _ in thresholds], 0.0513)
    )


Mistakes = list[tuple[Any, str]]


def _all_mistakes(
    problem: WalkProblem, best: Optimum
) -> tuple[Mistakes, Mistakes, Mistakes, Mistakes, Mistakes]:
    x, policy, sigma, newcomer, rounds = problem
    c = policy @ x
    alike, squared = _optimum(x, np.ones(6), c), _optimum(x, sigma**2, c)
    steps = best.weights * sigma
    walks: Mistakes = [
        (
            steps,
            "These are legs in steps. The weight of an action is its steps divided by sigma[a].",
        ),
        (
            policy,
            "The policy's own weights are one walk of many. A walk with fewer actions takes fewer "
            "steps.",
        ),
        (
            alike.weights,
            "This walk would be shortest if all actions were equally noisy. Count the steps: a "
            "weight w[a] takes |w[a]| · sigma[a] of them.",
        ),
        (
            squared.weights,
            "You minimised the sum of |w| · sigma². A step counts sigma, not sigma squared.",
        ),
        (
            np.linalg.pinv(x.T) @ c,
            "This walk has the least sum of squares. The shortest walk has the least sum of "
            "|w[a]| · sigma[a], and most of its legs are 0.",
        ),
        (
            abs(best.weights),
            "You dropped the sign of a weight. A leg may be walked backwards, and then its weight "
            "is negative.",
        ),
    ]
    legs = abs(steps)
    shares: Mistakes = [
        (legs, "These are the legs in steps. Divide them by their sum."),
        (
            steps / legs.sum(),
            "A share cannot be negative: a leg that is walked backwards needs rounds as well. Use "
            "|w[a]| · sigma[a].",
        ),
        (
            steps / steps.sum(),
            "You added legs with their signs. Shares use |w[a]| · sigma[a], without the sign.",
        ),
        (
            abs(best.weights) / abs(best.weights).sum(),
            "You forgot the noise: shares are in proportion to |w[a]| · sigma[a].",
        ),
        (
            legs * sigma / (legs * sigma).sum(),
            "You used the variance. Shares are in proportion to |w[a]| · sigma[a], with the "
            "deviation.",
        ),
        (
            legs**2 / (legs**2).sum(),
            "You squared the legs. Shares are in proportion to |w[a]| · sigma[a] itself.",
        ),
        (
            legs / np.linalg.norm(legs),
            "You normalised the squares to 1. Divide by the sum of the legs, not by their length.",
        ),
        (policy, "These are the policy's shares, not those of the best design."),
    ]
    slopes: Mistakes = [
        (-best.slope, "The slope points downhill: c lies below the start. Change its sign."),
        (
            alike.slope,
            "You forgot the noise: a step along action a is x(a) / sigma(a), and it may climb by "
            "at most 1.",
        ),
        (
            squared.slope,
            "You divided by the variance: a step along action a is x(a) / sigma(a).",
        ),
    ]
    ratio = pe_loss(policy, x, sigma**2, direction=c) / best.steps**2
    plain = policy @ sigma**2 / best.steps**2
    counts: Mistakes = [
        (
            rounds * np.sqrt(ratio),
            "You compared deviations. Rounds are in proportion to the mean squared error itself, "
            "without a root.",
        ),
        (rounds / ratio, "You divided the wrong way round: the policy needs more rounds."),
        (
            rounds * plain,
            "This is for the plain average of the policy's rewards. Weighted least squares uses "
            "them better.",
        ),
    ]
    thresholds: Mistakes = [
        ((newcomer @ best.slope) ** 2, "This is the variance. The threshold is for sigma."),
        (
            newcomer @ best.slope,
            "A deviation cannot be negative: a step may climb or fall by more than 1, so take the "
            "absolute value.",
        ),
        (abs(newcomer @ c), "Use the slope y, not c: what counts is how far a step climbs."),
        (
            1 / abs(newcomer @ best.slope),
            "You inverted the ratio: a step is x / sigma, so it climbs |x @ y| / sigma.",
        ),
    ]
    return walks, shares, slopes, counts, thresholds


@lru_cache(maxsize=256)
def _solved(student: str) -> tuple[WalkProblem, np.ndarray, Optimum, tuple[Mistakes, ...]]:
    problem = _walk_problem(student)
    c = problem.policy @ problem.features
    best = _optimum(problem.features, problem.sigma, c)
    return problem, c, best, _all_mistakes(problem, best)


def check_walk(student: str, w: Any) -> None:
    """Check a walk: it must lead to c, and no walk may have fewer steps."""
    problem, c, best, mistakes = _solved(normalised(student))
    weights = array_of("w", w, (6,), "one weight for each action")
    recognise(weights, mistakes[0])
    end = weights @ problem.features
    require(
        close(end, c, 5e-3),
        f"Your walk ends at {end.round(3).tolist()}, but c is {c.round(3).tolist()}: the sum of "
        "w[a] times the arrow must be c.",
    )
    steps = abs(weights) @ problem.sigma
    require(
        steps <= best.steps * 1.005,
        f"Your walk leads to c, in {steps:.3f} steps. Another walk takes fewer.",
    )
    passed("Task 5")


def check_shares(student: str, shares: Any) -> None:
    """Check shares: a design with almost the least loss."""
    problem, c, best, mistakes = _solved(normalised(student))
    given = np.asarray(shares, dtype=float) if shares is not None and shares is not ... else None
    if given is not None and given.shape == (3,):
        raise AssertionError(
            "You gave 3 numbers, one for each feature. Shares belong to actions: |w[a]| · sigma[a] "
            "for each of the six, not c."
        )
    values = array_of("shares", shares, (6,), "one share for each action")
    recognise(values, mistakes[1])
    design = design_of("shares", values, 6)
    loss = pe_loss(design, problem.features, problem.sigma**2, direction=c)
    require(
        np.isfinite(loss),
        "With these shares c cannot be estimated: the actions tried do not lead to it.",
    )
    require(
        loss <= 1.003 * best.steps**2,
        f"Your shares need {100 * (loss / best.steps**2 - 1):.1f} per cent more rounds than the "
        "best.",
    )
    passed("Task 6")


def check_slope(student: str, y: Any) -> None:
    """Check a slope: no step climbs by more than 1, and c lies as high as the walk is long."""
    problem, c, best, mistakes = _solved(normalised(student))
    slope = array_of("y", y, (3,), "one entry for each feature")
    recognise(slope, mistakes[2])
    climbs = problem.features @ slope / problem.sigma
    steepest = int(np.argmax(abs(climbs)))
    # What an entry rounded to three digits may change, where terms cancel.
    ground = np.maximum(abs(problem.features) @ abs(slope), problem.sigma)
    require(
        abs(climbs[steepest]) <= 1 + 3e-3 * ground[steepest] / problem.sigma[steepest],
        f"A step along action {steepest} climbs by {abs(climbs[steepest]):.3f}, and at most 1 is "
        "allowed.",
    )
    require(
        c @ slope >= best.steps - 5e-3 * max(best.steps, float(abs(c) @ abs(slope))),
        f"Your slope is allowed and proves that every walk takes at least {c @ slope:.3f} steps. "
        "That is less than the shortest walk: another slope proves more.",
    )
    passed("Task 7")


def check_rounds(student: str, m: Any) -> None:
    """Check how many rounds of the policy are as precise as the budget in the best shares."""
    problem, c, best, mistakes = _solved(normalised(student))
    count = number_of("m", m)
    for value, feedback in mistakes[3]:
        require(abs(count - value) > 1.01, feedback)
    count = whole_number_of("m", m)

    def error(shares_loss: float, rounds: int) -> float:
        return shares_loss / max(rounds, 1)

    policy_loss = pe_loss(problem.policy, problem.features, problem.sigma**2, direction=c)
    least = error(best.steps**2, problem.rounds)
    found = error(float(policy_loss), count)
    exact = int(np.ceil(policy_loss / least))
    require(
        count != exact - 1,
        f"With {count} rounds the policy's error is still a little larger: take one round more, "
        "since rounds are whole.",
    )
    require(
        found <= least,
        f"With {count} rounds the policy's mean squared error is {found / least:.3f} times that of "
        f"{problem.rounds} rounds in the best shares.",
    )
    require(
        error(float(policy_loss), count - 1) > least,
        f"{count} rounds are enough, but not the fewest: {count - 1} are enough, too.",
    )
    passed("Task 8")


def check_threshold(student: str, threshold: Any) -> None:
    """Check the noise below which the new action shortens the walk, by a design on each side."""
    problem, c, best, mistakes = _solved(normalised(student))
    value = number_of("threshold", threshold)
    recognise(value, mistakes[4])
    require(value > 0, f"A deviation is positive; got {value:g}.")
    x = np.vstack([problem.features, problem.newcomer])

    def steps(noise: float) -> float:
        deviations = np.append(problem.sigma, noise)
        return float(np.sqrt(optimal_design(x, deviations**2, direction=c).value))

    require(
        steps(0.98 * value) < best.steps * (1 - 1e-7),
        f"With sigma = {0.98 * value:.3f}, below your threshold, the new action does not shorten "
        "the walk.",
    )
    require(
        steps(1.02 * value) > best.steps * (1 - 1e-7),
        f"With sigma = {1.02 * value:.3f}, above your threshold, the new action still shortens the "
        "walk.",
    )
    passed("Task 9")
