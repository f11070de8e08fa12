"""Strategies whose design is known at the start: Oracle, On-policy, Uniform."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from speedlib._stored import changed
from speedlib._trial_json import is_ours, read_counts
from speedlib.checks import Counts, Floats, check_choice, check_share, frozen
from speedlib.covariance import COVARIANCE_ESTIMATES
from speedlib.estimators import ValueEstimate
from speedlib.exploration import SAMPLINGS, exploration_counts
from speedlib.rewards import Rewards
from speedlib.rounding import ROUNDINGS, round_design
from speedlib.strategies._estimation import (
    Average,
    Estimation,
    FeasibleLeastSquares,
    KnownVariances,
    OrdinaryLeastSquares,
)
from speedlib.strategies._own import check_own
from speedlib.strategies._within_limits import pe_within
from speedlib.trials import Commitment, Setting, Strategy, Trial

__all__ = ["FixedDesign", "OnPolicy", "Oracle", "Uniform"]

#: Estimators of the value: see `FixedDesign`.
ESTIMATORS = ("wls", "feasible", "ols")


@dataclass(frozen=True, kw_only=True)
class FixedDesign(Strategy):
    """Pull by a design that is known at the start, and estimate the value by least squares.

    Your own strategy is a subclass with a `default_name` and a method `design`.

    Parameters
    ----------
    estimator : {"wls", "feasible", "ols"}
        ``"wls"``: weighted least squares with the true variances; ``"feasible"``: weighted least
        squares with variances estimated from the same rewards, whose error has no closed form;
        ``"ols"``: ordinary least squares.
    sampling : {"random", "balanced"}
        ``"random"``: every round draws its action from the design; ``"balanced"``: efficient
        apportionment, as close to the design as whole numbers allow.
    covariance : str
        Covariance estimate behind the weights of ``"feasible"`` and the standard errors of
        ``"feasible"`` and ``"ols"``; see `speedlib.covariance.estimate_covariance`.
    variance_floor : float
        Estimated variances are raised to at least this share of the mean squared residual.

    Examples
    --------
    >>> from speedlib import unit_ball
    >>> class Halves(FixedDesign):  # the first two actions equally, the others never
    ...     default_name = "Halves"
    ...
    ...     def design(self, setting):
    ...         shares = setting.policy * 0
    ...         shares[:2] = 0.5
    ...         return shares
    ...
    >>> ball = unit_ball()
    >>> halves = Halves(estimator="ols", sampling="balanced")
    >>> trial = halves.begin(ball.bandit.features, ball.policy, rounds=100, rng=1)
    >>> trial.first_counts().tolist()
    [50, 50, 0, 0, 0]
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

    def _estimation(self) -> Estimation:
        """Return what the chosen estimator does with the rewards."""
        if self.estimator == "wls":
            return KnownVariances()
        ordinary = OrdinaryLeastSquares(self.covariance, self.variance_floor)
        return ordinary if self.estimator == "ols" else FeasibleLeastSquares(ordinary)

    def _trial(self, setting: Setting) -> Trial:
        design = check_own(self.name, "design", self.design(setting), (len(setting.features),))
        if self.sampling == "random":
            design = np.broadcast_to(design, setting.shape)
        counts = exploration_counts(design, setting.rounds, setting.rng, self.sampling)
        return FixedTrial(setting, self, counts, self._estimation())


class FixedTrial(Trial):
    """A trial whose pulls are all known at the start.

    Parameters
    ----------
    setting : Setting
    strategy : Strategy
    counts : array of int, shape (A,) or (..., A)
        The pulls; one row serves all replications.
    estimation : Estimation
        How the rewards become an estimate.
    """

    def __init__(
        self,
        setting: Setting,
        strategy: Strategy,
        counts: Counts,
        estimation: Estimation,
    ) -> None:
        super().__init__(setting, strategy.name)
        self.strategy = strategy
        self._estimation, self._begun = estimation, counts
        self._commitment = estimation.commitment(frozen(counts), setting)

    @property
    def committed(self) -> bool:
        """Always true."""
        return True

    @property
    def commitment(self) -> Commitment:
        """All pulls, and how their rewards become an estimate."""
        return self._commitment

    def first_counts(self) -> Counts:
        """Return all pulls, shape (..., A)."""
        return self._commitment.counts

    def next_counts(self, rewards: Rewards) -> Counts:
        """Raise an error, since no pulls follow."""
        raise self._all_asked()

    def estimate(self, rewards: Rewards) -> ValueEstimate:
        """Estimate the value from all rewards."""
        seen = self._expect(rewards, self._commitment.counts)
        return self._estimation.estimate(seen, self._commitment, self.setting)

    def estimate_of(self, rewards: Rewards, policy: ArrayLike | None = None) -> ValueEstimate:
        """Estimate a value from the rewards that came, by the coefficients for their numbers.

        The plain average takes the mean of an action's rewards that came for those that did not.
        """
        came = self._came(rewards)
        if not came.counts.any():
            raise ValueError("rewards: none came, so there is nothing to estimate from")
        if policy is not None and isinstance(self._estimation, Average):
            raise ValueError(
                "policy: the average reward estimates the value of the policy that was run; "
                'use the estimator "ols" or "feasible"'
            )
        if isinstance(self._estimation, Average):
            return self._estimation.estimate_of(came, self._commitment, self.setting)
        setting = replace(self.setting.for_policy(policy), rounds=int(came.rounds))
        commitment = self._estimation.commitment(came.counts, setting)
        return self._estimation.estimate(came, commitment, setting)

    def _state(self) -> dict[str, Any]:
        return {"asked": self._commitment.counts.tolist()}

    def _restore(self, state: dict[str, Any]) -> None:
        counts = frozen(read_counts("asked", state["asked"], len(self.setting.features)))
        self._commitment = self._estimation.commitment(counts, self.setting)

    def _check_stored(self) -> None:
        """Compare with the pulls of a trial that begins now: random ones in their number alone."""
        asked, again, strategy = self._commitment.counts, self._begun, self.strategy
        balanced = getattr(strategy, "sampling", None) == "balanced"
        # Of two remainders that are equal, up to rounding, either may have got the pull.
        if balanced and is_ours(strategy) and np.any(wrong := np.abs(asked - again) > 1):
            a = int(np.flatnonzero(wrong)[0])
            raise changed("asked", f"be {again[a]} for action {a}, as the design says", asked[a])
        total, due = int(asked.sum()), int(again.sum())
        # Equally good designs of an oracle may cost differently, and leave other remainders.
        slack = len(asked) - 1 if isinstance(strategy, Oracle) else 0
        if abs(total - due) > slack:
            raise changed(
                "asked", f"be {due} tries, as the budget of {self.setting.rounds} says", total
            )

    def _made_earlier(self) -> Counts:
        return np.zeros_like(self._commitment.counts)

    def _taken(self) -> Rewards:
        return Rewards.none(self.setting.shape)


@dataclass(frozen=True)
class Oracle(Strategy):
    r"""The oracle, which knows the variances and follows the PE-optimal design.

    It pulls :math:`T(a) \approx n\,b_*(a)` with :math:`b_* = \arg\min_b c^\top A(b)^- c`, and
    estimates the value by weighted least squares with the true variances.

    Parameters
    ----------
    rounding : {"efficient", "ceil", "floor"}
        How the design becomes whole pulls. ``"efficient"`` spends the budget exactly; ``"ceil"``,
        as in Proposition 5, can exceed it by up to the number of support points minus one.

    Examples
    --------
    >>> from speedlib import unit_ball
    >>> ball = unit_ball()
    >>> features, variances = ball.bandit.features, ball.bandit.variances
    >>> trial = Oracle().begin(features, ball.policy, rounds=300, rng=1, variances=variances)
    >>> trial.first_counts().tolist()
    [98, 0, 202, 0, 0]
    """

    default_name: ClassVar[str] = "Oracle"
    within_limits: ClassVar[bool] = True
    rounding: str = "efficient"

    def __post_init__(self) -> None:
        check_choice("rounding", self.rounding, ROUNDINGS)

    @property
    def knows_variances(self) -> bool:
        """True, as for every oracle."""
        return True

    def _trial(self, setting: Setting) -> Trial:
        assert setting.variances is not None
        design = pe_within(setting.variances[None], setting, 0.0)[0]
        spent = np.zeros(len(design), dtype=np.int64)
        left = int(setting.left(spent, design))
        counts = round_design(design, left, self.rounding)
        while setting.overdrawn(counts, spent) > 0 and self.rounding != "ceil" and left > 0:
            left -= 1
            counts = round_design(design, left, self.rounding)
        return FixedTrial(setting, self, counts, KnownVariances())


class OnPolicy(FixedDesign):
    r"""Run the target policy and evaluate it.

    Parameters
    ----------
    estimator : {"wls", "feasible", "ols", "mean"}
        ``"wls"``: weighted least squares with the true variances, the most favourable reading of
        the paper's baseline; ``"feasible"``: weighted least squares with estimated variances;
        ``"ols"``: ordinary least squares; ``"mean"``: the plain average of the rewards, as is
        common in practice.
    sampling : {"random", "balanced"}
        ``"random"``: each action is drawn from the policy; ``"balanced"``: efficient
        apportionment of :math:`n\pi`.
    covariance, variance_floor
        Used for estimated weights and standard errors: see `FixedDesign`.

    Notes
    -----
    The standard error of ``"mean"`` is computed from the sample variance of all rewards. It
    therefore needs two rewards, and includes the draw of the actions. Under ``"balanced"`` no
    action is drawn, so the standard error is computed from the sample variance within each action.
    An action with a single reward is given the mean of the other actions' variances.

    Examples
    --------
    >>> from speedlib import unit_ball
    >>> ball = unit_ball()
    >>> run = OnPolicy(estimator="mean", sampling="balanced")
    >>> run.begin(ball.bandit.features, ball.policy, rounds=300, rng=1).first_counts().tolist()
    [240, 30, 10, 10, 10]
    """

    default_name: ClassVar[str] = "On-policy"
    estimators: ClassVar[tuple[str, ...]] = (*ESTIMATORS, "mean")

    def design(self, setting: Setting) -> Floats:
        """Return the target policy, shape (A,)."""
        return setting.policy

    def _estimation(self) -> Estimation:
        if self.estimator == "mean":
            return Average(drawn=self.sampling == "random")
        return super()._estimation()


class Uniform(FixedDesign):
    """Pull every action equally often, and estimate the value by least squares.

    Parameters
    ----------
    estimator, sampling, covariance, variance_floor
        See `FixedDesign`.

    Examples
    --------
    >>> from speedlib import unit_ball
    >>> ball = unit_ball()
    >>> alike = Uniform(estimator="ols", sampling="balanced")
    >>> alike.begin(ball.bandit.features, ball.policy, rounds=300, rng=1).first_counts().tolist()
    [60, 60, 60, 60, 60]
    """

    default_name: ClassVar[str] = "Uniform"

    def design(self, setting: Setting) -> Floats:
        """Return equal shares, shape (A,)."""
        return np.full(len(setting.features), 1.0 / len(setting.features))
