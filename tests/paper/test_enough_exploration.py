"""Whether exploration is enough, against counts by hand and the spread of estimates."""

from __future__ import annotations

import numpy as np
import pytest

from paper.enough_exploration import (
    REWARDS_PER_ACTION,
    ROUNDS_PER_ENTRY,
    enough_exploration,
    exploration_of,
)
from speedlib import LinearBandit
from speedlib.covariance import estimate_covariance
from speedlib.exploration import exploration_counts, identifiable_design

#: Three directions determine the three entries; the fourth action is a copy of the first.
PLANE = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 0.0]]


def said(explored, committed=None, rounds=1000, **choices) -> str:
    state = exploration_of(PLANE, explored, committed)
    return enough_exploration(state, rounds=rounds, **{"begun": False, **choices})


def test_enough_is_said_with_its_numbers() -> None:
    state = exploration_of(PLANE, [20, 20, 20, 0], [0, 0, 40, 900])
    assert (state.rounds, state.actions, state.committed, state.fewest) == (60, 3, 2, 40)
    assert state.needed == 3 * ROUNDS_PER_ENTRY == 60 and state.enough
    text = said([20, 20, 20, 0], [0, 0, 40, 900])
    assert text.startswith("**Enough exploration.** Exploration, 60 rounds over 3 actions, ")
    assert "determines 3 of 3 entries" in text and "the variances of all 4 actions" in text
    assert "it needs 60 rounds, 20 for each of 3" in text
    assert "Each of the 2 committed actions has at least 40 rewards" in text
    assert text.endswith(
        f"{REWARDS_PER_ACTION} are needed for its own scatter to say how noisy it is."
    )


@pytest.mark.parametrize(
    ("explored", "rounds", "advice"),
    [
        ([20, 20, 19, 0], 1000, "Choose `exploration_rounds=60`."),
        ([20, 20, 19, 0], 120, "Choose `exploration_rounds=60`."),
        ([20, 20, 19, 0], 119, "Plan at least 120 rounds, half of them for"),
        ([500, 0, 500, 0], 2000, "Choose `exploration=identifiable`, which"),
    ],
)
def test_too_little_comes_with_what_to_do(explored, rounds, advice) -> None:
    text = said(explored, rounds=rounds)
    assert text.startswith("**Not enough exploration.**") and advice in text
    assert "committed" not in text
    late = said(explored, rounds=rounds, begun=True)
    assert "has begun, so change nothing" in late
    assert f"Before the next one, {advice[0].lower()}{advice[1:]}" in late


def test_what_is_open_is_counted() -> None:
    text = said([500, 0, 500, 0], rounds=2000)
    assert "2 of 3 entries of $\\bSigma_*$ and the variances of 3 of 4 actions" in text
    assert not exploration_of(PLANE, [500, 0, 500, 0]).enough


def test_fewer_actions_than_entries_ask_for_no_more_than_they_show() -> None:
    state = exploration_of(np.eye(3), [20, 20, 20])
    assert (state.attainable, state.found.unknowns, state.enough) == (3, 6, True)


def test_few_rewards_of_a_committed_action_are_named() -> None:
    text = said([20, 20, 20, 0], [0, 0, 3, 900])
    assert text.startswith("**Not enough") and "at least 3 rewards" in text
    assert text.endswith("Plan about 4 times as many rounds for the committed actions.")
    assert "The one committed action has 1 reward," in said([20, 20, 20, 0], [0, 0, 0, 1])


def test_a_pilot_goes_on() -> None:
    text = said([5, 5, 5, 0], pilot=True)
    assert text.startswith("**Not enough exploration yet.** The pilot of exploration, 15 rounds")
    assert text.endswith("See whether the next phase brings enough.")
    assert said([5, 5, 5, 0], pilot=True, begun=True) == text


def test_counts_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match=r"committed: expected shape \(4,\); got shape \(3,\)"):
        exploration_of(PLANE, [1, 1, 1, 1], [1, 1, 1])


@pytest.mark.parametrize("d", [2, 4])
def test_rounds_that_are_enough_show_variances_to_about_a_third(d: int) -> None:
    """Of the explored actions, over many explorations of alike variances."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(30, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    design = identifiable_design(X)
    needed = exploration_of(X, design > 0).needed
    counts = exploration_counts(np.tile(design, (400, 1)), needed, rng, "balanced")
    rewards = LinearBandit(X, np.zeros(d), Sigma=np.eye(d)).pull(counts, rng)
    found = estimate_covariance(rewards, X).variances[:, design > 0]
    assert 0.22 < np.sqrt(np.mean((found - 1) ** 2)) < 0.4
