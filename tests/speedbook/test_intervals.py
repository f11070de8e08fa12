"""Intervals of single estimates and of several at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from speedbook import envelope, half_width

NUMBERS = st.floats(-1e6, 1e6)


def test_half_a_width_is_that_of_the_level():
    """3.29 standard errors leave out one in a thousand, to within a hundredth of that."""
    out = 2 * norm.sf(float(half_width(1.0)))
    assert abs(out - 0.001) < 1e-5
    assert half_width([1.0, 2.0]).tolist() == [half_width(1.0), 2 * half_width(1.0)]


@given(st.lists(st.tuples(NUMBERS, st.floats(0, 1e6)), min_size=1, max_size=8))
def test_the_envelope_is_the_shortest_that_holds_all(pairs):
    low, high = envelope([e for e, _ in pairs], [h for _, h in pairs])
    assert all(low <= e - h and e + h <= high for e, h in pairs)
    assert any(low == e - h for e, h in pairs) and any(high == e + h for e, h in pairs)


def test_one_half_serves_all():
    assert envelope([1.0, 3.0], 0.5) == (0.5, 3.5)


@pytest.mark.parametrize(
    ("estimates", "halves", "message"),
    [
        ([], [], "estimates: an envelope needs at least one"),
        ([np.nan], [1.0], "estimates, halves: must be numbers"),
        ([1.0], [np.nan], "estimates, halves: must be numbers"),
        ([1.0, 2.0], [0.1, -0.1], "halves: must be at least 0; got -0.1"),
    ],
)
def test_what_is_no_interval_is_refused(estimates, halves, message):
    with pytest.raises(ValueError, match=message):
        envelope(estimates, halves)
