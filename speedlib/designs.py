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
from numpy.typing import ArrayLike, NDArray

from speedlib.checks import (
    Floats,
    check_choice,
    check_direction,
    check_features,
    check_finite,
    check_policy,
    check_psd,
    check_variances,
)
from speedlib.solvers.elfving import elfving

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

CRITERIA = ("PE", "A", "D", "G", "linear")

#: Efficiency that a design may miss before `optimal_design` warns.
TOLERANCES = {"PE": 1e-9, "A": 1e-6, "D": 1e-6, "G": 1e-6, "linear": 1e-6}

#: A direction counts as estimable if the relative part of it outside the range is below this.
RANGE_TOLERANCE = 1e-9


class DesignWarning(UserWarning):
    """An optimal design missed its tolerance; the text names the cause and the cure."""


@dataclass(frozen=True, repr=False)
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
    dual : ndarray, shape (d,) or (d, d)
        Dual solution that proves the bound. PE: y with :math:`|x(a)^\top y| \le \sigma(a)`
        for every action, so that :math:`(c^\top y)^2` is a lower bound on the value of every
        design.
    criterion : str
        One of ``CRITERIA``.
    iterations : int
        Iterations of the solver.
    """

    weights: Floats
    value: float
    efficiency_bound: float
    dual: Floats
    criterion: str
    iterations: int
    support: NDArray[np.intp] = field(init=False)

    def __post_init__(self) -> None:
        """Derive the support."""
        object.__setattr__(self, "support", np.flatnonzero(self.weights > 0))

    def __repr__(self) -> str:
        """Show size, value, certificate and the first weights."""
        shown = ", ".join(f"{a}: {self.weights[a]:.4g}" for a in self.support[:6])
        more = ", ..." if self.support.size > 6 else ""
        return (
            f"Design({self.criterion}-optimal, {self.support.size} of {self.weights.size} actions, "
            f"value={self.value:.6g}, efficiency>={self.efficiency_bound:.9f}, "
            f"weights={{{shown}{more}}})"
        )


def target_direction(features: ArrayLike, policy: ArrayLike) -> Floats:
    r"""Mean feature vector of a policy, :math:`c = \sum_a \pi(a)\, x(a)`.

    The value of the policy is :math:`v(\pi) = c^\top \theta`. Entries that are zero up to rounding
    are returned as exact zeros.

    Parameters
    ----------
    features : array-like, shape (A, d)
        One row x(a) per action.
    policy : array-like, shape (A,)
        Target policy: probabilities that sum to one.

    Returns
    -------
    ndarray, shape (d,)
        The direction c.

    Examples
    --------
    >>> target_direction([[1.0, 0.0], [0.0, 2.0]], [0.25, 0.75])
    array([0.25, 1.5 ])
    """
    x = check_features(features)
    pi = check_policy(policy, x.shape[0])
    c = pi @ x
    rounding = 8 * np.finfo(float).eps * (pi @ np.abs(x))
    return np.where(np.abs(c) > rounding, c, 0.0)


def information_matrix(weights: ArrayLike, features: ArrayLike, variances: ArrayLike) -> Floats:
    r"""Information matrix :math:`A(b) = \sum_a b(a)\, x(a) x(a)^\top / \sigma^2(a)`.

    Parameters
    ----------
    weights : array-like, shape (..., A)
        Non-negative weights b; they need not sum to one.
    features : array-like, shape (A, d)
        One row x(a) per action.
    variances : array-like, shape (..., A)
        Positive noise variances.

    Returns
    -------
    ndarray, shape (..., d, d)
        Symmetric positive semidefinite matrices.

    References
    ----------
    The paper, equation for the design matrix in Section 3.

    Examples
    --------
    >>> information_matrix([0.5, 0.5], [[1.0, 0.0], [0.0, 1.0]], [1.0, 4.0])
    array([[0.5  , 0.   ],
           [0.   , 0.125]])
    """
    x = check_features(features)
    b = _check_weights(weights, x.shape[0])
    v = check_variances(variances, x.shape[0], batch=True)
    precision = b / v
    return np.asarray((x.T * precision[..., None, :]) @ x)


def pe_loss(
    weights: ArrayLike,
    features: ArrayLike,
    variances: ArrayLike,
    *,
    policy: ArrayLike | None = None,
    direction: ArrayLike | None = None,
) -> float | Floats:
    r"""Loss of a design for policy evaluation, :math:`c^\top A(b)^- c`.

    It is n times the mean squared error of the weighted least-squares estimate of
    :math:`c^\top\theta` after n rounds spread as b says. It equals :math:`\min \|v\|^2` over v with
    :math:`\sum_a v_a \sqrt{b(a)}\, x(a)/\sigma(a) = c`, and is :math:`+\infty` when c is not in
    the range of A(b): then the design cannot estimate the value at all.

    Parameters
    ----------
    weights : array-like, shape (..., A)
        Designs b (non-negative; they need not sum to one).
    features : array-like, shape (A, d)
        One row x(a) per action.
    variances : array-like, shape (..., A)
        Positive noise variances.
    policy, direction : array-like, shape (A,) or (d,)
        Exactly one: the target policy, or c itself.

    Returns
    -------
    float, or ndarray of shape (...)
        The loss of each design.

    Notes
    -----
    The range is judged on :math:`\sqrt{b}\,x/\sigma` (whose condition number is the square root
    of that of A(b)) with columns scaled to one, by a relative tolerance.

    References
    ----------
    The paper, Proposition 1.

    Examples
    --------
    >>> one_hot = [[1.0, 0.0], [0.0, 1.0]]
    >>> round(pe_loss([0.5, 0.5], one_hot, [1.0, 4.0], policy=[0.5, 0.5]), 12)
    2.5
    >>> pe_loss([1.0, 0.0], one_hot, [1.0, 4.0], policy=[0.5, 0.5])
    inf
    """
    x = check_features(features)
    b = _check_weights(weights, x.shape[0])
    v = check_variances(variances, x.shape[0], batch=True)
    c = _direction(x, policy, direction)
    root = np.sqrt(b / v)
    if root.ndim == 1:
        x, root = x[root > 0], root[root > 0]
    loss = _squared_norm_of_solution(root[..., None] * x, c)
    return float(loss) if root.ndim == 1 else loss


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
      Kiefer and Wolfowitz the D-optimal design of the raw features;
    - ``"linear"``: :math:`\mathrm{Tr}(A(b)^{-1} K)` with K positive semidefinite.

    Parameters
    ----------
    features : array-like, shape (A, d)
        One row x(a) per action.
    variances : array-like, shape (A,)
        Positive noise variances (checked but not used by ``"G"``).
    criterion : {"PE", "A", "D", "G", "linear"}
        What to minimise.
    policy, direction : array-like, shape (A,) or (d,)
        For ``"PE"`` exactly one of them: the target policy, or c itself.
    matrix : array-like, shape (d, d)
        For ``"linear"``: the matrix K.
    tolerance : float, optional
        Efficiency that may be missed, 1e-9 for ``"PE"`` and 1e-6 otherwise.

    Returns
    -------
    Design
        Weights, value, certified efficiency bound, support, dual.

    Raises
    ------
    ValueError
        If an argument breaks its rule, or no design can estimate what is asked.

    Warns
    -----
    DesignWarning
        If the certified efficiency is below ``1 - tolerance``.

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
    x = check_features(features)
    v = check_variances(variances, x.shape[0])
    allowed = TOLERANCES[criterion] if tolerance is None else _check_tolerance(tolerance)
    _check_arguments(criterion, policy, direction, matrix)
    if criterion == "PE":
        design = _pe_design(x, v, _direction(x, policy, direction))
    else:
        design = _exchange(x, v, criterion, matrix, allowed)
    if not design.efficiency_bound >= 1 - allowed:
        warnings.warn(_complaint(design, allowed), DesignWarning, stacklevel=2)
    return design


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
    :math:`(\det A(b) / \det A(b^*))^{1/d}`), which is the factor by which the rounds could be
    cut. The best value is replaced by the certified lower bound of the solver, so the result is
    never above the truth, and close to it.

    Parameters
    ----------
    weights : array-like, shape (A,)
        The design b: non-negative, summing to one.
    features, variances, criterion, policy, direction, matrix
        As in :func:`optimal_design`.

    Returns
    -------
    float
        A number in [0, 1]; 0 for a design that cannot estimate what is asked.

    Examples
    --------
    >>> one_hot = [[1.0, 0.0], [0.0, 1.0]]
    >>> round(design_efficiency([0.5, 0.5], one_hot, [1.0, 4.0], policy=[0.5, 0.5]), 9)
    0.9
    """
    x = check_features(features)
    b = check_policy(weights, x.shape[0], name="weights")
    best = optimal_design(
        x, variances, criterion, policy=policy, direction=direction, matrix=matrix
    )
    v = check_variances(variances, x.shape[0])
    if criterion == "D":
        gap = (_log_det(b, x, v) - best.value) / x.shape[1]
        return float(min(1.0, best.efficiency_bound * np.exp(gap)))
    value = _value(criterion, b, x, v, policy, direction, matrix)
    if value == 0.0:
        return 1.0
    return float(min(1.0, best.efficiency_bound * best.value / value))


def _pe_design(x: Floats, v: Floats, c: Floats) -> Design:
    solution = elfving(x, v, c)
    sound = solution.residual <= RANGE_TOLERANCE
    ratio = solution.lower / solution.norm if solution.norm > 0 else 1.0
    return Design(
        weights=solution.weights,
        value=solution.norm**2,
        efficiency_bound=min(1.0, ratio) ** 2 if sound else 0.0,
        dual=solution.dual,
        criterion="PE",
        iterations=solution.iterations,
    )


def _exchange(
    x: Floats, v: Floats, criterion: str, matrix: ArrayLike | None, tolerance: float
) -> Design:
    from speedlib.solvers.exchange import exchange_design

    points = x if criterion == "G" else x / np.sqrt(v)[:, None]
    kernel = None if matrix is None else check_psd("matrix", matrix, x.shape[1])
    found = exchange_design(
        points, "D" if criterion == "G" else criterion, matrix=kernel, tolerance=tolerance
    )
    value = found.value
    if criterion == "G":
        value = _worst_prediction(found.weights, x)
    return Design(
        found.weights, value, found.efficiency_bound, found.dual, criterion, found.iterations
    )


def _value(
    criterion: str,
    b: Floats,
    x: Floats,
    v: Floats,
    policy: ArrayLike | None,
    direction: ArrayLike | None,
    matrix: ArrayLike | None,
) -> float:
    """Criterion value of a design, to be minimised (all criteria but D)."""
    if criterion == "PE":
        return float(pe_loss(b, x, v, policy=policy, direction=direction))
    if criterion == "G":
        return _worst_prediction(b, x)
    d = x.shape[1]
    kernel = np.eye(d) if matrix is None else check_psd("matrix", matrix, d)
    eigenvalues, vectors = np.linalg.eigh(kernel)
    factors = vectors.T[eigenvalues > 0] * np.sqrt(eigenvalues[eigenvalues > 0])[:, None]
    return float(sum(float(pe_loss(b, x, v, direction=row)) for row in factors))


def _worst_prediction(b: Floats, x: Floats) -> float:
    """Return max over actions of x' A(b)^-1 x with unit variances; inf for a singular design."""
    root = np.sqrt(b[b > 0])[:, None] * x[b > 0]
    scale = _column_scale(x)
    upper = np.linalg.qr(root / scale, mode="r")
    _, singular, right = np.linalg.svd(upper, full_matrices=False)
    if singular.size < x.shape[1] or singular[-1] <= _rank_cut(root.shape) * singular[0]:
        return float("inf")
    return float((((x / scale) @ (right.T / singular)) ** 2).sum(axis=1).max())


def _log_det(b: Floats, x: Floats, v: Floats) -> float:
    sign, value = np.linalg.slogdet(information_matrix(b, x, v))
    return float(value) if sign > 0 else -np.inf


def _squared_norm_of_solution(rows: Floats, c: Floats) -> Floats:
    """Minimum of |v|^2 subject to rows' v = c, inf if there is none; rows has shape (..., m, d)."""
    scale = _column_scale(rows)
    target = c / scale
    upper = np.linalg.qr(rows / scale[..., None, :], mode="r")
    _, singular, right = np.linalg.svd(upper, full_matrices=False)
    top = singular.max(axis=-1, keepdims=True, initial=0.0)
    kept = singular > _rank_cut(rows.shape[-2:]) * top
    part = np.einsum("...kd,...d->...k", right, target) * kept
    missed = target - np.einsum("...kd,...k->...d", right, part)
    size = np.linalg.norm(target, axis=-1)
    loss = ((part / np.where(kept, singular, 1.0)) ** 2).sum(axis=-1)
    return np.where(np.linalg.norm(missed, axis=-1) <= RANGE_TOLERANCE * size, loss, np.inf)


def _column_scale(rows: Floats) -> Floats:
    """Largest absolute entry of each column, 1 for an empty one; shape (..., d)."""
    scale = np.abs(rows).max(axis=-2, initial=0.0)
    return np.asarray(np.where(scale > 0, scale, 1.0))


def _rank_cut(shape: tuple[int, ...]) -> float:
    return 4 * max(shape) * float(np.finfo(float).eps)


def _direction(x: Floats, policy: ArrayLike | None, direction: ArrayLike | None) -> Floats:
    if (policy is None) == (direction is None):
        raise ValueError("policy, direction: pass exactly one of them")
    if policy is not None:
        return target_direction(x, policy)
    assert direction is not None
    return check_direction(direction, x.shape[1])


def _check_weights(weights: ArrayLike, n_actions: int) -> Floats:
    b = check_finite("weights", weights)
    if b.shape[-1:] != (n_actions,):
        raise ValueError(f"weights: expected shape (..., {n_actions}); got shape {b.shape}")
    if np.any(b < 0):
        raise ValueError(f"weights: must be at least 0; got {b.min():g}")
    return b


def _check_tolerance(tolerance: float) -> float:
    if not 0 < tolerance < 1:
        raise ValueError(f"tolerance: must lie between 0 and 1; got {tolerance!r}")
    return float(tolerance)


def _check_arguments(
    criterion: str,
    policy: ArrayLike | None,
    direction: ArrayLike | None,
    matrix: ArrayLike | None,
) -> None:
    if criterion != "PE" and (policy is not None or direction is not None):
        raise ValueError(f'policy, direction: only for criterion "PE"; got criterion {criterion!r}')
    if (criterion == "linear") != (matrix is not None):
        raise ValueError(
            'matrix: required by criterion "linear" and by no other; '
            f"got criterion {criterion!r} {'with' if matrix is not None else 'without'} matrix"
        )


def _complaint(design: Design, tolerance: float) -> str:
    if design.criterion == "PE":
        cause = "the features are too badly conditioned for double precision"
        cure = "rescale or rotate the features, or drop nearly dependent ones"
    else:
        cause = f"the solver stopped after {design.iterations} iterations"
        cure = "accept it with a larger tolerance, or rescale the features"
    return (
        f"{design.criterion}-optimal design: certified efficiency {design.efficiency_bound:.12g} "
        f"misses 1 - {tolerance:g}, because {cause}; {cure}."
    )
