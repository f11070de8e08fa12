"""Which covariance matrix least squares settles on where exploration leaves a choice, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

Vector = Sequence[int | Fraction]
Matrix = list[list[Fraction]]


def variance(action: Vector, covariance: Matrix) -> Fraction:
    r"""Return :math:`x^\top S x`, exactly."""
    d = range(len(action))
    return sum((action[i] * covariance[i][j] * action[j] for i in d for j in d), Fraction(0))


def least_norm_covariance(actions: Sequence[Vector], variances: Vector) -> Matrix:
    r"""Return the symmetric matrix of least Frobenius norm with given variances, exactly.

    With enough data the printed estimate (equation 6) gives every explored action its true
    variance. Where these leave the matrix open, its least-norm minimiser is
    :math:`S = \sum_m y_m x_mx_m^\top` with :math:`\sum_m (x_k^\top x_m)^2 y_m = \sigma^2_k`.

    Parameters
    ----------
    actions : sequence of vectors of int or Fraction, length k
        Explored actions whose :math:`x_mx_m^\top` are linearly independent.
    variances : sequence of int or Fraction, length k
        What exploration finds for them.

    Returns
    -------
    list of lists of Fraction, shape (d, d)

    Raises
    ------
    ValueError
        If the matrices :math:`x_mx_m^\top` are linearly dependent.

    Examples
    --------
    >>> S = least_norm_covariance([(1, 0), (0, 1)], [1, 1])
    >>> str(variance((1, 1), S))
    '2'
    """
    gram = [[Fraction(_product(p, q)) ** 2 for q in actions] for p in actions]
    y = _solve(gram, [Fraction(value) for value in variances])
    d = range(len(actions[0]))
    terms = list(zip(y, actions, strict=True))
    return [[sum((w * x[i] * x[j] for w, x in terms), Fraction(0)) for j in d] for i in d]


def _product(p: Vector, q: Vector) -> Fraction:
    return sum((Fraction(a) * b for a, b in zip(p, q, strict=True)), Fraction(0))


def _solve(matrix: Matrix, right: list[Fraction]) -> list[Fraction]:
    """Solve a linear system by elimination."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for i in range(len(rows)):
        pivot = next((k for k in range(i, len(rows)) if rows[k][i]), None)
        if pivot is None:
            raise ValueError("actions: their matrices x x' must be linearly independent")
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for k in range(len(rows)):
            if k != i and rows[k][i]:
                factor = rows[k][i]
                rows[k] = [p - factor * q for p, q in zip(rows[k], rows[i], strict=True)]
    return [row[-1] for row in rows]
