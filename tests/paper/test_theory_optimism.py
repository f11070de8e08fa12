"""The bound on booked optimism: its constants from those of the steps, and the steps themselves."""

from __future__ import annotations

import math
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import chi2

from paper.theory import optimism
from paper.theory.optimism import (
    Budget,
    Constants,
    Round,
    bad_price,
    booking_sums,
    doob_moments,
    first_pulls,
    gap_sums,
    helmert,
    split_excess,
    stale_slack,
    tails,
)


def test_the_constants_of_the_bound_follow_from_those_of_the_steps():
    o, square = optimism, (1 + optimism.MOST) ** 2
    for constants, stale in ((o.EVERY_ROUND, 1.0), (o.GROWN_BY_HALF, o.STALE)):
        near = (2 * o.OPTIMISM) ** 2 * 3 * stale  # times A log n S/D: what wrong rounds lose
        needed = Constants(
            root=2 * o.OPTIMISM * math.sqrt(12 * stale),
            logs=3 * stale * (o.SQUARE + o.SPREAD * square),
            near=near * (2 + o.MOST),
            near_logs=3 * stale * o.SPREAD * square,
            single=3 * stale * o.SPREAD,
        )
        for name, least in asdict(needed).items():
            assert least <= getattr(constants, name) <= 1.02 * least, name
    # T(t) - 1 over T(s) - 1 for T(t) = 1.5 T(s).
    assert (1.5 * (o.LEAST_FREEDOM + 1) - 1) / o.LEAST_FREEDOM <= o.STALE
    assert first_pulls(3) - 1 == o.LEAST_FREEDOM
    assert o.COST * math.sqrt(5 * 2) <= o.BAD
    assert (1 + math.sqrt(2) / 4) ** 2 <= o.COST
    assert o.WIDER * o.WIDEST <= o.MOST
    # From deviations to shares, and from those to the constants of a round.
    assert 3 / 2 * (math.sqrt(2) + 4 / 3) <= o.WIDER
    assert 1 + math.sqrt(2) / 4 <= o.LIGHTER
    assert 3 / 2 * (1 + math.sqrt(2) / 4) <= o.HEAVIER
    assert o.WIDER * o.LIGHTER <= o.OPTIMISM
    assert o.WIDER**2 * o.LIGHTER <= o.SQUARE
    assert o.PRODUCT * 2 * o.HEAVIER <= o.SPREAD
    assert 2 + o.MOST <= o.NEAR_ETA
    assert o.SPREAD * square <= o.NEAR_SQUARE
    assert (2 * o.OPTIMISM) ** 2 * 3 <= o.NEAR_SUM


def test_the_bound_has_the_values_of_the_page():
    # n^1.5 times the bound over S² with six actions.
    assert Budget(1e7, 6).general() * 1e7**1.5 == pytest.approx(495, abs=0.5)
    assert Budget(1e9, 6).general() * 1e9**1.5 == pytest.approx(462, abs=0.5)
    small = Budget(10_000, 8)
    assert (small.first, small.later) == (8 * 444, 10_000 - 8 * 444)
    by_hand = (3552 + 48) / (1e4 * 6448) + 28 * 8 * math.log(1e4) * (1 + math.log(6448)) / 6448**2
    assert small.single() == pytest.approx(by_hand)
    # At a million rounds n₀ = 6 · 665 = 3990; a gap of a quarter multiplies by four.
    logs = 6 * math.log(1e6)
    by_hand = (
        4026 / (1e6 * 996_010) + (1190 * 4 + 117 * (1 + math.log(996_010))) * logs / 996_010**2
    )
    assert Budget(1e6, 6).gap(0.25) == pytest.approx(by_hand)
    # A gap that is far larger than n^(-1/2) pays, a smaller one does not.
    large = Budget(1e12, 6)
    assert large.single() < large.gap(0.1) < large.general() < large.gap(1e-7)
    assert first_pulls(2000) == math.ceil(48 * math.log(2000)) + 1 == 366
    with pytest.raises(ValueError, match="must exceed the 2196 rounds of the first stage"):
        Budget(2000, 6)


@pytest.mark.parametrize(("freedom", "ell"), [(54, 1.1), (200, 1.1), (200, 4.0), (1000, 4.0)])
def test_tails_against_sums_of_poisson_probabilities(freedom, ell):
    z = math.sqrt(3 * ell / freedom)

    def below_poisson(x: float) -> float:
        # P(χ²_m > x) = P(Poisson(x/2) < m/2) for even m.
        logs = [k * math.log(x / 2) - x / 2 - math.lgamma(k + 1) for k in range(freedom // 2)]
        return math.fsum(map(math.exp, logs))

    above, below = tails(freedom, ell)
    assert above == pytest.approx(below_poisson(freedom * (1 + math.sqrt(2) * z) ** 2), rel=1e-6)
    assert below == pytest.approx(
        1 - below_poisson(freedom * (1 - 4 / 3 * z) ** 2), rel=1e-6, abs=1e-12
    )
    assert max(above, below) <= math.exp(-3 * ell)


@pytest.mark.parametrize("freedom", [20, 53, 300])
def test_doob_moments_against_integrals(freedom):
    law = chi2(freedom)
    high = freedom + 40 * math.sqrt(2 * freedom)
    for power, bound in zip((4, -4), doob_moments(freedom), strict=True):
        moment = quad(lambda x, p=power: (x / freedom) ** p * law.pdf(x), 1e-9, high, limit=200)[0]
        assert float(bound) == pytest.approx((4 / 3) ** 4 * moment, rel=1e-6)
    with pytest.raises(ValueError, match="freedom"):
        doob_moments(8)


def test_moments_of_drawn_maxima_are_below():
    rng = np.random.default_rng(5)
    squares = rng.chisquare(1, (1500, 1000))
    means = squares.cumsum(axis=1)[:, 52:] / np.arange(53, 1001)
    up, down = map(float, doob_moments(53))
    assert 1 < (means.max(axis=1) ** 4).mean() < up < 5
    assert 1 < (means.min(axis=1) ** -4.0).mean() < down < 5


@st.composite
def rounds(draw):
    size = draw(st.integers(1, 5))
    unit = st.floats(0, 1)
    shares = np.array(draw(st.lists(st.floats(0.001, 1), min_size=size, max_size=size)))
    widths = np.array(draw(st.lists(unit, min_size=size, max_size=size))) / 4
    places = np.array(draw(st.lists(unit, min_size=size, max_size=size)))
    return Round(shares / shares.sum(), widths, places)


@settings(max_examples=300, deadline=None)
@given(rounds())
def test_every_inequality_of_a_round_holds(one):
    assert min(one.slacks().values()) >= 1
    p, e = one.shares, one.errors
    assert one.product == pytest.approx(float((p @ (1 + e)) * (p @ (1 / (1 + e)))) - 1, abs=1e-12)
    assert one.booked.sum() == pytest.approx(1)
    assert bad_price(p, 1 + e, one.widths) >= 1
    # Costs directly: σ = 1 with weights p, and σ̃ = (1 + e)/(1 + √2 z).
    optimistic = float(np.sum(p * (1 + e) / (1 + math.sqrt(2) * one.widths)))
    assert one.excess == pytest.approx(1 / optimistic - 1)


def test_every_slack_by_hand():
    # Two actions with the widths 1/4 and 1/8; of the errors one is the lowest, the other 0.
    p, z, e = np.array([0.25, 0.75]), np.array([0.25, 0.125]), np.array([-1 / 3, 0.0])
    place = np.array([0.0, (4 / 3) / (math.sqrt(2) + 4 / 3)])
    one = Round(p, z, place)
    assert one.errors == pytest.approx(e)
    # p (1 + e) = 1/6, 3/4, of sum 11/12.
    q = np.array([2 / 11, 9 / 11])
    wide = 1 + math.sqrt(2) * z
    lighter = q / wide
    eta = 1 / (1 / 6 / wide[0] + 3 / 4 / wide[1]) - 1
    linear, square = 2 / 44 + 9 / 88, 2 / 176 + 9 / 704
    product = 11 / 12 * (0.25 * 3 / 2 + 0.75) - 1
    price = (1 + eta) ** 2 * (1 + product) - 1
    by_hand = {
        "optimism": 5.7 * linear / eta,
        "most": 1.05 / eta,
        "square": 24 * square / eta**2,
        "product": 9 / 4 * 0.25 / 9 / product,
        "spread": 9.2 * square / (9 / 4 * 0.25 / 9),
        "wider": 4.13 / 4 / (3 / 2 * wide[0] - 1),
        "together": (2 * eta + (24 + 9.2 * 2.05**2) * square) / price,
        "lighter": 1.36 / (lighter / lighter.sum() / q).max(),
        "heavier": 2.04 / (0.25 * 11 / 2),
        "gap": (3.05 * eta + 38.7 * square) / price,
        "no loss": 38.7 * square / product,
    }
    assert one.slacks() == pytest.approx(by_hand)


def test_a_step_away_stays_a_round():
    rng = np.random.default_rng(6)
    one = Round.sample(4, rng)
    for _ in range(50):
        one = one.perturb(0.5, rng)
        assert one.shares.sum() == pytest.approx(1)
        assert one.widths.min() >= 0
        assert one.widths.max() <= 0.25


def test_helmert_squares_are_the_scatter():
    rng = np.random.default_rng(7)
    rewards = 3 + 2 * rng.standard_normal((20_000, 6))
    steps = np.array([helmert(row) for row in rewards])
    assert np.sum(steps**2, axis=1) == pytest.approx(rewards.var(axis=1) * 6)
    together = np.column_stack([steps, rewards.mean(axis=1)])
    expected = np.diag([4.0] * 5 + [4 / 6])
    assert np.cov(together.T) == pytest.approx(expected, abs=0.2)


def test_cauchy_schwarz_is_sharp_for_shares_in_one_proportion():
    rng = np.random.default_rng(8)
    booked = rng.dirichlet(np.ones(4), 30)
    signs = np.array([1, -2, 3, 0.5])
    assert split_excess(booked * signs, booked) == pytest.approx(1)
    assert split_excess(rng.standard_normal((30, 4)), booked) > 1


def test_sums_of_bookings_to_one_action():
    linear, square = booking_sums(np.ones((50, 1)), 2.0)
    t = np.arange(1, 51)
    assert linear == pytest.approx(2 * math.sqrt(50) / np.sum(t**-0.5))
    assert square == pytest.approx((1 + math.log(50)) / np.sum(1 / t))
    rng = np.random.default_rng(9)
    for _ in range(50):
        booked = rng.dirichlet(np.full(5, rng.choice([0.1, 1.0])), 40)
        assert min(booking_sums(booked, 3.0)) >= 1


def test_sums_with_a_gap():
    # One action and every other round chosen: z² = 6/t in rounds 1, 3, … 49.
    chosen = np.arange(50) % 2 == 0
    root, whole = gap_sums(np.ones((50, 1)), chosen, 2.0)
    eta = 5.7 * np.sqrt(6 / np.arange(1, 50, 2))
    assert root == pytest.approx(11.4 * math.sqrt(6 * 25) / eta.sum())
    assert whole == pytest.approx(390 * 2 / eta[-1] / eta.sum())
    rng = np.random.default_rng(11)
    for _ in range(50):
        booked = rng.dirichlet(np.full(5, rng.choice([0.1, 1.0])), 40)
        assert min(gap_sums(booked, rng.random(40) < 0.7, 3.0)) >= 1


def test_counts_that_grow_by_half():
    # 54 rewards become 81: 80 over 53.
    assert stale_slack(54) == pytest.approx(1.51 * 53 / 80)
    assert stale_slack(np.arange(54, 2000)).min() == stale_slack(54) > 1 > stale_slack(50)


def test_the_price_of_a_round_is_bounded_whatever_the_errors():
    # Equal deviations that are all right, at the widest intervals: 1.84 against (1 + √2/4)².
    even, quarter = np.full(3, 1 / 3), np.full(3, 0.25)
    assert bad_price(even, np.ones(3), quarter) == pytest.approx(1.84 / (1 + math.sqrt(2) / 4) ** 2)
    rng = np.random.default_rng(10)
    for _ in range(300):
        shares, ratios = rng.dirichlet(np.ones(4)), np.exp(3 * rng.standard_normal(4))
        assert bad_price(shares, ratios, rng.uniform(0, 0.25, 4)) >= 1
