"""Elfving's program as its solver sees it: checked numbers, and coordinates to work in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from speedlib.checks import Floats, Indices
from speedlib.solvers._frame import Frame, frame_of
from speedlib.solvers._products import accurate_product

__all__ = ["Problem"]


@dataclass(frozen=True, eq=False)
class Problem:
    r"""The program :math:`\min \|u\|_1` s.t. :math:`\sum_a u_a x(a)/\sigma(a) = c`.

    Parameters
    ----------
    features : ndarray, shape (A, d)
        One row x(a) per action.
    sigma : ndarray, shape (A,)
        Standard deviations, positive.
    direction : ndarray, shape (d,)
        The direction c, not zero.

    Notes
    -----
    The coordinates are found at their first use. This raises a ValueError if the direction is not
    in the span of the features.
    """

    features: Floats
    sigma: Floats
    direction: Floats

    @cached_property
    def frame(self) -> Frame:
        """Coordinates to work in."""
        return frame_of(self.features, self.direction)

    @property
    def n_actions(self) -> int:
        """Number of actions A."""
        return len(self.features)

    def points(self, actions: Indices) -> Floats:
        """Points x(a)/sigma(a) in the coordinates of the frame, shape (m, r)."""
        return np.asarray(self.frame.points(self.features, actions) / self.sigma[actions, None])

    def prices(self, dual: Floats, stride: int = 1) -> Floats:
        """Prices |x(a)'y|/sigma(a) of all actions, or of the actions that a stride selects."""
        prices = self.features[::stride] @ dual
        np.abs(prices, out=prices)
        prices /= self.sigma[::stride]
        return prices

    def missed(self, actions: Indices, u: Floats) -> Floats:
        """Return the part of c that coefficients u of some actions miss, in twice the precision."""
        rows = np.vstack([self.direction, self.features[actions]]).T
        return accurate_product(rows, np.append(1.0, -u / self.sigma[actions]))
