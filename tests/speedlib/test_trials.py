"""The protocol of asking and telling, and what a strategy may know."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest

from speedlib._within import variance_within
from speedlib.estimators import value_coefficients
from speedlib.rewards import Rewards
from speedlib.strategies import (
    SPEED,
    AdaptiveNeyman,
    AOptimal,
    DOptimal,
    ExploreThenCommit,
    GOptimal,
    OnPolicy,
    Oracle,
)
from speedlib.trials import Strategy, commit, play

from .cases import (
    ALL,
    BALL,
    EXPLORING,
    FIXED,
    ROTATED,
    WITH_VARIANCES,
    begin,
    finish,
    phases_of,
    space,
)

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
    alone, together = live.commitment, batch.commitment
    assert alone.counts.tolist() == together.counts[0].tolist()
    assert alone.estimable == together.estimable[0]
    if strategy.conditional:
        expected = pytest.approx(alone.coefficients, rel=1e-9, abs=1e-12)
        assert together.coefficients[0] == expected
    assert other.value.shape == (1,)
    assert float(one.value) == pytest.approx(float(other.value[0]), rel=1e-9)
    assert float(one.standard_error) == pytest.approx(float(other.standard_error[0]), rel=1e-9)
    assert bool(one.estimable) == bool(other.estimable[0])


@every_strategy
def test_replications_in_a_batch_do_not_mix(strategy: Strategy) -> None:
    """Each row comes out as if its rewards had been told to a trial of its own."""
    bandit, policy = space(5), np.full(8, 1 / 8)
    if isinstance(strategy, AdaptiveNeyman):  # finds no support in three dimensions
        strategy = dataclasses.replace(strategy, support=(0, 2, 5))
    trial = begin(strategy, bandit, policy, 80, 7, replications=6)
    phases = phases_of(trial, bandit, 8)
    whole = trial.estimate(phases[-1])
    for r in range(6):
        drawn = Replay([rewards.counts[r] for rewards in phases])
        single = begin(strategy, bandit, policy, 80, drawn)
        told = iter(phases)
        while not single.committed:
            single.next_counts(row(next(told), r))
        last = row(next(told), r)
        assert single.commitment.counts.tolist() == last.counts.tolist()
        assert not any(later.counts[r].any() for later in told)
        value = single.estimate(last)
        assert float(value.value) == pytest.approx(float(whole.value[r]), rel=1e-6, abs=1e-9)
        assert float(value.standard_error) == pytest.approx(
            float(whole.standard_error[r]), rel=1e-5
        )


class Replay(np.random.Generator):
    """Draws the pulls that it is given, whatever the design, phase after phase."""

    def __init__(self, pulls: list[np.ndarray]) -> None:
        super().__init__(np.random.PCG64(0))
        self.pulls = iter(pulls)

    def multinomial(self, *_: object, **__: object) -> np.ndarray:
        return next(self.pulls)


def row(rewards: Rewards, r: int) -> Rewards:
    return Rewards(rewards.counts[r], rewards.means[r], rewards.scatters[r])


@every_strategy
def test_budgets_are_kept(strategy: Strategy) -> None:
    trial = begin(strategy, BALL.bandit, BALL.policy, 81, 3, replications=40)
    phases = phases_of(trial, BALL.bandit, 1)
    spent = sum(rewards.rounds for rewards in phases)
    over = 1 if strategy == Oracle(rounding="ceil") else 0
    # Rounding down loses less than one pull a support point: two in the plane, three for A and D.
    lost = 3 if getattr(strategy, "rounding", "") == "floor" else 0
    assert np.all(spent <= 81 + over)
    assert np.all(spent >= 81 - lost)
    if isinstance(strategy, ExploreThenCommit):
        assert np.all(phases[0].rounds == strategy.exploration_length(81))
        explored = sum(rewards.rounds for rewards in phases[:-1])
        assert np.all(explored <= 40)
        assert len(phases) == (3 if strategy.tuned else 2)
    elif strategy.by_scatters_alone:
        assert len(phases) > 1
        assert np.all(spent == 81)
    else:
        assert len(phases) == 1


@every_strategy
def test_rewards_of_other_pulls_are_refused(strategy: Strategy) -> None:
    rng = np.random.default_rng(9)
    trial = begin(strategy, BALL.bandit, BALL.policy, 80, 3)
    tell = trial.estimate if trial.committed else trial.next_counts
    first = trial.first_counts()
    more, moved = first.copy(), np.roll(first, 1)
    more[0] += 1
    wrong = [more, np.zeros(5, dtype=int), np.stack([first, first])]
    for counts in (*wrong, moved) if np.any(moved != first) else wrong:
        with pytest.raises(ValueError, match=rf"rewards.*\({first.sum()} in all\).*got"):
            tell(BALL.bandit.pull(counts, rng))
    with pytest.raises(ValueError, match=re.escape("of shape (4,)")):
        tell(Rewards.none((4,)))
    with pytest.raises(TypeError, match=r"rewards.*expected Rewards.*from_log"):
        tell([1.0, 2.0])
    # A refused telling leaves the trial as it was.
    assert finish(trial, BALL.bandit, 10).value.shape == ()


@pytest.mark.parametrize("strategy", EXPLORING, ids=repr)
def test_nothing_is_known_before_exploration_is_told(strategy: ExploreThenCommit) -> None:
    trial = begin(strategy, BALL.bandit, BALL.policy, 80, 3)
    assert not trial.committed
    with pytest.raises(RuntimeError, match="pass its rewards first"):
        trial.estimate(Rewards.none((5,)))
    with pytest.raises(RuntimeError, match=rf"{strategy.name}.*pass its rewards first"):
        _ = trial.commitment


@pytest.mark.parametrize("strategy", EXPLORING, ids=repr)
def test_commit_rewards_of_other_pulls_are_refused(strategy: ExploreThenCommit) -> None:
    trial = begin(strategy, BALL.bandit, BALL.policy, 80, 3)
    phases = phases_of(trial, BALL.bandit, 11)
    more = trial.commitment.counts + 1
    for told in (phases[0], BALL.bandit.pull(more, np.random.default_rng(1))):
        with pytest.raises(ValueError, match=r"rewards.*must equal the pulls"):
            trial.estimate(told)


@every_strategy
def test_a_committed_trial_asks_for_no_more(strategy: Strategy) -> None:
    trial = begin(strategy, BALL.bandit, BALL.policy, 80, 3)
    last = phases_of(trial, BALL.bandit, 12)[-1]
    with pytest.raises(RuntimeError, match=r"next_counts.*requested all its pulls.*estimate"):
        trial.next_counts(last)
    # The refusal leaves the trial as it was, and asking twice is harmless.
    assert float(trial.estimate(last).value) == float(trial.estimate(last).value)


@pytest.mark.parametrize("strategy", FIXED, ids=repr)
def test_all_pulls_of_a_fixed_design_come_at_once(strategy: Strategy) -> None:
    trial = begin(strategy, BALL.bandit, BALL.policy, 80, 3)
    assert trial.committed
    assert trial.commitment.counts.tolist() == trial.first_counts().tolist()


@every_strategy
def test_the_estimate_is_the_declared_combination_of_the_last_rewards(strategy: Strategy) -> None:
    """Whatever the strategy: value = offset + coefficients times the mean rewards."""
    trial = begin(strategy, ROTATED, BALL.policy, 90, 13, replications=20)
    last, commitment = phases_of(trial, ROTATED, 14)[-1], trial.commitment
    result = trial.estimate(last)
    assert commitment.estimable.tolist() == result.estimable.tolist()
    keeps = getattr(strategy, "keep_exploration", False) or strategy.by_scatters_alone
    assert np.any(commitment.offset != 0) == keeps
    # Coefficients that rest on the rewards themselves cannot be declared before there are any.
    assert (commitment.coefficients is not None) == strategy.conditional
    if strategy.conditional:
        combined = commitment.offset + np.sum(commitment.coefficients * last.means, axis=-1)
        assert combined == pytest.approx(result.value, rel=1e-9, abs=1e-12)


@every_strategy
def test_a_commitment_does_not_see_the_last_rewards(strategy: Strategy) -> None:
    """What is known before the last rewards stays as it is, whatever they are."""
    trial = begin(strategy, ROTATED, BALL.policy, 90, 13)
    rng = np.random.default_rng(14)
    before = commit(trial, lambda counts: ROTATED.pull(counts, rng))
    for seed in (15, 16):
        trial.estimate(ROTATED.pull(before.counts, np.random.default_rng(seed)))
        assert trial.commitment is before


@every_strategy
def test_playing_is_asking_and_telling(strategy: Strategy) -> None:
    one, other = (begin(strategy, ROTATED, BALL.policy, 90, 13) for _ in range(2))
    rng = np.random.default_rng(14)
    rewards = ROTATED.pull(one.first_counts(), rng)
    while not one.committed:
        rewards = ROTATED.pull(one.next_counts(rewards), rng)
    assert float(one.estimate(rewards).value) == float(finish(other, ROTATED, 14).value)


@pytest.mark.parametrize("strategy", [SPEED(), OnPolicy()], ids=repr)
def test_pulls_can_be_counted_down_by_the_experimenter(strategy: Strategy) -> None:
    trial = begin(strategy, BALL.bandit, BALL.policy, 80, 3)
    asked = trial.first_counts()
    rewards = BALL.bandit.pull(asked.copy(), np.random.default_rng(13))
    while asked.flags.writeable and asked.any():
        asked[np.argmax(asked)] -= 1
    (trial.estimate if trial.committed else trial.next_counts)(rewards)


# --- who knows what -----------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", [s for s in ALL if not s.knows_variances], ids=repr)
def test_who_must_not_know_the_variances_does_not_see_them(strategy: Strategy) -> None:
    """Right ones, wrong ones, nonsense or none: the same run."""
    results = []
    for told in (BALL.bandit.variances, [9.0, 0.01, 3.0, 1.0, 1.0], [-1.0], None):
        trial = strategy.begin(BALL.bandit.features, BALL.policy, 80, rng=3, variances=told)
        value = float(finish(trial, BALL.bandit, 4).value)
        results.append((value, trial.commitment.counts.tolist()))
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


@every_strategy
def test_a_trial_keeps_what_it_began_with(strategy: Strategy) -> None:
    """The caller's arrays stay writeable, and what is written there later is not seen."""
    given = {
        "features": ROTATED.features.copy(),
        "policy": BALL.policy.copy(),
        "variances": ROTATED.variances.copy(),
    }
    one = strategy.begin(**given, rounds=90, rng=13)
    for array in given.values():
        array[...] = array[::-1].copy() * 2 + 1
    other = begin(strategy, ROTATED, BALL.policy, 90, 13)
    assert float(finish(one, ROTATED, 14).value) == float(finish(other, ROTATED, 14).value)
    for name in ("features", "policy", "direction", "variances"):
        kept, expected = getattr(one.setting, name), getattr(other.setting, name)
        assert (kept is None) == (expected is None)
        if kept is not None:
            assert not kept.flags.writeable, name
            assert kept.tolist() == expected.tolist(), name


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
        ({"rounds": 50.5}, TypeError, "rounds.*whole number.*50.5"),
        ({"rounds": "50"}, TypeError, "rounds.*whole number.*'50'"),
        ({"rng": None}, TypeError, "rng.*Generator.*None"),
        ({"rng": -3}, ValueError, "rng.*at least 0.*-3"),
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


# --- failures -----------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", EXPLORING, ids=repr)
def test_a_failure_leaves_the_trial_as_it_was(
    strategy: ExploreThenCommit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever breaks in a design: told again, the rewards count once."""
    one, other = (begin(strategy, ROTATED, BALL.policy, 90, 13) for _ in range(2))
    with monkeypatch.context() as broken:
        for name in ("commit_weights", "best_length"):
            broken.setattr(type(strategy), name, lambda *_: 1 / 0, raising=False)
        rewards = ROTATED.pull(one.first_counts(), np.random.default_rng(14))
        with pytest.raises(ZeroDivisionError):
            one.next_counts(rewards)
    assert not one.committed
    assert one.first_counts().tolist() == other.first_counts().tolist()
    results = [finish(trial, ROTATED, 14) for trial in (one, other)]
    assert one.explored.counts.tolist() == other.explored.counts.tolist()
    assert float(results[0].value) == float(results[1].value)


@pytest.mark.parametrize("kind", [AOptimal, DOptimal, GOptimal])
@pytest.mark.parametrize(
    "features",
    [[[1.0, 2.0], [2.0, 4.0]], [[1.0, 0.0], [3.0, 0.0]], [[1.0, 1.0]], [[0.0], [0.0]]],
)
def test_criteria_of_all_directions_refuse_features_that_do_not_span_at_once(
    kind: type[Strategy], features: list[list[float]]
) -> None:
    policy = np.full(len(features), 1 / len(features))
    with pytest.raises(ValueError, match=r"features: .-optimal needs actions that span all"):
        kind().begin(features, policy, 100, rng=1)


# --- commitments and plays ------------------------------------------------------------------------


@every_strategy
def test_a_commitment_cannot_be_written_to(strategy: Strategy) -> None:
    trial = begin(strategy, ROTATED, BALL.policy, 90, 13, replications=2)
    rng = np.random.default_rng(14)
    commitment = commit(trial, lambda counts: ROTATED.pull(counts, rng))
    for field in dataclasses.fields(commitment):
        part = getattr(commitment, field.name)
        assert part is None or not part.flags.writeable, field.name


@pytest.mark.parametrize("replications", [None, 3])
def test_rewards_of_other_pulls_are_told_by_the_first_that_differs(replications) -> None:
    trial = begin(OnPolicy(), BALL.bandit, BALL.policy, 80, 3, replications=replications)
    counts = trial.first_counts().copy()
    place = (3,) if replications is None else (1, 3)
    asked = counts[place]
    counts[place] += 2
    # Only a single trial can be played as an experiment, which takes such rewards.
    more = "; an Experiment also takes lost, late and extra rewards"
    end = more if replications is None else r" of replication \(1,\)"
    told = BALL.bandit.pull(counts, np.random.default_rng(1))
    rule = rf"got {asked + 2} instead of {asked} for action 3{end}$"
    with pytest.raises(ValueError, match=rule):
        trial.estimate(told)


def test_what_cannot_be_played_is_refused() -> None:
    rng = np.random.default_rng(1)
    with pytest.raises(TypeError, match=r"trial: pass what strategy.begin.* returns; got SPEED"):
        commit(SPEED(), lambda counts: BALL.bandit.pull(counts, rng))
    with pytest.raises(TypeError, match="rewards: expected Rewards"):
        play(begin(SPEED(), BALL.bandit, BALL.policy, 80, 3), lambda counts: None)


def test_replications_may_weight_by_variances_of_their_own() -> None:
    """At the public door, too: a row of variances for each row of counts."""
    counts, variances = np.array([[3, 1], [2, 2]]), np.array([[1.0, 4.0], [2.0, 1.0]])
    features, direction = np.array([[1.0], [2.0]]), np.array([1.0])
    both = value_coefficients(counts, features, variances, direction)
    alone = [value_coefficients(counts[r], features, variances[r], direction) for r in range(2)]
    assert both == pytest.approx(np.array(alone))
    assert np.any(both[0] != both[1])


def test_an_open_error_is_that_of_its_own_replication() -> None:
    """Of two replications one has rewards that never differ, for actions that were pulled once."""
    counts = np.array([[3, 1], [3, 1]])
    means, scatters = np.array([[2.0, 1.0], [2.0, 1.0]]), np.array([[0.0, 0.0], [0.5, 0.0]])
    learnt = np.full((2, 2), 1e-24)
    variance, _ = variance_within(np.full((2, 2), 0.5), Rewards(counts, means, scatters), learnt)
    assert variance[0] == np.inf and 0 < variance[1] < np.inf
