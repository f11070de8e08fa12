"""Quadratic regression over the positive semidefinite matrices, for many data sets at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from speedlib._tolerances import MOMENT_RANK_TOLERANCE, PSD_OPTIMALITY
from speedlib.checks import (
    LARGEST,
    Floats,
    check_count,
    check_features,
    check_finite,
    check_number,
)
from speedlib.quadratic import matrix_of, quadratic_rows, svec_of

__all__ = ["fit_psd"]

#: Weight of all actions, next to the explored ones, in the coordinates of the first stage.
SHARE_OF_ALL = 1e-5

#: Steps of the first stage, a multiple of 10.
FIRST_STEPS = 500


def fit_psd(
    points: ArrayLike,
    root: ArrayLike,
    target: ArrayLike,
    features: ArrayLike,
    *,
    start: ArrayLike,
    tolerance: float = PSD_OPTIMALITY,
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
    features : array, shape (A, d)
        Feature vectors of all actions, explored or not.
    start : array, shape (..., d, d)
        Starting point; returned unchanged if it is already positive semidefinite and optimal.
    tolerance : float
        Largest accepted violation of the optimality conditions.
    max_iterations : int
        Accelerated projected-gradient steps before giving up, a multiple of 10.

    Returns
    -------
    Sigma : array, shape (..., d, d)
        The minimiser, or one of the minimisers if the data do not determine it.
    optimality : array, shape (...,)
        The number :math:`\max(-\lambda_{\min}(G), |\langle G, S\rangle| / q) / q`, with the
        gradient G in whitened coordinates and :math:`q^2 = \sum\rho_k^2q_k^2`. It vanishes exactly
        at a minimiser, and is larger than `tolerance` only if the steps ran out.

    Notes
    -----
    Coordinates are whitened so that the weighted second moment of the points is the identity; this
    map preserves the cone of positive semidefinite matrices and makes the problem well conditioned.
    If a few points are nearly dependent and do not determine the minimiser, a minimiser of moderate
    size in whitened coordinates may be huge in the given coordinates. So in the first steps all
    actions, explored or not, get a small weight. This makes the problem less well conditioned, so
    replications that have not converged after these steps continue with the explored points alone.
    Each step costs O(d^4) per replication; replications leave the iteration as they converge.
    """
    x = check_features(features)
    rows, d = check_finite("points", points), x.shape[1]
    if rows.ndim < 2 or rows.shape[-1] != d or rows.shape[-2] < 1:
        raise ValueError(f"points: expected shape (..., k, {d}), k >= 1; got shape {rows.shape}")
    size = np.abs(rows).max(initial=0.0)
    if not size <= LARGEST:
        raise ValueError(f"points: entries must be at most {LARGEST:g} in size; got {size:g}")
    shapes = {"root": rows.shape[:-1], "target": rows.shape[:-1], "start": (*rows.shape[:-2], d, d)}
    given = {"root": root, "target": target, "start": start}
    arrays = {name: check_finite(name, values) for name, values in given.items()}
    for name, array in arrays.items():
        if array.shape != shapes[name]:
            raise ValueError(f"{name}: expected shape {shapes[name]}; got shape {array.shape}")
        limit = 1.0 if name == "root" else LARGEST**2
        if name == "root" and np.any(array < 0):
            raise ValueError(f"root: must be at least 0; got {array.min():g}")
        if not np.abs(array).max(initial=0.0) <= limit:
            raise ValueError(
                f"{name}: entries must be at most {limit:g} in size; got {np.abs(array).max():g}"
            )
    tolerance = check_number("tolerance", tolerance, least=0)
    max_iterations = check_count("max_iterations", max_iterations, 0)
    return regress_psd(
        rows, arrays["root"], arrays["target"], x, arrays["start"], tolerance, max_iterations
    )


def regress_psd(
    points: Floats,
    root: Floats,
    target: Floats,
    features: Floats,
    start: Floats,
    tolerance: float = PSD_OPTIMALITY,
    max_iterations: int = 5000,
) -> tuple[Floats, Floats]:
    """Minimise for checked numbers."""
    shape, d = start.shape[:-2], start.shape[-1]
    points, Sigma = points.reshape(-1, *points.shape[-2:]), start.reshape(-1, d, d).copy()
    root, target = root.reshape(len(Sigma), -1), target.reshape(len(Sigma), -1)
    optimality, left = np.full(len(Sigma), np.inf), np.arange(len(Sigma))
    moment = features.T @ features / len(features)
    for share, steps in ((SHARE_OF_ALL, min(FIRST_STEPS, max_iterations)), (0.0, max_iterations)):
        Sigma[left], optimality[left] = _minimise(
            points[left], root[left], target[left], share * moment, Sigma[left], tolerance, steps
        )
        left = np.flatnonzero(optimality > tolerance)
    return Sigma.reshape(*shape, d, d), optimality.reshape(shape)


def _minimise(
    points: Floats,
    root: Floats,
    target: Floats,
    moment: Floats,
    start: Floats,
    tolerance: float,
    steps: int,
) -> tuple[Floats, Floats]:
    """Minimise in coordinates that whiten the points' second moment and a given one together."""
    rows = points * root[..., None]
    moment = np.swapaxes(rows, -1, -2) @ rows + moment
    # Each feature in the unit in which its moment is 1: then none is taken for rounding error.
    units = np.sqrt(np.diagonal(moment, axis1=-2, axis2=-1))
    units = np.where(units > 0, units, 1.0)
    both = units[:, :, None] * units[:, None, :]
    points, start = points / units[:, None, :], start * both
    white, back = whitening(moment / both)
    size = np.sqrt(np.sum((root * target) ** 2, axis=-1))
    size = np.where(size > 0, size, 1.0)
    design = quadratic_rows(points @ white) * root[..., None]
    response = root * target / size[:, None]
    if design.shape[-2] > design.shape[-1]:
        # The triangular factor holds all that the objective needs, whatever the number of points.
        orthogonal, design = np.linalg.qr(design)
        response = np.einsum("rkm,rk->rm", orthogonal, response)
    # Sigma = W S W with W the inverse square root of the moment, hence S = B Sigma B.
    S = _project(back @ (start / size[:, None, None]) @ back)
    optimality = _accelerate(design, response, S, tolerance, steps)
    return white @ S @ white * size[:, None, None] / both, optimality


def whitening(moment: Floats) -> tuple[Floats, Floats]:
    """Return the inverse square root of a second moment, and its square root."""
    values, vectors = np.linalg.eigh(moment)
    kept = values > MOMENT_RANK_TOLERANCE * values[..., -1:]
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
    miss = (design @ svec_of(S)[..., None])[..., 0] - response
    slope = (np.swapaxes(design, -1, -2) @ miss[..., None])[..., 0]
    return matrix_of(slope, S.shape[-1])


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
