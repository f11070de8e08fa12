"""The ask-and-tell protocol that every strategy follows, live or simulated.

A strategy is a set of named choices. `Strategy.begin` starts a trial of it, and a trial is asked
for numbers of pulls and told the rewards, whether these come from a simulation of ten thousand
replications or, one at a time, from a live experiment::

    trial = SPEED().begin(features, policy, rounds=1000, rng=rng)
    rewards = Rewards.from_log(...)            # after pulling trial.first_counts()
    while not trial.committed:
        counts = trial.next_counts(rewards)
        rewards = Rewards.from_log(...)        # after pulling counts
    trial.estimate(rewards)                    # value, standard error, interval
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from speedlib.checks import (
    Counts,
    Flags,
    Floats,
    check_count,
    check_features,
    check_policy,
    check_rng,
    check_rounds,
    check_variances,
    frozen,
)
from speedlib.designs import target_direction
from speedlib.estimators import ValueEstimate, is_estimable
from speedlib.rewards import Rewards


@dataclass(frozen=True, eq=False)
class Setting:
    r"""What every trial is told at its start (checked by `Strategy.begin`).

    Parameters
    ----------
    features : array, shape (A, d)
    policy : array, shape (A,)
        The target policy.
    rounds : int
        The budget n.
    rng : numpy.random.Generator
    variances : array, shape (A,), or None
        The true variances, for strategies that may know them.
    replications : int or None
        Number of independent trials run at once; None for a single live one.
    direction : array, shape (d,)
        The vector :math:`c = \sum_a \pi(a) x(a)`.
    """

    features: Floats
    policy: Floats
    rounds: int
    rng: np.random.Generator
    variances: Floats | None
    replications: int | None
    direction: Floats

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of counts: (A,), or (replications, A)."""
        lead = () if self.replications is None else (self.replications,)
        return (*lead, len(self.features))


class Trial(ABC):
    r"""One run of a strategy: ask for pulls, tell rewards, read off the estimate.

    A trial asks once or several times and then is `committed`: no later pulls depend on rewards
    still to come. The estimate is linear in the mean rewards :math:`\bar r(a)` of the last pulls,

    .. math:: \hat v = \text{offset} + \sum_a \ell_a\, \bar r(a) ,

    so that its mean squared error given all that came before is known in closed form: see
    `speedlib.simulation.conditional_moments`.
    """

    def __init__(self, setting: Setting) -> None:
        self.setting = setting

    @abstractmethod
    def first_counts(self) -> Counts:
        """Return the pulls to begin with, shape (..., A)."""

    @property
    @abstractmethod
    def committed(self) -> bool:
        """Whether the pulls last asked for are the last ones."""

    @abstractmethod
    def next_counts(self, rewards: Rewards) -> Counts:
        """Take the rewards of the pulls last asked for; return the pulls that follow, (..., A)."""

    @abstractmethod
    def estimate(self, rewards: Rewards) -> ValueEstimate:
        """Take the rewards of the last pulls; return the estimate of the value."""

    @property
    @abstractmethod
    def counts(self) -> Counts:
        """The last pulls, shape (..., A)."""

    @property
    @abstractmethod
    def coefficients(self) -> Floats:
        r"""Coefficients :math:`\ell` of the last pulls' mean rewards, shape (..., A)."""

    @property
    def offset(self) -> Floats:
        """What rewards told earlier contribute to the estimate, shape (...,)."""
        return np.zeros(self.counts.shape[:-1])

    @property
    def estimable(self) -> Flags:
        """Whether the pulls determine the value, shape (...,)."""
        return is_estimable(self.coefficients, self.setting.features, self.setting.direction)

    def _expect(self, rewards: Rewards, counts: Counts) -> Rewards:
        if not isinstance(rewards, Rewards):
            raise TypeError(f"rewards: expected Rewards (see Rewards.from_log); got {rewards!r}")
        if rewards.counts.shape != counts.shape or np.any(rewards.counts != counts):
            raise ValueError(
                "rewards: their counts must equal the pulls that the trial asked for "
                f"({int(counts.sum())} in all); got {int(rewards.counts.sum())} rewards "
                f"of shape {rewards.counts.shape}"
            )
        return rewards


@dataclass(frozen=True)
class Strategy(ABC):
    """A strategy with its named choices; subclasses are frozen dataclasses.

    Parameters
    ----------
    label : str, optional
        Name in tables and figures, to tell variants of one strategy apart.
    """

    #: Name in tables and figures unless a label replaces it.
    default_name: ClassVar[str]

    label: str | None = field(default=None, kw_only=True)

    @property
    def knows_variances(self) -> bool:
        """Whether the strategy is allowed to know the true variances."""
        return False

    @property
    def conditional(self) -> bool:
        """Whether the coefficients are independent of the rewards that they combine.

        If they are not, the error of the estimate has no closed form and is simulated by draws.
        """
        return True

    @property
    def name(self) -> str:
        """Name in tables and figures."""
        return self.label or self.default_name

    def begin(
        self,
        features: ArrayLike,
        policy: ArrayLike,
        rounds: int,
        *,
        rng: np.random.Generator | np.random.SeedSequence | int,
        variances: ArrayLike | None = None,
        replications: int | None = None,
    ) -> Trial:
        """Start a trial.

        Parameters
        ----------
        features : array, shape (A, d)
        policy : array, shape (A,)
            Target policy: entries of at least 0 that sum to 1.
        rounds : int
            Budget n, at least 1.
        rng : numpy.random.Generator, SeedSequence or int
            Source of randomness.
        variances : array, shape (A,), optional
            The true variances, positive. Needed by strategies that know them, kept from the rest.
        replications : int, optional
            Run this many independent trials at once.

        Raises
        ------
        ValueError
            If an argument breaks its rule, or the strategy needs variances and has none.
        """
        features = check_features(features)
        known = None
        if self.knows_variances:
            if variances is None:
                raise ValueError(f"variances: {self.name} needs the true variances; got None")
            known = frozen(check_variances(variances, len(features)))
        setting = Setting(
            features=frozen(features),
            policy=frozen(check_policy(policy, len(features))),
            rounds=check_rounds(rounds),
            rng=check_rng(rng),
            variances=known,
            replications=(
                None if replications is None else check_count("replications", replications, 1)
            ),
            direction=frozen(target_direction(features, policy)),
        )
        return self._trial(setting)

    @abstractmethod
    def _trial(self, setting: Setting) -> Trial: ...
