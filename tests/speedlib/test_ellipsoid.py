"""Certificates of A-, D- and linear designs: exact arithmetic, singular and degenerate geometry."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import linprog

from speedlib.solvers.exchange import exchange_design

from .ellipsoids import TOLERANCE, assert_certified, gaussian

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


def exact_planar_efficiency(points, design, matrix):
    """What the ellipsoid proves of a design in the plane, with K as it is stored.

    For two by two matrices the squared sum of the singular values is
    Tr(C'C) + 2 |det C|, here with C = B'G and K = BB'.
    """
    x, g, k = (
        [[Fraction(float(t)) for t in row] for row in a] for a in (points, design.dual, matrix)
    )
    w = [Fraction(float(t)) for t in design.weights]
    m = [[sum(t * r[i] * r[j] for t, r in zip(w, x, strict=True)) for j in (0, 1)] for i in (0, 1)]
    determinant = m[0][0] * m[1][1] - m[0][1] ** 2
    if determinant == 0:
        return None
    traced = k[0][0] * m[1][1] - 2 * k[0][1] * m[0][1] + k[1][1] * m[0][0]
    value = sum(w) * traced / determinant
    columns = list(zip(*g, strict=True))
    worst = max(sum((c[0] * r[0] + c[1] * r[1]) ** 2 for c in columns) for r in x)
    least = sum(k[i][j] * c[i] * c[j] for c in columns for i in (0, 1) for j in (0, 1))
    volume = (k[0][0] * k[1][1] - k[0][1] ** 2) * (
        (g[0][0] * g[1][1] - g[0][1] * g[1][0]) ** 2 if len(columns) == 2 else 0
    )
    with localcontext() as context:
        context.prec = 60
        root = (Decimal(volume.numerator) / volume.denominator).sqrt() if volume > 0 else Decimal(0)
        total = Decimal(least.numerator) / least.denominator + 2 * root
        bound = value * worst
        return float(total * bound.denominator / bound.numerator)


def nearly_rank_one(seed):
    """Points and a matrix of rank one plus a second eigenvalue down to rounding errors."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(int(rng.integers(2, 12)), 2))
    if seed % 3 == 1:
        points *= 10.0 ** rng.uniform(-4, 4, size=(len(points), 1))
    elif seed % 3 == 2:
        points[:, 1] = points[:, 0] + 10.0 ** -rng.integers(1, 6) * points[:, 1]
    c = points[0] if seed % 2 else rng.normal(size=len(points)) @ points
    other = rng.normal(size=len(points)) @ points
    share = [0.0, 10.0 ** -rng.integers(4, 17)][rng.integers(2)] * (c @ c) / (other @ other)
    return points, np.outer(c, c) + share * np.outer(other, other)


@pytest.mark.slow
def test_no_bound_exceeds_the_exact_one_however_nearly_singular_the_matrix():
    checked = 0
    for seed in range(240):
        points, matrix = nearly_rank_one(seed)
        design = exchange_design(points, "linear", matrix=matrix)
        exact = exact_planar_efficiency(points, design, matrix)
        # Rounding may leave a matrix that is not semidefinite, so that it has no such bound.
        if exact is not None and exact > 0:
            assert design.efficiency_bound <= exact * (1 + 1e-12), seed
            checked += 1
    assert checked > 180


@pytest.mark.parametrize("exponent", [6, 10, 12, 20, 60])
def test_a_weight_without_which_nothing_is_estimable_stays_however_small(exponent):
    # The optimal weights are proportional to sigma: 10^-k and 1.
    design = exchange_design(np.diag([1.0, 10.0**-exponent]), "A")
    assert 0 < design.weights[0] < 1e-5
    inverse = 1 / design.weights[0] + 10.0 ** (2 * exponent) / design.weights[1]
    assert design.value == pytest.approx(inverse, rel=1e-12)
    assert 1 - TOLERANCE <= design.efficiency_bound <= (1 + 1e-12) * (1 + 10.0**-exponent) ** 2


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
    with pytest.raises(ValueError, match="must not all be zero"):
        exchange_design(np.zeros((4, 2)), criterion)


def test_linear_criterion_within_the_span_of_dependent_points():
    low, lift = gaussian(1, 20, 2), gaussian(2, 2, 3)
    flat = low @ lift
    inside = lift.T @ lift
    design = exchange_design(flat, "linear", matrix=inside)
    assert_certified(flat, design, "linear", inside)
    assert design.value == pytest.approx(exchange_design(low, "A").value, rel=2e-6)
    with pytest.raises(ValueError, match="miss some that the criterion needs"):
        exchange_design(flat, "linear", matrix=np.eye(3))


@pytest.mark.parametrize("seed", range(8))
def test_small_parts_of_the_matrix_lie_in_the_span_as_far_as_they_are_known(seed):
    # An eigenvalue of 1e-14 has two digits in floats, and so has its direction.
    low, lift = gaussian(seed, 10, 2), gaussian(seed + 20, 2, 4)
    matrix = lift.T @ np.diag([1.0, 1e-14]) @ lift
    design = exchange_design(low @ lift, "linear", matrix=matrix)
    assert 1 - TOLERANCE <= design.efficiency_bound <= 1
    apart = matrix + 1e-9 * np.outer(*[np.linalg.svd(lift)[2][3]] * 2)
    with pytest.raises(ValueError, match="miss some that the criterion needs"):
        exchange_design(low @ lift, "linear", matrix=apart)


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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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
    assert 1 - 1e-3 < design.efficiency_bound < 1 - 1e-6


def test_points_of_very_different_lengths_take_few_steps():
    for seed in range(10):
        lengths = 10.0 ** np.random.default_rng(seed).uniform(-3, 3, size=(40, 1))
        points = lengths * gaussian(seed, 40, 4)
        design = exchange_design(points, "AD"[seed % 2])
        assert design.efficiency_bound >= 1 - TOLERANCE
        assert design.iterations <= 25


@pytest.mark.slow
def test_thousands_of_copies_take_few_rounds():
    rng = np.random.default_rng(0)
    points = gaussian(5, 100, 8)[rng.integers(0, 100, 60_000)]
    design = exchange_design(points, "D", max_rounds=20)
    assert design.efficiency_bound >= 1 - TOLERANCE


def test_a_tiny_weight_that_is_needed_stays():
    design = exchange_design(np.diag([1.0, 1e7]), "linear", matrix=np.ones((2, 2)))
    assert design.weights[1] == pytest.approx(1e-7, rel=1e-2)
    assert design.value == pytest.approx((1 + 1e-7) ** 2, rel=1e-6)
