"""Exploration designs: which actions to pull while the variances are unknown."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from speedlib.checks import (
    Counts,
    Floats,
    check_choice,
    check_count,
    check_designs,
    check_features,
    check_rounds,
)
from speedlib.rounding import efficient_counts

#: Names of the exploration designs.
EXPLORATIONS = ("pca", "uniform")

#: How the pulls of an exploration design are laid out.
SAMPLINGS = ("random", "balanced")


def exploration_design(
    name: str, features: ArrayLike, rng: np.random.Generator, replications: int | None = None
) -> Floats:
    """Return the weights of a named exploration design.

    Parameters
    ----------
    name : {"pca", "uniform"}
        ``"pca"``: the paper's, see `pca_directions`; ``"uniform"``: every action alike.
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
    check_choice("exploration", name, EXPLORATIONS)
    features = check_features(features)
    size = 1 if replications is None else check_count("replications", replications, 1)
    if name == "uniform":
        weights = np.full((size, len(features)), 1.0 / len(features))
    else:
        weights = _one_action_per_direction(pca_directions(features), features, rng, size)
    return weights[0] if replications is None else weights


def pca_directions(features: ArrayLike) -> Floats:
    r"""Return the principal directions of the features, most significant first, shape (d, d).

    The rows are the eigenvectors of :math:`\sum_a x(a)x(a)^\top`. The second moment is not
    centred, because exploration has to span the features and not their differences.

    Notes
    -----
    Section 4.1 of the paper asks for the d most significant principal directions of d-dimensional
    features, which is all of them, and for "one random action" of each without saying which
    actions belong to a direction. Here an action belongs to the direction with which its line
    encloses the smallest angle, and one of them is drawn uniformly; a direction that no action
    belongs to takes the closest action that is not the only one of its own direction.
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
        if not np.any(owner == direction):
            company = (owner >= 0) & (np.bincount(owner + 1)[owner + 1] > 1)
            owner[np.argmax(np.where(company, cosines[:, direction], -1.0))] = direction
    for direction in range(len(directions)):
        group = np.flatnonzero(owner == direction)
        if group.size == 0:  # fewer actions than directions
            group = np.array([int(np.argmax(cosines[:, direction]))])
        chosen = group[rng.integers(group.size, size=size)]
        weights[np.arange(size), chosen] += 1.0 / len(directions)
    return weights


def exploration_counts(
    weights: Floats, rounds: int, rng: np.random.Generator, sampling: str = "random"
) -> Counts:
    """Lay out the pulls of an exploration design.

    Parameters
    ----------
    weights : array, shape (..., A)
        The exploration design.
    rounds : int
        Number of exploration rounds, at least 1.
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
    check_choice("exploration_sampling", sampling, SAMPLINGS)
    rounds = check_rounds(rounds)
    weights = check_designs(weights)
    if sampling == "balanced":
        return efficient_counts(weights, rounds)
    return np.asarray(rng.multinomial(rounds, weights / weights.sum(axis=-1, keepdims=True)))
