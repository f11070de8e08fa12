"""Strategies that decide what to pull: Oracle, On-policy and SPEED.

How to run one, in a simulation or in a live experiment, is told in `speedlib.trials`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from speedlib.checks import Counts, Flags, Floats, check_choice, check_count, frozen
from speedlib.covariance import COVARIANCE_ESTIMATES, CovarianceEstimate, estimate_covariance
from speedlib.designs import optimal_design
from speedlib.estimators import ValueEstimate, combine, value_coefficients
from speedlib.exploration import (
    EXPLORATIONS,
    SAMPLINGS,
    exploration_counts,
    exploration_design,
)
from speedlib.rewards import Rewards
from speedlib.rounding import round_design
from speedlib.solvers.batch import pe_designs
from speedlib.trials import Setting, Strategy, Trial

#: Ways from a design to whole numbers of pulls.
ROUNDINGS = ("floor", "ceil", "efficient")

#: Estimators of the value that On-policy offers.
ON_POLICY_ESTIMATORS = ("wls", "ols", "mean")


class _OnePhase(Trial):
    """A trial whose pulls are all known at the start."""

    def __init__(self, setting: Setting, counts: Counts, coefficients: Floats) -> None:
        super().__init__(setting)
        self._counts, self._coefficients = frozen(counts), coefficients
        self._rewards: Rewards | None = None

    def first_counts(self) -> Counts:
        return self._counts

    def next_counts(self, rewards: Rewards) -> Counts:
        self._rewards = self._expect(rewards, self._counts)
        return np.zeros_like(self._counts)

    def estimate(self, rewards: Rewards) -> ValueEstimate:
        if self._rewards is None:
            raise RuntimeError("estimate: tell the trial its first rewards by next_counts first")
        self._expect(rewards, np.zeros_like(self._counts))
        setting, seen = self.setting, self._rewards
        return combine(
            self._coefficients, seen, setting.features, setting.direction, self._error_variances()
        )

    def _error_variances(self) -> Floats:
        assert self.setting.variances is not None
        return self.setting.variances

    @property
    def counts(self) -> Counts:
        return self._counts

    @property
    def coefficients(self) -> Floats:
        return self._coefficients


@dataclass(frozen=True)
class Oracle(Strategy):
    r"""The oracle: knows the variances and follows the PE-optimal design.

    Pulls :math:`T(a) \approx n\,b_*(a)` with
    :math:`b_* = \arg\min_b c^\top A(b)^- c` and estimates the value by weighted least squares with
    the true variances.

    Parameters
    ----------
    rounding : {"efficient", "ceil", "floor"}
        From the design to whole pulls. ``"efficient"`` spends the budget exactly; ``"ceil"`` is
        what Proposition 5 prints, and can exceed it by one pull less than there are support points.
    """

    default_name: ClassVar[str] = "Oracle"
    knows_variances: ClassVar[bool] = True
    rounding: str = "efficient"

    def _trial(self, setting: Setting) -> Trial:
        check_choice("rounding", self.rounding, ROUNDINGS)
        assert setting.variances is not None
        design = optimal_design(setting.features, setting.variances, policy=setting.policy)
        counts = np.broadcast_to(
            round_design(design.weights, setting.rounds, self.rounding), setting.shape
        )
        coefficients = value_coefficients(
            counts[:1] if counts.ndim > 1 else counts,
            setting.features,
            setting.variances,
            setting.direction,
        )
        return _OnePhase(setting, counts, np.broadcast_to(coefficients, setting.shape))


@dataclass(frozen=True)
class OnPolicy(Strategy):
    r"""Run the target policy and evaluate it.

    Parameters
    ----------
    estimator : {"wls", "ols", "mean"}
        ``"wls"``: weighted least squares with the true variances, the most favourable reading of
        the paper's baseline; ``"ols"``: ordinary least squares; ``"mean"``: the plain average of
        the rewards, which is what people do.
    sampling : {"random", "balanced"}
        ``"random"``: each action is drawn from the policy; ``"balanced"``: efficient
        apportionment of :math:`n\pi`.

    Notes
    -----
    Standard errors use the true variances, but for ``"mean"``, which takes the sample variance of
    the rewards and therefore needs two of them.
    """

    default_name: ClassVar[str] = "On-policy"
    knows_variances: ClassVar[bool] = True
    estimator: str = "wls"
    sampling: str = "random"

    def _trial(self, setting: Setting) -> Trial:
        check_choice("estimator", self.estimator, ON_POLICY_ESTIMATORS)
        check_choice("sampling", self.sampling, SAMPLINGS)
        assert setting.variances is not None
        design = np.broadcast_to(setting.policy, setting.shape)
        counts = exploration_counts(design, setting.rounds, setting.rng, self.sampling)
        if self.estimator == "mean":
            return _PlainAverage(setting, counts, counts / setting.rounds)
        variances = setting.variances if self.estimator == "wls" else np.ones(len(setting.features))
        coefficients = value_coefficients(counts, setting.features, variances, setting.direction)
        return _OnePhase(setting, counts, coefficients)


class _PlainAverage(_OnePhase):
    """The average reward: unbiased over the draw of the actions, whatever they are."""

    def estimate(self, rewards: Rewards) -> ValueEstimate:
        combined = super().estimate(rewards)
        assert self._rewards is not None
        seen, n = self._rewards, self.setting.rounds
        mean = combined.value[..., None]
        total = np.sum(seen.scatters + seen.counts * (seen.means - mean) ** 2, axis=-1)
        error = np.sqrt(total / n / (n - 1)) if n > 1 else np.full_like(total, np.inf)
        return ValueEstimate(combined.value, error, self.estimable)

    @property
    def estimable(self) -> Flags:
        """Always: no least squares is involved."""
        return np.ones(self._counts.shape[:-1], dtype=np.bool_)


@dataclass(frozen=True)
class SPEED(Strategy):
    r"""Structured policy evaluation experimental design (Algorithm 1 of the paper).

    Explore for :math:`\Gamma` rounds, estimate :math:`\Sigma_*` from squared residuals, pull the
    remaining :math:`n-\Gamma` rounds by the PE-optimal design for the estimated variances, and
    estimate the value by weighted least squares from those rounds alone, weighting by the
    estimated variances.

    Parameters
    ----------
    exploration_rounds : int or "sqrt"
        :math:`\Gamma`; ``"sqrt"`` is the paper's :math:`\lfloor\sqrt n\rfloor`. At least 1 and
        less than n.
    exploration : {"pca", "uniform"}
        Exploration design; see `speedlib.exploration.exploration_design`.
    exploration_sampling : {"random", "balanced"}
        Whether exploration draws its actions or apportions them.
    covariance : {"lstsq", "psd"}
        Covariance estimate; see `speedlib.covariance.estimate_covariance`.
    variance_floor : float
        Estimated variances are raised to at least this share of the mean squared residual. The
        paper has no such floor; its estimate can be negative, and then names no design.
    rounding : {"floor", "ceil", "efficient"}
        From the design to whole pulls; Algorithm 1 rounds down.

    Notes
    -----
    The defaults are the printed algorithm, with the readings named in
    `speedlib.exploration.pca_directions` and `speedlib.covariance.estimate_covariance`. As printed
    it explores d actions, which do not determine the d(d+1)/2 entries of :math:`\Sigma_*`: standard
    errors then rest on variances that need not approach the true ones, and intervals miss their
    nominal coverage however large n is. With ``exploration="uniform"`` they attain it.
    """

    default_name: ClassVar[str] = "SPEED"
    exploration_rounds: int | str = "sqrt"
    exploration: str = "pca"
    exploration_sampling: str = "random"
    covariance: str = "lstsq"
    variance_floor: float = 0.01
    rounding: str = "floor"

    def __post_init__(self) -> None:
        if isinstance(self.exploration_rounds, str):
            check_choice("exploration_rounds", self.exploration_rounds, ("sqrt",))
        else:
            check_count("exploration_rounds", self.exploration_rounds, 1)
        check_choice("exploration", self.exploration, EXPLORATIONS)
        check_choice("exploration_sampling", self.exploration_sampling, SAMPLINGS)
        check_choice("covariance", self.covariance, COVARIANCE_ESTIMATES)
        check_choice("rounding", self.rounding, ROUNDINGS)
        if not isinstance(self.variance_floor, int | float):
            raise TypeError(f"variance_floor: expected a number; got {self.variance_floor!r}")
        if not 0 < self.variance_floor < 1:
            raise ValueError(
                f"variance_floor: must lie strictly between 0 and 1; got {self.variance_floor}"
            )

    def exploration_length(self, rounds: int) -> int:
        r"""Return :math:`\Gamma` for a budget of n rounds."""
        length = self.exploration_rounds
        length = math.isqrt(rounds) if isinstance(length, str) else length
        if length >= rounds:
            raise ValueError(
                f"rounds: SPEED explores for {length} rounds and must have more than that "
                f"as its budget; got {rounds}"
            )
        return length

    def _trial(self, setting: Setting) -> Trial:
        return SpeedTrial(setting, self)


class SpeedTrial(Trial):
    """A trial of SPEED: explore, estimate, commit.

    Attributes
    ----------
    covariance : CovarianceEstimate or None
        The covariance estimate, after `next_counts`.
    """

    def __init__(self, setting: Setting, strategy: SPEED) -> None:
        super().__init__(setting)
        self.strategy = strategy
        self.covariance: CovarianceEstimate | None = None
        length = strategy.exploration_length(setting.rounds)
        design = exploration_design(
            strategy.exploration, setting.features, setting.rng, setting.replications
        )
        self._exploration = frozen(
            exploration_counts(design, length, setting.rng, strategy.exploration_sampling)
        )

    def first_counts(self) -> Counts:
        """Return the exploration pulls, shape (..., A)."""
        return self._exploration

    def next_counts(self, rewards: Rewards) -> Counts:
        """Estimate the variances from exploration; return the pulls of the commit phase."""
        setting, strategy = self.setting, self.strategy
        self._expect(rewards, self._exploration)
        self.covariance = estimate_covariance(rewards, setting.features, strategy.covariance)
        self._variances = self.covariance.floored(strategy.variance_floor)
        batch = np.atleast_2d(self._variances)
        weights = pe_designs(setting.features, batch, setting.direction).weights
        left = setting.rounds - strategy.exploration_length(setting.rounds)
        counts = round_design(weights, left, strategy.rounding)
        self._counts = frozen(counts.reshape(setting.shape))
        self._coefficients = value_coefficients(
            self._counts, setting.features, self._variances, setting.direction
        )
        return self._counts

    def estimate(self, rewards: Rewards) -> ValueEstimate:
        """Estimate the value from the commit phase alone."""
        self._expect(rewards, self.counts)
        setting = self.setting
        return combine(
            self._coefficients, rewards, setting.features, setting.direction, self._variances
        )

    @property
    def counts(self) -> Counts:
        """Pulls of the commit phase, shape (..., A)."""
        self._told()
        return self._counts

    @property
    def coefficients(self) -> Floats:
        """Coefficients of the commit phase's mean rewards, shape (..., A)."""
        self._told()
        return self._coefficients

    def _told(self) -> None:
        if self.covariance is None:
            raise RuntimeError("SPEED: tell the trial its exploration rewards by next_counts first")
