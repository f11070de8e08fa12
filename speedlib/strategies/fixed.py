"""Strategies whose design is known at the start: Oracle, On-policy, Uniform."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from speedlib.checks import Counts, Flags, Floats, check_choice, check_share, frozen
from speedlib.covariance import COVARIANCE_ESTIMATES, estimate_covariance
from speedlib.designs import optimal_design
from speedlib.estimators import ValueEstimate, combine, is_estimable, value_coefficients
from speedlib.exploration import SAMPLINGS, exploration_counts
from speedlib.rewards import Rewards
from speedlib.rounding import ROUNDINGS, round_design
from speedlib.trials import Setting, Strategy, Trial

#: Estimators of the value: see `FixedDesign`.
ESTIMATORS = ("wls", "feasible", "ols")


@dataclass(frozen=True, kw_only=True)
class FixedDesign(Strategy):
    """Pull by a design that is known at the start, and estimate the value by least squares.

    A strategy of one's own is a subclass with a `default_name` and a method `design`.

    Parameters
    ----------
    estimator : {"wls", "feasible", "ols"}
        ``"wls"``: weighted least squares with the true variances; ``"feasible"``: with variances
        estimated from the same rewards, so that its error has no closed form; ``"ols"``: ordinary
        least squares.
    sampling : {"random", "balanced"}
        ``"random"``: every round draws its action from the design; ``"balanced"``: efficient
        apportionment, as close to the design as whole numbers allow.
    covariance : str
        Covariance estimate behind the weights of ``"feasible"`` and the standard errors of
        ``"feasible"`` and ``"ols"``; see `speedlib.covariance.estimate_covariance`.
    variance_floor : float
        Estimated variances are raised to at least this share of the mean squared residual.
    """

    estimator: str = "wls"
    sampling: str = "random"
    covariance: str = "psd"
    variance_floor: float = 0.01

    #: Estimators to choose from.
    estimators: ClassVar[tuple[str, ...]] = ESTIMATORS

    def __post_init__(self) -> None:
        check_choice("estimator", self.estimator, self.estimators)
        check_choice("sampling", self.sampling, SAMPLINGS)
        check_choice("covariance", self.covariance, COVARIANCE_ESTIMATES)
        check_share("variance_floor", self.variance_floor)

    @property
    def knows_variances(self) -> bool:
        """Whether the estimator weights by the true variances."""
        return self.estimator == "wls"

    @property
    def conditional(self) -> bool:
        """Whether the weights are independent of the rewards."""
        return self.estimator != "feasible"

    @abstractmethod
    def design(self, setting: Setting) -> Floats:
        """Return the design, shape (A,)."""

    def _trial(self, setting: Setting) -> Trial:
        design = self.design(setting)
        if self.sampling == "random":
            design = np.broadcast_to(design, setting.shape)
        counts = exploration_counts(design, setting.rounds, setting.rng, self.sampling)
        if self.estimator == "wls":
            return FixedTrial(setting, self, counts, setting.variances)
        kind = OrdinaryTrial if self.estimator == "ols" else FeasibleTrial
        return kind(setting, self, counts)


class FixedTrial(Trial):
    """A trial whose pulls are all known at the start.

    Parameters
    ----------
    setting : Setting
    strategy : Strategy
    counts : array of int, shape (A,) or (..., A)
        The pulls; one row serves all replications.
    weights : array, shape (A,), or None
        Variances that least squares weights by; None if these come with the rewards.
    """

    def __init__(
        self, setting: Setting, strategy: Strategy, counts: Counts, weights: Floats | None
    ) -> None:
        super().__init__(setting)
        self.strategy = strategy
        self._counts = np.broadcast_to(frozen(counts), setting.shape)
        self._coefficients: Floats | None = None
        if weights is not None:
            self._coefficients = np.broadcast_to(
                value_coefficients(counts, setting.features, weights, setting.direction),
                setting.shape,
            )

    def first_counts(self) -> Counts:
        """Return all pulls, shape (..., A)."""
        return self._counts

    @property
    def committed(self) -> bool:
        """Always."""
        return True

    def next_counts(self, rewards: Rewards) -> Counts:
        """Refuse: there are none."""
        raise RuntimeError(
            f"next_counts: {self.strategy.name} has asked for all its pulls; go on to estimate"
        )

    def estimate(self, rewards: Rewards) -> ValueEstimate:
        """Estimate the value from all rewards."""
        setting, seen = self.setting, self._expect(rewards, self._counts)
        variances = self._variances(seen)
        return combine(self.coefficients, seen, setting.features, setting.direction, variances)

    def _variances(self, rewards: Rewards) -> Floats:
        """Return the variances that the standard error rests on, shape (..., A)."""
        assert self.setting.variances is not None
        return self.setting.variances

    @property
    def counts(self) -> Counts:
        """All pulls, shape (..., A)."""
        return self._counts

    @property
    def coefficients(self) -> Floats:
        """Coefficients of the mean rewards, shape (..., A)."""
        if self._coefficients is None:
            raise RuntimeError(
                f"coefficients: {self.strategy.name} weights by estimated variances; tell the "
                "trial its rewards by estimate first"
            )
        return self._coefficients

    @property
    def estimable(self) -> Flags:
        """Whether the pulls determine the value, shape (...,)."""
        rows = self.coefficients
        # One row that serves all replications is looked at once.
        distinct = rows[:1] if rows.ndim > 1 and not rows.strides[0] else rows
        found = is_estimable(distinct, self.setting.features, self.setting.direction)
        return np.broadcast_to(found, rows.shape[:-1])


class OrdinaryTrial(FixedTrial):
    """Ordinary least squares, with a standard error from estimated variances."""

    strategy: FixedDesign

    def __init__(self, setting: Setting, strategy: FixedDesign, counts: Counts) -> None:
        super().__init__(setting, strategy, counts, np.ones(len(setting.features)))

    def _variances(self, rewards: Rewards) -> Floats:
        strategy = self.strategy
        estimate = estimate_covariance(rewards, self.setting.features, strategy.covariance)
        return estimate.floored(strategy.variance_floor)


class FeasibleTrial(OrdinaryTrial):
    """Weighted least squares with variances estimated from the same rewards."""

    def __init__(self, setting: Setting, strategy: FixedDesign, counts: Counts) -> None:
        FixedTrial.__init__(self, setting, strategy, counts, None)

    def _variances(self, rewards: Rewards) -> Floats:
        setting, variances = self.setting, super()._variances(rewards)
        self._coefficients = value_coefficients(
            self._counts, setting.features, variances, setting.direction
        )
        return variances


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
    rounding: str = "efficient"

    def __post_init__(self) -> None:
        check_choice("rounding", self.rounding, ROUNDINGS)

    @property
    def knows_variances(self) -> bool:
        """Yes: that makes it the oracle."""
        return True

    def _trial(self, setting: Setting) -> Trial:
        assert setting.variances is not None
        design = optimal_design(setting.features, setting.variances, policy=setting.policy)
        counts = round_design(design.weights, setting.rounds, self.rounding)
        return FixedTrial(setting, self, counts, setting.variances)


class OnPolicy(FixedDesign):
    r"""Run the target policy and evaluate it.

    Parameters
    ----------
    estimator : {"wls", "feasible", "ols", "mean"}
        ``"wls"``: weighted least squares with the true variances, the most favourable reading of
        the paper's baseline; ``"feasible"``: with estimated variances; ``"ols"``: ordinary least
        squares; ``"mean"``: the plain average of the rewards, which is what people do.
    sampling : {"random", "balanced"}
        ``"random"``: each action is drawn from the policy; ``"balanced"``: efficient
        apportionment of :math:`n\pi`.
    covariance, variance_floor
        For standard errors and weights that are estimated: see `FixedDesign`.

    Notes
    -----
    The standard error of ``"mean"`` takes the sample variance of the rewards and therefore needs
    two of them; it includes the draw of the actions. Under ``"balanced"`` nothing is drawn, and it
    takes the sample variance within each action; one with a single reward takes the mean of the
    others'.
    """

    default_name: ClassVar[str] = "On-policy"
    estimators: ClassVar[tuple[str, ...]] = (*ESTIMATORS, "mean")

    def design(self, setting: Setting) -> Floats:
        """Return the target policy, shape (A,)."""
        return setting.policy

    def _trial(self, setting: Setting) -> Trial:
        if self.estimator != "mean":
            return super()._trial(setting)
        design = np.broadcast_to(setting.policy, setting.shape)
        counts = exploration_counts(design, setting.rounds, setting.rng, self.sampling)
        return AverageTrial(setting, self, counts)


class AverageTrial(FixedTrial):
    """The average reward: unbiased over the draw of the actions, whatever they are."""

    strategy: FixedDesign

    def __init__(self, setting: Setting, strategy: OnPolicy, counts: Counts) -> None:
        super().__init__(setting, strategy, counts, None)
        self._coefficients = counts / setting.rounds

    def estimate(self, rewards: Rewards) -> ValueEstimate:
        """Average the rewards."""
        seen, n = self._expect(rewards, self._counts), self.setting.rounds
        value = np.sum(self.coefficients * seen.means, axis=-1)
        if self.strategy.sampling == "balanced":
            return ValueEstimate(value, self._error_within(seen), self.estimable)
        spread = seen.counts * (seen.means - value[..., None]) ** 2
        total = np.sum(seen.scatters + spread, axis=-1)
        error = np.sqrt(total / n / (n - 1)) if n > 1 else np.full_like(total, np.inf)
        return ValueEstimate(value, error, self.estimable)

    def _error_within(self, seen: Rewards) -> Floats:
        """Return the standard error of an average over fixed numbers of pulls, shape (...,)."""
        repeated = seen.counts > 1
        sample = np.where(repeated, seen.scatters / np.maximum(seen.counts - 1, 1), 0.0)
        actions = repeated.sum(axis=-1, keepdims=True)
        mean = sample.sum(axis=-1, keepdims=True) / np.maximum(actions, 1)
        variances = np.where(repeated, sample, mean)
        error = np.sqrt(np.sum(seen.counts * variances, axis=-1)) / self.setting.rounds
        return np.where(actions[..., 0] > 0, error, np.inf)

    @property
    def estimable(self) -> Flags:
        """Always: no least squares is involved."""
        return np.ones(self._counts.shape[:-1], dtype=np.bool_)


class Uniform(FixedDesign):
    """Pull every action equally often, and estimate the value by least squares.

    Parameters
    ----------
    estimator, sampling, covariance, variance_floor
        See `FixedDesign`.
    """

    default_name: ClassVar[str] = "Uniform"

    def design(self, setting: Setting) -> Floats:
        """Return equal shares, shape (A,)."""
        return np.full(len(setting.features), 1.0 / len(setting.features))
