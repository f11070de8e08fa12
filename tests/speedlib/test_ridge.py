"""Ridge and reweighted covariance estimates: against textbook regressions on single rounds."""

from __future__ import annotations

import numpy as np
import pytest

from speedlib.bandit import LinearBandit
from speedlib.covariance import estimate_covariance
from speedlib.rewards import Rewards

from .logs import exact_squares, random_log
from .per_round import covariance, ordinary_least_squares


@pytest.mark.parametrize("seed", range(4))
def test_ridge_by_the_textbook(seed: int) -> None:
    """In coordinates with second moment I: augmented least squares on vec rows of single rounds."""
    rng = np.random.default_rng([31, seed])
    features, actions, rewards = random_log(rng, 7, 3, 60, 7)
    log = Rewards.from_log(actions, rewards, 7)
    ridge = 0.3
    X = features[actions]
    squares = (rewards - X @ ordinary_least_squares(X, rewards)) ** 2
    moment = X.T @ X / 60
    values, vectors = np.linalg.eigh(moment)
    white = vectors @ np.diag(values**-0.5) @ vectors.T
    rows = np.array([np.outer(z, z).ravel() for z in X @ white]) / np.sqrt(60)
    strength = ridge * (rows**2).sum() / 6
    augmented = np.vstack([rows, np.sqrt(strength) * np.eye(9)])
    vector = np.linalg.lstsq(augmented, np.r_[squares / np.sqrt(60), np.zeros(9)], rcond=None)[0]
    expected = white @ vector.reshape(3, 3) @ white
    found = estimate_covariance(log, features, "ridge", ridge=ridge)
    assert found.Sigma == pytest.approx(expected, rel=1e-7, abs=1e-9)
    assert found.optimality == 0


@pytest.mark.parametrize("seed", range(4))
def test_ridge_does_not_depend_on_the_coordinates(seed: int) -> None:
    rng = np.random.default_rng([32, seed])
    features, actions, rewards = random_log(rng, 6, 2, 50, 6)
    log = Rewards.from_log(actions, rewards, 6)
    one = estimate_covariance(log, features, "ridge", ridge=0.1)
    change = rng.normal(size=(2, 2)) * [1e-4, 1e4]
    other = estimate_covariance(log, features @ change, "ridge", ridge=0.1)
    assert other.variances == pytest.approx(one.variances, rel=1e-6, abs=1e-9)


def test_a_little_ridge_is_the_least_norm_and_much_shrinks() -> None:
    rng = np.random.default_rng(33)
    features, actions, rewards = random_log(rng, 6, 2, 50, 6)
    log = Rewards.from_log(actions, rewards, 6)
    plain = estimate_covariance(log, features)
    little = estimate_covariance(log, features, "ridge", ridge=1e-9)
    assert little.variances == pytest.approx(plain.variances, rel=1e-6, abs=1e-8)
    sizes = [
        np.linalg.norm(estimate_covariance(log, features, "ridge", ridge=r).variances)
        for r in (0.001, 0.1, 0.9)
    ]
    assert sizes[0] > sizes[1] > sizes[2]


@pytest.mark.parametrize(
    ("seed", "rounds", "floored"), [(0, 80, False), (1, 80, False), (3, 20, True), (5, 14, True)]
)
def test_reweighting_by_single_rounds(seed: int, rounds: int, floored: bool) -> None:
    """Weighted by hand: 1/s for the means, 1/s^2 for the squares, s floored at one per cent."""
    rng = np.random.default_rng([34, seed])
    features, actions, rewards = random_log(rng, 7, 2, rounds, 7)
    X = features[actions]
    Sigma, mean_square = covariance(X, rewards)
    first = np.einsum("ti,ij,tj->t", X, Sigma, X)
    s = np.maximum(first, 0.01 * mean_square)
    assert np.any(s > first) == floored
    theta = np.linalg.lstsq(X / np.sqrt(s)[:, None], rewards / np.sqrt(s), rcond=None)[0]
    squares = (rewards - X @ theta) ** 2
    rows = np.array([np.outer(x, x).ravel() for x in X]) / s[:, None]
    expected = np.linalg.lstsq(rows, squares / s, rcond=None)[0].reshape(2, 2)
    log = Rewards.from_log(actions, rewards, 7)
    found = estimate_covariance(log, features, reweighted=True)
    assert found.Sigma == pytest.approx(expected, rel=1e-6, abs=1e-8)
    assert float(found.mean_square) == pytest.approx(squares.mean())


def test_reweighting_pays_where_variances_differ() -> None:
    """The mean squared relative error of the variances over 400 explorations."""
    features = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0], [0.3, 1.0]])
    bandit = LinearBandit(features, [1.0, 2.0], Sigma=np.diag([0.01, 4.0]))
    rewards = bandit.pull(np.full((400, 5), 60), np.random.default_rng(35))
    errors = [
        np.mean(
            (estimate_covariance(rewards, features, m, reweighted=r).variances[:, 0] - 0.01) ** 2
        )
        for m in ("lstsq", "psd")
        for r in (False, True)
    ]
    assert errors[1] < 0.5 * errors[0]
    assert errors[3] < 0.5 * errors[2]


@pytest.mark.parametrize("method", ["lstsq", "psd", "ridge"])
def test_reweighted_replications_are_as_if_alone(method: str) -> None:
    features = np.random.default_rng(36).normal(size=(6, 2))
    bandit = LinearBandit(features, [1.0, -1.0], Sigma=np.diag([0.5, 2.0]))
    rewards = bandit.pull(np.full((5, 6), 9), np.random.default_rng(37))
    whole = estimate_covariance(rewards, features, method, reweighted=True)
    for r in range(5):
        single = Rewards(rewards.counts[r], rewards.means[r], rewards.scatters[r])
        alone = estimate_covariance(single, features, method, reweighted=True)
        assert alone.Sigma == pytest.approx(whole.Sigma[r], rel=1e-6, abs=1e-8)


@pytest.mark.parametrize(
    ("choices", "error", "message"),
    [
        ({"ridge": 0.0}, ValueError, "ridge.*between 0 and 1.*0.0"),
        ({"ridge": "much"}, TypeError, "ridge.*number.*much"),
        ({"reweighted": 1}, TypeError, "reweighted.*True or False.*1"),
    ],
)
def test_bad_options_are_refused(choices: dict, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        estimate_covariance(exact_squares([1, 1], [1.0, 1.0]), np.eye(2), "ridge", **choices)
