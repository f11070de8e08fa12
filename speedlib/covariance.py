"""Estimating the noise matrix from squared residuals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from speedlib._tolerances import (
    PSD_OPTIMALITY,
    QUADRATIC_RANK_TOLERANCE,
    REWEIGHTING_FLOOR,
    ROWS_RANK_TOLERANCE,
    VANISHING_VARIANCE,
)
from speedlib.bandit import quadratic_values
from speedlib.checks import (
    LARGEST,
    Counts,
    Flags,
    Floats,
    check_choice,
    check_features,
    check_flag,
    check_number,
    check_share,
)
from speedlib.estimators import column_scale, fit_parameter, pulled_actions
from speedlib.psd import regress_psd, whitening
from speedlib.quadratic import matrix_of, quadratic_rows
from speedlib.rewards import Rewards, check_rewards

__all__ = ["COVARIANCE_ESTIMATES", "CovarianceEstimate", "estimate_covariance"]

#: Names of the covariance estimates.
COVARIANCE_ESTIMATES = ("lstsq", "psd", "ridge")


@dataclass(frozen=True, eq=False)
class CovarianceEstimate:
    r"""An estimate of :math:`\Sigma_*`; leading axes hold replications.

    Parameters
    ----------
    Sigma : array, shape (..., d, d)
        The estimate. Symmetric; under ``"lstsq"`` it may be indefinite.
    variances : array, shape (..., A)
        :math:`x(a)^\top\hat\Sigma x(a)` as estimated, possibly not positive.
    rank : array of int, shape (...,)
        Rank of the quadratic design: how many of the d(d+1)/2 unknowns the data determine.
    mean_square : array, shape (...,)
        Mean squared residual, the scale of the variances.
    optimality : array, shape (...,)
        Relative violation of the optimality conditions, 0 where a formula gives the optimum: see
        `speedlib.psd.fit_psd`.

    Examples
    --------
    >>> import numpy as np
    >>> from speedlib import Rewards, estimate_covariance
    >>> rewards = Rewards(np.array([9, 9]), np.array([1.0, 0.0]), np.array([4.5, 18.0]))
    >>> found = estimate_covariance(rewards, np.eye(2))
    >>> found.variances.round(6).tolist()
    [0.5, 2.0]
    >>> bool(found.identified), int(found.rank)
    (False, 2)
    """

    Sigma: Floats
    variances: Floats
    rank: Counts
    mean_square: Floats
    optimality: Floats

    @property
    def identified(self) -> Flags:
        """Whether every entry of the noise matrix is determined, shape (...,)."""
        d = self.Sigma.shape[-1]
        return np.asarray(self.rank == d * (d + 1) // 2)

    def floored(self, floor: float) -> Floats:
        """Return the variances raised to at least `floor` times the mean squared residual.

        An unconstrained estimate can be indefinite; a variance must be positive to be used. Where
        all residuals vanish, all variances become 1e-24.
        """
        floor = check_number("floor", floor, above=0, below=np.inf, most=LARGEST)
        smallest = np.where(self.mean_square > 0, floor * self.mean_square, VANISHING_VARIANCE)
        return np.maximum(self.variances, smallest[..., None])


def squared_residuals(rewards: Rewards, features: Floats, theta: Floats) -> Floats:
    r"""Return the mean squared residual of each action, shape (..., A).

    .. math:: q(a) = \frac1{T(a)}\sum_i \bigl(R_i(a) - x(a)^\top\theta\bigr)^2
                   = \frac{S(a)}{T(a)} + \bigl(\bar r(a) - x(a)^\top\theta\bigr)^2
    """
    within = rewards.scatters / np.maximum(rewards.counts, 1)
    between = (rewards.means - theta @ features.T) ** 2
    return np.where(rewards.counts > 0, within + between, 0.0)


def estimate_covariance(
    rewards: Rewards,
    features: ArrayLike,
    method: str = "lstsq",
    *,
    ridge: float = 0.01,
    reweighted: bool = False,
) -> CovarianceEstimate:
    r"""Estimate :math:`\Sigma_*` from squared residuals of least squares.

    .. math:: \hat\Sigma = \arg\min_S \sum_t \bigl[x(a_t)^\top S x(a_t)
              - (r_t - x(a_t)^\top\hat\theta)^2\bigr]^2

    Parameters
    ----------
    rewards : Rewards
        Exploration data of shape (..., A); leading axes are replications.
    features : array, shape (A, d)
    method : {"lstsq", "psd", "ridge"}
        ``"lstsq"`` minimises over all symmetric matrices, as the paper prints it; of several
        minimisers it takes the one of least Frobenius norm. ``"psd"`` minimises over the positive
        semidefinite matrices, and ``"ridge"`` over all symmetric matrices with a penalty, see
        Notes.
    ridge : float
        Strength of the penalty, strictly between 0 and 1; without a unit. Used by ``"ridge"`` only.
    reweighted : bool
        Whether a second regression follows. It takes weights from the variances
        :math:`\hat\sigma^2` of the first one, raised to at least 1 % of the mean squared residual.
        The weights are :math:`1/\hat\sigma^2` for :math:`\hat\theta`, and :math:`1/\hat\sigma^4`
        for the squared residuals, since their variance is proportional to :math:`\sigma^4`.

    Returns
    -------
    CovarianceEstimate

    Raises
    ------
    ValueError
        If the method is unknown, `ridge` breaks its rule or a replication holds no rewards.

    Notes
    -----
    The sum over rounds depends on the data only through T(a) and q(a), so the cost does not grow
    with the number of rounds. The estimate is Equation (5) of the paper (file regret.tex), which
    minimises over all matrices and leaves open which minimiser is meant when there are many.

    The ridge estimate minimises the mean squared deviation plus :math:`\rho\, g\, \lVert M^{1/2} S
    M^{1/2}\rVert_F^2`. Here M is the second moment of the explored features, and each action has
    the weight of its squared residuals. In coordinates in which M is the identity, g is the mean of
    the d(d+1)/2 eigenvalues of the regression. The estimate does not depend on the basis of the
    features. In directions with little exploration the penalty is weak, and actions there may get
    variances that are many times too large.

    Examples
    --------
    >>> import numpy as np
    >>> from speedlib import Rewards
    >>> features = [[1, 0], [0, 1], [1, 1]]
    >>> means, scatters = np.array([1.0, 0.0, 1.0]), np.array([9.0, 18.0, 45.0])
    >>> rewards = Rewards(np.array([9, 9, 9]), means, scatters)
    >>> estimate_covariance(rewards, features).Sigma.round(6).tolist()
    [[1.0, 1.0], [1.0, 2.0]]
    """
    check_choice("method", method, COVARIANCE_ESTIMATES)
    features = check_features(features)
    check_rewards(rewards, len(features))
    ridge, reweighted = check_share("ridge", ridge), check_flag("reweighted", reweighted)
    if np.any(rewards.rounds == 0):
        raise ValueError("rewards: a covariance estimate needs at least one reward")
    return covariance_estimate(rewards, features, method, ridge, reweighted)


def covariance_estimate(
    rewards: Rewards,
    features: Floats,
    method: str,
    ridge: float = 0.01,
    reweighted: bool = False,
    tolerance: float = PSD_OPTIMALITY,
) -> CovarianceEstimate:
    """Estimate the covariance for checked arguments; ``"psd"`` to some optimality."""
    penalty = ridge if method == "ridge" else None
    estimate = _regress(rewards, features, method, penalty, None, tolerance)
    if reweighted:
        first = estimate.floored(REWEIGHTING_FLOOR)
        estimate = _regress(rewards, features, method, penalty, first, tolerance)
    return estimate


def _regress(
    rewards: Rewards,
    features: Floats,
    method: str,
    penalty: float | None,
    variances: Floats | None,
    tolerance: float,
) -> CovarianceEstimate:
    """Regress squared residuals once, weighting by variances if there are any."""
    weights = np.ones(len(features)) if variances is None else variances
    theta = fit_parameter(rewards, features, weights)
    squares = squared_residuals(rewards, features, theta)
    points, root, target = _explored(rewards.counts, features, squares, variances)
    Sigma, rank = _minimum_norm(points, root, target, features)
    optimality = np.zeros(Sigma.shape[:-2])
    if method == "psd":
        Sigma, optimality = regress_psd(points, root, target, features, Sigma, tolerance)
    if penalty is not None:
        Sigma = _penalised(points, root, target, penalty)
    mean_square = np.sum(rewards.counts * squares, axis=-1) / rewards.rounds
    return CovarianceEstimate(
        Sigma, quadratic_values(features, Sigma), rank, np.asarray(mean_square), optimality
    )


def _explored(
    counts: Counts, features: Floats, squares: Floats, variances: Floats | None
) -> tuple[Floats, Floats, Floats]:
    """Gather the explored actions: points (..., k, d), root weights and targets (..., k)."""
    index = pulled_actions(counts)
    root = np.sqrt(np.take_along_axis(counts, index, axis=-1))
    if variances is not None:
        root = root / np.take_along_axis(variances, index, axis=-1)
    # Weights of total one keep the least-squares objective in units of variance squared.
    root = root / np.linalg.norm(root, axis=-1, keepdims=True)
    return features[index], root, np.take_along_axis(squares, index, axis=-1)


def _penalised(points: Floats, root: Floats, target: Floats, penalty: float) -> Floats:
    """Solve the ridge regression in whitened coordinates."""
    units = np.abs(points * (root > 0)[..., None]).max(axis=-2, keepdims=True)
    units = np.where(units > 0, units, 1.0)
    rows = points / units * root[..., None]
    white, _ = whitening(np.swapaxes(rows, -1, -2) @ rows)
    design = quadratic_rows(points / units @ white) * root[..., None]
    left, values, right = np.linalg.svd(design, full_matrices=False)
    mean = np.sum(values**2, axis=-1, keepdims=True) / design.shape[-1]
    shrunk = values / (values**2 + penalty * np.where(mean > 0, mean, 1.0))
    rotated = np.einsum("...km,...k->...m", left, root * target) * shrunk
    S = matrix_of(np.einsum("...m,...mj->...j", rotated, right), points.shape[-1])
    return np.asarray(white @ S @ white / units / np.swapaxes(units, -1, -2))


def _minimum_norm(
    points: Floats, root: Floats, target: Floats, features: Floats
) -> tuple[Floats, Counts]:
    """Solve the weighted quadratic regression with least norm; return the matrix and the rank.

    The rank, and a unique solution, are computed from features whose second moment is the identity,
    so neither units nor collinearity matter. If many solutions fit equally, the least norm depends
    on the given coordinates. If the units of these are so different that rounding hides some
    explored directions, whitened coordinates supply the missing part of the fit.
    """
    d = features.shape[1]
    response = root * target
    units = column_scale(features)
    scaled = features / units
    white = whitening(scaled.T @ scaled)[0] / units[:, None]
    inverse = _inverse(quadratic_rows(points @ white) * root[..., None], QUADRATIC_RANK_TOLERANCE)
    Sigma = white @ matrix_of(inverse.solve(response), d) @ white.T
    rank = inverse.kept.sum(axis=-1)
    partly = rank < d * (d + 1) // 2
    if np.any(partly):
        design = quadratic_rows(points) * root[..., None]
        least = _inverse(design, ROWS_RANK_TOLERANCE, rank).solve(response)
        missed = response - (design @ least[..., None])[..., 0]
        mended = white @ matrix_of(inverse.solve(missed), d) @ white.T
        Sigma = np.where(partly[..., None, None], matrix_of(least, d) + mended, Sigma)
    return Sigma, rank


class _Inverse(NamedTuple):
    """A generalised inverse by singular values, of which only some are kept."""

    left: Floats
    values: Floats
    right: Floats
    kept: Flags

    def solve(self, response: Floats) -> Floats:
        """Return the least-squares solution of least norm."""
        inverse = np.where(self.kept, 1.0, 0.0) / np.where(self.kept, self.values, 1.0)
        rotated = np.einsum("...km,...k->...m", self.left, response) * inverse
        return np.asarray(np.einsum("...m,...mj->...j", rotated, self.right))


def _inverse(design: Floats, tolerance: float, rank: Counts | None = None) -> _Inverse:
    """Keep the singular values above a share of the largest, in number at most the rank."""
    left, values, right = np.linalg.svd(design, full_matrices=False)
    kept = values > tolerance * values[..., :1]
    if rank is not None:
        kept &= np.arange(values.shape[-1]) < rank[..., None]
    return _Inverse(left, values, right, kept)
