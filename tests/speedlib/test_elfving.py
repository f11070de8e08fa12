"""Elfving's program: closed forms, brute force, second solvers, and the certificate everywhere."""

from __future__ import annotations

import tracemalloc
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import linprog

from speedlib.solvers._elfving_problem import Problem
from speedlib.solvers.elfving import elfving_design

GAP = 1e-9


def assert_certified(x, v, c, solution, gap=GAP):
    """Check the certificate from the input alone: primal, dual, gap, basic support."""
    x, c, sigma = np.asarray(x, float), np.asarray(c, float), np.sqrt(np.asarray(v, float))
    terms = (solution.coefficients / sigma[solution.support])[:, None] * x[solution.support]
    unit = np.abs(x).max(axis=0) + (np.abs(x).max(axis=0) == 0)
    assert np.abs((terms.sum(axis=0) - c) / unit).max() <= 1e-10 * np.abs(c / unit).max()
    assert np.abs(x @ solution.dual / sigma).max() <= 1 + 1e-12
    norm = np.abs(solution.coefficients).sum()
    assert norm == pytest.approx(solution.norm, rel=1e-12)
    assert abs(c @ solution.dual - norm) <= gap * norm
    assert solution.gap <= gap
    assert solution.support.size <= np.linalg.matrix_rank(x)
    assert np.array_equal(np.flatnonzero(solution.weights), solution.support)
    assert solution.weights.sum() == pytest.approx(1, abs=1e-12)


def brute_force(x, v, c):
    """Smallest norm over all supports of independent actions."""
    points = x / np.sqrt(v)[:, None]
    rank = np.linalg.matrix_rank(points)
    best = np.inf
    for support in combinations(range(len(x)), rank):
        rows = points[list(support)]
        if np.linalg.matrix_rank(rows) < rank:
            continue
        u = np.linalg.lstsq(rows.T, c, rcond=None)[0]
        if np.allclose(u @ rows, c, atol=1e-9):
            best = min(best, np.abs(u).sum())
    return best


def whole_program(x, v, c):
    """The same program by HiGHS, all actions at once."""
    columns = (x / np.sqrt(v)[:, None]).T
    result = linprog(np.ones(2 * len(x)), A_eq=np.hstack([columns, -columns]), b_eq=c)
    assert result.status == 0
    return result.fun


# Closed forms


def test_one_hot_features_share_the_rounds_by_policy_times_sigma():
    rng = np.random.default_rng(3)
    policy, v = rng.dirichlet(np.ones(7)), rng.gamma(1.0, size=7)
    solution = elfving_design(np.eye(7), v, policy)
    expected = policy * np.sqrt(v)
    assert np.allclose(solution.weights, expected / expected.sum(), rtol=1e-12)
    assert solution.norm == pytest.approx(expected.sum(), rel=1e-12)


def test_one_dimension_picks_the_action_with_the_most_signal_per_noise():
    x, v = np.array([[1.0], [-3.0], [2.0]]), np.array([1.0, 4.0, 4.0])
    solution = elfving_design(x, v, [2.0])
    assert solution.support.tolist() == [1]
    assert solution.norm == pytest.approx(2.0 * 2.0 / 3.0)


def test_one_action():
    assert elfving_design([[2.0, -1.0]], [9.0], [-4.0, 2.0]).norm == pytest.approx(6.0)


def test_two_dimensions_by_hand():
    # The Elfving set of +-e1, +-e2, +-(1, 1) is a hexagon; the ray (2, 1) leaves it on the edge
    # from e1 to (1, 1) at (1, 1/2): norm 2, half of the rounds on each.
    solution = elfving_design([[1, 0], [0, 1], [1, 1]], [1, 1, 1], [2, 1])
    assert solution.weights == pytest.approx([0.5, 0, 0.5])
    assert solution.norm == pytest.approx(2.0)
    assert solution.dual == pytest.approx([1.0, 0.0])


def test_one_point_may_be_enough_although_its_information_matrix_is_singular():
    # x = e1, (2, 1) and c = e1: both points together give 1, so does e1 alone.
    solution = elfving_design([[1, 0], [2, 1]], [1, 1], [1, 0])
    assert solution.weights == pytest.approx([1, 0])
    assert_certified([[1, 0], [2, 1]], [1, 1], [1, 0], solution)


@pytest.mark.parametrize("degree", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("outside", [1.5, -2.0])
def test_polynomial_extrapolation_has_chebyshev_support(degree, outside):
    # Hoel and Levine, Ann. Math. Statist. 35 (1964): to predict a polynomial outside [-1, 1],
    # observe it where the Chebyshev polynomial T_k is +-1; the value is T_k(outside)^2.
    chebyshev = np.cos(np.arange(degree + 1) * np.pi / degree)
    grid = np.sort(np.concatenate([chebyshev, np.linspace(-0.99, 0.99, 100)]))
    x = np.vander(grid, degree + 1)
    solution = elfving_design(x, np.ones(len(x)), outside ** np.arange(degree, -1, -1.0))
    assert grid[solution.support] == pytest.approx(np.sort(chebyshev), abs=1e-15)
    expected = np.polynomial.chebyshev.chebval(outside, np.eye(degree + 1)[degree])
    assert solution.norm == pytest.approx(abs(expected), rel=1e-10)
    sides = [
        np.prod([(outside - t) / (s - t) for t in chebyshev if t != s]) for s in np.sort(chebyshev)
    ]
    shares = np.abs(sides) / np.abs(sides).sum()
    assert solution.weights[solution.support] == pytest.approx(shares, rel=1e-9)


@pytest.mark.parametrize("factors", [1, 2, 3, 6])
def test_factorial_designs_estimate_each_effect_with_value_one(factors):
    corners = np.array(np.meshgrid(*[[-1.0, 1.0]] * factors)).reshape(factors, -1).T
    x = np.hstack([np.ones((len(corners), 1)), corners])
    for effect in np.eye(factors + 1):
        solution = elfving_design(x, np.ones(len(x)), effect)
        assert solution.norm == pytest.approx(1.0, rel=1e-12)
        assert_certified(x, np.ones(len(x)), effect, solution)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_trigonometric_regression_estimates_the_highest_harmonic_with_value_one(order):
    # On a full circle the highest harmonic cos(kt) has sup norm one and best approximation by
    # the other terms zero, so its c-optimal value is one, attained at its 2k extrema.
    angles = np.arange(4 * order * 5) * (2 * np.pi / (4 * order * 5))
    terms = [np.ones_like(angles)]
    terms += [f(k * angles) for k in range(1, order + 1) for f in (np.cos, np.sin)]
    x = np.column_stack(terms)
    c = np.eye(2 * order + 1)[2 * order - 1]
    solution = elfving_design(x, np.ones(len(x)), c)
    assert solution.norm == pytest.approx(1.0, rel=1e-10)
    assert np.abs(np.cos(order * angles[solution.support])) == pytest.approx(1.0)


# Other solvers


@pytest.mark.parametrize("seed", range(30))
def test_agrees_with_brute_force_over_supports(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 4))
    x = rng.integers(-2, 3, size=(int(rng.integers(d, 9)), d)).astype(float)
    v = rng.integers(1, 4, size=len(x)).astype(float)
    c = rng.integers(-2, 3, size=len(x)) @ x
    if not c.any():
        c = x[0]
    solution = elfving_design(x, v, c)
    assert solution.norm == pytest.approx(brute_force(x, v, c), rel=1e-9)


@pytest.mark.parametrize(
    ("n_actions", "d"), [(30, 3), (300, 6), pytest.param(2000, 11, marks=pytest.mark.slow)]
)
def test_agrees_with_the_whole_program(n_actions, d):
    rng = np.random.default_rng(n_actions)
    x = rng.standard_normal((n_actions, d))
    v = np.exp(rng.standard_normal(n_actions))
    for c in (rng.dirichlet(np.ones(n_actions)) @ x, x[3], x[:3].sum(axis=0)):
        assert elfving_design(x, v, c).norm == pytest.approx(whole_program(x, v, c), rel=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_the_convex_program_over_designs(seed):
    cp = pytest.importorskip("cvxpy")
    rng = np.random.default_rng(seed)
    x, v = rng.standard_normal((15, 3)), np.exp(rng.standard_normal(15))
    c, points = rng.dirichlet(np.ones(15)) @ x, x / np.sqrt(v)[:, None]
    b = cp.Variable(15, nonneg=True)
    problem = cp.Problem(
        cp.Minimize(cp.matrix_frac(c, points.T @ cp.diag(b) @ points)), [sum(b) == 1]
    )
    value = problem.solve(solver="CLARABEL")
    assert elfving_design(x, v, c).norm ** 2 == pytest.approx(value, rel=1e-5)


# Degenerate geometry

SMALL = st.integers(-2, 2).map(float)
SHAPES = st.tuples(st.integers(1, 9), st.integers(1, 4))


@st.composite
def degenerate_problems(draw):
    """Features on a small grid: duplicates, opposites, zeros, dependent rows; c in their span."""
    x = draw(hnp.arrays(float, SHAPES, elements=SMALL))
    v = draw(hnp.arrays(float, len(x), elements=st.sampled_from([0.25, 1.0, 2.0, 4.0])))
    c = draw(hnp.arrays(float, len(x), elements=SMALL)) @ x
    assume(c.any())
    return x, v, c


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(degenerate_problems())
def test_degenerate_geometry_is_certified(problem):
    assert_certified(*problem, elfving_design(*problem), gap=1e-12)


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(degenerate_problems(), st.integers(0, 2**32 - 1))
def test_the_optimum_does_not_depend_on_coordinates_units_order_or_signs(problem, seed):
    x, v, c = problem
    norm = elfving_design(x, v, c).norm
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(x))
    assert elfving_design(x[order], v[order], c).norm == pytest.approx(norm, rel=1e-10)
    signs = rng.choice([-1.0, 1.0], size=len(x))
    assert elfving_design(signs[:, None] * x, v, c).norm == pytest.approx(norm, rel=1e-10)
    rotation = np.linalg.qr(rng.standard_normal((x.shape[1],) * 2))[0]
    assert elfving_design(x @ rotation, v, c @ rotation).norm == pytest.approx(norm, rel=1e-10)
    units = 10.0 ** rng.uniform(-6, 6, size=x.shape[1])
    assert elfving_design(x * units, v, c * units).norm == pytest.approx(norm, rel=1e-10)
    assert elfving_design(x, 1e12 * v, 1e-6 * c).norm == pytest.approx(norm, rel=1e-10)
    lengths = 10.0 ** rng.uniform(-6, 6, size=len(x))
    assert elfving_design(x * lengths[:, None], v * lengths**2, c).norm == pytest.approx(
        norm, rel=1e-9
    )


def test_scales_over_twelve_orders_of_magnitude():
    rng = np.random.default_rng(8)
    for _ in range(50):
        d = int(rng.integers(1, 7))
        x = rng.standard_normal((40, d)) * 10.0 ** rng.uniform(-6, 6, size=d)
        v = 10.0 ** rng.uniform(-6, 6, size=40)
        c = rng.dirichlet(np.ones(40)) @ x
        assert_certified(x, v, c, elfving_design(x, v, c))


def test_copies_and_opposites_in_large_numbers():
    rng = np.random.default_rng(2)
    few = rng.standard_normal((12, 4))
    x = np.concatenate([few, -few] * 500)[rng.permutation(12_000)]
    v = rng.choice([1.0, 2.0], size=len(x))
    for c in (x[0], x[0] + x[5], rng.standard_normal(4)):
        solution = elfving_design(x, v, c)
        assert_certified(x, v, c, solution)
        assert solution.norm == pytest.approx(elfving_design(few, np.ones(12), c).norm, rel=1e-10)


@pytest.mark.slow
def test_two_thousand_random_problems_reach_their_certificates():
    # Ten thousand more, against all vertices, are in test_batch.py.
    rng = np.random.default_rng(2024)
    gaps = [_random_gap(rng) for _ in range(2_000)]
    assert max(gaps) <= GAP


def _random_gap(rng):
    d = int(rng.integers(1, 5))
    n_actions = int(rng.integers(1, 16))
    kind = rng.integers(4)
    if kind == 0:
        x = rng.standard_normal((n_actions, d))
    elif kind == 1:
        x = rng.integers(-1, 2, size=(n_actions, d)).astype(float)
    elif kind == 2:
        x = np.eye(d)[rng.integers(0, d, size=n_actions)] * 10.0 ** rng.integers(-6, 7)
    else:
        x = rng.standard_normal((n_actions, 1)) * rng.standard_normal(d)
    v = np.exp(rng.integers(-1, 2) * rng.standard_normal(n_actions))
    policy = np.eye(n_actions)[0] if rng.integers(2) else rng.dirichlet(np.ones(n_actions))
    c = policy @ x
    solution = elfving_design(x, v, c)
    sigma = np.sqrt(v)
    worst = np.abs(x @ solution.dual / sigma).max()
    missed = (solution.coefficients / sigma[solution.support]) @ x[solution.support] - c
    assert worst <= 1 + 1e-12 and np.abs(missed).max() <= 1e-12 * np.abs(x).max()
    norm = np.abs(solution.coefficients).sum()
    return abs(norm - c @ solution.dual) / norm if norm > 0 else 0.0


# Many actions


@pytest.mark.parametrize(("n_actions", "d"), [(5_000, 2), (40_000, 5), (60_000, 12)])
def test_many_actions_are_certified_in_few_pricings(n_actions, d):
    rng = np.random.default_rng(d)
    x = rng.standard_normal((n_actions, d))
    v = ((x @ rng.standard_normal((d, d))) ** 2).sum(axis=1)
    for c in (rng.dirichlet(np.ones(n_actions)) @ x, x[1], x[1] - x[2]):
        solution = elfving_design(x, v, c)
        assert_certified(x, v, c, solution, gap=1e-11)
        assert solution.pricings <= 12


def test_a_dimension_that_only_one_action_of_many_has_is_found():
    x = np.zeros((20_000, 3))
    x[:, 0] = np.linspace(1, 2, len(x))
    x[12_345, 2] = 1e-4
    solution = elfving_design(x, np.ones(len(x)), [1.0, 0.0, 1e-4])
    assert_certified(x, np.ones(len(x)), [1.0, 0.0, 1e-4], solution)
    assert 12_345 in solution.support


@pytest.mark.slow
def test_memory_stays_far_below_that_of_the_features():
    rng = np.random.default_rng(0)
    x, v = rng.standard_normal((200_000, 20)), np.ones(200_000)
    tracemalloc.start()
    try:
        elfving_design(x, v, x[0])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= x.nbytes


# Input


def test_pricings_count_every_product_with_all_actions(monkeypatch):
    """Among them a second one of the certificate, where actions without weight are short."""
    prices, strides = Problem.prices, []

    def counted(problem, dual, stride=1):
        strides.append(stride)
        return prices(problem, dual, stride)

    monkeypatch.setattr(Problem, "prices", counted)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x = 1e-4 * rng.standard_normal((12, 4)) * 10.0 ** rng.uniform(-5, 5, size=(12, 1))
        x[0] = 1e6 * rng.standard_normal(4)
        strides.clear()
        assert elfving_design(x, np.ones(12), x[0]).pricings == strides.count(1)
    x = rng.standard_normal((20_000, 3))
    strides.clear()
    assert elfving_design(x, np.ones(len(x)), x[0]).pricings == strides.count(1) < len(strides)


def test_nothing_to_estimate():
    solution = elfving_design([[1.0, 0.0], [0.0, 1.0]], [2.0, 1.0], [0.0, 0.0])
    assert solution.norm == solution.gap == 0
    assert solution.weights.tolist() == [0, 1]


@pytest.mark.parametrize("convert", [np.float32, np.asfortranarray, lambda x: x[::-1, ::-1]])
def test_any_float_type_and_memory_layout(convert):
    rng = np.random.default_rng(4)
    x = convert(rng.integers(-9, 10, size=(30, 4)).astype(float))
    c = np.asarray(x, float)[:5].sum(axis=0)
    solution = elfving_design(x, np.ones(30), c)
    expected = elfving_design(np.array(x, dtype=float, order="C"), np.ones(30), c)
    assert np.array_equal(solution.weights, expected.weights)


def test_the_input_is_left_alone():
    rng = np.random.default_rng(5)
    x, v, c = rng.standard_normal((30, 4)), np.ones(30), np.ones(4)
    copies = x.copy(), v.copy(), c.copy()
    elfving_design(x, v, c)
    assert all(np.array_equal(a, b) for a, b in zip((x, v, c), copies, strict=True))


@pytest.mark.parametrize(
    ("x", "v", "c", "text"),
    [
        ([[1, 1], [2, 2]], [1, 1], [1, 0], "direction: not in the span"),
        ([[0, 0]], [1], [1, 0], "direction: not in the span"),
        ([[1, 0], [0, 1]], [0, 1], [1, 0], "variances: must be greater than 0; got 0"),
        ([[1, 0], [0, 1]], [1, -1], [1, 0], "variances: must be greater than 0; got -1"),
        ([[1, 0], [0, np.nan]], [1, 1], [1, 0], "features: every entry must be finite"),
        ([[1, 0], [0, 1]], [1, 1, 1], [1, 0], "variances: expected one variance per action"),
        ([[1, 0], [0, 1]], [1, 1], [1, 0, 0], "direction: expected shape"),
        ([1, 0], [1, 1], [1], "features: expected shape"),
    ],
)
def test_bad_input_is_named(x, v, c, text):
    with pytest.raises(ValueError, match=text):
        elfving_design(x, v, c)
