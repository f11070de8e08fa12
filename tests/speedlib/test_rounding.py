"""Rounding: exact sums, no lost pulls, and the optimality of efficient apportionment."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from speedlib.checks import check_designs
from speedlib.rounding import (
    ROUNDINGS,
    ceil_counts,
    efficient_counts,
    floor_counts,
    round_design,
)


@st.composite
def designs(draw, max_actions=8):
    """A design with whole-number proportions, some of them zero."""
    parts = draw(st.lists(st.integers(0, 50), min_size=1, max_size=max_actions).filter(any))
    return np.array(parts) / sum(parts)


def test_floor_keeps_the_pull_that_plain_floats_lose():
    assert int(0.29 * 100) == 28
    assert floor_counts([0.29, 0.71], 100).tolist() == [29, 71]


def test_ceil_does_not_add_the_pull_that_plain_floats_add():
    assert np.ceil(0.07 * 100) == 8
    assert ceil_counts([0.07, 0.93], 100).tolist() == [7, 93]


@given(designs(), st.integers(0, 10_000))
def test_floor_and_ceil_are_within_one_pull_of_the_design(b, n):
    low, high = floor_counts(b, n), ceil_counts(b, n)
    assert np.all(low <= n * b + 1e-6) and np.all(low > n * b - 1)
    assert np.all(high >= n * b - 1e-6) and np.all(high < n * b + 1)
    assert n <= high.sum() <= n + max(np.count_nonzero(b) - 1, 0)
    assert n - max(np.count_nonzero(b) - 1, 0) <= low.sum() <= n


@given(designs(), st.integers(0, 10_000))
def test_efficient_apportionment_sums_to_the_rounds(b, n):
    counts = efficient_counts(b, n)
    assert counts.sum() == n
    assert np.all(counts[b == 0] == 0)
    if n >= np.count_nonzero(b):
        assert np.all(counts[b > 0] >= 1)


@given(designs(max_actions=4), st.integers(1, 9))
def test_efficient_apportionment_is_the_best_by_exhaustion(b, n):
    used = b[b > 0]
    every = np.array([t for t in product(range(n + 1), repeat=used.size) if sum(t) == n])
    best = (every / used).min(axis=1).max()
    assert (efficient_counts(b, n)[b > 0] / used).min() >= best * (1 - 1e-9)


def test_efficient_apportionment_by_hand():
    # n - s/2 = 4.5 pulls give (0.75, 1.5, 2.25), rounded up (1, 2, 3): six already.
    assert efficient_counts([1 / 6, 1 / 3, 1 / 2], 6).tolist() == [1, 2, 3]
    # n - s/2 = 5.5 pulls give (2.75, 1.65, 1.1), rounded up (3, 2, 2): seven already.
    assert efficient_counts([0.5, 0.3, 0.2], 7).tolist() == [3, 2, 2]
    # n - s/2 = 4 pulls give (2, 2): the two that are missing go one to each.
    assert efficient_counts([0.5, 0.5], 6).tolist() == [3, 3]


@pytest.mark.parametrize("rule", ["floor", "ceil", "efficient"])
def test_designs_are_rounded_together_as_one_by_one(rule):
    rng = np.random.default_rng(1)
    b = rng.dirichlet(np.ones(6), size=(5, 7))
    b[0, 0] = np.eye(6)[2]
    together = round_design(b, 23, rule)
    assert together.shape == (5, 7, 6) and together.dtype == np.int64
    one_by_one = [[round_design(row, 23, rule) for row in rows] for rows in b]
    assert np.array_equal(together, one_by_one)


@pytest.mark.parametrize("rule", ["floor", "ceil", "efficient"])
def test_every_design_may_have_rounds_of_its_own(rule):
    b = np.random.default_rng(2).dirichlet(np.ones(4), size=(2, 3))
    b[1, 1] = [0.0, 0.5, 0.0, 0.5]
    rounds = np.array([[0, 1, 7], [40, 5, 100]])
    together = round_design(b, rounds, rule)
    for place in np.ndindex(2, 3):
        assert together[place].tolist() == round_design(b[place], rounds[place], rule).tolist()


def test_fewer_rounds_than_support_points_take_nothing_from_the_others():
    # n - s/2 = 1/2 pull gives one to each of three, and two are to be left.
    counts = efficient_counts([0.0, 1 / 3, 1 / 3, 1 / 3], 2)
    assert counts[0] == 0 and sorted(counts[1:].tolist()) == [0, 1, 1]


def test_rounding_is_down_unless_another_rule_is_named():
    assert round_design([0.55, 0.45], 10).tolist() == [5, 4]


def test_an_unknown_rule_is_told_by_its_argument():
    with pytest.raises(ValueError, match=r"^rule: .*'nearest'"):
        round_design([0.5, 0.5], 10, "nearest")


@pytest.mark.parametrize("rule", ["floor", "ceil", "efficient"])
def test_no_rounds_no_pulls(rule):
    assert round_design([0.4, 0.6, 0.0], 0, rule).tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("weights", "rounds", "rule", "error", "text"),
    [
        ([0.5, 0.4], 10, "floor", ValueError, "sum to 1"),
        ([1.5, -0.5], 10, "floor", ValueError, "at least 0"),
        ([np.nan, 1.0], 10, "ceil", ValueError, "finite"),
        ([0.5, 0.5], -1, "efficient", ValueError, "rounds"),
        ([0.5, 0.5], 1.5, "efficient", TypeError, "rounds"),
        ([0.5, 0.5], 10, "nearest", ValueError, "rule"),
        (np.zeros((2, 0)), 10, "floor", ValueError, "shape"),
    ],
)
def test_bad_input_is_named(weights, rounds, rule, error, text):
    with pytest.raises(error, match=text):
        round_design(weights, rounds, rule)


@pytest.mark.parametrize("seed", range(20))
def test_the_largest_budget_is_apportioned_exactly(seed: int) -> None:
    weights = np.random.default_rng(seed).dirichlet(np.ones(7))
    n = 2**52 - seed
    counts = efficient_counts(weights, n)
    assert sum(counts.tolist()) == n
    # In exact arithmetic, no pull can be moved to where it raises the smallest T / b.
    b = check_designs(weights)
    ratios = [Fraction(count) / Fraction(w) for count, w in zip(counts.tolist(), b, strict=True)]
    spare = [Fraction(count - 1) / Fraction(w) for count, w in zip(counts.tolist(), b, strict=True)]
    assert max(spare) <= min(ratios) * (1 + Fraction(1, 2**40))


@pytest.mark.parametrize("rule", ROUNDINGS)
@pytest.mark.parametrize("rounds", [2**52 + 1, 2**53, np.array([3, 2**53])])
def test_budgets_beyond_exact_arithmetic_are_refused_by_name(rule: str, rounds: object) -> None:
    with pytest.raises(ValueError, match=rf"^rounds: .*{2**52}"):
        round_design([0.5, 0.5], rounds, rule)  # type: ignore[arg-type]


@pytest.mark.parametrize("rule", ROUNDINGS)
def test_one_design_for_several_budgets(rule: str) -> None:
    weights = [0.29, 0.41, 0.3]
    several = round_design(weights, [7, 50, 100], rule)
    assert several.tolist() == [round_design(weights, n, rule).tolist() for n in (7, 50, 100)]
    with pytest.raises(ValueError, match=r"^rounds: .*one for each"):
        round_design([weights] * 2, [7, 50, 100], rule)


def test_the_smallest_share_is_pulled_where_there_is_a_round_for_each():
    """Below the slack of rounding, too: the first counts of the others may use up all rounds."""
    for tiny in (1e-9, 1e-11, 1e-60):
        assert sorted(efficient_counts([tiny, 0.5, 0.5 - tiny], 4).tolist()) == [1, 1, 2]
        assert efficient_counts([tiny, 0.5, 0.5 - tiny], 4)[0] == 1


@given(st.integers(2, 12), st.integers(0, 300), st.integers(0, 2**32 - 1))
def test_the_last_bits_of_a_design_move_no_pull(size: int, rounds: int, seed: int) -> None:
    """Equal weights come out of a solver with other last bits on another processor."""
    rng = np.random.default_rng(seed)
    pairs = np.repeat(rng.dirichlet(np.ones(size)) / 2, 2)
    for exact in (np.full(size, 1 / size), pairs):
        bits = exact + rng.integers(-4, 5, exact.shape) * np.spacing(exact)
        assert efficient_counts(bits, rounds).tolist() == efficient_counts(exact, rounds).tolist()


def test_of_tied_actions_the_first_one_gives_or_takes_a_pull() -> None:
    assert efficient_counts(np.full(5, 0.2), 7).tolist() == [2, 2, 1, 1, 1]
    assert efficient_counts(np.full(5, 0.2), 3).tolist() == [0, 0, 1, 1, 1]
