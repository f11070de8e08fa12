"""Hand-in 4: counterexamples to sentences of the paper, each checked by evaluating both sides."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from paper.coursework._feedback import design_of, passed, require, symmetric_of
from paper.coursework._names import arrows, first_that, frozen, normalised, numbers, shares_of
from speedlib import information_matrix, optimal_design, pe_loss

#: How much worse than the best the paper's shares must be, and the design believed in.
PRINTED_OVER, BELIEVED_OVER = 1.25, 1.5
#: By how much two designs of equal loss must differ in some share.
APART = 0.1


class PlaneProblem(NamedTuple):
    """Arrows in the plane, shape (A, 2), with a policy, shape (A,)."""

    features: np.ndarray
    policy: np.ndarray


class Noisy(NamedTuple):
    """Five arrows in the plane (5, 2), with standard deviations (5,) and a policy (5,)."""

    features: np.ndarray
    sigma: np.ndarray
    policy: np.ndarray


def printed_noise(student: str) -> np.ndarray:
    """Return the standard deviations of three unrelated actions."""
    return frozen(numbers(student, "printed").choice([1.0, 1.5, 2.0, 3.0, 4.0], 3, replace=False))


def check_printed_shares(student: str, policy: Any) -> None:
    """Check an answer: a policy for which shares proportional to π²σ² are worse than the policy."""
    sigma = printed_noise(student)
    given = design_of("policy", policy, 3)
    require(
        given.min() >= 0.01,
        "The policy must play each action in at least one round of a hundred: an action that it "
        "never plays does not count.",
    )

    def loss(shares: np.ndarray) -> float:
        return float(pe_loss(shares / shares.sum(), np.eye(3), sigma**2, policy=given))

    parts = given * sigma
    best, printed, running = loss(parts), loss(parts**2), loss(given)
    require(
        printed > (1 + 1e-6) * best,
        "For this policy π²σ² and πσ give the same shares: policy · sigma is the same for all "
        "actions. Make it unequal.",
    )
    require(
        printed >= PRINTED_OVER * best,
        f"The printed shares need {printed / best:.3f} times the least rounds; find a policy with "
        f"at least {PRINTED_OVER}.",
    )
    require(
        printed > running,
        f"The printed shares need {printed / best:.3f} times the least rounds, but running this "
        f"policy needs {running / best:.3f} times as many: the printed shares must be worse.",
    )
    passed("Task 17")


def convexity_problem(student: str) -> Noisy:
    """Return the student's five arrows in the plane, with noise and a policy."""
    return _convexity_problem(normalised(student))


@lru_cache(maxsize=256)
def _convexity_problem(student: str) -> Noisy:
    def draw(rng: np.random.Generator) -> Noisy:
        sigma = rng.choice([0.5, 1.0, 1.5, 2.0, 3.0, 4.0], 5, replace=False)
        return Noisy(arrows(rng, 5, 2), frozen(sigma), shares_of(rng, 5))

    def accept(drawn: Noisy) -> bool:
        x, sigma, policy = drawn
        scaled = x / sigma[:, None]
        rows = [scaled[:, 0] ** 2, scaled[:, 0] * scaled[:, 1], scaled[:, 1] ** 2, np.ones(5)]
        *_, last = np.linalg.svd(np.array(rows))[2]
        return bool(abs(policy @ x).max() > 0.3013 and np.sort(abs(last))[0] > 0.0213)

    return first_that(numbers(student, "convexity"), draw, accept)


def check_convexity(student: str, first: Any, second: Any) -> None:
    """Check an answer: two different designs such that the loss is linear between them."""
    x, sigma, policy = convexity_problem(student)
    one, two = design_of("first", first, 5), design_of("second", second, 5)
    gap = abs(one - two).max()
    require(
        gap >= APART,
        f"Your designs differ by at most {gap:.3g} in a share: a counterexample needs two designs "
        f"that differ by at least {APART} somewhere.",
    )
    for name, shares in (("first", one), ("second", two)):
        matrix = information_matrix(shares, x, sigma**2)
        values = np.linalg.eigvalsh(matrix)
        require(
            values[0] > 1e-6 * values[1],
            f"{name}: its information matrix is singular, and the claim is about designs that "
            "determine theta.",
        )

    def loss(shares: np.ndarray) -> float:
        return float(pe_loss(shares, x, sigma**2, policy=policy))

    middle, mean = loss((one + two) / 2), (loss(one) + loss(two)) / 2
    require(
        middle >= mean * (1 - 1e-6),
        f"Between your designs the loss is convex indeed: it is {middle:.5g} half-way, and the "
        f"mean of both ends is {mean:.5g}. Find two designs with the same information matrix.",
    )
    passed("Task 18")


def believed_problem(student: str) -> PlaneProblem:
    """Return three arrows and the policy; the first two arrows are explored."""
    return _believed_problem(normalised(student))


@lru_cache(maxsize=256)
def _believed_problem(student: str) -> PlaneProblem:
    def draw(rng: np.random.Generator) -> PlaneProblem:
        first = rng.integers(-2, 3, 2)
        second = np.array([-first[1], first[0]])
        x = np.array([first, second, first + rng.choice([-1, 1]) * second])
        return PlaneProblem(frozen(x), shares_of(rng, 3))

    def accept(drawn: PlaneProblem) -> bool:
        x = drawn.features
        if not x[0].any():
            return False
        # The third arrow almost without noise.
        normal = np.array([x[2][1], -x[2][0]])
        nearly = np.outer(normal, normal) + 1e-3 * (normal @ normal) * np.eye(2)
        return over_oracle(drawn, nearly) > 1.1513 * BELIEVED_OVER

    return first_that(numbers(student, "believed"), draw, accept)


def believed_matrix(problem: PlaneProblem, Sigma: np.ndarray) -> np.ndarray:
    """Return the matrix of least norm with the variances that unlimited exploration finds.

    The explored arrows are orthogonal, so that it is a sum of two squares.
    """
    explored = problem.features[:2]
    lengths = (explored**2).sum(axis=1)
    seen = np.einsum("ai,ij,aj->a", explored, Sigma, explored)
    return np.asarray((explored * (seen / lengths**2)[:, None]).T @ explored)


def over_oracle(problem: PlaneProblem, Sigma: np.ndarray) -> float:
    """Return the rounds that the design after exploration needs, divided by the oracle's rounds."""
    x, policy = problem

    def variances(matrix: np.ndarray) -> np.ndarray:
        return np.asarray(np.einsum("ai,ij,aj->a", x, matrix, x))

    true = variances(Sigma)
    believed = optimal_design(x, variances(believed_matrix(problem, Sigma)), policy=policy)
    oracle = optimal_design(x, true, policy=policy)
    return float(pe_loss(believed.weights, x, true, policy=policy) / oracle.value)


def check_two_looks(student: str, Sigma: Any) -> None:
    """Check an answer: a noise matrix for which unlimited exploration of two actions misleads."""
    matrix = symmetric_of("Sigma", Sigma, 2)
    smallest, largest = np.linalg.eigvalsh(matrix)
    require(
        smallest > -1e-9 * max(abs(largest), 1e-12),
        f"Sigma must be positive definite; its smallest eigenvalue is {smallest:.3g}, so some "
        "action would have a negative variance.",
    )
    require(
        smallest >= 1e-5 * largest,
        "Sigma is singular, but the paper supposes that it is positive definite. Take a positive "
        "definite matrix near yours.",
    )
    ratio = over_oracle(believed_problem(student), matrix)
    require(
        ratio > 1.001,
        "Here exploration is right about the shares: the design after it is the oracle's. "
        "Let the noise of the two explored actions be correlated.",
    )
    require(
        ratio >= BELIEVED_OVER,
        f"The design after exploration needs {ratio:.3f} times the oracle's rounds; find a matrix "
        f"with at least {BELIEVED_OVER}.",
    )
    passed("Task 19")
