"""For students: functions that make a hand-in's numbers from a name and check answers.

Each check takes the student's name and an answer. It raises an AssertionError with one or two plain
sentences of feedback, or prints that the task has passed. The parts are in `paper.coursework`.
"""

from __future__ import annotations

from paper.coursework._names import normalised, numbers
from paper.coursework.audit import (
    believed_problem,
    check_convexity,
    check_printed_shares,
    check_two_looks,
    convexity_problem,
    printed_noise,
)
from paper.coursework.designs import (
    check_rounds,
    check_shares,
    check_slope,
    check_threshold,
    check_walk,
    walk_problem,
)
from paper.coursework.first_steps import (
    arms_problem,
    check_counts,
    check_direction,
    check_estimate,
    check_mse,
    estimate_counts,
    first_problem,
)
from paper.coursework.noise import (
    check_explored,
    check_fitted,
    check_length,
    check_smallest,
    length_problem,
    looks_problem,
    table_problem,
    two_looks_problem,
)
from paper.coursework.open_questions import (
    check_judgement,
    check_strategy,
    sentence,
    trial_problem,
)
from paper.coursework.proofs import (
    check_matrices_proof,
    check_policy_proof,
    check_valley_proof,
    matrices_proof,
    policy_of_proofs,
    policy_proof,
    valley_proof,
    valley_rounds,
)

__all__ = [
    "arms_problem",
    "believed_problem",
    "check_convexity",
    "check_counts",
    "check_direction",
    "check_estimate",
    "check_explored",
    "check_fitted",
    "check_judgement",
    "check_length",
    "check_matrices_proof",
    "check_mse",
    "check_policy_proof",
    "check_printed_shares",
    "check_rounds",
    "check_shares",
    "check_slope",
    "check_smallest",
    "check_strategy",
    "check_threshold",
    "check_two_looks",
    "check_valley_proof",
    "check_walk",
    "convexity_problem",
    "estimate_counts",
    "first_problem",
    "length_problem",
    "looks_problem",
    "matrices_proof",
    "normalised",
    "numbers",
    "policy_of_proofs",
    "policy_proof",
    "printed_noise",
    "sentence",
    "table_problem",
    "trial_problem",
    "two_looks_problem",
    "valley_proof",
    "valley_rounds",
    "walk_problem",
]
