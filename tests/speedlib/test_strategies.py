"""Strategies: the arithmetic on one log, closed forms, budgets at the edge, intervals."""

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
    FixedDesign,
    GOptimal,
    OnPolicy,
    Oracle,
    PerArm,
    PlugIn,
    Uniform,
)
from speedlib.trials import Strategy

from .cases import BALL, ROTATED, begin, finish, space
from .per_round import Log, commit, estimate, floored_variances, play_counts

ALPHA = 1e-4


# --- one log, two programs ----------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(
    ("bandit", "strategy", "rounds"),
    [
        (BALL.bandit, SPEED(), 150),
        (ROTATED, SPEED(exploration_rounds=12, variance_floor=0.05), 90),
        (space(), SPEED(exploration="uniform"), 400),
        (space(2, "uniform"), SPEED(exploration="uniform", exploration_rounds=60), 300),
    ],
    ids=["ball", "rotated", "space", "space-60"],
)
def test_speed_on_one_log_of_single_rounds(
    bandit: LinearBandit, strategy: SPEED, rounds: int, seed: int
) -> None:
    """Variances, pulls, value and standard error from sufficient statistics and from rows."""
    rng = np.random.default_rng([7, seed])
    features, policy = bandit.features, rng.dirichlet(np.ones(bandit.n_actions))
    trial = begin(strategy, bandit, policy, rounds, seed)
    explored = play_counts(bandit, trial.first_counts(), rng)
    assert len(explored.actions) == strategy.exploration_length(rounds)
    pulls = trial.next_counts(
        Rewards.from_log(explored.actions, explored.rewards, bandit.n_actions)
    )
    variances, expected = commit(
        explored, features, policy, rounds - len(explored.actions), strategy.variance_floor
    )
    assert pulls.tolist() == expected.tolist()
    data = play_counts(bandit, pulls, rng)
    result = trial.estimate(Rewards.from_log(data.actions, data.rewards, bandit.n_actions))
    X, _ = data.regression(features)
    information = (X.T / variances[data.actions]) @ X
    spans = np.linalg.matrix_rank(X) == X.shape[1]
    assert result.estimable == spans
    if spans:
        assert float(result.value) == pytest.approx(
            estimate(data, features, policy, variances), rel=1e-6, abs=1e-8
        )
        assert float(trial.error_given_pulls(variances)) == pytest.approx(
            policy @ features @ np.linalg.solve(information, policy @ features), rel=1e-5
        )
        repeated = np.isin(data.actions, np.flatnonzero(pulls > 1))
        hat = (X / variances[data.actions, None]) @ np.linalg.solve(information, policy @ features)
        if np.all(repeated | np.isclose(hat, 0.0)):
            rewards, actions = np.array(data.rewards), np.array(data.actions)
            within = [np.var(rewards[actions == a], ddof=1) for a in actions]
            assert float(result.standard_error) ** 2 == pytest.approx(hat**2 @ within, rel=1e-5)


@pytest.mark.parametrize("estimator", ["wls", "feasible", "ols", "mean"])
def test_on_policy_on_one_log_of_single_rounds(estimator: str) -> None:
    bandit, rng = space(3), np.random.default_rng(4)
    policy = rng.dirichlet(np.ones(8))
    strategy = OnPolicy(estimator=estimator, covariance="lstsq")
    trial = begin(strategy, bandit, policy, 60, 5)
    log = play_counts(bandit, trial.first_counts(), rng)
    assert len(log.actions) == 60
    result = trial.estimate(Rewards.from_log(log.actions, log.rewards, 8))
    if estimator == "mean":
        assert float(result.value) == pytest.approx(np.mean(log.rewards))
        assert float(result.standard_error) == pytest.approx(stats.sem(log.rewards))
        return
    X, y = log.regression(bandit.features)
    variances = bandit.variances
    if estimator != "wls":
        variances = floored_variances(X, y, bandit.features, strategy.variance_floor)
    weights = np.ones(8) if estimator == "ols" else variances
    assert float(result.value) == pytest.approx(
        estimate(log, bandit.features, policy, weights), rel=1e-8
    )
    # The error is that of the weights used, under the variances known or estimated.
    U = np.diag(1 / weights[log.actions])
    hat = policy @ bandit.features @ np.linalg.solve(X.T @ U @ X, X.T @ U)
    assert float(result.standard_error) ** 2 == pytest.approx(
        hat**2 @ variances[log.actions], rel=1e-8
    )


def test_kept_exploration_joins_the_regression_of_single_rounds() -> None:
    bandit, rng = space(2), np.random.default_rng(6)
    policy = rng.dirichlet(np.ones(8))
    strategy = SPEED(exploration="uniform", exploration_rounds=40, keep_exploration=True)
    trial = begin(strategy, bandit, policy, 300, 7)
    explored = play_counts(bandit, trial.first_counts(), rng)
    pulls = trial.next_counts(Rewards.from_log(explored.actions, explored.rewards, 8))
    variances, expected = commit(explored, bandit.features, policy, 260, 0.01)
    assert pulls.tolist() == expected.tolist()
    data = play_counts(bandit, pulls, rng)
    result = trial.estimate(Rewards.from_log(data.actions, data.rewards, 8))
    both = Log(explored.actions + data.actions, explored.rewards + data.rewards)
    assert float(result.value) == pytest.approx(
        estimate(both, bandit.features, policy, variances), rel=1e-7
    )
    X, _ = both.regression(bandit.features)
    information = (X.T / variances[both.actions]) @ X
    c = policy @ bandit.features
    assert float(trial.error_given_pulls(variances)) == pytest.approx(
        c @ np.linalg.solve(information, c), rel=1e-6
    )


@pytest.mark.parametrize("keep", [False, True])
def test_per_arm_on_one_log_of_single_rounds(keep: bool) -> None:
    bandit, rng = space(4), np.random.default_rng(8)
    policy = np.array([0.3, 0.3, 0.2, 0.2, 0, 0, 0, 0])
    strategy = PerArm(exploration_rounds=20, keep_exploration=keep, rounding="floor")
    trial = begin(strategy, bandit, policy, 300, 9)
    assert trial.first_counts().tolist() == [5, 5, 5, 5, 0, 0, 0, 0]
    explored = play_counts(bandit, trial.first_counts(), rng)

    def rewards_of(log: Log, action: int) -> list[float]:
        return [r for a, r in zip(log.actions, log.rewards, strict=True) if a == action]

    pulls = trial.next_counts(Rewards.from_log(explored.actions, explored.rewards, 8))
    deviations = np.array([np.std(rewards_of(explored, a), ddof=1) for a in range(4)])
    share = policy[:4] * deviations / (policy[:4] @ deviations)
    assert pulls.tolist() == [*np.floor(280 * share).astype(int).tolist(), 0, 0, 0, 0]
    data = play_counts(bandit, pulls, rng)
    result = trial.estimate(Rewards.from_log(data.actions, data.rewards, 8))
    used = [rewards_of(data, a) + (rewards_of(explored, a) if keep else []) for a in range(4)]
    assert float(result.value) == pytest.approx(
        sum(p * np.mean(r) for p, r in zip(policy, used, strict=False))
    )
    assert float(trial.error_given_pulls(np.append(deviations**2, np.ones(4)))) == pytest.approx(
        sum(p**2 * s**2 / len(r) for p, s, r in zip(policy, deviations, used, strict=False))
    )
    parts = [p**2 * np.var(r, ddof=1) / len(r) for p, r in zip(policy, used, strict=False)]
    assert float(result.standard_error) ** 2 == pytest.approx(sum(parts))
    spread = sum(g**2 / (len(r) - 1) for g, r in zip(parts, used, strict=True))
    assert float(result.degrees_of_freedom) == pytest.approx(sum(parts) ** 2 / spread)


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


class OwnDesigns(PlugIn):
    default_name = "Mine"
    answer: object = None

    def designs(self, variances: np.ndarray, setting: object) -> object:
        return self.answer


class OwnDesign(FixedDesign):
    default_name = "Fixed"
    answer: object = None

    def design(self, setting: object) -> object:
        return self.answer


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (np.full(4, 0.25), ValueError, r"must return .*; it returned shape \(4,\)"),
        (np.full((2, 5), 0.2), ValueError, r"must return .*; it returned shape \(2, 5\)"),
        (0.2, ValueError, r"must return .*; it returned shape \(\)"),
        (None, TypeError, "expected an array of real numbers; got None"),
        (np.full(5, np.nan), ValueError, "every entry must be finite; got nan"),
    ],
)
@pytest.mark.parametrize("kind", [OwnDesigns, OwnDesign])
def test_a_design_of_ones_own_is_named_where_it_does_not_fit(
    kind: type, answer: object, error: type[Exception], message: str, monkeypatch
) -> None:
    monkeypatch.setattr(kind, "answer", answer)
    name = "Mine.designs" if kind is OwnDesigns else "Fixed.design"
    with pytest.raises(error, match=rf"^{name}: {message}"):
        finish(begin(kind(), BALL.bandit, BALL.policy, 80, 3), BALL.bandit, 4)


@pytest.mark.parametrize("replications", [None, 3])
def test_a_design_of_ones_own_that_fits_is_followed(replications, monkeypatch) -> None:
    share = [0.5, 0.5, 0, 0, 0]
    monkeypatch.setattr(OwnDesigns, "answer", [share] * (replications or 1))
    monkeypatch.setattr(OwnDesign, "answer", share)
    for kind, choices in ((OwnDesigns, {}), (OwnDesign, {"sampling": "balanced"})):
        more = {"rounding": "efficient"} if kind is OwnDesigns else choices
        trial = begin(kind(**more), BALL.bandit, BALL.policy, 80, 3, replications=replications)
        finish(trial, BALL.bandit, 4)
        assert np.all(trial.commitment.counts[..., 2:] == 0)
        assert np.all(np.ptp(trial.commitment.counts[..., :2], axis=-1) <= 1)


def test_the_help_of_speed_names_every_choice() -> None:
    """Nobody has to look up the classes that it is made from."""
    words = SPEED.__doc__ or ""
    for field in dataclasses.fields(SPEED):
        assert f"\n    {field.name} : " in words, field.name
