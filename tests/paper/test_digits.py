"""Digits of numbers in any unit: nothing becomes zero, and the unit changes no digit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper.digits import as_measured, summary, to_decimals, to_spread

NUMBERS = st.lists(st.floats(-1e9, 1e9).map(lambda x: x * 1e-6), min_size=1, max_size=5)
SPREADS = st.floats(1e-12, 1e9)


def digits(text: str) -> str:
    """Return the digits of a number, without the zeros around it and without its unit."""
    return text.partition("e")[0].replace(".", "").replace("-", "").strip("0")


@pytest.mark.slow
@given(NUMBERS, SPREADS, st.integers(1, 4))
def test_the_error_is_below_half_a_digit_of_the_spread_and_nothing_becomes_zero(
    numbers, spread, kept
) -> None:
    for number, text in zip(numbers, to_spread(numbers, spread, kept), strict=True):
        assert (float(text) == 0) == (number == 0)
        last = 10.0 ** (np.floor(np.log10(spread)) + 2 - kept)
        assert abs(float(text) - number) <= 0.5 * last * (1 + 1e-9)


@given(NUMBERS)
def test_other_ways_of_writing_make_no_number_zero_either(numbers) -> None:
    for texts in (as_measured(numbers), to_decimals(numbers, 3)):
        for number, text in zip(numbers, texts, strict=True):
            assert (float(text) == 0) == (number == 0)
    for number, text in zip(numbers, as_measured(numbers), strict=True):
        assert float(text) == pytest.approx(number, rel=6e-6)


@pytest.mark.parametrize("unit", [1e-6, 1e-3, 1e6, 1e-40])
def test_the_unit_changes_no_digit(unit: float) -> None:
    rng = np.random.default_rng(1)
    numbers, factor = rng.normal(3, 2, size=50), 10.0 ** round(np.log10(unit))
    spread = float(numbers.std())
    for plain, other in (
        (to_spread(numbers, spread), to_spread(numbers * factor, spread * factor)),
        (as_measured(numbers), as_measured(numbers * factor)),
    ):
        assert list(map(digits, plain)) == list(map(digits, other))


def test_the_summary_is_that_of_pandas_column_by_column() -> None:
    rng = np.random.default_rng(2)
    table = rng.normal(5, [1, 1e-7, 3e4], size=(80, 3)) * [1, 1e-7, 1]
    found = summary(table, ["a", "b", "c"]).astype(float)
    expected = pd.DataFrame(table, columns=["a", "b", "c"]).describe().loc[found.index]
    assert list(found.index) == ["count", "mean", "std", "min", "max"]
    spread = expected.loc["std"]
    assert (abs(found - expected) <= 0.006 * spread).all(axis=None)
