"""Copies, deep copies and pickled copies are as read-only as what they were made from."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from speedlib import SPEED, Environment, LinearBandit, Rewards, commit, unit_ball

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


def test_what_holds_a_bandit_is_read_only_to_the_bottom() -> None:
    again: Environment = pickle.loads(pickle.dumps(unit_ball()))
    with pytest.raises(ValueError, match="read-only"):
        again.bandit.features[0, 0] = 7
