"""Symmetric matrices as vectors: variances that are quadratic in x are linear in svec(xx')."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from speedlib.checks import Floats, Indices, frozen

__all__ = ["matrix_to_svec", "quadratic_features", "svec_to_matrix"]


def quadratic_features(features: Floats) -> Floats:
    r"""Return :math:`\varphi(a)=\operatorname{svec}(x(a)x(a)^\top)`, shape (..., d(d+1)/2).

    Off-diagonal products carry a factor :math:`\sqrt2`, so that
    :math:`\varphi(a)^\top\operatorname{svec}(S) = x(a)^\top S x(a)` and the Euclidean norm of
    svec(S) is the Frobenius norm of S.
    """
    layout = _layout(features.shape[-1])
    return np.asarray(features[..., layout.rows] * features[..., layout.columns] * layout.weights)


def svec_to_matrix(vector: Floats, d: int) -> Floats:
    """Return the symmetric matrices, shape (..., d, d), of vectors of shape (..., d(d+1)/2)."""
    layout = _layout(d)
    return np.asarray(np.take(vector * layout.inverse, layout.place, axis=-1))


def matrix_to_svec(S: Floats) -> Floats:
    """Return the vectors, shape (..., d(d+1)/2), of symmetric matrices: see `svec_to_matrix`."""
    layout = _layout(S.shape[-1])
    return np.asarray(S[..., layout.rows, layout.columns] * layout.weights)


class _Layout(NamedTuple):
    """Where the entries of a symmetric matrix stand in its vector, and their weights there."""

    rows: Indices
    columns: Indices
    weights: Floats
    inverse: Floats
    place: Indices


@cache
def _layout(d: int) -> _Layout:
    """Lay out the vectors; remembered, as a fit of small matrices asks for it in every step."""
    rows, columns = np.triu_indices(d)
    diagonal = rows == columns
    place = np.zeros((d, d), dtype=np.intp)
    place[rows, columns] = place[columns, rows] = np.arange(rows.size)
    weights = np.where(diagonal, 1.0, np.sqrt(2.0)), np.where(diagonal, 1.0, np.sqrt(0.5))
    return _Layout(*(frozen(part) for part in (rows, columns, *weights, place)))
