"""The constant over the ratio of the variances: by draws, float algebra and examples by hand."""

from fractions import Fraction

import numpy as np
import pytest

from paper.theory.variance_ratio import (
    PLANE_WEIGHT,
    cost_bound,
    even_shares,
    exact_cost,
    plane_bandit,
    plane_cost,
    space_bandit,
    space_limit,
)
from speedlib import estimation_cost, optimal_design
from speedlib.exploration import identifiable_design

QUARTERS = [Fraction(1, 4)] * 4


@pytest.mark.parametrize("ratio", [1.0, 7.0, 250.0])
def test_the_plane_has_the_variances_that_it_names(ratio):
    bandit, policy = plane_bandit(ratio, copies=3)
    middle = (ratio + 1) / (2 * ratio)
    np.testing.assert_allclose(bandit.variances, [1 / ratio, 1, *[middle] * 6])
    assert policy.sum() == pytest.approx(1) and policy.min() > 0
    both = bandit.features[0] + bandit.features[2]
    np.testing.assert_allclose(policy @ bandit.features, PLANE_WEIGHT * both)


@pytest.mark.parametrize(("root", "copies"), [(1, 1), (2, 1), (2, 10), (5, 4), (22, 1)])
def test_the_closed_form_is_the_cost_of_the_library(root, copies):
    bandit, policy = plane_bandit(2 * root**2 - 1, copies)
    actions = 2 + 2 * copies
    best = optimal_design(bandit.features, bandit.variances, policy=policy)
    even = np.full(actions, 1 / actions)
    v = estimation_cost(bandit.features, bandit.variances, best.weights, even, kappa=1.0)
    found = plane_cost(Fraction(root), even_shares(actions))
    assert float(found.cost) == pytest.approx(v)
    assert float(found.value) * PLANE_WEIGHT**2 == pytest.approx(best.value)
    assert best.weights[0] == pytest.approx(float(found.share))


def test_by_hand_at_ratio_seven():
    # Coefficients times variances: 11/16, -35/16, 1/4, 5/4 by pencil.
    squares = Fraction(121 + 1225 + 16 + 400, 256)
    found = plane_cost(Fraction(2), QUARTERS)
    assert found.cost == Fraction(2, 9) * squares == Fraction(881, 576)


def test_the_cost_is_what_draws_of_mean_squares_give():
    ratio, size = 17.0, 400_000
    s = np.array([1 / ratio, 1, 9 / ratio, 9 / ratio])
    errors = np.random.default_rng(5).standard_normal((size, 4)) * s * 2  # four times the pulls
    design = np.array([[0.5, 0.5, 1], [0.5, 0.5, -1], [1, 0, 0], [0, 1, 0]])
    fitted = errors @ np.linalg.pinv(design).T @ design.T / s
    p = 1 / 4
    cost = p * (1 - p) * np.mean((fitted[:, 0] - fitted[:, 2]) ** 2) / 4
    assert float(plane_cost(Fraction(3), QUARTERS).cost) == pytest.approx(cost, rel=0.02)


def test_the_order_in_the_plane_is_three_halves():
    scaled = []
    for root in (Fraction(10**3), Fraction(10**5)):
        found = plane_cost(root, QUARTERS)
        scaled.append(float(found.cost * found.value) / float(2 * root**2 - 1) ** 1.5)
    assert scaled == pytest.approx([3 * 2**0.5 / 64] * 2, rel=5e-3)


def test_exact_cost_is_that_of_the_library_and_needs_identification():
    space = space_bandit(Fraction(1, 20))
    seventh = (Fraction(1, 7),) * 7
    X, v = np.array(space.features, dtype=float), np.array(space.variances, dtype=float)
    p = np.array(space.design, dtype=float)
    found = exact_cost(space.features, space.variances, space.design, seventh)
    assert float(found) == pytest.approx(estimation_cost(X, v, p, np.full(7, 1 / 7), kappa=1))
    lame = (Fraction(0), Fraction(0), *(Fraction(1, 5),) * 5)
    with pytest.raises(ValueError, match="leaves the variance of action 0 open"):
        exact_cost(space.features, space.variances, space.design, lame)


def test_the_design_in_space_is_optimal_and_costs_the_square():
    seventh = (Fraction(1, 7),) * 7
    scaled = []
    for width in (Fraction(1, 100), Fraction(1, 1000)):
        space = space_bandit(width)
        X, v = np.array(space.features, dtype=float), np.array(space.variances, dtype=float)
        best = optimal_design(X, v, direction=np.array(space.direction, dtype=float))
        np.testing.assert_allclose(best.weights, np.array(space.design, float), atol=1e-6)
        assert float(space.value) == pytest.approx(best.value)
        reach = (X @ np.array(space.dual, dtype=float)) ** 2 / v
        np.testing.assert_allclose(reach[:3], 1)
        assert reach.max() <= 1 + 1e-9
        assert sum(space.policy) == 1 and min(space.policy) > 0
        cost = exact_cost(space.features, space.variances, space.design, seventh)
        scaled.append(float(cost * min(space.variances) ** 2))
    assert scaled[0] == pytest.approx(scaled[1], rel=0.02) and scaled[1] > 0.01


def test_the_limit_in_space_is_where_ever_narrower_bandits_tend():
    seventh, rest = (Fraction(1, 7),) * 7, []
    for width in (Fraction(1, 1000), Fraction(1, 10_000)):
        space = space_bandit(width)
        cost = exact_cost(space.features, space.variances, space.design, seventh)
        reached = space.value * cost * min(space.variances) ** 2
        rest.append(abs(float(reached / space_limit() - 1)))
    assert rest[0] < 0.002
    assert rest[1] == pytest.approx(rest[0] / 10, rel=0.02)


def test_no_random_bandit_costs_more_than_the_bound():
    rng = np.random.default_rng(11)
    for _ in range(40):
        d = int(rng.integers(2, 4))
        X = rng.standard_normal((12, d))
        root = rng.standard_normal((d, d))
        v = np.einsum("ai,ij,aj->a", X, root @ root.T + 0.01 * np.eye(d), X)
        p = optimal_design(X, v, policy=rng.dirichlet(np.full(12, 0.3))).weights
        for q in (np.full(12, 1 / 12), identifiable_design(X)):
            cost = estimation_cost(X, v, p, q)
            bound = cost_bound(X, v, p, q)
            assert cost <= bound * (1 + 1e-9)
            leverage = 12 if q[0] == q[1] == 1 / 12 else d * (d + 1) / 2
            ratio = v[q > 0].max() / v[p > 0].min()
            assert bound <= leverage / 2 * ratio**2 * (1 + 1e-3)
            assert cost_bound(X, v, p, q, kappa=1.0) == pytest.approx(bound / 2)


def test_the_bound_by_hand():
    # One-hot actions: g = 1/q on each, and the loud one is in the support.
    v, p, q = [1.0, 4.0], [1 / 3, 2 / 3], [0.5, 0.5]
    omega = 1 / 3 * 2 + 2 / 3
    expected = 2 * 2 / 4 * omega * 8
    assert cost_bound(np.eye(2), v, p, q) == pytest.approx(expected)
