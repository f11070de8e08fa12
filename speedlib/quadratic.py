"""Symmetric matrices as vectors: a variance that is quadratic in x is linear in svec(xx')."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from speedlib.checks import LARGEST, Floats, Indices, check_count, check_finite, frozen

__all__ = ["matrix_to_svec", "quadratic_features", "svec_to_matrix"]


def quadratic_features(features: ArrayLike) -> Floats:
    r"""Return :math:`\varphi(a)=\operatorname{svec}(x(a)x(a)^\top)`, shape (..., d(d+1)/2).

    Off-diagonal products carry a factor :math:`\sqrt2`, so that
    :math:`\varphi(a)^\top\operatorname{svec}(S) = x(a)^\top S x(a)` and the Euclidean norm of
    svec(S) is the Frobenius norm of S. The features have the shape (..., d).
    """
    x = check_finite("features", features)
    if x.ndim == 0:
        raise ValueError("features: expected shape (..., d); got one number")
    size = np.abs(x).max(initial=0.0)
    if not size <= LARGEST:
        raise ValueError(f"features: must be at most {LARGEST:g} in size; got {size:g}")
    return quadratic_rows(x)


def quadratic_rows(features: Floats) -> Floats:
    """Return quadratic features of checked numbers."""
    layout = _layout(features.shape[-1])
    return np.asarray(features[..., layout.rows] * features[..., layout.columns] * layout.weights)


def svec_to_matrix(vector: ArrayLike, d: int) -> Floats:
    """Return the symmetric matrices, shape (..., d, d), of vectors of shape (..., d(d+1)/2)."""
    s, d = check_finite("vector", vector), check_count("d", d, 1)
    if s.shape[-1:] != (d * (d + 1) // 2,):
        raise ValueError(
            f"vector: expected shape (..., {d * (d + 1) // 2}) for d = {d}; got shape {s.shape}"
        )
    return matrix_of(s, d)


def matrix_of(vector: Floats, d: int) -> Floats:
    """Return the symmetric matrices of checked vectors."""
    layout = _layout(d)
    return np.asarray(np.take(vector * layout.inverse, layout.place, axis=-1))


def matrix_to_svec(S: ArrayLike) -> Floats:
    """Return the vectors, shape (..., d(d+1)/2), of symmetric matrices: see `svec_to_matrix`."""
    matrix = check_finite("S", S)
    if matrix.ndim < 2 or matrix.shape[-1] != matrix.shape[-2]:
        raise ValueError(f"S: expected shape (..., d, d); got shape {matrix.shape}")
    return svec_of(matrix)


def svec_of(S: Floats) -> Floats:
    """Return the vectors of checked matrices."""
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
    """Lay out the vectors; cached, since a fit of small matrices needs it in every step."""
    rows, columns = np.triu_indices(d)
    diagonal = rows == columns
    place = np.zeros((d, d), dtype=np.intp)
    place[rows, columns] = place[columns, rows] = np.arange(rows.size)
    weights = np.where(diagonal, 1.0, np.sqrt(2.0)), np.where(diagonal, 1.0, np.sqrt(0.5))
    return _Layout(*(frozen(part) for part in (rows, columns, *weights, place)))
