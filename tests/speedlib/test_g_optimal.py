"""G-optimal designs: to their tolerance wherever D can be solved, with an honest certificate."""

import re
import warnings
from fractions import Fraction

import numpy as np
import pytest
from numpy.polynomial import Legendre, legendre, polynomial

from speedlib.designs import DesignWarning, design_efficiency, optimal_design
from speedlib.solvers._ellipsoid import certified_variance
from speedlib.solvers.exchange import exchange_design
from speedlib.strategies import GOptimal


def quietly(features, **options):
    """Design without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return optimal_design(features, np.ones(len(features)), "G", **options)


def largest_variance(weights, basis):
    """Largest variance of a design, in a well-conditioned basis of the same functions."""
    information = basis.T @ (weights[:, None] * basis)
    return np.einsum("ad,da->a", basis, np.linalg.solve(information, basis.T)).max()


def exact_largest_variance(weights, features):
    """Largest variance in rational arithmetic, by elimination without rounding."""
    x = [[Fraction(float(entry)) for entry in row] for row in features]
    w = [Fraction(float(weight)) for weight in weights]
    total, d = sum(w), len(x[0])
    m = [
        [sum(v * r[i] * r[j] for v, r in zip(w, x, strict=True)) / total for j in range(d)]
        for i in range(d)
    ]
    worst = Fraction(0)
    for point in x:
        # The pivot left of [[M, x], [x', 0]] after elimination is -x' inv(M) x.
        table = [[*m[i], point[i]] for i in range(d)] + [[*point, Fraction(0)]]
        for k in range(d):
            for i in range(k + 1, d + 1):
                factor = table[i][k] / table[k][k]
                table[i] = [a - factor * b for a, b in zip(table[i], table[k], strict=True)]
        worst = max(worst, -table[d][d])
    return worst


GRIDS = {"raw": (0.0, 1.0), "to 100": (50.0, 50.0), "far": (10.0, 2.0)}


@pytest.mark.slow
@pytest.mark.parametrize("tolerance", [1e-6, 1e-8])
@pytest.mark.parametrize(("scale", "degree"), [("raw", 3), ("to 100", 4), ("far", 3)])
def test_polynomials_reach_the_tolerance_at_the_known_optimum(scale, degree, tolerance):
    check_polynomials(scale, degree, 2001, tolerance)


@pytest.mark.slow
@pytest.mark.parametrize("scale", ["raw", "to 100"])
@pytest.mark.parametrize("degree", range(2, 9))
def test_polynomials_reach_the_default_tolerance_on_a_fine_grid(scale, degree):
    check_polynomials(scale, degree, 20_001, None)


def check_polynomials(scale, degree, size, tolerance):
    """Equal weights at the zeros of (1 - t^2) P'(t), P the Legendre polynomial of the degree."""
    t, (middle, half) = np.linspace(-1, 1, size), GRIDS[scale]
    design = quietly(np.vander(middle + half * t, degree + 1), tolerance=tolerance)
    allowed, d = tolerance or 1e-6, degree + 1
    assert design.efficiency_bound >= 1 - allowed
    largest = largest_variance(design.weights, legendre.legvander(t, degree))
    assert d * (1 - 1e-12) <= largest <= d / (1 - allowed)
    # To a relative 1e-9: the monomials are rounded, and dependent by up to 1e-7 of their size.
    assert design.value == pytest.approx(largest, rel=1e-9)
    zeros = np.concatenate([[-1.0], Legendre.basis(degree).deriv().roots(), [1.0]])
    nearest = np.abs(t[:, None] - zeros).argmin(axis=1)
    masses = np.bincount(nearest, design.weights)
    assert masses == pytest.approx(1 / d, abs=2e-4)
    assert (np.abs(t - zeros[nearest]) * (design.weights > 1e-4)).max() < 4 / size


def instances():
    """Features of many kinds, with a well-conditioned basis of the same functions."""
    rng = np.random.default_rng(7)
    gauss = rng.standard_normal((300, 4))
    angles = 2 * np.pi * np.arange(500) / 500
    waves = [f(k * angles) for k in (1, 2, 3) for f in (np.sin, np.cos)]
    near = gauss + [0.0, 0.0, 0.0, 1.0] * gauss[:, :1] / 1e-5
    return {
        "Gaussian": gauss,
        "trigonometric": np.column_stack([np.ones(500), *waves]),
        "copies": np.repeat(gauss[:60], 20, axis=0),
        "copies of one": np.vstack([np.repeat(gauss[:1], 2000, axis=0), gauss]),
        "heavy tails": rng.standard_t(1.5, (1000, 5)),
        "whole numbers": rng.integers(-3, 4, (500, 4)).astype(float),
        "nearly dependent": near,
        "unlike units": gauss * [1e-12, 1.0, 1e5, 1e12],
        "cubic on a grid": polynomial.polyvander(np.linspace(-1, 1, 999), 3),
    }


@pytest.mark.slow
@pytest.mark.parametrize("tolerance", [1e-2, 1e-6, 1e-9])
@pytest.mark.parametrize("kind", instances())
def test_all_kinds_of_features_reach_the_tolerance(kind, tolerance):
    x = instances()[kind]
    design = quietly(x, tolerance=tolerance)
    d, basis = x.shape[1], np.linalg.qr(x / np.abs(x).max(axis=0))[0]
    largest = largest_variance(design.weights, basis)
    assert 1 - tolerance <= design.efficiency_bound <= d / largest * (1 + 1e-9)
    assert design.support.size <= d * (d + 1) // 2 + 2


@pytest.mark.slow
@pytest.mark.parametrize(("d", "n_actions"), [(11, 10_000), (25, 100_000)])
def test_large_problems_reach_the_tolerance(d, n_actions):
    x = np.random.default_rng(d).standard_normal((n_actions, d))
    design = quietly(x)
    assert largest_variance(design.weights, x) <= d / (1 - 1e-6)


@pytest.mark.parametrize("distance", [0.0, 1e-3, 1e-6, 1e-9, 1e-11])
def test_the_certificate_holds_in_exact_arithmetic(distance):
    """Good and bad designs, for features ever nearer to dependence."""
    rng = np.random.default_rng(3)
    x = rng.standard_normal((12, 3))
    if distance:
        x[:, 2] = x[:, 0] + distance * x[:, 2]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DesignWarning)
        best = optimal_design(x, np.ones(12), "G")
    for weights in (best.weights, rng.dirichlet(np.ones(12))):
        efficiency = 3 / exact_largest_variance(weights, x)
        for tolerance in (1e-12, 1e-6, 0.5):
            worth = certified_variance(weights, x, tolerance)
            assert worth.efficiency_bound <= efficiency
            assert worth.efficiency_bound == pytest.approx(float(efficiency), rel=1e-2)
            # Where the bound decides, it decides as the exact value does.
            if not 1 - tolerance - 1e-10 < efficiency < 1 - tolerance + 1e-10:
                reached = worth.efficiency_bound >= 1 - tolerance
                assert reached == (efficiency >= 1 - tolerance)


def test_a_singular_design_has_no_efficiency():
    worth = certified_variance(np.array([0.5, 0.5, 0.0]), np.array([[1.0, 0], [2, 0], [0, 1]]), 0.1)
    assert worth == (np.inf, 0.0)
    assert design_efficiency([0.5, 0.5, 0.0], [[1.0, 0], [2, 0], [0, 1]], np.ones(3), "G") == 0


def nearly_dependent(distance):
    x = np.random.default_rng(1).standard_normal((300, 4))
    return np.column_stack([x[:, :3], x[:, 0] + distance * x[:, 3]]), x


def test_a_miss_says_what_was_reached_and_what_cures_it():
    x, apart = nearly_dependent(1e-11)
    with pytest.warns(DesignWarning, match=r"^G-optimal design: certified efficiency") as seen:
        design = optimal_design(x, np.ones(300), "G", tolerance=1e-9)
    assert design.efficiency_bound < 1 - 1e-9
    text = str(seen[0].message)
    assert f"the largest x' inv(M) x is {design.value:.15g}, the optimum is 4" in text
    assert "orthogonalise the features" in text
    # Both cures are tried.
    tolerance = float(re.search(r"tolerance of (1e-\d+)", text)[1])
    assert quietly(x, tolerance=tolerance).efficiency_bound >= 1 - tolerance
    assert quietly(apart, tolerance=1e-9).efficiency_bound >= 1 - 1e-9


def test_features_that_are_fine_are_not_blamed():
    x = nearly_dependent(1.0)[1]
    with pytest.warns(DesignWarning, match=r"allow a tolerance of 1e-1\d\.$") as seen:
        optimal_design(x, np.ones(300), "G", tolerance=1e-16)
    assert "features" not in str(seen[0].message)


@pytest.mark.parametrize("criterion", ["G", "D"])
def test_missing_dimensions_are_those_of_the_features(criterion):
    for x, text in (
        ([[1.0, 1.0], [2.0, 2.0]], "they span 1 of 2"),
        (np.zeros((3, 2)), "must not all be zero"),
    ):
        with pytest.raises(ValueError, match=f"^features: {text}"):
            optimal_design(x, np.arange(1.0, len(x) + 1), criterion)


def test_variances_change_nothing():
    x = instances()["cubic on a grid"]
    noise = np.random.default_rng(0).uniform(0.01, 10.0, len(x))
    assert np.array_equal(optimal_design(x, noise, "G").weights, quietly(x).weights)


def test_the_strategy_and_the_solver_give_the_same_design():
    x = instances()["cubic on a grid"]
    expected = quietly(x)
    assert np.array_equal(exchange_design(x, "G").weights, expected.weights)
    assert exchange_design(x, "G").efficiency_bound == expected.efficiency_bound

    class Problem:
        features = x

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        many = GOptimal(tolerance=1e-6).designs(np.ones((3, len(x))), Problem())
    assert np.array_equal(many, np.tile(expected.weights, (3, 1)))


def test_an_efficiency_for_g_needs_no_other_design():
    x, _ = nearly_dependent(1e-11)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        efficiency = design_efficiency(np.full(300, 1 / 300), x, np.ones(300), "G")
    basis = np.linalg.qr(x)[0]
    assert efficiency == pytest.approx(4 / largest_variance(np.full(300, 1 / 300), basis), rel=1e-3)
