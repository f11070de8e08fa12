"""What least squares and policy values refuse, by name."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

from speedlib.estimators import (
    conditional_variance,
    least_squares,
    policy_value,
    value_coefficients,
)
from speedlib.rewards import Rewards

MANY = np.full((3, 2), 4)
TWO = np.ones((2, 2))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"features": [[1.0, float("nan")], [0.0, 1.0]]}, "features.*finite.*nan"),
        ({"features": [1.0, 0.0]}, r"features.*\(A, d\).*\(2,\)"),
        ({"direction": [1.0]}, r"direction.*\(2,\).*\(1,\)"),
        ({"direction": [1.0, float("inf")]}, "direction.*finite.*inf"),
        ({"variances": [1.0, 0.0]}, "variances.*greater than 0.*got 0"),
        ({"variances": [1.0, -3.0]}, "variances.*greater than 0.*-3"),
        ({"variances": [1.0]}, r"variances.*\(2,\).*\(1,\)"),
        ({"weights": [0.0, 1.0]}, "weights.*greater than 0.*got 0"),
    ],
)
def test_bad_arguments_are_refused(changes: dict, message: str) -> None:
    arguments = {
        "rewards": Rewards.from_log([0, 1], [1.0, 2.0], 2),
        "features": np.eye(2),
        "direction": [0.5, 0.5],
        "variances": [1.0, 1.0],
    }
    with pytest.raises(ValueError, match=message):
        policy_value(**(arguments | changes))


def test_bad_weights_are_called_weights() -> None:
    rewards = Rewards.from_log([0, 1], [1.0, 2.0], 2)
    with pytest.raises(ValueError, match="weights"):
        policy_value(rewards, np.eye(2), [0.5, 0.5], [1.0, 1.0], weights=[0.0, 1.0])


def test_rewards_of_other_actions_are_refused() -> None:
    with pytest.raises(ValueError, match=r"counts.*\(\.\.\., 2\).*\(3,\)"):
        policy_value(Rewards.none((3,)), np.eye(2), [0.5, 0.5], [1.0, 1.0])


def test_least_squares_refuses_rewards_of_other_actions() -> None:
    with pytest.raises(ValueError, match=r"counts|rewards"):
        least_squares(Rewards.none((3,)), np.eye(2))


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: value_coefficients(MANY, np.eye(2), TWO, [1.0, 0.0]), ("variances", "counts")),
        (
            lambda: policy_value(Rewards.none((3, 2)), np.eye(2), [1.0, 0.0], TWO),
            ("variances", "rewards"),
        ),
        (
            lambda: policy_value(
                Rewards.none((3, 2)), np.eye(2), [1.0, 0.0], np.ones(2), weights=TWO
            ),
            ("weights", "rewards"),
        ),
        (lambda: least_squares(Rewards.none((3, 2)), np.eye(2), TWO), ("variances", "rewards")),
        (
            lambda: conditional_variance(TWO, MANY, np.ones(2)),
            ("counts", "coefficients"),
        ),
        (
            lambda: conditional_variance(TWO, MANY[0], np.ones((3, 2))),
            ("variances", "coefficients"),
        ),
        (
            lambda: conditional_variance(np.ones(2), MANY, TWO),
            ("variances", "counts"),
        ),
    ],
)
def test_unlike_numbers_of_replications_are_named(
    call: Callable[[], object], names: tuple[str, str]
) -> None:
    start = f"{names[0]}: expected one row for all replications of {names[1]}, shape (2,), "
    with pytest.raises(ValueError, match="^" + re.escape(start)):
        call()


def test_coefficients_have_a_largest_size() -> None:
    assert conditional_variance([1e60**2], [1], [1.0]) == pytest.approx(1e240)
    with pytest.raises(ValueError, match=r"^coefficients: must be at most 1e\+120 in size"):
        conditional_variance([1.0001 * 1e60**2], [1], [1.0])
    assert conditional_variance(np.zeros((2, 0)), np.zeros(0, int), np.zeros(0)).tolist() == [0, 0]
