"""Slopes of lines through points, against NumPy's own fit and against draws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from speedlib.slopes import fitted_slope, log_slope, quantile_slope, slope_weights


@given(st.integers(2, 9), st.integers(0, 1000))
def test_the_slope_is_that_of_a_polynomial_fit(k, seed):
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(-3, 3, k), rng.normal(size=k)
    assert np.isclose(fitted_slope(x, y).estimate, np.polyfit(x, y, 1)[0], rtol=1e-8, atol=1e-10)
    assert np.isclose(slope_weights(x).sum(), 0, atol=1e-9)


@pytest.mark.parametrize("start", [1.0, 1e15, -3e-20])
@pytest.mark.parametrize("steps", [(0, 1), (0, 1, 3), (5, 2, 0, 9)])
def test_points_next_to_each_other_have_the_slope_of_their_differences(start, steps):
    """The mean of neighbouring floats is none of them: distances are taken before it."""
    unit, k = np.spacing(abs(start)), np.array(steps)
    slope = fitted_slope(start + k * unit, 2.0 * k + 1).estimate
    assert np.isclose(slope * unit, 2.0, rtol=1e-12)


def test_several_lines_at_once():
    x, y = np.arange(4.0), np.random.default_rng(1).normal(size=(3, 2, 4))
    found = fitted_slope(x, y, 0.1)
    assert found.estimate.shape == found.standard_error.shape == (3, 2)
    assert np.isclose(found.estimate[2, 1], fitted_slope(x, y[2, 1]).estimate)


def test_a_power_has_its_exponent():
    n = np.array([10, 100, 10_000])
    slope, error = log_slope(n, 3 * n**-1.5)
    assert np.isclose(slope, -1.5) and error == 0


def test_the_standard_error_is_the_spread_of_slopes():
    """Points with unlike errors, as simulations with unlike replications give."""
    rng = np.random.default_rng(2)
    n, sizes = np.array([1e2, 1e3, 1e4, 1e5]), np.array([0.02, 0.01, 0.03, 0.005])
    truth = n**-1.25
    drawn = truth * (1 + sizes * rng.standard_normal((20_000, 4)))
    spread = log_slope(n, drawn).estimate.std()
    assert np.isclose(log_slope(n, truth, sizes * truth).standard_error, spread, rtol=0.03)


@pytest.mark.parametrize(
    ("x", "y", "error", "message"),
    [
        ([1.0], [1.0], 0.0, "x: a slope needs two different numbers"),
        ([2.0, 2.0], [1.0, 3.0], 0.0, "x: a slope needs two different numbers"),
        ([1.0, 2.0], [1.0, 0.0], 0.0, "y: must be greater than 0 to have a logarithm; got 0"),
        ([0.0, 2.0], [1.0, 1.0], 0.0, "x: must be greater than 0"),
        ([1.0, 2.0], [1.0, np.nan], 0.0, "y: every entry must be finite"),
        ([1.0, 2.0], [1.0, 1.0], -0.1, "standard_error: must be at least 0; got -0.1"),
        ([1.0, 2.0], [1.0, 1.0, 1.0], 0.0, r"y: expected shape \(..., 2\)"),
        ([1.0, 2.0], 1.0, 0.0, r"y: expected shape \(..., 2\)"),
        ([1.0, 2.0], [1.0, 1.0], [0.1, 0.1, 0.1], r"standard_error: .*\(2,\).*got shape \(3,\)"),
        ([1.0, 2.0], [1.0, 1.0], [[0.1, 0.1]] * 3, r"standard_error: .*got shape \(3, 2\)"),
        ([1.0, 2.0], [1.0, 1.0], [], r"standard_error: .*got shape \(0,\)"),
        ([1e-70, 2.0], [1.0, 1.0], 0.0, "x: entries must be 0 or between 1e-60 and 1e"),
        ([1.0, 2.0], [1.0, 1e70], 0.0, "y: entries must be 0 or between 1e-60 and 1e"),
        ([1.0, 2.0], [1.0, 1.0], 1e70, "standard_error: entries must be 0 or between 1e-60"),
    ],
)
def test_what_has_no_slope_is_refused(x, y, error, message):
    with pytest.raises(ValueError, match=message):
        log_slope(x, y, error)
    if "must be greater" not in message:
        with pytest.raises(ValueError, match=message):
            fitted_slope(x, y, error)


@pytest.mark.parametrize("x", [[1e-70, 1.0], [1e200, 1.0], [[1.0], [2.0]], [], 1.0])
def test_absurd_places_have_no_weights(x):
    with pytest.raises(ValueError, match=r"^x: "):
        slope_weights(x)


def test_the_slope_of_a_quantile() -> None:
    """Of samples that are a power times one law: the power, and the interval holds it."""
    rng = np.random.default_rng(3)
    lengths = np.array([100, 1000, 10_000])
    samples = [np.abs(rng.standard_normal(2000)) / np.sqrt(g) for g in lengths]
    found = quantile_slope(lengths, samples, 0.9, rng=4)
    direct = np.polyfit(np.log(lengths), np.log([np.quantile(s, 0.9) for s in samples]), 1)[0]
    assert np.isclose(found.estimate, direct)
    assert found.low < -0.5 < found.high
    assert found == quantile_slope(lengths, [s[::-1] for s in samples], 0.9, rng=4)


def test_the_ranks_of_resamples_are_those_of_drawing_them_out() -> None:
    rng = np.random.default_rng(5)
    lengths, samples = [10.0, 1000.0], [rng.gamma(2.0, 1.0, 300), rng.gamma(2.0, 0.1, 300)]
    found = quantile_slope(lengths, samples, 0.8, rng=6, level=0.95)
    drawn = [
        [np.sort(rng.choice(sample, 300))[int(0.8 * 300)] for sample in samples]
        for _ in range(4000)
    ]
    low, high = np.quantile(log_slope(lengths, drawn).estimate, [0.025, 0.975])
    assert np.isclose(found.low, low, atol=0.01) and np.isclose(found.high, high, atol=0.01)


@pytest.mark.parametrize("share", [0.0, 1.0, 1.5])
def test_a_share_is_between_zero_and_one(share) -> None:
    with pytest.raises(ValueError, match="share: must lie strictly between 0 and 1"):
        quantile_slope([1.0, 2.0], [[1.0], [2.0]], share, rng=1)


def test_points_are_a_list_of_numbers() -> None:
    with pytest.raises(ValueError, match="x: a slope needs two different numbers"):
        slope_weights([[1.0, 2.0], [3.0, 4.0]])


def test_an_interval_of_a_quantile_has_the_level_that_is_asked_for() -> None:
    rng = np.random.default_rng(7)
    samples = [rng.gamma(2.0, size, 400) for size in (1.0, 0.1)]
    usual, same, narrow = (
        quantile_slope([1.0, 9.0], samples, 0.5, rng=1, **more)
        for more in ({}, {"level": 0.999}, {"level": 0.5})
    )
    assert usual == same
    assert usual.low < narrow.low < narrow.estimate < narrow.high < usual.high


@pytest.mark.parametrize(
    ("samples", "level", "message"),
    [
        ([[1.0], [0.0]], 0.9, r"samples\[1\]: must be greater than 0"),
        ([[1.0], []], 0.9, r"samples\[1\]: expected a list of one number.*got shape \(0,\)"),
        ([[[1.0, 2.0]], [1.0]], 0.9, r"samples\[0\]: expected a list.*got shape \(1, 2\)"),
        ([1.0, 2.0], 0.9, r"samples\[0\]: expected a list.*got shape \(\)"),
        ([[1.0]], 0.9, "samples: expected one for each of the 2 entries of x; got 1"),
        ([[1.0]] * 3, 0.9, "samples: expected one for each of the 2 entries of x; got 3"),
        ([[1.0], [2.0]], 1.0, "level: must lie strictly between 0 and 1; got 1.0"),
    ],
)
def test_what_has_no_quantile_or_level_is_refused(samples, level, message) -> None:
    with pytest.raises(ValueError, match=message):
        quantile_slope([1.0, 2.0], samples, 0.5, rng=1, level=level)


@pytest.mark.parametrize("samples", [None, 1.0, "many"])
def test_samples_are_a_sequence(samples) -> None:
    with pytest.raises(TypeError, match="samples: expected a sequence of samples; got"):
        quantile_slope([1.0, 2.0], samples, 0.5, rng=1)
