"""The price of estimating variances: closed forms, brute force, and figures found elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from speedlib.asymptotics import best_exploration_length, estimation_cost
from speedlib.bandit import LinearBandit
from speedlib.covariance import estimate_covariance
from speedlib.designs import optimal_design
from speedlib.environments import unit_ball
from speedlib.quadratic import quadratic_features

BALL = unit_ball()
X, POLICY = BALL.bandit.features, BALL.policy
DIAGONAL, ROTATED = np.diag([0.05, 0.35]), np.array([[0.15, 0.12], [0.12, 0.35]])


def variances(Sigma: np.ndarray) -> np.ndarray:
    return np.einsum("ai,ij,aj->a", X, Sigma, X)


def on(*actions: int) -> np.ndarray:
    return np.isin(np.arange(5), actions) / len(actions)


@pytest.mark.parametrize(
    ("Sigma", "exploration", "cost"),
    [
        (ROTATED, on(0, 1, 2, 3, 4), 0.5344),
        (ROTATED, on(0, 1, 4), 0.3459),
        (ROTATED, on(0, 2, 3), 0.6519),
        (DIAGONAL, on(0, 1, 2, 3, 4), 1.477),
        (DIAGONAL, on(0, 1, 4), 1.032),
        (DIAGONAL, on(0, 2, 3), 0.659),
    ],
)
def test_figures_of_an_independent_reading(
    Sigma: np.ndarray, exploration: np.ndarray, cost: float
) -> None:
    """Found by a referee with a program of their own, to the digits given."""
    v = variances(Sigma)
    p = optimal_design(X, v, policy=POLICY).weights
    assert float(estimation_cost(X, v, p, exploration)) == pytest.approx(cost, rel=6e-4)


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("kappa", [0.0, 0.8, 2.0])
def test_one_hot_actions_in_closed_form(d: int, kappa: float) -> None:
    """v = kappa d / 4 times the sum of p (1 - p), whatever the variances."""
    rng = np.random.default_rng(d)
    v, p = np.exp(rng.normal(size=d)), rng.dirichlet(np.ones(d))
    found = float(estimation_cost(np.eye(d), v, p, np.full(d, 1 / d), kappa))
    assert found == pytest.approx(kappa * d / 4 * np.sum(p * (1 - p)), abs=1e-12)


def test_brute_force_over_explorations() -> None:
    """Gamma times the mean of Var_p(e) over ten thousand explorations of known means."""
    bandit = LinearBandit(X, [0.0, 0.0], Sigma=ROTATED)
    p = optimal_design(X, bandit.variances, policy=POLICY).weights
    length, size = 50_000, 10_000
    counts = np.broadcast_to(np.full(5, length // 5), (size, 5))
    rewards = bandit.pull(counts, np.random.default_rng(4))
    estimate = estimate_covariance(rewards, X)
    e = np.sqrt(estimate.variances / bandit.variances) - 1
    spread = (p * e**2).sum(axis=1) - (p * e).sum(axis=1) ** 2
    error = length * spread.std() / np.sqrt(size)
    expected = float(estimation_cost(X, bandit.variances, p, np.full(5, 0.2)))
    assert abs(length * spread.mean() - expected) < 4 * error + 0.01 * expected


def test_an_open_variance_of_a_support_point_costs_without_end() -> None:
    v = variances(ROTATED)
    p = optimal_design(X, v, policy=POLICY).weights
    assert np.flatnonzero(p).tolist() == [0, 2]
    assert estimation_cost(X, v, p, on(0, 1)) == np.inf
    # Off the support it does not matter: 0 and 2 are explored, 1, 3 and 4 stay open.
    assert np.isfinite(estimation_cost(X, v, p, on(0, 2)))


def test_support_points_of_another_design_do_not_matter() -> None:
    """One point alone costs nothing; with a second one, whose variance is open, without end."""
    p = np.array([on(0), on(0, 1)])
    assert estimation_cost(X, variances(ROTATED), p, on(0)).tolist() == [0.0, np.inf]


def test_rows_are_as_if_alone() -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=(8, 3))
    v, p, q = (np.exp(rng.normal(size=(4, 8))), *rng.dirichlet(np.ones(8), size=(2, 4)))
    whole = estimation_cost(x, v, p, q)
    shared = estimation_cost(x, v, p, q[0])
    for r in range(4):
        assert whole[r] == pytest.approx(float(estimation_cost(x, v[r], p[r], q[r])))
        assert shared[r] == pytest.approx(float(estimation_cost(x, v[r], p[r], q[0])))


def test_by_the_textbook_formula() -> None:
    rng = np.random.default_rng(6)
    x = rng.normal(size=(9, 3))
    v, p, q = (np.exp(rng.normal(size=9)), *rng.dirichlet(np.ones(9), size=2))
    phi = quadratic_features(x)
    H = sum(w * np.outer(f, f) for w, f in zip(q, phi, strict=True))
    middle = sum(w * 2 * s**2 * np.outer(f, f) for w, s, f in zip(q, v, phi, strict=True))
    inverse = np.linalg.inv(H)
    C = phi @ inverse @ middle @ inverse @ phi.T / np.outer(v, v)
    expected = (p @ np.diag(C) - p @ C @ p) / 4
    assert float(estimation_cost(x, v, p, q)) == pytest.approx(expected)


@pytest.mark.parametrize("scale", [1e-29, 1e-9, 1e9])
def test_units_do_not_matter(scale: float) -> None:
    v = variances(DIAGONAL)
    p = optimal_design(X, v, policy=POLICY).weights
    one = float(estimation_cost(X, v, p, on(0, 1, 4)))
    assert float(estimation_cost(X * scale, v, p, on(0, 1, 4))) == pytest.approx(one)
    assert float(estimation_cost(X, v * scale**2, p, on(0, 1, 4))) == pytest.approx(one)


@pytest.mark.parametrize("gap", [1e-2, 1e-4, 1e-6])
def test_nearly_collinear_features_cost_the_same(gap: float) -> None:
    rng = np.random.default_rng(7)
    x = rng.normal(size=(8, 2))
    v, p, q = (np.exp(rng.normal(size=8)), *rng.dirichlet(np.ones(8), size=2))
    one = float(estimation_cost(x, v, p, q))
    other = float(estimation_cost(x @ [[1.0, 1.0], [0.0, gap]], v, p, q))
    assert other == pytest.approx(one, rel=1e-6)


def test_the_best_length_minimises_the_regret() -> None:
    v, n = 1.477, 10**6
    lengths = np.arange(1, 5000)
    regret = lengths / n**2 + v / (n * lengths)
    assert abs(float(best_exploration_length(v, n)) - lengths[regret.argmin()]) <= 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: estimation_cost(np.eye(2), [1, 0], [0.5, 0.5], [0.5, 0.5]), "variances"),
        (lambda: estimation_cost(np.eye(2), [1, 1], [0.5, 0.4], [0.5, 0.5]), "design"),
        (lambda: estimation_cost(np.eye(2), [1, 1], [1, 0], [1, 0], -1.0), "kappa.*at least 0.*-1"),
        (lambda: best_exploration_length(-1.0, 10), "cost.*at least 0.*-1"),
        (lambda: best_exploration_length(1.0, 0), "rounds.*at least 1"),
    ],
)
def test_bad_input_is_refused(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()  # type: ignore[operator]
