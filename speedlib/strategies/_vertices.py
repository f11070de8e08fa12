"""The cheapest vertex for many rows of standard deviations, with its signed coefficients."""

from __future__ import annotations

import numpy as np

from speedlib.checks import Flags, Floats, Indices
from speedlib.solvers._circuits import occurring
from speedlib.solvers._frame import frame_of
from speedlib.solvers.batch import pe_designs

__all__ = ["Vertices", "coefficients_on"]

#: Numbers in the vertices that are kept for later phases: some megabytes.
KEPT = 1_000_000


class Vertices:
    r"""The vertices of :math:`\{w : \sum_a w_a x(a) = c\}`, over the actions that they use.

    Parameters
    ----------
    features : array, shape (A, d)
    direction : array, shape (d,)

    Attributes
    ----------
    actions : ndarray of int, shape (K,)
        The actions that occur in some vertex; none if the direction is 0.

    Raises
    ------
    ValueError
        If the direction is not in the span of the features, or of these actions.
    """

    def __init__(self, features: Floats, direction: Floats) -> None:
        self.actions: Indices = np.flatnonzero(occurring(features, direction))
        self._features = np.ascontiguousarray(features[self.actions])
        self._direction = direction
        self._known: dict[bytes, Floats] = {}
        self._only: Floats | None = None
        # Looked for at the start, since that is when a problem may be refused.
        size = self.actions.size
        if size and frame_of(self._features, direction).basis.size == size:
            self._only = coefficients_on(self._features, direction)

    def cheapest(self, sigma: Floats) -> Floats:
        r"""Return the vertices that minimise :math:`\sum_a |w_a| \sigma_a`, shape (R, K).

        A vertex is a function of its support. So the solver finds the support, and the coefficients
        are computed once for each support, in full precision. Linearly independent actions have one
        vertex, which is the cheapest whatever the deviations are.
        """
        if self._only is not None:
            return np.tile(self._only, (len(sigma), 1))
        designs = pe_designs(self._features, sigma**2, self._direction).weights
        packed = np.packbits(designs > 0, axis=1)
        _, first, which = np.unique(packed, axis=0, return_index=True, return_inverse=True)
        table = np.zeros((first.size, self.actions.size))
        for row, example in enumerate(first):
            table[row] = self._vertex(packed[example].tobytes(), designs[example] > 0)
        return np.asarray(table[which.ravel()])

    def _vertex(self, key: bytes, chosen: Flags) -> Floats:
        """Return the vertex on a support, shape (K,); most supports occur phase after phase."""
        found = self._known.get(key)
        if found is None:
            if len(self._known) * self.actions.size > KEPT:
                self._known.clear()
            found = np.zeros(self.actions.size)
            found[chosen] = coefficients_on(self._features[chosen], self._direction)
            self._known[key] = found
        return found


def coefficients_on(rows: Floats, direction: Floats) -> Floats:
    """Return the coefficients with which independent rows (k, d) combine the direction, (k,).

    Each feature is measured in units of its largest value, each row at unit length.
    """
    scale = np.abs(rows).max(axis=0)
    used = scale > 0
    points, target = rows[:, used] / scale[used], direction[used] / scale[used]
    lengths = np.linalg.norm(points, axis=1)
    columns = (points / lengths[:, None]).T
    found = np.linalg.lstsq(columns, target, rcond=None)[0]
    found += np.linalg.lstsq(columns, target - columns @ found, rcond=None)[0]
    return np.asarray(found / lengths)
