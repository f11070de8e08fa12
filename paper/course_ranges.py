"""For teachers: the ranges of the answers to the hand-ins, over many names.

Not part of what students get. ``python -m paper.course_ranges`` prints the table; with names as
arguments, it prints the answers of these students.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from paper import course
from paper.coursework._steps import is_broken
from paper.coursework.audit import over_oracle
from paper.coursework.first_steps import least_counts
from paper.coursework.noise import cost_of_noise
from paper.coursework.open_questions import oracle_share
from paper.coursework.proofs import (
    matrices_instance,
    matrices_proof,
    policy_instance,
    policy_of_proofs,
    policy_proof,
    valley_instance,
    valley_proof,
    valley_rounds,
)
from speedlib import best_exploration_length, optimal_design, pe_loss

#: How many made-up names the table is about.
NAMES = 60


class Range(NamedTuple):
    """A task, what its answer is, and the least, median and largest answer over the names."""

    task: str
    what: str
    least: float
    median: float
    largest: float


def _length_of_c(student: str) -> float:
    problem = course.first_problem(student)
    return float(np.linalg.norm(problem.policy @ problem.features))


def _largest_count(student: str) -> float:
    return float(least_counts(course.arms_problem(student)).max())


def _first_error(student: str) -> float:
    x, policy, sigma = course.first_problem(student)
    counts = course.estimate_counts(student)
    loss = pe_loss(counts / counts.sum(), x, sigma**2, policy=policy)
    return float(loss / counts.sum())


def _steps(student: str) -> float:
    problem = course.walk_problem(student)
    best = optimal_design(problem.features, problem.sigma**2, policy=problem.policy)
    return float(np.sqrt(best.value))


def _largest_share(student: str) -> float:
    problem = course.walk_problem(student)
    best = optimal_design(problem.features, problem.sigma**2, policy=problem.policy)
    return float(best.weights.max())


def _policy_rounds(student: str) -> float:
    problem = course.walk_problem(student)
    loss = pe_loss(problem.policy, problem.features, problem.sigma**2, policy=problem.policy)
    return float(np.ceil(problem.rounds * loss / _steps(student) ** 2))


def _threshold(student: str) -> float:
    problem = course.walk_problem(student)
    best = optimal_design(problem.features, problem.sigma**2, policy=problem.policy)
    return float(abs(problem.newcomer @ best.dual))


def _least_variance(student: str) -> float:
    explored, sigma, third = course.two_looks_problem(student)
    first, second = abs(np.linalg.solve(explored.T, third)) * sigma
    return float((first - second) ** 2)


def _noisiest(student: str) -> float:
    return float(course.table_problem(student).rewards.var(axis=1, ddof=1).max())


def _psi(student: str) -> float:
    return cost_of_noise(course.length_problem(student))


def _length(student: str) -> float:
    problem = course.length_problem(student)
    return float(np.round(best_exploration_length(cost_of_noise(problem), problem.rounds)))


def _printed(student: str) -> float:
    """Return the ratio for 0.9 on the noisiest action and 0.05 on the others."""
    sigma = course.printed_noise(student)
    parts = np.where(sigma == sigma.max(), 0.9, 0.05) * sigma
    return float(3 * (parts**2).sum() / parts.sum() ** 2)


def _believed(student: str) -> float:
    """Return the ratio for a third action that is almost without noise."""
    problem = course.believed_problem(student)
    across = np.array([problem.features[2, 1], -problem.features[2, 0]])
    Sigma = np.outer(across, across) + 1e-3 * (across @ across) * np.eye(2)
    return over_oracle(problem, Sigma)


ANSWERS: tuple[tuple[str, str, Callable[[str], float]], ...] = (
    ("Task 1", "length of c", _length_of_c),
    ("Task 2", "most tries of an action", _largest_count),
    ("Task 4", "mean squared error", _first_error),
    ("Task 5", "steps of the shortest walk", _steps),
    ("Task 6", "largest share", _largest_share),
    ("Task 8", "rounds of the policy", _policy_rounds),
    ("Task 9", "threshold of the noise", _threshold),
    ("Task 11", "least variance of the third arrow", _least_variance),
    ("Task 12", "largest variance of an arrow", _noisiest),
    ("Task 13", "ψ", _psi),
    ("Task 13", "rounds of exploration", _length),
    ("Task 17", "ratio for (0.9, 0.05, 0.05)", _printed),
    ("Task 19", "ratio for an almost silent third action", _believed),
    ("Task 21", "oracle's error over the policy's", oracle_share),
)


def expected_ranges(names: Sequence[str] = ()) -> list[Range]:
    """Return the range of each answer over some names; by default, the names are invented.

    Parameters
    ----------
    names : sequence of str
        Names of students.

    Returns
    -------
    list of Range
        In the order of the tasks.
    """
    who = list(names) or [f"student {place}" for place in range(NAMES)]
    ranges = []
    for task, what, answer in ANSWERS:
        values = [answer(name) for name in who]
        ranges.append(Range(task, what, min(values), float(np.median(values)), max(values)))
    return ranges


def false_steps(student: str) -> tuple[int, int, int]:
    """Return the numbers of the false steps in tasks 14 to 16, found by random instances."""
    rng = np.random.default_rng(0)
    found: list[set[int]] = [set(), set(), set()]
    while not all(found):
        X = rng.integers(-3, 4, (3, 2)).astype(float)
        if np.linalg.matrix_rank(X) < 2 or not (policy_of_proofs(student) @ X).any():
            continue
        sigma, guess = np.exp(rng.normal(0, 0.8, (2, 3)))
        p, part = rng.uniform(0.05, 0.95), rng.uniform(-0.5, 0.5)
        length = int(rng.integers(1, valley_rounds(student) // 2 + 1))
        instances = (
            (policy_proof, policy_instance(student, X, sigma)),
            (valley_proof, valley_instance(student, p, p + part * min(p, 1 - p), length)),
            (matrices_proof, matrices_instance(student, X, sigma, guess)),
        )
        for steps, (proof, instance) in zip(found, instances, strict=True):
            for number, step in enumerate(proof(student).steps, 1):
                if is_broken(step, instance):
                    steps.add(number)
    first, second, third = (min(steps) for steps in found)
    return first, second, third


def main(names: Sequence[str]) -> None:
    """Print the ranges as a table in Markdown or, if students are named, their answers."""
    if not names:
        print("| Task | Answer | least | median | largest |\n|---|---|---|---|---|")
        for task, what, *values in expected_ranges():
            print(f"| {task} | {what} | " + " | ".join(f"{value:.3g}" for value in values) + " |")
    for name in names:
        print(name)
        for task, what, answer in ANSWERS:
            print(f"  {task}, {what}: {answer(name):.4g}")
        print(f"  Tasks 14 to 16, false steps: {', '.join(map(str, false_steps(name)))}")


if __name__ == "__main__":
    main(sys.argv[1:])
