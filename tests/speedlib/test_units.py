"""Units of any size change no design and no efficiency; values that floats cannot hold round."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest

from speedlib.criteria import criterion_value
from speedlib.designs import CRITERIA, design_efficiency, optimal_design, pe_loss
from speedlib.solvers.batch import pe_designs
from speedlib.solvers.elfving import elfving
from speedlib.solvers.exchange import exchange_design
from speedlib.units import moderate, times_power_of_two

UNITS = [1e-307, 1e-170, 1e-100, 1e-40, 1e60, 1e150, 1e200, 1e300]
RNG = np.random.default_rng(12)
X, V = RNG.standard_normal((9, 3)), np.exp(RNG.standard_normal(9))
B = RNG.dirichlet(np.ones(9))
C = B @ X
ROOT = RNG.standard_normal((3, 2))
K = ROOT @ ROOT.T


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def target_of(criterion, unit=1.0):
    """What is to be estimated, measured in another unit."""
    if criterion == "PE":
        return {"direction": C * unit}
    return {"matrix": K * unit * unit} if criterion == "linear" else {}


def exact_power(value, *powers):
    """Multiply floats by powers of floats without overflow, then round once."""
    result = Fraction(value)
    for base, power in powers:
        result *= Fraction(base) ** power
    try:
        return float(result)
    except OverflowError:
        return np.inf


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("unit", UNITS)
def test_the_unit_of_the_features_changes_only_the_value(criterion, unit):
    target = target_of(criterion)
    plain = optimal_design(X, V, criterion, **target)
    other = optimal_design(X * unit, V, criterion, **target)
    assert other.weights == pytest.approx(plain.weights, abs=1e-6)
    assert other.efficiency_bound == pytest.approx(plain.efficiency_bound, abs=1e-6)
    if criterion == "D":
        assert other.value == pytest.approx(plain.value + 6 * np.log(unit), rel=1e-6)
    else:
        power = 0 if criterion == "G" else -2
        assert other.value == pytest.approx(exact_power(plain.value, (unit, power)), rel=2e-6)
    assert design_efficiency(B, X * unit, V, criterion, **target) == pytest.approx(
        design_efficiency(B, X, V, criterion, **target), rel=2e-6
    )


@pytest.mark.parametrize("criterion", ["PE", "linear"])
@pytest.mark.parametrize("unit", [1e-320, *UNITS])
@pytest.mark.parametrize("feature_unit", [1e-170, 1.0, 1e150])
def test_the_unit_of_the_target_changes_only_the_value(criterion, unit, feature_unit):
    if criterion == "linear":
        unit = max(unit, 1e-300) ** 0.5  # the matrix is of this size, and needs all its digits
    plain = optimal_design(X, V, criterion, **target_of(criterion))
    target = target_of(criterion, unit)
    other = optimal_design(X * feature_unit, V, criterion, **target)
    precision = 1e-2 if unit < 1e-300 else 2e-6  # of a direction of 1e-320 three digits are left
    assert other.weights == pytest.approx(plain.weights, abs=precision)
    assert other.efficiency_bound >= 1 - (1e-9 if criterion == "PE" else 1e-6)
    expected = exact_power(plain.value, (unit, 2), (feature_unit, -2))
    assert other.value == pytest.approx(expected, rel=precision)
    assert design_efficiency(B, X * feature_unit, V, criterion, **target) == pytest.approx(
        design_efficiency(B, X, V, criterion, **target_of(criterion)), rel=precision
    )


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("unit", [1e-300, 1e-170, 1e150, 1e300])
def test_the_unit_of_the_variances_changes_only_the_value(criterion, unit):
    target = target_of(criterion)
    plain = optimal_design(X, V, criterion, **target)
    other = optimal_design(X, V * unit, criterion, **target)
    assert other.weights == pytest.approx(plain.weights, abs=1e-6)
    assert design_efficiency(B, X, V * unit, criterion, **target) == pytest.approx(
        design_efficiency(B, X, V, criterion, **target), rel=2e-6
    )


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("unit", [1e-170, 1e-100, 1e150])
def test_the_value_of_any_design_scales(criterion, unit):
    target = target_of(criterion)
    target = next(iter(target.values()), None)
    plain = criterion_value(criterion, B, X, V, target)
    other = criterion_value(criterion, B, X * unit, V, target)
    if criterion == "D":
        assert other == pytest.approx(plain + 6 * np.log(unit), rel=1e-12)
    else:
        power = 0 if criterion == "G" else -2
        assert other == pytest.approx(exact_power(plain, (unit, power)), rel=1e-9)


def test_an_efficiency_is_not_one_because_both_squares_vanish():
    # The fault that started this: 1e-170 squared is 0, and so was the value of every design.
    one_hot, bad = np.eye(2), [0.9, 0.1]
    for size in (1e-170, 1.0, 1e200):
        assert design_efficiency(bad, one_hot, [1, 1], direction=[size, size]) == pytest.approx(
            0.36, rel=1e-12
        )


def test_values_beyond_floats_round_to_zero_and_infinity():
    assert optimal_design(X, V, direction=C * 1e-170).value == 0.0
    assert optimal_design(X, V, direction=C * 1e200).value == np.inf
    assert pe_loss(B, X, V, direction=C * 1e-170) == 0.0
    assert pe_loss(B, X, V, direction=C * 1e200) == np.inf
    assert optimal_design(X * 1e-170, V, "A").value == np.inf
    assert optimal_design(X * 1e170, V, "A").value == 0.0
    assert optimal_design(X * 1e-170, V, "linear", matrix=K).value == np.inf


def test_a_loss_takes_each_design_in_its_own_unit():
    weights = np.array([[1e-300], [1.0], [1e250]]) * B
    variances = np.array([1e-290, 1.0, 1e240])[:, None] * V
    losses = pe_loss(weights, X * 1e150, variances, direction=C * 1e150)
    one = pe_loss(B, X, V, direction=C)
    assert losses == pytest.approx(one * np.array([1e10, 1.0, 1e-10]), rel=1e-9)


@pytest.mark.parametrize("unit", [1e-170, 1e200])
def test_the_dual_is_that_of_the_units_given(unit):
    for design in (
        optimal_design(X * unit, V, direction=C),
        optimal_design(X * unit, V, "A"),
        optimal_design(X * unit, V, "D"),
        optimal_design(X * unit, np.ones(9), "G"),
        elfving(X * unit, V, C),
    ):
        images = (X * unit) @ np.reshape(design.dual, (3, -1)) / np.sqrt(V)[:, None]
        if getattr(design, "criterion", "") == "G":
            images *= np.sqrt(V)[:, None]
        assert np.linalg.norm(images, axis=1).max() == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize("unit", [1e-170, 1e150, 1e200])
def test_solvers_on_their_own(unit):
    single, alone = elfving(X, V, C), elfving(X, V, C * unit)
    assert alone.weights == pytest.approx(single.weights, rel=1e-12)
    assert alone.norm == pytest.approx(single.norm * unit, rel=1e-12)
    assert alone.coefficients == pytest.approx(single.coefficients * unit, rel=1e-12)
    assert alone.gap <= 1e-12
    variances = V * np.array([[1e-200], [1.0], [1e200]])
    designs = pe_designs(X * unit, variances, C * unit)
    assert designs.weights == pytest.approx(np.tile(single.weights, (3, 1)), abs=1e-9)
    assert designs.values == pytest.approx(single.norm**2 * np.array([1e-200, 1, 1e200]), rel=1e-9)
    assert pe_designs(X, variances[:2], C * 1e-250).values.tolist() == [0.0, 0.0]
    for criterion, matrix in [("A", None), ("D", None), ("linear", K)]:
        plain = exchange_design(X, criterion, matrix=matrix)
        other = exchange_design(X * unit, criterion, matrix=matrix)
        assert other.weights == pytest.approx(plain.weights, abs=1e-6)
        assert other.efficiency_bound == pytest.approx(plain.efficiency_bound, abs=1e-6)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_features_in_unlike_units(criterion):
    units = np.array([1e-60, 1.0, 1e60])
    target = {"PE": {"direction": C * units}, "linear": {"matrix": K * np.outer(units, units)}}
    plain = optimal_design(X, V, criterion, **target_of(criterion))
    other = optimal_design(X * units, V, criterion, **target.get(criterion, {}))
    if criterion == "A":
        assert other.efficiency_bound >= 1 - 1e-6 and other.value > 1e110
    else:
        assert other.weights == pytest.approx(plain.weights, abs=1e-5)


def test_moderate_problems_are_left_alone():
    x, v, c, units = moderate(X, V, C)
    assert x is X and v is V and np.array_equal(c, C)
    assert (units.features, int(units.noise), units.target) == (0, 0, 0)


def test_a_problem_is_measured_anew_without_loss():
    given = X * 2.0**-700, V * 2.0**400, C * 2.0**300
    x, v, c, units = moderate(*given)
    for array in (x, v, c):
        assert 1e-25 < np.abs(array).max() < 1e25
    assert np.array_equal(times_power_of_two(x, units.features), given[0])
    assert np.array_equal(times_power_of_two(v, 2 * units.noise), given[1])
    assert np.array_equal(times_power_of_two(c, units.target), given[2])
    assert int(units.value) == 2 * (units.target + int(units.noise) - units.features)
