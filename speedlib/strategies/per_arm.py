"""A strategy that ignores the linear structure: one mean and one variance for every action."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from speedlib._tolerances import VANISHING_VARIANCE
from speedlib.checks import Counts, Floats
from speedlib.rewards import Rewards
from speedlib.strategies.explore_commit import ExploreThenCommit
from speedlib.trials import Setting

__all__ = ["PerArm"]


@dataclass(frozen=True, kw_only=True)
class PerArm(ExploreThenCommit):
    r"""Evaluate the policy action by action.

    Explore the actions of the target policy equally, estimate the variance of each from its own
    rewards, pull the remaining rounds by Neyman's allocation :math:`b(a) \propto
    \pi(a)\,\hat\sigma(a)`, and estimate the value by :math:`\sum_a \pi(a)\,\bar r(a)`. On one-hot
    features the allocation is PE-optimal.

    Parameters
    ----------
    exploration_rounds, exploration_sampling, variance_floor, rounding, keep_exploration
        See `ExploreThenCommit`. Exploration cannot be ``"tuned"``; by default it is balanced, and
        the rounding spends the whole budget.

    Notes
    -----
    An action with fewer than two exploration rewards is given the mean of the other variances.

    References
    ----------
    J. Neyman, "On the two different aspects of the representative method", J. Roy. Statist. Soc.
    97 (1934) 558-625.

    Examples
    --------
    >>> from speedlib import unit_ball
    >>> ball = unit_ball()
    >>> trial = PerArm().begin(ball.bandit.features, ball.policy, rounds=400, rng=1)
    >>> trial.first_counts().tolist()
    [4, 4, 4, 4, 4]
    """

    default_name: ClassVar[str] = "Per-arm"
    exploration_sampling: str = "balanced"
    rounding: str = "efficient"

    def exploration_weights(self, setting: Setting) -> Floats:
        """Return equal shares for the actions of the target policy, shape (..., A)."""
        used = setting.policy > 0
        return np.broadcast_to(used / used.sum(), setting.shape)

    def learn(self, rewards: Rewards, setting: Setting) -> tuple[Floats, None]:
        """Return the sample variances, floored."""
        seen = rewards.counts > 1
        sample = np.where(seen, rewards.scatters / np.maximum(rewards.counts - 1, 1), 0.0)
        total = np.maximum(seen.sum(axis=-1, keepdims=True), 1)
        mean = sample.sum(axis=-1, keepdims=True) / total
        smallest = np.where(mean > 0, self.variance_floor * mean, VANISHING_VARIANCE)
        return np.maximum(np.where(seen, sample, mean), smallest), None

    def commit_weights(self, variances: Floats, setting: Setting) -> Floats:
        """Return Neyman's allocation, shape (..., A)."""
        sizes = setting.policy * np.sqrt(variances)
        return np.asarray(sizes / sizes.sum(axis=-1, keepdims=True))

    def combination(self, counts: Counts, variances: Floats, setting: Setting) -> Floats:
        """Return the target policy, without the actions that were never pulled."""
        return np.where(counts > 0, setting.policy, 0.0)
