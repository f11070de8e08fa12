r"""PE-optimal (c-optimal) designs: Elfving's linear program by column generation.

With :math:`\tilde x(a) = x(a)/\sigma(a)`, the best design for estimating :math:`c^\top\theta`
solves

.. math:: \min \|u\|_1 \quad \text{s.t.} \quad \sum_a u_a \tilde x(a) = c,
          \qquad b^*(a) = |u_a| / \|u\|_1, \qquad c^\top A(b^*)^- c = \|u\|_1^2,

and any y with :math:`|\tilde x(a)^\top y| \le 1` for all actions proves :math:`\|u\|_1 \ge c^\top
y`. An optimal vertex needs few actions, so most are never looked at one by one: a small working
set is solved exactly by :mod:`speedlib.solvers._simplex`, one product X y finds the actions that
violate the dual constraint, the worst of them join. Coarse samples of the actions come first, so
that the whole set is priced only a few times.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from speedlib.checks import Floats, Indices, check_direction, check_features, check_variances
from speedlib.solvers._frame import Frame, pushed
from speedlib.solvers._products import accurate_product
from speedlib.solvers._simplex import basic_coefficients, shortest_combination

__all__ = ["ElfvingSolution", "elfving_design"]

#: A price above one by less than this is not worth another round.
PRICE_TOLERANCE = 1e-11

#: Size ratio of one sample of the actions to the next, and the size of the smallest.
COARSENING, SMALLEST_SAMPLE = 8, 512

#: Actions whose price is above this may soon exceed one.
NEARLY_ONE = 0.9

#: Most actions, and numbers in their points, in a working set: few enough to stay in the cache, and
#: for BLAS to leave the product to one thread, which is faster for a task of a microsecond.
WORKING_ACTIONS, WORKING_ENTRIES = 512, 8192

#: Rounding error allowed for in a price, relative to the sum of the absolute values of its terms.
PRICE_ROUNDING = float(np.finfo(float).eps)

#: Rounding error of an entry of the direction, relative to the entry.
DIRECTION_ROUNDING = float(np.finfo(float).eps) / 2

#: Prices this close to the highest are computed again in twice the precision, but only so many.
CLOSE, MOST_CLOSE = 0.999, 4096

#: Multiple of what coefficients may change by when a direction is moved into their span.
MARGIN = 10.0

#: Most steps that scale a dual until no price exceeds one.
SCALINGS = 5

#: Steps that refine the coefficients of the vertex.
REFINEMENTS = 2

#: Sizes of the pushes off degenerate vertices, relative to the coefficients, one after another.
PUSHES = (1e-7, 1e-9, 1e-11, 1e-13)

#: Share of the norm in coefficients of the wrong sign that does not matter.
SIGN_TOLERANCE = 1e-12

#: Most rounds of pricing over one sample; far above what is ever needed.
ROUNDS = 200


@dataclass(frozen=True, eq=False)
class ElfvingSolution:
    r"""Optimal vertex of Elfving's program with its certificate, recomputed from the input.

    Attributes
    ----------
    weights : ndarray, shape (A,)
        Optimal design.
    support : ndarray of int, shape (k,)
        Actions with positive weight, k <= d.
    coefficients : ndarray, shape (k,)
        u on the support: :math:`\sum_a u_a x(a)/\sigma(a) = c`.
    dual : ndarray, shape (d,)
        y with :math:`|x(a)^\top y| \le \sigma(a)` for every action.
    norm : float
        :math:`\|u\|_1`, the square root of the optimal value.
    lower : float
        :math:`c^\top y`, a lower bound on the norm for every design.
    gap : float
        Certified relative gap between the norm and its lower bound.
    residual : float
        Largest entry of :math:`|c - \sum_a u_a x(a)/\sigma(a)|` relative to the largest of c, each
        feature measured in units of its largest value.
    pricings : int
        Number of products X y with all actions, the one of the certificate included.
    iterations : int
        Number of simplex pivots.
    """

    weights: Floats
    support: Indices
    coefficients: Floats
    dual: Floats
    norm: float
    lower: float
    gap: float
    residual: float
    pricings: int
    iterations: int


def elfving_design(
    features: ArrayLike, variances: ArrayLike, direction: ArrayLike
) -> ElfvingSolution:
    """Solve Elfving's linear program exactly, for few or millions of actions.

    Parameters
    ----------
    features : array-like, shape (A, d)
        One row x(a) per action. The rows need not span all dimensions.
    variances : array-like, shape (A,)
        Positive noise variances. An action without noise is refused: no proportion is optimal for
        it, since a single pull reveals all it can.
    direction : array-like, shape (d,)
        The direction c.

    Returns
    -------
    ElfvingSolution
        Design, coefficients and dual certificate. For c = 0 every design has loss zero; the one
        returned pulls the action of least variance.

    Raises
    ------
    ValueError
        If the direction is not in the span of the features.

    Notes
    -----
    Typically four to six products X y with all actions, and memory for a few vectors of length A.
    """
    x = check_features(features)
    v = check_variances(variances, x.shape[0])
    return solve(x, np.sqrt(v), check_direction(direction, x.shape[1]))


def solve(x: Floats, sigma: Floats, c: Floats) -> ElfvingSolution:
    """Solve Elfving's program for checked numbers."""
    if not c.any():
        return _nothing_to_estimate(x, sigma)
    frame = Frame(x, c)
    return _certified(x, sigma, c, frame, optimal_vertex(x, sigma, frame))


class Vertex(NamedTuple):
    """A vertex: its basis of actions, coefficients and dual; the work it took."""

    basis: Indices
    coefficients: Floats
    dual: Floats
    pricings: int
    pivots: int


def optimal_vertex(x: Floats, sigma: Floats, frame: Frame) -> Vertex:
    """Find the optimal vertex of all actions, one sample of them after another.

    Where c is a combination of fewer than r actions, as it is when the policy has few, vertices
    are degenerate and a simplex method may stall. So it works on a target that is moved by tiny
    unlike amounts, and keeps the vertex if it is optimal for c too: if each coefficient that is not
    zero has the sign that the dual gives it. Otherwise the next stage moves the target less.
    """
    basis, pricings, pivots = frame.actions, 0, 0
    for stride, push in _stages(x.shape[0]):
        rows = frame.points(x, sigma, basis)
        goal = pushed(rows, frame.target, push)
        basis, rounds, steps = _generate_columns(x, sigma, frame, goal, basis, stride)
        pricings, pivots = pricings + rounds * (stride == 1), pivots + steps
        rows = frame.points(x, sigma, basis)
        u, signs = basic_coefficients(rows, frame.target), _signs(rows, goal)
        if stride == 1 and u @ signs >= (1 - SIGN_TOLERANCE) * np.abs(u).sum():
            break
    return Vertex(basis, u, frame.dual(_safe_dual(rows, signs)), pricings, pivots)


def _stages(n_actions: int) -> Iterator[tuple[int, float]]:
    """Strides of the samples from coarse to all actions, and pushes off degenerate vertices."""
    stride = 1
    while n_actions > SMALLEST_SAMPLE * COARSENING * stride:
        stride *= COARSENING
    while stride > 1:
        yield stride, PUSHES[0]
        stride //= COARSENING
    for push in PUSHES:
        yield 1, push


def _generate_columns(
    x: Floats, sigma: Floats, frame: Frame, goal: Floats, basis: Indices, stride: int
) -> tuple[Indices, int, int]:
    """Improve the basis until no action of the sample has a price above one."""
    sample, noise, rounds, pivots = x[::stride], sigma[::stride], 0, 0
    rows = frame.points(x, sigma, basis)
    y = np.asarray(np.linalg.solve(rows, _signs(rows, goal)))
    rank = basis.size
    count = max(8 * rank, min(WORKING_ACTIONS, WORKING_ENTRIES // rank - rank))
    while rounds < ROUNDS:
        rounds += 1
        promising = _most_expensive(_prices(sample, noise, frame.dual(y)), count)
        if promising.size == 0:
            break
        working = np.union1d(basis, stride * promising)
        points = frame.points(x, sigma, working)
        chosen, y, steps = shortest_combination(points, goal, np.searchsorted(working, basis))
        basis, pivots = working[chosen], pivots + steps
        if steps == 0:  # What exceeds one is rounding error.
            break
    return basis, rounds, pivots


def _safe_dual(rows: Floats, signs: Floats) -> Floats:
    """Solve ``rows @ y = signs``, each price lowered from one by the rounding error it may carry.

    Otherwise the division by the largest price would charge all actions for the rounding error
    of one, which is large where features of very different length share a basis.
    """
    y = np.linalg.solve(rows, signs)
    error = PRICE_ROUNDING * (np.abs(rows) @ np.abs(y))
    return np.asarray(y + np.linalg.solve(rows, signs * (1 - error) - rows @ y))


def _signs(rows: Floats, goal: Floats) -> Floats:
    return np.asarray(np.copysign(1.0, np.linalg.solve(rows.T, goal)))


def _prices(rows: Floats, sigma: Floats, y: Floats) -> Floats:
    """Return the absolute prices |x(a)'y| / sigma(a)."""
    prices = rows @ y
    np.abs(prices, out=prices)
    prices /= sigma
    return prices


def _most_expensive(prices: Floats, count: int) -> Indices:
    """Return about `count` actions of largest price, none if no price exceeds one."""
    if prices.max() <= 1 + PRICE_TOLERANCE:
        return np.zeros(0, dtype=np.intp)
    chosen = np.flatnonzero(prices > NEARLY_ONE)
    if chosen.size > count:
        chosen = chosen[np.argpartition(prices[chosen], -count)[-count:]]
    return chosen


def _certified(x: Floats, sigma: Floats, c: Floats, frame: Frame, found: Vertex) -> ElfvingSolution:
    """Recompute the certificate from the input alone."""
    order = np.argsort(found.basis)
    order = order[found.coefficients[order] != 0]
    actions, u = found.basis[order], found.coefficients[order]
    y, lower = _lower_bound(x, sigma, c, found.dual)
    missed = _missed(x, sigma, c, actions, u)
    if abs(missed @ y) > PRICE_ROUNDING * lower or u.size < c.size:
        u, missed = _refined(x, sigma, c, frame, actions, u)
    norm = float(np.abs(u).sum())
    if lower < (1 - PRICE_TOLERANCE) * norm and u.size < found.basis.size:
        y, lower = max(
            (y, lower),
            _lower_bound(x, sigma, c, _idle_dual(x, sigma, frame, found)),
            key=itemgetter(1),
        )
    weights = np.zeros(x.shape[0])
    weights[actions] = np.abs(u) / norm
    return ElfvingSolution(
        weights=weights,
        support=actions,
        coefficients=u,
        dual=y,
        norm=norm,
        lower=lower,
        gap=abs(1 - lower / norm) + _doubt(x, sigma, c, frame, actions, missed, y) / norm,
        residual=float(np.abs(missed / frame.scale).max() / np.abs(c / frame.scale).max()),
        pricings=found.pricings + 1,
        iterations=found.pivots,
    )


def _lower_bound(x: Floats, sigma: Floats, c: Floats, y: Floats) -> tuple[Floats, float]:
    """Scale a dual so that no price exceeds one, and return it with its bound on the norm."""
    prices = _prices(x, sigma, y)
    top = prices.max()
    close = np.flatnonzero(prices > CLOSE * top)
    if close.size > MOST_CLOSE:
        close = close[np.argpartition(prices[close], -MOST_CLOSE)[-MOST_CLOSE:]]
    rows, noise = x[close], sigma[close]
    for _ in range(SCALINGS):
        y = y / top
        highest = float((np.abs(accurate_product(rows, y)) / noise).max())
        if highest <= 1 + PRICE_ROUNDING:
            break
        top = 2 * highest - 1  # rounding y may raise a price by as much again
    return y, float(accurate_product(c, y)) / highest


def _idle_dual(x: Floats, sigma: Floats, frame: Frame, found: Vertex) -> Floats:
    """Return a dual that prices actions of the basis without weight at zero.

    Where such actions have very short features, a price of one makes the dual so long that
    rounding errors in the other prices count.
    """
    rows = frame.points(x, sigma, found.basis)
    return frame.dual(_safe_dual(rows, np.sign(found.coefficients)))


def _missed(x: Floats, sigma: Floats, c: Floats, actions: Indices, u: Floats) -> Floats:
    """Return what the coefficients miss of c."""
    return accurate_product(np.vstack([c, x[actions]]).T, np.append(1.0, -u / sigma[actions]))


def _refined(
    x: Floats, sigma: Floats, c: Floats, frame: Frame, actions: Indices, u: Floats
) -> tuple[Floats, Floats]:
    """Refine coefficients until each has its own digits right; return what they still miss."""
    inverse = _inverse(frame.points(x, sigma, actions))
    for _ in range(REFINEMENTS):
        missed = _missed(x, sigma, c, actions, u)
        u = u + (missed / frame.scale)[frame.kept] @ inverse
    return u, _missed(x, sigma, c, actions, u)


def _doubt(
    x: Floats,
    sigma: Floats,
    c: Floats,
    frame: Frame,
    actions: Indices,
    missed: Floats,
    y: Floats,
) -> float:
    """Return the most by which what the coefficients miss of c can change their norm.

    Fewer than d actions miss what rounding made of c outside their span. Then which point of the
    span c stands for depends on how distances are measured, and each entry of c is known to a
    rounding error only, be it missed or not: count that much for each, and leave a margin.
    """
    if actions.size == y.size or not missed.any():
        return abs(float(missed @ y))
    inverse = _inverse(x[actions] / frame.scale / sigma[actions, None])
    unknown = np.maximum(np.abs(missed), DIRECTION_ROUNDING * np.abs(c)) / frame.scale
    return MARGIN * float((unknown @ np.abs(inverse)).sum())


def _inverse(points: Floats) -> Floats:
    """Pseudo-inverse of points that may differ much in length, shape (r, k)."""
    lengths = np.linalg.norm(points, axis=1)
    return np.asarray(np.linalg.pinv(points / lengths[:, None]) / lengths)


def _nothing_to_estimate(x: Floats, sigma: Floats) -> ElfvingSolution:
    weights = np.zeros(x.shape[0])
    weights[sigma.argmin()] = 1.0
    none = np.zeros(0, dtype=np.intp)
    nowhere = np.zeros(x.shape[1])
    return ElfvingSolution(weights, none, np.zeros(0), nowhere, 0.0, 0.0, 0.0, 0.0, 0, 0)
