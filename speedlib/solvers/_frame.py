r"""Coordinates in which Elfving's program is solved: independent features, scaled, and a basis.

Features may span fewer than d dimensions and differ in size by many orders of magnitude. A frame
picks r independent features (the others are linear functions of them, for every action), measures
each in units of its largest value, and finds r actions that span.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr

from speedlib._rows import unit_rows
from speedlib._tolerances import ACTIONS_RANK_TOLERANCE, SPAN_TOLERANCE
from speedlib.checks import Floats, Indices

__all__ = ["Frame", "frame_of"]

#: About how many actions are looked at first in the search for actions that span.
SAMPLE = 512


@dataclass(frozen=True, eq=False)
class Frame:
    """Coordinates for the simplex, and a basis to start from.

    Attributes
    ----------
    scale : ndarray, shape (d,)
        The unit of each feature: a power of two, so that scaling is exact.
    kept : ndarray of int, shape (r,)
        The features that are independent.
    basis : ndarray of int, shape (r,)
        Actions that span what all actions span.
    target : ndarray, shape (r,)
        The direction in these coordinates.
    """

    scale: Floats
    kept: Indices
    basis: Indices
    target: Floats

    def points(self, x: Floats, actions: Indices) -> Floats:
        """Return the features of the actions in these coordinates, shape (m, r)."""
        rows = x[actions] if self.kept.size == x.shape[1] else x[np.ix_(actions, self.kept)]
        return np.asarray(rows / self.scale[self.kept])

    def dual(self, y: Floats) -> Floats:
        """Return a dual vector of the simplex in the coordinates of the input."""
        full = np.zeros(self.scale.size)
        full[self.kept] = y / self.scale[self.kept]
        return full


def frame_of(x: Floats, c: Floats) -> Frame:
    """Find coordinates for features (A, d) and a direction.

    Raises ValueError if the direction is not in the span of the features.
    """
    stride = max(1, x.shape[0] // SAMPLE)
    scale = _units(x, stride)
    basis = _spanning_actions(x, scale, stride)
    kept = np.arange(x.shape[1])
    if basis.size < x.shape[1]:
        rows = unit_rows(x[basis] / scale)
        _check_span(rows, c / scale)
        kept = np.sort(qr(rows, mode="r", pivoting=True)[1][: len(rows)])
    return Frame(scale, kept, basis, c[kept] / scale[kept])


def _units(x: Floats, stride: int) -> Floats:
    """Powers of two near the largest value of each feature in a sample, or among all actions."""
    scale = np.abs(x[::stride]).max(axis=0)
    empty = scale == 0
    if empty.any():
        scale[empty] = np.abs(x[:, empty]).max(axis=0)
    return np.asarray(np.ldexp(1.0, np.frexp(scale)[1]))


def _spanning_actions(x: Floats, scale: Floats, stride: int) -> Indices:
    """Find independent actions: first among few, then among all if a dimension is missing."""
    actions = np.arange(0, x.shape[0], stride)
    while True:
        rows = unit_rows(x[actions] / scale)
        q, r, order = qr(rows.T, mode="full", pivoting=True)
        rank = int(np.count_nonzero(np.abs(np.diag(r)) > ACTIONS_RANK_TOLERANCE))
        actions = actions[order[:rank]]
        if rank == x.shape[1] or stride == 1:
            return np.asarray(actions)
        scaled = x / scale
        missed = np.abs(scaled @ q[:, rank:]).max(axis=1)
        length = np.sqrt(np.einsum("ad,ad->a", scaled, scaled))
        ratio = missed / np.where(length > 0, length, 1.0)
        if ratio.max() <= ACTIONS_RANK_TOLERANCE:
            return np.asarray(actions)
        actions = np.append(actions, ratio.argmax())


def _check_span(rows: Floats, c: Floats) -> None:
    span = qr(rows.T, mode="economic")[0]
    distance = np.linalg.norm(c - span @ (span.T @ c)) / np.linalg.norm(c)
    if distance > SPAN_TOLERANCE:
        raise ValueError(
            "direction: not in the span of the features, so no design can estimate it; "
            f"its relative distance from the span is {distance:.3g}"
        )
