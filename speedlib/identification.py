"""What exploration can find out: which variances the explored actions determine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from speedlib._labels import check_order
from speedlib._rows import unit_rows
from speedlib._tolerances import QUADRATIC_RANK_TOLERANCE, QUADRATIC_SPAN_TOLERANCE
from speedlib.checks import Flags, Floats, check_features, check_weights
from speedlib.estimators import column_scale
from speedlib.quadratic import quadratic_rows

__all__ = ["Identifiability", "identifiability", "quadratic_coordinates"]


@dataclass(frozen=True, eq=False)
class Identifiability:
    r"""Which parts of the noise matrix a design determines.

    Parameters
    ----------
    rank : int
        Dimension of the span of the :math:`\operatorname{svec}(x(a)x(a)^\top)` of the explored
        actions: how many linear functions of :math:`\Sigma_*` the data determine.
    unknowns : int
        Number of free entries of the symmetric noise matrix :math:`\Sigma_*`: d(d+1)/2.
    determined : array of bool, shape (A,)
        Whether the variance of each action is a function of the explored actions' variances.

    Examples
    --------
    >>> from speedlib import identifiability
    >>> identifiability([[1, 0], [0, 1], [1, 1]], [0.5, 0.5, 0])
    Identifiability(rank 2 of 3, the variances of 2 of 3 actions determined)
    """

    rank: int
    unknowns: int
    determined: Flags

    @property
    def complete(self) -> bool:
        """Whether the whole noise matrix is determined."""
        return self.rank == self.unknowns

    def __repr__(self) -> str:
        return (
            f"Identifiability(rank {self.rank} of {self.unknowns}, the variances of "
            f"{int(self.determined.sum())} of {self.determined.size} actions determined)"
        )


def identifiability(features: ArrayLike, weights: ArrayLike) -> Identifiability:
    r"""Find which variances an exploration determines.

    Enough rewards of an explored action determine its variance. Each variance :math:`\sigma^2(a) =
    \varphi(a)^\top \operatorname{svec}\Sigma_*` is linear in the noise matrix :math:`\Sigma_*`. So
    the variance of another action is determined if and only if its quadratic features
    :math:`\varphi(a)` lie in the span of the quadratic features of the explored actions.

    Parameters
    ----------
    features : array, shape (A, d)
    weights : array, shape (A,)
        A design or numbers of pulls: an action is explored if its entry is positive.

    Returns
    -------
    Identifiability

    Raises
    ------
    ValueError
        If an argument breaks its rule.

    Notes
    -----
    The result depends neither on the lengths of the actions nor on the basis of the features, for
    ratios of lengths and condition numbers up to about 1e8. The cost is O(A d^4).

    Examples
    --------
    >>> identifiability([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [0.5, 0.5, 0.0])
    Identifiability(rank 2 of 3, the variances of 2 of 3 actions determined)
    """
    check_order(features, {"weights": weights})
    x = check_features(features)
    b = check_weights(weights, len(x), batch=False)
    rows = unit_rows(coordinates(x))
    _, values, right = np.linalg.svd(rows[b > 0], full_matrices=False)
    basis = right[_counted(values)]
    missed = np.linalg.norm(rows - (rows @ basis.T) @ basis, axis=1)
    unknowns = x.shape[1] * (x.shape[1] + 1) // 2
    return Identifiability(len(basis), unknowns, missed <= QUADRATIC_SPAN_TOLERANCE)


def quadratic_coordinates(features: ArrayLike) -> Floats:
    """Return the quadratic features in coordinates of their span, shape (A, r).

    In these coordinates the second moment of the quadratic features, each scaled to unit length, is
    the identity. So regressions are as well conditioned as the set of actions allows. This holds in
    whatever basis the features are given, and however nearly collinear they are.
    """
    return coordinates(check_features(features))


def coordinates(features: Floats) -> Floats:
    """Return quadratic coordinates of checked features."""
    points = _whitened(features / column_scale(features))
    return _whitened(quadratic_rows(points))


def _whitened(rows: Floats) -> Floats:
    """Rows in coordinates in which their directions have no preferred axis, shape (A, r)."""
    left, values, _ = np.linalg.svd(unit_rows(rows), full_matrices=False)
    return np.asarray(left[:, _counted(values)] * np.linalg.norm(rows, axis=1, keepdims=True))


def _counted(values: Floats) -> Flags:
    """Return which singular values do not count as zero."""
    return np.asarray(values > QUADRATIC_RANK_TOLERANCE * values.max(initial=0.0))
