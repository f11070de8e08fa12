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

from speedlib._labels import check_order
from speedlib._tolerances import (
    EPS,
    PE_EFFICIENCY,
    RESIDUAL_TOLERANCE,
    SMOOTH_EFFICIENCY,
    TIGHTEST_GAP,
)
from speedlib.checks import (
    Floats,
    Indices,
    check_choice,
    check_features,
    check_policy,
    check_psd,
    check_share,
    check_variances,
)
from speedlib.criteria import (
    CRITERIA,
    chosen_direction,
    criterion_value,
    information_matrix,
    pe_loss,
    target_direction,
)
from speedlib.solvers import elfving, exchange
from speedlib.solvers._naming import points_are_features

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
    """A design missed its tolerance, or an interval relies on a guess; the text names the cure.

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
        ``1 / efficiency_bound``. One means optimal.
    support : ndarray of int
        Actions with positive weight.
    dual : ndarray, shape (d,) or (d, k)
        Dual solution that proves the bound. PE: y with :math:`|x(a)^\top y| \le \sigma(a)` for
        every action, so :math:`(c^\top y)^2` is a lower bound on the value of every design.
        Otherwise a matrix G with :math:`|G^\top x(a)| \le \sigma(a)`, unit variances for ``"G"``; k
        is d, and for ``"linear"`` the rank of K: see `speedlib.solvers.exchange`.
    criterion : str
        One of ``CRITERIA``.
    iterations : int
        Iterations of the solver.

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
    tolerance: float | None = None,
) -> Design:
    r"""Optimal design with a certificate of its efficiency.

    Minimise over all designs b, with :math:`A(b)` the information matrix:

    - ``"PE"``: :math:`c^\top A(b)^- c`, the mean squared error of the value estimate times n
      (c-optimality; solved exactly by Elfving's linear program, at most d support points);
    - ``"A"``: :math:`\mathrm{Tr}\,A(b)^{-1}`;
    - ``"D"``: :math:`-\log\det A(b)`;
    - ``"G"``: :math:`\max_a x(a)^\top A_1(b)^{-1} x(a)`, with unit variances as in the paper: by
      Kiefer and Wolfowitz the D-optimal design of the raw features, and the best value is d;
    - ``"linear"``: :math:`\mathrm{Tr}(A(b)^{-1} K)` with K positive semidefinite.

    Parameters
    ----------
    features : array-like, shape (A, d)
        One row x(a) per action.
    variances : array-like, shape (A,)
        Positive noise variances (checked but not used by ``"G"``). Where the features of an
        action are all 0, its variance may be 0: it informs nothing and gets no share.
    criterion : {"PE", "A", "D", "G", "linear"}
        What to minimise.
    policy, direction : array-like, shape (A,) or (d,)
        For ``"PE"`` exactly one of them: the target policy, or c itself.
    matrix : array-like, shape (d, d)
        For ``"linear"``: the matrix K.
    tolerance : float, optional
        How far the efficiency may fall short of 1: by default 1e-9 for ``"PE"`` and 1e-6 otherwise.

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
        If the certified efficiency is below ``1 - tolerance``. For ``"G"`` the D problem is solved
        to ever smaller gaps until :math:`\max_a x(a)^\top A_1(b)^{-1} x(a) \le d / (1 -` tolerance
        :math:`)`, rounding included; the warning says which gap was reached.

    References
    ----------
    G. Elfving, "Optimum allocation in linear regression theory", Ann. Math. Statist. 23 (1952);
    J. Kiefer and J. Wolfowitz, "The equivalence of two extremum problems", Canad. J. Math. 12
    (1960); R. Harman and T. Jurik, "Computing c-optimal experimental designs using the simplex
    method of linear programming", Comput. Statist. Data Anal. 53 (2008).

    Examples
    --------
    >>> optimal_design([[1.0, 0.0], [0.0, 1.0]], [1.0, 4.0], policy=[0.5, 0.5]).weights.round(6)
    array([0.333333, 0.666667])
    """
    check_choice("criterion", criterion, CRITERIA)
    columns = {"direction": direction, "matrix": matrix}
    check_order(features, {"variances": variances, "policy": policy}, columns)
    x = check_features(features)
    v = check_variances(variances, x.shape[0], features=x)
    allowed = TOLERANCES[criterion] if tolerance is None else check_share("tolerance", tolerance)
    return _optimum(criterion, x, v, _target(criterion, x, policy, direction, matrix), allowed)


def design_efficiency(
    weights: ArrayLike,
    features: ArrayLike,
    variances: ArrayLike,
    criterion: str = "PE",
    *,
    policy: ArrayLike | None = None,
    direction: ArrayLike | None = None,
    matrix: ArrayLike | None = None,
) -> float:
    r"""Certified lower bound on the efficiency of any design.

    The efficiency is the best value of the criterion divided by that of b (for ``"D"``:
    :math:`(\det A(b) / \det A(b^*))^{1/d}`), which is the factor by which the rounds could be cut.
    The best value is replaced by the certified lower bound of the solver, so the result is close to
    the true efficiency and exceeds it at most by rounding errors in the value of b.

    Parameters
    ----------
    weights : array-like, shape (A,)
        The design b: non-negative, summing to one.
    features, variances, criterion, policy, direction, matrix
        As in :func:`optimal_design`.

    Returns
    -------
    float
        A number in [0, 1]; 0 for a design that cannot estimate the target.

    Warns
    -----
    DesignWarning
        If the best value is not known to the usual tolerance; the bound holds, but may be low.

    Examples
    --------
    >>> one_hot = [[1.0, 0.0], [0.0, 1.0]]
    >>> round(design_efficiency([0.5, 0.5], one_hot, [1.0, 4.0], policy=[0.5, 0.5]), 9)
    0.9
    """
    check_choice("criterion", criterion, CRITERIA)
    rows = {"weights": weights, "variances": variances, "policy": policy}
    check_order(features, rows, {"direction": direction, "matrix": matrix})
    x = check_features(features)
    b = check_policy(weights, x.shape[0], name="weights")
    v = check_variances(variances, x.shape[0], features=x)
    target = _target(criterion, x, policy, direction, matrix)
    value = criterion_value(criterion, b, x, v, target)
    if criterion == "G":  # The best value is d, whatever the features.
        return float(min(1.0, x.shape[1] / value))
    best = _optimum(criterion, x, v, target, TOLERANCES[criterion])
    if criterion == "D":
        ratio = float(np.exp((value - best.value) / x.shape[1]))
    else:
        ratio = best.value / value if best.value > 0 else 1.0
    return min(1.0, best.efficiency_bound * ratio)


def _optimum(
    criterion: str, x: Floats, v: Floats, target: Floats | None, tolerance: float
) -> Design:
    """Solve the problem; warn the caller's caller if it is not solved."""
    if criterion == "PE":
        assert target is not None
        design = _pe_design(x, v, target)
    else:
        with points_are_features():
            design = _smooth_design(x, v, criterion, target, tolerance)
    if not design.efficiency_bound >= 1 - tolerance:
        warnings.warn(_complaint(design, tolerance), DesignWarning, stacklevel=3)
    return design


def _pe_design(x: Floats, v: Floats, c: Floats) -> Design:
    solution = elfving.solve(x, np.sqrt(v), c)
    sound = solution.residual <= RESIDUAL_TOLERANCE
    return Design(
        weights=solution.weights,
        value=solution.norm**2,
        efficiency_bound=max(0.0, 1 - solution.gap) ** 2 if sound else 0.0,
        dual=solution.dual,
        criterion="PE",
        iterations=solution.iterations,
    )


def _smooth_design(
    x: Floats, v: Floats, criterion: str, matrix: Floats | None, tolerance: float
) -> Design:
    if criterion == "G":
        found = exchange.solve(x, "G", tolerance=tolerance, name="features")
    else:
        points = x / np.sqrt(v)[:, None]
        found = exchange.solve(points, criterion, matrix, tolerance=tolerance)
    return Design(
        weights=found.weights,
        value=found.value,
        efficiency_bound=found.efficiency_bound,
        dual=found.dual,
        criterion=criterion,
        iterations=found.iterations,
    )


def _target(
    criterion: str,
    x: Floats,
    policy: ArrayLike | None,
    direction: ArrayLike | None,
    matrix: ArrayLike | None,
) -> Floats | None:
    """Return c for "PE", K for "linear", None otherwise; refuse what the criterion does not use."""
    if criterion != "PE" and (policy is not None or direction is not None):
        raise ValueError(f'policy, direction: only for criterion "PE"; got criterion {criterion!r}')
    if (criterion == "linear") != (matrix is not None):
        raise ValueError(
            'matrix: required by criterion "linear" and by no other; '
            f"got criterion {criterion!r} {'with' if matrix is not None else 'without'} matrix"
        )
    if criterion == "PE":
        return chosen_direction(x, policy, direction)
    return None if matrix is None else check_psd("matrix", matrix, x.shape[1])


def _complaint(design: Design, tolerance: float) -> str:
    if design.criterion == "PE":
        cause = (
            "the features are so nearly dependent, or so unlike in length, that double precision "
            "does not determine the optimum"
        )
        cure = "drop or combine nearly dependent features and actions, or allow a larger tolerance"
    elif design.criterion == "G":
        cause = (
            f"after {design.iterations} iterations the largest x' inv(M) x is {design.value:.15g}, "
            f"the optimum is {len(design.dual)}, and rounding allows no more"
        )
        cure = _cure_of_rounding(1.0 - design.efficiency_bound)
    else:
        cause = (
            f"the solver stopped after {design.iterations} iterations, or rounding the features "
            "(or the matrix) changes the optimum by as much"
        )
        cure = "drop or combine nearly dependent features, or allow a larger tolerance"
    return (
        f"{design.criterion}-optimal design: certified efficiency {design.efficiency_bound:.12g} "
        f"misses 1 - {tolerance:g}, because {cause}; {cure}."
    )


def _cure_of_rounding(gap: float) -> str:
    """Name the power of ten that holds as a tolerance; features matter if others would do more."""
    power = int(np.ceil(np.log10(max(gap, EPS))))
    cures = [f"allow a tolerance of 1e{power:03d}"] if power < 0 else []
    if gap > TIGHTEST_GAP:
        cures.append(
            "centre or orthogonalise the features (the G-optimal design is the same for all "
            "features with the same span as functions of the action)"
        )
    return ", or ".join(cures)
