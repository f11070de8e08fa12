"""The price of discarding, against integrals, linear programs, brute force and single rewards."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import linprog, minimize_scalar
from scipy.stats import chi2

from paper.theory import discarding
from paper.theory.hard_family import HardFamily
from speedlib import optimal_design

FAMILY = HardFamily(3, rho=0.4)


# Bounds ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rounds", "couples"), [(10**4, 2), (10**9, 56), (10**12, 2)])
def test_the_least_of_the_bracket(rounds, couples):
    found = minimize_scalar(
        lambda log: float(discarding.fixed_length_bound(rounds, np.exp(log), couples)),
        bounds=(0, np.log(rounds)),
        method="bounded",
        options={"xatol": 1e-10},
    )
    unit = couples ** (1 / 3) * rounds ** (-4 / 3)
    # By hand: a G / n² is half of the other term at the minimum, three times a G / n² in all.
    assert found.fun / unit == pytest.approx(36 / 5 / 20 ** (2 / 3), rel=1e-9)
    assert found.fun > 0.97 * unit


@pytest.mark.parametrize("couples", (2, 12, 110))
def test_the_turning_length_makes_both_terms_equal(couples):
    n = 20 * couples
    length = discarding.turning_length(n, couples)
    assert length == pytest.approx(4 * couples)
    late = 12 / 5 * length / n**2
    missed = 24 / 25 * np.sqrt(couples / length) / n
    assert late == pytest.approx(missed)
    assert late / 4 == pytest.approx(discarding.any_length_bound(n, couples), rel=0.02)
    assert late / 4 > discarding.any_length_bound(n, couples)
    assert discarding.hidden(length, couples) == pytest.approx(0.25)


def test_the_bounds_at_single_places():
    assert discarding.fixed_length_bound(100, 16, 4) == pytest.approx(0.00384 + 0.0012)
    assert discarding.any_length_bound(1000, 8) == pytest.approx(0.64e-4)
    a_log = 3 * np.log(6)
    assert discarding.upper_bound(1000, 3 * np.log(6), 3) == pytest.approx(2.2e-6 * a_log + 0.02)
    assert discarding.ratio_bound(900 * np.log(6), 3) == pytest.approx(1.3)
    assert discarding.balanced_length(8, 3) == pytest.approx(40 ** (2 / 3) * a_log ** (1 / 3))
    assert discarding.best_upper_bound(8.0, 3) == pytest.approx(19 / 16 * a_log ** (1 / 3))


@given(st.integers(1, 10**4), st.floats(0, 20))
def test_the_balanced_length_is_allowed_and_gives_the_best_bound(actions, log):
    n = 200 * actions * np.log(2 * actions) * np.exp(log) * (1 + 1e-12)
    length = discarding.balanced_length(n, actions)
    assert discarding.least_length(actions) <= length <= n / 2 * (1 + 1e-9)
    bound = discarding.upper_bound(n, length, actions)
    assert bound <= discarding.best_upper_bound(n, actions)
    assert bound >= 0.95 * discarding.best_upper_bound(n, actions)


@given(st.integers(1, 300), st.floats(0, 12), st.floats(0.0, 1.0))
def test_the_upper_bound_gathers_what_the_proof_leaves(actions, log, part):
    least = discarding.least_length(actions)
    n = int(2 * least * np.exp(log)) + 2
    length = least * (n / 2 / least) ** part
    each, left = discarding.explored_alike(n, length, actions)
    assert each - 1 >= 11 / 12 * length / actions
    for support in (1, actions):
        factor = discarding.ratio_bound(each - 1, actions)
        proved = factor / (left - support) - 1 / n
        assert proved <= discarding.upper_bound(n, length, actions)


# Mean squares ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("freedom", "actions"), [(40, 1), (90, 8), (5000, 32), (10**7, 3)])
def test_extremes_against_order_statistics(freedom, actions):
    law = chi2(freedom, scale=1 / freedom)
    low, high = law.ppf([1e-14, 1]), law.isf(1e-14)
    top = quad(lambda x: 1 - law.cdf(x) ** actions, low[0], high, epsabs=1e-12)[0] + low[0]
    # The inverse of the least: its mean is the integral of the tail, by parts.
    bottom = quad(lambda x: (1 - law.sf(x) ** actions) / x**2, low[0], high, epsabs=1e-12)[0]
    found = discarding.expected_extremes(freedom, actions)
    assert found == pytest.approx((top, bottom + 1 / high), rel=1e-7)


def test_extremes_of_one_mean_square_in_closed_form():
    assert discarding.expected_extremes(50, 1) == pytest.approx((1, 50 / 48), rel=1e-9)


@pytest.mark.parametrize(("freedom", "actions"), [(60, 2), (100, 8), (3000, 50)])
def test_the_ratio_against_draws(freedom, actions):
    squares = np.random.default_rng(5).chisquare(freedom, (40_000, actions))
    ratios = squares.max(axis=1) / squares.min(axis=1)
    error = ratios.std() / np.sqrt(len(ratios))
    found = discarding.expected_ratio(freedom, actions)
    assert found == pytest.approx(ratios.mean(), abs=4.5 * error)
    # Harris: an increasing and a decreasing function are negatively correlated.
    assert found <= np.prod(discarding.expected_extremes(freedom, actions))


@given(st.integers(1, 2000), st.floats(0, 9))
def test_moments_bound_the_extremes(actions, log):
    freedom = 32 * np.log(2 * actions) * np.exp(log)
    exact = discarding.expected_extremes(freedom, actions)
    bounds = discarding.extreme_bounds(freedom, actions)
    assert exact[0] <= bounds[0] * (1 + 1e-9)
    assert exact[1] <= bounds[1] * (1 + 1e-9)
    assert np.prod(bounds) <= discarding.ratio_bound(freedom, actions)
    assert 2 * discarding.moment_order(freedom, actions) <= freedom / 2


def test_moments_by_their_products():
    # With p known, both bounds are those of the proof: compare with exact moments.
    freedom, actions = 100, 3
    p = discarding.moment_order(freedom, actions)
    j = np.arange(p)
    upward = (2 * actions * np.prod(1 + 2 * j / freedom)) ** (1 / p)
    downward = (2 * actions / np.prod(1 - 2 * (j + 1) / freedom)) ** (1 / p)
    assert chi2(freedom).moment(p) / float(freedom) ** p == pytest.approx(
        np.prod(1 + 2 * j / freedom)
    )
    bounds = discarding.extreme_bounds(freedom, actions)
    assert upward <= bounds[0] <= 1.05 * upward
    assert downward <= bounds[1] <= 1.05 * downward


# The strategy ------------------------------------------------------------------------------------


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=6), st.integers(7, 10**6))
def test_whole_pulls_are_spent_and_no_share_is_cut(sizes, rounds):
    sizes = np.array(sizes)
    if sizes.sum() < 1e-3:
        return
    shares = sizes / sizes.sum()
    counts = discarding.committed_counts(shares, rounds)
    assert counts.sum() == rounds
    assert (counts >= (rounds - (shares > 0).sum()) * shares).all()
    assert (counts[shares == 0] == 0).all()


@pytest.mark.parametrize("d", (3, 4, 5))
def test_the_cheapest_vertex_against_linear_programs(d):
    family, rng = HardFamily(d), np.random.default_rng(d)
    x, c = family.features, family.direction
    estimated = family.variances(0, 0.1) * rng.chisquare(20, (20, len(x))) / 20
    vertices, shares = discarding.cheapest_vertices(x, c, estimated)
    assert np.allclose(vertices @ x, c)
    for w, p, row in zip(vertices, shares, np.sqrt(estimated), strict=True):
        found = linprog(np.r_[row, row], A_eq=np.c_[x.T, -x.T], b_eq=c)
        assert np.abs(w) @ row == pytest.approx(found.fun, rel=1e-9)
        assert p.sum() == pytest.approx(1)
        used = w != 0
        assert np.linalg.matrix_rank(x[used]) == used.sum()
        assert np.allclose(p * (np.abs(w) @ row), np.abs(w) * row)


def test_a_small_share_is_kept_and_one_too_small_refused():
    x, c = np.eye(2), np.ones(2)
    vertices, shares = discarding.cheapest_vertices(x, c, np.array([[1, 1e-12]]))
    assert vertices.tolist() == [[1, 1]] and shares[0] == pytest.approx([1 / (1 + 1e-6), 1e-6])
    with pytest.raises(ValueError, match="estimated: leads to a share below 1e-09"):
        discarding.cheapest_vertices(x, c, np.array([[1, 1], [1, 1e-20]]))


def test_losses_are_those_of_the_design():
    rng = np.random.default_rng(1)
    x, c = FAMILY.features, FAMILY.direction
    variances = FAMILY.variances(0, 0.2)
    estimated = variances * rng.chisquare(9, (5, len(x))) / 9
    shares = discarding.cheapest_vertices(x, c, estimated)[1]
    found = discarding.vertex_losses(x, c, variances, estimated)
    for loss, p in zip(found, shares, strict=True):
        information = np.linalg.pinv((x * (p / variances)[:, None]).T @ x, rcond=1e-9)
        assert loss == pytest.approx(c @ information @ c)
    exact = discarding.vertex_losses(x, c, variances, variances[None])
    assert exact[0] == pytest.approx(FAMILY.optimal_value(0.2))
    assert exact[0] == pytest.approx(optimal_design(x, variances, direction=c).value)


def test_errors_against_single_rewards():
    rng, each, left = np.random.default_rng(2), 12, 60
    x, c, u = FAMILY.features, FAMILY.direction, 0.25
    theta = np.array([0.3, -1.0, 2.0])
    variances = FAMILY.variances(0, u)
    n, runs = left + each * len(x), 3000
    means, noise = x @ theta, np.sqrt(variances)
    seen = means + noise * rng.standard_normal((runs, each, len(x)))
    w, shares = discarding.cheapest_vertices(x, c, seen.var(axis=1, ddof=1))
    counts = discarding.committed_counts(shares, left)
    answers = np.zeros(runs)
    for i, pulled in enumerate(counts):
        actions = np.repeat(np.arange(len(x)), pulled)
        rewards = means[actions] + noise[actions] * rng.standard_normal(left)
        answers[i] = rewards @ (w[i] / np.maximum(pulled, 1))[actions]
    squared = (answers - c @ theta) ** 2
    exact = discarding.discard_errors(FAMILY, u, n, n - left, 20_000, rng)
    error = squared.std() / np.sqrt(runs)
    assert exact.mean() == pytest.approx(squared.mean(), abs=4.5 * error)
    assert exact.min() >= FAMILY.optimal_value(u) / left


@pytest.mark.parametrize("couples", (2, 12))
def test_chances_to_pick_a_couple(couples):
    assert discarding.pick_chances(couples, 0.0, 500) == pytest.approx((1 / couples,) * 2, rel=1e-6)
    variances = np.full(couples, 3.0)
    variances[:2] = 3 - 0.5, 3 + 0.5
    rng = np.random.default_rng(3)
    least = (variances * rng.chisquare(60, (50_000, couples))).argmin(axis=1)
    u = 0.5 / 2.5
    for i, found in enumerate(discarding.pick_chances(couples, u, 60)):
        assert found == pytest.approx((least == i).mean(), abs=4.5 * np.sqrt(0.25 / 50_000))


@pytest.mark.parametrize("d", (3, 4))
def test_who_never_stops_early_picks_as_who_fixed_the_length(d):
    family, u, n = HardFamily(d), 0.02, 10**6
    step = 2 * family.couples * discarding.STAGES
    errors, lengths = discarding.stopped_errors(
        family, u, n, 20 * step, np.inf, 40_000, np.random.default_rng(4)
    )
    assert (lengths == 20 * step).all()
    half = 4.5 * errors.std() / np.sqrt(len(errors))
    fixed = discarding.couple_regret(family, u, n, 20 * step)
    assert errors.mean() - family.optimal_value(u) / n == pytest.approx(fixed, abs=half)


def test_who_is_easily_convinced_stops_early():
    step = 2 * FAMILY.couples * discarding.STAGES
    lengths = discarding.stopped_errors(
        FAMILY, 0.25, 10**6, 50 * step, 2.0, 2000, np.random.default_rng(4)
    )[1]
    assert lengths.mean() < 0.7 * 50 * step


def test_who_explores_nothing():
    u = 0.25
    w = np.r_[np.full(4, FAMILY.rho / 4), np.zeros(4)]
    assert np.allclose(w @ FAMILY.features, FAMILY.direction)
    error = w[:4] ** 2 @ FAMILY.variances(0, u)[:4] / (1000 / 4)
    found = discarding.idle_regret(FAMILY, u, 1000)
    assert found == pytest.approx(error - FAMILY.optimal_value(u) / 1000)


def test_the_regret_of_picking_a_couple_lies_above_the_bound():
    for d, n in ((3, 10**6), (5, 10**8)):
        family = HardFamily(d)
        for power in (0.5, 2 / 3, 0.8):
            length = 8 * family.couples * n**power
            if length > n / 2:
                continue
            u = float(discarding.hidden(length, family.couples))
            regret = discarding.couple_regret(family, u, n, length) / family.rho**2
            assert regret >= discarding.fixed_length_bound(n, length, family.couples)


@pytest.mark.parametrize("u", (0.02, 0.1, 0.25))
@pytest.mark.parametrize("d", (3, 5))
def test_the_strategy_of_the_theorem_keeps_to_it_at_the_least_length(d, u):
    family = HardFamily(d)
    length = float(discarding.least_length(family.n_actions))
    n = 2 * int(np.ceil(length))
    each = int(length / family.n_actions)
    left = n - each * family.n_actions
    errors = discarding.discard_errors(family, u, n, length, 4000, np.random.default_rng(6))
    error = errors.mean() / family.optimal_value(u)
    bound = discarding.upper_bound(n, length, family.n_actions)
    assert 1 / left - 1 / n < error - 1 / n < bound
    # The step before the moments: mean ratio of the extremes, with d actions at most.
    assert error <= discarding.expected_ratio(each - 1, family.n_actions) / (left - d)


def test_too_short_an_exploration_is_refused():
    with pytest.raises(ValueError, match="length: must give 2 pulls to each of 8 actions"):
        discarding.explored_alike(1000, 15, 8)
    with pytest.raises(ValueError, match="and leave some of the 16 rounds"):
        discarding.explored_alike(16, 16, 8)
