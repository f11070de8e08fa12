r"""Criteria of design: how precise an experiment with given proportions is.

The information matrix of a design b is :math:`A(b) = \sum_a b(a)\, x(a) x(a)^\top / \sigma^2(a)`.
Losses are computed from the singular values of its square root, the rows :math:`\sqrt{b(a)}\,
x(a)/\sigma(a)`. Their condition number is the square root of that of A(b), which helps to
distinguish a design that cannot estimate something from one that estimates it badly.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from speedlib._labels import check_order
from speedlib._rows import blocks
from speedlib._tolerances import FACTOR_ROUNDING, MEAN_ROUNDING, SPAN_TOLERANCE
from speedlib.checks import (
    LARGEST,
    Floats,
    check_direction,
    check_features,
    check_policy,
    check_replications,
    check_sizes,
    check_variances,
    check_weights,
)

__all__ = [
    "CRITERIA",
    "information_matrix",
    "pe_loss",
    "target_direction",
]

CRITERIA = ("PE", "A", "D", "G", "linear")

#: Numbers below this have squares well within the range of floats.
MODERATE = 1e120


def target_direction(features: ArrayLike, policy: ArrayLike) -> Floats:
    r"""Return the mean feature vector of a policy, :math:`c = \sum_a \pi(a)\, x(a)`.

    The value of the policy is :math:`v(\pi) = c^\top \theta`. Entries that are zero up to rounding
    are returned as exact zeros.

    Parameters
    ----------
    features : array-like, shape (A, d)
        One row x(a) per action.
    policy : array-like, shape (A,)
        Target policy: probabilities that sum to one.

    Returns
    -------
    ndarray, shape (d,)
        The direction c.

    Examples
    --------
    >>> target_direction([[1.0, 0.0], [0.0, 2.0]], [0.25, 0.75])
    array([0.25, 1.5 ])
    """
    check_order(features, {"policy": policy})
    x = check_features(features)
    return mean_feature(x, check_policy(policy, x.shape[0]))


def information_matrix(weights: ArrayLike, features: ArrayLike, variances: ArrayLike) -> Floats:
    r"""Information matrix :math:`A(b) = \sum_a b(a)\, x(a) x(a)^\top / \sigma^2(a)`.

    Parameters
    ----------
    weights : array-like, shape (..., A)
        Non-negative weights b; they need not sum to one.
    features : array-like, shape (A, d)
        One row x(a) per action.
    variances : array-like, shape (..., A)
        Positive noise variances; 0 is allowed where the features of an action are all 0.

    Returns
    -------
    ndarray, shape (..., d, d)
        Symmetric positive semidefinite matrices.

    References
    ----------
    The paper, equation for the design matrix in Section 3.

    Examples
    --------
    >>> information_matrix([0.5, 0.5], [[1.0, 0.0], [0.0, 1.0]], [1.0, 4.0])
    array([[0.5  , 0.   ],
           [0.   , 0.125]])
    """
    check_order(features, {"weights": weights, "variances": variances})
    x = check_features(features)
    b = check_weights(weights, x.shape[0])
    if not b.max(initial=0.0) <= LARGEST**2:
        raise ValueError(f"weights: entries must be at most {LARGEST**2:g}; got {b.max():g}")
    v = check_variances(variances, x.shape[0], features=x, batch=True)
    check_replications("variances", v, "weights", b)
    precision = b / v
    return np.asarray((x.T * precision[..., None, :]) @ x)


def pe_loss(
    weights: ArrayLike,
    features: ArrayLike,
    variances: ArrayLike,
    *,
    policy: ArrayLike | None = None,
    direction: ArrayLike | None = None,
) -> float | Floats:
    r"""Return the loss of a design for policy evaluation, :math:`c^\top A(b)^- c`.

    It is n times the mean squared error of the weighted least-squares estimate of
    :math:`c^\top\theta` after n rounds in the proportions b. It equals :math:`\min \|v\|^2` over v
    with :math:`\sum_a v_a \sqrt{b(a)}\, x(a)/\sigma(a) = c`, and is :math:`+\infty` when c is not
    in the range of A(b): then the design cannot estimate the value at all.

    Parameters
    ----------
    weights : array-like, shape (..., A)
        Designs b (non-negative; they need not sum to one).
    features : array-like, shape (A, d)
        One row x(a) per action.
    variances : array-like, shape (..., A)
        Positive noise variances; 0 is allowed where the features of an action are all 0.
    policy, direction : array-like, shape (A,) or (d,)
        Pass exactly one of them: the target policy, or the vector c itself.

    Returns
    -------
    float, or ndarray of shape (...)
        The loss of each design. A loss beyond the range of floats is rounded to zero or infinity.

    Notes
    -----
    To decide whether c is in the range of A(b), columns are scaled to unit size; the part of c
    outside the range may be at most 1e-9 of c. The cost is O(A d^2) for each design.

    References
    ----------
    The paper, Proposition 1.

    Examples
    --------
    >>> one_hot = [[1.0, 0.0], [0.0, 1.0]]
    >>> round(pe_loss([0.5, 0.5], one_hot, [1.0, 4.0], policy=[0.5, 0.5]), 12)
    2.5
    >>> pe_loss([1.0, 0.0], one_hot, [1.0, 4.0], policy=[0.5, 0.5])
    inf
    """
    rows = {"weights": weights, "variances": variances, "policy": policy}
    check_order(features, rows, {"direction": direction})
    x = check_features(features)
    b = check_weights(weights, x.shape[0])
    v = check_variances(variances, x.shape[0], features=x, batch=True)
    check_replications("variances", v, "weights", b)
    c = chosen_direction(x, policy, direction)
    rounds = np.frexp(b.max(axis=-1))[1]  # the weights may have any sum
    root = np.sqrt(np.ldexp(b, -rounds[..., None]) / v)
    with np.errstate(over="ignore"):
        loss = np.ldexp(_losses(_spectrum(root, x), c), -rounds)
    return float(loss) if root.ndim == 1 else loss


def criterion_value(
    criterion: str, weights: Floats, x: Floats, variances: Floats, target: Floats | None = None
) -> float:
    """Value of one design under any criterion, as :class:`speedlib.designs.Design` defines it.

    Parameters
    ----------
    criterion : {"PE", "A", "D", "G", "linear"}
        What to compute.
    weights, variances : ndarray, shape (A,)
        Design and noise variances, already checked.
    x : ndarray, shape (A, d)
        Features, already checked.
    target : ndarray, shape (d,) or (d, d), optional
        The direction c for ``"PE"``, the matrix K for ``"linear"``.

    Returns
    -------
    float
        Infinite (for ``"D"`` minus infinity) if the design cannot estimate the target.
    """
    spectrum = _spectrum(np.sqrt(weights if criterion == "G" else weights / variances), x)
    if criterion == "D":
        return _log_determinant(spectrum)
    if criterion == "G":
        return float(_losses(spectrum, x).max())
    if criterion == "PE":
        assert target is not None
        return float(_losses(spectrum, target))
    kernel = np.eye(x.shape[1]) if target is None else target
    return float(_losses(spectrum, _factor(kernel)).sum())


class _Spectrum(NamedTuple):
    """Rows with scaled columns: singular values, zero if negligible, and right vectors."""

    scale: Floats
    singular: Floats
    right: Floats


def _spectrum(root: Floats, x: Floats) -> _Spectrum:
    """Decompose the rows ``root[..., a] * x[a]``; a column without entries is measured by x."""
    units = np.maximum(x.max(axis=0), -x.min(axis=0))
    units[units == 0] = 1.0
    scale = np.zeros((*root.shape[:-1], x.shape[1]))
    for rows in _weighted(root, x):
        np.maximum(scale, np.abs(rows / units).max(axis=-2), out=scale)
    scale = np.where(scale > 0, scale, scale.max(axis=-1, keepdims=True))
    scale = np.where(scale > 0, scale, 1.0) * units
    upper = np.zeros((*scale.shape[:-1], 0, x.shape[1]))
    for rows in _weighted(root, x):
        joined = np.concatenate([upper, rows / scale[..., None, :]], axis=-2)
        upper = np.asarray(np.linalg.qr(joined, mode="r"))
    _, singular, right = np.linalg.svd(upper, full_matrices=False)
    cut = FACTOR_ROUNDING * max(x.shape)
    negligible = singular <= cut * singular.max(axis=-1, keepdims=True, initial=0.0)
    return _Spectrum(scale, np.where(negligible, 0.0, singular), right)


def _weighted(root: Floats, x: Floats) -> Iterator[Floats]:
    """Yield the rows ``root[..., a] * x[a]``, block by block."""
    for block in blocks(len(x)):
        yield root[..., block, None] * x[block]


def _losses(spectrum: _Spectrum, targets: Floats) -> Floats:
    """Return min |v|^2 with rows' v = target, inf if there is no such v; targets (..., d)."""
    scale, singular, right = spectrum
    scaled, power = _quotients(targets, scale)
    solid = singular > 0
    parts = _coordinates(right, scaled) * solid
    with np.errstate(over="ignore"):  # a loss beyond the range of floats is infinite
        losses = ((parts / np.where(solid, singular, 1.0)) ** 2).sum(axis=-1)
        losses = np.ldexp(losses, 2 * power)
    if solid.all() and solid.shape[-1] == scale.shape[-1]:
        return np.asarray(losses)
    missed = scaled - _coordinates(np.swapaxes(right, -1, -2), parts)
    reach = SPAN_TOLERANCE * np.linalg.norm(scaled, axis=-1)
    return np.where(np.linalg.norm(missed, axis=-1) <= reach, losses, np.inf)


def _quotients(targets: Floats, scale: Floats) -> tuple[Floats, NDArray[np.int32]]:
    """Return targets / scale divided by a power of two, which keeps them in range, and the power.

    If a design hardly uses a feature, the scale of this feature may be close to the smallest float.
    """
    with np.errstate(over="ignore"):
        plain = targets / scale
    if np.abs(plain).max(initial=0.0) < MODERATE:
        return np.asarray(plain), np.zeros(plain.shape[:-1], dtype=np.int32)
    mantissa, exponent = np.frexp(scale)
    part, own = np.frexp(targets / mantissa)
    own = np.where(part != 0, own - exponent, np.iinfo(np.int32).min // 2)
    power = np.maximum(own.max(axis=-1), -4096)
    return np.ldexp(part, np.maximum(own - power[..., None], -4096)), power


def _coordinates(matrix: Floats, vectors: Floats) -> Floats:
    """Multiply matrix and vector: one matrix for all vectors, or one matrix for each."""
    if matrix.ndim == 2:
        return np.asarray(vectors @ matrix.T)
    return np.asarray((matrix @ vectors[..., None])[..., 0])


def _log_determinant(spectrum: _Spectrum) -> float:
    if spectrum.singular.size < spectrum.scale.size or not spectrum.singular.all():
        return -np.inf
    return 2 * float(np.log(spectrum.singular).sum() + np.log(spectrum.scale).sum())


def _factor(kernel: Floats) -> Floats:
    """Rows F with K = F'F, one for each eigenvalue of K that is not rounding error."""
    scale = np.sqrt(np.diagonal(kernel))
    scale = np.where(scale > 0, scale, 1.0)
    eigenvalues, vectors = solid_parts(kernel / np.outer(scale, scale))
    return np.asarray((vectors * np.sqrt(eigenvalues)).T * scale)


def solid_parts(correlations: Floats) -> tuple[Floats, Floats]:
    """Return eigenvalues that are no rounding errors, and their vectors, for a unit diagonal.

    With a unit diagonal, the rank does not depend on units.
    """
    eigenvalues, vectors = np.linalg.eigh(correlations)
    solid = eigenvalues > FACTOR_ROUNDING * len(correlations) * eigenvalues[-1]
    return np.asarray(eigenvalues[solid]), np.asarray(vectors[:, solid])


def chosen_direction(x: Floats, policy: ArrayLike | None, direction: ArrayLike | None) -> Floats:
    """Return c from exactly one of a target policy and the direction itself."""
    if policy is not None and direction is None:
        return mean_feature(x, check_policy(policy, x.shape[0]))
    if direction is not None and policy is None:
        return check_direction(direction, x.shape[1])
    raise ValueError("policy, direction: pass exactly one of them")


def mean_feature(x: Floats, policy: Floats) -> Floats:
    """Return the direction of a policy; both are checked already."""
    c, size = policy @ x, np.zeros(x.shape[1])
    for block in blocks(len(x)):
        size += policy[block] @ np.abs(x[block])
    c = np.where(np.abs(c) > MEAN_ROUNDING * size, c, 0.0)
    check_sizes("policy @ features", np.abs(c).max(), "its largest entry")
    return c
