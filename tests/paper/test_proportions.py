"""Intervals for shares, against the tails of the binomial distribution and scipy's own."""

import pytest
from scipy.stats import binom, binomtest

from paper.proportions import proportion_interval

CASES = [(0, 1), (1, 1), (0, 24), (12, 24), (24, 24), (71, 72), (3, 1200)]


@pytest.mark.parametrize(("count", "size"), CASES)
@pytest.mark.parametrize("level", [0.9, 0.95, 0.999])
def test_ends_leave_the_same_tails_of_the_binomial_distribution(count, size, level):
    low, high = proportion_interval(count, size, level)
    tail = (1 - level) / 2
    assert low <= count / size <= high
    assert low == 0 if count == 0 else binom.sf(count - 1, size, low) == pytest.approx(tail)
    assert high == 1 if count == size else binom.cdf(count, size, high) == pytest.approx(tail)


@pytest.mark.parametrize(("count", "size"), CASES)
def test_agrees_with_scipy(count, size):
    expected = binomtest(count, size).proportion_ci(0.95, method="exact")
    assert proportion_interval(count, size) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((1, 0), "size: "),
        ((-1, 3), "count: "),
        ((4, 3), "count: must be at most size = 3; got 4"),
        ((1, 3, 1.0), "level: must lie strictly between 0 and 1"),
        ((1, 3, float("nan")), "level: must lie strictly between 0 and 1"),
    ],
)
def test_refuses(arguments, says):
    with pytest.raises(ValueError, match=says):
        proportion_interval(*arguments)


@pytest.mark.parametrize("level", ["high", None, True])
def test_names_a_level_of_another_type(level):
    with pytest.raises(TypeError, match="level: expected a number"):
        proportion_interval(1, 3, level)
