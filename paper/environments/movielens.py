"""Environments of films and people, out of a table of ratings as in the paper's MovieLens runs."""

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

#: Whose parameter the rewards of a run follow: see `fit_films`.
THETAS = ("user", "everyone")


@dataclass(frozen=True, eq=False)
class FilmModel:
    """What ratings say of films, of people and of the noise.

    Attributes
    ----------
    films, people : ndarray of int
        Their numbers in the table, F films and U people.
    features : ndarray, shape (F, d)
        Factors of the films.
    thetas : ndarray, shape (U, d)
        A parameter for each of the people.
    Sigma : ndarray, shape (d, d)
        Variances are quadratic forms of the features with this matrix.
    counts : ndarray of int, shape (F,)
        Ratings of each film.
    variances, squares : ndarray, shape (N,)
        Fitted variance and squared residual of each rating.
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
    """Factorise ratings, and fit variances to what the factors leave over.

    Parameters
    ----------
    ratings : pandas.DataFrame
        With the columns ``user``, ``film`` and ``rating``.
    rank : int
        Number of factors.
    ridge : float
        See `speedlib.factorisation.factorise`.
    centre : bool
        Whether the mean rating is taken off first.
    theta : {"user", "everyone"}
        ``"user"``: each person has their own factors as the parameter. ``"everyone"``: one
        parameter, fitted to all ratings by weighted least squares, serves all. The paper says the
        one in its appendix and the other in its main text.
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
    """Draw one person and some films at random: the environment of one run.

    Parameters
    ----------
    model : FilmModel
        From `fit_films`.
    rng : numpy.random.Generator
        Source of the choice.
    n_films : int
        Number of actions.
    min_ratings : int
        Only films with so many ratings are drawn.
    n_low, low_probability
        Target policy: the noisiest films, and the probability that they share. The paper does not
        say what policy it evaluates here; this is the one of its other data sets.
    noise : str
        Noise law of the bandit.

    Raises
    ------
    ValueError
        If too few films have so many ratings.
    """
    known = np.flatnonzero(model.counts >= min_ratings)
    if known.size < check_count("n_films", n_films, 2):
        raise ValueError(
            f"min_ratings: only {known.size} films have {min_ratings} ratings; {n_films} are needed"
        )
    theta = model.thetas[rng.integers(len(model.thetas))]
    features = model.features[np.sort(rng.choice(known, n_films, replace=False))]
    bandit = LinearBandit(features, theta, Sigma=model.Sigma, noise=noise)
    policy = threshold_policy(bandit.variances, n_low, low_probability)
    return Environment("films", bandit, policy)
