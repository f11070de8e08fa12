r"""PE-optimal (c-optimal) designs: Elfving's linear program by column generation.

With :math:`\tilde x(a) = x(a)/\sigma(a)`, the best design for estimating :math:`c^\top\theta`
solves

.. math:: \min \|u\|_1 \quad \text{s.t.} \quad \sum_a u_a \tilde x(a) = c,
          \qquad b^*(a) = |u_a| / \|u\|_1, \qquad c^\top A(b^*)^- c = \|u\|_1^2,

and any y with :math:`|\tilde x(a)^\top y| \le 1` for all actions proves :math:`\|u\|_1 \ge c^\top
y`. A simplex method with column generation finds the vertex
(:mod:`speedlib.solvers._elfving_search`); the proof that it is optimal is then computed from the
input alone (:mod:`speedlib.solvers._elfving_certificate`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from speedlib._labels import check_order
from speedlib.checks import Floats, Indices, check_direction, check_features, check_variances
from speedlib.solvers._elfving_certificate import certify
from speedlib.solvers._elfving_problem import Problem
from speedlib.solvers._elfving_search import optimal_vertex

__all__ = ["ElfvingSolution", "elfving_design"]


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
        Number of products X y with all actions, including the products for the certificate.
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
    r"""Solve Elfving's linear program exactly, for few or millions of actions.

    .. math:: \min \|u\|_1 \quad \text{s.t.} \quad \sum_a u_a\, x(a)/\sigma(a) = c

    Parameters
    ----------
    features : array-like, shape (A, d)
        One row x(a) per action. The rows need not span all dimensions.
    variances : array-like, shape (A,)
        Positive noise variances. An action without noise is refused: a single pull gives all its
        information, so no proportion of the rounds is optimal for it. The variance may be 0 only if
        all features of the action are 0: such an action gives no information and gets no share.
    direction : array-like, shape (d,)
        The direction c.

    Returns
    -------
    ElfvingSolution
        Design, coefficients and dual certificate. For c = 0 every design has loss zero, and the
        returned design pulls the action of least variance.

    Raises
    ------
    ValueError
        If the direction is not in the span of the features, or an argument breaks its rule.

    Notes
    -----
    The solver typically computes four to six products X y with all actions, and stores a few
    vectors of length A.

    References
    ----------
    G. Elfving, "Optimum allocation in linear regression theory", Ann. Math. Statist. 23 (1952);
    R. Harman and T. Jurik, "Computing c-optimal experimental designs using the simplex method of
    linear programming", Comput. Statist. Data Anal. 53 (2008).

    Examples
    --------
    >>> solution = elfving_design([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1.0, 1.0, 1.0], [2.0, 1.0])
    >>> solution.weights.round(6)
    array([0.5, 0. , 0.5])
    >>> round(solution.norm, 6), solution.gap < 1e-12
    (2.0, True)
    """
    check_order(features, {"variances": variances}, {"direction": direction})
    x = check_features(features)
    v = check_variances(variances, x.shape[0], features=x)
    return solve(x, np.sqrt(v), check_direction(direction, x.shape[1]))


def solve(x: Floats, sigma: Floats, c: Floats) -> ElfvingSolution:
    """Solve Elfving's program for checked numbers."""
    if not c.any():
        return _nothing_to_estimate(x, sigma)
    problem = Problem(x, sigma, c)
    vertex = optimal_vertex(problem)
    proof = certify(problem, vertex)
    weights = np.zeros(x.shape[0])
    weights[proof.support] = np.abs(proof.coefficients) / proof.norm
    return ElfvingSolution(
        weights=weights,
        support=proof.support,
        coefficients=proof.coefficients,
        dual=proof.dual,
        norm=proof.norm,
        lower=proof.lower,
        gap=proof.gap,
        residual=proof.residual,
        pricings=vertex.pricings + proof.pricings,
        iterations=vertex.pivots,
    )


def quietest(x: Floats, variances: Floats) -> Indices:
    """Return the action of least variance; one with features all 0 only if all are such; (...,)."""
    informs = x.any(axis=1)
    shown = np.where(informs, variances, np.inf) if informs.any() else variances
    return np.asarray(shown.argmin(axis=-1))


def _nothing_to_estimate(x: Floats, sigma: Floats) -> ElfvingSolution:
    weights = np.zeros(x.shape[0])
    weights[quietest(x, sigma)] = 1.0
    return ElfvingSolution(
        weights=weights,
        support=np.zeros(0, dtype=np.intp),
        coefficients=np.zeros(0),
        dual=np.zeros(x.shape[1]),
        norm=0.0,
        lower=0.0,
        gap=0.0,
        residual=0.0,
        pricings=0,
        iterations=0,
    )
