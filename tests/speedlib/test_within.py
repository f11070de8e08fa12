"""Intervals from the scatter within actions: against scipy's tests, by hand, and their coverage."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from speedlib import (
    SPEED,
    AOptimal,
    DesignWarning,
    LinearBandit,
    PerArm,
    Rewards,
    ValueEstimate,
    identifiability,
    play,
)
from speedlib._within import variance_within
from speedlib.strategies.explore_commit import ExploreThenCommit
from speedlib.trials import Setting

from .cases import BALL, EXPLORING, begin, finish, phases_of, space


def log_of(*groups: object) -> Rewards:
    """Return the rewards of actions 0, 1, ..., each given as a list."""
    actions = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    return Rewards.from_log(actions, np.concatenate(groups), len(groups))


def interval_of(
    coefficients: object, rewards: Rewards, level: float, learnt: object = None
) -> tuple[float, float]:
    weights = np.asarray(coefficients, dtype=float)
    learnt = np.ones(weights.shape) if learnt is None else np.asarray(learnt)
    variance, free = variance_within(weights, rewards, learnt)
    value = np.sum(weights * rewards.means, axis=-1)
    low, high = ValueEstimate(value, np.sqrt(variance), np.array(True), free).interval(level)
    return float(low), float(high)


# --- scipy's tests ------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [2, 3, 10, 400])
def test_one_action_has_the_t_interval_of_a_mean(size: int) -> None:
    sample = np.random.default_rng(size).normal(3.0, 2.0, size)
    found = interval_of([1.0], log_of(sample), 0.9)
    expected = stats.ttest_1samp(sample, 0.0).confidence_interval(0.9)
    assert found == pytest.approx((expected.low, expected.high), rel=1e-9)


@pytest.mark.parametrize("sizes", [(2, 2), (3, 50), (20, 7)])
def test_the_difference_of_two_actions_has_the_interval_of_welch(sizes: tuple[int, int]) -> None:
    rng = np.random.default_rng(sizes)
    one, other = rng.normal(1.0, 0.3, sizes[0]), rng.normal(-1.0, 5.0, sizes[1])
    found = interval_of([1.0, -1.0], log_of(one, other), 0.95)
    expected = stats.ttest_ind(one, other, equal_var=False).confidence_interval(0.95)
    assert found == pytest.approx((expected.low, expected.high), rel=1e-9)


def test_per_arm_on_one_action_is_the_t_test_of_its_last_rewards() -> None:
    bandit = LinearBandit([[1.0]], [2.0], Sigma=[[3.0]])
    trial = PerArm().begin(bandit.features, [1.0], 40, rng=1)
    rng = np.random.default_rng(2)
    explored, last = rng.normal(2.0, 2.0, 6), rng.normal(2.0, 2.0, 34)
    trial.next_counts(log_of(explored))
    found = trial.estimate(log_of(last))
    expected = stats.ttest_1samp(last, 0.0).confidence_interval(0.95)
    assert tuple(map(float, found.interval())) == pytest.approx((expected.low, expected.high))
    assert float(found.degrees_of_freedom) == pytest.approx(33)


# --- by hand ------------------------------------------------------------------------------------


def test_a_single_reward_takes_the_larger_of_two_variances() -> None:
    """Learnt 9, or the others' mean: scatters 2 and 11.2 over one and four free deviations."""
    rewards = log_of([5.0], [0.0, 2.0], [0.0, 0.0, 2.0, 4.0, 2.0])
    assert rewards.scatters.tolist() == pytest.approx([0.0, 2.0, 11.2])
    for learnt, used in ((9.0, 9.0), (0.1, 13.2 / 5)):
        variance, free = variance_within(
            np.array([1.0, 0.0, 0.0]), rewards, np.array([learnt, 1.0, 1.0])
        )
        assert float(variance) == pytest.approx(used)
        assert float(free) == 1.0


def test_rewards_that_are_all_alike_count_as_one_more_deviation() -> None:
    """Four times 0.1: a variance of v/4, known with four degrees of freedom."""
    variance, free = variance_within(np.array([2.0]), log_of([0.1] * 4), np.array([3.0]))
    assert float(variance) == pytest.approx(4 * (3 / 4) / 4)
    assert float(free) == pytest.approx(4.0)


def test_rounding_is_no_scatter_and_small_noise_is_some() -> None:
    alike = Rewards.from_log(np.zeros(10**5, dtype=int), np.full(10**5, 0.1), 1)
    variance, _ = variance_within(np.ones(1), alike, np.array([1.0]))
    assert float(variance) == pytest.approx(1e-10)
    sample = 1.0 + 1e-7 * np.random.default_rng(1).normal(size=50)
    variance, _ = variance_within(np.ones(1), log_of(sample), np.array([1.0]))
    assert float(variance) == pytest.approx(np.var(sample, ddof=1) / 50, rel=1e-6)


def test_many_rewards_do_not_overflow() -> None:
    """Products of counts exceed 2**63."""
    rewards = Rewards([2**51, 2**51], [0.0, 1.0], [2.0**51, 0.0])
    variance, free = variance_within(np.ones(2), rewards, np.ones(2))
    assert float(variance) == pytest.approx(2.0**-51)
    assert float(free) == pytest.approx(2.0**51)


def test_what_costs_nothing_has_infinitely_many_degrees_of_freedom() -> None:
    variance, free = variance_within(np.zeros(2), log_of([1.0, 2.0], [3.0]), np.ones(2))
    assert (float(variance), float(free)) == (0.0, np.inf)


# --- properties ---------------------------------------------------------------------------------


@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-40, 1e-3, 7.0, 1e30]))
def test_neither_the_unit_nor_the_order_of_actions_matters(seed: int, unit: float) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 5, 6)
    groups = [np.round(rng.normal(1.0, 2.0, k)) for k in counts]
    weights, learnt, order = rng.normal(size=6), rng.uniform(0.1, 2, 6), rng.permutation(6)
    low, high = interval_of(weights, log_of(*groups), 0.9, learnt)
    assert low < high
    found = interval_of(weights, log_of(*(unit * g for g in groups)), 0.9, unit**2 * learnt)
    assert found == pytest.approx((unit * low, unit * high), rel=1e-9, abs=1e-9 * unit)
    found = interval_of(weights[order], log_of(*(groups[a] for a in order)), 0.9, learnt[order])
    assert found == pytest.approx((low, high), rel=1e-9, abs=1e-9)


def test_batches_equal_one_by_one() -> None:
    rng = np.random.default_rng(3)
    counts = rng.integers(0, 4, (5, 7))
    scatters = np.where(counts > 1, rng.chisquare(2, (5, 7)), 0.0)
    rewards = Rewards(counts, np.where(counts > 0, rng.normal(size=(5, 7)), 0.0), scatters)
    weights, learnt = rng.normal(size=(5, 7)), rng.uniform(0.1, 2, (5, 7))
    variance, free = variance_within(weights, rewards, learnt)
    for r in range(5):
        one = Rewards(counts[r], rewards.means[r], scatters[r])
        single = variance_within(weights[r], one, learnt[r])
        assert variance[r] == pytest.approx(float(single[0]), rel=1e-12)
        assert free[r] == pytest.approx(float(single[1]), rel=1e-12)


@pytest.mark.parametrize("strategy", EXPLORING, ids=repr)
def test_every_exploring_strategy_has_them(strategy: SPEED) -> None:
    """From the rewards that enter the estimate, those of exploration only where they are kept."""
    bandit, policy = space(5), np.full(8, 1 / 8)
    trial = begin(strategy, bandit, policy, 400, 1)
    last = phases_of(trial, bandit, 2)[-1]
    found = trial.estimate(last)
    used = trial.explored + last if strategy.keep_exploration else last
    assert 1 <= float(found.degrees_of_freedom) <= used.rounds
    combination = strategy.combination(used.counts, trial.variances, trial.setting)
    variance, free = variance_within(combination, used, trial.variances)
    if found.estimable:
        assert float(found.standard_error) ** 2 == pytest.approx(float(variance))
        assert float(found.degrees_of_freedom) == pytest.approx(float(free))


# --- estimates ----------------------------------------------------------------------------------


def test_an_estimate_may_mix_normal_and_student_intervals() -> None:
    found = ValueEstimate(np.zeros(2), np.ones(2), np.ones(2, dtype=bool), np.array([np.inf, 3.0]))
    low, high = found.interval(0.9)
    assert high == pytest.approx([stats.norm.ppf(0.95), stats.t.ppf(0.95, 3)])
    assert low == pytest.approx(-high)
    plain = ValueEstimate(np.zeros(2), np.ones(2), np.ones(2, dtype=bool))
    assert plain.degrees_of_freedom.tolist() == [np.inf, np.inf]


@pytest.mark.parametrize("wrong", [0.0, -1.0, np.nan, [1.0, 2.0]])
def test_degrees_of_freedom_are_positive_and_one_for_each(wrong: object) -> None:
    with pytest.raises(ValueError, match=r"^degrees_of_freedom: "):
        ValueEstimate(np.zeros(3), np.ones(3), np.ones(3, dtype=bool), wrong)


@pytest.mark.parametrize("wrong", ["3", True, [True, True, False], 3j, None, ["a", "b", "c"]])
def test_degrees_of_freedom_are_numbers(wrong: object) -> None:
    with pytest.raises(TypeError, match=r"^degrees_of_freedom: "):
        ValueEstimate(np.zeros(3), np.ones(3), np.ones(3, dtype=bool), wrong)


# --- single rewards that nothing determines -----------------------------------------------------

#: Printed SPEED explores two of them, and takes (1, 1) for noisy or not by a guess.
TURNED = LinearBandit(
    [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1.0, 0.0], Sigma=[[1, -0.9], [-0.9, 1]]
)


def single_reward(strategy: SPEED, seed: int) -> bool:
    """Play one trial; return whether it warned, after comparing with what its pulls need."""
    trial = strategy.begin(TURNED.features, [0.45, 0.35, 0.2], 12, rng=seed)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        trial.next_counts(TURNED.pull(trial.first_counts(), np.random.default_rng(seed)))
    commitment = trial.commitment
    known = identifiability(TURNED.features, trial.explored.counts)
    alone = (commitment.counts == 1) & (commitment.coefficients != 0) & ~known.determined
    assert len(caught) == int(alone.any() and commitment.estimable)
    for each in caught:
        assert each.category is DesignWarning
        n = "1 action whose variance" if alone.sum() == 1 else f"{alone.sum()} actions whose"
        assert f"{strategy.name}: the interval relies on single rewards of {n}" in str(each.message)
        assert repr(known) in str(each.message)
        assert 'exploration="identifiable"' in str(each.message)
    return bool(caught)


def test_printed_speed_warns_where_a_single_reward_has_an_unknown_variance() -> None:
    warned = [single_reward(SPEED(), seed) for seed in range(60)]
    assert any(warned) and not all(warned)


def test_enough_exploration_does_not_warn() -> None:
    practical = SPEED.practical(exploration_rounds=6)
    assert not any(single_reward(practical, seed) for seed in range(10))


@pytest.mark.parametrize(
    ("strategy", "cure"),
    [
        (SPEED(), 'use exploration="identifiable", as SPEED.practical() does, and more explor'),
        (AOptimal(exploration="uniform"), 'use exploration="identifiable", as SPEED.practical'),
        (SPEED.practical(), "use more exploration_rounds, or a larger budget"),
        (AOptimal(exploration="identifiable"), "use more exploration_rounds, or a larger budget"),
        (PerArm(), "use more exploration_rounds, or a larger budget"),
    ],
    ids=repr,
)
def test_the_cure_is_one_that_is_not_taken_yet(strategy: SPEED, cure: str) -> None:
    assert strategy.cure.startswith(cure)


def test_an_identifiable_exploration_is_not_advised_where_it_is_taken() -> None:
    """Two rounds see two of three actions; the interval then rests on a single reward."""
    strategy, said = SPEED.practical(exploration_rounds=2), []
    for seed in range(10):
        trial = strategy.begin(TURNED.features, [0.45, 0.35, 0.2], 5, rng=seed)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            trial.next_counts(TURNED.pull(trial.first_counts(), np.random.default_rng(seed)))
        said += [str(each.message) for each in caught]
    assert said
    assert all(text.endswith("; use more exploration_rounds, or a larger budget") for text in said)


class Alike(PerArm):
    """Per-arm, but committing to all actions alike, those of no use included."""

    def commit_weights(self, variances: np.ndarray, setting: Setting) -> np.ndarray:
        return np.full(variances.shape, 1 / variances.shape[-1])


def test_a_single_reward_that_does_not_enter_the_estimate_is_no_reason_to_warn() -> None:
    bandit = LinearBandit(np.eye(3), np.zeros(3), Sigma=np.eye(3))
    trial = Alike(exploration_rounds=4).begin(bandit.features, [0.5, 0.5, 0.0], 7, rng=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trial.next_counts(bandit.pull(trial.first_counts(), np.random.default_rng(1)))
    assert trial.explored.counts.tolist() == [2, 2, 0]
    assert trial.commitment.counts.tolist() == [1, 1, 1] and trial.commitment.estimable


def test_an_estimate_that_is_not_determined_has_no_interval_to_warn_of() -> None:
    bandit = LinearBandit(np.eye(3), np.zeros(3), Sigma=np.eye(3))
    strategy = PerArm(exploration_rounds=3, rounding="floor")
    trial = strategy.begin(bandit.features, [0.45, 0.45, 0.1], 6, rng=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trial.next_counts(bandit.pull(trial.first_counts(), np.random.default_rng(1)))
    assert trial.explored.counts.tolist() == [1, 1, 1]
    assert trial.commitment.counts.tolist() == [1, 1, 0] and not trial.commitment.estimable


def test_per_arm_warns_of_single_rewards_that_were_explored_once() -> None:
    bandit = LinearBandit(np.eye(3), np.zeros(3), Sigma=np.eye(3))
    trial = PerArm(exploration_rounds=3).begin(bandit.features, np.full(3, 1 / 3), 6, rng=1)
    with pytest.warns(DesignWarning, match="single rewards of 3 actions whose .*0 of 3 actions"):
        trial.next_counts(bandit.pull(trial.first_counts(), np.random.default_rng(1)))
    batch = PerArm(exploration_rounds=3).begin(
        bandit.features, np.full(3, 1 / 3), 6, rng=1, replications=2
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        batch.next_counts(bandit.pull(batch.first_counts(), np.random.default_rng(1)))


# --- the practical strategy ---------------------------------------------------------------------


def test_the_practical_strategy_is_named_and_takes_changes() -> None:
    strategy = SPEED.practical()
    assert (strategy.name, SPEED().name) == ("SPEED, practical", "SPEED")
    assert strategy == SPEED(
        label="SPEED, practical",
        exploration="identifiable",
        exploration_rounds="tuned",
        exploration_sampling="balanced",
        covariance="psd",
        rounding="efficient",
    )
    changed = SPEED.practical(label="mine", exploration="uniform", ridge=0.5)
    assert (changed.name, changed.exploration, changed.covariance) == ("mine", "uniform", "psd")
    with pytest.raises(TypeError, match="budget"):
        SPEED.practical(budget=3)
    with pytest.raises(ValueError, match=r"^exploration_rounds: "):
        SPEED.practical(exploration="pca")


@pytest.mark.parametrize("rounds", [2, 3, 7, 12, 24, 36, 60])
def test_the_practical_strategy_runs_on_small_budgets(rounds: int) -> None:
    """Whatever the budget it is spent; from a few dozen rounds on the value is determined."""
    for bandit in (BALL.bandit, space(3), twelve()[0]):
        policy = np.full(bandit.n_actions, 1 / bandit.n_actions)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DesignWarning)
            trial = begin(SPEED.practical(), bandit, policy, rounds, 1)
            found = finish(trial, bandit, 2)
        assert trial.explored.rounds + trial.commitment.counts.sum() == rounds
        assert np.isfinite(found.value)
        if rounds >= 24:
            assert found.estimable and np.isfinite(found.interval()).all()
    with pytest.raises(ValueError, match=r"^rounds: SPEED, practical explores for 1 rounds"):
        begin(SPEED.practical(), BALL.bandit, BALL.policy, 1, 1)


# --- coverage -----------------------------------------------------------------------------------


def twelve(noise: str = "gaussian") -> tuple[LinearBandit, np.ndarray]:
    """Return twelve actions with six features, and a policy."""
    rng = np.random.default_rng(0)
    features, root = rng.normal(size=(12, 6)), rng.normal(size=(6, 6))
    bandit = LinearBandit(features, rng.normal(size=6), Sigma=root @ root.T / 6, noise=noise)
    return bandit, rng.dirichlet(np.ones(12))


def coverage(strategy: SPEED, rounds: int, size: int, seed: int, noise: str = "gaussian") -> float:
    """Return the share of 95 % intervals that hold the value."""
    bandit, policy = twelve(noise)
    rng = np.random.default_rng(seed)
    trial = strategy.begin(bandit.features, policy, rounds, rng=rng, replications=size)
    low, high = play(trial, lambda counts: bandit.pull(counts, rng)).interval()
    truth = bandit.value(policy)
    return float(np.mean((low <= truth) & (truth <= high)))


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [300, 1000, 3000])
@pytest.mark.parametrize("strategy", [SPEED(), PerArm()], ids=lambda s: s.name)
def test_intervals_cover_as_often_as_they_say(strategy: SPEED, rounds: int) -> None:
    """With plug-in variances they held the value in 51 to 91 % of the trials."""
    assert abs(coverage(strategy, rounds, 6000, 11) - 0.95) < 0.02


@pytest.mark.slow
@pytest.mark.parametrize("strategy", [SPEED.practical(), AOptimal()], ids=lambda s: s.name)
def test_slower_ones_cover(strategy: SPEED) -> None:
    assert abs(coverage(strategy, 600, 500, 12, "student") - 0.95) < 0.04


@pytest.mark.slow
def test_noise_far_below_the_mean_is_noise() -> None:
    """Rewards like seconds since 1970: a standard deviation of 6e-11 of the mean."""
    features = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 0.5], [1.0, 0.2]])
    bandit = LinearBandit(features, [1.7e9, 0.1], variances=np.array([1, 2, 0.5, 0.7]) * 0.01)
    policy, rng = np.full(4, 0.25), np.random.default_rng(3)
    truth = bandit.value(policy)
    for strategy in (SPEED.practical(), PerArm()):
        trial = strategy.begin(features, policy, 400, rng=rng, replications=1000)
        low, high = play(trial, lambda counts: bandit.pull(counts, rng)).interval()
        # Means are rounded to 2e-7, a hundredth of their error.
        assert 0.92 < np.mean((low <= truth) & (truth <= high)) < 0.98


def test_scatter_that_looks_like_rounding_counts_beside_what_stands_in() -> None:
    rewards = Rewards(np.array([10**8]), np.array([1e9]), np.array([10**8 * 1e-4]))
    variance, free = variance_within(np.ones(1), rewards, np.array([1e-6]))
    assert variance == pytest.approx(1e-4 / 10**8, rel=1e-6)
    assert free == pytest.approx(10**8, rel=1e-6)


@pytest.mark.parametrize(
    ("strategy", "rounds", "size", "d"),
    [
        (SPEED(), 2, 3, 1),
        (SPEED.practical(), 2, 3, 1),
        (PerArm(), 8, 6, 6),
        (PerArm(), 35, 30, 30),
    ],
)
@pytest.mark.filterwarnings("ignore::speedlib.DesignWarning")
def test_where_nothing_has_any_scatter_the_error_is_not_known(
    strategy: ExploreThenCommit, rounds: int, size: int, d: int
) -> None:
    rng = np.random.default_rng(4)
    features = np.eye(size) if d == size else rng.uniform(1, 2, (size, d))
    bandit = LinearBandit(features, np.ones(d), Sigma=np.eye(d))
    for seed in range(20):
        trial = strategy.begin(features, np.full(size, 1 / size), rounds, rng=seed)
        found = play(trial, lambda counts: bandit.pull(counts, rng))
        low, high = found.interval()
        assert low == -np.inf or high - low > 1e-3


def test_rewards_that_never_differ_leave_the_error_open() -> None:
    """A hundred customers and no sale: the interval is not the point 0."""
    rewards = Rewards(np.array([50, 50]), np.zeros(2), np.zeros(2))
    variance, _ = variance_within(np.array([0.5, 0.5]), rewards, np.full(2, 1e-24))
    assert variance == np.inf
    idle, _ = variance_within(np.array([0.5, 0.0]), rewards, np.array([1.0, 1e-24]))
    assert 0 < idle < np.inf  # what does not count need not be known
