"""A-, D- and linear designs: published optima, second solvers, and the certificate everywhere."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.polynomial import Legendre

from speedlib.solvers._span import spanning_set
from speedlib.solvers.exchange import exchange_design
from speedlib.solvers.multiplicative import multiplicative_design

from .ellipsoids import (
    assert_certified,
    certified_efficiency,
    gaussian,
    kernel,
    root_of,
    sensitivities,
    value_of,
)

CASES = [(n, d) for d in (1, 2, 3, 6, 10) for n in (d, d + 1, 5 * d, 400)]


# --- the equivalence theorem ---------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["A", "D", "linear"])
@pytest.mark.parametrize(("n_points", "d"), CASES)
def test_equivalence_theorem_no_sensitivity_above_one_and_one_on_the_support(
    criterion, n_points, d
):
    points = gaussian(10 * n_points + d, n_points, d)
    matrix = kernel(d, d, d) if criterion == "linear" else None
    design = exchange_design(points, criterion, matrix=matrix)
    assert_certified(points, design, criterion, matrix)
    root = root_of(criterion, matrix, d)
    assert value_of(points, design.weights, root) == pytest.approx(design.value, rel=1e-9, abs=1e-9)
    q = sensitivities(points, design.weights, root)
    assert q.max() <= 1 + 1e-5
    assert q[design.weights > 1e-4] == pytest.approx(1, abs=1e-5)
    assert np.count_nonzero(design.weights) <= d * (d + 1) // 2


@pytest.mark.parametrize("seed", range(5))
def test_the_worst_prediction_of_the_d_optimal_design_is_the_dimension(seed):
    d = 2 + seed
    points = gaussian(seed, 300, d)
    w = exchange_design(points, "D").weights
    inverse = np.linalg.inv((points.T * w) @ points)
    assert np.einsum("ai,ij,aj->a", points, inverse, points).max() == pytest.approx(d, rel=2e-6)


@pytest.mark.parametrize("criterion", ["A", "D"])
def test_a_smaller_tolerance_is_kept(criterion):
    points = gaussian(3, 2000, 5)
    design = exchange_design(points, criterion, tolerance=1e-9)
    assert_certified(points, design, criterion, tolerance=1e-9)


def test_the_bound_is_honest_when_rounds_run_out():
    points = gaussian(4, 20_000, 6)
    early = exchange_design(points, "D", max_rounds=1)
    best = exchange_design(points, "D")
    truth = np.exp((early.value - best.value) / 6)
    assert early.efficiency_bound < 1 - 1e-3
    assert early.efficiency_bound <= truth
    assert certified_efficiency(points, early, "D") == pytest.approx(early.efficiency_bound)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_no_random_design_beats_the_bound(seed):
    rng = np.random.default_rng(seed)
    points, matrix = gaussian(seed, 12, 3), kernel(seed, 3, 2)
    for criterion, k in [("A", None), ("D", None), ("linear", matrix)]:
        design = exchange_design(points, criterion, matrix=k)
        root = root_of(criterion, k, 3)
        others = [value_of(points, w, root) for w in rng.dirichlet(np.full(12, 0.5), size=2000)]
        if criterion == "D":
            assert max(others) < design.value + 3e-6
        else:
            assert min(others) > design.value * design.efficiency_bound


# --- published optima and closed forms -----------------------------------------------------------


@pytest.mark.parametrize("degree", range(1, 6))
def test_d_optimal_polynomials_sit_at_the_zeros_of_the_derivative_of_legendre(degree):
    """P. G. Hoel, Ann. Math. Statist. 29 (1958), 1134-1145; P. G. Guest, ibid., 294-299."""
    inner = Legendre.basis(degree).deriv().roots() if degree > 1 else np.empty(0)
    support = np.sort(np.concatenate([[-1.0, 1.0], inner]))
    grid = np.concatenate([support, np.linspace(-0.99, 0.99, 150)])
    design = exchange_design(np.vander(grid, degree + 1), "D", tolerance=1e-8)
    assert design.weights[: degree + 1] == pytest.approx(1 / (degree + 1), abs=1e-5)
    assert design.weights[degree + 1 :].max() < 1e-5


def test_a_optimal_quadratic_regression():
    """F. Pukelsheim, Optimal Design of Experiments (1993), chapter 9: weights 1/4, 1/2, 1/4."""
    grid = np.linspace(-1, 1, 201)
    design = exchange_design(np.vander(grid, 3), "A")
    assert design.weights[[0, 100, 200]] == pytest.approx([0.25, 0.5, 0.25], abs=1e-4)
    assert design.value == pytest.approx(8, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("order", [1, 2, 4])
def test_trigonometric_regression_has_the_values_of_the_uniform_design(order):
    angle = np.linspace(0, 2 * np.pi, 500, endpoint=False)
    waves = [f(k * angle) for k in range(1, order + 1) for f in (np.cos, np.sin)]
    points = np.column_stack([np.ones_like(angle), *waves])
    d_optimal, a_optimal = exchange_design(points, "D"), exchange_design(points, "A")
    assert d_optimal.value == pytest.approx(-2 * order * np.log(2), abs=1e-5)
    assert a_optimal.value == pytest.approx(1 + 4 * order, rel=1e-6)
    for design in (d_optimal, a_optimal):
        assert np.count_nonzero(design.weights) <= order * (2 * order + 3) + 1


@pytest.mark.parametrize("factors", [1, 2, 3, 6])
@pytest.mark.parametrize("criterion", ["A", "D"])
def test_factorial_designs_are_orthogonal(criterion, factors):
    """All sensitivities are equal under the uniform design, so its values are optimal."""
    corners = np.array(list(product([-1.0, 1.0], repeat=factors)))
    points = np.hstack([np.ones((len(corners), 1)), corners])
    design = exchange_design(points, criterion)
    best = 0.0 if criterion == "D" else factors + 1
    assert design.value == pytest.approx(best, rel=1e-6, abs=1e-5)
    information = (points.T * design.weights) @ points
    assert information == pytest.approx(np.eye(factors + 1), abs=2e-3)


@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e6])
def test_one_hot_points_have_closed_forms(scale):
    sigma = scale * np.array([1.0, 2.0, 5.0])
    k = np.array([1.0, 9.0, 0.25])
    points = np.diag(1 / sigma)
    assert exchange_design(points, "D").weights == pytest.approx(1 / 3, abs=1e-6)
    a_optimal = exchange_design(points, "A")
    assert a_optimal.weights == pytest.approx(sigma / sigma.sum(), abs=1e-5)
    assert a_optimal.value == pytest.approx(sigma.sum() ** 2, rel=1e-6)
    linear = exchange_design(points, "linear", matrix=np.diag(k))
    assert linear.weights == pytest.approx(np.sqrt(k) * sigma / (np.sqrt(k) @ sigma), abs=1e-5)


@pytest.mark.parametrize("criterion", ["A", "D"])
def test_one_dimension_takes_the_longest_point(criterion):
    design = exchange_design([[1.0], [-3.0], [2.0]], criterion)
    assert design.weights == pytest.approx([0, 1, 0], abs=1e-6)
    single = exchange_design([[0.5]], criterion)
    assert single.weights == pytest.approx([1.0])
    assert single.efficiency_bound == pytest.approx(1)


def test_three_unit_vectors_need_all_three_points_for_the_trace():
    angle = np.deg2rad([0, 60, 120])
    points = np.column_stack([np.cos(angle), np.sin(angle)])
    for criterion in ("A", "D"):
        design = exchange_design(points, criterion)
        assert design.weights == pytest.approx(1 / 3, abs=1e-5)


# --- other solvers -------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["A", "D", "linear"])
@pytest.mark.parametrize("seed", range(3))
def test_the_multiplicative_algorithm_approaches_the_same_value(criterion, seed):
    d = 2 + seed
    points = gaussian(seed, 40, d)
    matrix = kernel(seed, d, d) if criterion == "linear" else None
    design = exchange_design(points, criterion, matrix=matrix)
    slow = multiplicative_design(points, criterion, matrix=matrix, iterations=5000)
    root = root_of(criterion, matrix, d)
    value = value_of(points, slow, root)
    if criterion == "D":
        assert design.value - 1e-3 * d < value < design.value + 3e-6 * d
    else:
        assert design.value * (1 - 2e-6) < value < design.value * (1 + 1e-3)


def by_cvxpy(points, criterion, root):
    """Value by a conic solver."""
    cvxpy = pytest.importorskip("cvxpy")
    weights = cvxpy.Variable(len(points), nonneg=True)
    information = points.T @ cvxpy.diag(weights) @ points
    constraints = [cvxpy.sum(weights) == 1]
    if criterion == "D":
        problem = cvxpy.Problem(cvxpy.Maximize(cvxpy.log_det(information)), constraints)
    else:
        spread = cvxpy.Variable((root.shape[1], root.shape[1]), symmetric=True)
        block = cvxpy.bmat([[information, root], [root.T, spread]])
        problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.trace(spread)), [*constraints, block >> 0])
    return problem.solve(solver="CLARABEL")


CONIC = {
    "gaussian": gaussian(7, 30, 4),
    "cubic": np.vander(np.linspace(-1, 1, 41), 4),
    "sphere": gaussian(8, 40, 3) / np.linalg.norm(gaussian(8, 40, 3), axis=1)[:, None],
    "interactions": np.array([[1.0, a, b, a * b] for a, b in product([-1, 0, 1], repeat=2)]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CONIC)
@pytest.mark.parametrize("criterion", ["A", "D", "linear"])
def test_a_conic_solver_finds_the_same_value(criterion, name):
    points = CONIC[name]
    matrix = kernel(5, points.shape[1], 2) if criterion == "linear" else None
    root = root_of(criterion, matrix, points.shape[1])
    expected = by_cvxpy(points, criterion, root)
    design = exchange_design(points, criterion, matrix=matrix)
    assert design.value == pytest.approx(expected, rel=2e-5, abs=2e-5)


@pytest.mark.parametrize("criterion", ["A", "D"])
def test_brute_force_over_a_grid_of_designs(criterion):
    steps = 150
    designs = np.array([(i, j, steps - i - j) for i in range(steps) for j in range(steps - i)])
    for seed in range(3):
        points = gaussian(seed, 3, 2)
        information = np.einsum("na,ai,aj->nij", designs / steps, points, points)
        determinant = np.linalg.det(information)
        usable = determinant > 1e-12
        if criterion == "D":
            grid = np.log(determinant[usable]).max()
        else:
            grid = (np.trace(information, axis1=1, axis2=2)[usable] / determinant[usable]).min()
        design = exchange_design(points, criterion)
        assert design.value == pytest.approx(grid, rel=1e-3, abs=1e-3)
        better = design.value - grid if criterion == "D" else grid - design.value
        assert better > -1e-6 * abs(grid)


# --- invariances ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_d_optimality_does_not_depend_on_the_coordinates(seed):
    points = gaussian(seed, 60, 4)
    change = gaussian(seed + 50, 4, 4) * [1e-5, 1.0, 10.0, 1e4]
    first, second = exchange_design(points, "D"), exchange_design(points @ change, "D")
    assert second.weights == pytest.approx(first.weights, abs=2e-4)
    shift = 2 * np.linalg.slogdet(change)[1]
    assert second.value == pytest.approx(first.value + shift, abs=1e-5)


@pytest.mark.parametrize("criterion", ["A", "D", "linear"])
def test_rotation_order_sign_and_scale(criterion):
    points, d = gaussian(9, 60, 4), 4
    matrix = kernel(9, d, d) if criterion == "linear" else None
    first = exchange_design(points, criterion, matrix=matrix)
    rotation = np.linalg.qr(gaussian(10, d, d))[0]
    order = np.random.default_rng(11).permutation(60)
    sign = np.random.default_rng(12).choice([-1.0, 1.0], size=(60, 1))
    moved = 1e-4 * ((points * sign) @ rotation)[order]
    turned = None if matrix is None else rotation.T @ matrix @ rotation
    second = exchange_design(moved, criterion, matrix=turned)
    assert second.weights == pytest.approx(first.weights[order], abs=2e-4)
    if criterion == "D":
        assert second.value == pytest.approx(first.value + 8 * np.log(1e-4), abs=1e-5)
    else:
        assert second.value == pytest.approx(1e8 * first.value, rel=2e-6)


# --- arguments -----------------------------------------------------------------------------------


def test_other_types_and_layouts_give_the_same_design():
    points = gaussian(15, 40, 3).astype(np.float32)
    wide = np.zeros((40, 6))
    wide[:, ::2] = points
    expected = exchange_design(points.astype(float), "A").weights
    for same in (points, points.tolist(), np.asfortranarray(points), wide[:, ::2]):
        assert exchange_design(same, "A").weights == pytest.approx(expected, abs=1e-12)


def test_input_is_left_alone_and_the_result_frozen():
    points = gaussian(16, 40, 3)
    before = points.copy()
    design = exchange_design(points, "D")
    assert np.array_equal(points, before)
    with pytest.raises(AttributeError):
        design.value = 0.0


@pytest.mark.parametrize(
    ("points", "criterion", "more", "text"),
    [
        (np.ones(3), "A", {}, r"points: .*shape \(3,\)"),
        (np.ones((0, 2)), "A", {}, "points: "),
        ([[1.0, np.nan]], "A", {}, "points: .*nan"),
        (np.eye(2), "E", {}, "criterion: .*'E'"),
        (np.eye(2), "linear", {}, "matrix: required"),
        (np.eye(2), "A", {"matrix": np.eye(2)}, "matrix: .*no other"),
        (np.eye(2), "linear", {"matrix": np.zeros((2, 2))}, "matrix: must not be zero"),
        (np.eye(2), "linear", {"matrix": -np.eye(2)}, "matrix: must be positive semidefinite"),
        (np.eye(2), "linear", {"matrix": np.eye(3)}, "matrix: "),
        (np.eye(2), "D", {"tolerance": 0.0}, "tolerance: "),
        (np.eye(2), "D", {"tolerance": 1.0}, "tolerance: "),
        (np.eye(2), "D", {"max_rounds": 0}, "max_rounds: "),
    ],
)
def test_bad_arguments_are_named(points, criterion, more, text):
    with pytest.raises(ValueError, match=text):
        exchange_design(points, criterion, **more)


@pytest.mark.parametrize("seed", range(5))
def test_the_points_to_start_with_span_every_direction_well(seed):
    """Although those of the highest scores are nearly parallel: no direction is left thin."""
    rng, d = np.random.default_rng(seed), 4
    parallel = np.zeros((3000, d))
    parallel[:, 0] = rng.uniform(1, 2, 3000)
    x = np.vstack([parallel + 5e-3 * rng.normal(size=(3000, d)), 0.5 * np.eye(d)])
    work = spanning_set(x, np.eye(d), None)
    rows = x[work] / np.linalg.norm(x[work], axis=1)[:, None]
    assert np.linalg.eigvalsh(rows.T @ rows)[0] >= 0.5 / d**2
