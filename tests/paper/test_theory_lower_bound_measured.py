"""Bounds that hold, against integrals, brute force and draws reward by reward."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from paper.theory import lower_bound_measured as measured
from paper.theory.regret import rival
from speedlib import LinearBandit, estimation_cost, optimal_design, pe_loss, unit_ball
from speedlib.covariance import estimate_covariance
from speedlib.exploration import identifiable_design
from speedlib.rewards import Rewards
from speedlib.rounding import efficient_counts
from speedlib.solvers.batch import pe_designs

BALL = unit_ball(5)
SIGMA = np.array([[0.15, 0.12], [0.12, 0.35]])
VARIANCES = np.einsum("ai,ij,aj->a", BALL.bandit.features, SIGMA, BALL.bandit.features)


@pytest.mark.parametrize("informed", (1, 7, 1000))
def test_the_bound_follows_from_the_two_bandits(informed):
    s = measured.second_deviation(informed)
    gap = 0.5 - 1 / (1 + s)
    law = norm(0, 1), norm(0, s)
    divergence = quad(lambda r: law[0].pdf(r) * (law[0].logpdf(r) - law[1].logpdf(r)), -30, 30)[0]
    variation = np.sqrt(informed * divergence / 2)
    bound = measured.allocation_bound(10, informed) * 10
    # The true divergence is a little smaller than its bound: so is what is lost to it.
    assert bound <= gap**2 * (1 - variation)
    assert bound == pytest.approx(gap**2 / 3)
    assert bound >= 1 / (117 * informed)


def test_the_distance_makes_the_bound_largest():
    best = minimize_scalar(lambda t: -(t**2) * (1 - t / np.sqrt(2)), bounds=(0, 1.4))
    assert pytest.approx(best.x, abs=1e-5) == measured.DISTANCE


@pytest.mark.parametrize("informed", (1, 50))
def test_no_share_has_less_regret_in_both_bandits_than_the_bound(informed):
    s = measured.second_deviation(informed)
    shares = np.linspace(0, 1, 20_001)[1:-1]
    designs = np.column_stack([shares, 1 - shares])
    half = np.array([0.5, 0.5])
    regrets = [
        pe_loss(designs, np.eye(2), np.array([1, v]), policy=half) - ((1 + np.sqrt(v)) / 2) ** 2
        for v in (1.0, s**2)
    ]
    least = np.max(regrets, axis=0).min()
    # A fixed share, which sees nothing: the bound leaves a third of its price to what may be seen.
    gap = 0.5 - 1 / (1 + s)
    assert least >= gap**2 * 0.999
    assert measured.allocation_bound(1, informed) < least / 2


def test_discarding_costs_the_rounds_and_the_design():
    n, length = 1e6, 400
    expected = length / n**2 + measured.allocation_bound(n, length)
    assert measured.discard_bound(n, length) == pytest.approx(expected)
    lengths = np.arange(1, 5000)
    least = min(measured.discard_bound(n, g) for g in lengths)
    assert 0.18 * n**-1.5 < least < 0.3 * n**-1.5


def test_the_price_is_that_of_least_squares_where_weights_do_not_matter():
    # As many explored actions as unknowns: the fit goes through all of them.
    explored = np.array([0.3, 0.45, 0, 0, 0.25])
    shares = optimal_design(BALL.bandit.features, VARIANCES, policy=BALL.policy).weights
    price = measured.EfficientPrice(BALL.bandit.features, VARIANCES)
    plain = estimation_cost(BALL.bandit.features, VARIANCES, shares, explored)
    assert price.price(shares, explored) == pytest.approx(float(plain))
    uniform = np.full(5, 0.2)
    plain = estimation_cost(BALL.bandit.features, VARIANCES, shares, uniform)
    assert price.price(shares, uniform) < float(plain)
    twice = measured.EfficientPrice(BALL.bandit.features, VARIANCES, kappa=4.0)
    assert twice.price(shares, uniform) == pytest.approx(2 * price.price(shares, uniform))


def test_the_price_of_what_is_not_explored_is_infinite():
    half = np.array([0.5, 0.5])
    price = measured.EfficientPrice(np.eye(2), [1.0, 4.0])
    assert price.price(half, [1, 0]) == np.inf
    # A quarter of 2/q, weighed by shares that turn on the ratio of the two variances alone.
    assert price.price(half, half) == pytest.approx(0.5)
    assert price.price(half, [1e-6, 1 - 1e-6]) == pytest.approx(0.125e6, rel=1e-5)
    # All pulls on one action: the shares do not move, and nothing need be explored.
    assert price.price([1, 0], [1, 0]) == 0


def test_a_price_of_one_direction_needs_that_direction_only():
    price = measured.EfficientPrice(BALL.bandit.features, VARIANCES)
    shares = optimal_design(BALL.bandit.features, VARIANCES, policy=BALL.policy).weights
    design, least = price.best(shares)
    assert price.price(shares, design) == pytest.approx(least, rel=1e-6)
    away = np.zeros(5)
    away[np.flatnonzero(design > 1e-6)[0]] = 1
    assert price.price(shares, away) == np.inf


@pytest.mark.parametrize("d", (2, 3))
def test_no_exploration_design_is_cheaper_than_the_best(d):
    rng = np.random.default_rng(d)
    x = rng.standard_normal((9, d))
    v = np.einsum("ai,ai->a", x, x)
    shares = optimal_design(x, v, direction=rng.standard_normal(d)).weights
    price = measured.EfficientPrice(x, v)
    design, least = price.best(shares)
    assert price.price(shares, 0.999 * design + 0.001 / 9) == pytest.approx(least, rel=0.02)
    tried = [price.price(shares, rng.dirichlet(np.full(9, 0.5))) for _ in range(300)]
    assert min(tried) >= least * (1 - 1e-9)


def drawn_errors(bandit, policy, n, pilot, size, rng):
    """Run the strategy that keeps its rewards, reward by reward; return squared errors, (size,)."""
    x, c = bandit.features, policy @ bandit.features
    first = efficient_counts(identifiable_design(x), pilot)
    starts = [bandit.pull_each(np.repeat(np.arange(len(x)), first), rng) for _ in range(size)]
    starts = [np.split(rewards, np.cumsum(first)[:-1]) for rewards in starts]
    scatters = np.array([[r.var() * len(r) if len(r) else 0 for r in run] for run in starts])
    unbiased = scatters * first / np.maximum(first - 1, 1)
    pilots = Rewards(np.broadcast_to(first, scatters.shape), np.zeros(scatters.shape), unbiased)
    fitted = estimate_covariance(pilots, x, "psd").floored(measured.FLOOR)
    designs = pe_designs(x, fitted, c).weights
    errors = []
    for rewards, shares in zip(starts, designs, strict=True):
        support = np.flatnonzero(shares > 1e-9)
        w = np.linalg.solve(x[support].T, c)
        goal = n / 2 * shares[support]
        for stage in range(2):
            for a, total in zip(support, goal, strict=True):
                fresh = bandit.pull_each(np.full(max(int(total) - len(rewards[a]), 0), a), rng)
                rewards[a] = np.append(rewards[a], fresh)
            if stage == 0:
                wanted = np.abs(w) * [rewards[a].std(ddof=1) for a in support]
                used = sum(len(r) for a, r in enumerate(rewards) if a not in support)
                have = np.array([len(rewards[a]) for a in support])
                missing = np.maximum((n - used) * wanted / wanted.sum() - have, 0)
                goal = have + (n - used - have.sum()) * missing / missing.sum()
        assert n - 4 <= sum(map(len, rewards)) <= n
        estimate = sum(part * rewards[a].mean() for part, a in zip(w, support, strict=True))
        errors.append((estimate - bandit.value(policy)) ** 2)
    return np.array(errors)


@pytest.mark.slow
def test_topping_up_drawn_reward_by_reward_has_the_error_of_the_formula():
    bandit = LinearBandit(BALL.bandit.features, [1.0, 0.5], Sigma=SIGMA)
    n, pilot = 300, 90
    found = drawn_errors(bandit, BALL.policy, n, pilot, 2500, np.random.default_rng(8))
    c = BALL.policy @ bandit.features
    regret, error = measured.topped_up_regret(
        bandit.features, bandit.variances, c, n, pilot, 2500, np.random.default_rng(9)
    )
    oracle = optimal_design(bandit.features, bandit.variances, direction=c).value / n
    spread = found.std() / np.sqrt(len(found))
    assert found.mean() == pytest.approx(oracle + regret, abs=4 * (spread + error))
    assert regret > 0.15 * oracle  # the pilot's rounds off the support, at least


def test_topping_up_spends_about_what_the_shares_cost():
    half = np.array([0.5, 0.5])
    for n in (10_000, 1_000_000):
        regret, error = measured.topped_up_regret(
            np.eye(2), [1.0, 1.0], half, n, 100, 4000, np.random.default_rng(3)
        )
        # v = 1/2, and half of the rounds are explored alike: v / (n / 2) = 1 / n.
        assert regret * n**2 == pytest.approx(1.0, abs=4 * error * n**2 + 0.03)


@pytest.mark.slow
def test_a_long_pilot_counts_with_its_own_scatters():
    half, variances, n = np.array([0.5, 0.5]), np.array([9.0, 1.0]), 1000
    regret, _ = measured.topped_up_regret(
        np.eye(2), variances, half, n, 400, 20_000, np.random.default_rng(4)
    )
    # Shares 3/4 and 1/4, from 375 rewards and the 200 of the pilot; S^2 = 4.
    expected = 3 / 16 * (1 / (2 * 374) + 1 / (2 * 199))
    assert regret * n / 4 == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize("gap", (0.01, 0.5, 11))
def test_the_settling_exponent_is_the_divergence_of_a_pull(gap):
    tied, apart = norm(0, np.sqrt(2)), norm(0, np.sqrt(2 + gap))
    found = quad(lambda r: tied.pdf(r) * (tied.logpdf(r) - apart.logpdf(r)), -20, 20)[0]
    assert measured.settling_exponent(gap, 0.3) == pytest.approx(0.3 * found, rel=1e-6, abs=1e-12)
    assert measured.settling_exponent(gap, 1) <= gap**2 / 16


def test_settling_on_a_support_by_a_short_pilot_costs_what_its_errors_do():
    x = np.array([[1, 0, 1], [-1, 0, 1], [0, 1, 1], [0, -1, 1], [1, 0, 0], [1, 1, 0]], dtype=float)
    c = np.array([0.28, 0.18, 0.28, 0.18, 0.04, 0.04]) @ x
    v = np.einsum("ai,ij,aj->a", x, np.diag([1, 1.5, 1]), x)
    n, pilot = 10**8, 300
    regret, error = measured.topped_up_regret(x, v, c, n, pilot, 4000, np.random.default_rng(12))
    two = rival(x, v, c, np.full(6, 1 / 6))
    assert two.gap == pytest.approx(0.6 * (np.sqrt(2.5) - np.sqrt(2)))
    expected = two.expected_excess(pilot)
    # The normal law of the estimated gap is right to a few per cent at 300 rounds.
    assert regret * n == pytest.approx(expected, abs=4 * error * n + 0.1 * expected)
    # Errors are as frequent as they cost, and no rarer than the change of measure allows.
    chance = measured.wrong_supports(x, v, c, pilot, 4000, np.random.default_rng(13))
    price = (two.best + two.gap) ** 2 - two.best**2
    assert chance * price == pytest.approx(expected, rel=0.2)
    assert chance >= np.exp(-measured.settling_exponent(0.5, 0.5) * pilot) / 4
