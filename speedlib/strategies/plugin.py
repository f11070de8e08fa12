"""Plug-in strategies: commit to the design that is optimal for the estimated variances."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from speedlib._tolerances import FEATURES_RANK_TOLERANCE, PE_EFFICIENCY, SMOOTH_EFFICIENCY
from speedlib.asymptotics import best_exploration_length, estimation_cost
from speedlib.checks import Counts, Flags, Floats, check_choice, check_flag, check_share
from speedlib.covariance import (
    COVARIANCE_ESTIMATES,
    CovarianceEstimate,
    covariance_estimate,
)
from speedlib.designs import optimal_design
from speedlib.estimators import column_scale
from speedlib.exploration import EXPLORATIONS, exploration_design
from speedlib.identification import identifiability
from speedlib.rewards import Rewards
from speedlib.solvers.batch_smooth import smooth_designs
from speedlib.strategies._own import check_own
from speedlib.strategies._within_limits import pe_within
from speedlib.strategies.explore_commit import ExploreThenCommit
from speedlib.trials import Setting, Trial

__all__ = ["SPEED", "AOptimal", "DOptimal", "GOptimal", "PlugIn"]


@dataclass(frozen=True, kw_only=True)
class PlugIn(ExploreThenCommit):
    r"""Explore, estimate :math:`\Sigma_*`, and commit to a design for the estimated variances.

    All plug-in strategies share exploration, estimation and commitment, and differ in the design.
    Your own plug-in strategy is a subclass with a `default_name` and a method `designs`.

    Parameters
    ----------
    exploration : {"pca", "uniform", "identifiable"}
        Exploration design; see `speedlib.exploration.exploration_design`.
    covariance : {"lstsq", "psd", "ridge"}
        Covariance estimate; see `speedlib.covariance.estimate_covariance`.
    ridge : float
        Penalty of ``"ridge"``, without a unit; the others do not use it.
    reweighted : bool
        Whether a second regression weights the squared residuals by the first one's variances.
    tolerance : float
        How far the design's efficiency may fall short of 1, strictly between 0 and 1: the paper's
        approximate oracle. By default 1e-6, and 1e-9 for SPEED.
    exploration_rounds, exploration_sampling, variance_floor, rounding, keep_exploration
        See `ExploreThenCommit`. ``exploration_rounds="tuned"`` needs an exploration that determines
        the variances, so it is not offered for ``"pca"``.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from speedlib import unit_ball
    >>> @dataclass(frozen=True, kw_only=True)
    ... class Even(PlugIn):  # explores, then pulls all actions equally
    ...     default_name = "Even"
    ...
    ...     def designs(self, variances, setting):
    ...         return np.full(variances.shape, 1 / variances.shape[-1])
    ...
    >>> ball, rng = unit_ball(), np.random.default_rng(2)
    >>> trial = Even().begin(ball.bandit.features, ball.policy, rounds=400, rng=1)
    >>> trial.next_counts(ball.bandit.pull(trial.first_counts(), rng)).tolist()
    [76, 76, 76, 76, 76]
    """

    exploration: str = "pca"
    covariance: str = "lstsq"
    ridge: float = 0.01
    reweighted: bool = False
    tolerance: float = SMOOTH_EFFICIENCY

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("exploration", self.exploration, EXPLORATIONS)
        check_choice("covariance", self.covariance, COVARIANCE_ESTIMATES)
        check_share("ridge", self.ridge)
        check_flag("reweighted", self.reweighted)
        check_share("tolerance", self.tolerance)
        if self.tuned and self.exploration == "pca":
            raise ValueError(
                'exploration_rounds: "tuned" needs an exploration that determines the variances, '
                'and exploration="pca" does not; use exploration="identifiable" or "uniform"'
            )

    @property
    def cure(self) -> str:
        """What to do if exploration does not determine all variances."""
        # An identifiable design leaves them open where it has too few rounds, and only there.
        if self.exploration == "identifiable":
            return super().cure
        return (
            'use exploration="identifiable", as SPEED.practical() does, and more exploration_rounds'
        )

    @abstractmethod
    def designs(self, variances: Floats, setting: Setting) -> Floats:
        """Return the designs, shape (R, A), for R rows of estimated variances, shape (R, A)."""

    def exploration_weights(self, setting: Setting) -> Floats:
        """Return the exploration design, shape (..., A)."""
        return exploration_design(
            self.exploration, setting.features, setting.rng, setting.replications
        )

    def learn(self, rewards: Rewards, setting: Setting) -> tuple[Floats, CovarianceEstimate]:
        """Estimate the covariance and floor the variances that it gives."""
        estimate = covariance_estimate(
            rewards, setting.features, self.covariance, self.ridge, self.reweighted
        )
        return estimate.floored(self.variance_floor), estimate

    def determined(self, explored: Counts, setting: Setting) -> tuple[Flags, str]:
        """Return which variances the explored ones determine; see `identifiability`."""
        found = identifiability(setting.features, explored)
        return found.determined, repr(found)

    def commit_weights(self, variances: Floats, setting: Setting) -> Floats:
        """Return the designs in the shape of the variances."""
        rows = variances.reshape(-1, variances.shape[-1])
        designs = check_own(self.name, "designs", self.designs(rows, setting), rows.shape)
        return designs.reshape(variances.shape)

    def best_length(self, variances: Floats, exploration: Floats, setting: Setting) -> Floats:
        r"""Return :math:`\Gamma^* = \sqrt{\psi\,n}` of the PE-optimal design for these variances.

        A variance far below the others makes :math:`\psi` large. A pilot of :math:`\Gamma_0` rounds
        cannot distinguish a variance that is truly small from an estimation error of relative size
        :math:`\Gamma_0^{-1/2}`, so variances are first raised to this share of their mean.
        """
        share = 1.0 / np.sqrt(self.exploration_length(setting.nominal))
        variances = np.maximum(variances, share * variances.mean(axis=-1, keepdims=True))
        rows = variances.reshape(-1, variances.shape[-1])
        commit = pe_within(rows, setting, 0.0)
        cost = estimation_cost(
            setting.features, variances, commit.reshape(variances.shape), exploration
        )
        return np.asarray(best_exploration_length(cost, setting.nominal))


@dataclass(frozen=True, kw_only=True)
class SPEED(PlugIn):
    r"""Structured policy evaluation experimental design (Algorithm 1 of the paper).

    Explore for :math:`\Gamma` rounds, estimate :math:`\Sigma_*` from squared residuals, pull the
    remaining :math:`n-\Gamma` rounds by the PE-optimal design for the estimated variances, and
    estimate the value by weighted least squares from those rounds alone, weighting by the
    estimated variances. All parameters are passed by name.

    Parameters
    ----------
    label : str, optional
        Name in tables and figures, to distinguish variants of one strategy.
    exploration : {"pca", "uniform", "identifiable"}
        Which actions are explored. ``"pca"``, as printed: one along each principal axis of the
        features; ``"uniform"``: all equally; ``"identifiable"``: enough actions to determine all
        variances.
    exploration_rounds : int or str
        :math:`\Gamma`, at least 1 and less than n: a number; ``"sqrt"``, the paper's
        :math:`\lfloor\sqrt n\rfloor`; a multiple of a power of n, such as ``"2*n^0.4"``; or
        ``"tuned"``: a pilot chooses it (not with ``"pca"``).
    exploration_sampling : {"random", "balanced"}
        Whether exploration draws its actions at random or apportions them evenly.
    covariance : {"lstsq", "psd", "ridge"}
        How the variances are estimated. ``"lstsq"``, as printed: least squares; ``"psd"``: least
        squares over positive semidefinite matrices; ``"ridge"``: least squares with a penalty.
    ridge : float
        Penalty of ``"ridge"``, strictly between 0 and 1.
    reweighted : bool
        Whether a second regression weights the squared residuals by the first one's variances.
    variance_floor : float
        Estimated variances are raised to at least this share of the mean squared residual.
    rounding : {"floor", "ceil", "efficient"}
        How the design becomes whole pulls. ``"floor"``, as printed, may drop an action that the
        value needs; ``"efficient"`` drops none and spends the budget.
    keep_exploration : bool
        Whether exploration rewards enter the final estimate, too. The paper drops them.
    tolerance : float
        How far the design's efficiency may fall short of 1, strictly between 0 and 1.

    See Also
    --------
    SPEED.practical : The choices for an experiment of your own.
    speedlib.trials.Strategy.begin : Start a trial, ``begin(features, policy, rounds, rng=...)``.
    speedlib.trials.play : Play it to its end.
    speedlib.simulation.mse_curve : Compare strategies by simulation.

    Notes
    -----
    The defaults give the printed algorithm. `speedlib.exploration.pca_directions` and
    `speedlib.covariance.estimate_covariance` describe how we read what the paper leaves open. The
    printed algorithm explores d actions, which do not determine the d(d+1)/2 entries of
    :math:`\Sigma_*`, so the design that it commits to need not approach the optimal one.

    The interval still holds its level if the end of the experiment was fixed beforehand. It does
    not use the learnt variances but the scatter of the rewards that enter the estimate
    (`ExploreThenCommitTrial.estimate`). On nine random tables of 12 actions in 6 dimensions with
    Gaussian noise, 95 % intervals of the printed SPEED held the value in 95.0 % of the trials whose
    committed actions had two rewards or more each (n = 100, 300, 1,000; 20,000 trials a table). If
    an action has a single reward, a variance learnt in exploration replaces its scatter; in these
    trials the intervals held the value in 95 to 96 %. If exploration does not determine that
    variance, nothing guarantees the level, and a trial warns as soon as it commits
    (`DesignWarning`; a batch of replications does not warn). `SPEED.practical` rarely has to warn.

    Examples
    --------
    >>> from speedlib import play, unit_ball
    >>> ball, rng = unit_ball(), np.random.default_rng(2)
    >>> strategy = SPEED.practical()
    >>> trial = strategy.begin(ball.bandit.features, ball.policy, rounds=400, rng=1)
    >>> bool(play(trial, lambda counts: ball.bandit.pull(counts, rng)).estimable)
    True
    """

    default_name: ClassVar[str] = "SPEED"
    within_limits: ClassVar[bool] = True
    tolerance: float = PE_EFFICIENCY

    @classmethod
    def practical(cls, **changes: Any) -> Self:
        r"""Return practical SPEED: the choices for an experiment of your own.

        Exploration determines the variances of all actions (``exploration="identifiable"``), is
        apportioned (``exploration_sampling="balanced"``) and lasts as long as its data recommend
        (``exploration_rounds="tuned"``); the estimated covariance is positive semidefinite
        (``covariance="psd"``); no action that the value needs is rounded away, and the budget is
        spent (``rounding="efficient"``).

        Parameters
        ----------
        **changes
            Parameters of `SPEED` to change, with their new values.

        Returns
        -------
        SPEED
            Named "SPEED, practical", unless a `label` is given.

        Raises
        ------
        TypeError, ValueError
            If SPEED has no such parameter, or a value breaks its rule.

        Notes
        -----
        Practical SPEED runs with any budget of at least 2 rounds, but a small budget has limits.
        Below about 2 d rounds the pulls may not determine the value; `ValueEstimate.estimable` then
        says so. If no two rewards of an action differ, the rewards do not show how noisy they are:
        the interval is infinite or, with a handful of rounds, too short. Below a few dozen rounds
        exploration hardly helps. On nine random tables of 12 actions in 6 dimensions with Gaussian
        noise, 95 % intervals held the value in 94 to 96 % of 2,000 trials each for n = 300 to
        30,000, and on the first table in 94.8 to 95.1 % of 20,000. From n = 1,000 on their median
        length was at most 1.11 times that of the oracle's interval; at n = 60 it was 1.5 times.

        Examples
        --------
        >>> from speedlib import play, unit_ball
        >>> ball, rng = unit_ball(), np.random.default_rng(2)
        >>> strategy = SPEED.practical(exploration_rounds=30)
        >>> trial = strategy.begin(ball.bandit.features, ball.policy, rounds=400, rng=1)
        >>> estimate = play(trial, lambda counts: ball.bandit.pull(counts, rng))
        >>> strategy.name, bool(estimate.estimable)
        ('SPEED, practical', True)
        """
        choices: dict[str, Any] = {
            "label": f"{cls.default_name}, practical",
            "exploration": "identifiable",
            "exploration_rounds": "tuned",
            "exploration_sampling": "balanced",
            "covariance": "psd",
            "rounding": "efficient",
        }
        return cls(**(choices | changes))

    def designs(self, variances: Floats, setting: Setting) -> Floats:
        """Return PE-optimal designs, within limits and for all policies if there are any."""
        return pe_within(variances, setting, self.tolerance)


class _WholeSpace(PlugIn):
    """A criterion that needs every direction, so the features must span them all.

    Its strategies have the parameters of `PlugIn` and `ExploreThenCommit`, and `begin` refuses
    features that do not span.
    """

    def _trial(self, setting: Setting) -> Trial:
        scaled = setting.features / column_scale(setting.features)
        values, d = np.linalg.svd(scaled, compute_uv=False), scaled.shape[1]
        rank = int(np.sum(values > FEATURES_RANK_TOLERANCE * values.max(initial=0.0)))
        if rank < d:
            raise ValueError(
                f"features: {self.name} needs actions that span all {d} dimensions; they span "
                f"{rank}; drop dependent features, or use a strategy that estimates one value"
            )
        return super()._trial(setting)


class AOptimal(_WholeSpace):
    r"""Commit to the design that minimises :math:`\mathrm{Tr}\,A(b)^{-1}`.

    The parameters are those of `PlugIn` and `ExploreThenCommit`. The features must span the space:
    `begin` refuses others.

    Examples
    --------
    >>> from speedlib import unit_ball
    >>> ball = unit_ball()
    >>> trial = AOptimal().begin(ball.bandit.features, ball.policy, rounds=400, rng=1)
    >>> int(trial.first_counts().sum()), trial.committed
    (20, False)
    """

    default_name: ClassVar[str] = "A-optimal"

    def designs(self, variances: Floats, setting: Setting) -> Floats:
        """Return A-optimal designs."""
        return smooth_designs(setting.features, variances, "A", tolerance=self.tolerance).weights


class DOptimal(_WholeSpace):
    r"""Commit to the design that maximises :math:`\det A(b)`.

    The parameters are those of `PlugIn` and `ExploreThenCommit`. The features must span the space:
    `begin` refuses others.

    Examples
    --------
    >>> from speedlib import unit_ball
    >>> ball = unit_ball()
    >>> trial = DOptimal().begin(ball.bandit.features, ball.policy, rounds=400, rng=1)
    >>> int(trial.first_counts().sum()), trial.committed
    (20, False)
    """

    default_name: ClassVar[str] = "D-optimal"

    def designs(self, variances: Floats, setting: Setting) -> Floats:
        """Return D-optimal designs."""
        return smooth_designs(setting.features, variances, "D", tolerance=self.tolerance).weights


class GOptimal(_WholeSpace):
    r"""Commit to the homoscedastic G-optimal design, as the paper understands G-optimality.

    It minimises :math:`\max_a x(a)^\top A_1(b)^{-1} x(a)` with unit variances, so exploration does
    not change the design. The estimate is weighted by the estimated variances, as for the other
    plug-in strategies. The parameters are those of `PlugIn` and `ExploreThenCommit`. The features
    must span the space: `begin` refuses others.

    Examples
    --------
    >>> import numpy as np
    >>> from speedlib import play, unit_ball
    >>> ball, rng = unit_ball(), np.random.default_rng(2)
    >>> trial = GOptimal().begin(ball.bandit.features, ball.policy, rounds=400, rng=1)
    >>> estimate = play(trial, lambda counts: ball.bandit.pull(counts, rng))
    >>> bool(estimate.estimable)
    True
    """

    default_name: ClassVar[str] = "G-optimal"

    def designs(self, variances: Floats, setting: Setting) -> Floats:
        """Return the G-optimal design once for each row."""
        ones = np.ones(len(setting.features))
        design = optimal_design(setting.features, ones, "G", tolerance=self.tolerance)
        return np.broadcast_to(design.weights, variances.shape)
