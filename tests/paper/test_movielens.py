"""Environments of films: planted ratings, and what a run draws."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from paper.environments.movielens import draw_run, fit_films
from speedlib.bandit import quadratic_form


def planted(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return ratings of films by people, numbered with gaps, and the products behind them."""
    rng = np.random.default_rng(seed)
    films = np.column_stack([np.full(120, 2.0), rng.normal(size=120)])
    people = np.column_stack([rng.uniform(1.0, 2.0, size=300), rng.normal(size=300)])
    at_people, at_films = np.nonzero(rng.random((300, 120)) < 0.6)
    deviations = np.sqrt(quadratic_form(films, np.diag([0.05, 0.2])))
    means = people @ films.T
    ratings = means[at_people, at_films] + rng.normal(size=at_films.size) * deviations[at_films]
    table = {"user": 10 * at_people + 7, "film": 3 * at_films, "rating": ratings}
    return pd.DataFrame(table).sample(frac=1, random_state=1), means


def test_planted_means_and_variances_are_found() -> None:
    ratings, means = planted(1)
    model = fit_films(ratings, rank=2, ridge=1e-4, seed=5)
    assert model.films.tolist() == [3 * film for film in range(120)]
    assert model.people.tolist() == [10 * person + 7 for person in range(300)]
    assert np.abs(model.thetas @ model.features.T - means).mean() < 0.1
    features = np.column_stack([np.full(120, 2.0), np.random.default_rng(1).normal(size=120)])
    expected = quadratic_form(features, np.diag([0.05, 0.2]))
    found = quadratic_form(model.features, model.Sigma)
    assert np.corrcoef(found, expected)[0, 1] > 0.97
    # A little lower, as the factors follow the noise of the ratings that they were fitted to.
    assert 0.9 < found.mean() / expected.mean() < 1.0
    assert model.counts.sum() == model.squares.size == len(ratings)


def test_one_parameter_for_everyone_is_the_regression_on_the_features() -> None:
    ratings, _ = planted(2)
    model = fit_films(ratings, rank=2, theta="everyone")
    assert np.ptp(model.thetas, axis=0).max() == 0
    at = np.searchsorted(model.films, ratings["film"])
    X, y = model.features[at], ratings["rating"].to_numpy()
    weights = 1 / np.sqrt(quadratic_form(X, model.Sigma))
    expected = np.linalg.lstsq(X * weights[:, None], y * weights, rcond=None)[0]
    np.testing.assert_allclose(model.thetas[0], expected, rtol=1e-3)
    np.testing.assert_allclose(model.squares, (y - X @ model.thetas[0]) ** 2)


def test_centring_takes_off_the_mean_rating() -> None:
    ratings, _ = planted(3)
    model = fit_films(ratings, rank=2, centre=True)
    shifted = ratings.assign(rating=ratings["rating"] + 100.0)
    np.testing.assert_allclose(fit_films(shifted, rank=2, centre=True).features, model.features)


def test_a_run_draws_a_person_and_films_and_avoids_the_noisy_ones() -> None:
    ratings, _ = planted(4)
    model = fit_films(ratings, rank=2)
    drawn = draw_run(model, np.random.default_rng(1), n_films=50, n_low=5, low_probability=0.05)
    bandit, policy = drawn.bandit, drawn.policy
    places = [np.flatnonzero((model.features == x).all(axis=1)) for x in bandit.features]
    assert sorted({int(place[0]) for place in places}) == [int(place[0]) for place in places]
    assert (model.thetas == bandit.theta).all(axis=1).sum() == 1
    assert policy[np.argsort(-bandit.variances)[:5]].sum() == pytest.approx(0.05)
    other = draw_run(model, np.random.default_rng(2), n_films=50)
    assert not np.array_equal(other.bandit.theta, bandit.theta)


def test_only_films_with_enough_ratings_are_drawn() -> None:
    ratings, _ = planted(5)
    model = fit_films(ratings, rank=2)
    most = int(np.sort(model.counts)[-10])
    drawn = draw_run(model, np.random.default_rng(1), n_films=10, min_ratings=most, n_low=2)
    allowed = model.features[model.counts >= most]
    assert all((allowed == x).all(axis=1).any() for x in drawn.bandit.features)
    with pytest.raises(
        ValueError, match=r"min_ratings: 100 movies are needed, but only .* have .* ratings"
    ):
        draw_run(model, np.random.default_rng(1), min_ratings=most)


def test_an_unknown_parameter_is_refused() -> None:
    with pytest.raises(ValueError, match="theta"):
        fit_films(planted(6)[0], theta="nobody")
