"""Strategies and bandits that several test files try, and how to run a trial to its end."""

from __future__ import annotations

import numpy as np

from speedlib.bandit import LinearBandit
from speedlib.environments import unit_ball
from speedlib.estimators import ValueEstimate
from speedlib.rewards import Rewards
from speedlib.strategies import (
    SPEED,
    AdaptiveNeyman,
    AOptimal,
    BookedOptimism,
    DOptimal,
    ExploreThenCommit,
    FixedDesign,
    GOptimal,
    OnPolicy,
    Oracle,
    PerArm,
    Uniform,
)
from speedlib.trials import Strategy, Trial, play

ALL = [
    Oracle(),
    Oracle(rounding="ceil"),
    Oracle(rounding="floor"),
    OnPolicy(),
    OnPolicy(estimator="ols", sampling="balanced"),
    OnPolicy(estimator="mean"),
    OnPolicy(estimator="feasible"),
    Uniform(),
    Uniform(estimator="ols", sampling="balanced"),
    SPEED(),
    SPEED(covariance="psd", exploration="uniform", exploration_sampling="balanced"),
    SPEED(exploration_rounds=25, rounding="efficient", variance_floor=0.2),
    SPEED(exploration="identifiable", covariance="ridge", exploration_rounds="2*n^0.4"),
    SPEED(exploration="uniform", reweighted=True, keep_exploration=True),
    SPEED(exploration="uniform", exploration_rounds="tuned"),
    SPEED(
        exploration="identifiable",
        exploration_sampling="balanced",
        exploration_rounds="tuned",
        keep_exploration=True,
        rounding="efficient",
    ),
    AOptimal(exploration="uniform"),
    DOptimal(exploration="uniform", covariance="psd"),
    GOptimal(),
    PerArm(),
    PerArm(exploration_rounds=20, exploration_sampling="random", keep_exploration=True),
    BookedOptimism(first_pulls=1.0),
    BookedOptimism(first_pulls=0.5, width=0.0, regrowth=0.3),
    AdaptiveNeyman(),
    AdaptiveNeyman.many(pilot=4),
]
WITH_VARIANCES = [s for s in ALL if s.knows_variances]
EXPLORING = [s for s in ALL if isinstance(s, ExploreThenCommit)]
FIXED = [s for s in ALL if isinstance(s, FixedDesign)]
BY_SCATTERS = [s for s in ALL if s.by_scatters_alone]

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
    return play(trial, lambda counts: bandit.pull(counts, rng))


def phases_of(trial: Trial, bandit: LinearBandit, seed: int) -> list[Rewards]:
    """Ask and tell a trial to its end; return the rewards of each phase."""
    rng, phases = np.random.default_rng(seed), []

    def pull(counts: np.ndarray) -> Rewards:
        phases.append(bandit.pull(counts, rng))
        return phases[-1]

    play(trial, pull)
    return phases
