"""Counts of noise sequences, against writing all of them down and against the limit."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from statistics import NormalDist

import pytest

from paper.theory.counting import share_below_proxy, share_within


def estimates(rounds: int) -> list[Fraction]:
    """Return the mean squared residual of every sequence."""
    found = []
    for noise in product((-1, 0, 0, 1), repeat=rounds):
        mean = Fraction(sum(noise), rounds)
        found.append(sum((v - mean) ** 2 for v in noise) / rounds)
    return found


@pytest.mark.parametrize("rounds", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("bound", [Fraction(1, 2), 1, Fraction(3, 2), 4])
def test_counts_are_those_of_all_sequences(rounds, bound):
    half, found = Fraction(1, 2), estimates(rounds)
    near = sum(rounds * abs(value - half) < bound for value in found)
    below = sum(half <= (1 + Fraction(bound) / rounds) * value for value in found)
    assert share_within(rounds, bound) == Fraction(near, 4**rounds)
    assert share_below_proxy(rounds, bound) == Fraction(below, 4**rounds)


def test_the_page_counts_sixteen_sequences_and_256():
    assert share_within(2, Fraction(1, 2)) == 0
    assert share_below_proxy(4, 1) == Fraction(48 + 48 + 14, 256)


def test_shares_approach_those_of_a_normal_error():
    # √Γ (Σ̂ - 1/2) has the limiting variance 1/4.
    K, rounds = 4, 400
    within = 2 * NormalDist().cdf(2 * K / math.sqrt(rounds)) - 1
    below = NormalDist().cdf(K / math.sqrt(rounds))
    assert float(share_within(rounds, K)) == pytest.approx(within, abs=0.03)
    assert float(share_below_proxy(rounds, K)) == pytest.approx(below, abs=0.03)


@pytest.mark.parametrize("count", [share_within, share_below_proxy])
def test_no_rounds_are_refused(count):
    with pytest.raises(ValueError, match="rounds"):
        count(0, 1)


def test_the_noise_is_sub_gaussian_with_its_own_variance():
    # E exp(sη) against exp(s²/4), term by term: η² is 1 with probability 1/2.
    for k in range(1, 40):
        assert Fraction(1, 2 * math.factorial(2 * k)) <= Fraction(1, 4**k * math.factorial(k))
