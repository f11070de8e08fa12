r"""Designs: the variance bounds, the gradient of the loss, one-hot actions, structure.

Shapes are those of the library: features (A, d), variances, policies and designs (A,); the target
direction is :math:`c = \sum_a \pi(a) x(a)`. Losses and gradients are n times those of the paper.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from speedlib import information_matrix

Floats = NDArray[np.float64]


def variance_bounds(features: ArrayLike, Sigma: ArrayLike) -> tuple[float, float]:
    r"""Return the bounds on the variance of any action, as printed.

    .. math:: \min_i|\lambda_i|\,H_L^2 \le \sigma^2(a) \le \max_i|\lambda_i|\,H_U^2

    with the singular values of :math:`\Sigma_*` and the least and the largest squared length of the
    features (Section 2; remark on the bound on variance, file appendix.tex).
    """
    singular = np.linalg.svd(np.asarray(Sigma, dtype=float), compute_uv=False)
    squares = (np.asarray(features, dtype=float) ** 2).sum(axis=1)
    return float(singular.min() * squares.min()), float(singular.max() * squares.max())


def loss_gradient(
    weights: ArrayLike, features: ArrayLike, variances: ArrayLike, direction: ArrayLike
) -> Floats:
    r"""Return the gradient of the loss in the design, :math:`-(x(a)^\top A^{-1} c)^2/\sigma^2(a)`.

    The formula is ours; it follows from :math:`\partial A^{-1} = -A^{-1}(\partial A)A^{-1}`. The
    information matrix must be invertible.
    """
    x, c = np.asarray(features, dtype=float), np.asarray(direction, dtype=float)
    y = np.linalg.solve(information_matrix(weights, x, variances), c)
    return np.asarray(-((x @ y) ** 2) / np.asarray(variances, dtype=float))


def loss_hessian(
    weights: ArrayLike, features: ArrayLike, variances: ArrayLike, direction: ArrayLike
) -> Floats:
    r"""Return the second derivatives of the loss in the design.

    .. math:: 2\,g_a g_{a'}\,\tilde x(a)^\top A^{-1}\tilde x(a'),
              \qquad g_a = \tilde x(a)^\top A^{-1} c.

    The matrix is positive semidefinite and its rank is at most d. The formula is ours.
    """
    scaled = np.asarray(features, dtype=float) / np.sqrt(np.asarray(variances, float))[:, None]
    inverse = np.linalg.inv(information_matrix(weights, features, variances))
    slopes = scaled @ inverse @ np.asarray(direction, dtype=float)
    rows = slopes[:, None] * scaled
    return np.asarray(2 * rows @ inverse @ rows.T)


def flat_directions(
    weights: ArrayLike, features: ArrayLike, variances: ArrayLike, direction: ArrayLike
) -> Floats:
    r"""Return orthonormal directions along which the loss is constant, one in each row.

    They are all :math:`\delta` with :math:`\sum_a\delta_a = 0` and
    :math:`\sum_a\delta_a g_a\tilde x(a) = 0`, where :math:`g_a = \tilde x(a)^\top A^{-1}c`: d + 1
    equations, so there are at least A - d - 1 such directions. This statement is ours.
    """
    scaled = np.asarray(features, dtype=float) / np.sqrt(np.asarray(variances, float))[:, None]
    matrix = information_matrix(weights, features, variances)
    slopes = scaled @ np.linalg.solve(matrix, np.asarray(direction, dtype=float))
    equations = np.vstack([np.ones(len(scaled)), (slopes[:, None] * scaled).T])
    # Rows of one size, so the rank tolerance is the same for each equation.
    equations /= np.maximum(np.linalg.norm(equations, axis=1, keepdims=True), 1e-300)
    _, singular, right = np.linalg.svd(equations)
    rank = int((singular > 1e-10 * singular[0]).sum())
    return np.asarray(right[rank:])


def gradient_bound_printed(
    weights: ArrayLike,
    other: ArrayLike,
    features: ArrayLike,
    variances: ArrayLike,
    policy: ArrayLike,
) -> Floats:
    r"""Return the constant :math:`C_\kappa` of Proposition 3 for each action.

    .. math:: C_\kappa(a) = \frac{H_U^2}{\sigma^2(a)}\Bigl(\frac{\lambda_d(V)}{m(b)^2}
              + \frac{\lambda_1(V)}{m(b')^2}\Bigr), \qquad
              m(b) = \min_{a'}\frac{b(a')}{\sigma^2(a')}\;
              \lambda_{\min}\Bigl(\sum_{a'} w(a')w(a')^\top\Bigr)

    with :math:`V = cc^\top`, :math:`w = \pi x` (Appendix A.5, file appendix.tex). Since V has rank
    one, :math:`\lambda_d(V) = 0` for d at least 2.
    """
    x = np.asarray(features, dtype=float)
    c = np.asarray(policy, dtype=float) @ x
    smallest = float(c @ c) if x.shape[1] == 1 else 0.0
    first, second = _gradient_terms(weights, other, x, variances, policy)
    return np.asarray(smallest / float(c @ c) * first + second)


def gradient_bound_corrected(
    weights: ArrayLike,
    other: ArrayLike,
    features: ArrayLike,
    variances: ArrayLike,
    policy: ArrayLike,
) -> Floats:
    r"""Return the corrected bound: the larger of its two terms, each with :math:`\lambda_1(V)`.

    Both gradients are at most 0, so their difference is at most the larger modulus. Each modulus is
    at most :math:`\lambda_1(V) H_U^2 / (\sigma^2(a)\,m(b)^2)`. This bound is ours.
    """
    terms = _gradient_terms(weights, other, np.asarray(features, dtype=float), variances, policy)
    return np.maximum(*terms)


def _gradient_terms(
    weights: ArrayLike,
    other: ArrayLike,
    x: Floats,
    variances: ArrayLike,
    policy: ArrayLike,
) -> tuple[Floats, Floats]:
    """Both terms of the bound, with the largest eigenvalue of V in each."""
    v, pi = np.asarray(variances, dtype=float), np.asarray(policy, dtype=float)
    spread = np.linalg.eigvalsh((x.T * pi**2) @ x)[0]
    c = pi @ x
    scale = (c @ c) * (x**2).sum(axis=1).max() / v
    low = [np.min(np.asarray(b, dtype=float) / v) * spread for b in (weights, other)]
    return scale / low[0] ** 2, scale / low[1] ** 2


def one_hot_design_printed(policy: ArrayLike, variances: ArrayLike) -> Floats:
    r"""Return the design for one-hot actions as printed, :math:`b \propto \pi^2\sigma^2`.

    Section 3.2, connection to prior work (file oracle.tex).
    """
    share = np.asarray(policy, dtype=float) ** 2 * np.asarray(variances, dtype=float)
    return np.asarray(share / share.sum())


def one_hot_design(policy: ArrayLike, variances: ArrayLike) -> Floats:
    r"""Return the optimal design for one-hot actions, :math:`b^* \propto \pi\sigma`."""
    share = np.asarray(policy, dtype=float) * np.sqrt(np.asarray(variances, dtype=float))
    return np.asarray(share / share.sum())


def one_hot_loss(weights: ArrayLike, policy: ArrayLike, variances: ArrayLike) -> float:
    r"""Return the loss for one-hot actions, :math:`\sum_a \pi^2(a)\sigma^2(a)/b(a)`."""
    pi, v = np.asarray(policy, dtype=float), np.asarray(variances, dtype=float)
    b, used = np.asarray(weights, dtype=float), pi > 0
    return float((pi[used] ** 2 * v[used] / b[used]).sum())


def oracle_loss_below(Sigma: ArrayLike, direction: ArrayLike) -> float:
    r"""Return the lower bound :math:`c^\top\Sigma_* c \le nL^*` for positive definite Sigma.

    This bound is ours. It holds since :math:`\mathrm{Tr}(\Sigma_*A(b)) = 1` for every design b.
    There is equality if and only if c is a multiple of an action.
    """
    c = np.asarray(direction, dtype=float)
    return float(c @ np.asarray(Sigma, dtype=float) @ c)


def neighbours(features: ArrayLike, direction: ArrayLike) -> tuple[int, ...]:
    r"""Return the actions on both sides of the target direction in the plane (d = 2).

    Each action spans a line through the origin. The direction lies in the cone between two
    neighbouring lines. These two actions, or the one on whose line it lies, are the support of an
    optimal design for **every** positive definite :math:`\Sigma_*`. This statement is ours. Several
    actions on one line always tie; the first is returned.

    Parameters
    ----------
    features : array-like, shape (A, 2)
        Not zero.
    direction : array-like, shape (2,)

    Examples
    --------
    >>> neighbours([[1, 0], [0, 1], [1, 1]], [2, 1])
    (0, 2)
    """
    x, c = np.asarray(features, dtype=float), np.asarray(direction, dtype=float)
    # The angle of each line from the direction, counter-clockwise, from 0 to half a turn.
    cross, inner = c[0] * x[:, 1] - c[1] * x[:, 0], x @ c
    reach = 1e-12 * np.linalg.norm(x, axis=1) * np.linalg.norm(c)
    if (on := np.flatnonzero(np.abs(cross) <= reach)).size:
        return (int(on[0]),)
    turned = np.arctan2(np.abs(cross), np.sign(cross) * inner)
    return tuple(sorted({int(turned.argmin()), int(turned.argmax())}))
