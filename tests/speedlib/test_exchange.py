"""A-, D- and linear designs: published optima, second solvers, and the certificate everywhere."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.polynomial import Legendre
from scipy.optimize import linprog

from speedlib.solvers.exchange import exchange_design
from speedlib.solvers.interior import newton_step, start
from speedlib.solvers.multiplicative import multiplicative_design

TOLERANCE = 1e-6


def root_of(criterion, matrix, d):
    """Return B with K = BB', None for D."""
    if criterion == "D":
        return None
    if matrix is None:
        return np.eye(d)
    eigenvalues, vectors = np.linalg.eigh(matrix)
    return vectors * np.sqrt(np.maximum(eigenvalues, 0.0))


def value_of(points, weights, root):
    """Value of a design with an invertible information matrix, by QR."""
    rows = np.sqrt(weights[weights > 0])[:, None] * points[weights > 0]
    upper = np.linalg.qr(rows, mode="r")
    if root is None:
        return 2 * np.log(np.abs(np.diagonal(upper))).sum()
    return (np.linalg.solve(upper.T, root) ** 2).sum()


def sensitivities(points, weights, root):
    """Directional derivatives towards each point, which average one under the design."""
    inverse = np.linalg.inv((points.T * weights) @ points)
    images = points @ (np.linalg.cholesky(inverse) if root is None else inverse @ root)
    q = (images**2).sum(axis=1)
    return q / (weights @ q)


def certified_efficiency(points, design, criterion, matrix=None):
    """Recompute the bound from the ellipsoid and the value, as the docstring defines them."""
    points = np.asarray(points, dtype=float)
    g = design.dual / np.sqrt(((points @ design.dual) ** 2).sum(axis=1).max())
    d = points.shape[1]
    if criterion == "D":
        best = -d * np.log(d) - 2 * np.linalg.slogdet(g)[1]
        return np.exp((design.value - best) / d)
    root = root_of(criterion, matrix, d)
    return np.linalg.svd(root.T @ g, compute_uv=False).sum() ** 2 / design.value


def assert_certified(points, design, criterion, matrix=None, tolerance=TOLERANCE):
    """Check weights, ellipsoid and bound from the input alone."""
    points = np.asarray(points, dtype=float)
    assert design.weights.shape == (len(points),)
    assert design.weights.min() >= 0
    assert design.weights.sum() == pytest.approx(1, abs=1e-12)
    assert ((points @ design.dual) ** 2).sum(axis=1).max() <= 1 + 1e-12
    assert 1 - tolerance <= design.efficiency_bound <= 1
    efficiency = certified_efficiency(points, design, criterion, matrix)
    # The reported bound also allows for rounding errors.
    assert design.efficiency_bound - 1e-9 <= efficiency <= design.efficiency_bound + 1e-6


def gaussian(seed, n_points, d):
    return np.random.default_rng(seed).normal(size=(n_points, d))


def kernel(seed, d, rank):
    root = gaussian(seed + 1000, d, rank)
    return root @ root.T


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


# --- exact arithmetic ----------------------------------------------------------------------------


def exact_inverse(matrix):
    """Invert a matrix of Fractions by Gauss-Jordan elimination."""
    d = len(matrix)
    rows = [[*row, *(Fraction(int(i == j)) for j in range(d))] for i, row in enumerate(matrix)]
    for column in range(d):
        pivot = next(i for i in range(column, d) if rows[i][column] != 0)
        rows[column], rows[pivot] = rows[pivot], rows[column]
        rows[column] = [entry / rows[column][column] for entry in rows[column]]
        for i in range(d):
            if i != column:
                factor = rows[i][column]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[column], strict=True)]
    return [row[d:] for row in rows]


@pytest.mark.parametrize("seed", range(4))
def test_value_and_ellipsoid_in_exact_arithmetic(seed):
    d = 3
    points = gaussian(seed, 25, d) * [1.0, 1e-4, 1e3]
    design = exchange_design(points, "A")
    exact = [[Fraction(float(entry)) for entry in row] for row in points]
    weights = [Fraction(float(w)) for w in design.weights]
    total = sum(weights)
    information = [
        [sum(w * x[i] * x[j] for w, x in zip(weights, exact, strict=True)) for j in range(d)]
        for i in range(d)
    ]
    inverse = exact_inverse(information)
    trace = total * sum(inverse[i][i] for i in range(d))
    assert design.value == pytest.approx(float(trace), rel=1e-11)
    dual = [[Fraction(float(entry)) for entry in column] for column in design.dual.T]
    largest = max(
        sum(sum(g * e for g, e in zip(column, x, strict=True)) ** 2 for column in dual)
        for x in exact
    )
    assert float(largest) == pytest.approx(1, abs=1e-11)
    # The trace of a matrix never exceeds the sum of its singular values.
    lower = sum(dual[i][i] for i in range(d)) ** 2 / largest
    assert float(lower / trace) == pytest.approx(design.efficiency_bound, abs=1e-9)


# --- singular optima and degenerate geometry -----------------------------------------------------


def elfving_value(points, c):
    """Squared optimum of Elfving's linear program."""
    result = linprog(np.ones(2 * len(points)), A_eq=np.hstack([points.T, -points.T]), b_eq=c)
    return result.fun**2


@pytest.mark.parametrize("seed", range(10))
def test_a_matrix_of_rank_one_gives_the_value_of_elfvings_program(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 6))
    points = rng.normal(size=(int(rng.integers(d, 30)), d))
    c = rng.integers(0, 2, len(points)) @ points if seed % 2 else points[0]
    design = exchange_design(points, "linear", matrix=np.outer(c, c))
    assert_certified(points, design, "linear", np.outer(c, c))
    assert design.value == pytest.approx(elfving_value(points, c), rel=2e-6)


def test_a_singular_optimum_is_returned_as_such():
    points = np.vstack([np.eye(3), [[0.1, 0.2, 0.3]]])
    design = exchange_design(points, "linear", matrix=np.diag([1.0, 1.0, 0.0]))
    assert design.weights == pytest.approx([0.5, 0.5, 0.0, 0.0], abs=1e-5)
    assert design.value == pytest.approx(4, rel=1e-6)
    assert_certified(points, design, "linear", np.diag([1.0, 1.0, 0.0]))


@pytest.mark.parametrize("criterion", ["A", "D"])
def test_points_that_span_too_little_are_refused(criterion):
    flat = gaussian(1, 20, 2) @ gaussian(2, 2, 3)
    with pytest.raises(ValueError, match="span 2 of 3 dimensions"):
        exchange_design(flat, criterion)
    with pytest.raises(ValueError, match="span 1 of 2"):
        exchange_design([[1.0, 0.0], [2.0, 0.0]], criterion)
    with pytest.raises(ValueError, match="all are zero"):
        exchange_design(np.zeros((4, 2)), criterion)


def test_linear_criterion_within_the_span_of_dependent_points():
    low, lift = gaussian(1, 20, 2), gaussian(2, 2, 3)
    flat = low @ lift
    inside = lift.T @ lift
    design = exchange_design(flat, "linear", matrix=inside)
    assert_certified(flat, design, "linear", inside)
    assert design.value == pytest.approx(exchange_design(low, "A").value, rel=2e-6)
    with pytest.raises(ValueError, match="miss some that the criterion asks for"):
        exchange_design(flat, "linear", matrix=np.eye(3))


@pytest.mark.parametrize("criterion", ["A", "D"])
def test_copies_and_opposites_change_nothing_but_the_names(criterion):
    points = gaussian(5, 30, 4)
    rng = np.random.default_rng(0)
    many = points[rng.integers(0, 30, 30_000)] * rng.choice([-1.0, 1.0], size=(30_000, 1))
    design = exchange_design(np.vstack([np.repeat(points[:1], 5000, axis=0), many]), criterion)
    assert design.efficiency_bound >= 1 - TOLERANCE
    assert design.value == pytest.approx(exchange_design(points, criterion).value, rel=2e-6)
    assert np.count_nonzero(design.weights) <= 10


def degenerate_instance(seed):
    """Points of awkward geometry, a criterion and its matrix."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 8))
    n_points = int(rng.choice([d, d + 1, 3 * d, 60]))
    points = rng.normal(size=(n_points, d))
    kind = seed % 8
    if kind == 1:
        points = np.vstack([np.eye(d), rng.integers(-1, 2, (n_points, d))])
    elif kind == 2:
        points /= np.linalg.norm(points, axis=1)[:, None]
    elif kind == 3:
        points *= 10.0 ** rng.uniform(-3, 3, (n_points, 1))
    elif kind == 4:
        points = points[rng.integers(0, n_points, 2 * n_points)]
        points = np.vstack([rng.normal(size=(d, d)), points])
    elif kind == 5:
        points = np.vander(np.linspace(-1, 1, n_points), d)
    elif kind == 6:
        points = points * 10.0 ** rng.uniform(-6, 6, d)
    elif kind == 7:
        axes = np.eye(d)[rng.integers(0, d, n_points)] * 10.0 ** rng.uniform(-4, 0, (n_points, 1))
        points = np.vstack([np.eye(d), axes + 1e-6 * points])
    if seed % 5 < 2:
        return points, "AD"[seed % 5], None
    rank = [1, 2, d][seed % 5 - 2]
    root = points[rng.integers(0, len(points), 3)].T @ rng.integers(0, 3, (3, rank))
    return points, "linear", root @ root.T


@pytest.mark.parametrize("block", range(8))
def test_degenerate_geometry_keeps_the_certificate(block):
    for seed in range(40 * block, 40 * (block + 1)):
        points, criterion, matrix = degenerate_instance(seed)
        if matrix is not None and not matrix.any():
            continue
        design = exchange_design(points, criterion, matrix=matrix)
        assert design.efficiency_bound >= 1 - TOLERANCE, seed
        assert ((points @ design.dual) ** 2).sum(axis=1).max() <= 1 + 1e-12, seed
        assert design.weights.min() >= 0, seed


@settings(max_examples=60)
@given(
    hnp.arrays(
        np.int64,
        st.tuples(st.integers(1, 12), st.integers(1, 4)),
        elements=st.integers(-3, 3),
    ),
    st.sampled_from(["A", "D"]),
)
def test_whole_number_points_are_solved_or_refused(points, criterion):
    if np.linalg.matrix_rank(points) < points.shape[1]:
        with pytest.raises(ValueError, match="points"):
            exchange_design(points, criterion)
    else:
        assert_certified(points, exchange_design(points, criterion), criterion)


@pytest.mark.parametrize("distance", [1e-3, 1e-5, 1e-7])
@settings(max_examples=20)
@given(st.integers(0, 10_000), st.floats(-6, 6), st.floats(-6, 6))
def test_nearly_dependent_columns(distance, seed, first, second):
    base = gaussian(seed, 12, 3)
    points = np.column_stack([base[:, 0], base[:, 0] + distance * base[:, 1], base[:, 2]])
    points = points * [1.0, 10**first, 10**second]
    design = exchange_design(points, "D")
    assert_certified(points, design, "D")
    assert design.weights == pytest.approx(exchange_design(base, "D").weights, abs=2e-3)


@pytest.mark.parametrize("seed", range(5))
def test_the_bound_allows_for_rounding(seed):
    """Beside a distance of 1e-10, rounding the points alone moves the optimum by about 1e-6."""
    base = gaussian(seed, 12, 3)
    points = np.column_stack([base[:, 0], base[:, 0] + 1e-10 * base[:, 1], base[:, 2]])
    design = exchange_design(points, "D")
    exact = [[Fraction(float(entry)) for entry in row] for row in points]
    dual = [[Fraction(float(entry)) for entry in column] for column in design.dual.T]
    for x in exact:
        norm = sum(sum(g * e for g, e in zip(column, x, strict=True)) ** 2 for column in dual)
        assert norm <= 1
    assert 1 - 1e-4 < design.efficiency_bound < 1 - 1e-6


def test_points_of_very_different_lengths_take_few_steps():
    for seed in range(10):
        lengths = 10.0 ** np.random.default_rng(seed).uniform(-3, 3, size=(40, 1))
        points = lengths * gaussian(seed, 40, 4)
        design = exchange_design(points, "AD"[seed % 2])
        assert design.efficiency_bound >= 1 - TOLERANCE
        assert design.iterations <= 25


def test_thousands_of_copies_take_few_rounds():
    rng = np.random.default_rng(0)
    points = gaussian(5, 100, 8)[rng.integers(0, 100, 60_000)]
    design = exchange_design(points, "D", max_rounds=20)
    assert design.efficiency_bound >= 1 - TOLERANCE


def test_a_tiny_weight_that_is_needed_stays():
    design = exchange_design(np.diag([1.0, 1e7]), "linear", matrix=np.ones((2, 2)))
    assert design.weights[1] == pytest.approx(1e-7, rel=1e-2)
    assert design.value == pytest.approx((1 + 1e-7) ** 2, rel=1e-6)


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


# --- Newton's method -----------------------------------------------------------------------------


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_derivatives_of_the_loss(rank):
    """Sensitivities and second derivatives against central differences."""
    points, weights, step = gaussian(18, 7, 3), np.linspace(0.5, 2, 7), 1e-5
    root = gaussian(19, 3, rank) if rank else None
    iterate = start(points, root, np.eye(3), weights, 0.1)
    for a in range(7):
        change = step * np.eye(7)[a]
        more, less = (
            iterate.moved(iterate.weights + sign * change, iterate.slacks, 0.0) for sign in (1, -1)
        )
        slope = (more.loss - less.loss) / (2 * step)
        assert slope == pytest.approx(-iterate.sensitivity[a], rel=1e-6)
        curvature = (less.sensitivity - more.sensitivity) / (2 * step)
        assert curvature == pytest.approx(iterate.hessian()[a], rel=1e-5, abs=1e-7)


def test_the_iterate_keeps_the_identity_for_its_information_matrix():
    points, root = gaussian(20, 12, 4), gaussian(21, 4, 2)
    iterate = start(points, root, np.eye(4), np.ones(12), 0.1)
    for _ in range(12):
        iterate = newton_step(iterate)
        assert (iterate.points.T * iterate.weights) @ iterate.points == pytest.approx(np.eye(4))
        assert points @ iterate.frame == pytest.approx(iterate.points)
        assert iterate.weights @ iterate.sensitivity == pytest.approx(1)
    assert iterate.gap < 1e-6


# --- the multiplicative reference ----------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["A", "D"])
def test_multiplicative_steps_never_lose(criterion):
    points = gaussian(17, 30, 3)
    root = root_of(criterion, None, 3)
    values = [
        value_of(points, multiplicative_design(points, criterion, iterations=n), root)
        for n in (1, 2, 5, 20, 100)
    ]
    assert np.all(np.diff(values) > 0 if criterion == "D" else np.diff(values) < 0)


def test_multiplicative_closed_form():
    weights = multiplicative_design(np.diag([1.0, 0.5, 0.2]), "A")
    assert weights == pytest.approx(np.array([1, 2, 5]) / 8, abs=1e-6)


def test_multiplicative_with_a_singular_matrix():
    c = np.array([1.0, 2.0])
    weights = multiplicative_design(np.eye(2), "linear", matrix=np.outer(c, c))
    assert weights == pytest.approx(c / 3, abs=1e-6)


def test_multiplicative_refuses_points_that_span_too_little():
    with pytest.raises(ValueError, match="span"):
        multiplicative_design([[1.0, 1.0], [2.0, 2.0]], "D")
