"""Bounds and formulas against exact arithmetic, differences and the certified solver."""

from fractions import Fraction

import numpy as np
import pytest

from paper import exact
from paper.theory import designs
from speedlib import optimal_design, pe_loss

X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, -1.0], [2.0, 1.0]])
POLICY = np.array([0.25, 0.25, 0.3, 0.2])
VARIANCES = np.array([1.0, 2.0, 2.0, 0.5])
WEIGHTS = np.array([0.1, 0.2, 0.3, 0.4])
C = POLICY @ X


def moved(step):
    return pe_loss(WEIGHTS + step, X, VARIANCES, direction=C)


def test_gradient_and_hessian_agree_with_differences_of_the_loss():
    gradient = designs.loss_gradient(WEIGHTS, X, VARIANCES, C)
    hessian = designs.loss_hessian(WEIGHTS, X, VARIANCES, C)
    h = 1e-4
    for a, i in enumerate(np.eye(4) * h):
        assert gradient[a] == pytest.approx((moved(i) - moved(-i)) / (2 * h), rel=1e-5)
        for b, j in enumerate(np.eye(4) * h):
            mixed = moved(i + j) - moved(i - j) - moved(j - i) + moved(-i - j)
            assert hessian[a, b] == pytest.approx(mixed / (4 * h * h), rel=1e-4, abs=1e-4)


def test_along_flat_directions_nothing_changes():
    flat = designs.flat_directions(WEIGHTS, X, VARIANCES, C)
    assert flat.shape == (1, 4)  # A - d - 1
    assert flat.sum() == pytest.approx(0, abs=1e-12)
    assert moved(0.05 * flat[0]) == pytest.approx(moved(0), rel=1e-12)
    assert moved(0.05 * np.array([1, -1, 0, 0])) != pytest.approx(moved(0), rel=1e-3)


def test_the_gradient_bounds_in_an_example_that_is_done_by_hand():
    # e1, e2, even policy, unit variances: V has eigenvalues 1/2 and 0, the sum of ww' is I/4.
    example = ([1 / 12, 11 / 12], [1 / 2, 1 / 2], np.eye(2), [1, 1], [1 / 2, 1 / 2])
    assert designs.gradient_bound_printed(*example) == pytest.approx([32, 32])
    assert designs.gradient_bound_corrected(*example) == pytest.approx([1152, 1152])
    one = ([0.5, 0.5], [0.25, 0.75], [[1], [1]], [1, 4], [0.5, 0.5])
    # d = 1: both terms count; m(b) = min(b / v) / 2 is 1/16 for the first, 3/32 beats 1/8 below.
    first, second = 1 / (1 / 16) ** 2, 1 / (3 / 32) ** 2
    assert designs.gradient_bound_printed(*one) == pytest.approx(
        [first + second, (first + second) / 4]
    )
    assert designs.gradient_bound_corrected(*one) == pytest.approx(
        [max(first, second), max(first, second) / 4]
    )


def test_variance_bounds_use_singular_values_and_lengths():
    assert designs.variance_bounds(X, np.diag([3.0, -0.5])) == pytest.approx((0.5, 15))


def test_one_hot_formulas_agree_with_the_solver():
    policy, variances = np.array([0.6, 0.1, 0.3]), np.array([1.0, 9.0, 4.0])
    best = optimal_design(np.eye(3), variances, policy=policy)
    assert designs.one_hot_design(policy, variances) == pytest.approx(best.weights)
    assert designs.one_hot_loss(best.weights, policy, variances) == pytest.approx(best.value)
    assert best.value == pytest.approx(1.5**2)
    printed = designs.one_hot_design_printed(policy, variances)
    assert printed == pytest.approx(np.array([36, 9, 36]) / 81)
    # The printed design costs A times the sum of the squares.
    assert designs.one_hot_loss(printed, policy, variances) == pytest.approx(3 * 0.81)


def test_an_action_without_target_probability_needs_no_pulls():
    assert designs.one_hot_loss([1, 0], [1, 0], [4, 1]) == pytest.approx(4)


def test_the_lower_bound_is_met_by_an_action_along_the_direction():
    Sigma = np.array([[2.0, 0.5], [0.5, 1.0]])
    variances = np.einsum("ai,ij,aj->a", X, Sigma, X)
    below = designs.oracle_loss_below(Sigma, [2, -2])
    assert below == pytest.approx(optimal_design(X, variances, direction=[2, -2]).value)
    assert designs.oracle_loss_below(Sigma, [1, 2]) < optimal_design(
        X, variances, direction=[1, 2]
    ).value * (1 - 1e-6)


def test_neighbours_agree_with_exact_search():
    rng = np.random.default_rng(7)
    for _ in range(40):
        points = [tuple(map(int, p)) for p in rng.integers(-4, 5, (5, 2)) if any(p)]
        c = (int(rng.integers(1, 5)), int(rng.integers(-4, 5)))
        lines = {Fraction(q, p) if p else None for p, q in points}
        if len(lines) < len(points) or len(points) < 2:
            continue
        # Any norm will do in place of the standard deviations: here that of the largest coordinate
        # of (x, x / 3), nearly the square, with exact values.
        lengths = exact.vector(f"{abs(p) + abs(q) + max(abs(p), abs(q))}" for p, q in points)
        best = exact.best_design(exact.matrix(points), lengths, exact.vector(c))
        named = designs.neighbours(points, c)
        w = np.linalg.lstsq(np.array(points, float)[list(named)].T, np.array(c, float))[0]
        cost = np.abs(w) @ np.array(lengths, float)[list(named)]
        assert cost**2 == pytest.approx(float(best.value))
