r"""The multiplicative algorithm: ten lines that any other solver can be checked against.

A criterion's sensitivity at point a is its directional derivative towards a. It is scaled so that
the mean sensitivity, weighted by the design itself, is one. At the optimum, no point has a
sensitivity above one. For D, a step multiplies each weight by the sensitivity of its point, and the
total stays one. For a linear criterion, a step multiplies each weight by the root of this
sensitivity, and then normalises. Every step improves the design.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from speedlib.checks import Floats, check_choice, check_count, check_features, check_psd

__all__ = ["multiplicative_design"]


def multiplicative_design(
    points: ArrayLike, criterion: str, *, matrix: ArrayLike | None = None, iterations: int = 1000
) -> Floats:
    r"""Approach the D-optimal or a linear-optimal design by multiplicative steps.

    .. math:: w_a \leftarrow w_a\, \frac{x_a^\top M^{-1} x_a}{d} \quad (D), \qquad
              w_a \propto w_a \sqrt{x_a^\top M^{-1} K M^{-1} x_a} \quad (\text{linear}),

    with :math:`M = \sum_a w_a x_a x_a^\top`.

    Parameters
    ----------
    points : array-like, shape (A, d)
        Points :math:`x_a` (features divided by standard deviations) that span the space.
    criterion : {"A", "D", "linear"}
        Criterion A is linear, with K the identity. The optimum for D is also the optimum for G, the
        largest variance.
    matrix : array-like, shape (d, d)
        For ``"linear"``: the positive semidefinite matrix K.
    iterations : int
        Number of steps, at least 1. Each step costs O(A d^2). The gap is about inversely
        proportional to the number of steps.

    Returns
    -------
    ndarray, shape (A,)
        Weights. They are positive at all points except the origin, since this algorithm never
        removes a point.

    Raises
    ------
    ValueError
        If an argument breaks its rule or the points do not span the space.

    References
    ----------
    S. Silvey, D. Titterington and B. Torsney, "An algorithm for optimal designs on a finite design
    space", Comm. Statist. A 7 (1978); Y. Yu, "Monotonic convergence of a general algorithm for
    computing optimal designs", Ann. Statist. 38 (2010).
    """
    check_choice("criterion", criterion, ("A", "D", "linear"))
    x = check_features(points, "points")
    d = x.shape[1]
    if np.linalg.matrix_rank(x) < d:
        raise ValueError(
            f"points: must span the {d} dimensions; the information matrix is singular"
        )
    if (criterion == "linear") != (matrix is not None):
        raise ValueError('matrix: needed by "linear", and by no other criterion')
    kernel = np.eye(d) if matrix is None else check_psd("matrix", matrix, d)
    if not kernel.any():
        raise ValueError("matrix: must not be zero; every design would be optimal")
    w = np.full(len(x), 1.0 / len(x))
    for _ in range(check_count("iterations", iterations, 1)):
        solved = np.linalg.solve((x * w[:, None]).T @ x, x.T)
        if criterion == "D":
            w = w * np.einsum("ad,da->a", x, solved) / d
        else:
            w = w * np.sqrt(np.maximum(np.einsum("da,da->a", solved, kernel @ solved), 0.0))
            w = w / w.sum()
    return np.asarray(w)
