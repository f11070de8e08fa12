"""Strategies: closed forms, budgets at the edge, errors and intervals."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from scipy import stats

from speedlib.bandit import LinearBandit
from speedlib.environments import one_hot
from speedlib.rewards import Rewards
from speedlib.strategies import (
    SPEED,
    AOptimal,
    DOptimal,
    GOptimal,
    OnPolicy,
    Oracle,
    PerArm,
    Uniform,
)
from speedlib.trials import Strategy

from .cases import BALL, begin, finish, space

ALPHA = 1e-4


# --- closed forms -------------------------------------------------------------------------------


def test_oracle_on_one_hot_actions_pulls_by_policy_times_deviation() -> None:
    """pi sigma = (.4, .6, .6, .4): of 1000 pulls 200, 300, 300 and 200."""
    environment = one_hot([0.4, 0.3, 0.2, 0.1], [1.0, 4.0, 9.0, 16.0])
    trial = begin(Oracle(), environment.bandit, environment.policy, 1000, 0)
    assert trial.first_counts().tolist() == [200, 300, 300, 200]
    result = finish(trial, environment.bandit, 1)
    assert float(result.standard_error) ** 2 == pytest.approx(2.0**2 / 1000)


def test_oracle_roundings_spend_more_less_or_all() -> None:
    environment = one_hot([0.5, 0.3, 0.2], [1.0, 1.0, 1.0])
    pulls = {
        rule: begin(Oracle(rounding=rule), environment.bandit, environment.policy, 7, 0)
        .first_counts()
        .tolist()
        for rule in ("ceil", "floor", "efficient")
    }
    assert pulls["ceil"] == [4, 3, 2]
    assert pulls["floor"] == [3, 2, 1]
    assert sum(pulls["efficient"]) == 7


def test_oracle_in_the_plane_by_hand() -> None:
    """e1 and (1, 1), c = (1, 1/2) = e1/2 + (1, 1)/2, deviations 1 and 3: shares 1/4 and 3/4."""
    bandit = LinearBandit([[1.0, 0.0], [1.0, 1.0]], [0.0, 0.0], variances=[1.0, 9.0])
    trial = begin(Oracle(), bandit, [0.5, 0.5], 100, 0)
    assert trial.first_counts().tolist() == [25, 75]
    assert trial.commitment.coefficients == pytest.approx([0.5, 0.5])
    assert float(finish(trial, bandit, 0).standard_error) ** 2 == pytest.approx(2.0**2 / 100)


def test_balanced_on_policy_pulls_by_the_policy() -> None:
    environment = one_hot([0.5, 0.3, 0.2], [1.0, 2.0, 3.0])
    trial = begin(OnPolicy(sampling="balanced"), environment.bandit, environment.policy, 50, 0)
    assert trial.first_counts().tolist() == [25, 15, 10]
    result = finish(trial, environment.bandit, 0)
    # One-hot: the sum of pi sigma^2 over n.
    assert float(result.standard_error) ** 2 == pytest.approx((0.5 + 0.6 + 0.6) / 50)


def test_nothing_to_learn_costs_nothing() -> None:
    """x = 1 and -1 with even odds: the value is 0 whatever theta is."""
    bandit = LinearBandit([[1.0], [-1.0]], [3.0], Sigma=[[1.0]])
    for strategy in (Oracle(), OnPolicy(), SPEED()):
        result = finish(begin(strategy, bandit, [0.5, 0.5], 30, 1), bandit, 2)
        assert result.estimable
        assert float(result.value) == 0.0
        assert float(result.standard_error) == 0.0


def test_noise_free_rewards_give_the_exact_value() -> None:
    bandit = LinearBandit(BALL.bandit.features, [0.3, 0.7], variances=np.zeros(5))
    for strategy in (SPEED(), SPEED(covariance="psd"), SPEED(exploration="uniform")):
        trial = strategy.begin(bandit.features, BALL.policy, 100, rng=4)
        result = finish(trial, bandit, 5)
        assert float(result.value) == pytest.approx(bandit.value(BALL.policy), rel=1e-12)
        assert float(result.standard_error) == np.inf  # rewards that never differ do not show it


# --- budgets at the edge ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("strategy", "rounds"),
    [
        (SPEED(), 1),
        (SPEED(exploration_rounds=10), 10),
        (SPEED(exploration_rounds=10), 4),
    ],
)
def test_exploration_must_be_shorter_than_the_budget(strategy: SPEED, rounds: int) -> None:
    with pytest.raises(ValueError, match=f"rounds.*more than.*got {rounds}"):
        begin(strategy, BALL.bandit, BALL.policy, rounds, 0)


@pytest.mark.parametrize(
    ("rounds", "gamma"), [(2, 1), (3, 1), (4, 2), (99, 9), (100, 10), (10**16 - 1, 10**8 - 1)]
)
def test_exploration_takes_the_root_of_the_budget_rounded_down(rounds: int, gamma: int) -> None:
    assert SPEED().exploration_length(rounds) == gamma


@pytest.mark.parametrize(
    ("strategy", "rounds"),
    [
        (Oracle(), 1),
        (Oracle(), 2),
        (Oracle(rounding="floor"), 2),
        (OnPolicy(), 2),
        (OnPolicy(estimator="ols"), 1),
        (SPEED(exploration_rounds=3), 5),
        (SPEED(rounding="efficient"), 2),
    ],
    ids=repr,
)
def test_budgets_below_the_dimension_do_not_determine_the_value(
    strategy: Strategy, rounds: int
) -> None:
    """Three one-hot actions need three pulls; with fewer the trial says so instead of failing."""
    environment = one_hot([0.3, 0.4, 0.3], [1.0, 1.0, 1.0])
    result = finish(
        begin(strategy, environment.bandit, environment.policy, rounds, 1), environment.bandit, 2
    )
    assert not result.estimable
    assert result.standard_error == np.inf
    assert np.isfinite(result.value)


def test_a_support_point_rounded_down_to_nothing_makes_the_value_inestimable() -> None:
    environment = one_hot([0.98, 0.02], [1.0, 1.0])
    lost = begin(Oracle(rounding="floor"), environment.bandit, environment.policy, 49, 0)
    assert lost.first_counts().tolist() == [48, 0]
    result = finish(lost, environment.bandit, 0)
    assert not result.estimable
    assert result.interval() == (-np.inf, np.inf)
    kept = begin(Oracle(rounding="floor"), environment.bandit, environment.policy, 50, 0)
    assert finish(kept, environment.bandit, 0).estimable


def test_exploration_of_a_single_round_still_ends() -> None:
    result = finish(begin(SPEED(), BALL.bandit, BALL.policy, 3, 0), BALL.bandit, 1)
    assert np.isfinite(result.value)


def test_rank_deficient_features_are_those_of_the_subspace() -> None:
    """(z, z) for z = 1, 2, -1 is one dimension in disguise."""
    line = LinearBandit([[1.0], [2.0], [-1.0]], [2.0], Sigma=[[1.0]])
    plane = LinearBandit(np.repeat(line.features, 2, axis=1), [1.0, 1.0], Sigma=np.eye(2) / 2)
    assert plane.variances == pytest.approx(line.variances)
    policy = [0.5, 0.3, 0.2]
    for strategy in (Oracle(), OnPolicy(), SPEED(exploration="uniform")):
        one = finish(begin(strategy, line, policy, 60, 3), line, 4)
        other = finish(begin(strategy, plane, policy, 60, 3), plane, 4)
        assert other.estimable
        assert float(other.value) == pytest.approx(float(one.value), rel=1e-9)
        assert float(other.standard_error) == pytest.approx(float(one.standard_error), rel=1e-9)


# --- errors and intervals -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("strategy", "bandit", "rounds"),
    [
        (Oracle(), BALL.bandit, 60),
        (OnPolicy(), BALL.bandit, 60),
        (OnPolicy(estimator="ols"), BALL.bandit, 10**6),
        (OnPolicy(estimator="feasible"), BALL.bandit, 10**6),
        (Uniform(estimator="ols", sampling="balanced"), BALL.bandit, 10**6),
        (OnPolicy(estimator="mean"), LinearBandit(np.eye(5), np.arange(5.0), Sigma=np.eye(5)), 900),
        (
            OnPolicy(estimator="mean", sampling="balanced"),
            LinearBandit(np.eye(5), np.arange(5.0), Sigma=np.diag([1.0, 2, 3, 4, 5])),
            900,
        ),
        (SPEED(), BALL.bandit, 10**4),
        (SPEED(exploration="uniform"), BALL.bandit, 10**8),
        (SPEED(exploration="identifiable", covariance="psd"), BALL.bandit, 10**8),
        (SPEED(exploration="uniform", exploration_rounds="tuned"), BALL.bandit, 10**8),
        (AOptimal(exploration="uniform", reweighted=True), BALL.bandit, 10**8),
        (DOptimal(exploration="uniform", keep_exploration=True), BALL.bandit, 10**8),
        (GOptimal(exploration="uniform"), BALL.bandit, 10**8),
        (PerArm(), LinearBandit(np.eye(5), np.arange(5.0), Sigma=np.eye(5)), 10**8),
    ],
    ids=repr,
)
def test_intervals_cover_as_often_as_they_say(
    strategy: Strategy, bandit: LinearBandit, rounds: int
) -> None:
    """Exactly for known variances and Gaussian noise, nearly for estimated ones."""
    size = 1500
    trial = begin(strategy, bandit, BALL.policy, rounds, 15, replications=size)
    result = finish(trial, bandit, 16)
    assert result.estimable.mean() > 0.999
    low, high = result.interval(0.9)
    truth = bandit.value(BALL.policy)
    covered = int(np.sum((low <= truth) & (truth <= high)))
    assert stats.binomtest(covered, size, 0.9).pvalue > ALPHA
    errors = (result.value - truth)[result.estimable]
    assert abs(errors.mean()) < 4 * errors.std() / np.sqrt(errors.size)


def test_standard_error_of_a_plain_average_includes_the_draw_of_the_actions() -> None:
    """No noise at all, means 0 and 1: the variance of the average is 1/4n."""
    bandit = LinearBandit(np.eye(2), [0.0, 1.0], variances=[0.0, 0.0])
    strategy = OnPolicy(estimator="mean")
    trial = strategy.begin(np.eye(2), [0.5, 0.5], 400, rng=1, variances=[1.0, 1.0])
    result = finish(trial, bandit, 2)
    share = trial.commitment.counts[1] / 400
    assert float(result.value) == pytest.approx(share)
    assert float(result.standard_error) ** 2 == pytest.approx(share * (1 - share) / 399)


def test_a_single_reward_has_no_standard_error() -> None:
    trial = begin(OnPolicy(estimator="mean"), BALL.bandit, BALL.policy, 1, 0)
    assert not float(finish(trial, BALL.bandit, 1).standard_error) < 1e-3


def test_standard_error_of_an_average_over_fixed_pulls_is_that_within_actions() -> None:
    """From single rewards; an action with a single one takes the mean variance of the others."""
    rng, policy = np.random.default_rng(3), [0.5, 0.3, 0.15, 0.05]
    strategy = OnPolicy(estimator="mean", sampling="balanced")
    trial = strategy.begin(np.eye(4), policy, 20, rng=1)
    counts = trial.first_counts()
    assert counts.tolist() == [10, 6, 3, 1]
    actions = np.repeat(np.arange(4), counts)
    rewards = rng.normal(size=20) * (1.0 + actions) + actions
    found = trial.estimate(Rewards.from_log(actions, rewards, 4))
    sample = [np.var(rewards[actions == a], ddof=1) for a in range(3)]
    variances = [*sample, np.mean(sample)]
    assert float(found.standard_error) == pytest.approx(np.sqrt(counts @ variances) / 20)


def test_an_average_of_actions_pulled_once_each_has_no_standard_error() -> None:
    strategy = OnPolicy(estimator="mean", sampling="balanced")
    trial = strategy.begin(np.eye(3), np.full(3, 1 / 3), 3, rng=1)
    assert trial.first_counts().tolist() == [1, 1, 1]
    assert trial.estimate(Rewards([1, 1, 1], [0.0, 1.0, 5.0], [0.0] * 3)).standard_error == np.inf


@pytest.mark.parametrize(("bandit", "rounds"), [(space(5), 8), (BALL.bandit, 400)])
@pytest.mark.parametrize("sampling", ["random", "balanced"])
def test_a_tuned_exploration_goes_on_to_the_length_that_the_pilot_recommends(
    bandit: LinearBandit, rounds: int, sampling: str
) -> None:
    """But not beyond half of the budget; then the rest is committed."""
    strategy = SPEED(
        exploration="uniform",
        exploration_rounds="tuned",
        exploration_sampling=sampling,
        rounding="efficient",
    )
    size, rng, even = 60, np.random.default_rng(2), np.full(bandit.n_actions, 1 / bandit.n_actions)
    trial = strategy.begin(bandit.features, even, rounds, rng=1, replications=size)
    pilot = trial.first_counts()
    assert np.all(pilot.sum(axis=1) == math.isqrt(rounds) // 2)
    more = trial.next_counts(bandit.pull(pilot, rng))
    designs = np.broadcast_to(even, (size, bandit.n_actions))
    best = np.ceil(strategy.best_length(trial.variances, designs, trial.setting))
    together = (pilot + more).sum(axis=1)
    expected = np.maximum(np.minimum(best, rounds // 2), pilot.sum(axis=1))
    assert together.tolist() == expected.tolist()
    last = trial.next_counts(bandit.pull(more, rng))
    assert np.all(together + last.sum(axis=1) == rounds)
    assert np.any(best > rounds // 2) == (rounds == 8)  # where half of the budget decides
    assert (len(set(together.tolist())) > 3) == (rounds == 400)


def test_the_help_of_speed_names_every_choice() -> None:
    """Nobody has to look up the classes that it is made from."""
    words = SPEED.__doc__ or ""
    for field in dataclasses.fields(SPEED):
        assert f"\n    {field.name} : " in words, field.name
