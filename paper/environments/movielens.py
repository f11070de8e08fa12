"""Environments of movies and people, from a table of ratings as in the paper's MovieLens runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from speedlib import Environment, LinearBandit
from speedlib.bandit import quadratic_form
from speedlib.checks import check_choice, check_count
from speedlib.environments import threshold_policy
from speedlib.factorisation import factorise
from speedlib.fitting import fit_model, fit_variances

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]

#: Whose parameter the rewards of a run follow; see `fit_films`.
THETAS = ("user", "everyone")


@dataclass(frozen=True, eq=False)
class FilmModel:
    """A model of ratings: movies, people and noise.

    Attributes
    ----------
    films, people : ndarray of int
        The numbers of the F movies and U people in the table.
    features : ndarray, shape (F, d)
        Factors of the movies.
    thetas : ndarray, shape (U, d)
        A parameter for each person.
    Sigma : ndarray, shape (d, d)
        The matrix of the variances, which are quadratic forms of the features.
    counts : ndarray of int, shape (F,)
        Number of ratings of each movie.
    variances, squares : ndarray, shape (N,)
        The fitted variance and the squared residual of each rating.
    """

    films: NDArray[np.int64]
    people: NDArray[np.int64]
    features: Floats
    thetas: Floats
    Sigma: Floats
    counts: NDArray[np.int64]
    variances: Floats
    squares: Floats


def fit_films(
    ratings: pd.DataFrame,
    *,
    rank: int = 5,
    ridge: float = 0.1,
    centre: bool = False,
    theta: str = "user",
    variance_floor: float = 0.05,
    seed: int = 0,
) -> FilmModel:
    """Factorise ratings, and fit variances to the residuals.

    Parameters
    ----------
    ratings : pandas.DataFrame
        With the columns ``user``, ``film`` and ``rating``.
    rank : int
        Number of factors.
    ridge : float
        See `speedlib.factorisation.factorise`.
    centre : bool
        Whether the mean rating is subtracted first.
    theta : {"user", "everyone"}
        ``"user"``: the parameter is each person's own factors, as in the paper's appendix.
        ``"everyone"``: one parameter, fitted to all ratings by weighted least squares, is used for
        all, as in its main text.
    variance_floor : float
        See `speedlib.fitting.fit_model`.
    seed : int
        Seed of the factorisation.
    """
    check_choice("theta", theta, THETAS)
    people, at_people = np.unique(ratings["user"].to_numpy(np.int64), return_inverse=True)
    films, at_films = np.unique(ratings["film"].to_numpy(np.int64), return_inverse=True)
    values = ratings["rating"].to_numpy(np.float64)
    values = values - values.mean() if centre else values
    factors = factorise(at_people, at_films, values, rank, ridge=ridge, rng=seed)
    X = factors.right[at_films]
    if theta == "user":
        thetas, squares = factors.left, factors.residuals**2
        Sigma = fit_variances(X, squares, variance_floor=variance_floor)
    else:
        fit = fit_model(X, values, variance_floor=variance_floor)
        thetas = np.tile(fit.theta, (people.size, 1))
        squares, Sigma = (values - X @ fit.theta) ** 2, fit.Sigma
    counts = np.bincount(at_films)
    variances = quadratic_form(X, Sigma)
    return FilmModel(films, people, factors.right, thetas, Sigma, counts, variances, squares)


def draw_run(
    model: FilmModel,
    rng: np.random.Generator,
    *,
    n_films: int = 100,
    min_ratings: int = 10,
    n_low: int = 10,
    low_probability: float = 0.01,
    noise: str = "gaussian",
) -> Environment:
    """Draw one person and some movies at random: the environment of one run.

    Parameters
    ----------
    model : FilmModel
        From `fit_films`.
    rng : numpy.random.Generator
        Source of randomness.
    n_films : int
        Number of actions.
    min_ratings : int
        Only movies with at least this number of ratings are drawn.
    n_low, low_probability
        The target policy: how many of the noisiest movies share a probability, and this
        probability. The paper does not say which policy it evaluates here; we take the policy of
        its other data sets.
    noise : str
        Noise law of the bandit.

    Raises
    ------
    ValueError
        If too few movies have enough ratings.
    """
    known = np.flatnonzero(model.counts >= min_ratings)
    if known.size < check_count("n_films", n_films, 2):
        raise ValueError(
            f"min_ratings: {n_films} movies are needed, but only {known.size} have "
            f"{min_ratings} ratings"
        )
    theta = model.thetas[rng.integers(len(model.thetas))]
    features = model.features[np.sort(rng.choice(known, n_films, replace=False))]
    bandit = LinearBandit(features, theta, Sigma=model.Sigma, noise=noise)
    policy = threshold_policy(bandit.variances, n_low, low_probability)
    return Environment("films", bandit, policy)
