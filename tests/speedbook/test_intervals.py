"""Intervals of single estimates and of several at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from speedbook import envelope, family_level, half_width

NUMBERS = st.floats(-1e6, 1e6)


def test_half_a_width_is_that_of_the_level():
    """3.29 standard errors leave out one in a thousand."""
    assert half_width(1.0) == pytest.approx(norm.isf(0.0005), rel=1e-9)
    assert round(float(half_width(1.0)), 2) == 3.29
    assert half_width([1.0, 2.0]).tolist() == [half_width(1.0), 2 * half_width(1.0)]


@pytest.mark.parametrize("among", [1, 3, 40])
def test_the_intervals_of_a_page_leave_out_one_in_a_thousand_together(among):
    left_out = 2 * norm.sf(float(half_width(1.0, among)))
    assert among * left_out == pytest.approx(0.001, rel=1e-6)
    assert family_level(among) == pytest.approx(1 - left_out, abs=1e-12)
    assert sum(1 - family_level(among, 1) for _ in range(among)) == pytest.approx(0.001, rel=1e-9)
    assert family_level(among, among) == pytest.approx(0.999, abs=1e-15)


@pytest.mark.parametrize(("among", "count"), [(0, 1), (-3, 1), (4, 5), (4, 0)])
def test_a_family_has_members(among, count):
    with pytest.raises(ValueError, match=r"^(among|count): must be .*; got"):
        family_level(among, count)


@given(st.lists(st.tuples(NUMBERS, st.floats(0, 1e6)), min_size=1, max_size=8))
def test_the_envelope_is_the_shortest_that_holds_all(pairs):
    low, high = envelope([e for e, _ in pairs], [h for _, h in pairs])
    assert all(low <= e - h and e + h <= high for e, h in pairs)
    assert any(low == e - h for e, h in pairs) and any(high == e + h for e, h in pairs)


def test_one_half_serves_all():
    assert envelope([1.0, 3.0], 0.5) == (0.5, 3.5)


@pytest.mark.parametrize(
    ("estimates", "halves", "error", "message"),
    [
        ([], [], ValueError, "estimates: an envelope needs at least one"),
        ([np.nan], [1.0], ValueError, r"estimates: no number may be missing; got \[nan\]"),
        ([1.0], [np.nan], ValueError, "halves: no number may be missing"),
        ([1.0], np.ma.masked_array([9.0], [True]), ValueError, "halves: no number may be missing"),
        ([1.0, 2.0], [0.1, -0.1], ValueError, "halves: must be at least 0; got -0.1"),
        ([np.inf], [0.1], ValueError, r"estimates: must be finite; got \[inf\]"),
        ([1.0], np.inf, ValueError, "halves: must be finite; got inf"),
        ("wide", 0.1, TypeError, "estimates: expected a number, or an array of them; got 'wide'"),
        ([1.0], None, TypeError, "halves: expected a number, or an array of them; got None"),
        ([[1.0], [2.0, 3.0]], 0.1, TypeError, "estimates: expected a number, or an array"),
        ([[1.0], [2.0]], [0.1, 0.2], ValueError, r"halves: .*shape \(2, 1\); got shape \(2,\)"),
        ([1.0, 2.0], [0.1], ValueError, r"halves: .*shape \(2,\); got shape \(1,\)"),
        (1.0, [0.1, 0.2], ValueError, r"halves: expected one number.*got shape \(2,\)"),
    ],
)
def test_what_is_no_interval_is_refused(estimates, halves, error, message):
    with pytest.raises(error, match=message):
        envelope(estimates, halves)


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (-1.0, ValueError, "standard_error: must be at least 0; got -1"),
        ([1.0, -2.0], ValueError, "standard_error: must be at least 0; got -2"),
        (np.nan, ValueError, "standard_error: no number may be missing; got nan"),
        (np.ma.masked_array([1.0], [True]), ValueError, "standard_error: no number may be missing"),
        (None, TypeError, "standard_error: expected a number, or an array of them; got None"),
        ("1.0", TypeError, "standard_error: expected a number, or an array of them; got '1.0'"),
        ([1.0, None], TypeError, "standard_error: expected a number, or an array of them; got"),
        (True, TypeError, "standard_error: expected a number, or an array of them; got True"),
    ],
)
def test_what_is_no_standard_error_has_no_width(value, error, message):
    with pytest.raises(error, match=message):
        half_width(value)


def test_nothing_known_is_an_interval_without_ends():
    assert half_width(np.inf) == np.inf
    unmasked = np.ma.masked_array([1, 2], [False, False])
    assert half_width(unmasked).tolist() == half_width([1, 2]).tolist()
