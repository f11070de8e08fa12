"""Exploration: which actions to pull while the variances are unknown, and for how long."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from speedlib._tolerances import POWER_SLACK
from speedlib.checks import (
    Counts,
    Floats,
    check_budgets,
    check_choice,
    check_count,
    check_designs,
    check_features,
    check_replications,
    check_rng,
)
from speedlib.identification import coordinates
from speedlib.rounding import efficient_counts
from speedlib.solvers.exchange import solve

__all__ = [
    "EXPLORATIONS",
    "SAMPLINGS",
    "check_exploration_length",
    "exploration_counts",
    "exploration_design",
    "exploration_length",
    "identifiable_design",
    "pca_directions",
]

#: Names of the exploration designs.
EXPLORATIONS = ("pca", "uniform", "identifiable")

#: How the pulls of an exploration design are laid out.
SAMPLINGS = ("random", "balanced")


def exploration_design(
    name: str, features: ArrayLike, rng: np.random.Generator, replications: int | None = None
) -> Floats:
    """Return the weights of a named exploration design.

    Parameters
    ----------
    name : {"pca", "uniform", "identifiable"}
        ``"pca"``: the paper's design, see `pca_directions`; ``"uniform"``: every action equally;
        ``"identifiable"``: see `identifiable_design`.
    features : array, shape (A, d)
    rng : numpy.random.Generator
        Source of the random actions of ``"pca"``.
    replications : int, optional
        Number of independent designs; None for a single one without a leading axis.

    Returns
    -------
    array, shape (A,) or (replications, A)
        Weights that sum to 1.

    Raises
    ------
    ValueError
        If the name is unknown or the features are malformed.
    """
    check_choice("name", name, EXPLORATIONS)
    features = check_features(features)
    size = 1 if replications is None else check_count("replications", replications, 1)
    rng = check_rng(rng)
    if name == "uniform":
        weights = np.full((size, len(features)), 1.0 / len(features))
    elif name == "identifiable":
        weights = np.tile(identifiable_design(features), (size, 1))
    else:
        weights = _one_action_per_direction(pca_directions(features), features, rng, size)
    return weights[0] if replications is None else weights


def identifiable_design(features: ArrayLike) -> Floats:
    r"""Return the design that determines the variances best, shape (A,).

    Variances are linear in :math:`\Sigma_*`: :math:`\sigma^2(a) = \varphi(a)^\top
    \operatorname{svec}\Sigma_*` with :math:`\varphi(a) = \operatorname{svec}(x(a)x(a)^\top)`. So
    exploration is a regression on the :math:`\varphi(a)`. This design is D-optimal for the
    regression: it maximises the determinant of :math:`\sum_a b(a)\,\varphi(a)\varphi(a)^\top` on
    the span of the :math:`\varphi(a)`, so the explored actions determine the variance of *every*
    action.

    Parameters
    ----------
    features : array, shape (A, d)

    Raises
    ------
    ValueError
        If the features are malformed or all 0.

    Notes
    -----
    The design does not depend on the coordinates of the features. Its support has at least r and at
    most r(r+1)/2 actions, where r is the dimension of the span. The cost is a few passes over A
    points in r dimensions, with r at most d(d+1)/2. Weltz et al. explore in a similar way.

    References
    ----------
    J. Weltz, T. Fiez, A. Volfovsky, E. Laber, B. Mason, H. Nassif and L. Jain, "Experimental
    designs for heteroskedastic variance", NeurIPS (2023).

    Examples
    --------
    >>> identifiable_design([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 0.0]]).round(6)
    array([0.      , 0.333333, 0.333333, 0.333333])
    """
    features = check_features(features)
    if not features.any():
        raise ValueError("features: exploration needs an action whose features are not all 0")
    return solve(coordinates(features), "D").weights


def pca_directions(features: ArrayLike) -> Floats:
    r"""Return the principal directions of the features, most significant first, shape (d, d).

    The rows are the eigenvectors of :math:`\sum_a x(a)x(a)^\top`. The second moment is not
    centred, because exploration has to span the features and not their differences.

    Notes
    -----
    Section 4.1 of the paper requires the d most significant principal directions of the
    d-dimensional features, which are all of them, and "one random action" of each direction. It
    does not say which actions belong to a direction. Here an action belongs to the direction to
    which its line has the smallest angle, and one action of each direction is drawn uniformly. A
    direction without actions takes the closest action that is not the only action of another
    direction. If there is no such action, it takes the closest of all. Actions whose features are
    all 0 say nothing about the variances and belong to no direction.
    """
    features = check_features(features)
    _, vectors = np.linalg.eigh(features.T @ features)
    return np.asarray(vectors.T[::-1])


def _one_action_per_direction(
    directions: Floats, features: Floats, rng: np.random.Generator, size: int
) -> Floats:
    norms = np.linalg.norm(features, axis=1)
    cosines = np.abs(features @ directions.T) / np.where(norms > 0, norms, 1.0)[:, None]
    owner = np.where(norms > 0, np.argmax(cosines, axis=1), -1)
    weights = np.zeros((size, len(features)))
    for direction in range(len(directions)):
        company = (owner >= 0) & (np.bincount(owner + 1)[owner + 1] > 1)
        if not np.any(owner == direction) and np.any(company):
            owner[np.argmax(np.where(company, cosines[:, direction], -1.0))] = direction
    for direction in range(len(directions)):
        group = np.flatnonzero(owner == direction)
        if group.size == 0:  # fewer informative actions than directions
            group = np.array([np.argmax(np.where(norms > 0, cosines[:, direction], -1.0))])
        chosen = group[rng.integers(group.size, size=size)]
        weights[np.arange(size), chosen] += 1.0 / len(directions)
    return weights


def exploration_counts(
    weights: Floats, rounds: ArrayLike, rng: np.random.Generator, sampling: str = "random"
) -> Counts:
    """Return numbers of pulls for an exploration design.

    Parameters
    ----------
    weights : array, shape (..., A)
        The exploration design.
    rounds : int, or array of int, shape (...,)
        Number of exploration rounds, at least 0: one for all designs or one for each.
    rng : numpy.random.Generator
        Used by ``"random"`` only.
    sampling : {"random", "balanced"}
        ``"random"``: each round draws an action (the paper samples "uniform randomly");
        ``"balanced"``: efficient apportionment, as even as whole numbers allow.

    Returns
    -------
    array of int, shape (..., A)
        Pulls that sum to `rounds`.
    """
    check_choice("sampling", sampling, SAMPLINGS)
    rounds, rng = check_budgets(rounds), check_rng(rng)
    weights = check_designs(weights)
    if np.ndim(rounds) and weights.ndim > 1:
        check_replications("rounds", rounds[..., None], "weights", weights)
    if sampling == "balanced":
        return efficient_counts(weights, rounds)
    return np.asarray(rng.multinomial(rounds, weights / weights.sum(axis=-1, keepdims=True)))


#: ``n^p`` or ``k*n^p`` with positive k and p below one.
_POWER = re.compile(r"\s*(?:(?P<factor>\d*\.?\d+)\s*\*\s*)?n\s*\^\s*(?P<power>0?\.\d+)\s*")


def check_exploration_length(rule: Any) -> int | str:
    """Return a rule for the length of exploration; the error for any other text lists the rules.

    Parameters
    ----------
    rule : int or str
        A number of rounds, ``"sqrt"``, ``"n^0.6"``, ``"0.5*n^0.5"``, or ``"tuned"``, with which the
        data decide.
    """
    if not isinstance(rule, str):
        return check_count("exploration_rounds", rule, 1)
    match = _POWER.fullmatch(rule)
    if rule not in ("sqrt", "tuned") and not (match and float(match["power"]) > 0):
        raise ValueError(
            'exploration_rounds: must be a whole number, "sqrt", "tuned", or a multiple of a power '
            f'of n below one, as in "0.5*n^0.6"; got {rule!r}'
        )
    if match and match["factor"] and not 0 < float(match["factor"]) < math.inf:
        raise ValueError(
            f"exploration_rounds: the factor must be positive and finite; got {rule!r}"
        )
    return rule


def exploration_length(rule: int | str, rounds: int) -> int:
    r"""Return the number of exploration rounds :math:`\Gamma` for a budget of n rounds.

    Parameters
    ----------
    rule : int or str
        See `check_exploration_length`; ``"tuned"`` has no length before the data are seen.
    rounds : int
        The budget n, at least 1.

    Returns
    -------
    int
        At least 1; it may exceed the budget. ``"sqrt"`` is :math:`\lfloor\sqrt n\rfloor`, and
        powers are rounded down, too.

    Examples
    --------
    >>> exploration_length("sqrt", 99), exploration_length("2*n^0.5", 100)
    (9, 20)
    """
    check_exploration_length(rule)
    rounds = check_count("rounds", rounds, 1)
    if rule == "tuned":
        raise ValueError('exploration_rounds: the length of "tuned" depends on the data')
    if rule == "sqrt":
        return math.isqrt(rounds)
    match = _POWER.fullmatch(rule) if isinstance(rule, str) else None
    if match is None:
        return int(rule)
    length = float(match["factor"] or 1) * math.pow(rounds, float(match["power"]))
    return max(1, math.floor(length * (1 + POWER_SLACK)))
