r"""Equivalence theorems, which show from a single design alone that no other design is better.

Each criterion gives every action a *sensitivity*. Its average over a design is the same for all
designs. The ratio of the largest sensitivity to that average is one if and only if the design is
optimal, and no other design is more efficient by a factor above this ratio.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize

from speedlib import information_matrix
from speedlib.checks import check_choice, check_direction, check_features, check_variances

CRITERIA = ("D", "A", "PE")


def sensitivities(
    criterion: str,
    weights: ArrayLike,
    features: ArrayLike,
    variances: ArrayLike,
    *,
    direction: ArrayLike | None = None,
) -> NDArray[np.float64]:
    r"""Return how much each action would help, in units of the average over the design.

    With :math:`\tilde x = x/\sigma`, the information matrix A of the design and
    :math:`y = A^{-1}c`:

    - ``"D"``: :math:`\tilde x^\top A^{-1}\tilde x / d`;
    - ``"A"``: :math:`\tilde x^\top A^{-2}\tilde x / \mathrm{Tr}\,A^{-1}`;
    - ``"PE"``: :math:`(\tilde x^\top y)^2 / c^\top y`.

    Parameters
    ----------
    criterion : {"D", "A", "PE"}
        Which criterion.
    weights : array-like, shape (A,)
        A design whose information matrix is invertible.
    features, variances : array-like, shapes (A, d) and (A,)
        The actions.
    direction : array-like, shape (d,), optional
        The direction c, for ``"PE"``.

    Returns
    -------
    ndarray, shape (A,)
        Non-negative; the average over the design is one.

    References
    ----------
    F. Pukelsheim, "Optimal Design of Experiments" (2006), Chapters 2 and 7.

    Examples
    --------
    >>> sensitivities("D", [0.5, 0.5], [[1.0, 0.0], [0.0, 1.0]], [4.0, 1.0])
    array([1., 1.])
    """
    check_choice("criterion", criterion, CRITERIA)
    x = check_features(features)
    points = x / np.sqrt(check_variances(variances, x.shape[0]))[:, None]
    inverse = np.linalg.inv(information_matrix(weights, features, variances))
    if criterion == "D":
        return np.asarray(np.einsum("ai,ij,aj->a", points, inverse, points) / x.shape[1])
    if criterion == "A":
        return np.asarray(((points @ inverse) ** 2).sum(axis=1) / np.trace(inverse))
    if direction is None:
        raise ValueError('direction: criterion "PE" needs it')
    c = check_direction(direction, x.shape[1])
    return np.asarray((points @ inverse @ c) ** 2 / (c @ inverse @ c))


def equivalence_ratio(
    criterion: str,
    weights: ArrayLike,
    features: ArrayLike,
    variances: ArrayLike,
    *,
    direction: ArrayLike | None = None,
) -> float:
    """Return the largest of the `sensitivities`: 1 for an optimal design, above 1 for any other.

    The efficiency of the design is at least the inverse of this number, which is infinite if the
    information matrix is singular.
    """
    try:
        found = sensitivities(criterion, weights, features, variances, direction=direction)
    except np.linalg.LinAlgError:
        return float("inf")
    return float(found.max())


def climb_determinant(
    features: ArrayLike, variances: ArrayLike, start: ArrayLike
) -> NDArray[np.float64]:
    r"""Find a design with the largest determinant, using only values of the determinant.

    Quasi-Newton steps in z, for the weights :math:`b(a) = z_a^2 / \sum z^2`; the slopes are
    differences of values. Neither the steps nor the stopping rule use sensitivities, so the
    conclusion of an equivalence theorem is not built into the result.

    Parameters
    ----------
    features, variances : array-like, shapes (A, d) and (A,)
        The actions, which span the space.
    start : array-like, shape (A,)
        The first z; an action at zero stays at zero.

    Returns
    -------
    ndarray, shape (A,)
        The weights of the design.

    Examples
    --------
    >>> climb_determinant([[1.0, 0.0], [0.0, 1.0]], [4.0, 1.0], [1.0, 2.0]).round(6)
    array([0.5, 0.5])
    """
    x = check_features(features)
    points = x / np.sqrt(check_variances(variances, x.shape[0]))[:, None]
    squares = np.einsum("ai,aj->aij", points, points)
    step = 1e-5 * np.eye(x.shape[0])

    def minus_log(z: NDArray[np.float64]) -> NDArray[np.float64]:
        weights = z**2 / (z**2).sum(axis=-1, keepdims=True)
        return np.asarray(-np.linalg.slogdet(np.tensordot(weights, squares, 1))[1])

    def value(z: NDArray[np.float64]) -> float:
        return float(minus_log(z))

    def slope(z: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray((minus_log(z + step) - minus_log(z - step)) / (2 * step.max()))

    first = np.asarray(start, dtype=float)
    z = minimize(value, first, jac=slope, method="BFGS", options={"gtol": 1e-8}).x
    return np.asarray(z**2 / (z @ z))


def tangent_ratio(
    solution: ArrayLike, direction: ArrayLike, features: ArrayLike, variances: ArrayLike
) -> float:
    r"""Largest :math:`(\tilde x(a)^\top y)^2 / c^\top y` for a given y with :math:`Ay = c`.

    The design is PE-optimal exactly if this number is at most one for some such y, also if A is
    singular and several y solve the equation. The solution y and the direction c have shape (d,).
    """
    x = check_features(features)
    y, c = check_direction(solution, x.shape[1]), check_direction(direction, x.shape[1])
    return float(((x @ y) ** 2 / check_variances(variances, x.shape[0])).max() / (c @ y))


def ellipse(matrix: ArrayLike, size: float = 1.0, points: int = 361) -> NDArray[np.float64]:
    r"""Return points of the ellipse :math:`\{z : z^\top A^{-1} z = \text{size}\}` in the plane.

    Each row is a point. The matrix A, shape (2, 2), is positive semidefinite.
    """
    eigenvalues, vectors = np.linalg.eigh(np.asarray(matrix, dtype=float))
    angle = np.linspace(0, 2 * np.pi, points)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    return np.asarray(circle * np.sqrt(size * np.maximum(eigenvalues, 0)) @ vectors.T)
