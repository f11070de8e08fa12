r"""The certificate of a vertex of Elfving's program, computed from the given numbers.

Any y with :math:`|x(a)^\top y| \le \sigma(a)` for all actions proves :math:`\|u\|_1 \ge c^\top y`
(weak duality). The reported gap compares both sides; important sums are computed in twice the
precision. It also allows for the part of c that the coefficients may miss. It does not depend on
how the vertex was found.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from speedlib._tolerances import (
    DIRECTION_MARGIN,
    ENTRY_ROUNDING,
    INVERSE_CUT,
    PRICE_ROUNDING,
    PRICE_TOLERANCE,
)
from speedlib.checks import Floats, Indices
from speedlib.solvers._elfving_problem import Problem
from speedlib.solvers._elfving_search import Vertex
from speedlib.solvers._products import accurate_product

__all__ = ["Certificate", "certify"]

#: Prices this close to the highest are computed again in twice the precision, up to a limit.
CLOSE, MOST_CLOSE = 0.999, 4096

#: Most steps that scale a dual until no price exceeds one.
SCALINGS = 5

#: Steps that refine the coefficients of the vertex.
REFINEMENTS = 2


class Certificate(NamedTuple):
    """Both sides of the proof, the actions in rising order; see `ElfvingSolution` for each part."""

    support: Indices
    coefficients: Floats
    dual: Floats
    norm: float
    lower: float
    gap: float
    residual: float
    pricings: int


def certify(problem: Problem, vertex: Vertex) -> Certificate:
    """Compute norm, lower bound and gap of a vertex from the input."""
    order = np.argsort(vertex.basis)
    order = order[vertex.coefficients[order] != 0]
    actions, u = vertex.basis[order], vertex.coefficients[order]
    bound = _lower_bound(problem, _dual(problem, vertex.basis, vertex.signs))
    pricings, missed = 1, problem.missed(actions, u)
    c, scale = problem.direction, problem.frame.scale
    # Errors of the coefficients are refined away where they move the norm. Fewer than d actions may
    # also miss c where the dual does not see it, so theirs always are.
    if abs(missed @ bound.dual) > PRICE_ROUNDING * bound.value or u.size < c.size:
        u = _refined(problem, actions, u)
        missed = problem.missed(actions, u)
    norm = float(np.abs(u).sum())
    if bound.value < (1 - PRICE_TOLERANCE) * norm and u.size < vertex.basis.size:
        # Where actions without weight have tiny features, a price of one makes the dual so
        # long that rounding errors in the other prices count: price them at zero.
        idle = _dual(problem, vertex.basis, np.sign(vertex.coefficients))
        bound = max(bound, _lower_bound(problem, idle), key=lambda each: each.value)
        pricings += 1
    return Certificate(
        support=actions,
        coefficients=u,
        dual=bound.dual,
        norm=norm,
        lower=bound.value,
        gap=abs(1 - bound.value / norm) + _doubt(problem, actions, missed, bound.dual) / norm,
        residual=float(np.abs(missed / scale).max() / np.abs(c / scale).max()),
        pricings=pricings,
    )


class _Bound(NamedTuple):
    """A lower bound on the norm, and the dual that proves it."""

    dual: Floats
    value: float


def _lower_bound(problem: Problem, y: Floats) -> _Bound:
    """Scale a dual so that no price exceeds one."""
    prices = problem.prices(y)
    top = prices.max()
    close = np.flatnonzero(prices > CLOSE * top)
    if close.size > MOST_CLOSE:
        close = close[np.argpartition(prices[close], -MOST_CLOSE)[-MOST_CLOSE:]]
    rows, sigma = problem.features[close], problem.sigma[close]
    for _ in range(SCALINGS):
        y = y / top
        highest = float((np.abs(accurate_product(rows, y)) / sigma).max())
        if highest <= 1 + PRICE_ROUNDING:
            break
        top = 2 * highest - 1  # rounding y may raise a price by as much again
    return _Bound(y, float(accurate_product(problem.direction, y)) / highest)


def _dual(problem: Problem, basis: Indices, signs: Floats) -> Floats:
    """Solve ``rows @ y = signs``, each price lowered from one by the rounding error it may carry.

    Otherwise the division by the largest price would let the rounding error of one action weaken
    the bound for all. This error is large if features of widely different length share a basis.
    """
    rows = problem.points(basis)
    y = np.linalg.solve(rows, signs)
    error = PRICE_ROUNDING * (np.abs(rows) @ np.abs(y))
    y = y + np.linalg.solve(rows, signs * (1 - error) - rows @ y)
    return problem.frame.dual(np.asarray(y))


def _refined(problem: Problem, actions: Indices, u: Floats) -> Floats:
    """Refine coefficients until each has its own digits right."""
    inverse, frame = _inverse(problem.points(actions)), problem.frame
    for _ in range(REFINEMENTS):
        u = u + (problem.missed(actions, u) / frame.scale)[frame.kept] @ inverse
    return u


def _doubt(problem: Problem, actions: Indices, missed: Floats, y: Floats) -> float:
    """Return how much the part of c that the coefficients miss can change their norm, at most.

    Fewer than d actions miss what rounding made of c outside their span. The point of the span that
    c represents then depends on how distances are measured. Each entry of c is known only up to a
    rounding error, so this error is counted for each entry, with a margin.
    """
    if actions.size == y.size or not missed.any():
        return abs(float(missed @ y))
    scale = problem.frame.scale
    inverse = _inverse(problem.features[actions] / scale / problem.sigma[actions, None])
    rounding = ENTRY_ROUNDING * np.abs(problem.direction)
    unknown = np.maximum(np.abs(missed), rounding) / scale
    return DIRECTION_MARGIN * float((unknown @ np.abs(inverse)).sum())


def _inverse(points: Floats) -> Floats:
    """Pseudo-inverse of points that may differ much in length, shape (r, k)."""
    lengths = np.linalg.norm(points, axis=1)
    return np.asarray(np.linalg.pinv(points / lengths[:, None], rcond=INVERSE_CUT) / lengths)
