"""Frank-Wolfe steps against a line search by another route and a certified solver."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from paper.theory.descent import best_step, frank_wolfe
from speedlib import optimal_design, pe_loss


def case(seed: int, n_actions: int = 8, d: int = 3):
    rng = np.random.default_rng(seed)
    x, root = rng.standard_normal((n_actions, d)), rng.standard_normal((d, d))
    return x, ((x @ root) ** 2).sum(axis=1), rng.dirichlet(np.ones(n_actions)) @ x


@pytest.mark.parametrize("seed", range(4))
def test_the_step_is_the_best_one_along_its_line(seed):
    x, v, c = case(seed)
    weights = np.random.default_rng(seed).dirichlet(np.ones(len(x)))
    points = x / np.sqrt(v)[:, None]
    inverse = np.linalg.inv(points.T @ (weights[:, None] * points))
    loss, squares = c @ inverse @ c, (points @ inverse @ c) ** 2
    for action in range(len(x)):
        own = points[action] @ inverse @ points[action]
        size = best_step(loss, squares[action], own)

        def along(r, action=action):
            moved = (weights + r * np.eye(len(x))[action]) / (1 + r)
            return pe_loss(moved, x, v, direction=c)

        if squares[action] > loss:
            best = minimize_scalar(along, bounds=(0, 50), method="bounded")
            assert along(size) <= best.fun * (1 + 1e-9)
            assert size > 0
        else:
            # The weight may not fall below 0, which is the step −b(a).
            size = max(size, -weights[action])
            grid = np.linspace(-weights[action], 0, 400)[:-1]
            assert size < 0
            assert along(size) <= min(map(along, grid)) * (1 + 1e-9)


@pytest.mark.parametrize("away", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_the_loss_falls_to_the_certified_optimum(seed, away):
    x, v, c = case(seed)
    best = optimal_design(x, v, direction=c).value
    losses = frank_wolfe(x, v, c, 400, away=away)
    assert losses[0] == pytest.approx(pe_loss(np.full(8, 1 / 8), x, v, direction=c))
    assert np.all(np.diff(losses) <= 1e-10 * losses[0])
    assert best * (1 - 1e-9) <= losses[-1] <= best * 1.02


def test_a_single_action_ends_the_descent():
    losses = frank_wolfe([[1, 0], [0, 2], [3, 0]], [4, 1, 36], [1, 0], 5)
    assert losses[0] > 4
    assert losses[-1] == pytest.approx(4)


@pytest.mark.parametrize(
    ("x", "v", "c"),
    [
        ([[-1, 2], [-1, 2], [1, -3]], [3, 3, 3], [-2, 4]),
        ([[0, -2], [0, 2], [-3, -1], [-1, 2]], [3, 2, 4, 5], [0, -4]),
        ([[2, 0], [-1, 3], [-1, 0], [-1, -2]], [5, 2, 1, 5], [4, 0]),
    ],
)
def test_steps_away_reach_a_singular_optimum_without_a_singular_matrix(x, v, c):
    losses = frank_wolfe(x, v, c, 200, away=True)
    assert losses[-1] == pytest.approx(optimal_design(x, v, direction=c).value, rel=1e-8)
    assert np.all(np.diff(losses) <= 1e-8 * losses[0])


def test_where_the_action_alone_is_best_the_step_is_infinite():
    assert best_step(2.0, 4.0, 2.0) == math.inf


def test_where_no_finite_step_away_is_best_the_step_has_no_end():
    assert best_step(2.0, 0.5, 0.9) == -math.inf


def test_the_descent_stops_where_the_loss_is_enough():
    x, v, c = case(1)
    losses = frank_wolfe(x, v, c, 50)
    stopped = frank_wolfe(x, v, c, 50, enough=float(losses[7]))
    assert np.array_equal(stopped[:8], losses[:8])
    assert np.all(stopped[7:] == losses[7])
