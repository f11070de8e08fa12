"""Strategies and bandits that several test files try, and how to run a trial to its end."""

from __future__ import annotations

import numpy as np

from speedlib.bandit import LinearBandit
from speedlib.environments import unit_ball
from speedlib.estimators import ValueEstimate
from speedlib.strategies import SPEED, OnPolicy, Oracle
from speedlib.trials import Strategy, Trial

ALL = [
    Oracle(),
    Oracle(rounding="ceil"),
    Oracle(rounding="floor"),
    OnPolicy(),
    OnPolicy(estimator="ols", sampling="balanced"),
    OnPolicy(estimator="mean"),
    SPEED(),
    SPEED(covariance="psd", exploration="uniform", exploration_sampling="balanced"),
    SPEED(exploration_rounds=25, rounding="efficient", variance_floor=0.2),
]
WITH_VARIANCES = [s for s in ALL if s.knows_variances]

BALL = unit_ball()
ROTATED = LinearBandit(
    BALL.bandit.features, [1.0, -0.5], Sigma=[[0.15, 0.12], [0.12, 0.35]], noise="laplace"
)


def space(seed: int = 1, noise: str = "gaussian") -> LinearBandit:
    """Return eight actions in three dimensions."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(3, 3))
    return LinearBandit(
        rng.normal(size=(8, 3)), rng.normal(size=3), Sigma=root @ root.T / 3, noise=noise
    )


def begin(
    strategy: Strategy, bandit: LinearBandit, policy: object, rounds: int, seed: int, **more: object
) -> Trial:
    """Start a trial that may know the true variances."""
    return strategy.begin(
        bandit.features, policy, rounds, rng=seed, variances=bandit.variances, **more
    )


def finish(trial: Trial, bandit: LinearBandit, seed: int) -> ValueEstimate:
    """Ask and tell a trial to its end."""
    rng = np.random.default_rng(seed)
    second = trial.next_counts(bandit.pull(trial.first_counts(), rng))
    return trial.estimate(bandit.pull(second, rng))
