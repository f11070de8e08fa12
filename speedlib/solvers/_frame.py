r"""Coordinates in which Elfving's program is solved: independent features, scaled, and a basis.

Features may span fewer than d dimensions and differ in size by many orders of magnitude. A frame
picks r independent features (the others are linear functions of them, for every action), measures
each in units of its largest value, and finds r actions that span.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr

from speedlib._tolerances import ACTIONS_RANK_TOLERANCE, SPAN_TOLERANCE
from speedlib.checks import Floats, Indices

__all__ = ["Frame"]

#: About how many actions are looked at first in the search for actions that span.
SAMPLE = 512


class Frame:
    """Coordinates for the simplex: independent features, scaled, and actions that span them."""

    def __init__(self, x: Floats, c: Floats) -> None:
        sample = x[:: max(1, x.shape[0] // SAMPLE)]
        scale = np.abs(sample).max(axis=0)
        empty = scale == 0
        if empty.any():
            scale[empty] = np.abs(x[:, empty]).max(axis=0)
        self.scale = np.ldexp(1.0, np.frexp(scale)[1])  # powers of two: scaling is exact
        self.actions = self._spanning_actions(x)
        self.kept = np.arange(x.shape[1])
        if self.actions.size < x.shape[1]:
            rows = _unit_rows(x[self.actions] / self.scale)
            _check_span(rows, c / self.scale)
            self.kept = np.sort(qr(rows, mode="r", pivoting=True)[1][: len(rows)])
        self.target = c[self.kept] / self.scale[self.kept]

    def _spanning_actions(self, x: Floats) -> Indices:
        """Find independent actions: among few first, then wherever they miss a dimension."""
        stride = max(1, x.shape[0] // SAMPLE)
        actions = np.arange(0, x.shape[0], stride)
        while True:
            rows = _unit_rows(x[actions] / self.scale)
            q, r, order = qr(rows.T, mode="full", pivoting=True)
            rank = int(np.count_nonzero(np.abs(np.diag(r)) > ACTIONS_RANK_TOLERANCE))
            actions = actions[order[:rank]]
            if rank == x.shape[1] or stride == 1:
                return np.asarray(actions)
            scaled = x / self.scale
            missed = np.abs(scaled @ q[:, rank:]).max(axis=1)
            length = np.sqrt(np.einsum("ad,ad->a", scaled, scaled))
            ratio = missed / np.where(length > 0, length, 1.0)
            if ratio.max() <= ACTIONS_RANK_TOLERANCE:
                return np.asarray(actions)
            actions = np.append(actions, ratio.argmax())

    def points(self, x: Floats, actions: Indices) -> Floats:
        """Return the features of the actions in these coordinates, shape (m, r)."""
        rows = x[actions] if self.kept.size == x.shape[1] else x[np.ix_(actions, self.kept)]
        return np.asarray(rows / self.scale[self.kept])

    def dual(self, y: Floats) -> Floats:
        """Return a dual vector of the simplex in the coordinates of the input."""
        full = np.zeros(self.scale.size)
        full[self.kept] = y / self.scale[self.kept]
        return full


def _check_span(rows: Floats, c: Floats) -> None:
    span = qr(rows.T, mode="economic")[0]
    distance = np.linalg.norm(c - span @ (span.T @ c)) / np.linalg.norm(c)
    if distance > SPAN_TOLERANCE:
        raise ValueError(
            "direction: not in the span of the features, so no design can estimate it; "
            f"its relative distance from the span is {distance:.3g}"
        )


def _unit_rows(rows: Floats) -> Floats:
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(length > 0, length, 1.0))
