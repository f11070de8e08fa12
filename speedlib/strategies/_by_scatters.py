r"""Strategies whose choices look at the scatters of rewards alone, never at their means.

They pool all rewards of an action and return

.. math:: Y = \sum_a k_a\, \bar r(a), \qquad \sum_a k_a\, x(a) = c,

with counts T and coefficients k that are functions of the scatters. Under Gaussian noise the means
are independent of the scatters, so that given all scatters Y is Gaussian about the true value with
variance :math:`V = \sum_a k_a^2\, \sigma^2(a) / T(a)`, and its mean squared error is the mean of V.

*Why.* For one action, :math:`Z_i = \sqrt{(i-1)/i}\,(r_i - \bar r_{i-1})`, i = 2, 3, ..., are
independent :math:`N(0, \sigma^2)`, the scatter of the first T rewards is
:math:`\sum_{i \le T} Z_i^2`, and :math:`\bar r_T` is independent of :math:`Z_2, \dots, Z_T`.
Whether an action stops at T is decided by these and by the scatters of other actions. So given all
scatters that were used, and with them the counts, the mean of T rewards has the law that it has for
a fixed T. Under other laws of noise nothing of this holds: a mean and a scatter of one action are
dependent, and Y may be biased.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from speedlib._tolerances import LEAST_SCATTER
from speedlib._within import variance_within
from speedlib.checks import Counts, Floats, Scalar, frozen
from speedlib.estimators import ValueEstimate, conditional_variance
from speedlib.rewards import Rewards
from speedlib.trials import Commitment, Setting, Strategy, Trial

__all__ = ["ByScatters", "ByScattersTrial", "Plan", "deviations"]


class Plan(NamedTuple):
    """The pulls that follow, shape (R, A); with the coefficients k, (R, A), if they are the last.

    One row stands for a single trial.
    """

    counts: Counts
    coefficients: Floats | None


@dataclass(frozen=True, kw_only=True)
class ByScatters(Strategy):
    """A strategy whose pulls and coefficients depend on the scatters of rewards alone."""

    @property
    def by_scatters_alone(self) -> bool:
        """Whether pulls and coefficients depend on the scatters of rewards alone: they do."""
        return True


class ByScattersTrial(Trial):
    """A trial that asks in phases and keeps all rewards.

    Replications may need different numbers of phases: one that is finished asks for no pulls while
    the others go on.

    Parameters
    ----------
    setting : Setting
    name : str
        The strategy's name, for messages.
    plan : Plan
        What to begin with.

    Attributes
    ----------
    rewards : Rewards
        All rewards told so far but those of the last pulls, which `estimate` takes.
    """

    def __init__(self, setting: Setting, name: str, plan: Plan) -> None:
        super().__init__(setting, name)
        self.rewards = Rewards.none(setting.shape)
        self._begun = False
        self._coefficients: Floats | None = None
        self._commitment: Commitment | None = None
        self._asked = self._take(plan, self.rewards)

    @abstractmethod
    def _plan(self, rewards: Rewards) -> Plan:
        """Return what follows these rewards, all so far, with an axis of replications."""

    def first_counts(self) -> Counts:
        """Return the pulls to begin with, shape (..., A)."""
        if self._begun:
            raise RuntimeError(
                f"first_counts: {self.name} has its first rewards already; the pulls that are due "
                "now are `asked`"
            )
        return self._asked

    @property
    def asked(self) -> Counts:
        """The pulls whose rewards are due, shape (..., A)."""
        return self._asked

    @property
    def committed(self) -> bool:
        """Whether the pulls last asked for are the last ones of all replications."""
        return self._commitment is not None

    @property
    def commitment(self) -> Commitment:
        """The last pulls and what becomes of their rewards."""
        return self._known()[0]

    def next_counts(self, rewards: Rewards) -> Counts:
        """Take the rewards of the pulls last asked for; return the pulls that follow, (..., A)."""
        if self.committed:
            raise self._all_asked()
        pooled = self.rewards + self._expect(rewards, self._asked)
        rows = (-1, pooled.counts.shape[-1])
        flat = Rewards(
            pooled.counts.reshape(rows), pooled.means.reshape(rows), pooled.scatters.reshape(rows)
        )
        self._asked = self._take(self._plan(flat), pooled)
        self.rewards, self._begun = pooled, True
        return self._asked

    def _take(self, plan: Plan, earlier: Rewards) -> Counts:
        """Note what was planned; return the pulls."""
        counts = frozen(self._shaped(plan.counts))
        if plan.coefficients is not None:
            k = self._shaped(plan.coefficients)
            fresh = counts / np.maximum(earlier.counts + counts, 1)
            offset = np.sum(k * (1.0 - fresh) * earlier.means, axis=-1)
            sure = np.ones(offset.shape, dtype=bool)
            self._commitment = Commitment(counts, k * fresh, np.asarray(offset), sure)
            self._coefficients = frozen(k)
        return counts

    def _shaped(self, rows: NDArray[Scalar]) -> NDArray[Scalar]:
        """Return one row for all replications, or one for each, in the shape of counts."""
        shape = self.setting.shape
        every = (self.setting.replications or 1, shape[-1])
        return np.broadcast_to(rows, every).reshape(shape)

    def estimate(self, rewards: Rewards) -> ValueEstimate:
        r"""Estimate the value by :math:`\sum_a k_a\,\bar r(a)` from all rewards.

        The standard error and its degrees of freedom come from their scatter, as for
        `ExploreThenCommitTrial.estimate`. The scatters have decided the counts, too, so that the
        level of the interval, Student's, is approximate; and it is for the fixed end.
        """
        commitment, coefficients = self._known()
        used = self.rewards + self._expect(rewards, commitment.counts)
        variance, free = variance_within(coefficients, used, np.zeros(used.counts.shape))
        return ValueEstimate(
            np.sum(coefficients * used.means, axis=-1),
            np.sqrt(variance),
            commitment.estimable,
            free,
        )

    def error_given_pulls(self, variances: Floats) -> Floats:
        r"""Return :math:`\sum_a k_a^2\,\sigma^2(a) / T(a)` over all pulls, shape (...,).

        Under Gaussian noise with these variances, shape (..., A), it is the mean squared error
        given all scatters.

        Raises
        ------
        RuntimeError
            Before the trial has committed.
        """
        commitment, coefficients = self._known()
        counts = self.rewards.counts + commitment.counts
        return conditional_variance(coefficients, counts, variances)

    def _known(self) -> tuple[Commitment, Floats]:
        if self._commitment is None or self._coefficients is None:
            raise RuntimeError(
                f"{self.name}: tell the trial its rewards by next_counts until it has committed"
            )
        return self._commitment, self._coefficients


def deviations(scatters: Floats, counts: Counts) -> Floats:
    r"""Return standard deviations :math:`\sqrt{S/(T-1)}` in units of the largest, shape (R, K).

    Only their ratios decide. One without scatter, or with less than rounding leaves of constant
    rewards, is raised to the share `LEAST_SCATTER` of the largest; where no rewards differ, all
    count alike.
    """
    found = np.sqrt(scatters / (counts - 1))
    largest = found.max(axis=1, keepdims=True)
    return np.maximum(found / np.where(largest > 0, largest, 1.0), LEAST_SCATTER)
