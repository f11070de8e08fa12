"""Sufficient statistics against the single rewards they summarise."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from speedlib.rewards import Rewards

ACTIONS = 4
SETTINGS = settings(deadline=None, derandomize=True, max_examples=150)

rewards_of_a_round = st.tuples(
    st.integers(0, ACTIONS - 1),
    st.floats(-1e3, 1e3, allow_subnormal=False) | st.integers(-3, 3).map(float),
)
logs = st.lists(rewards_of_a_round, max_size=25)


def summarise(log: list[tuple[int, float]]) -> Rewards:
    return Rewards.from_log(
        np.array([action for action, _ in log], dtype=int), [reward for _, reward in log], ACTIONS
    )


def directly(log: list[tuple[int, float]], action: int) -> tuple[int, float, float]:
    """Count, mean and scatter of one action by the definition, in exact arithmetic."""
    seen = [Fraction(reward) for a, reward in log if a == action]
    if not seen:
        return 0, 0.0, 0.0
    mean = sum(seen) / len(seen)
    return len(seen), float(mean), float(sum((reward - mean) ** 2 for reward in seen))


def assert_summarises(stats: Rewards, log: list[tuple[int, float]]) -> None:
    size = max((abs(reward) for _, reward in log), default=0.0)
    for action in range(ACTIONS):
        count, mean, scatter = directly(log, action)
        assert stats.counts[action] == count
        assert stats.means[action] == pytest.approx(mean, abs=1e-13 * size)
        assert stats.scatters[action] == pytest.approx(scatter, rel=1e-10, abs=1e-13 * size**2)


@pytest.mark.slow
@SETTINGS
@given(logs)
def test_log_is_summarised_by_definition(log: list[tuple[int, float]]) -> None:
    assert_summarises(summarise(log), log)


@pytest.mark.slow
@SETTINGS
@given(logs, logs)
def test_sum_summarises_both_logs(
    one: list[tuple[int, float]], other: list[tuple[int, float]]
) -> None:
    pooled = summarise(one) + summarise(other)
    assert_summarises(pooled, one + other)
    assert pooled.rounds == len(one) + len(other)


def test_scatter_survives_a_large_offset() -> None:
    # The textbook formula "sum of squares minus n times squared mean" gives 0 or garbage here.
    offset, rewards = 1e9, [4.0, 7.0, 13.0, 16.0]
    whole = Rewards.from_log([0] * 4, [offset + r for r in rewards], 1)
    parts = Rewards.from_log([0] * 3, [offset + r for r in rewards[:3]], 1)
    parts = parts + Rewards.from_log([0], [offset + rewards[3]], 1)
    assert whole.scatters[0] == 90.0
    assert parts.scatters[0] == pytest.approx(90.0, rel=1e-6)


def test_hand_example() -> None:
    log = Rewards.from_log([2, 0, 2, 2], [1.0, 5.0, 2.0, 6.0], n_actions=3)
    assert log.counts.tolist() == [1, 0, 3]
    assert log.means.tolist() == [5.0, 0.0, 3.0]
    assert log.scatters.tolist() == [0.0, 0.0, 4.0 + 1.0 + 9.0]
    assert log.rounds == 4


def test_sums_work_replication_by_replication() -> None:
    rng = np.random.default_rng(11)
    logs = [[summarise(random_log(rng, size)) for size in (9, 4)] for _ in range(3)]
    first, second = (stack([pair[k] for pair in logs]) for k in (0, 1))
    pooled = first + second
    assert pooled.rounds.tolist() == [13, 13, 13]
    for row, (one, other) in enumerate(logs):
        single = one + other
        assert pooled.counts[row].tolist() == single.counts.tolist()
        assert pooled.means[row].tolist() == single.means.tolist()
        assert pooled.scatters[row].tolist() == single.scatters.tolist()


def random_log(rng: np.random.Generator, size: int) -> list[tuple[int, float]]:
    return [(int(rng.integers(ACTIONS)), float(rng.normal())) for _ in range(size)]


def stack(parts: list[Rewards]) -> Rewards:
    columns = ([getattr(p, name) for p in parts] for name in ("counts", "means", "scatters"))
    return Rewards(*(np.array(column) for column in columns))


def test_no_rewards_are_neutral() -> None:
    some = Rewards.from_log([0, 0, 1], [1.0, 2.0, 3.0], 2)
    for pooled in (some + Rewards.none((2,)), Rewards.none((2,)) + some):
        assert pooled.counts.tolist() == [2, 1]
        assert pooled.means.tolist() == [1.5, 3.0]
        assert pooled.scatters.tolist() == [0.5, 0.0]
    assert Rewards.none((3, 2)).rounds.tolist() == [0, 0, 0]
    assert Rewards.from_log([], [], 2).counts.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("actions", "rewards", "n_actions", "error", "message"),
    [
        ([0, 2], [1.0, 1.0], 2, ValueError, "actions.*between 0 and 1.*0 to 2"),
        ([0, -1], [1.0, 1.0], 2, ValueError, "actions.*between 0 and 1.*-1 to 0"),
        ([0.0, 1.0], [1.0, 1.0], 2, TypeError, "actions.*whole numbers.*float64"),
        ([True], [1.0], 2, TypeError, "actions.*whole numbers.*bool"),
        ([0], [1.0, 1.0], 2, ValueError, re.escape("(1,) and (2,)")),
        ([[0]], [[1.0]], 2, ValueError, re.escape("(1, 1) and (1, 1)")),
        ([0], [float("nan")], 2, ValueError, "rewards.*finite.*nan"),
        ([0], ["high"], 2, TypeError, "rewards.*real numbers.*high"),
        ([0], [1.0], 0, ValueError, "n_actions.*at least 1.*0"),
        ([0], [1.0], 2.0, TypeError, "n_actions.*whole number.*2.0"),
    ],
)
def test_bad_logs_are_refused(
    actions: list, rewards: list, n_actions: object, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        Rewards.from_log(actions, rewards, n_actions)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("counts", "means", "scatters", "message"),
    [
        ([1, 1], [0.0, 0.0], [0.0, -2.0], "scatters.*at least 0.*-2"),
        ([1, -1], [0.0, 0.0], [0.0, 0.0], "counts.*at least 0.*-1"),
        ([1, 1], [0.0, 0.0], [0.0], re.escape("(2,), (2,) and (1,)")),
        ([[1, 1]], [0.0, 0.0], [0.0, 0.0], re.escape("(1, 2), (2,) and (2,)")),
        ([1, 1], [0.0, float("inf")], [0.0, 0.0], "means.*finite.*inf"),
        ([1.5, 1.0], [0.0, 0.0], [0.0, 0.0], "counts.*whole"),
    ],
)
def test_bad_statistics_are_refused(
    counts: list, means: list, scatters: list, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Rewards(counts, means, scatters)  # type: ignore[arg-type]


def test_only_rewards_can_be_added() -> None:
    with pytest.raises(TypeError):
        Rewards.none((2,)) + 1  # type: ignore[operator]
    with pytest.raises(ValueError, match="2 and 3 actions"):
        Rewards.none((2,)) + Rewards.none((3,))


def test_rewards_of_different_action_sets_do_not_add() -> None:
    with pytest.raises(ValueError, match="actions"):
        Rewards([1], [1.0], [0.0]) + Rewards.none((3,))


@pytest.mark.parametrize(("mean", "scatter"), [(5.0, 0.0), (0.0, 3.0)])
def test_statistics_without_rewards_are_refused(mean: float, scatter: float) -> None:
    with pytest.raises(ValueError, match=r"means|scatters"):
        Rewards([0], [mean], [scatter])  # type: ignore[arg-type]


def test_statistics_do_not_follow_later_changes_of_the_input() -> None:
    means = np.array([1.0, 2.0])
    stats = Rewards(np.array([1, 1]), means, np.zeros(2))
    means[0] = 99.0
    assert stats.means.tolist() == [1.0, 2.0]
