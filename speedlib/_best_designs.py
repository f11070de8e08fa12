"""Which solver finds the best design, and what it is worth: behind `designs`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from speedlib._tolerances import EPS, RESIDUAL_TOLERANCE, TIGHTEST_GAP
from speedlib.checks import Floats
from speedlib.criteria import criterion_value
from speedlib.limits import Limits
from speedlib.solvers import _limited, elfving, exchange
from speedlib.solvers._ellipsoid import Kernel, kernel_of
from speedlib.solvers._naming import points_are_features

__all__ = ["Found", "best_design", "complaint", "value_of"]

#: Criteria that take bounds on shares: those that are the trace of a matrix times an inverse.
BOUNDED = ("PE", "A", "linear")


class Found(NamedTuple):
    """A design as a solver found it, with the mean cost of its rounds."""

    weights: Floats
    value: float
    efficiency_bound: float
    dual: Floats
    iterations: int
    cost: float


def value_of(
    criterion: str, weights: Floats, x: Floats, v: Floats, target: Floats | None, cost: float
) -> float:
    """Return the value of a design per unit of money, as `Design.value` defines it."""
    if criterion == "PE" and target is not None and target.ndim == 2:
        columns = [criterion_value("PE", weights, x, v, column) for column in target.T]
        return float(sum(columns)) * cost
    value = criterion_value(criterion, weights, x, v, target)
    if criterion == "D":
        return float(value - x.shape[1] * np.log(cost))
    return value * cost


def best_design(
    criterion: str,
    x: Floats,
    v: Floats,
    target: Floats | None,
    tolerance: float,
    limits: Limits,
) -> Found:
    r"""Find the best design within limits for checked numbers.

    Costs alone are a change of the variances: with shares s of the money, :math:`A` is
    :math:`\sum_a s(a)\,x(a)x(a)^\top / (\sigma^2(a)\kappa(a))` per unit of it.
    """
    if criterion == "G" and limits.priced:
        raise ValueError(
            'costs: not offered for criterion "G", whose design takes no account of variances; '
            'use "D"'
        )
    if limits.bounded:
        if criterion not in BOUNDED:
            raise ValueError(
                f'least, most: offered for the criteria "PE", "A" and "linear"; got {criterion!r}'
            )
        return _within(criterion, x, v, target, limits)
    if criterion == "PE":
        assert target is not None
        if target.ndim == 2:
            return _several(x, v, target, limits)
        return _by_money(_single(x, v * limits.costs, target), limits)
    with points_are_features():
        return _by_money(_smooth(x, v * limits.costs, criterion, target, tolerance), limits)


def _by_money(found: Found, limits: Limits) -> Found:
    """Turn shares of money into shares of rounds."""
    if not limits.priced:
        return found
    rounds = found.weights / limits.costs
    return found._replace(weights=rounds / rounds.sum(), cost=1.0 / float(rounds.sum()))


def _single(x: Floats, v: Floats, c: Floats) -> Found:
    solution = elfving.solve(x, np.sqrt(v), c)
    sound = solution.residual <= RESIDUAL_TOLERANCE
    return Found(
        solution.weights,
        solution.norm**2,
        max(0.0, 1 - solution.gap) ** 2 if sound else 0.0,
        solution.dual,
        solution.iterations,
        1.0,
    )


def _smooth(x: Floats, v: Floats, criterion: str, matrix: Floats | None, tolerance: float) -> Found:
    if criterion == "G":
        found = exchange.solve(x, "G", tolerance=tolerance, name="features")
    else:
        points = x / np.sqrt(v)[:, None]
        found = exchange.solve(points, criterion, matrix, tolerance=tolerance)
    return Found(
        found.weights, found.value, found.efficiency_bound, found.dual, found.iterations, 1.0
    )


def _several(x: Floats, v: Floats, columns: Floats, limits: Limits) -> Found:
    """Find the best design for several targets; by Elfving's program if they are one."""
    kernel = kernel_of_columns(columns)
    if kernel is not None and kernel.root.shape[1] == 1:
        found = _by_money(_single(x, v * limits.costs, kernel.root[:, 0]), limits)
        return found._replace(dual=found.dual[:, None])
    return _within("PE", x, v, columns, limits)


def _within(criterion: str, x: Floats, v: Floats, target: Floats | None, limits: Limits) -> Found:
    """Find the best design within bounds, for one target, several or a matrix."""
    d = x.shape[1]
    if criterion == "PE":
        assert target is not None
        kernel = kernel_of_columns(target.reshape(d, -1))
    else:
        kernel = kernel_of(target, d)
    if kernel is None:  # nothing to estimate: every design is as good
        cheap = np.eye(1, len(x), int(elfving.quietest(x, v * limits.costs)))[0]
        b = limits.nearest(cheap)
        return Found(b, 0.0, 1.0, np.zeros((d, 1)), 0, float(b @ limits.costs))
    found = _limited.solve(x, v, kernel, limits)
    single = target is not None and target.ndim == 1  # the certificate is then a vector
    return Found(
        found.weights,
        found.value,
        found.efficiency_bound,
        found.dual[:, 0] if single else found.dual,
        found.iterations,
        float(found.weights @ limits.costs),
    )


def kernel_of_columns(columns: Floats) -> Kernel | None:
    """Return K = CC' for known columns C (d, K), in as many columns as its rank; None if it is 0.

    The rank is judged with each row in its own unit.
    """
    scale = np.abs(columns).max(axis=1)
    if not scale.any():
        return None
    unit = np.where(scale > 0, scale, 1.0)
    left, singular, _ = np.linalg.svd(columns / unit[:, None], full_matrices=False)
    solid = singular > EPS * max(columns.shape) * singular[0]
    root = columns
    if columns.shape[1] > 1:
        root = unit[:, None] * left[:, solid] * singular[solid]
    doubt = EPS * max(columns.shape) * singular[0] / singular[solid]
    return Kernel(root, root, np.zeros(len(columns)), doubt)


def complaint(criterion: str, found: Found, tolerance: float, limits: Limits) -> str:
    """Say that a design misses its tolerance, why, and what to do."""
    if limits.bounded or (criterion == "PE" and found.dual.ndim == 2):
        cause = (
            "the features are so nearly dependent, or so unlike in length, that double precision "
            "allows no higher efficiency within these limits"
        )
        cure = "drop or combine nearly dependent features, or allow a larger tolerance"
    elif criterion == "PE":
        cause = (
            "the features are so nearly dependent, or so unlike in length, that double precision "
            "does not determine the optimum"
        )
        cure = "drop or combine nearly dependent features and actions, or allow a larger tolerance"
    elif criterion == "G":
        cause = (
            f"after {found.iterations} iterations the largest x' inv(M) x is {found.value:.15g}, "
            f"the optimum is {len(found.dual)}, and rounding errors prevent a better one"
        )
        cure = _cure_of_rounding(1.0 - found.efficiency_bound)
    else:
        cause = (
            f"the solver stopped after {found.iterations} iterations, or rounding errors of the "
            "features (or of the matrix) change the optimum by as much as this gap"
        )
        cure = "drop or combine nearly dependent features, or allow a larger tolerance"
    return (
        f"{criterion}-optimal design: certified efficiency {found.efficiency_bound:.12g} "
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
