r"""Optimal designs for policy evaluation: criteria, losses, certificates.

A design b is a probability vector over the actions: the share of rounds that each receives. With
noise variances :math:`\sigma^2(a)` its information matrix is
:math:`A(b) = \sum_a b(a)\, x(a) x(a)^\top / \sigma^2(a)`, and a criterion says which function of
:math:`A(b)` should be small. For the value of a policy it is :math:`c^\top A(b)^- c` with
:math:`c = \sum_a \pi(a)\, x(a)`: the PE criterion, which is Elfving's c-optimality.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from speedlib._best_designs import best_design, complaint, value_of
from speedlib._labels import check_order
from speedlib._targets import target_of
from speedlib._tolerances import LIMITED_EFFICIENCY, PE_EFFICIENCY, SMOOTH_EFFICIENCY
from speedlib.checks import (
    Floats,
    Indices,
    check_choice,
    check_features,
    check_policy,
    check_share,
    check_variances,
)
from speedlib.criteria import (
    CRITERIA,
    information_matrix,
    pe_loss,
    target_direction,
)
from speedlib.limits import Limits

__all__ = [
    "CRITERIA",
    "Design",
    "DesignWarning",
    "design_efficiency",
    "information_matrix",
    "optimal_design",
    "pe_loss",
    "target_direction",
]

#: Efficiency that a design may miss before `optimal_design` warns.
TOLERANCES = {
    "PE": PE_EFFICIENCY,
    "A": SMOOTH_EFFICIENCY,
    "D": SMOOTH_EFFICIENCY,
    "G": SMOOTH_EFFICIENCY,
    "linear": SMOOTH_EFFICIENCY,
}


class DesignWarning(UserWarning):
    """A design missed its tolerance, or an interval relies on a guess; the message names the cure.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", DesignWarning)
    ...     optimal_design([[1, 0], [0, 1]], variances=[1, 4], policy=[0.5, 0.5]).efficiency_bound
    1.0
    """


@dataclass(frozen=True, eq=False, repr=False)
class Design:
    r"""A design with its certificate.

    Attributes
    ----------
    weights : ndarray, shape (A,)
        Proportions b of the rounds, non-negative, summing to one.
    value : float
        PE: :math:`c^\top A(b)^- c = \|u\|_1^2`. A: trace of the inverse information matrix.
        linear: :math:`\mathrm{Tr}(A(b)^{-1} K)`. D: log-determinant of the information matrix
        (large is good). G: :math:`\max_a x(a)^\top A_1(b)^{-1} x(a)` with unit variances.
    efficiency_bound : float
        Certified: no design is more efficient than this one by a factor above
        ``1 / efficiency_bound``. The value 1 means that this design is optimal.
    support : ndarray of int
        Actions with positive weight.
    dual : ndarray, shape (d,) or (d, k)
        Dual solution that proves the bound. PE: y with :math:`|x(a)^\top y| \le \sigma(a)` for
        every action, so :math:`(c^\top y)^2` is a lower bound on the value of every design.
        For the other criteria a matrix G with :math:`|G^\top x(a)| \le \sigma(a)`, where
        :math:`\sigma(a) = 1` for ``"G"``. The number k of its columns is the rank of K for
        ``"linear"`` and d otherwise: see `speedlib.solvers.exchange`.
    criterion : str
        One of ``CRITERIA``.
    iterations : int
        Iterations of the solver.
    cost : float
        Mean cost of a round, :math:`\sum_a b(a)\,\kappa(a)`; 1 without costs. A budget of B in
        money lasts for B / cost rounds.

    Notes
    -----
    With costs, every value above is per unit of money. For PE the value is :math:`c^\top A(b)^- c
    \sum_a b(a)\kappa(a)`, the mean squared error times the budget B. For limits, or several
    policies, the certificate is a matrix Y (a vector for one policy) such that no design b within
    the limits has :math:`\sum_a b(a)\,(|Y^\top x(a)|^2/\sigma^2(a) - \kappa(a)) > 0`. Then the
    value of every design within the limits is at least :math:`(\mathrm{Tr}\,C^\top Y)^2`, where the
    columns of C are :math:`\sqrt{\omega_k}\,c_k`. Without limits this says :math:`|Y^\top x(a)|^2
    \le \sigma^2(a)\,\kappa(a)` for each action.

    Examples
    --------
    >>> from speedlib import optimal_design
    >>> design = optimal_design([[1, 0], [0, 1]], variances=[1, 4], policy=[0.5, 0.5])
    >>> round(design.value, 6)
    2.25
    >>> design.weights.round(3).tolist(), design.support.tolist()
    ([0.333, 0.667], [0, 1])
    """

    weights: Floats
    value: float
    efficiency_bound: float
    dual: Floats
    criterion: str
    iterations: int
    cost: float = 1.0
    support: Indices = field(init=False)

    def __post_init__(self) -> None:
        """Derive the support."""
        object.__setattr__(self, "support", np.flatnonzero(self.weights > 0))

    def __repr__(self) -> str:
        """Show size, value, certificate and the first weights."""
        shown = ", ".join(f"{a}: {self.weights[a]:.4g}" for a in self.support[:6])
        more = ", ..." if self.support.size > 6 else ""
        return (
            f"Design({self.criterion}-optimal, {self.support.size} of {self.weights.size} actions, "
            f"value={self.value:.6g}, efficiency>={self.efficiency_bound - 5e-10:.9f}, "
            f"weights={{{shown}{more}}})"
        )


def optimal_design(
    features: ArrayLike,
    variances: ArrayLike,
    criterion: str = "PE",
    *,
    policy: ArrayLike | None = None,
    direction: ArrayLike | None = None,
    matrix: ArrayLike | None = None,
    importance: ArrayLike | None = None,
    costs: ArrayLike | None = None,
    least: ArrayLike | None = None,
    most: ArrayLike | None = None,
    tolerance: float | None = None,
) -> Design:
    r"""Find the optimal design, with a certificate of its efficiency.

    The design b minimises one of these criteria, where :math:`A(b)` is its information matrix:

    - ``"PE"``: :math:`c^\top A(b)^- c`, the mean squared error of the value estimate times n
      (c-optimality; solved exactly by Elfving's linear program, at most d support points);
    - ``"A"``: :math:`\mathrm{Tr}\,A(b)^{-1}`;
    - ``"D"``: :math:`-\log\det A(b)`;
    - ``"G"``: :math:`\max_a x(a)^\top A_1(b)^{-1} x(a)`, with unit variances as in the paper. By
      the theorem of Kiefer and Wolfowitz, the D-optimal design for unit variances is best, and the
      best value is d;
    - ``"linear"``: :math:`\mathrm{Tr}(A(b)^{-1} K)` with K positive semidefinite.

    Parameters
    ----------
    features : array-like, shape (A, d)
        One row x(a) per action.
    variances : array-like, shape (A,)
        Positive noise variances (checked but not used by ``"G"``). Where the features of an
        action are all 0, its variance may be 0: the action gives no information and gets no share.
    criterion : {"PE", "A", "D", "G", "linear"}
        What to minimise.
    policy, direction : array-like, shape (A,) or (d,); or (K, A) or (K, d)
        ``"PE"`` requires exactly one of them: the target policy, or the vector c itself. With K
        rows, the weighted average :math:`\sum_k \omega_k\, c_k^\top A(b)^- c_k` is minimised.
    matrix : array-like, shape (d, d)
        For ``"linear"``: the matrix K.
    importance : array-like, shape (K,), optional
        The weights :math:`\omega_k` of several policies, at least 0. They are divided by their sum;
        by default all are equal.
    costs : array-like, shape (A,), or number, optional
        What a round of each action costs, positive. The budget is then in money: the criterion is
        multiplied by the mean cost of a round (for ``"D"`` the information is divided by it).
        ``"G"`` takes no costs.
    least, most : array-like, shape (A,), or number, optional
        Bounds on the share of the rounds that each action receives, for ``"PE"``, ``"A"`` and
        ``"linear"``. By default 0 and 1.
    tolerance : float, optional
        How far the efficiency may fall short of 1: by default 1e-9 for ``"PE"`` and 1e-6 otherwise;
        1e-8 with bounds or several policies.

    Returns
    -------
    Design
        Weights, value, certified efficiency bound, support, dual.

    Raises
    ------
    ValueError
        If an argument breaks its rule, or no design can estimate the target.

    Warns
    -----
    DesignWarning
        If the certified efficiency is below ``1 - tolerance``. For ``"G"``, the solver improves a
        D-optimal design until :math:`\max_a x(a)^\top A_1(b)^{-1} x(a)` is at most d / (1 -
        tolerance), with an allowance for rounding errors. If it cannot, the warning gives the value
        that was reached.

    References
    ----------
    G. Elfving, "Optimum allocation in linear regression theory", Ann. Math. Statist. 23 (1952);
    J. Kiefer and J. Wolfowitz, "The equivalence of two extremum problems", Canad. J. Math. 12
    (1960); R. Harman and T. Jurik, "Computing c-optimal experimental designs using the simplex
    method of linear programming", Comput. Statist. Data Anal. 53 (2008).

    Examples
    --------
    >>> one_hot, variances = [[1.0, 0.0], [0.0, 1.0]], [1.0, 4.0]
    >>> optimal_design(one_hot, variances, policy=[0.5, 0.5]).weights.round(6)
    array([0.333333, 0.666667])
    >>> dear = optimal_design(one_hot, variances, policy=[0.5, 0.5], costs=[1, 4])
    >>> dear.weights.round(6), round(dear.cost, 6)
    (array([0.5, 0.5]), 2.5)
    >>> optimal_design(one_hot, variances, policy=[0.5, 0.5], most=[1, 0.6]).weights.round(6)
    array([0.4, 0.6])
    >>> optimal_design(one_hot, variances, policy=[[1, 0], [0, 1]]).weights.round(6)
    array([0.333333, 0.666667])
    """
    check_choice("criterion", criterion, CRITERIA)
    columns = {"direction": direction, "matrix": matrix}
    rows = {"variances": variances, "policy": policy, "costs": costs, "least": least, "most": most}
    check_order(features, rows, columns)
    x = check_features(features)
    v = check_variances(variances, x.shape[0], features=x)
    limits = Limits.of(x.shape[0], costs=costs, least=least, most=most)
    allowed = None if tolerance is None else check_share("tolerance", tolerance)
    target = target_of(criterion, x, policy, direction, matrix, importance)
    return _optimum(criterion, x, v, target, allowed, limits)


def design_efficiency(
    weights: ArrayLike,
    features: ArrayLike,
    variances: ArrayLike,
    criterion: str = "PE",
    *,
    policy: ArrayLike | None = None,
    direction: ArrayLike | None = None,
    matrix: ArrayLike | None = None,
    importance: ArrayLike | None = None,
    costs: ArrayLike | None = None,
    least: ArrayLike | None = None,
    most: ArrayLike | None = None,
) -> float:
    r"""Find a certified lower bound on the efficiency of a given design.

    The efficiency is the best value of the criterion divided by its value at b. For ``"D"`` it is
    :math:`(\det A(b) / \det A(b^*))^{1/d}`, where :math:`b^*` is the best design. With the best
    design, this fraction of the rounds would give the same precision. The best value is replaced by
    the certified lower bound of the solver, so the result is close to the true efficiency and
    exceeds it at most by rounding errors in the value of b.

    Parameters
    ----------
    weights : array-like, shape (A,)
        The design b: non-negative, summing to one.
    features, variances, criterion, policy, direction, matrix, importance, costs, least, most
        As in :func:`optimal_design`. With bounds, b must be within them, and is compared with the
        best design within them.

    Returns
    -------
    float
        A number in [0, 1]; 0 for a design that cannot estimate the target.

    Warns
    -----
    DesignWarning
        If the best value is not known to the usual tolerance; the bound is then valid, but may be
        low.

    Examples
    --------
    >>> one_hot = [[1.0, 0.0], [0.0, 1.0]]
    >>> round(design_efficiency([0.5, 0.5], one_hot, [1.0, 4.0], policy=[0.5, 0.5]), 9)
    0.9
    """
    check_choice("criterion", criterion, CRITERIA)
    rows = {"weights": weights, "variances": variances, "policy": policy}
    rows |= {"costs": costs, "least": least, "most": most}
    check_order(features, rows, {"direction": direction, "matrix": matrix})
    x = check_features(features)
    b = check_policy(weights, x.shape[0], name="weights")
    v = check_variances(variances, x.shape[0], features=x)
    limits = Limits.of(x.shape[0], costs=costs, least=least, most=most)
    limits.check_within(b)
    target = target_of(criterion, x, policy, direction, matrix, importance)
    if criterion == "G" and not (limits.bounded or limits.priced):
        # The best value is d, whatever the features.
        return float(min(1.0, x.shape[1] / value_of(criterion, b, x, v, target, 1.0)))
    best = _optimum(criterion, x, v, target, None, limits)
    value = value_of(criterion, b, x, v, target, float(b @ limits.costs))
    if criterion == "D":
        ratio = float(np.exp((value - best.value) / x.shape[1]))
    else:
        ratio = best.value / value if best.value > 0 else 1.0
    return min(1.0, best.efficiency_bound * ratio)


def _optimum(
    criterion: str,
    x: Floats,
    v: Floats,
    target: Floats | None,
    tolerance: float | None,
    limits: Limits,
) -> Design:
    """Solve the problem; warn the caller's caller if it is not solved."""
    allowed = TOLERANCES[criterion] if tolerance is None else tolerance
    several = target is not None and target.ndim == 2 and criterion == "PE"
    if tolerance is None and (limits.bounded or several):
        allowed = LIMITED_EFFICIENCY
    found = best_design(criterion, x, v, target, allowed, limits)
    if not found.efficiency_bound >= 1 - allowed:
        text = complaint(criterion, found, allowed, limits)
        warnings.warn(text, DesignWarning, stacklevel=3)
    return Design(criterion=criterion, **found._asdict())
