"""Symmetric matrices as vectors: variances that are quadratic in x are linear in svec(xx')."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from speedlib.checks import Floats


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


def matrix_to_svec(S: Floats) -> Floats:
    """Return the vectors, shape (..., d(d+1)/2), of symmetric matrices: see `svec_to_matrix`."""
    rows, columns = np.triu_indices(S.shape[-1])
    return np.asarray(S[..., rows, columns] * np.where(rows == columns, 1.0, np.sqrt(2.0)))
