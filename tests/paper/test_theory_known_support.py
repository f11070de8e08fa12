"""Known supports: the plane by linear programs, the lower bound by other routes, short pilots."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import dblquad, quad
from scipy.optimize import linprog
from scipy.stats import norm

from paper.theory.known_support import (
    FEW,
    PAIR_FEATURES,
    SUM,
    KnownPair,
    bayes_loss,
    coupling,
    divergence,
    imbalance,
    least_pair_excess,
    local_bound,
    local_risk,
    merged_share,
    next_directions,
    pair_excess,
    pair_policy,
    pull_divergences,
    share_gap,
    short_pilot_limit,
    staged_constant,
    target_gap,
    total_variation,
)
from speedlib import pe_loss

LARGEST = Fraction(7072, 10000)  # above h = 1/√2, the one of n = 1
SHARES = st.tuples(*[st.integers(1, 10**6)] * 3).map(
    lambda k: (Fraction(k[0], sum(k)), Fraction(k[2], sum(k)))
)
STEPS = st.integers(0, 10**6).map(lambda k: LARGEST * k / 10**6)


def least_cost(x, deviations, c):
    """Minimise the cost of a representation as a linear program in its positive parts."""
    both = np.concatenate([x, -x]).T
    return linprog(np.tile(deviations, 2), A_eq=both, b_eq=c, bounds=(0, None)).fun


def random_plane(seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rng.integers(2, 9), 2)) * rng.uniform(0.1, 10)
    root = rng.standard_normal((2, 2)) * np.array([1, 10.0 ** rng.uniform(-3, 0)])
    return x, root @ root.T + 1e-9 * np.eye(2), rng.standard_normal(2)


@pytest.mark.parametrize("seed", range(40))
def test_the_two_next_directions_cost_least_by_a_linear_program(seed):
    x, Sigma, c = random_plane(seed)
    w = next_directions(x, c)
    deviations = np.sqrt(np.einsum("ai,ij,aj->a", x, Sigma, x))
    assert w @ x == pytest.approx(c, rel=1e-9, abs=1e-12)
    assert np.count_nonzero(w) <= 2
    assert np.abs(w) @ deviations == pytest.approx(least_cost(x, deviations, c), rel=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_no_other_pair_is_as_cheap_whatever_the_matrix(seed):
    x, Sigma, c = random_plane(100 + seed)
    w = next_directions(x, c)
    deviations = np.sqrt(np.einsum("ai,ij,aj->a", x, Sigma, x))
    for pair in combinations(range(len(x)), 2):
        if set(pair) != set(np.flatnonzero(w)):
            other = np.abs(np.linalg.solve(x[list(pair)].T, c)) @ deviations[list(pair)]
            assert other > np.abs(w) @ deviations


def test_a_parallel_action_is_enough_and_signs_do_not_matter():
    assert next_directions([[1, 1], [0, 1], [-2, -2]], [3, 3]) == pytest.approx([3, 0, 0])
    assert next_directions([[0, 1], [-2, -2]], [3, 3]) == pytest.approx([0, -1.5])
    assert next_directions([[-1, 0], [0, -1], [1, -1]], [2, 1]) == pytest.approx([-2, -1, 0])
    assert next_directions([[0, 0], [1, 0], [0, 1]], [2, 1]) == pytest.approx([0, 2, 1])


@pytest.mark.parametrize(
    ("features", "named"),
    [(np.eye(3), "features"), ([[1, 0], [-2, 0]], "direction")],
)
def test_what_has_no_pair_is_named(features, named):
    with pytest.raises(ValueError, match=named):
        next_directions(features, np.arange(1, len(features[0]) + 1))


@given(SHARES, STEPS)
def test_the_excess_is_that_of_the_library_and_above_the_bound(shares, h):
    first, beta = shares
    s = 1 + h
    exact = pair_excess(first, beta, s)
    assert isinstance(exact, Fraction)
    assert exact >= least_pair_excess(first, beta, s) >= 0
    b = np.array([first, 1 - first - beta, beta / 4, beta * 3 / 4], dtype=float)
    v = np.array([1, s**2, 1 + s**2, 1 + s**2], dtype=float)
    loss = pe_loss(b, PAIR_FEATURES, v, policy=pair_policy(0.5))
    assert 4 * loss - float(1 + s) ** 2 / 4 == pytest.approx(float(exact), rel=1e-6, abs=1e-9)


@given(SHARES, STEPS.filter(bool))
def test_each_step_of_the_lower_bound_in_fractions(shares, h):
    first, beta = shares
    s = 1 + h
    assert s * coupling(beta, s) >= beta / 2
    assert target_gap(h) >= h / 6
    moved = merged_share(first, beta, Fraction(1)) - merged_share(first, beta, s)
    assert moved == share_gap(beta, h)
    assert 0 <= moved <= beta * h / 2
    both = least_pair_excess(first, beta, Fraction(1)) + least_pair_excess(first, beta, s)
    # At n = 1, h² is 1/2; the last step of h above it belongs to no n.
    assert both >= min(h * h, Fraction(1, 2)) / SUM


def test_the_two_cases_of_the_sum():
    assert 2 * (Fraction(1, 6) - FEW / 2) ** 2 >= Fraction(1, SUM)
    assert 2 * FEW >= Fraction(1, 2) / SUM


@pytest.mark.parametrize("ratio", [1.0, 1.3, 2.9])
def test_the_divergence_by_integration(ratio):
    q = norm(scale=math.sqrt(ratio))

    def term(r):
        return norm.pdf(r) * (norm.logpdf(r) - q.logpdf(r))

    assert divergence(ratio) == pytest.approx(quad(term, -30, 30)[0], abs=1e-10)


@pytest.mark.parametrize("n", [1, 2, 10, 1000, 10**6])
def test_pulls_inform_by_at_most_the_square_of_h(n):
    pair = KnownPair(n)
    none, second, mixed = pull_divergences(pair.h)
    assert none == 0
    assert 0 < mixed <= second <= pair.h**2
    ratio = pair.variances(True) / pair.variances(False)
    assert [divergence(v) for v in ratio[:3]] == pytest.approx([none, second, mixed], abs=1e-15)


def test_the_total_variation_by_integration_and_in_the_limit():
    for s in (1 + KnownPair(1).h, 1.2, 1.943):
        wide = norm(scale=s)
        apart = quad(lambda r, q=wide: abs(norm.pdf(r) - q.pdf(r)), -20, 20, limit=400)[0] / 2
        assert total_variation(s, 1) == pytest.approx(apart, abs=1e-6)
    assert KnownPair(1).total_variation == total_variation(1 + KnownPair(1).h, 1)
    limit = 2 * norm.cdf(0.5) - 1  # two normal laws one standard deviation apart
    assert KnownPair(10**7).total_variation == pytest.approx(limit, abs=1e-3)
    assert all(KnownPair(n).total_variation <= 0.5 for n in (1, 2, 3, 10, 10**5))


def test_the_imbalance_is_the_excess_of_the_variance():
    w, sigma, T = np.array([0.2, -0.5, 1.0]), np.array([3.0, 1.0, 0.2]), np.array([40, 35, 12])
    S, n = np.abs(w) @ sigma, T.sum()
    excess = n**2 * (w**2 * sigma**2 / T).sum() / S**2 - n
    assert imbalance(T, np.abs(w) * sigma / S) == pytest.approx(excess)
    assert imbalance([[3, 1], [6, 2]], [0.75, 0.25]) == pytest.approx([0, 0])


def test_the_bayes_risk_by_conditioning_and_in_the_limit():
    x, v, c = PAIR_FEATURES, np.array([1.0, 2.0, 3.0, 3.0]), np.array([0.3, 0.7])
    T, tau = np.array([4, 3, 2, 0]), 0.8
    rows, noise = np.repeat(x, T, axis=0), np.diag(np.repeat(v, T))
    # The conditional variance of c'theta from the joint normal law of it and all rewards.
    gain = tau**2 * c @ rows.T
    told = gain @ np.linalg.solve(tau**2 * rows @ rows.T + noise, gain)
    assert bayes_loss(T, x, v, c, tau) == pytest.approx(9 * (tau**2 * c @ c - told))
    whole = 9 * pe_loss(T / 9, x, v, direction=c) / 9
    rising = [bayes_loss(T, x, v, c, tau) for tau in (1, 10, 100, 1e4)]
    assert rising == sorted(rising)
    assert rising[-1] == pytest.approx(whole, rel=1e-6)


def test_the_constants():
    assert staged_constant(2, 0.5) == 1
    assert staged_constant(8) == 3.5
    assert KnownPair(10).bound * 1000 == pytest.approx(1 / 16)


@pytest.mark.parametrize(
    ("share", "pilot", "first"), [(0.3, 5, 0.5), (0.05, 3, 0.5), (0.6, 4, 0.9)]
)
def test_the_price_of_a_short_pilot_by_drawing(share, pilot, first):
    rng = np.random.default_rng(5)
    deviations = np.sqrt(rng.chisquare(pilot - 1, (400_000, 2)))
    told = deviations * [share, 1 - share]
    spent = first * told / told.sum(axis=1, keepdims=True)
    # The last stage fills up whichever lacks most of what it should have.
    t = np.clip(share, spent[:, 0], 1 - spent[:, 1])
    prices = (t - share) ** 2 / t + (t - share) ** 2 / (1 - t)
    error = prices.std() / math.sqrt(len(prices))
    assert abs(prices.mean() - short_pilot_limit(share, pilot, first)) < 4 * error


def test_a_short_pilot_costs_nothing_where_nobody_can_overspend():
    assert short_pilot_limit(0.5, 3, 0.5) == 0
    assert short_pilot_limit(0.3, 3, 0.2) == 0


@given(st.lists(st.integers(1, 10**4), min_size=1, max_size=6), st.fractions(0, 3))
def test_the_local_bound_is_half_of_all_but_one_at_most(parts, prior):
    p = [Fraction(k, sum(parts)) for k in parts]
    assert local_bound(p, Fraction(0)) == Fraction(len(p) - 1, 2)
    assert local_bound(p, prior) <= Fraction(len(p) - 1, 2)


def test_the_local_bound_by_numerical_derivatives():
    w, logs, step, prior = np.array([0.2, -0.5, 1.0]), np.array([0.3, 0.0, -1.0]), 1e-6, 0.7

    def shares(at):
        return np.abs(w) * np.exp(at) / (np.abs(w) @ np.exp(at))

    eye, p = np.eye(3), shares(logs)
    J = [(shares(logs + step * e) - shares(logs - step * e)) / (2 * step) for e in eye]
    J, information = np.array(J).T, np.diag(2 * p + prior)
    whole = np.trace(np.diag(1 / p) @ J @ np.linalg.inv(information) @ J.T)
    assert local_bound(p.tolist(), prior) == pytest.approx(whole, rel=1e-6)


@pytest.mark.parametrize(
    ("shares", "width", "rounds"), [((0.5, 0.5), 6, 8), ((0.2, 0.3, 0.5), 6, 500)]
)
def test_the_local_risk_by_drawing(shares, width, rounds):
    rng, p, size = np.random.default_rng(7), np.array(shares), 4000
    reach, k = width / math.sqrt(rounds), rounds * p - 1

    def draw():
        u = rng.uniform(-1, 1, (8 * size, len(p)))
        keep = rng.random(u.shape) < np.cos(math.pi * u / 2) ** 2
        return np.array([column[kept][:size] for column, kept in zip(u.T, keep.T, strict=True)]).T

    def shares_at(u):
        sigma = p * np.exp(reach * u)
        return sigma / sigma.sum(axis=1, keepdims=True)

    true, tried = draw(), draw()
    W = rng.chisquare(k, true.shape) * np.exp(2 * reach * true)
    # Likelihood of every draw of the prior, given the scatters of each experiment.
    logs = -(W @ np.exp(-2 * reach * tried.T)) / 2 - (reach * tried @ k)[None]
    weight = np.exp(logs - logs.max(axis=1, keepdims=True))
    guess = weight @ shares_at(tried) / weight.sum(axis=1, keepdims=True)
    losses = rounds * ((guess - shares_at(true)) ** 2 / p).sum(axis=1)
    error = losses.std() / math.sqrt(size)
    assert abs(losses.mean() - local_risk(shares, width, rounds)) < 4 * error
    assert error < 0.03 * losses.mean()


@pytest.mark.parametrize("rounds", [20, 100, 10**4])
@pytest.mark.parametrize("width", [2, 4])
def test_van_trees_at_any_number_of_rounds(width, rounds):
    """With derivatives by numerical integration, and the prior's information by the integral."""
    p, reach = np.array([0.3, 0.7]), width / math.sqrt(rounds)

    def density(u):
        return math.cos(math.pi * u / 2) ** 2

    def score(u):
        return -math.pi * math.tan(math.pi * u / 2)

    assert quad(density, -1, 1)[0] == pytest.approx(1)
    told = quad(lambda u: score(u) ** 2 * density(u), -1, 1)[0]
    assert told == pytest.approx(math.pi**2)

    def slope(u, v):  # of the first share in either logarithm; the second's is its opposite
        odds = p[0] / p[1] * math.exp(reach * (u - v))
        return odds / (1 + odds) ** 2 * density(u) * density(v)

    g = dblquad(slope, -1, 1, -1, 1)[0]
    information = 2 * rounds * p + told / reach**2
    bound = rounds * (g**2 / information).sum() * (1 / p).sum()
    assert local_risk(p, width, rounds) >= bound
    if rounds == 10**4:
        assert local_bound(p.tolist(), told / width**2) == pytest.approx(bound, rel=1e-3)


def test_a_wide_prior_leaves_the_whole_price():
    """Half of all but one, but for what the prior tells in a strip at its ends."""
    for shares in ((0.5, 0.5), (0.2, 0.3, 0.5)):
        whole = (len(shares) - 1) / 2
        rest = [1 - local_risk(shares, width, 10**8) / whole for width in (6, 12)]
        assert 0 < rest[1] < rest[0] / 2 < 0.15
