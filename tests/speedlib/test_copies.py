"""Copies, deep copies and pickled copies are as read-only as what they were made from."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from speedlib import (
    SPEED,
    Environment,
    LinearBandit,
    Rewards,
    ValueEstimate,
    commit,
    unit_ball,
)

X = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])


def _commitment() -> Any:
    ball = unit_ball()
    trial = SPEED().begin(ball.bandit.features, ball.policy, 200, rng=1)
    return commit(trial, lambda counts: ball.bandit.pull(counts, np.random.default_rng(2)))


MADE: dict[str, Callable[[], Any]] = {
    "bandit with Sigma": lambda: LinearBandit(X, [1, 2], [[0.3, 0.1], [0.1, 0.2]], noise="uniform"),
    "bandit without Sigma": lambda: LinearBandit(X, [1, 2], variances=[0.0, 1.0, 3.0]),
    "environment": unit_ball,
    "rewards": lambda: Rewards.from_log([0, 0, 2], [1.0, 3.0, 5.0], n_actions=3),
    "replicated rewards": lambda: LinearBandit(X, [1, 2], np.eye(2)).pull([[3, 0, 1]] * 4, 5),
    "commitment": _commitment,
}


@pytest.mark.parametrize(
    "copied",
    [copy.copy, copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))],
    ids=["copy", "deepcopy", "pickle"],
)
@pytest.mark.parametrize("kind", MADE)
def test_a_copy_is_equal_and_read_only(kind: str, copied: Callable[[Any], Any]) -> None:
    made = MADE[kind]()
    again = copied(made)
    assert type(again) is type(made)
    arrays = 0
    for field in fields(made):
        before, after = getattr(made, field.name), getattr(again, field.name)
        if isinstance(before, np.ndarray):
            np.testing.assert_array_equal(after, before, strict=True)
            with pytest.raises(ValueError, match="read-only"):
                after[...] = 0
            arrays += 1
        elif not isinstance(before, LinearBandit):
            assert after == before
    assert arrays


@pytest.mark.parametrize(
    "copied",
    [copy.copy, copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))],
    ids=["copy", "deepcopy", "pickle"],
)
@pytest.mark.parametrize("free", [np.inf, 7.5, [3.0, 4.0]], ids=str)
def test_degrees_of_freedom_stay_read_only(free: Any, copied: Callable[[Any], Any]) -> None:
    if isinstance(free, list):
        free = np.array(free)
    made = ValueEstimate(np.array([1.0, 2.0]), np.array([0.5, np.inf]), np.ones(2, bool), free)
    again = copied(made)
    assert type(again) is ValueEstimate
    for field in fields(made):
        before, after = getattr(made, field.name), getattr(again, field.name)
        np.testing.assert_array_equal(after, before, strict=True)
    with pytest.raises(ValueError, match="read-only"):
        again.degrees_of_freedom[0] = 1


def test_degrees_of_freedom_are_no_view_of_what_was_passed() -> None:
    free = np.array([3.0, 4.0])
    made = ValueEstimate(np.zeros(2), np.ones(2), np.ones(2, bool), free)
    free[0] = 100
    assert made.degrees_of_freedom.tolist() == [3.0, 4.0]


def test_what_holds_a_bandit_is_read_only_to_the_bottom() -> None:
    again: Environment = pickle.loads(pickle.dumps(unit_ball()))
    with pytest.raises(ValueError, match="read-only"):
        again.bandit.features[0, 0] = 7
