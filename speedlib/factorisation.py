"""Low-rank factorisation of a matrix of which only some entries are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from speedlib._arrays import real_array, shown
from speedlib._tolerances import FACTORS_CHANGE
from speedlib.checks import (
    LARGEST,
    Counts,
    Floats,
    check_count,
    check_number,
    check_rng,
    check_sizes,
    check_vector,
)

if TYPE_CHECKING:
    from scipy import sparse

__all__ = ["Factors", "factorise"]


@dataclass(frozen=True, eq=False)
class Factors:
    r"""Factors of a partly known matrix, :math:`v_{rc} \approx \langle u_r, w_c \rangle`.

    Parameters
    ----------
    left : array, shape (R, k)
        A row for each row of the matrix; zeros if no entry of that row is known.
    right : array, shape (C, k)
        A row for each column of the matrix; zeros if no entry of that column is known. Factors are
        determined only up to a rotation. Here the columns of `right` are orthogonal, the longest
        comes first, and the largest entry of each is positive.
    residuals : array, shape (N,)
        Known entries minus the product of the factors.
    objective : float
        The value of the objective that `factorise` minimises.
    iterations : int
        Number of rounds of the alternation.
    """

    left: Floats
    right: Floats
    residuals: Floats
    objective: float
    iterations: int


def factorise(
    rows: ArrayLike,
    columns: ArrayLike,
    values: ArrayLike,
    rank: int,
    *,
    ridge: float = 0.1,
    tolerance: float = FACTORS_CHANGE,
    max_iterations: int = 500,
    rng: np.random.Generator | int = 0,
) -> Factors:
    r"""Factorise a matrix of which N entries are known, by alternating ridge regressions.

    .. math:: \min_{U, W} \sum_{(r, c)\ \text{known}} \bigl[(v_{rc} - u_r^\top w_c)^2
              + \lambda\,(\|u_r\|^2 + \|w_c\|^2)\bigr]

    Parameters
    ----------
    rows, columns : array of int, shape (N,)
        Positions of the known entries, counted from 0; no position twice.
    values : array, shape (N,)
        The known entries.
    rank : int
        Number of factors k.
    ridge : float
        The penalty :math:`\lambda`, positive, in the unit of `values`. Without it, a row with fewer
        known entries than factors would have arbitrary factors.
    tolerance : float
        The alternation ends when a round lowers the objective by less than this share.
    max_iterations : int
    rng : numpy.random.Generator or int
        Source of the initial factors.

    Returns
    -------
    Factors

    Raises
    ------
    ValueError
        If the arrays differ in length or do not name positions, a position is named twice, or the
        penalty is not positive.

    Notes
    -----
    A round solves R regressions for the rows and then C for the columns, each with k unknowns, and
    costs :math:`O(Nk^2 + (R + C)k^3)`. The penalty of a row grows with the number of its known
    entries, as Zhou, Wilkinson, Schreiber and Pan (2008, AAIM, LNCS 5034) proposed for ratings of
    movies. The problem is not convex, and the result may depend on the initial factors. When the
    whole matrix is known, the product of the best factors is its singular value decomposition, cut
    at rank k, with singular values lowered by :math:`\lambda\sqrt{RC}`.
    """
    from scipy import sparse

    rank = check_count("rank", rank, 1)
    values = check_sizes("values", check_vector("values", values))
    at_rows = _places("rows", rows, values.size)
    at_columns = _places("columns", columns, values.size)
    ridge = check_number("ridge", ridge, above=0, most=LARGEST)
    tolerance = check_number("tolerance", tolerance, least=0)
    known = sparse.csr_array((np.ones(values.size), (at_rows, at_columns)))
    if known.nnz < values.size:
        raise ValueError("rows, columns: must name each position at most once; got one twice")
    matrix = sparse.csr_array((values, (at_rows, at_columns)))
    right = check_rng(rng).standard_normal((known.shape[1], rank)) / np.sqrt(rank)
    known_across, matrix_across = known.T.tocsr(), matrix.T.tocsr()
    objective, iterations = np.inf, 0
    for _ in range(check_count("max_iterations", max_iterations, 1)):
        iterations += 1
        left = _regressions(known, matrix, right, ridge)
        right = _regressions(known_across, matrix_across, left, ridge)
        pairs = left[at_rows], right[at_columns]
        residuals = values - np.einsum("nk,nk->n", *pairs)
        penalty = sum(float(np.einsum("nk,nk->", part, part)) for part in pairs)
        old, objective = objective, float(residuals @ residuals) + ridge * penalty
        if old - objective <= tolerance * objective:
            break
    turn = _main_axes(right)
    return Factors(left @ turn, right @ turn, residuals, objective, iterations)


def _places(name: str, at: ArrayLike, size: int) -> Counts:
    found = real_array(name, at)
    if found.shape != (size,) or found.dtype.kind not in "iu" or np.any(found < 0):
        raise ValueError(
            f"{name}: must hold {size} whole numbers from 0, one for each value; "
            f"got shape {found.shape} and dtype {found.dtype}: {shown(at)}"
        )
    return np.asarray(found, dtype=np.int64)


def _regressions(
    known: sparse.csr_array, matrix: sparse.csr_array, other: Floats, ridge: float
) -> Floats:
    """Regress each row of the matrix on the factors of the columns that are known in it."""
    rank = other.shape[1]
    first, second = np.triu_indices(rank)
    grams = np.empty((known.shape[0], rank, rank))
    grams[:, first, second] = known @ (other[:, first] * other[:, second])
    grams[:, second, first] = grams[:, first, second]
    # A row of which nothing is known gets zeros, whatever the penalty.
    entries = np.maximum(np.diff(known.indptr), 1)
    grams += ridge * entries[:, None, None] * np.eye(rank)
    return np.asarray(np.linalg.solve(grams, np.asarray(matrix @ other)[..., None])[..., 0])


def _main_axes(right: Floats) -> Floats:
    """Return the rotation to the main axes, the largest entry along each of which is positive."""
    _, turn = np.linalg.eigh(right.T @ right)
    turn = turn[:, ::-1]
    along = right @ turn
    largest = along[np.abs(along).argmax(axis=0), np.arange(along.shape[1])]
    return np.asarray(turn * np.where(largest < 0, -1.0, 1.0))
