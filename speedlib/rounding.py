"""Turn a design, which gives each action a share of the rounds, into whole numbers of pulls."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from speedlib._tolerances import PULL_SLACK, TIE_TOLERANCE
from speedlib.checks import (
    Counts,
    Floats,
    check_budgets,
    check_choice,
    check_designs,
    check_replications,
)

__all__ = ["ROUNDINGS", "ceil_counts", "efficient_counts", "floor_counts", "round_design"]


def floor_counts(weights: ArrayLike, rounds: ArrayLike) -> Counts:
    r"""Round down: :math:`T(a) = \lfloor n\, b(a) + 10^{-9} \rfloor`.

    The total is at most `rounds`; less than one pull per support point is lost. An action with
    :math:`n\, b(a) < 1` is never pulled, so a small support point can vanish.

    Parameters
    ----------
    weights : array-like, shape (..., A)
        Designs b: non-negative, each summing to one.
    rounds : int, or array of int, shape (...,)
        Number of rounds n, at least 0 and at most 2**52; one for all designs or one for each.

    Returns
    -------
    ndarray of int64, shape (..., A)
        Numbers of pulls.

    Raises
    ------
    TypeError, ValueError
        If the weights are not designs, or the rounds are not whole numbers of at least 0.

    References
    ----------
    The paper, Algorithm 1, line 4.

    Examples
    --------
    >>> floor_counts([0.29, 0.71], 100)
    array([29, 71])
    """
    return np.floor(_targets(weights, rounds) + PULL_SLACK).astype(np.int64)


def ceil_counts(weights: ArrayLike, rounds: ArrayLike) -> Counts:
    r"""Round up: :math:`T(a) = \lceil n\, b(a) - 10^{-9} \rceil`.

    The total is at least `rounds` and exceeds it by at most the number of support points minus one.
    A weight below :math:`10^{-9}/n` counts as zero.

    Parameters
    ----------
    weights, rounds
        As in :func:`floor_counts`.

    Returns
    -------
    ndarray of int64, shape (..., A)
        Numbers of pulls.

    References
    ----------
    The paper, Proposition 5.

    Examples
    --------
    >>> ceil_counts([0.29, 0.705, 0.005], 100)
    array([29, 71,  1])
    """
    # The maximum turns the -0.0 of an empty weight into 0.
    return np.maximum(np.ceil(_targets(weights, rounds) - PULL_SLACK), 0.0).astype(np.int64)


def efficient_counts(weights: ArrayLike, rounds: ArrayLike) -> Counts:
    r"""Efficient apportionment: whole numbers that sum to n and keep :math:`\min T/b` largest.

    With s support points, start from :math:`T(a) = \lceil (n - s/2)\, b(a) \rceil`. While the
    total is below n, add a pull where :math:`T(a)/b(a)` is smallest; while it is above n, remove a
    pull where :math:`(T(a) - 1)/b(a)` is largest. Among all apportionments to n rounds the result
    has the largest :math:`\min_a T(a) / (n\, b(a))`, a lower bound on its efficiency relative to b
    for every criterion of optimal design. If n >= s, every support point is pulled.

    Parameters
    ----------
    weights, rounds
        As in :func:`floor_counts`.

    Returns
    -------
    ndarray of int64, shape (..., A)
        Numbers of pulls; every row sums to `rounds` exactly.

    Notes
    -----
    Each design takes at most s steps, each of cost A; all designs are rounded together. If several
    support points are equal up to rounding errors, the first of these points gains or loses the
    pull.

    References
    ----------
    F. Pukelsheim and S. Rieder, "Efficient rounding of approximate designs", Biometrika 79
    (1992) 763-770.

    Examples
    --------
    >>> efficient_counts([0.5, 0.3, 0.2], 7)
    array([3, 2, 2])
    """
    b, budgets = _checked(weights, rounds)
    shape = (*np.broadcast_shapes(b.shape[:-1], budgets.shape), b.shape[-1])
    designs = np.broadcast_to(b, shape).reshape(-1, shape[-1])
    n = np.broadcast_to(budgets, shape[:-1]).reshape(-1, 1)
    divisor = np.where(designs > 0, designs, 1.0)
    multiplier = n - np.count_nonzero(designs, axis=1, keepdims=True) / 2
    first = (designs > 0) & (multiplier > 0)
    counts = np.maximum(np.ceil(multiplier * designs - PULL_SLACK), first.astype(float))
    missing = n[:, 0] - counts.sum(axis=1)
    while missing.any():
        short, over = np.flatnonzero(missing > 0), np.flatnonzero(missing < 0)
        served = np.where(designs[short] > 0, counts[short] / divisor[short], np.inf)
        counts[short, _first_least(served)] += 1
        spare = np.where(counts[over] > 0, (counts[over] - 1) / divisor[over], -np.inf)
        counts[over, _first_least(-spare)] -= 1
        missing -= np.sign(missing)
    return np.asarray(counts.astype(np.int64).reshape(shape))


def _first_least(values: Floats) -> Counts:
    """Return the place of the least entry of each row; of equal entries, up to rounding, the first.

    The last bits of a design differ between processors, and its pulls must not.
    """
    least = values.min(axis=1, initial=np.inf, keepdims=True)
    return np.asarray(np.argmax(values <= least + TIE_TOLERANCE * np.abs(least), axis=1))


#: Names of the rules.
ROUNDINGS = ("floor", "ceil", "efficient")

_RULES: dict[str, Callable[[ArrayLike, ArrayLike], Counts]] = {
    "floor": floor_counts,
    "ceil": ceil_counts,
    "efficient": efficient_counts,
}


def round_design(weights: ArrayLike, rounds: ArrayLike, rule: str = "floor") -> Counts:
    """Turn designs into numbers of pulls by the named rule.

    Parameters
    ----------
    weights, rounds
        As in :func:`floor_counts`.
    rule : {"floor", "ceil", "efficient"}
        See :func:`floor_counts`, :func:`ceil_counts` and :func:`efficient_counts`.

    Returns
    -------
    ndarray of int64, shape (..., A)
        Numbers of pulls.

    Examples
    --------
    >>> round_design([0.55, 0.45], 10, rule="efficient")
    array([5, 5])
    """
    return _RULES[check_choice("rule", rule, ROUNDINGS)](weights, rounds)


def _targets(weights: ArrayLike, rounds: ArrayLike) -> Floats:
    b, n = _checked(weights, rounds)
    return n[..., None] * b


def _checked(weights: ArrayLike, rounds: ArrayLike) -> tuple[Floats, Counts]:
    b, n = check_designs(weights), check_budgets(rounds)
    check_replications("rounds", n[..., None], "weights", b)
    return b, n
