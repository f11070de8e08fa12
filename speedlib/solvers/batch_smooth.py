r"""Many A- and D-optimal designs that share their features and differ in their variances.

A strategy that commits to an A- or D-optimal design needs one for every replication.
:mod:`speedlib.solvers._batch_newton` finds them side by side; this module reduces each design to
few actions and certifies it on its own. With :math:`M = \sum_a w_a x_a x_a^\top`, points
:math:`x_a` divided by their deviations, and the sensitivities

.. math::
   q_a = \tfrac1d\, x_a^\top M^{-1} x_a \;\;\text{(D)}, \qquad
   q_a = x_a^\top M^{-2} x_a / \mathrm{Tr}\, M^{-1} \;\;\text{(A)},

the efficiency is at least :math:`1/\max_a q_a`, which is one at the optimum. Problems that the
batch does not solve go to :func:`speedlib.solvers.exchange.exchange_design`, one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from speedlib._labels import check_order
from speedlib._tolerances import (
    BATCH_RANK_TOLERANCE,
    COORDINATE_TOLERANCE,
    IMAGE_ROUNDING,
    INFORMATION_FLOOR,
    SMOOTH_EFFICIENCY,
    WHITENED,
)
from speedlib.checks import Floats, check_choice, check_features, check_problems, check_share
from speedlib.solvers._batch_newton import Problems
from speedlib.solvers._naming import points_are_features
from speedlib.solvers.exchange import solve

__all__ = ["SmoothDesigns", "smooth_designs"]

#: Numbers in the largest array of the problems that are solved at once.
NUMBERS_AT_ONCE = 200_000

#: Beyond this size of a Newton step, a small working set for each problem is cheaper.
WORK = 1_000_000


@dataclass(frozen=True, eq=False)
class SmoothDesigns:
    """Designs of R problems.

    Attributes
    ----------
    weights : ndarray, shape (R, A)
        Non-negative; each row sums to one. As a rule at most d(d+1)/2 are positive.
    values : ndarray, shape (R,)
        Log-determinant of the information matrix for ``"D"``, trace of its inverse for ``"A"``.
    efficiency_bounds : ndarray, shape (R,)
        Certified lower bounds on the efficiencies.
    singles : int
        How many problems were solved one by one.
    """

    weights: Floats
    values: Floats
    efficiency_bounds: Floats
    singles: int


def smooth_designs(
    features: ArrayLike,
    variances: ArrayLike,
    criterion: str,
    *,
    tolerance: float = SMOOTH_EFFICIENCY,
) -> SmoothDesigns:
    r"""Find A- or D-optimal designs for many vectors of variances.

    Parameters
    ----------
    features : array-like, shape (A, d)
        One row x(a) per action, the same for all problems.
    variances : array-like, shape (R, A)
        Positive noise variances, one row per problem.
    criterion : {"A", "D"}
        ``"A"`` minimises :math:`\mathrm{Tr}\,A(b)^{-1}`, and ``"D"`` maximises :math:`\log\det
        A(b)`. G is not offered: with unit variances, as in the paper, one design serves all
        problems.
    tolerance : float
        How far the efficiency may fall short of 1.

    Returns
    -------
    SmoothDesigns
        Weights, values and certificates.

    Raises
    ------
    ValueError
        If an argument breaks its rule, or the features do not span the space.

    Notes
    -----
    Each problem takes about fifteen Newton steps of cost :math:`O(A d^4 + d^6)`. The part :math:`A
    d^4` of this cost runs at the speed of a product of large matrices. If the cost is too high (for
    instance for A = 1600 and d = 11), problems are solved one by one. If several designs are
    optimal (for D, only their information matrix is unique), the one returned does not depend on
    the other problems.

    Examples
    --------
    >>> designs = smooth_designs([[1.0, 0.0], [0.0, 1.0]], [[1.0, 1.0], [1.0, 4.0]], "A")
    >>> designs.weights.round(5)
    array([[0.5    , 0.5    ],
           [0.33333, 0.66667]])
    """
    check_order(features, {"variances": variances})
    x = check_features(features)
    v = check_problems(variances, x)
    check_choice("criterion", criterion, ("A", "D"))
    tolerance = check_share("tolerance", tolerance)
    weights, values, bounds = np.zeros(v.shape), np.zeros(len(v)), np.zeros(len(v))
    frame, products = _frame(x), comb(x.shape[1] + 1, 2)
    if frame is not None and max(len(x), products) * products**2 <= WORK:
        batch = _Batch(x, frame, criterion)
        size = max(1, NUMBERS_AT_ONCE // max(len(x), products**2))
        for first in range(0, len(v), size):
            block = slice(first, first + size)
            solved = batch.solve(v[block], tolerance)
            weights[block], values[block], bounds[block] = solved
    left = np.flatnonzero(~(bounds >= 1.0 - tolerance))
    for r in left:
        with points_are_features():
            single = solve(x / np.sqrt(v[r])[:, None], criterion, tolerance=tolerance)
        weights[r], values[r], bounds[r] = single.weights, single.value, single.efficiency_bound
    return SmoothDesigns(weights, values, bounds, left.size)


def _frame(x: Floats) -> Floats | None:
    """Coordinates in which the features are orthonormal columns; None if they do not span."""
    scale = np.abs(x).max(axis=0)
    if not scale.all():
        return None
    _, values, right = np.linalg.svd(x / scale, full_matrices=False)
    if values.size < x.shape[1] or values[-1] < BATCH_RANK_TOLERANCE * values[0]:
        return None
    return np.asarray((right / values[:, None]).T / scale[:, None])


class _Solved(NamedTuple):
    """Designs (R, A) of a block of problems, their values, and lower bounds on efficiencies."""

    weights: Floats
    values: Floats
    bounds: Floats


class _Worth(NamedTuple):
    """Values of designs, and lower bounds on their efficiencies."""

    values: Floats
    bounds: Floats


class _Batch:
    """Problems with the same features; a frame holds coordinates that suit them."""

    def __init__(self, features: Floats, frame: Floats, criterion: str) -> None:
        self.features, self.frame, self.criterion = features, frame, criterion
        self.problems = Problems(features @ frame, frame.T @ frame if criterion == "A" else None)

    def solve(self, v: Floats, tolerance: float) -> _Solved:
        """Solve a block; a bound of zero or nan where that failed."""
        unit = np.exp(np.log(v).mean(axis=1))
        with np.errstate(all="ignore"):
            precisions = unit[:, None] / v
            try:
                weights = self.problems.central_path(precisions, tolerance)
                solved = self._certified(weights, precisions, tolerance)
            except np.linalg.LinAlgError:  # All are solved on their own: rare enough.
                return _Solved(np.zeros_like(v), np.zeros(len(v)), np.zeros(len(v)))
            if self.criterion == "D":
                moved = solved.values - self.features.shape[1] * np.log(unit)
                return solved._replace(values=moved)
            return solved._replace(values=solved.values * unit)

    def _certified(self, weights: Floats, precisions: Floats, tolerance: float) -> _Solved:
        """Judge designs on few actions and, where that costs too much, on all of them."""
        slacks = 1.0 - self.problems.at(precisions, weights).sensitivity
        solid = np.where(weights > slacks, weights, 0.0)
        rows = self.features * np.sqrt(precisions)[..., None]
        final, values, bounds = np.zeros_like(weights), np.zeros(len(rows)), np.zeros(len(rows))
        for candidates, reduce in ((solid, True), (weights, True), (weights, False)):
            left = np.flatnonzero(~(bounds >= 1.0 - tolerance))
            chosen = candidates[left]
            if reduce:
                chosen = self._fewest(chosen * precisions[left]) / precisions[left]
            final[left] = chosen / chosen.sum(axis=1, keepdims=True)
            values[left], bounds[left] = self._judged(final[left], rows[left])
        return _Solved(final, values, bounds)

    def _fewest(self, u: Floats) -> Floats:
        """Find numbers u, at most d(d+1)/2 of them positive, with the same M (Caratheodory).

        One action after the other gives its share to the actions in the basis. It gives its whole
        share, or as much as makes the share of one of these vanish; it then takes the place of that
        action. At first, unit vectors without a share hold the places.
        """
        every, size = np.arange(len(u)), self.problems.pairs.shape[1]
        basis, shares = np.full((len(u), size), -1), np.zeros((len(u), size))
        inverse = np.tile(np.eye(size), (len(u), 1, 1))
        for action in np.flatnonzero(u.any(axis=0)):
            products = self.problems.pairs[action]
            change = inverse @ products
            at_units = np.where(basis < 0, np.abs(change), 0.0)
            unit_leaves = at_units.max(axis=1) > COORDINATE_TOLERANCE * np.abs(products).max()
            least = -COORDINATE_TOLERANCE * np.abs(change).max(axis=1, keepdims=True)
            steps = np.where((change < least) & (basis >= 0), -shares / change, np.inf)
            leaving = np.where(unit_leaves, at_units.argmax(axis=1), steps.argmin(axis=1))
            limit = np.where(unit_leaves, 0.0, steps[every, leaving])
            step = np.minimum(limit, u[:, action])
            shares += step[:, None] * change
            moving = np.flatnonzero(step < u[:, action])
            place = leaving[moving]
            row = inverse[moving, place] / change[moving, place][:, None]
            inverse[moving] -= change[moving][:, :, None] * row[:, None, :]
            inverse[moving, place], basis[moving, place] = row, action
            shares[moving, place] = (u[:, action] - step)[moving]
        fewest = np.zeros((len(u), u.shape[1] + 1))  # The last column is that of the units.
        fewest[every[:, None], basis] = np.maximum(shares, 0.0)
        return fewest[:, :-1]

    def _judged(self, weights: Floats, rows: Floats) -> _Worth:
        """Judge designs from coordinates G in which G'MG is the identity.

        The error in G'x is at most the sum of the errors of its terms, and bounds the error of a
        sensitivity.
        """
        factor = self.frame
        images = rows @ factor
        for _ in range(2):  # The second pass resolves what the first, on squares, could not.
            information = np.swapaxes(images, 1, 2) @ (weights[..., None] * images)
            eigenvalues, vectors = np.linalg.eigh(np.nan_to_num(information, posinf=0.0))
            stretch = np.sqrt(np.maximum(eigenvalues, INFORMATION_FLOOR * eigenvalues[:, -1:]))
            factor = factor @ (vectors / stretch[:, None, :])
            images = rows @ factor
        d = rows.shape[2]
        if self.criterion == "D":
            values = -2.0 * np.linalg.slogdet(factor)[1]
            largest = (images**2).sum(axis=2).max(axis=1) / d
        else:
            values = (factor**2).sum(axis=(1, 2))
            towards = images @ np.swapaxes(factor, 1, 2)
            largest = (towards**2).sum(axis=2).max(axis=1) / values
        terms = np.abs(rows) @ np.abs(factor)
        lost = IMAGE_ROUNDING * d * np.sqrt((terms**2).sum(axis=2).max(axis=1))
        bounds = np.where(eigenvalues[:, 0] > WHITENED, 1.0 / largest - lost, 0.0)
        return _Worth(values, np.clip(bounds, 0.0, 1.0))
