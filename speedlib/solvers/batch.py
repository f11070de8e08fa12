r"""Many PE problems at once that share features and direction and differ in their variances.

With :math:`w = u/\sigma`, Elfving's program reads :math:`\min \sum_a |w_a| \sigma(a)` subject to
:math:`\sum_a w_a x(a) = c`. The vertices of this program do not depend on the variances; only the
costs of the vertices do. So a vertex that is optimal for typical variances is a feasible start for
every problem, and it is optimal for many of them. The other problems move to their optimal vertices
side by side, one pivot of every problem at a time. The steps are those of
:mod:`speedlib.solvers._simplex`, with an additional first axis for the problems.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from speedlib._labels import check_order
from speedlib._tolerances import BATCH_GAP_TOLERANCE, PRICE_ROUNDING, PRICE_TOLERANCE, PUSHES
from speedlib.checks import (
    Flags,
    Floats,
    Indices,
    check_direction,
    check_features,
    check_number,
    check_problems,
)
from speedlib.solvers._elfving_problem import Problem
from speedlib.solvers._elfving_search import optimal_vertex, pushed
from speedlib.solvers._simplex import negligible
from speedlib.solvers.elfving import quietest, solve

__all__ = ["BatchDesigns", "pe_designs"]

#: Entries of the table of prices (problems times actions) that are held at once.
PRICES_AT_ONCE = 500_000

#: Most pivots per dimension; far above what is ever needed.
MOST_PIVOTS = 50


@dataclass(frozen=True, eq=False)
class BatchDesigns:
    r"""Optimal designs of R problems.

    Attributes
    ----------
    weights : ndarray, shape (R, A)
        Optimal designs.
    values : ndarray, shape (R,)
        Optimal values :math:`\|u\|_1^2`.
    gaps : ndarray, shape (R,)
        Certified relative gaps between :math:`\|u\|_1` and its lower bound :math:`c^\top y`.
    alone : int
        Number of problems that were solved again on their own.
    """

    weights: Floats
    values: Floats
    gaps: Floats
    alone: int


def pe_designs(
    features: ArrayLike, variances: ArrayLike, direction: ArrayLike, *, tolerance: float = 0.0
) -> BatchDesigns:
    """Solve R problems of policy evaluation that differ in their variances only.

    Parameters
    ----------
    features : array-like, shape (A, d)
        One row x(a) per action.
    variances : array-like, shape (R, A)
        Positive noise variances, one row per problem.
    direction : array-like, shape (d,)
        The direction c.
    tolerance : float
        How far the efficiency may fall short of 1, at least 0 and below 1, as for the paper's
        approximate oracle. Exchanges end when a dual solution proves that this tolerance is met.
        With 0, the designs are optimal.

    Returns
    -------
    BatchDesigns
        The optima that :func:`speedlib.solvers.elfving.elfving_design` finds one by one.

    Raises
    ------
    ValueError
        If the direction is not in the span of the features, or an argument breaks its rule.

    Notes
    -----
    Every exchange costs R (A d + d^2) operations for the R problems that are not solved yet. Each
    optimum is certified by a dual solution computed again; a problem that fails is handed to
    :func:`speedlib.solvers.elfving.elfving_design`. If a problem has several optimal designs, the
    returned design may depend on the other problems.

    Examples
    --------
    >>> designs = pe_designs([[1.0, 0.0], [0.0, 1.0]], [[1.0, 1.0], [1.0, 4.0]], [0.5, 0.5])
    >>> designs.weights.round(6)
    array([[0.5     , 0.5     ],
           [0.333333, 0.666667]])
    """
    check_order(features, {"variances": variances}, {"direction": direction})
    x = check_features(features)
    v = check_problems(variances, x)
    c = check_direction(direction, x.shape[1])
    # Zero is allowed, since a vertex can be optimal.
    tolerance = check_number("tolerance", tolerance, least=0, below=1)
    weights, gaps = np.zeros(v.shape), np.zeros(v.shape[0])
    if not c.any() or v.shape[0] == 0:
        weights[np.arange(v.shape[0]), quietest(x, v)] = 1.0
        return BatchDesigns(weights, np.zeros(v.shape[0]), gaps, 0)
    norms = np.zeros(v.shape[0])
    # An efficiency of 1 - t is a gap of about t / 2, since it compares squares.
    shared = _Shared(x, v, c, max(PRICE_TOLERANCE, tolerance / 2))
    size = max(1, PRICES_AT_ONCE // x.shape[0])
    for start in range(0, v.shape[0], size):
        block = slice(start, start + size)
        solved = shared.solve(np.sqrt(v[block]))
        weights[block], norms[block], gaps[block] = solved.weights, solved.norms, solved.gaps
    failed = np.flatnonzero(~(gaps <= max(BATCH_GAP_TOLERANCE, tolerance / 2)))
    for problem in failed:
        single = solve(x, np.sqrt(v[problem]), c)
        weights[problem], norms[problem], gaps[problem] = single.weights, single.norm, single.gap
    return BatchDesigns(weights, norms**2, gaps, failed.size)


class _Solved(NamedTuple):
    """Designs (R, A), norms, certified gaps and the duals (R, r) that prove them, of a block."""

    weights: Floats
    norms: Floats
    gaps: Floats
    duals: Floats


class _Walk(NamedTuple):
    """The state of the unsolved problems: for each a basis, its inverse and its coefficients."""

    basis: Indices
    inverse: Floats
    coefficients: Floats

    def of(self, chosen: Flags) -> _Walk:
        """Take the chosen problems only."""
        return _Walk(self.basis[chosen], self.inverse[chosen], self.coefficients[chosen])

    def pivot(self, entering: Indices, point: Floats, price: Floats, sigma: Floats) -> None:
        """Bring in one action of each problem, in place; the ratio test says which one leaves.

        There is always such an action, since the slopes times the costs sum to the price, which is
        positive.
        """
        basis, inverse, coefficients = self
        every = np.arange(entering.size)
        cost = np.take_along_axis(sigma, basis, axis=1)
        sign = np.copysign(1.0, price)
        change = sign[:, None] * _apply(inverse, point)
        slopes = change * np.copysign(1.0, coefficients)
        ratios = np.where(slopes > 0, np.abs(coefficients / change), np.inf)
        order = ratios.argsort(axis=1)
        rise = np.take_along_axis(np.maximum(slopes, 0.0) * cost, order, axis=1)
        rise = 2 * rise.cumsum(axis=1) + (sigma[every, entering] - np.abs(price))[:, None]
        leaving = order[every, (rise >= 0).argmax(axis=1)]
        step = ratios[every, leaving]
        coefficients -= step[:, None] * change
        coefficients[every, leaving] = sign * step
        row = inverse[every, leaving] / change[every, leaving][:, None]
        inverse -= change[:, :, None] * row[:, None, :]
        inverse[every, leaving] = sign[:, None] * row
        basis[every, leaving] = entering


class _Shared:
    """What the problems share: points, target, and a start that is optimal for typical noise."""

    def __init__(self, x: Floats, v: Floats, c: Floats, price_tolerance: float) -> None:
        self.price_tolerance = price_tolerance
        typical = Problem(x, np.exp(0.5 * np.log(v).mean(axis=0)), c)
        self.points = typical.frame.points(x, np.arange(x.shape[0]))
        self.target = typical.frame.target
        self.start = optimal_vertex(typical).basis
        self.goal = pushed(typical.points(self.start), self.target, PUSHES[0])

    def solve(self, sigma: Floats) -> _Solved:
        """Solve the problems with standard deviations (R, A)."""
        with np.errstate(all="ignore"):  # a problem that goes astray has a gap of nan
            return self._certified(sigma, *self._walk(sigma))

    def _walk(self, sigma: Floats) -> tuple[Indices, Floats]:
        """Pivot, all problems at once, until no price exceeds one; return bases and inverses.

        A problem that runs out of pivots keeps the start, whose gap is too large, and is solved
        alone.
        """
        n_problems, rank = sigma.shape[0], self.start.size
        final_basis = np.tile(self.start, (n_problems, 1))
        final_inverse = np.tile(np.linalg.inv(self.points[self.start].T), (n_problems, 1, 1))
        walkers = np.arange(n_problems)
        walk = _Walk(final_basis.copy(), final_inverse.copy(), final_inverse @ self.goal)
        for _ in range(MOST_PIVOTS * (rank + 1)):
            cost = np.take_along_axis(sigma[walkers], walk.basis, axis=1)
            dual = _times(np.copysign(cost, walk.coefficients), walk.inverse)
            prices = np.abs(dual @ self.points.T) / sigma[walkers]
            entering = prices.argmax(axis=1)
            going = prices[np.arange(walkers.size), entering] > 1 + self.price_tolerance
            stay, staying = walkers[~going], walk.of(~going)
            final_basis[stay], final_inverse[stay] = staying.basis, staying.inverse
            if not going.any():
                break
            walkers, walk, entering = walkers[going], walk.of(going), entering[going]
            point = self.points[entering]
            price = np.einsum("rk,rk->r", point, dual[going])
            walk.pivot(entering, point, price, sigma[walkers])
        return final_basis, final_inverse

    def _certified(self, sigma: Floats, basis: Indices, inverse: Floats) -> _Solved:
        """Compute coefficients and duals again from the bases, with certified gaps."""
        rows, cost = self.points[basis], np.take_along_axis(sigma, basis, axis=1)
        columns = rows.transpose(0, 2, 1)
        inverse = inverse + (np.eye(basis.shape[1]) - inverse @ columns) @ inverse
        coefficients = inverse @ self.target
        coefficients += _apply(inverse, self.target - _apply(columns, coefficients))
        back = inverse.transpose(0, 2, 1) * cost[:, None, :]
        coefficients[negligible(coefficients * cost, rows / cost[:, :, None], back)] = 0.0
        signs = np.copysign(cost, inverse @ self.goal)
        dual = _times(signs, inverse)
        dual += _times(signs - _apply(rows, dual), inverse)
        top = (np.abs(dual @ self.points.T) / sigma).max(axis=1)
        norms = (np.abs(coefficients) * cost).sum(axis=1)
        missed = np.abs(self.target - _apply(columns, coefficients)).max(axis=1)
        missed = missed / np.abs(self.target).max()
        gaps = np.maximum(np.abs(1 - (dual @ self.target) / top / norms), missed)
        # What rounding may have done to the prices and to both sides of the gap.
        terms = _apply(np.abs(rows), np.abs(dual))
        errors = np.abs(dual) @ np.abs(self.target) + (np.abs(coefficients) * terms).sum(axis=1)
        gaps += PRICE_ROUNDING * (errors / norms + (terms / cost).max(axis=1))
        weights = np.zeros(sigma.shape)
        np.put_along_axis(weights, basis, np.abs(coefficients) * cost / norms[:, None], axis=1)
        return _Solved(weights, norms, gaps, dual)


def _apply(matrices: Floats, vectors: Floats) -> Floats:
    """Return matrix times vector for each problem."""
    return np.asarray((matrices @ vectors[:, :, None])[:, :, 0])


def _times(vectors: Floats, matrices: Floats) -> Floats:
    """Return vector times matrix for each problem."""
    return np.asarray((vectors[:, None, :] @ matrices)[:, 0, :])
