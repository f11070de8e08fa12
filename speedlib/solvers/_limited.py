r"""Designs within limits for :math:`\mathrm{Tr}(A(b)^- CC^\top)`, by an interior-point method.

With costs :math:`\kappa`, count rounds n(a) per unit of money, :math:`\sum_a n(a)\kappa(a) = 1`.
The design is :math:`b = n/\sum n`, and

.. math:: \min_b \mathrm{Tr}\bigl(A(b)^- CC^\top\bigr) \sum_a b(a)\kappa(a)
          = \min_n \mathrm{Tr}\bigl(A(n)^- CC^\top\bigr), \qquad l \le b \le u,

a convex problem. For every matrix Y, with :math:`q(a) = |Y^\top x(a)|^2/\sigma^2(a)`,

.. math:: \mathrm{Tr}\bigl(A(b)^- CC^\top\bigr) \sum_a b(a)\kappa(a)
          \ge \frac{\mathrm{Tr}(C^\top Y)^2}{h(q)}, \qquad
          h(q) = \max_{l \le b \le u} \frac{\sum_a b(a) q(a)}{\sum_a b(a)\kappa(a)} :

:math:`\mathrm{Tr}(C^\top Y)^2 \le \mathrm{Tr}(C^\top A^- C)\,\mathrm{Tr}(Y^\top A Y)`
(Cauchy and Schwarz), and the last trace is :math:`\sum_a b(a) q(a)`. At the optimum
:math:`Y = A^{-1}C` attains it. Without limits, h is the largest :math:`q(a)/\kappa(a)`: Elfving's
certificate, and the ellipsoid of :mod:`speedlib.solvers.exchange`.

Write :math:`n = lQ + (1-L)\,p` with :math:`L = \sum_a l(a)` and :math:`Q = \sum n`. The least
shares are then a fixed part, and p and Q the unknowns, with :math:`0 \le p \le cQ`,
:math:`c = (u-l)/(1-L)`. Newton's system is a diagonal matrix plus one of rank d k, for k columns
of C. Actions whose diagonal is large are eliminated by it; the others, about that number,
are kept in a dense system, so nothing is lost by cancellation.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from speedlib._tolerances import LIMITED_GOAL, PE_EFFICIENCY, SNAPS
from speedlib.checks import SMALLEST, Floats, Indices
from speedlib.limits import Limits
from speedlib.solvers._ellipsoid import Kernel, certified_value, largest_error
from speedlib.solvers._span import whitening

__all__ = ["LimitedDesign", "solve"]

#: Newton steps at most, those at one weight at most, and weights without a better certificate after
#: which rounding has won.
STEPS, INNER, PATIENCE = 400, 25, 3

#: Growth of the weight; the decrement below which a full step is taken, and the last; share of the
#: way to a bound that a step may take.
SHARPER, NEAR, TO_BOUND = 10.0, 0.25, 0.98

#: Actions kept in the dense system, per unknown of low rank, and at least.
KEPT, KEPT_AT_LEAST = 3, 150


class LimitedDesign(NamedTuple):
    """A design within limits, its value, and the matrix Y with h(q) at most 1 that certifies it."""

    weights: Floats
    value: float
    efficiency_bound: float
    dual: Floats
    iterations: int


def solve(x: Floats, variances: Floats, kernel: Kernel, limits: Limits) -> LimitedDesign:
    """Find the best design for K = CC' within limits, for checked numbers.

    Raises
    ------
    ValueError
        If no design within the limits can estimate the target.
    """
    points = x / np.sqrt(variances)[:, None]
    allowed = np.flatnonzero(limits.allowed)
    frame = whitening(points[allowed], kernel.root, "features of the actions that the limits allow")
    problem = _Problem(points[allowed] @ frame, frame.T @ kernel.root, _part(limits, allowed))
    path = _Path(problem.normalised())
    steps = path.walk()
    factor = frame @ path.dual

    def judged(inner: Floats) -> LimitedDesign:
        weights = np.zeros(len(x))
        weights[allowed] = inner
        most = limits.largest(np.einsum("ak,ak->a", points @ factor, points @ factor)).value
        scaled = factor / (np.sqrt(most) + largest_error(points, factor))
        rate = weights / float(weights @ limits.costs)
        worth = certified_value(rate, points, kernel, scaled)
        return LimitedDesign(weights, worth.value, worth.efficiency_bound, scaled, steps)

    best = judged(problem.design(path.inner))
    if not problem.open:
        return best
    for snap in SNAPS:
        found = judged(problem.snapped(path.inner, snap))
        if found.efficiency_bound >= 1 - PE_EFFICIENCY:
            return found
        best = max(best, found, key=lambda each: each.efficiency_bound)
    return best


def _part(limits: Limits, allowed: Indices) -> Limits:
    return Limits(limits.least[allowed], limits.most[allowed], limits.costs[allowed])


@dataclass(frozen=True, eq=False)
class _Problem:
    """The problem in coordinates of the span.

    Attributes
    ----------
    points : ndarray, shape (A, r)
    target : ndarray, shape (r, k)
    limits : Limits
    caps : ndarray, shape (A,)
        The bounds c of p/Q.
    free : float
        The share 1 - L that the least shares leave.
    """

    points: Floats
    target: Floats
    limits: Limits
    caps: Floats = field(init=False)
    free: float = field(init=False)

    def __post_init__(self) -> None:
        free = max(0.0, 1.0 - float(self.limits.least.sum()))
        room = self.limits.most - self.limits.least
        object.__setattr__(self, "free", free)
        caps = np.minimum(room / free, 1.0) if free > 0 else np.zeros_like(room)
        object.__setattr__(self, "caps", caps)

    def normalised(self) -> _Problem:
        """Return the problem in units in which an even design costs 1 and has the value 1."""
        even = _Path(self)
        value = float(np.sum(even.dual * self.target))
        mean = float(self.design(even.inner) @ self.limits.costs)
        limits = Limits(self.limits.least, self.limits.most, self.limits.costs / mean)
        return _Problem(self.points, self.target / np.sqrt(value * mean), limits)

    @property
    def open(self) -> bool:
        """Whether there is anything to choose."""
        return self.free > PE_EFFICIENCY and self.caps.sum() > 1 + PE_EFFICIENCY

    def rates(self, inner: Floats) -> Floats:
        """Return n for p, shape (A,): the rounds per unit of money."""
        n = self.limits.least * inner.sum() + self.free * inner
        return np.asarray(n / float(n @ self.limits.costs))

    def design(self, inner: Floats) -> Floats:
        """Return the design b for p."""
        b = self.limits.least + self.free * inner / max(float(inner.sum()), SMALLEST)
        # Scaling to a sum of 1 may lift a share above its bound: then the others give way.
        return self.limits.nearest(b / b.sum())

    def snapped(self, inner: Floats, share: float) -> Floats:
        """Return the design with shares near a bound put on it."""
        p = inner / inner.sum()
        low = p <= share * np.minimum(self.caps, p.max())
        high = self.caps - p <= share * self.caps
        high &= self.caps < 1
        between = ~(low | high)
        fixed = np.where(high, self.caps, 0.0)
        rest = 1.0 - fixed.sum()
        some = np.where(between, p, 0.0)
        if some.sum() <= 0 or rest <= 0:
            return self.design(np.maximum(fixed, some))
        return self.design(fixed + some * (rest / some.sum()))


class _Path:
    """Newton's method towards the optimum through the interior.

    Attributes
    ----------
    inner : ndarray, shape (A,)
        The best p so far, over actions with room.
    dual : ndarray, shape (r, k)
        The Y of the best certificate so far.
    """

    def __init__(self, problem: _Problem) -> None:
        self.problem = problem
        limits, caps = problem.limits, problem.caps
        even = caps / caps.sum() if caps.sum() > 0 else np.full(caps.size, 1.0 / caps.size)
        self.inner = even if problem.free > 0 else np.zeros(caps.size)
        if problem.free <= 0:
            self.inner = limits.least  # the only design
        self.gap = np.inf
        self.dual = self._look(self.inner)[0]

    def _factor(self, rates: Floats) -> Floats:
        rows = np.sqrt(rates)[:, None] * self.problem.points
        return np.asarray(np.linalg.qr(rows, mode="r"))

    def _look(self, inner: Floats) -> tuple[Floats, Floats, float]:
        """Return Y, the values Y'x of all points, and the gap of p; keep it if it is the best."""
        problem = self.problem
        upper = self._factor(problem.rates(inner))
        half = np.linalg.solve(upper.T, problem.target)
        y = np.linalg.solve(upper, half)
        images = problem.points @ y
        value = float((half**2).sum())
        most = problem.limits.largest(np.einsum("ak,ak->a", images, images)).value
        # No design within the limits is better than its bound: a gap below 0 is rounding, too.
        gap = abs(most / value - 1.0)
        if gap < self.gap:
            self.gap, self.inner, self.dual = gap, inner, y
        return y, images, gap

    def walk(self) -> int:
        """Follow the path until the certificate closes or rounding ends it; return the steps."""
        if not self.problem.open:
            return 0
        barrier = _Barrier(self.problem)
        idle, taken = 0, 0
        while taken < STEPS and idle < PATIENCE and self.gap > LIMITED_GOAL:
            before = self.gap
            try:
                # Rounding may leave no room before a bound.
                with np.errstate(divide="raise", invalid="raise"):
                    taken += barrier.centre()
                self._look(barrier.share())
            except (np.linalg.LinAlgError, FloatingPointError):
                break
            idle = 0 if self.gap < before else idle + 1
            barrier.weight *= SHARPER
        return taken


class _Barrier:
    r"""The function :math:`t f(p) - \sum_a \log p_a - \sum_a \log(c_a Q - p_a)` and its minimiser.

    Its third derivatives are bounded by the second ones, since the changes of A(n) are by those
    of p relative to p (Nesterov and Nemirovskii, chapter 5, on compatible functions). So Newton's
    method, damped while far, takes a few steps from one weight t to the next.

    Attributes
    ----------
    weight : float
        The weight t.
    """

    def __init__(self, problem: _Problem) -> None:
        self.problem, self.weight = problem, 1.0
        self.room = np.flatnonzero(problem.caps > 0)
        self.caps = problem.caps[self.room]
        self.capped = self.caps < 1
        costs = problem.limits.costs
        self.price = problem.free * costs[self.room]
        self.fixed = float(problem.limits.least @ costs)
        even = self.caps / self.caps.sum()
        self.total = 1.0 / (self.fixed + float(self.price @ even))
        self.p = self.total * even

    def share(self) -> Floats:
        """Return p divided by Q, over all actions."""
        full = np.zeros(self.problem.caps.size)
        full[self.room] = self.p
        return np.asarray(full / full.sum())

    def centre(self) -> int:
        """Take Newton steps until the decrement is small; return their number."""
        for taken in range(1, INNER + 1):
            dp, d_total, decrement = self._newton()
            size = 1.0 if decrement < NEAR else 1.0 / (1.0 + decrement)
            if decrement >= NEAR:
                size = self._longer(dp, d_total, size)
            size = min(size, self._room(dp, d_total))
            self.p = self.p + size * dp
            self.total += size * d_total
            if decrement < NEAR:
                return taken
        return INNER

    def _room(self, dp: Floats, d_total: float) -> float:
        """Return the share of the way to the next bound that a step may take."""
        slack = self._slack(self.p, self.total)
        pace = np.concatenate([dp / self.p, (self.caps * d_total - dp)[self.capped] / slack])
        return float(TO_BOUND / max(-pace.min(), TO_BOUND / 2))

    def _longer(self, dp: Floats, d_total: float, size: float) -> float:
        """Double a damped step as long as the function falls."""
        room = self._room(dp, d_total)
        size = min(size, room)
        value = self._value(self.p + size * dp, self.total + size * d_total)
        while 2 * size <= room:
            further = self._value(self.p + 2 * size * dp, self.total + 2 * size * d_total)
            if not further < value:
                break
            size, value = 2 * size, further
        return size

    def _slack(self, p: Floats, total: float) -> Floats:
        return np.asarray((self.caps * total - p)[self.capped])

    def _value(self, p: Floats, total: float) -> float:
        slack = self._slack(p, total)
        if p.min() <= 0 or slack.min(initial=1.0) <= 0:
            return np.inf
        upper = self._upper(p, total)
        half = np.linalg.solve(upper.T, self.problem.target)
        return float(self.weight * (half**2).sum() - np.log(p).sum() - np.log(slack).sum())

    def _upper(self, p: Floats, total: float) -> Floats:
        rates = self.problem.limits.least * total
        rates[self.room] += self.problem.free * p
        return np.asarray(np.linalg.qr(np.sqrt(rates)[:, None] * self.problem.points, mode="r"))

    def _newton(self) -> tuple[Floats, float, float]:
        """Return Newton's step in p and Q, and its decrement."""
        problem, p, caps = self.problem, self.p, self.caps
        upper = self._upper(p, self.total)
        y = np.linalg.solve(upper, np.linalg.solve(upper.T, problem.target))
        images = problem.points @ y
        squares = np.einsum("ak,ak->a", images, images)
        free, least, t = problem.free, problem.limits.least, self.weight
        white = np.linalg.solve(upper.T, problem.points[self.room].T).T
        rows = (white[:, :, None] * images[self.room][:, None, :]).reshape(p.size, -1)
        rows *= np.sqrt(2.0 * t) * free
        base = np.linalg.solve(upper.T, (problem.points * least[:, None]).T @ images)
        base_row = np.sqrt(2.0 * t) * base.ravel()
        inverse = np.zeros(p.size)
        inverse[self.capped] = 1.0 / self._slack(p, self.total)
        down_p = t * free * squares[self.room] + 1.0 / p - inverse  # minus the gradient
        down_total = t * float(least @ squares) + float(caps @ inverse)
        # Unknowns besides dp: dQ, two multipliers, and w = F'dp + f dQ of the low-rank part.
        rank = rows.shape[1]
        border = np.column_stack([-(inverse**2) * caps, self.price, np.ones(p.size), rows])
        corner = np.zeros((3 + rank, 3 + rank))
        corner[0, 0] = float(caps**2 @ inverse**2)
        corner[0, 1], corner[0, 2] = self.fixed, -1.0
        corner[1:3, 0] = corner[0, 1:3]
        corner[0, 3:] = corner[3:, 0] = base_row
        corner[3:, 3:] = -np.eye(rank)
        missed = [1.0 - self.price @ p - self.fixed * self.total, self.total - p.sum()]
        right = np.concatenate([[down_total], missed, np.zeros(rank)])
        dp, others = _solved(1.0 / p**2 + inverse**2, border, corner, down_p, right)
        d_total = float(others[0])
        return dp, d_total, float(np.sqrt(max(0.0, down_p @ dp + down_total * d_total)))


def _solved(
    diagonal: Floats, border: Floats, corner: Floats, right: Floats, other: Floats
) -> tuple[Floats, Floats]:
    """Solve [[D, B], [B', C]] (v, w) = (right, other): large D are eliminated, small ones not."""
    count = max(KEPT_AT_LEAST, KEPT * len(corner))
    order = np.argsort(diagonal, kind="stable")
    kept, gone = order[:count], order[count:]
    over = border[gone] / diagonal[gone, None]
    small = corner - border[gone].T @ over
    system = np.block([[np.diag(diagonal[kept]), border[kept]], [border[kept].T, small]])
    rhs = np.concatenate([right[kept], other - over.T @ right[gone]])
    # Rows and columns in one unit: the diagonal spans twenty orders of magnitude.
    unit = 1.0 / np.sqrt(np.maximum(np.abs(system).max(axis=1), np.finfo(np.float64).tiny))
    found = unit * np.linalg.solve(unit[:, None] * system * unit, unit * rhs)
    v = np.empty(diagonal.size)
    v[kept], w = found[: kept.size], found[kept.size :]
    v[gone] = right[gone] / diagonal[gone] - over @ w
    return v, w
