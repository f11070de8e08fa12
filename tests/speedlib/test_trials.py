"""The protocol of asking and telling, and what a strategy may know."""

from __future__ import annotations

import re

import numpy as np
import pytest

from speedlib.rewards import Rewards
from speedlib.strategies import SPEED, OnPolicy, Oracle
from speedlib.trials import Strategy

from .cases import ALL, BALL, WITH_VARIANCES, begin, finish, space

every_strategy = pytest.mark.parametrize("strategy", ALL, ids=repr)


# --- the protocol -------------------------------------------------------------------------------


@every_strategy
def test_a_live_trial_equals_a_batch_of_one(strategy: Strategy) -> None:
    live = begin(strategy, BALL.bandit, BALL.policy, 80, 3)
    batch = begin(strategy, BALL.bandit, BALL.policy, 80, 3, replications=1)
    first = live.first_counts()
    assert first.shape == (5,)
    assert batch.first_counts().tolist() == [first.tolist()]
    one, other = finish(live, BALL.bandit, 6), finish(batch, BALL.bandit, 6)
    assert live.counts.tolist() == batch.counts[0].tolist()
    assert batch.coefficients[0] == pytest.approx(live.coefficients, rel=1e-9, abs=1e-12)
    assert other.value.shape == (1,)
    assert float(one.value) == pytest.approx(float(other.value[0]), rel=1e-9)
    assert float(one.standard_error) == pytest.approx(float(other.standard_error[0]), rel=1e-9)
    assert bool(one.estimable) == bool(other.estimable[0])


@every_strategy
def test_replications_in_a_batch_do_not_mix(strategy: Strategy) -> None:
    """Each row comes out as if its rewards had been told to a trial of its own."""
    bandit, policy = space(5), np.full(8, 1 / 8)
    trial = begin(strategy, bandit, policy, 80, 7, replications=6)
    rng = np.random.default_rng(8)
    first = bandit.pull(trial.first_counts(), rng)
    second = bandit.pull(trial.next_counts(first), rng)
    whole = trial.estimate(second)
    for r in range(6):
        single = begin(strategy, bandit, policy, 80, 7)
        # Give the single trial the pulls of row r, whatever it drew itself.
        for name in ("_exploration", "_counts", "_coefficients"):
            if name in vars(single):
                setattr(single, name, getattr(trial, name)[r])
        single.next_counts(row(first, r))
        value = single.estimate(row(second, r))
        assert single.counts.tolist() == trial.counts[r].tolist()
        assert float(value.value) == pytest.approx(float(whole.value[r]), rel=1e-6, abs=1e-9)
        assert float(value.standard_error) == pytest.approx(
            float(whole.standard_error[r]), rel=1e-5
        )


def row(rewards: Rewards, r: int) -> Rewards:
    return Rewards(rewards.counts[r], rewards.means[r], rewards.scatters[r])


@every_strategy
def test_budgets_are_kept(strategy: Strategy) -> None:
    trial = begin(strategy, BALL.bandit, BALL.policy, 81, 3, replications=40)
    first = trial.first_counts()
    second = trial.next_counts(BALL.bandit.pull(first, np.random.default_rng(1)))
    spent = first.sum(axis=1) + second.sum(axis=1)
    over = 1 if strategy == Oracle(rounding="ceil") else 0
    lost = 2 if getattr(strategy, "rounding", "") == "floor" else 0
    assert np.all(spent <= 81 + over)
    assert np.all(spent >= 81 - lost)
    if isinstance(strategy, SPEED):
        gamma = 25 if strategy.exploration_rounds == 25 else 9
        assert np.all(first.sum(axis=1) == gamma)
    else:
        assert not second.any()


@every_strategy
def test_rewards_of_other_pulls_are_refused(strategy: Strategy) -> None:
    rng = np.random.default_rng(9)
    trial = begin(strategy, BALL.bandit, BALL.policy, 80, 3)
    first = trial.first_counts()
    more, moved = first.copy(), np.roll(first, 1)
    more[0] += 1
    for counts in (more, moved, np.zeros(5, dtype=int), np.stack([first, first])):
        with pytest.raises(ValueError, match=rf"rewards.*\({first.sum()} in all\).*got"):
            trial.next_counts(BALL.bandit.pull(counts, rng))
    with pytest.raises(ValueError, match=re.escape("of shape (4,)")):
        trial.next_counts(Rewards.none((4,)))
    # A refused telling leaves the trial as it was.
    assert finish(trial, BALL.bandit, 10).value.shape == ()


@every_strategy
def test_estimates_before_the_first_rewards_are_refused(strategy: Strategy) -> None:
    trial = begin(strategy, BALL.bandit, BALL.policy, 80, 3)
    with pytest.raises(RuntimeError, match="next_counts first"):
        trial.estimate(Rewards.none((5,)))
    if isinstance(strategy, SPEED):
        for question in ("counts", "coefficients"):
            with pytest.raises(RuntimeError, match=r"SPEED.*next_counts first"):
                getattr(trial, question)


@pytest.mark.parametrize("strategy", [s for s in ALL if isinstance(s, SPEED)], ids=repr)
def test_commit_rewards_of_other_pulls_are_refused(strategy: SPEED) -> None:
    trial = begin(strategy, BALL.bandit, BALL.policy, 80, 3)
    rng = np.random.default_rng(11)
    first = BALL.bandit.pull(trial.first_counts(), rng)
    second = trial.next_counts(first)
    for told in (first, BALL.bandit.pull(second + 1, rng), Rewards.none((5,))):
        with pytest.raises(ValueError, match=r"rewards.*must equal the pulls"):
            trial.estimate(told)


@pytest.mark.parametrize("strategy", WITH_VARIANCES, ids=repr)
def test_rewards_that_were_not_asked_for_are_refused(strategy: Strategy) -> None:
    trial = begin(strategy, BALL.bandit, BALL.policy, 80, 3)
    first = BALL.bandit.pull(trial.first_counts(), np.random.default_rng(12))
    assert not trial.next_counts(first).any()
    with pytest.raises(ValueError, match="rewards"):
        trial.estimate(first)


@pytest.mark.parametrize("strategy", [SPEED(), OnPolicy()], ids=repr)
def test_pulls_can_be_counted_down_by_the_experimenter(strategy: Strategy) -> None:
    trial = begin(strategy, BALL.bandit, BALL.policy, 80, 3)
    asked = trial.first_counts()
    rewards = BALL.bandit.pull(asked.copy(), np.random.default_rng(13))
    while asked.flags.writeable and asked.any():
        asked[np.argmax(asked)] -= 1
    trial.next_counts(rewards)


# --- who knows what -----------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", [s for s in ALL if isinstance(s, SPEED)], ids=repr)
def test_speed_does_not_see_the_variances(strategy: SPEED) -> None:
    """Right ones, wrong ones, nonsense or none: the same run."""
    results = []
    for told in (BALL.bandit.variances, [9.0, 0.01, 3.0, 1.0, 1.0], [-1.0], None):
        trial = strategy.begin(BALL.bandit.features, BALL.policy, 80, rng=3, variances=told)
        results.append((float(finish(trial, BALL.bandit, 4).value), trial.counts.tolist()))
    assert results.count(results[0]) == 4


def test_oracle_uses_the_variances() -> None:
    def pulls(told: object) -> list[int]:
        trial = Oracle().begin(BALL.bandit.features, BALL.policy, 100, rng=0, variances=told)
        return trial.first_counts().tolist()

    right = pulls(BALL.bandit.variances)
    assert pulls(7 * BALL.bandit.variances) == right
    assert pulls([9.0, 0.01, 3.0, 1.0, 1.0]) != right


@pytest.mark.parametrize("strategy", WITH_VARIANCES, ids=repr)
@pytest.mark.parametrize(
    ("variances", "message"),
    [
        (None, "variances.*needs the true variances.*None"),
        ([1.0, 1.0, 1.0, 1.0, 0.0], "variances.*greater than 0.*got 0"),
        ([1.0, 1.0, -2.0, 1.0, 1.0], "variances.*greater than 0.*-2"),
        ([1.0, 1.0], r"variances.*\(5,\).*\(2,\)"),
    ],
)
def test_who_knows_variances_needs_good_ones(
    strategy: Strategy, variances: object, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        strategy.begin(BALL.bandit.features, BALL.policy, 50, rng=0, variances=variances)


def test_a_trial_depends_on_its_seed_alone() -> None:
    def pulls(rng: object) -> list[int]:
        return begin(SPEED(), BALL.bandit, BALL.policy, 400, rng).first_counts().tolist()

    assert pulls(1) == pulls(1) == pulls(np.random.default_rng(1))
    assert pulls(1) == pulls(np.random.SeedSequence(1))
    assert len({tuple(pulls(seed)) for seed in range(8)}) > 4


# --- refusals ---------------------------------------------------------------------------------


@every_strategy
@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"features": [[1.0, np.nan]] * 5}, ValueError, "features.*finite.*nan"),
        ({"features": np.zeros(5)}, ValueError, r"features.*\(A, d\).*\(5,\)"),
        ({"features": "wine"}, TypeError, "features.*real numbers.*wine"),
        ({"policy": [0.2] * 4}, ValueError, r"policy.*\(5,\).*\(4,\)"),
        ({"policy": [0.2, 0.2, 0.2, 0.2, 0.1]}, ValueError, "policy.*sum to 1.*0.9"),
        ({"policy": [0.9, 0.2, 0.1, 0.1, -0.3]}, ValueError, "policy.*at least 0.*-0.3.*action 4"),
        ({"rounds": 0}, ValueError, "rounds.*at least 1.*0"),
        ({"rounds": 50.0}, TypeError, "rounds.*whole number.*50.0"),
        ({"rounds": "50"}, TypeError, "rounds.*whole number.*'50'"),
        ({"rng": None}, TypeError, "rng.*Generator.*None"),
        ({"rng": -3}, ValueError, "seed.*at least 0.*-3"),
        ({"replications": 0}, ValueError, "replications.*at least 1.*0"),
        ({"replications": 2.5}, TypeError, "replications.*whole number.*2.5"),
    ],
)
def test_bad_settings_are_refused(
    strategy: Strategy, changes: dict, error: type[Exception], message: str
) -> None:
    arguments = {
        "features": BALL.bandit.features,
        "policy": BALL.policy,
        "rounds": 50,
        "rng": 0,
        "variances": BALL.bandit.variances,
    } | changes
    with pytest.raises(error, match=message):
        strategy.begin(**arguments)
