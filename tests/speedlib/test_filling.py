"""Whole pulls that follow bookings and shares: against brute force, and against an adversary."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from speedlib.strategies._filling import level_excess, top_up


def compositions(total: int, parts: int) -> list[tuple[int, ...]]:
    every = itertools.product(range(total + 1), repeat=parts)
    return [each for each in every if sum(each) == total]


def one_by_one(excess: np.ndarray, pulls: int) -> np.ndarray:
    counts = np.zeros(excess.size, dtype=int)
    for _ in range(pulls):
        counts[np.argmax(excess - counts)] += 1
    return counts


def most(actions: int) -> float:
    """1/2 + ... + 1/A: what bookings may exceed pulls by."""
    return sum(1 / j for j in range(2, actions + 1))


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 4), st.integers(0, 6), st.integers(0, 10**6))
def test_excesses_are_left_as_level_as_any_pulls_can(actions: int, pulls: int, seed: int) -> None:
    excess = np.random.default_rng(seed).normal(size=actions) * 3
    counts = level_excess(excess[None], np.array([pulls]))[0]
    assert counts.sum() == pulls and counts.tolist() == one_by_one(excess, pulls).tolist()
    falling = np.cumsum(-np.sort(counts - excess))
    for other in compositions(pulls, actions):
        assert np.all(np.cumsum(-np.sort(other - excess)) >= falling - 1e-12)


def test_rows_are_worked_on_apart_and_large_numbers_sum_up() -> None:
    rng = np.random.default_rng(3)
    shares = rng.dirichlet(np.ones(7), size=200)
    pulls = np.array([10**k for k in range(0, 10)] * 20)
    excess = shares * pulls[:, None] + rng.normal(size=(200, 7))
    counts = level_excess(excess, pulls)
    assert counts.sum(axis=1).tolist() == pulls.tolist() and counts.min() >= 0
    for r in range(0, 200, 10):
        assert counts[r].tolist() == level_excess(excess[r : r + 1], pulls[r : r + 1])[0].tolist()
    some = pulls <= 1000
    for row, number, found in zip(excess[some], pulls[some], counts[some], strict=True):
        assert found.tolist() == one_by_one(row, number).tolist()
    assert level_excess(np.array([[1e15, 1e15]]), np.array([2 * 10**15])).tolist() == [[10**15] * 2]


def test_the_first_of_equals_is_pulled_first() -> None:
    assert level_excess(np.array([[0.5, 0.5, 0.5]]), np.array([1])).tolist() == [[1, 0, 0]]


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 8), st.integers(0, 10**6), st.booleans())
def test_bookings_exceed_pulls_by_no_more_than_proved(
    actions: int, seed: int, in_phases: bool
) -> None:
    """Bookings of any kind, also such that look at the excesses; and phases of any length."""
    rng = np.random.default_rng(seed)
    excess = np.zeros((1, actions))
    for _ in range(40):
        crowd = np.argsort(-excess[0])[: rng.integers(1, actions + 1)]
        shares = np.zeros(actions)
        shares[crowd] = rng.dirichlet(np.full(crowd.size, rng.choice([0.1, 1.0, 100.0])))
        length = int(rng.integers(1, 9)) if in_phases else 1
        excess = excess + length * shares
        excess = excess - level_excess(excess, np.array([length]))
        assert excess.sum() == pytest.approx(0, abs=1e-9)
        assert excess.max() <= most(actions) + 1e-9
        falling = np.sort(excess[0])[::-1]
        for k in range(1, actions + 1):
            bound = sum(1 / j for j in range(k + 1, actions + 1))
            assert falling[:k].mean() <= bound + 1e-9


@pytest.mark.parametrize("actions", [2, 3, 6, 10])
def test_an_adversary_reaches_that_bound(actions: int) -> None:
    """Who books alike to those that have not been pulled yet gets there."""
    excess, waiting = np.zeros(actions), np.arange(actions)
    while waiting.size > 1:
        excess[waiting] += 1 / waiting.size
        pulled = level_excess(excess[None], np.array([1]))[0]
        excess -= pulled
        waiting = waiting[pulled[waiting] == 0]
    assert excess.max() == pytest.approx(most(actions))
    assert most(actions) <= math.log(actions)


@settings(max_examples=80, deadline=None)
@given(st.integers(1, 6), st.integers(0, 10**6), st.floats(0, 9))
def test_counts_are_topped_up_to_shares(actions: int, seed: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(actions, 0.5))
    spent = rng.integers(0, 20, size=actions)
    total = int(spent.sum()) + int(10**size)
    found = top_up(spent[None], shares[None], total)[0]
    assert found.min() >= 0 and found.sum() == total - spent.sum()

    def level(log: float) -> float:
        return float(np.maximum(spent, np.exp(log) * shares).sum() - total)

    wanted = np.maximum(spent, np.exp(brentq(level, -40, 90, xtol=1e-14)) * shares)
    assert np.abs(spent + found - wanted).max() < 1 + 1e-6 * total


def test_what_was_spent_is_kept_and_shares_of_zero_get_nothing() -> None:
    spent, shares = np.array([[90, 5, 5], [10, 10, 10]]), np.array([[0.2, 0.4, 0.4], [0.5, 0.5, 0]])
    assert top_up(spent, shares, 110).tolist() == [[0, 5, 5], [40, 40, 0]]
    assert top_up(spent[:1], shares[:1], 100).tolist() == [[0, 0, 0]]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_no_other_whole_counts_are_much_better(seed: int) -> None:
    """Against all ways to spend the same pulls: the sum of p^2/T, within a rounding of one pull."""
    rng = np.random.default_rng(seed)
    shares, spent = rng.dirichlet(np.ones(3)), rng.integers(4, 9, size=3)
    left = int(rng.integers(1, 12))
    found = spent + top_up(spent[None], shares[None], int(spent.sum()) + left)[0]
    ways = np.array(compositions(left, 3)) + spent
    best = ways[np.argmin(np.sum(shares**2 / ways, axis=1))]
    assert np.abs(found - best).max() <= 1
