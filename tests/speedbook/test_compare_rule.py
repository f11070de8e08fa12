"""``speedbook compare``: which records and cells differ, and by more than noise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from speedbook.run.comparison import (
    _count,
    compare_records,
    different_cells,
    limit,
    standard_error,
)

from .a_record import entry


@given(
    st.floats(-1e3, 1e3),
    st.floats(1e-3, 1e3),
    st.floats(0.5, 0.9999),
    st.floats(-1e4, 1e4),
)
def test_the_standard_error_is_that_of_the_interval(middle, error, level, towards):
    half = error * stats.norm.ppf((1 + level) / 2)
    found = standard_error(entry(middle, middle - half, middle + half, level), towards)
    assert found == pytest.approx(error, rel=1e-6)


ENTRIES = st.builds(
    lambda middle, below, above, level: entry(middle, middle - below, middle + above, level),
    st.floats(-1e3, 1e3),
    st.floats(0, 10),
    st.floats(0, 10),
    st.sampled_from([0.9, 0.999, 1.0, None]),
)


@given(ENTRIES, ENTRIES)
def test_the_order_of_the_sides_does_not_matter(a, b):
    one, other = compare_records(a, b, 3), compare_records(b, a, 3)
    assert one.difference == -other.difference
    assert (one.gap, one.error, one.standard_errors) == (
        other.gap,
        other.error,
        other.standard_errors,
    )
    assert one.beyond == other.beyond
    assert not compare_records(a, a, 3).beyond


@pytest.mark.parametrize("records", [1, 5, 30])
def test_noise_alone_exceeds_the_limit_as_often_as_the_rule_says(records):
    """With independent runs, one of the records or more does in at most `family` of cases."""
    rng, family, cases = np.random.default_rng(1), 0.1, 4000
    z = stats.norm.ppf(0.995)
    a, b = rng.normal(size=(2, cases, records))
    most = limit(records, family)
    alarms = [
        any(
            compare_records(entry(x, x - z, x + z, 0.99), entry(y, y - z, y + z, 0.99), most).beyond
            for x, y in zip(*case, strict=True)
        )
        for case in zip(a, b, strict=True)
    ]
    low, high = stats.binomtest(sum(alarms), cases).proportion_ci(0.9999)
    assert low <= 1 - (1 - family / records) ** records <= high
    assert low <= family


def test_exact_records_differ_beyond_rounding_and_bounds_if_they_do_not_meet():
    def found(a, b):
        return compare_records(a, b, 3)

    def exact(number):
        return entry(number, number, number, None)

    assert found(exact(1.0), exact(1.00001)).beyond
    assert not found(exact(1.0), exact(1.0000001)).beyond
    assert not found(exact(0.0), exact(1e-15)).beyond
    assert found(exact(0.0), exact(1e-6)).beyond
    apart = found(entry(1, 0.5, 1.5, 1.0), entry(3, 1.6, 4, 1.0))
    assert (apart.kind, apart.beyond, apart.standard_errors) == ("bounds", True, None)
    assert apart.gap == pytest.approx(0.1)
    assert not found(entry(1, 0.5, 1.5, 1.0), entry(3, 1.4, 4, 1.0)).beyond
    # Against noise the number itself counts.
    assert found(exact(1.0), entry(2, 1.9, 2.1)).kind == "noise"


def test_a_record_without_an_interval_is_compared_with_the_same_draws_alone():
    def found(seed, replications=None, estimate=1.0):
        return entry(estimate, estimate, estimate, None) | {
            "seed": seed,
            "replications": replications,
        }

    assert compare_records(found(3), found(3, estimate=2.0), 3).beyond
    assert compare_records(found(None), found(None, estimate=2.0), 3).beyond
    for other in (found(4, estimate=2.0), found(3, 50, estimate=2.0)):
        said = compare_records(found(3), other, 3)
        assert (said.kind, said.beyond, said.standard_errors) == ("draws", False, None)
        # Noise with an interval is judged as ever.
        assert compare_records(found(3), {**other, **entry(2, 1.9, 2.1)}, 3).kind == "noise"


def test_an_interval_with_two_lengths_counts_on_the_side_of_the_other():
    wide_above = entry(1.0, 0.9, 9.0, 0.99)
    near, far = (compare_records(wide_above, entry(x, x, x, None), 3) for x in (0.0, 2.0))
    assert near.beyond and not far.beyond


# Cells of tables


def test_heads_and_names_of_rows_are_no_cells():
    a = [["", "x", "y"], ["0", "1", "2"], ["1", "3", "4"]]
    b = [["", "x", "y"], ["0", "1", "9"]]
    assert _count(a, b) == _count(b, a) == {"cells": 3, "of": 4}
    assert _count(a, []) == _count([], a) == {"cells": 4, "of": 4}


@given(st.lists(st.lists(st.text("ab", max_size=2), max_size=4), max_size=4))
def test_a_table_does_not_differ_from_itself(table):
    assert not any(mark for side in different_cells(table, table) for row in side for mark in row)
