"""Explore, learn the variances, commit: what strategies with unknown variances have in common."""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from speedlib._within import variance_within
from speedlib.checks import (
    Counts,
    Flags,
    Floats,
    check_choice,
    check_flag,
    check_share,
    frozen,
)
from speedlib.covariance import CovarianceEstimate
from speedlib.designs import DesignWarning
from speedlib.estimators import (
    ValueEstimate,
    conditional_variance,
    is_estimable,
    weighted_coefficients,
)
from speedlib.exploration import (
    SAMPLINGS,
    check_exploration_length,
    exploration_counts,
    exploration_length,
)
from speedlib.rewards import Rewards
from speedlib.rounding import ROUNDINGS, round_design
from speedlib.strategies._living_trial import LivingTrial, Pooled
from speedlib.strategies._own import check_determined, check_own
from speedlib.trials import Commitment, Setting, Strategy, Trial

__all__ = ["ExploreThenCommit", "ExploreThenCommitTrial"]


@dataclass(frozen=True, kw_only=True)
class ExploreThenCommit(Strategy):
    r"""Explore for :math:`\Gamma` rounds, then commit the remaining :math:`n-\Gamma` to a design.

    Parameters
    ----------
    exploration_rounds : int or str
        :math:`\Gamma`, at least 1 and less than n. ``"sqrt"`` is the paper's
        :math:`\lfloor\sqrt n\rfloor`; ``"2*n^0.4"`` is a multiple of a power of n. With ``"tuned"``
        the data choose the length: see `ExploreThenCommitTrial`.
    exploration_sampling : {"random", "balanced"}
        Whether exploration draws its actions at random or apportions them evenly.
    variance_floor : float
        Estimated variances are raised to at least this share of their scale: the mean squared
        residual. The paper has no such floor; its estimates can be negative, and then no design is
        optimal for them.
    rounding : {"floor", "ceil", "efficient"}
        How the design becomes whole pulls; Algorithm 1 rounds down.
    keep_exploration : bool
        Whether exploration rewards enter the final estimate, too. The paper drops them. If they are
        kept, the weights depend on the rewards to which they are applied. Then the estimate
        has a bias, conditionally on exploration. The degrees of freedom of its interval are
        approximate even under Gaussian noise.
    """

    exploration_rounds: int | str = "sqrt"
    exploration_sampling: str = "random"
    variance_floor: float = 0.01
    rounding: str = "floor"
    keep_exploration: bool = False

    def __post_init__(self) -> None:
        check_exploration_length(self.exploration_rounds)
        check_choice("exploration_sampling", self.exploration_sampling, SAMPLINGS)
        check_share("variance_floor", self.variance_floor)
        check_choice("rounding", self.rounding, ROUNDINGS)
        check_flag("keep_exploration", self.keep_exploration)
        if self.tuned and type(self).best_length is ExploreThenCommit.best_length:
            raise ValueError('exploration_rounds: "tuned" is offered by plug-in strategies only')

    learns_from_history: ClassVar[bool] = True

    @property
    def cure(self) -> str:
        """What to do if exploration does not determine all variances."""
        return "use more exploration_rounds, or a larger budget"

    @property
    def tuned(self) -> bool:
        """Whether the data choose the length of exploration."""
        return self.exploration_rounds == "tuned"

    def exploration_length(self, rounds: int) -> int:
        r"""Return :math:`\Gamma` for n rounds, or the pilot's length if exploration is tuned."""
        if self.tuned:
            length = max(1, math.isqrt(rounds) // 2)
        else:
            length = exploration_length(self.exploration_rounds, rounds)
        if length >= rounds:
            raise ValueError(
                f"rounds: {self.name} explores for {length} rounds and needs more than that "
                f"as its budget; got {rounds}"
            )
        return length

    @abstractmethod
    def exploration_weights(self, setting: Setting) -> Floats:
        """Return the exploration design, shape (..., A)."""

    @abstractmethod
    def learn(self, rewards: Rewards, setting: Setting) -> tuple[Floats, CovarianceEstimate | None]:
        """Return positive variances, shape (..., A), and the covariance estimate behind them."""

    @abstractmethod
    def commit_weights(self, variances: Floats, setting: Setting) -> Floats:
        """Return the design to commit to, shape (..., A), for estimated variances."""

    def combination(self, counts: Counts, variances: Floats, setting: Setting) -> Floats:
        """Return the coefficients of mean rewards in the estimate: weighted least squares.

        They have the shape of the counts, (..., A). If a coefficient is not 0 for an action without
        rewards, the value counts as not determined.
        """
        return weighted_coefficients(counts, setting.features, variances, setting.direction)

    def determined(self, explored: Counts, setting: Setting) -> tuple[Flags, str]:
        """Return which variances an exploration determines, shape (A,), and the reason in words.

        By default, a variance is determined if its action has at least two rewards.
        """
        found = explored > 1
        return found, f"{int(found.sum())} of {found.size} actions have two rewards in exploration"

    def best_length(self, variances: Floats, exploration: Floats, setting: Setting) -> Floats:
        """Return the length that estimated variances recommend for a design, shape (...,)."""
        raise NotImplementedError(f"{self.name} does not tune its exploration")

    def _trial(self, setting: Setting) -> Trial:
        return ExploreThenCommitTrial(setting, self)


class ExploreThenCommitTrial(LivingTrial):
    r"""A trial that explores, learns and commits.

    If exploration is tuned, a pilot of :math:`\lfloor\sqrt n\rfloor/2` rounds gives a first
    estimate of the variances and, from it, an estimate of the best length :math:`\Gamma^* =
    \sqrt{\psi\,n}` (`speedlib.asymptotics.estimation_cost`). Exploration then continues to that
    length, but to at most half of the budget, and the variances are learnt from the whole
    exploration.

    Attributes
    ----------
    explored : Rewards
        All exploration rewards received so far.
    variances : array, shape (..., A), or None
        Variances learnt from these rewards, for the design and the weights. The interval uses them
        only for actions whose rewards have no scatter, such as a single reward.
    covariance : CovarianceEstimate or None
        The estimate behind the variances, if the strategy makes one.
    """

    def __init__(self, setting: Setting, strategy: ExploreThenCommit) -> None:
        super().__init__(setting, strategy.name)
        self.strategy = strategy
        self.explored = Rewards.none(setting.shape)
        self.variances: Floats | None = None
        self.covariance: CovarianceEstimate | None = None
        self._pooled: Pooled | None = None
        self._known = 0
        self._piloting = strategy.tuned
        self._spent = self._before = np.zeros(setting.shape, dtype=np.int64)
        length = strategy.exploration_length(setting.nominal)
        self._design = setting.within(strategy.exploration_weights(setting))
        if setting.history is not None:
            length = self._shortened(length, setting.history)
        self._asked = frozen(
            exploration_counts(self._design, length, setting.rng, strategy.exploration_sampling)
        )
        if setting.overdrawn(self._asked, self._spent).any():
            raise ValueError(
                f"rounds: {self.name} explores for {length} rounds, which cost more than the "
                f"budget {setting.rounds}; raise it, or set exploration_rounds lower"
            )
        if setting.history is not None:
            self._skip_empty_phases()

    def first_counts(self) -> Counts:
        """Return the exploration pulls (of the pilot, if there is one), shape (..., A)."""
        if self._spent.any():
            raise RuntimeError(
                f"first_counts: {self.name} has received its first rewards; the pulls that are "
                "due now are in `asked`"
            )
        return self._asked

    @property
    def asked(self) -> Counts:
        """The pulls whose rewards are due: of exploration, or of the commit phase."""
        return self._asked

    @property
    def committed(self) -> bool:
        """Whether exploration is over."""
        return self._pooled is not None

    @property
    def commitment(self) -> Commitment:
        """The pulls of the commit phase and how their rewards become an estimate."""
        return self._after_exploration().commitment

    def next_counts(self, rewards: Rewards) -> Counts:
        """Learn the variances from exploration; return the pulls of the next phase.

        Warns
        -----
        DesignWarning
            If a single trial plans only one reward of an action whose variance exploration does not
            determine. The interval then relies on a guess. At this point, the experiment can still
            be changed.
        """
        if self.committed:
            raise self._all_asked()
        return self._advance(self._expect(rewards, self._asked))

    def _advance(self, rewards: Rewards) -> Counts:
        """Take rewards of the requested pulls, which count as made; decide what follows.

        The trial changes last of all, so a failure leaves it as it was.
        """
        explored, spent = self.explored + rewards, self._spent + self._asked
        variances, covariance = self.strategy.learn(explored, self.setting)
        pooled = None
        if self._piloting:
            counts = frozen(self._more_exploration(explored, spent, variances))
        else:
            pooled = self._commit(explored, spent, variances)
            counts = pooled.commitment.counts
        if pooled is not None and self.setting.replications is None:
            self._warn_of_lost(explored, spent)
            self._warn_of_unknown(pooled, explored)
        self.explored, self.variances, self.covariance = explored, variances, covariance
        self._spent, self._asked, self._pooled = spent, counts, pooled
        self._piloting = False
        return self._asked

    def _more_exploration(self, explored: Rewards, spent: Counts, variances: Floats) -> Counts:
        """Return the pulls that take the pilot to the recommended length."""
        setting, strategy = self.setting, self.strategy
        best = strategy.best_length(variances, self._design, setting)
        pilot = spent.sum(axis=-1)
        most = np.maximum(pilot, setting.nominal // 2)
        more = np.clip(np.ceil(best) - self._known, pilot, most) - pilot
        design = np.broadcast_to(self._design, setting.shape)
        if setting.paid:
            more = np.minimum(more, setting.half_left(spent, design))
        return exploration_counts(
            design,
            more.astype(np.int64),
            setting.rng,
            strategy.exploration_sampling,
        )

    def _whole(self, design: Floats, spent: Counts) -> Counts:
        """Return whole pulls that follow a design and do not cost more than what is left."""
        setting, rule = self.setting, self.strategy.rounding
        weights = np.broadcast_to(design, setting.shape)
        left = setting.left(spent, weights)
        counts = round_design(weights, left, rule)
        while setting.overdrawn(counts, spent).any() and rule != "ceil" and np.any(left > 0):
            left = np.maximum(0, left - (setting.overdrawn(counts, spent) > 0))
            counts = round_design(weights, left, rule)
        return counts

    def _commit(self, explored: Rewards, spent: Counts, variances: Floats) -> Pooled:
        """Decide the pulls of the commit phase and how the value will be estimated."""
        design = self.strategy.commit_weights(variances, self.setting)
        return self._committed_to(self._whole(design, spent), explored, variances)

    def _committed_to(
        self, counts: Counts, explored: Rewards, variances: Floats | None = None
    ) -> Pooled:
        """Return what these last pulls make of the estimate."""
        setting, strategy = self.setting, self.strategy
        variances = self.variances if variances is None else variances
        assert variances is not None
        kept = explored.counts if strategy.keep_exploration else np.zeros_like(counts)
        pooled = counts + kept
        combination = check_own(
            strategy.name,
            "combination",
            strategy.combination(pooled, variances, setting),
            setting.shape,
            "coefficient",
        )
        # The mean of no rewards is unknown, whatever its coefficient.
        known = ~np.any((combination != 0) & (pooled == 0), axis=-1)
        # What the last rewards contribute to a pooled mean, and what the earlier ones do.
        fresh = counts / np.maximum(pooled, 1)
        old = combination * np.where(pooled > 0, 1.0 - fresh, 0.0) * explored.means
        commitment = Commitment(
            counts=frozen(counts),
            coefficients=combination * fresh,
            offset=np.asarray(old.sum(axis=-1)),
            estimable=known & is_estimable(combination, setting.features, setting.direction),
        )
        return Pooled(commitment, combination)

    def _warn_of_lost(self, explored: Rewards, spent: Counts) -> None:
        """Warn of variances that all rewards of exploration determine, and those that came do not.

        Then the design relies on guesses, though more rewards may still come.
        """
        due = np.maximum(explored.counts, spent)
        if not np.any(due > explored.counts):
            return
        (planned, _), (known, words) = (
            check_determined(self.name, self.strategy.determined(each, self.setting), each.shape)
            for each in (due, explored.counts)
        )
        if n := int(np.sum(planned & ~known)):
            what = "variance" if n == 1 else "variances"
            warnings.warn(
                f"{self.name}: commits by too few rewards of exploration, which leave {n} {what} "
                f"unknown: {words}. The design may be a poor one; wait for more rewards",
                DesignWarning,
                stacklevel=4,
            )

    def _warn_of_unknown(self, pooled: Pooled, explored: Rewards) -> None:
        """Warn of single rewards in the estimate whose variances nothing determines."""
        counts = self._used(pooled.commitment.counts, explored)
        alone = (counts == 1) & (pooled.combination != 0)
        if not (alone.any() and pooled.commitment.estimable):
            return
        known, words = check_determined(
            self.name,
            self.strategy.determined(explored.counts, self.setting),
            explored.counts.shape,
        )
        if n := int(np.sum(alone & ~known)):
            what = "action whose variance" if n == 1 else "actions whose variances"
            warnings.warn(
                f"{self.name}: the interval relies on single rewards of {n} {what} exploration "
                f"does not determine: {words}. The interval may be too short; "
                f"{self.strategy.cure}",
                DesignWarning,
                stacklevel=3,
            )

    def estimate(self, rewards: Rewards) -> ValueEstimate:
        r"""Estimate the value from the rewards of the commit phase, or of both phases.

        The standard error and its degrees of freedom come from the scatter of the rewards that
        enter the estimate:

        .. math:: \sum_a g_a, \quad g_a = \frac{\ell_a^2\, s^2(a)}{T(a)}, \qquad
                  \nu = \Bigl(\sum_a g_a\Bigr)^2 \Big/ \sum_a \frac{g_a^2}{T(a) - 1} .

        For actions whose rewards have no scatter, variances learnt in exploration are used, with
        one degree of freedom for a single reward. Student's interval holds its level if the end of
        the experiment was fixed beforehand. It fails if you compute it every day and stop when you
        like the result.

        References
        ----------
        F. E. Satterthwaite, "An approximate distribution of estimates of variance components",
        Biometrics Bulletin 2 (1946) 110-114. B. L. Welch, Biometrika 34 (1947) 28-35, on Student's
        problem with several unequal variances.
        """
        commitment, combination = self._after_exploration()
        used = self._expect(rewards, commitment.counts)
        if self.strategy.keep_exploration:
            used = self.explored + used
        assert self.variances is not None
        variance, free = variance_within(combination, used, self.variances)
        return ValueEstimate(
            np.sum(combination * used.means, axis=-1),
            np.where(commitment.estimable, np.sqrt(variance), np.inf),
            commitment.estimable,
            free,
        )

    def error_given_pulls(self, variances: Floats) -> Floats:
        r"""Return the variance of the estimate, given the pulls and noise variances, shape (...,).

        .. math:: \sum_a \ell_a^2\, \sigma^2(a) / T(a)

        The sum is over all actions with rewards that enter the estimate; with `keep_exploration`,
        exploration rewards count, too.

        Parameters
        ----------
        variances : array, shape (..., A)
            Variances of single rewards.

        Raises
        ------
        RuntimeError
            Before the trial has committed.
        """
        commitment, combination = self._after_exploration()
        counts = self._used(commitment.counts, self.explored)
        return conditional_variance(combination, counts, variances)

    def _used(self, counts: Counts, explored: Rewards) -> Counts:
        """Return the numbers of rewards in the estimate, given those of the last pulls."""
        return counts + explored.counts if self.strategy.keep_exploration else counts

    def _after_exploration(self) -> Pooled:
        if self._pooled is None:
            raise RuntimeError(
                f"{self.name}: exploration is not finished; pass its rewards first: by `tell` "
                "and `ask` of an Experiment (`ask(wait=False)` goes on without rewards that are "
                "lost), or `next_counts` of a trial"
            )
        return self._pooled
