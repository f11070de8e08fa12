"""The search for the optimal vertex of Elfving's program: column generation on samples.

An optimal vertex needs few actions. So :mod:`speedlib.solvers._simplex` solves a small working set
exactly, one product X y computes the prices of all actions, and the actions with the highest prices
join the set. Coarse samples of the actions come first, so the prices of all actions are computed
only a few times. The vertex found here is certified by
:mod:`speedlib.solvers._elfving_certificate`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from speedlib._tolerances import PRICE_TOLERANCE, PUSHES, SIGN_TOLERANCE
from speedlib.checks import Floats, Indices
from speedlib.solvers._elfving_problem import Problem
from speedlib.solvers._simplex import basic_coefficients, shortest_combination

__all__ = ["Vertex", "optimal_vertex", "pushed"]

#: Size ratio of one sample of the actions to the next, and the size of the smallest.
COARSENING, SMALLEST_SAMPLE = 8, 512

#: Actions whose price is above this may soon exceed one.
NEARLY_ONE = 0.9

#: Most actions, and numbers in their points, in a working set: few enough to stay in the cache, and
#: for BLAS to leave the product to one thread, which is faster for a task of a microsecond.
WORKING_ACTIONS, WORKING_ENTRIES = 512, 8192

#: Most rounds of pricing over one sample; far above what is ever needed.
ROUNDS = 200


class Vertex(NamedTuple):
    """A vertex: its basis of actions, their coefficients, and the work of finding it.

    The dual gives each action of the basis a sign. It is the sign of the action's coefficient, if
    this is not zero.
    """

    basis: Indices
    coefficients: Floats
    signs: Floats
    pricings: int
    pivots: int


def optimal_vertex(problem: Problem) -> Vertex:
    """Find the optimal vertex of all actions, one sample of them after another.

    If c is a combination of fewer than r actions, for example of the few actions of a policy,
    vertices are degenerate and a simplex method may stall. So the search moves the target by tiny,
    unequal amounts. It keeps the vertex if this is also optimal for c, that is, if each coefficient
    other than zero has the sign that the dual gives it. Otherwise the next stage moves the target
    less.
    """
    target, basis, pricings, pivots = problem.frame.target, problem.frame.basis, 0, 0
    for stride, push in _stages(problem.n_actions):
        goal = pushed(problem.points(basis), target, push)
        found = _generate_columns(problem, goal, basis, stride)
        basis, pivots = found.basis, pivots + found.pivots
        if stride > 1:
            continue
        pricings += found.pricings
        rows = problem.points(basis)
        u, signs = basic_coefficients(rows, target), _signs(rows, goal)
        if u @ signs >= (1 - SIGN_TOLERANCE) * np.abs(u).sum():
            break
    return Vertex(basis, u, signs, pricings, pivots)


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


def pushed(rows: Floats, target: Floats, push: float) -> Floats:
    """Move the target such that every coefficient moves off zero, by unequal amounts.

    The sines of whole numbers have no linear relation with whole coefficients, so no vertex is
    degenerate for the new target, however regular the features are.
    """
    u = basic_coefficients(rows, target)
    unlike = 1.5 + np.sin(np.arange(1, u.size + 1))
    amounts = push * np.abs(u).max() * unlike * np.where(u < 0, -1.0, 1.0)
    return np.asarray(target + amounts @ rows)


class _Columns(NamedTuple):
    """What column generation found on one sample: a basis, and the work of finding it."""

    basis: Indices
    pricings: int
    pivots: int


def _generate_columns(problem: Problem, goal: Floats, basis: Indices, stride: int) -> _Columns:
    """Improve the basis until no action of the sample has a price above one."""
    rows = problem.points(basis)
    dual = np.asarray(np.linalg.solve(rows, _signs(rows, goal)))
    pricings, pivots, rank = 0, 0, basis.size
    count = max(8 * rank, min(WORKING_ACTIONS, WORKING_ENTRIES // rank - rank))
    while pricings < ROUNDS:
        pricings += 1
        entering = _most_expensive(problem.prices(problem.frame.dual(dual), stride), count)
        if entering.size == 0:
            break
        working = np.union1d(basis, stride * entering)
        start = np.searchsorted(working, basis)
        optimum = shortest_combination(problem.points(working), goal, start)
        basis, dual = working[optimum.basis], optimum.dual
        pivots += optimum.pivots
        if optimum.pivots == 0:  # What exceeds one is rounding error.
            break
    return _Columns(basis, pricings, pivots)


def _signs(rows: Floats, goal: Floats) -> Floats:
    """Signs of the coefficients that combine the goal."""
    return np.asarray(np.copysign(1.0, np.linalg.solve(rows.T, goal)))


def _most_expensive(prices: Floats, count: int) -> Indices:
    """Return about `count` actions of largest price, none if no price exceeds one."""
    if prices.max() <= 1 + PRICE_TOLERANCE:
        return np.zeros(0, dtype=np.intp)
    chosen = np.flatnonzero(prices > NEARLY_ONE)
    if chosen.size > count:
        chosen = chosen[np.argpartition(prices[chosen], -count)[-count:]]
    return chosen
