"""Strategies on one log of single rounds: the same arithmetic, told round by round."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from speedlib.bandit import LinearBandit
from speedlib.rewards import Rewards
from speedlib.strategies import SPEED, OnPolicy, PerArm

from .cases import BALL, ROTATED, begin, space
from .per_round import Log, commit, estimate, floored_variances, play_counts


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
