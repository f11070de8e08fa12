"""Formulas on the regret against brute force, draws and examples done by hand."""

import numpy as np
import pytest

from paper.theory import regret
from speedlib import optimal_design

X = np.array([[1, 0, 1], [-1, 0, 1], [0, 1, 1], [0, -1, 1], [1, 0, 0], [1, 1, 0]], dtype=float)
POLICY = np.array([0.28, 0.18, 0.28, 0.18, 0.04, 0.04])
C = POLICY @ X
UNIFORM = np.full(6, 1 / 6)


def variances(gap):
    return np.einsum("ai,i,ai->a", X, [1, 1 + gap, 1], X)


def test_leading_regret_is_least_at_the_root_of_v_n():
    lengths = np.arange(1, 400)
    found = regret.leading_regret(3.0, 2.0, 5000, lengths)
    assert lengths[found.argmin()] == 100
    assert found.min() == pytest.approx(2 * 3 * np.sqrt(2) * 5000**-1.5)


def test_allocation_penalty_is_the_loss_of_the_wrong_allocation():
    p, e = np.array([0.2, 0.3, 0.5]), np.array([0.1, -0.2, 0.3])
    pulled = p * (1 + e) / np.sum(p * (1 + e))
    assert regret.allocation_penalty(p, e) == pytest.approx(np.sum(p**2 / pulled))
    small = 1e-3 * e
    spread = p @ small**2 - (p @ small) ** 2
    assert regret.allocation_penalty(p, small) - 1 == pytest.approx(spread, rel=2e-3)


def test_the_best_vertex_is_the_optimal_design():
    for gap in (0.0, 0.3, 2.0):
        best = regret.vertices(X, C)
        assert np.all(np.any(best, axis=0))  # every action has its turn
        assert best @ X == pytest.approx(np.broadcast_to(C, (len(best), 3)))
        costs = np.abs(best) @ np.sqrt(variances(gap))
        found = optimal_design(X, variances(gap), direction=C).value
        assert costs.min() ** 2 == pytest.approx(found)
        assert regret.rival(X, variances(gap), C, UNIFORM).best == pytest.approx(costs.min())


def test_the_gap_of_two_vertices_is_estimated_with_the_spread_given():
    v = variances(0.3)
    two = regret.rival(X, v, C, UNIFORM)
    w = np.abs(regret.vertices(X, C))
    first, second = np.argsort(w @ np.sqrt(v))[:2]
    assert two.gap == pytest.approx((w[second] - w[first]) @ np.sqrt(v))
    # Least squares on squared noise, drawn: eight thousand explorations of 6000 rounds.
    rng = np.random.default_rng(5)
    each = 1000
    means = v * rng.chisquare(each, (8000, 6)) / each
    phi = np.einsum("ai,aj->aij", X, X).reshape(6, 9)
    fitted = means @ np.linalg.pinv(phi).T @ phi.T
    drawn = np.sqrt(fitted) @ (w[second] - w[first])
    assert drawn.std() * np.sqrt(6 * each) == pytest.approx(two.spread, rel=0.04)
    assert two.expected_excess(0) == pytest.approx(((two.best + two.gap) ** 2 - two.best**2) / 2)
    assert two.expected_excess(1e6) < 1e-6 * two.expected_excess(0)


def test_no_gap_costs_more_than_the_worst_tie():
    t, most = regret.worst_tie()
    from scipy.stats import norm

    grid = np.linspace(0, 5, 5001)
    assert most == pytest.approx(np.max(grid * norm.cdf(-grid)), rel=1e-6)
    assert t == pytest.approx(grid[np.argmax(grid * norm.cdf(-grid))], abs=2e-3)


def test_the_smallest_budget_meets_its_condition_with_equality():
    n = regret.smallest_budget(2, 5, 7.0)
    assert n == pytest.approx(16 * 16 * 49 * np.log(5 * n**3) ** 2)
    assert regret.budget_printed(1, 1, 1.0, np.exp(-1)) == pytest.approx(16)


def test_the_printed_factor_in_one_dimension_is_done_by_hand():
    # w = 2, b = 1: A = 4 / v, c = 2, so (v/2)^2 * 4 * 4 * (v + i) / 2 with v = 3, i = 5.
    found = regret.instance_constant_printed([1.0], [[2.0]], [3.0], [1.0], 5.0)
    assert found == pytest.approx((3 / 2) ** 2 * 16 * 4)
