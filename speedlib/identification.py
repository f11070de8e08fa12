"""What exploration can know: which variances the explored actions determine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from speedlib.checks import Flags, Floats, check_features, check_finite
from speedlib.estimators import column_scale
from speedlib.quadratic import quadratic_features

#: Singular values of the quadratic design below this share of the largest count as zero.
RANK_TOLERANCE = 1e-9

#: A variance counts as determined if the relative part of its row outside the span is below this.
SPAN_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Identifiability:
    r"""What a design determines of the variance parameter.

    Parameters
    ----------
    rank : int
        Dimension of the span of the :math:`\operatorname{svec}(x(a)x(a)^\top)` of the explored
        actions: how many linear functions of :math:`\Sigma_*` the data determine.
    unknowns : int
        Entries of :math:`\Sigma_*`: d(d+1)/2.
    determined : array of bool, shape (A,)
        Whether the variance of each action is a function of the explored actions' variances.
    """

    rank: int
    unknowns: int
    determined: Flags

    @property
    def complete(self) -> bool:
        """Whether the whole variance parameter is determined."""
        return self.rank == self.unknowns

    def __repr__(self) -> str:
        return (
            f"Identifiability(rank {self.rank} of {self.unknowns}, the variances of "
            f"{int(self.determined.sum())} of {self.determined.size} actions determined)"
        )


def identifiability(features: ArrayLike, weights: ArrayLike) -> Identifiability:
    r"""Tell which variances an exploration determines.

    The variances of the explored actions are determined by enough rewards of each. Since
    :math:`\sigma^2(a) = \varphi(a)^\top \operatorname{svec}\Sigma_*` is linear, so are those of
    all actions whose :math:`\varphi(a)` lies in the span of theirs, and of no others.

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
    Neither the scale of an action nor the unit of a feature matters. Cost O(A d^4).

    Examples
    --------
    >>> identifiability([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [0.5, 0.5, 0.0])
    Identifiability(rank 2 of 3, the variances of 2 of 3 actions determined)
    """
    x = check_features(features)
    b = check_finite("weights", weights)
    if b.shape != (len(x),):
        raise ValueError(f"weights: expected shape ({len(x)},); got shape {b.shape}")
    if np.any(b < 0):
        raise ValueError(f"weights: must be at least 0; got {b.min():g}")
    rows = _unit_rows(x)
    basis = _basis(rows[b > 0])
    missed = np.linalg.norm(rows - (rows @ basis.T) @ basis, axis=1)
    unknowns = x.shape[1] * (x.shape[1] + 1) // 2
    return Identifiability(len(basis), unknowns, missed <= SPAN_TOLERANCE)


def quadratic_coordinates(features: Floats) -> Floats:
    """Return the quadratic features in a basis of their span, shape (A, r)."""
    phi = quadratic_features(features / column_scale(features))
    return np.asarray(phi @ _basis(_unit_rows(features)).T)


def _unit_rows(features: Floats) -> Floats:
    """Quadratic features of unit length; features in units of their size come first."""
    scaled = features / column_scale(features)
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    return quadratic_features(scaled / np.where(lengths > 0, lengths, 1.0))


def _basis(rows: Floats) -> Floats:
    """Orthonormal basis of the span of the rows, shape (r, columns)."""
    _, values, right = np.linalg.svd(rows, full_matrices=False)
    return np.asarray(right[values > RANK_TOLERANCE * values.max(initial=0.0)])
