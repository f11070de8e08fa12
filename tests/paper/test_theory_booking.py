"""Greedy bookings in fractions and against an adversary; the reference run against programs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from paper.theory.booking import last_one_standing, lead_bound, leads, play
from paper.theory.hard_family import HardFamily
from paper.theory.regret import vertices
from speedlib import BookedOptimism, LinearBandit, mse_curve


def exact_heights(rows: list[list[Fraction]]) -> list[list[Fraction]]:
    """Return bookings minus pulls after each pull, in fractions."""
    height, found = [Fraction(0)] * len(rows[0]), []
    for row in rows:
        height = [h + q for h, q in zip(height, row, strict=True)]
        height[height.index(max(height))] -= 1
        found.append(list(height))
    return found


@st.composite
def bookings(draw):
    """Return rows of shares in fractions."""
    n_actions = draw(st.integers(2, 5))
    parts = st.lists(st.integers(0, 6), min_size=n_actions, max_size=n_actions)
    rows = draw(st.lists(parts.filter(any), min_size=1, max_size=12))
    return [[Fraction(part, sum(row)) for part in row] for row in rows]


@settings(max_examples=200, deadline=None)
@given(bookings())
def test_the_mean_of_the_largest_leads_is_bounded(rows):
    n_actions = len(rows[0])
    for heights in exact_heights(rows):
        assert sum(heights) == 0
        for k in range(1, n_actions + 1):
            bound = sum(Fraction(1, j) for j in range(k + 1, n_actions + 1))
            assert sum(sorted(heights)[-k:]) <= k * bound
            assert lead_bound(n_actions, k) == pytest.approx(float(bound))


@pytest.mark.parametrize("n_actions", [2, 3, 5, 9])
def test_an_adversary_attains_the_bound(n_actions):
    rows = [
        [Fraction(a >= t, n_actions - t) for a in range(n_actions)] for t in range(n_actions - 1)
    ]
    bound = sum(Fraction(1, j) for j in range(2, n_actions + 1))
    assert max(exact_heights(rows)[-1]) == bound
    assert last_one_standing(n_actions) == pytest.approx(np.array(rows, float))
    # Ties aside, floats follow the fractions.
    assert leads(last_one_standing(n_actions))[-1].max() == pytest.approx(float(bound))


def test_leads_follow_the_fractions():
    rng = np.random.default_rng(4)
    whole = rng.integers(1, 99, (40, 4))
    rows = [[Fraction(int(v), int(row.sum())) for v in row] for row in whole]
    assert leads(np.array(rows, float)) == pytest.approx(np.array(exact_heights(rows), float))


@pytest.mark.parametrize("seed", range(4))
def test_the_cheapest_vertex_solves_the_linear_program(seed):
    rng = np.random.default_rng(seed)
    features, direction = rng.standard_normal((7, 3)), rng.standard_normal(3)
    cost = rng.uniform(0.1, 2, 7)
    corners = vertices(features, direction)
    assert corners @ features == pytest.approx(np.tile(direction, (len(corners), 1)))
    assert np.all((corners != 0).sum(axis=1) <= 3)
    both = np.hstack([features.T, -features.T])
    best = linprog(np.tile(cost, 2), A_eq=both, b_eq=direction, method="highs").fun
    assert (np.abs(corners) @ cost).min() == pytest.approx(best)


def test_vertices_of_the_hard_family_are_found_once():
    family = HardFamily(3)
    corners = vertices(family.features, family.direction)
    # Each couple by itself is one: half of rho on each of its two actions.
    halves = np.zeros(8)
    halves[:2] = family.rho / 2
    assert np.isclose(corners, halves).all(axis=1).sum() == 1


@pytest.mark.parametrize("u", [0.0, 0.02, 0.25])
def test_a_run_obeys_what_the_proof_says_of_it(u):
    family, n, first = HardFamily(3), 2500, 60
    corners = vertices(family.features, family.direction)
    for seed in range(4):
        run = play(corners, family.variances(0, u), n, first, np.random.default_rng(seed))
        assert run.pulls.sum() == n
        assert run.bookings.sum() == pytest.approx(n - 8 * first)
        assert run.coefficients @ family.features == pytest.approx(family.direction)
        # Nobody beats the oracle, and Cauchy-Schwarz bounds what a run costs.
        assert family.optimal_value(u) / n <= run.variance <= run.shares_bound
        assert run.largest_lead <= lead_bound(8)
        assert np.all(run.pulls - first >= run.bookings - lead_bound(8))
        assert run.product <= 1 + 1e-12


class Drawn:
    """Squares that are given: of the first stage, and of each later pull."""

    def __init__(self, first: np.ndarray, later: np.ndarray) -> None:
        self.tables = [first, later]

    def chisquare(self, freedom: float, size) -> np.ndarray:
        return self.tables.pop(0)


#: Two points on a line, and both ways to write c = 1: weights of 1 and of 2.
PAIR = np.array([[1.0, 0.0], [0.0, 2.0]])


def by_hand(first, later, variances, n, t0):
    """Return what `play` should, for `PAIR`, in plain numbers, and the rounds of each vertex."""
    sums = [s * v for s, v in zip(first, variances, strict=True)]
    count, booked, taken = [t0, t0], [0.0, 0.0], [0, 0]
    least, ratio, good, price = [], [], True, 0.0
    true = [w * v**0.5 for w, v in zip((1, 2), variances, strict=True)]
    for _ in range(n - 2 * t0):
        least.append(min(count[a] - 2 - booked[a] for a in (0, 1)))
        hat = [(sums[a] / (count[a] - 1)) ** 0.5 for a in (0, 1)]
        z = [(3 * np.log(n) / (count[a] - 1)) ** 0.5 for a in (0, 1)]
        cost = [w * hat[a] / (1 + 2**0.5 * z[a]) for a, w in ((0, 1), (1, 2))]
        for a in (0, 1):
            e = hat[a] / variances[a] ** 0.5 - 1
            good = good and -4 / 3 * z[a] <= e <= 2**0.5 * z[a]
        w = int(cost[1] < cost[0])
        booked[w] += 1
        taken[w] += 1
        # One action has the whole round, which it books: shares are right, and pulls follow.
        ratio.append((true[w] / min(true) - 1) / z[w])
        price += true[w] ** 2
        sums[w] += variances[w] * later[w][count[w] - t0]
        count[w] += 1
    return count, taken, min(least), max(ratio), good, price / sum(taken) ** 2


@pytest.mark.parametrize("loud", [False, True])
def test_a_run_has_the_values_that_plain_numbers_have(loud):
    rng, n, t0, variances = np.random.default_rng(3), 300, 20, np.array([1.0, 0.2])
    first, later = rng.chisquare(t0 - 1, 2), rng.chisquare(1, (2, n - 2 * t0))
    # A deviation of six times its size is out of all bounds, so that the event is not good.
    first[1] = 36 * (t0 - 1) if loud else first[1]
    run = play(PAIR, variances, n, t0, Drawn(first, later))
    count, taken, least, ratio, good, price = by_hand(first, later, variances, n, t0)
    assert (run.pulls.tolist(), run.bookings.tolist()) == (count, taken)
    assert run.coefficients == pytest.approx(np.array([1, 2]) * taken / sum(taken))
    assert run.least_count == least
    assert run.optimism == pytest.approx(ratio)
    assert run.optimism > 0.1
    assert run.good == good == (not loud)
    assert run.shares_bound == pytest.approx(price)
    assert loud or min(taken) > 0


def test_rounds_are_booked_in_the_shares_of_estimates():
    # One vertex, two rounds: estimates 2 and 4 in the first one, so that 1/3 and 2/3 are booked.
    first, later = 9 * np.array([4.0, 16.0]), np.array([[0.0, 9.0], [5.0, 9.0]])
    run = play(np.ones((1, 2)), np.ones(2), 22, 10, Drawn(first, later))
    # The second is pulled, with 11 rewards then; its lead is -1/3.
    second = (149 / 10) ** 0.5
    share = 2 / (2 + second)
    assert run.bookings == pytest.approx([1 / 3 + share, 2 / 3 + 1 - share])
    assert run.pulls.tolist() == [11, 11]
    assert run.least_count == pytest.approx(10 - 2 - 1 / 3)
    assert run.largest_lead == pytest.approx(1 / 3)
    mixed = (2 + second) / 2 * (1 / 2 + 1 / second) / 2
    assert run.shares_bound == pytest.approx(4 * (6 / 2 * 3 / 8 + mixed) / 4)
    # Errors 1 and 3, then 1 and second - 1.
    worst = max(9 / 8 / (1 + 9 / 4 * 5), mixed / (1 + 9 / 8 * (1 + (second - 1) ** 2)))
    assert run.product == pytest.approx(worst)


def test_with_one_vertex_pulls_follow_the_deviations():
    # c = (1, 1) in the plane of two one-hot actions: shares 1/4 and 3/4, S = 4.
    run = play(np.ones((1, 2)), np.array([1.0, 9.0]), 8000, 100, np.random.default_rng(1))
    assert run.pulls / 8000 == pytest.approx([0.25, 0.75], abs=0.03)
    assert run.variance * 8000 == pytest.approx(16, rel=0.01)


def test_a_first_stage_that_takes_all_is_refused():
    with pytest.raises(ValueError, match="the first stage takes 20 rounds"):
        play(np.ones((1, 2)), np.ones(2), 20, 10, np.random.default_rng(1))


@pytest.mark.slow
def test_the_library_plays_the_reference():
    family, n, size, u = HardFamily(3), 1000, 60, 0.05
    strategy = BookedOptimism(first_pulls=8.5, width=3.0, regrowth=0.0)
    assert strategy.first_count(n) == 60
    bandit = family.bandit(0, u)
    curve = mse_curve(bandit, family.policy, [strategy], [n], size, seed=1)
    corners, own = vertices(family.features, family.direction), []
    for seed in range(size // 3):
        rng = np.random.default_rng(seed)
        own.append(play(corners, bandit.variances, n, 60, rng).variance)
    error = np.hypot(curve.standard_error[0, 0], np.std(own) / np.sqrt(len(own) - 1))
    assert error < 0.01 * np.mean(own)
    assert curve.mse[0, 0] == pytest.approx(np.mean(own), abs=4 * error)


def test_the_library_pulls_in_proportion_to_the_deviations():
    # Shares 1/4 and 3/4; even ones would cost 5/4 of the oracle's loss.
    bandit = LinearBandit(np.eye(2), [0.0, 0.0], variances=[1.0, 9.0])
    curve = mse_curve(bandit, [0.5, 0.5], [BookedOptimism()], [20_000], 50, seed=2)
    assert 1 < curve.mse[0, 0] * 20_000 / 4 < 1.01
