"""Equivalence theorems against optimal designs and derivatives taken numerically."""

from __future__ import annotations

import numpy as np
import pytest

from paper.theory.equivalence import (
    CRITERIA,
    climb_determinant,
    ellipse,
    equivalence_ratio,
    sensitivities,
    tangent_ratio,
)
from speedlib import information_matrix, optimal_design, pe_loss


def case(seed: int, n_actions: int = 7, d: int = 3):
    rng = np.random.default_rng(seed)
    features, root = rng.standard_normal((n_actions, d)), rng.standard_normal((d, d))
    variances = ((features @ root) ** 2).sum(axis=1)
    return rng.dirichlet(np.ones(n_actions)), features, variances, rng.standard_normal(d)


def value(criterion: str, weights, features, variances, c) -> float:
    """What the criterion minimises; homogeneous of degree -1, or a logarithm, in the weights."""
    inverse = np.linalg.inv(information_matrix(weights, features, variances))
    return {
        "D": -np.linalg.slogdet(np.linalg.inv(inverse))[1],
        "A": np.trace(inverse),
        "PE": c @ inverse @ c,
    }[criterion]


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("seed", range(3))
def test_sensitivities_are_derivatives_in_units_of_their_average(criterion, seed):
    b, x, v, c = case(seed)
    step = 1e-6 * np.eye(len(b))
    slopes = [
        (value(criterion, b - e, x, v, c) - value(criterion, b + e, x, v, c)) / 2e-6 for e in step
    ]
    found = sensitivities(criterion, b, x, v, direction=c)
    assert found == pytest.approx(np.array(slopes) / (b @ slopes), rel=1e-5)
    assert b @ found == pytest.approx(1)


@pytest.mark.parametrize("criterion", ["D", "A"])
def test_the_ratio_is_one_at_the_optimum(criterion):
    b, x, v, _ = case(5)
    best = optimal_design(x, v, criterion).weights
    assert equivalence_ratio(criterion, best, x, v) == pytest.approx(1, abs=1e-5)
    assert equivalence_ratio(criterion, b, x, v) > 1.01


@pytest.mark.parametrize("seed", range(6))
def test_a_climb_of_the_determinant_ends_where_the_solver_does(seed):
    start, x, v, _ = case(seed)
    found, best = climb_determinant(x, v, start), optimal_design(x, v, "D").weights
    determinants = [np.linalg.det(information_matrix(b, x, v)) for b in (found, best)]
    assert determinants[0] == pytest.approx(determinants[1], rel=1e-5)
    assert found.sum() == pytest.approx(1)
    assert equivalence_ratio("D", found, x, v) == pytest.approx(1, abs=1e-6)
    assert equivalence_ratio("D", start, x, v) > 1.01


def test_a_climb_of_the_determinant_leaves_the_inner_points():
    corners = [[2.0, 0.0], [0.0, 1.0], [0.1, 0.1], [-0.3, 0.2]]
    found = climb_determinant(corners, [1.0, 3.0, 1.0, 2.0], [0.5, 1.0, 2.0, 1.0])
    assert found == pytest.approx([0.5, 0.5, 0, 0], abs=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_the_ratio_bounds_the_efficiency(seed):
    b, x, v, c = case(seed)
    best = optimal_design(x, v, direction=c)
    ratio = equivalence_ratio("PE", b, x, v, direction=c)
    assert best.value / pe_loss(b, x, v, direction=c) >= 1 / ratio
    assert tangent_ratio(np.linalg.solve(information_matrix(b, x, v), c), c, x, v) == pytest.approx(
        ratio
    )


def test_a_singular_design_needs_the_right_solution():
    x, v = [[1.0, 0.0], [2.0, 1.0]], [1.0, 1.0]
    assert tangent_ratio([1.0, 0.0], [1.0, 0.0], x, v) == 4
    assert tangent_ratio([1.0, -2.0], [1.0, 0.0], x, v) == 1
    assert equivalence_ratio("PE", [1.0, 0.0], x, v, direction=[1.0, 0.0]) == np.inf


def test_policy_evaluation_needs_a_direction():
    with pytest.raises(ValueError, match="direction"):
        sensitivities("PE", [0.5, 0.5], np.eye(2), [1.0, 1.0])


def test_an_ellipse_satisfies_its_equation():
    matrix = np.array([[2.0, 0.3], [0.3, 0.5]])
    z = ellipse(matrix, size=2.0)
    assert np.einsum("ai,ij,aj->a", z, np.linalg.inv(matrix), z) == pytest.approx(np.full(361, 2.0))
