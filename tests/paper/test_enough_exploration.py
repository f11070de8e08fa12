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
    state = exploration_of(PLANE, [8, 8, 8, 0], [0, 0, 40, 900])
    assert (state.rounds, state.actions, state.committed, state.fewest) == (24, 3, 2, 40)
    assert state.needed == 3 * ROUNDS_PER_ENTRY == 24 and state.enough and state.long
    assert said([8, 8, 8, 0], [0, 0, 40, 900]) == (
        "**Enough exploration.** Exploration, 24 rounds over 3 actions, determines 3 of 3 entries "
        "of the variance matrix and the variances of all 4 actions, with relative errors of about "
        "50 %. The interval "
        f"needs {REWARDS_PER_ACTION} rewards or more of each committed action: each of the 2 has "
        "at least 40."
    )


@pytest.mark.parametrize(
    ("explored", "rounds", "head", "advice"),
    [
        ([8, 8, 7, 0], 1000, "**Enough for the interval, ", "Choose `exploration_rounds=24`."),
        ([8, 8, 7, 0], 48, "**Enough for the interval, ", "Choose `exploration_rounds=24`."),
        ([8, 8, 7, 0], 47, "**Enough for the interval, ", "Plan at least 48 rounds, half of"),
        ([50, 0, 50, 0], 2000, "**Not enough", "Choose `exploration=identifiable`, which"),
        ([5, 0, 5, 0], 2000, "**Not enough", "all variances; choose `exploration_rounds=24`."),
    ],
)
def test_too_little_comes_with_what_to_do(explored, rounds, head, advice) -> None:
    text = said(explored, rounds=rounds)
    assert text.startswith(head) and advice in text and "committed" not in text
    late = said(explored, rounds=rounds, begun=True)
    assert "that has begun. Before the next one, " in late
    assert f"{advice[0].lower()}{advice[1:]}" in late


def test_what_is_open_is_counted() -> None:
    text = said([50, 0, 50, 0], rounds=2000)
    assert "2 of 3 entries of the variance matrix and the variances of 3 of 4 actions" in text
    state = exploration_of(PLANE, [50, 0, 50, 0])
    assert not state.enough
    # Two of three entries from a hundred rounds: it is these two whose error is said.
    assert (state.found.rank, state.attainable) == (2, 3)
    assert (
        state.roughness == pytest.approx(np.sqrt(2 * 2 / 100)) and "errors of about 20 %." in text
    )


def test_fewer_actions_than_entries_ask_for_no_more_than_they_show() -> None:
    state = exploration_of(np.eye(3), [8, 8, 8])
    assert (state.attainable, state.found.unknowns, state.enough) == (3, 6, True)


def test_a_single_reward_of_a_committed_action_is_named() -> None:
    text = said([8, 8, 8, 0], [0, 0, 1, 900])
    assert text.startswith("**Not enough exploration.**")
    assert text.endswith("each of the 2 has at least 1. Plan twice as many rounds.")
    assert said([8, 8, 8, 0], [0, 0, 0, 2]).endswith("committed action: the only one has 2.")


def test_a_pilot_goes_on() -> None:
    text = said([5, 5, 5, 0], pilot=True)
    assert text.startswith("**A pilot.** The pilot of exploration, 15 rounds")
    assert text.endswith("The next phase continues from there.")
    assert said([5, 5, 5, 0], pilot=True, begun=True) == text
    assert said([5, 5, 0, 0], pilot=True).startswith("**Not enough")


def test_counts_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match=r"committed: expected shape \(4,\); got shape \(3,\)"):
        exploration_of(PLANE, [1, 1, 1, 1], [1, 1, 1])


@pytest.mark.parametrize("d", [2, 4])
def test_rounds_that_are_enough_show_variances_to_about_a_half(d: int) -> None:
    """Of the explored actions, over many explorations of alike variances."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(30, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    design = identifiable_design(X)
    needed = exploration_of(X, design > 0).needed
    counts = exploration_counts(np.tile(design, (400, 1)), needed, rng, "balanced")
    rewards = LinearBandit(X, np.zeros(d), Sigma=np.eye(d)).pull(counts, rng)
    found = estimate_covariance(rewards, X).variances[:, design > 0]
    assert 0.35 < np.sqrt(np.mean((found - 1) ** 2)) < 0.6
