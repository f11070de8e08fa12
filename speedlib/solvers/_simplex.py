r"""The shortest combination of points: :math:`\min \|u\|_1` s.t. :math:`\sum_a u_a p_a = t`.

A primal simplex method for few points, the working set of :mod:`speedlib.solvers.elfving`. A
vertex is a basis of r points. Its coefficients u solve r equations, its dual vector y solves
:math:`p_a^\top y = \mathrm{sign}(u_a)` on the basis, and it is optimal when the price
:math:`|p_a^\top y|` of every point is at most one.

One thing differs from the textbook. A coefficient that reaches zero need not leave the basis: it
may change its sign, and the step goes on as long as the objective still falls (the long step of
Barrodale and Roberts, SIAM Journal on Numerical Analysis 10 (1973) 839-848).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from speedlib._tolerances import BASIC_PRICE_TOLERANCE, DOUBTFUL_PRICE, SOLUTION_ROUNDING
from speedlib.checks import Flags, Floats, Indices

__all__ = ["Optimum", "basic_coefficients", "negligible", "shortest_combination"]

#: Pivots after which the basis is factorised again.
REFACTORISATION = 40

#: Most pivots per point and dimension; far above what is ever needed.
MOST_PIVOTS = 50


class Optimum(NamedTuple):
    """The optimal basis.

    Attributes
    ----------
    basis : ndarray of int, shape (r,)
        Indices of the basic points.
    dual : ndarray, shape (r,)
        y, with all prices at most one up to rounding.
    pivots : int
        Number of pivots made.
    """

    basis: Indices
    dual: Floats
    pivots: int


def shortest_combination(points: Floats, target: Floats, basis: Indices) -> Optimum:
    """Minimise the sum of absolute coefficients, starting from a basis.

    Parameters
    ----------
    points : ndarray, shape (m, r)
        Points that span r dimensions.
    target : ndarray, shape (r,)
        The vector t to combine. Every step makes progress if t is in general position, that is,
        not a combination of fewer than r points.
    basis : ndarray of int, shape (r,)
        Indices of r linearly independent points.

    Returns
    -------
    Optimum
        Basis, dual vector and number of pivots, each of cost O(m r + r^2). If pivots run out, the
        last vertex is returned: the caller computes its own certificate.
    """
    current = _Basis(points, target, basis)
    fresh = True
    while current.pivots < MOST_PIVOTS * sum(points.shape):
        prices = points @ current.dual
        entering = int(np.abs(prices).argmax())
        excess = abs(prices[entering]) - 1
        if not fresh and (excess <= DOUBTFUL_PRICE or current.pivots % REFACTORISATION == 0):
            current.refactorise()
            fresh = True
        elif excess <= BASIC_PRICE_TOLERANCE + _price_rounding(points[entering], current.dual):
            break
        else:
            current.pivot(entering, float(prices[entering]))
            fresh = False
    return Optimum(current.members, current.dual, current.pivots)


def _price_rounding(point: Floats, dual: Floats) -> float:
    """Return the rounding error that the price of a point may carry."""
    return float(SOLUTION_ROUNDING * (np.abs(point) @ np.abs(dual)))


def basic_coefficients(rows: Floats, target: Floats) -> Floats:
    """Solve ``u @ rows = target`` for r independent rows; mere rounding errors become zero."""
    inverse = np.asarray(np.linalg.inv(rows))
    u = target @ inverse
    u += (target - u @ rows) @ inverse
    solid = ~negligible(u, rows, inverse)
    if not solid.all():
        length = np.linalg.norm(rows[solid], axis=1)
        unit = (rows[solid] / length[:, None]).T
        u = np.zeros(u.size)
        u[solid] = np.linalg.lstsq(unit, target, rcond=None)[0] / length
    return np.asarray(u)


def negligible(u: Floats, rows: Floats, inverse: Floats) -> Flags:
    """Return which coefficients (..., r) are no larger than rounding errors of a given size.

    These are errors in the solution of the equations, or in both the norm and the target.
    """
    size = np.abs(u)[..., None, :]
    error = size @ np.abs(rows) @ np.abs(inverse)
    of_norm = size / size.sum(axis=-1, keepdims=True)
    part = size * np.abs(rows).max(axis=-1)[..., None, :]
    of_target = part / part.sum(axis=-1, keepdims=True)
    lost_in_solution = size <= SOLUTION_ROUNDING * error
    lost_in_both = np.maximum(of_norm, of_target) <= SOLUTION_ROUNDING
    return np.asarray(lost_in_solution | lost_in_both)[..., 0, :]


class _Basis:
    """Indices of the basic points, the inverse of their rows, coefficients and signs, the dual."""

    def __init__(self, points: Floats, target: Floats, members: Indices) -> None:
        self.points, self.target, self.members = points, target, members.copy()
        self.pivots = 0
        self.refactorise()

    def refactorise(self) -> None:
        """Compute everything again from the basis, with one step of iterative refinement."""
        rows = self.points[self.members]
        self.inverse = np.linalg.inv(rows).T
        self.coefficients = self.inverse @ self.target
        self.coefficients += self.inverse @ (self.target - self.coefficients @ rows)
        self.signs = np.where(self.coefficients < 0, -1.0, 1.0)
        self.dual = self.signs @ self.inverse
        self.dual += (self.signs - rows @ self.dual) @ self.inverse

    def pivot(self, entering: int, price: float) -> None:
        """Bring in a point whose price exceeds one; the ratio test says which point leaves."""
        sign = 1.0 if price > 0 else -1.0
        change = sign * (self.inverse @ self.points[entering])
        step = self._ratio_test(change, abs(price))
        leaving = step.leaving
        self.coefficients -= step.length * change
        self.coefficients[leaving] = sign * step.length
        self.signs[step.passed] *= -1
        self.signs[leaving] = sign
        row = self.inverse[leaving] / change[leaving]
        self.inverse -= change[:, None] * row
        self.inverse[leaving] = sign * row
        self.members[leaving] = entering
        self.dual = self.signs @ self.inverse
        self.pivots += 1

    def _ratio_test(self, change: Floats, price: float) -> _Step:
        """Find how far to go along `change`.

        A step lowers the objective by ``price - 1`` at first, and by less after each coefficient
        that reaches zero; it ends where the objective would rise. There is always such a place: the
        slopes sum to the price, which exceeds one.
        """
        slopes = self.signs * change
        falling = np.flatnonzero(slopes > 0)
        slopes = slopes[falling]
        ratios = np.abs(self.coefficients[falling]) / slopes
        order = ratios.argsort()
        rise = 2 * slopes[order].cumsum() + (1 - price)
        last = int((rise >= 0).argmax())
        leaving = order[last]
        return _Step(falling[order[:last]], int(falling[leaving]), float(ratios[leaving]))


class _Step(NamedTuple):
    """Places in the basis whose coefficients change signs, the one that leaves, and the length."""

    passed: Indices
    leaving: int
    length: float
