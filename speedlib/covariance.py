"""Estimating the variance parameter from squared residuals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from speedlib.bandit import quadratic_form
from speedlib.checks import Counts, Flags, Floats, check_choice, check_features
from speedlib.estimators import column_scale, least_squares, pulled_actions
from speedlib.rewards import Rewards

#: Names of the covariance estimates.
COVARIANCE_ESTIMATES = ("lstsq", "psd")

#: Singular values of the quadratic design below this share of the largest count as zero.
QUADRATIC_RANK_TOLERANCE = 1e-9


@dataclass(frozen=True)
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
        Relative violation of the optimality conditions (0 for ``"lstsq"``): see `fit_psd`.
    """

    Sigma: Floats
    variances: Floats
    rank: Counts
    mean_square: Floats
    optimality: Floats

    @property
    def identified(self) -> Flags:
        """Whether every entry of the variance parameter is determined, shape (...,)."""
        d = self.Sigma.shape[-1]
        return np.asarray(self.rank == d * (d + 1) // 2)

    def floored(self, floor: float) -> Floats:
        """Return the variances raised to at least `floor` times the mean squared residual.

        An unconstrained estimate can be indefinite; a variance must be positive to be used. Where
        all residuals vanish, all variances become 1e-24.
        """
        if not 0 < floor < np.inf:
            raise ValueError(f"floor: must be positive and finite; got {floor}")
        smallest = np.where(self.mean_square > 0, floor * self.mean_square, 1e-24)
        return np.maximum(self.variances, smallest[..., None])


def quadratic_features(features: ArrayLike) -> Floats:
    r"""Return :math:`\varphi(a)=\operatorname{svec}(x(a)x(a)^\top)`, shape (..., d(d+1)/2).

    Off-diagonal products carry a factor :math:`\sqrt2`, so that
    :math:`\varphi(a)^\top\operatorname{svec}(S) = x(a)^\top S x(a)` and the Euclidean norm of
    svec(S) is the Frobenius norm of S.
    """
    array = np.asarray(features, dtype=np.float64)
    rows, columns = np.triu_indices(array.shape[-1])
    factor = np.where(rows == columns, 1.0, np.sqrt(2.0))
    return np.asarray(array[..., rows] * array[..., columns] * factor)


def svec_to_matrix(vector: Floats, d: int) -> Floats:
    """Return the symmetric matrices, shape (..., d, d), of vectors of shape (..., d(d+1)/2)."""
    rows, columns = np.triu_indices(d)
    factor = np.where(rows == columns, 1.0, np.sqrt(0.5))
    matrix = np.zeros((*vector.shape[:-1], d, d))
    matrix[..., rows, columns] = vector * factor
    matrix[..., columns, rows] = vector * factor
    return matrix


def squared_residuals(rewards: Rewards, features: Floats, theta: Floats) -> Floats:
    r"""Return the mean squared residual of each action, shape (..., A).

    .. math:: q(a) = \frac1{T(a)}\sum_i \bigl(R_i(a) - x(a)^\top\theta\bigr)^2
                   = \frac{S(a)}{T(a)} + \bigl(\bar r(a) - x(a)^\top\theta\bigr)^2
    """
    within = rewards.scatters / np.maximum(rewards.counts, 1)
    between = (rewards.means - theta @ features.T) ** 2
    return np.where(rewards.counts > 0, within + between, 0.0)


def estimate_covariance(
    rewards: Rewards, features: ArrayLike, method: str = "lstsq"
) -> CovarianceEstimate:
    r"""Estimate :math:`\Sigma_*` from squared residuals of ordinary least squares.

    .. math:: \hat\Sigma = \arg\min_S \sum_t \bigl[x(a_t)^\top S x(a_t)
              - (r_t - x(a_t)^\top\hat\theta)^2\bigr]^2

    Parameters
    ----------
    rewards : Rewards
        Exploration data of shape (..., A); leading axes are replications.
    features : array, shape (A, d)
    method : {"lstsq", "psd"}
        ``"lstsq"``: over all symmetric matrices, as the paper prints it; of several minimisers the
        one of least Frobenius norm. ``"psd"``: over the positive semidefinite matrices.

    Returns
    -------
    CovarianceEstimate

    Raises
    ------
    ValueError
        If the method is unknown or a replication holds no rewards.

    Notes
    -----
    The sum over rounds depends on the data only through T(a) and q(a), so that the cost does not
    grow with the number of rounds. Equation (6) of the paper (file regret.tex), where the minimum
    over all matrices is printed; it leaves open which minimiser is meant when there are many.
    """
    check_choice("covariance", method, COVARIANCE_ESTIMATES)
    features = check_features(features)
    if np.any(rewards.rounds == 0):
        raise ValueError("rewards: a covariance estimate needs at least one reward")
    theta = least_squares(rewards, features)
    squares = squared_residuals(rewards, features, theta)
    points, root, target = _explored(rewards.counts, features, squares)
    vector, rank = _minimum_norm(points, root, target)
    d = features.shape[1]
    Sigma = svec_to_matrix(vector, d)
    optimality = np.zeros(Sigma.shape[:-2])
    if method == "psd":
        Sigma, optimality = fit_psd(points, root, target, start=Sigma)
    mean_square = np.sum(rewards.counts * squares, axis=-1) / rewards.rounds
    return CovarianceEstimate(
        Sigma, quadratic_form(features, Sigma), rank, np.asarray(mean_square), optimality
    )


def _explored(counts: Counts, features: Floats, squares: Floats) -> tuple[Floats, Floats, Floats]:
    """Gather the explored actions: points (..., k, d), root weights and targets (..., k)."""
    index = pulled_actions(counts)
    root = np.sqrt(np.take_along_axis(counts, index, axis=-1))
    # Weights of total one keep the least-squares objective in units of variance squared.
    root = root / np.linalg.norm(root, axis=-1, keepdims=True)
    return features[index], root, np.take_along_axis(squares, index, axis=-1)


def _minimum_norm(points: Floats, root: Floats, target: Floats) -> tuple[Floats, Counts]:
    """Solve the weighted quadratic regression with least norm; return svec and rank.

    The rank, and the solution where it is full, come from features in units of their size; only
    where many solutions fit alike do the given units, and with them the norm, matter.
    """
    unknowns = points.shape[-1] * (points.shape[-1] + 1) // 2
    response = root * target
    scale = quadratic_features(column_scale(points.reshape(-1, points.shape[-1])))
    design = quadratic_features(points) * root[..., None]
    # Off-diagonal entries carry the square root of two on both sides.
    scale = scale / quadratic_features(np.ones(points.shape[-1]))
    vector, rank = _solve(design / scale, response, None)
    vector = vector / scale
    if np.any(rank < unknowns):
        least, _ = _solve(design, response, rank)
        vector = np.where((rank < unknowns)[..., None], least, vector)
    return vector, rank


def _solve(design: Floats, response: Floats, rank: Counts | None) -> tuple[Floats, Counts]:
    """Least squares of least norm by the singular values, as many as the rank says (if given)."""
    left, values, right = np.linalg.svd(design, full_matrices=False)
    kept = values > QUADRATIC_RANK_TOLERANCE * values[..., :1]
    if rank is not None:
        kept = np.arange(values.shape[-1]) < rank[..., None]
    inverse = np.where(kept, 1.0, 0.0) / np.where(kept, values, 1.0)
    rotated = np.einsum("...km,...k->...m", left, response) * inverse
    return np.einsum("...m,...mj->...j", rotated, right), kept.sum(axis=-1)


def fit_psd(
    points: Floats,
    root: Floats,
    target: Floats,
    *,
    start: Floats,
    tolerance: float = 1e-8,
    max_iterations: int = 5000,
) -> tuple[Floats, Floats]:
    r"""Minimise the weighted quadratic regression over positive semidefinite matrices.

    .. math:: \min_{S \succeq 0} \; f(S) = \tfrac12\sum_k \rho_k^2
              \bigl(x_k^\top S x_k - q_k\bigr)^2

    Parameters
    ----------
    points : array, shape (..., k, d)
        Explored feature vectors of each replication.
    root, target : array, shape (..., k)
        Square roots of the weights :math:`\rho_k^2` (of total 1), and the targets :math:`q_k`.
    start : array, shape (..., d, d)
        Starting point; returned as it is where it is already positive semidefinite and optimal.
    tolerance : float
        Largest accepted violation of the optimality conditions.
    max_iterations : int
        Accelerated projected-gradient steps before giving up, a multiple of 10.

    Returns
    -------
    Sigma : array, shape (..., d, d)
        The minimiser (one of them, where the data determine it only in part).
    optimality : array, shape (...,)
        With gradient G in whitened coordinates and :math:`q^2 = \sum\rho_k^2q_k^2`:
        :math:`\max(-\lambda_{\min}(G), |\langle G, S\rangle| / q) / q`, which vanishes exactly at
        a minimiser. Larger than `tolerance` only if the steps ran out.

    Notes
    -----
    Coordinates are whitened so that the weighted second moment of the points is the identity; the
    cone is invariant under that congruence and the problem becomes well conditioned. Each step
    costs O(d^4) per replication; replications leave the iteration as they converge.
    """
    shape, d = start.shape[:-2], start.shape[-1]
    points, start = points.reshape(-1, *points.shape[-2:]), start.reshape(-1, d, d)
    root, target = root.reshape(len(start), -1), target.reshape(len(start), -1)
    units = np.abs(points * (root > 0)[..., None]).max(axis=-2)
    units = np.where(units > 0, units, 1.0)
    both = units[:, :, None] * units[:, None, :]
    points, start = points / units[:, None, :], start * both
    white, back = _whitening(points * root[..., None])
    size = np.sqrt(np.sum((root * target) ** 2, axis=-1))
    size = np.where(size > 0, size, 1.0)
    design = quadratic_features(points @ white) * root[..., None]
    response = root * target / size[:, None]
    if design.shape[-2] > design.shape[-1]:
        # The triangular factor holds all that the objective needs, whatever the number of points.
        orthogonal, design = np.linalg.qr(design)
        response = np.einsum("rkm,rk->rm", orthogonal, response)
    # Sigma = W S W with W the inverse square root of the second moment, hence S = B Sigma B.
    S = _project(back @ (start / size[:, None, None]) @ back)
    optimality = _accelerate(design, response, S, tolerance, max_iterations)
    Sigma = white @ S @ white * size[:, None, None] / both
    return Sigma.reshape(*shape, d, d), optimality.reshape(shape)


def matrix_to_svec(S: Floats) -> Floats:
    """Return the vectors, shape (..., d(d+1)/2), of symmetric matrices: see `svec_to_matrix`."""
    rows, columns = np.triu_indices(S.shape[-1])
    return np.asarray(S[..., rows, columns] * np.where(rows == columns, 1.0, np.sqrt(2.0)))


def _whitening(rows: Floats) -> tuple[Floats, Floats]:
    moment = np.swapaxes(rows, -1, -2) @ rows
    values, vectors = np.linalg.eigh(moment)
    kept = values > 1e-12 * values[..., -1:]
    root = np.sqrt(np.where(kept, values, 0.0))
    inverse = np.where(kept, 1.0, 0.0) / np.where(kept, root, 1.0)
    turned = np.swapaxes(vectors, -1, -2)
    return (vectors * inverse[..., None, :]) @ turned, (vectors * root[..., None, :]) @ turned


def _project(S: Floats) -> Floats:
    """Project onto the cone: drop the negative eigenvalues."""
    values, vectors = np.linalg.eigh(S)
    positive = vectors * np.maximum(values, 0.0)[..., None, :]
    return np.asarray(positive @ np.swapaxes(vectors, -1, -2))


def _gradient(design: Floats, response: Floats, S: Floats) -> Floats:
    miss = (design @ matrix_to_svec(S)[..., None])[..., 0] - response
    slope = (np.swapaxes(design, -1, -2) @ miss[..., None])[..., 0]
    return svec_to_matrix(slope, S.shape[-1])


def _accelerate(
    design: Floats, response: Floats, S: Floats, tolerance: float, max_iterations: int
) -> Floats:
    """Run accelerated projected gradient in place on S; return the optimality measure."""
    optimality = np.full(len(S), np.inf)
    active = np.arange(len(S))
    norm = np.linalg.norm(design, ord=2, axis=(-2, -1))
    step = 1.0 / np.maximum(norm**2, np.finfo(float).tiny)[:, None, None]
    ahead, momentum = S.copy(), np.ones(len(S))
    for iteration in range(max_iterations + 1):
        if iteration % 10 == 0:
            slope = _gradient(design, response, S[active])
            slack = np.abs(np.einsum("rij,rij->r", slope, S[active]))
            optimality[active] = np.maximum(-np.linalg.eigvalsh(slope)[:, 0], slack)
            left = optimality[active] > tolerance
            active, design, response = active[left], design[left], response[left]
            if active.size == 0 or iteration == max_iterations:
                break
        slope = _gradient(design, response, ahead[active])
        new = _project(ahead[active] - step[active] * slope)
        change = new - S[active]
        # Restart the momentum where it points uphill.
        uphill = np.einsum("rij,rij->r", ahead[active] - new, change) > 0
        old = np.where(uphill, 1.0, momentum[active])
        fresh = (1.0 + np.sqrt(1.0 + 4.0 * old**2)) / 2.0
        push = np.where(uphill, 0.0, (old - 1.0) / fresh)
        ahead[active] = new + push[:, None, None] * change
        S[active], momentum[active] = new, fresh
    return optimality
