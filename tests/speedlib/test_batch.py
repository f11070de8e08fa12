"""Many problems at once: the same optima as one by one, and as all vertices by brute force."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from speedlib._tolerances import PRICE_TOLERANCE
from speedlib.designs import pe_loss
from speedlib.solvers.batch import _Shared, pe_designs
from speedlib.solvers.elfving import elfving_design


def all_vertices(x, c):
    """Every basic solution w of ``w @ x = c``, shape (K, A): they do not depend on variances."""
    rank = np.linalg.matrix_rank(x)
    vertices = []
    for support in combinations(range(len(x)), rank):
        rows = x[list(support)]
        if np.linalg.matrix_rank(rows) == rank:
            w = np.linalg.lstsq(rows.T, c, rcond=None)[0]
            assert np.allclose(w @ rows, c, atol=1e-8)
            vertices.append(np.zeros(len(x)))
            vertices[-1][list(support)] = w
    return np.array(vertices)


def random_geometry(rng):
    """Features in general position, or with duplicates, opposites, zeros, dependent dimensions."""
    d, n_actions = int(rng.integers(1, 5)), int(rng.integers(1, 11))
    kind = rng.integers(4)
    if kind == 0:
        x = rng.standard_normal((n_actions, d))
    elif kind == 1:
        x = rng.integers(-1, 2, size=(n_actions, d)).astype(float)
    elif kind == 2:
        half = rng.integers(-3, 4, size=((n_actions + 1) // 2, d)).astype(float)
        x = np.concatenate([half, rng.choice([-1.0, 1.0]) * half])
    else:
        x = rng.standard_normal((n_actions, 2)) @ rng.standard_normal((2, d))
    policy = np.eye(len(x))[0] if rng.integers(2) else rng.dirichlet(np.ones(len(x)))
    return x, policy @ x


@pytest.mark.slow
def test_twelve_thousand_random_problems_agree_with_brute_force_over_all_vertices():
    rng = np.random.default_rng(11)
    alone = problems = 0
    while problems < 12_000:
        x, c = random_geometry(rng)
        if np.abs(c).max() < 1e-12:
            continue
        v = np.exp(rng.integers(0, 3) * rng.standard_normal((60, len(x))))
        designs = pe_designs(x, v, c)
        costs = np.sqrt(v) @ np.abs(all_vertices(x, c)).T
        assert designs.values == pytest.approx(costs.min(axis=1) ** 2, rel=1e-9)
        assert designs.gaps.max() <= 1e-9
        alone, problems = alone + designs.alone, problems + 60
    assert alone <= 60


@pytest.mark.slow
@pytest.mark.parametrize(("n_actions", "d"), [(5, 2), (30, 3), (100, 5), (400, 9)])
def test_agrees_with_one_by_one(n_actions, d):
    rng = np.random.default_rng(d)
    x = rng.standard_normal((n_actions, d))
    root = rng.standard_normal((40, d, d))
    v = ((x @ root) ** 2).sum(axis=2)
    for c in (rng.dirichlet(np.ones(n_actions)) @ x, x[0], x[0] + x[1]):
        designs = pe_designs(x, v, c)
        single = [elfving_design(x, row, c) for row in v]
        assert designs.values == pytest.approx([s.norm**2 for s in single], rel=1e-9)
        assert designs.weights == pytest.approx(np.array([s.weights for s in single]), abs=1e-9)
        assert pe_loss(designs.weights, x, v, direction=c) == pytest.approx(
            designs.values, rel=1e-9
        )


@pytest.mark.slow
def test_what_misses_its_certificate_is_solved_alone():
    """Lengths over ten orders: the batch promises an optimum, or has it found one by one."""
    alone = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x = rng.standard_normal((12, 4)) * 10.0 ** rng.uniform(-5, 5, size=(12, 1))
        v, c = np.exp(rng.standard_normal((20, 12))), rng.dirichlet(np.ones(12)) @ x
        designs = pe_designs(x, v, c)
        single = [elfving_design(x, row, c) for row in v]
        assert designs.values == pytest.approx([s.norm**2 for s in single], rel=1e-9)
        assert np.all((designs.gaps <= 1e-11) | (designs.gaps == [s.gap for s in single]))
        alone += designs.alone
    assert 0 < alone < 200


def exact_gap(points, sigma, target, support, dual):
    """Gap between norm and lower bound in rational arithmetic, from the numbers as stored."""
    rows = [[Fraction(t) for t in row] for row in points]
    y, c = [Fraction(t) for t in dual], [Fraction(t) for t in target]
    prices = [
        abs(sum(p * q for p, q in zip(row, y, strict=True))) / Fraction(s)
        for row, s in zip(rows, sigma, strict=True)
    ]
    lower = sum(p * q for p, q in zip(c, y, strict=True)) / max(prices)
    system = [[rows[a][j] for a in support] + [c[j]] for j in range(len(c))]
    for i in range(len(c)):
        pivot = next(k for k in range(i, len(c)) if system[k][i] != 0)
        system[i], system[pivot] = system[pivot], system[i]
        system[i] = [t / system[i][i] for t in system[i]]
        for k in set(range(len(c))) - {i}:
            system[k] = [s - system[k][i] * t for s, t in zip(system[k], system[i], strict=True)]
    norm = sum(abs(row[-1]) * Fraction(sigma[a]) for row, a in zip(system, support, strict=True))
    return abs(float(1 - lower / norm))


@pytest.mark.slow
@pytest.mark.parametrize("orders", [0, 3])
def test_reported_gaps_hold_in_exact_arithmetic(orders):
    """Prices are plain products here: the gap allows for what rounding may have done to them."""
    checked = tight = 0
    for seed in range(30):
        rng = np.random.default_rng([13, orders, seed])
        d = 2 + seed % 4
        x = rng.standard_normal((10, d)) * 10.0 ** rng.uniform(-orders, orders, size=(10, 1))
        sigma, c = np.exp(0.5 * rng.standard_normal((6, 10))), rng.dirichlet(np.ones(10)) @ x
        shared = _Shared(x, sigma**2, c, PRICE_TOLERANCE)
        solved = shared.solve(sigma)
        for r, weights in enumerate(solved.weights):
            support = np.flatnonzero(weights)
            if support.size == d and solved.gaps[r] < 0.1:
                exact = exact_gap(shared.points, sigma[r], shared.target, support, solved.duals[r])
                assert exact <= solved.gaps[r], seed
                checked, tight = checked + 1, tight + (exact > solved.gaps[r] / 100)
    assert checked > 120
    assert tight > 0


@pytest.mark.slow
def test_the_order_of_the_problems_changes_nothing():
    """So many that they are solved in several blocks, and in others when they are reversed."""
    rng = np.random.default_rng(1)
    x, v, c = rng.standard_normal((5000, 3)), rng.gamma(1.0, size=(250, 5000)), np.ones(3)
    forward, backward = pe_designs(x, v, c), pe_designs(x, v[::-1], c)
    assert np.abs(backward.weights[::-1] - forward.weights).max() <= 1e-12
    assert backward.values[::-1] == pytest.approx(forward.values, rel=1e-12)
    assert forward.gaps.max() <= 1e-11


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_scales_over_twelve_orders_of_magnitude(seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((9, 3))
    v = np.exp(rng.standard_normal((20, 9)))
    c = rng.dirichlet(np.ones(9)) @ x
    units, size = 10.0 ** rng.uniform(-6, 6, size=3), 10.0 ** rng.uniform(-6, 6, size=20)
    designs, scaled = pe_designs(x, v, c), pe_designs(x * units, v * size[:, None], c * units)
    assert scaled.weights == pytest.approx(designs.weights, abs=1e-9)
    assert scaled.values == pytest.approx(designs.values * size, rel=1e-9)


def test_one_hot_features_in_closed_form():
    rng = np.random.default_rng(6)
    policy, v = rng.dirichlet(np.ones(6)), rng.gamma(1.0, size=(30, 6))
    shares = policy * np.sqrt(v)
    designs = pe_designs(np.eye(6), v, policy)
    assert designs.values == pytest.approx(shares.sum(axis=1) ** 2)
    assert designs.weights == pytest.approx(shares / shares.sum(axis=1, keepdims=True))


def test_no_problems_and_nothing_to_estimate():
    assert pe_designs(np.eye(2), np.ones((0, 2)), [1.0, 0.0]).weights.shape == (0, 2)
    designs = pe_designs(np.eye(2), [[2.0, 1.0], [1.0, 2.0]], [0.0, 0.0])
    assert designs.values.tolist() == [0, 0]
    assert designs.weights.tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize(
    ("v", "c", "text"),
    [
        ([1.0, 1.0], [1.0, 0.0], "variances: expected shape"),
        ([[1.0, 0.0]], [1.0, 0.0], "variances: must be greater than 0"),
        ([[1.0, 1.0, 1.0]], [1.0, 0.0], "variances: expected"),
        ([[1.0, 1.0]], [1.0, 0.0], "direction: not in the span"),
        ([[1.0, 1.0]], [1.0], "direction: expected shape"),
    ],
)
def test_bad_input_is_named(v, c, text):
    with pytest.raises(ValueError, match=text):
        pe_designs([[1.0, 1.0], [2.0, 2.0]], v, c)


@pytest.mark.parametrize("tolerance", [0.3, 0.05, 1e-3])
def test_an_approximate_oracle_keeps_its_promise_and_uses_its_leave(tolerance: float) -> None:
    """No design is worse than allowed, by the optimum found exactly, and some are not optimal."""
    rng = np.random.default_rng(17)
    x, v = rng.normal(size=(40, 4)), np.exp(rng.normal(size=(400, 40)))
    c = rng.dirichlet(np.ones(40)) @ x
    exact, rough = pe_designs(x, v, c), pe_designs(x, v, c, tolerance=tolerance)
    assert rough.alone == 0
    efficiency = exact.values / rough.values
    assert efficiency.min() >= 1 - tolerance
    assert np.all((1 - rough.gaps) ** 2 <= efficiency * (1 + 1e-12))
    assert efficiency.min() < 1 - tolerance / 100 or tolerance < 0.01


@pytest.mark.parametrize("tolerance", [-0.1, 1.0, np.nan])
def test_tolerances_that_are_none_are_refused(tolerance: float) -> None:
    """They are refused also where nothing is left to solve."""
    for c, n_problems in (([1.0, 1.0], 1), ([0.0, 0.0], 1), ([1.0, 1.0], 0)):
        with pytest.raises(ValueError, match="tolerance: must be at least 0 and below 1; got"):
            pe_designs(np.eye(2), np.ones((n_problems, 2)), c, tolerance=tolerance)


@pytest.mark.parametrize("tolerance", ["0.1", None, True])
def test_a_tolerance_is_a_number(tolerance: object) -> None:
    with pytest.raises(TypeError, match="tolerance: expected a number; got"):
        pe_designs(np.eye(2), np.ones((1, 2)), [0.0, 0.0], tolerance=tolerance)
