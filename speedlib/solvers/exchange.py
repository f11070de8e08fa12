r"""A-, D-, G- and linear-optimal designs on any number of points.

The equivalence theorem says which points matter: a design is optimal if no point has a
sensitivity above one, and the support lies where it equals one. The solver therefore keeps a
small working set, improves its weights by Newton's method (:mod:`speedlib.solvers._interior`),
computes the sensitivity of *all* points with one product, and exchanges: the points with the
largest sensitivities enter, and points without weight leave. Each round ends with a certificate for
the whole problem.

The certificate is an ellipsoid :math:`\{x : |G^\top x| \le 1\}` that holds every point. For each
design w, with :math:`M = \sum_a w_a x_a x_a^\top` and :math:`K = BB^\top`,

.. math::
   \mathrm{Tr}(M^- K) \ge \|B^\top G\|_*^2, \qquad
   \log\det M \le -d \log d - 2 \log |\det G| ,

because :math:`\mathrm{Tr}(G^\top M G) \le 1` (the norm is the sum of the singular values). The best
ellipsoid attains both: for D it is the smallest one that holds the points, for :math:`K = cc^\top`
it is the slab between Elfving's two supporting planes.

G needs no ellipsoid: the variance :math:`x_a^\top M^{-1} x_a` averages d under the design itself,
so its maximum is never below d, and D-optimal designs attain the maximum d (Kiefer and Wolfowitz).
But a design that is nearly optimal for D may not be nearly optimal for G yet, so the gap for D is
closed further, until the design is nearly optimal for G.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from speedlib._tolerances import SMOOTH_EFFICIENCY, TIGHTEST_GAP, VANISHING_WEIGHT
from speedlib.checks import (
    Floats,
    Indices,
    check_choice,
    check_count,
    check_features,
    check_psd,
    check_share,
)
from speedlib.solvers._ellipsoid import (
    Kernel,
    certified_value,
    certified_variance,
    kernel_of,
    largest_error,
)
from speedlib.solvers._interior import Iterate, newton_step, start
from speedlib.solvers._span import first_copies, spanning_set, squared_norms, whitening

__all__ = ["ExchangeDesign", "exchange_design"]

#: Newton steps spent on one working set at most, and after the last.
STEPS, SHARPENING = 100, 4

#: Share of the information in any direction that all points dropped at once may hold.
LITTLE = 1e-3

#: Factor from one gap for D to the next, until the design is good enough for G.
TIGHTER = 0.1


@dataclass(frozen=True, eq=False)
class ExchangeDesign:
    r"""A design and the ellipsoid that certifies it.

    Attributes
    ----------
    weights : ndarray, shape (A,)
        Non-negative, summing to one. At most d(d+1)/2 are positive, unless M is singular.
    value : float
        :math:`\log\det M` for ``"D"``, :math:`\max_a x_a^\top M^{-1} x_a` for ``"G"``,
        :math:`\mathrm{Tr}(M^- K)` otherwise (K = I for ``"A"``).
    efficiency_bound : float
        Lower bound on the efficiency: the least possible value divided by the value of this design,
        or for ``"D"`` the d-th root of the ratio of the determinants. The bound allows for rounding
        errors, also in the entries of K.
    dual : ndarray, shape (d, k)
        The matrix G that proves the bound: :math:`|G^\top x_a| \le 1` for every point. Here k is d
        for ``"A"``, ``"D"`` and ``"G"``, and the rank of K otherwise. For ``"G"`` the matrix proves
        the bound for D; G needs no proof, since its optimal value is d.
    iterations : int
        Newton steps.
    """

    weights: Floats
    value: float
    efficiency_bound: float
    dual: Floats
    iterations: int


def exchange_design(
    points: ArrayLike,
    criterion: str,
    *,
    matrix: ArrayLike | None = None,
    tolerance: float = SMOOTH_EFFICIENCY,
    max_rounds: int = 100,
) -> ExchangeDesign:
    r"""Optimal design for a smooth criterion, certified on all points.

    Over weights :math:`w \ge 0` with :math:`\sum_a w_a = 1` and
    :math:`M = \sum_a w_a x_a x_a^\top`

    - ``"D"``: maximise :math:`\log\det M`;
    - ``"A"``: minimise :math:`\mathrm{Tr}\,M^{-1}`;
    - ``"G"``: minimise :math:`\max_a x_a^\top M^{-1} x_a`; the D-optimal design is optimal, with
      the value d;
    - ``"linear"``: minimise :math:`\mathrm{Tr}(M^- K)` for a positive semidefinite K. If K is
      singular, the best M may be singular, too. Then :math:`M^-` is a generalised inverse, and the
      range of M contains the range of K.

    Parameters
    ----------
    points : array-like, shape (A, d)
        The points :math:`x_a`: features divided by standard deviations.
    criterion : {"A", "D", "G", "linear"}
        What to optimise.
    matrix : array-like, shape (d, d)
        The matrix K, for ``"linear"`` only.
    tolerance : float
        How far the efficiency may fall short of 1.
    max_rounds : int
        Largest number of exchanges; about ten are enough for a million points.

    Returns
    -------
    ExchangeDesign
        Weights, value and certified efficiency. The efficiency is at least ``1 - tolerance`` unless
        rounds ran out or the points are too badly conditioned; the caller must check it.

    Raises
    ------
    ValueError
        If the points do not span what the criterion needs, or an argument breaks its rule.

    Notes
    -----
    Each round costs one pass over the points, about as much as one product :math:`X^\top W X`, and
    a few Newton steps on a working set of order d^2. Besides the points, the memory needed is a few
    vectors of length A.

    The answer does not depend on the coordinates: scaling columns, rotating the features or
    giving a point the opposite sign changes nothing beyond rounding.

    References
    ----------
    J. Kiefer, "General equivalence theory for optimum designs", Ann. Statist. 2 (1974); F.
    Pukelsheim, "Optimal Design of Experiments", Wiley (1993), chapters 5 to 7; R. Harman, L. Filová
    and P. Richtárik, J. Amer. Statist. Assoc. 115 (2020), on a randomised exchange algorithm for
    approximate designs.

    Examples
    --------
    >>> design = exchange_design([[1.0, -1.0], [1.0, 0.0], [1.0, 1.0]], "D")
    >>> design.weights.round(6)
    array([0.5, 0. , 0.5])
    >>> design.efficiency_bound > 1 - 1e-6
    True
    """
    x, tolerance = check_features(points, "points"), check_share("tolerance", tolerance)
    check_count("max_rounds", max_rounds, 1)
    check_choice("criterion", criterion, ("A", "D", "G", "linear"))
    if (criterion == "linear") != (matrix is not None):
        raise ValueError('matrix: required by criterion "linear" and by no other')
    kernel = None if matrix is None else check_psd("matrix", matrix, x.shape[1])
    return solve(x, criterion, kernel, tolerance=tolerance, max_rounds=max_rounds)


def solve(
    x: Floats,
    criterion: str,
    matrix: Floats | None = None,
    *,
    tolerance: float = SMOOTH_EFFICIENCY,
    max_rounds: int = 100,
    name: str = "points (features divided by sigma)",
) -> ExchangeDesign:
    """Solve the problem of `exchange_design` for checked numbers; errors call the points `name`."""
    if matrix is not None and not matrix.any():
        raise ValueError("matrix: must not be zero; every design would be optimal")
    kernel = None if criterion in "DG" else kernel_of(matrix, x.shape[1])
    search = _Search(_Problem(x, kernel, name), max_rounds)
    design = search.design(tolerance)
    return _tightened(search, design, tolerance) if criterion == "G" else design


def _tightened(search: _Search, design: ExchangeDesign, tolerance: float) -> ExchangeDesign:
    """Improve a D-optimal design until it is G-optimal to the tolerance.

    The two criteria share their optimum (Kiefer and Wolfowitz), but near it the log-determinant is
    flat, whereas the largest variance has a kink. So weights may miss 1e-8 of the efficiency for D
    and 1e-4 of the efficiency for G.
    """
    best = search.judged(design, tolerance)
    goal = tolerance
    while best.efficiency_bound < 1.0 - tolerance and goal > TIGHTEST_GAP and not search.ended:
        goal *= TIGHTER
        design = search.judged(search.design(goal), tolerance)
        best = max(best, design, key=lambda choice: choice.efficiency_bound)
    if best.efficiency_bound < 1.0 - tolerance:
        design = search.judged(search.unpruned(), tolerance)
        best = max(best, design, key=lambda choice: choice.efficiency_bound)
    return replace(best, iterations=design.iterations)


class _Search:
    """Exchanges until a gap is closed. They can continue from there to close a smaller gap.

    Attributes
    ----------
    problem : _Problem
        The problem to solve.
    ended : bool
        Whether no more can be reached: rounds ran out, or rounding stops Newton's method.
    """

    def __init__(self, problem: _Problem, max_rounds: int) -> None:
        self.problem, self.rounds, self.ended = problem, max_rounds, False
        self.state = self.best = _start(problem)
        self.best_gap, self.steps, self.goal = np.inf, 0, 0.1

    def design(self, tolerance: float) -> ExchangeDesign:
        """Exchange until the gap is closed to the tolerance; the design with its certificate."""
        x = self.problem.points
        while self.rounds:
            self.rounds -= 1
            iterate, taken = _improve(self.state.iterate, self.goal)
            self.state, self.steps = _State(self.state.work, iterate), self.steps + taken
            scores = squared_norms(x, iterate.factor) * (iterate.total / iterate.size)
            gap = float(scores.max()) - 1.0
            if gap < self.best_gap:
                self.best, self.best_gap = self.state, gap
            count = 4 * iterate.frame.shape[1] + 4
            incoming = _violators(x, scores, self.state.work, count)
            self.ended = taken == STEPS and incoming.size == 0
            if gap <= tolerance / 2 or self.ended:
                break
            self.goal = max(min(self.goal, 0.1 * gap), tolerance / 4)
            self.state = _exchange(self.problem, self.state, incoming, gap, self.goal)
        self.ended = self.ended or not self.rounds
        return _certified(self.problem, self.best, self.best_gap, self.steps, tolerance)

    def unpruned(self) -> ExchangeDesign:
        """Keep all weights of the working set, however small."""
        return _certified(self.problem, self.best, self.best_gap, self.steps, None)

    def judged(self, design: ExchangeDesign, tolerance: float) -> ExchangeDesign:
        """Give a design value and efficiency for G."""
        worth = certified_variance(design.weights, self.problem.points, tolerance)
        return replace(design, value=worth.value, efficiency_bound=worth.efficiency_bound)


@dataclass(frozen=True, eq=False)
class _Problem:
    """The problem to solve.

    Attributes
    ----------
    points : ndarray, shape (A, d)
        The points, checked.
    kernel : Kernel or None
        The matrix K, factored; None for D and G.
    name : str
        What an error calls the points.
    """

    points: Floats
    kernel: Kernel | None
    name: str

    @property
    def root(self) -> Floats | None:
        """The factor B of K."""
        return None if self.kernel is None else self.kernel.root

    def start(self, work: Indices, frame: Floats, weights: Floats, least_slack: float) -> Iterate:
        """First iterate of Newton's method on a working set, from weights of any sum."""
        near_root = None if self.root is None else frame.T @ self.root
        return start(self.points[work] @ frame, near_root, frame, weights, least_slack)


class _State(NamedTuple):
    """The working set, as indices of points, and the design on it."""

    work: Indices
    iterate: Iterate


def _start(problem: _Problem) -> _State:
    """Begin on points that span, each with a weight that makes up for its length."""
    x, root = problem.points, problem.root
    frame = whitening(x, root, problem.name)
    work = spanning_set(x, frame, root)
    weights = 1.0 / ((x[work] @ frame) ** 2).sum(axis=1)
    return _State(work, problem.start(work, frame, weights, 0.1))


def _improve(iterate: Iterate, goal: float) -> tuple[Iterate, int]:
    """Take Newton steps until the gap on the working set is at most `goal`."""
    for taken in range(STEPS):
        if iterate.gap <= goal:
            return iterate, taken
        iterate = newton_step(iterate)
    return iterate, STEPS


def _violators(x: Floats, scores: Floats, work: Indices, count: int) -> Indices:
    """Choose about `count` new points with a sensitivity above one, no copies among them.

    Half of these have the largest sensitivities. The other half is spread over all violators:
    otherwise, if one point occurs ten thousand times, its copies would keep other points out.
    """
    violators = np.flatnonzero(scores > 1.0)
    if violators.size > count:
        worst = violators[np.argpartition(scores[violators], -count // 2)[-count // 2 :]]
        violators = np.union1d(worst, violators[:: 2 * violators.size // count])
    return first_copies(x, np.concatenate([work, violators]))[work.size :]


def _exchange(
    problem: _Problem, state: _State, incoming: Indices, gap: float, goal: float
) -> _State:
    """Drop points that give no information, and add the violators with a little weight."""
    work, iterate = state
    carried = iterate.weights * (iterate.points**2).sum(axis=1)
    promising = iterate.sensitivity * iterate.total > 1.0 - 2.0 * gap
    kept = promising | (carried > LITTLE / work.size)
    share = min(0.1, gap) if incoming.size else 0.0
    weights = np.concatenate(
        [
            iterate.weights[kept] * ((1.0 - share) / iterate.weights[kept].sum()),
            np.full(incoming.size, share / max(incoming.size, 1)),
        ]
    )
    work = np.concatenate([work[kept], incoming])
    return _State(work, problem.start(work, iterate.frame, weights, goal))


def _certified(
    problem: _Problem, state: _State, gap: float, steps: int, tolerance: float | None
) -> ExchangeDesign:
    """Compute value and bound from the weights and the ellipsoid.

    The ellipsoid was checked on all points, so its bound holds for any weights. A few more steps on
    the working set improve the weights, and weights that vanish are dropped. Weights that the
    information matrix does not need are dropped, too, if the design stays good. Without a
    tolerance, all weights stay.
    """
    x, iterate = problem.points, state.iterate
    largest = np.sqrt((1.0 + gap) * iterate.size / iterate.total)
    factor = iterate.factor / (largest + largest_error(x, iterate.factor))
    for _ in range(SHARPENING):
        iterate = newton_step(iterate)
    candidates, choices = [iterate.weights], []
    if tolerance is not None:
        solid = iterate.weights > VANISHING_WEIGHT * iterate.weights.max()
        pruned = np.where(solid, iterate.weights, 0.0)
        candidates = [_fewest(pruned, iterate.points), pruned, iterate.weights]
    for weights in candidates:
        design = np.zeros(x.shape[0])
        design[state.work] = weights / weights.sum()
        worth = certified_value(design, x, problem.kernel, factor)
        choices.append(
            ExchangeDesign(
                weights=design,
                value=worth.value,
                efficiency_bound=worth.efficiency_bound,
                dual=factor,
                iterations=steps + SHARPENING,
            )
        )
        if tolerance is not None and worth.efficiency_bound >= 1.0 - tolerance:
            return choices[-1]
    return max(choices, key=lambda choice: choice.efficiency_bound)


def _fewest(weights: Floats, points: Floats) -> Floats:
    """Weights on at most r(r+1)/2 points with the same information matrix (Carathéodory).

    Non-negative least squares stops at a vertex, where the products of its points are independent.
    """
    from scipy.optimize import nnls  # takes longer to import than the whole library

    i, j = np.triu_indices(points.shape[1])
    support = np.flatnonzero(weights)
    if support.size <= i.size:
        return weights
    rows = np.sqrt(weights[support])[:, None] * points[support]
    products = rows[:, i] * rows[:, j]
    try:
        multipliers, _ = nnls(products.T, products.sum(axis=0))
    except RuntimeError:  # Too many iterations; the design is optimal as it is.
        return weights
    fewest = np.zeros_like(weights)
    fewest[support] = weights[support] * multipliers
    return fewest
