"""How the rewards of a fixed design become an estimate: one class for each estimator."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from speedlib._within import variance_within
from speedlib.checks import Counts, Floats
from speedlib.covariance import covariance_estimate
from speedlib.estimators import (
    ValueEstimate,
    combine,
    distinct_rows,
    is_estimable,
    weighted_coefficients,
)
from speedlib.rewards import Rewards
from speedlib.trials import Commitment, Setting


class Estimation(ABC):
    """How rewards become an estimate, as far as this can be decided before any reward comes."""

    @abstractmethod
    def commitment(self, counts: Counts, setting: Setting) -> Commitment:
        """Return the commitment to these pulls, shape (A,) for all replications or (..., A)."""

    @abstractmethod
    def estimate(self, rewards: Rewards, commitment: Commitment, setting: Setting) -> ValueEstimate:
        """Estimate the value from the rewards of the commitment's pulls."""


@dataclass(frozen=True)
class KnownVariances(Estimation):
    """Weighted least squares with the true variances."""

    def commitment(self, counts: Counts, setting: Setting) -> Commitment:
        """Weight by the true variances."""
        assert setting.variances is not None
        return _least_squares(counts, setting.variances, setting)

    def estimate(self, rewards: Rewards, commitment: Commitment, setting: Setting) -> ValueEstimate:
        """Combine the mean rewards; the standard error is exact."""
        assert setting.variances is not None and commitment.coefficients is not None
        return combine(commitment.coefficients, rewards, setting.variances, commitment.estimable)


@dataclass(frozen=True)
class OrdinaryLeastSquares(Estimation):
    """Ordinary least squares, with a standard error from estimated variances."""

    covariance: str
    variance_floor: float

    def commitment(self, counts: Counts, setting: Setting) -> Commitment:
        """Weight all rewards equally."""
        return _least_squares(counts, np.ones(len(setting.features)), setting)

    def estimate(self, rewards: Rewards, commitment: Commitment, setting: Setting) -> ValueEstimate:
        """Combine the mean rewards; the standard error takes the variances from them, too."""
        assert commitment.coefficients is not None
        variances = self.variances(rewards, setting)
        return combine(commitment.coefficients, rewards, variances, commitment.estimable)

    def variances(self, rewards: Rewards, setting: Setting) -> Floats:
        """Estimate the variances from all rewards, shape (..., A)."""
        found = covariance_estimate(rewards, setting.features, self.covariance)
        return found.floored(self.variance_floor)


@dataclass(frozen=True)
class FeasibleLeastSquares(Estimation):
    """Weighted least squares with variances estimated from the same rewards."""

    unweighted: OrdinaryLeastSquares

    def commitment(self, counts: Counts, setting: Setting) -> Commitment:
        """Leave the coefficients to the rewards; what is estimable does not depend on them."""
        return replace(self.unweighted.commitment(counts, setting), coefficients=None)

    def estimate(self, rewards: Rewards, commitment: Commitment, setting: Setting) -> ValueEstimate:
        """Estimate the variances, weight by them, and combine the same mean rewards."""
        variances = self.unweighted.variances(rewards, setting)
        coefficients = weighted_coefficients(
            rewards.counts, setting.features, variances, setting.direction
        )
        return combine(coefficients, rewards, variances, commitment.estimable)


@dataclass(frozen=True)
class Average(Estimation):
    """The average reward, which is unbiased over the random draw of the actions.

    Parameters
    ----------
    drawn : bool
        Whether the actions are drawn, so that the standard error includes their draw.
    """

    drawn: bool

    def commitment(self, counts: Counts, setting: Setting) -> Commitment:
        """Weight every round equally. Without least squares, nothing has to be spanned."""
        lead = setting.shape[:-1]
        return Commitment(
            np.broadcast_to(counts, setting.shape),
            np.broadcast_to(counts / setting.rounds, setting.shape),
            np.zeros(lead),
            np.ones(lead, dtype=np.bool_),
        )

    def estimate(self, rewards: Rewards, commitment: Commitment, setting: Setting) -> ValueEstimate:
        """Average the rewards."""
        assert commitment.coefficients is not None
        value = np.sum(commitment.coefficients * rewards.means, axis=-1)
        spread = _error_with_draw if self.drawn else _error_within
        return ValueEstimate(value, spread(rewards, value, setting.rounds), commitment.estimable)

    def estimate_of(self, came: Rewards, commitment: Commitment, setting: Setting) -> ValueEstimate:
        r"""Average the rewards of the pulls, with means of an action for its missing rewards.

        Actions may lose different shares of their rewards, so the plain average of what came would
        be that of another policy. With N(a) of n pulls, T(a) of which brought rewards,

        .. math:: \hat v = \sum_a \frac{N(a)}{n} \bar r(a), \qquad
                  \frac{V}{n} + \sum_a \frac{N(a)^2}{n^2} s^2(a)
                  \Bigl(\frac1{T(a)} - \frac1{N(a)}\Bigr)

        is its variance over the draw, where V estimates the variance of a single reward of the
        policy. The estimate is unknown while an action that is pulled has no reward.
        """
        planned = commitment.counts
        rounds, counts = int(planned.sum()), came.counts
        if np.array_equal(counts, planned):
            return self.estimate(came, commitment, setting)
        share, seen = planned / rounds, np.maximum(counts, 1)
        value = np.sum(share * came.means, axis=-1)
        known = not np.any((planned > 0) & (counts == 0))
        sample = came.scatters / np.maximum(counts - 1, 1)
        repeated = counts > 1
        stand_in = sample[repeated].mean() if repeated.any() else np.inf
        squares = np.where(repeated, sample, stand_in)
        within = np.where(planned > 0, share**2 * np.where(planned > 0, squares, 0.0) / seen, 0.0)
        if self.drawn:
            single = np.sum(share * (came.scatters / seen + (came.means - value) ** 2))
            missing = np.where(planned > 0, within * (1 - seen / np.maximum(planned, 1)), 0.0)
            variance = (
                single / max(rounds - 1, 1) + missing.sum() if known and rounds > 1 else np.inf
            )
        else:
            variance = within.sum()
        sure = np.asarray(known)
        return ValueEstimate(value, np.where(sure, np.sqrt(variance), np.inf), sure)


def _least_squares(counts: Counts, variances: Floats, setting: Setting) -> Commitment:
    """Return the commitment of least squares that weights by given variances."""
    coefficients = weighted_coefficients(counts, setting.features, variances, setting.direction)
    coefficients = np.broadcast_to(coefficients, setting.shape)
    found = is_estimable(distinct_rows(coefficients), setting.features, setting.direction)
    lead = setting.shape[:-1]
    return Commitment(
        np.broadcast_to(counts, setting.shape),
        coefficients,
        np.zeros(lead),
        np.broadcast_to(found, lead),
    )


def _error_with_draw(rewards: Rewards, average: Floats, rounds: int) -> Floats:
    """Return the standard error of an average over drawn actions: the sample variance of all."""
    spread = rewards.counts * (rewards.means - average[..., None]) ** 2
    total = np.sum(rewards.scatters + spread, axis=-1)
    if rounds == 1:
        return np.full_like(total, np.inf)
    return np.asarray(np.sqrt(total / rounds / (rounds - 1)))


def _error_within(rewards: Rewards, average: Floats, rounds: int) -> Floats:
    """Return the standard error of an average over fixed pulls: the variances within actions."""
    repeated = rewards.counts > 1
    sample = np.where(repeated, rewards.scatters / np.maximum(rewards.counts - 1, 1), 0.0)
    actions = repeated.sum(axis=-1, keepdims=True)
    mean = sample.sum(axis=-1, keepdims=True) / np.maximum(actions, 1)
    variances = np.where(repeated, sample, mean)
    error = np.sqrt(np.sum(rewards.counts * variances, axis=-1)) / rounds
    return np.where(actions[..., 0] > 0, error, np.inf)


def estimate_of_what_came(
    coefficients: Floats, used: Rewards, learnt: Floats, setting: Setting
) -> ValueEstimate:
    """Return the estimate that combines the mean rewards that came, with its error from scatter.

    The error is infinite if an action with a coefficient has no reward, or if the combination is
    not the value of the policy.

    Parameters
    ----------
    coefficients : array, shape (..., A)
        The coefficients of the mean rewards.
    used : Rewards
        The rewards that came.
    learnt : array, shape (..., A)
        The variances known before, as `speedlib._within.variance_within` uses them.
    setting : Setting
        Features and direction.
    """
    variance, free = variance_within(coefficients, used, learnt)
    known = ~np.any((coefficients != 0) & (used.counts == 0), axis=-1)
    sure = known & is_estimable(coefficients, setting.features, setting.direction)
    return ValueEstimate(
        np.sum(coefficients * used.means, axis=-1),
        np.where(sure, np.sqrt(variance), np.inf),
        np.asarray(sure),
        free,
    )
