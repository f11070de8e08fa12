"""The lower bound for every strategy: each step by another route, and strategies against it."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import linprog, minimize_scalar
from scipy.stats import chi2, norm

from paper.theory import minimax
from paper.theory.hard_family import HardFamily, gap
from speedlib import SPEED, mse_curve, pe_loss
from speedlib.identification import coordinates

LARGEST = minimax.LARGEST_SEPARATION


def alike(family):
    """All couples alike, and nothing else."""
    weights = np.zeros(family.n_actions)
    weights[: 2 * family.couples] = 1 / (2 * family.couples)
    return weights


def elfving(family, couple, u):
    """S², the least squared cost of writing c by the actions, by a linear program."""
    sigma = np.sqrt(family.variances(couple, u))
    x = family.features.T
    found = linprog(np.r_[sigma, sigma], A_eq=np.hstack([x, -x]), b_eq=family.direction)
    return found.fun**2


@pytest.mark.parametrize("d", (3, 4, 6))
@pytest.mark.parametrize("u", (0.02, LARGEST))
def test_the_optimum_is_that_of_the_linear_program(d, u):
    family = HardFamily(d, 0.3)
    for couple in (0, family.couples - 1):
        assert family.optimal_value(u) == pytest.approx(elfving(family, couple, u), rel=1e-9)
    assert elfving(family, None, 0) == pytest.approx(3 * 0.3**2)


@pytest.mark.parametrize("d", range(3, 9))
def test_the_squares_span_all_symmetric_matrices(d):
    family = HardFamily(d)
    assert np.linalg.matrix_rank(coordinates(family.features)) == d * (d + 1) // 2
    assert family.n_actions == 2 * (d - 1) ** 2
    assert family.policy @ family.features == pytest.approx(family.direction)


@pytest.mark.parametrize("d", (3, 5))
def test_only_the_couple_and_its_twin_move(d):
    family, u = HardFamily(d), 0.2
    for couple in range(family.couples):
        moved = np.flatnonzero(~np.isclose(family.variances(couple, u), family.variances(None, u)))
        twin = couple + 1 - 2 * (couple % 2)
        expected = sorted([2 * couple, 2 * couple + 1, 2 * twin, 2 * twin + 1])
        assert moved.tolist() == expected
        values = np.linalg.eigvalsh(family.matrix(couple, u))
        assert values.min() >= 0.7 - 1e-12 and values.max() <= 1.3 + 1e-12


@pytest.mark.parametrize("u", (0.01, 0.1, LARGEST))
def test_the_divergence_of_a_pull_is_the_integral(u):
    family = HardFamily(4)
    divergences = minimax.pull_divergences(family, 2, u)
    after = family.variances(2, u)
    for a, variance in enumerate(family.variances(None, u)):
        old, new = norm(0, np.sqrt(variance)), norm(0, np.sqrt(after[a]))
        gained = quad(lambda r, p=old, q=new: p.pdf(r) * (p.logpdf(r) - q.logpdf(r)), -25, 25)[0]
        assert divergences[a] == pytest.approx(gained, abs=1e-9)
    assert divergences.max() <= u**2 / 4
    assert np.count_nonzero(divergences > 1e-15) == 4


@pytest.mark.parametrize("ratio", (0.8, 1.25))
def test_the_variation_of_one_pull_is_the_integral(ratio):
    p, q = norm(0, 1), norm(0, ratio**-0.5)
    apart = quad(lambda r: abs(p.pdf(r) - q.pdf(r)) / 2, -20, 20, limit=400)[0]
    assert minimax.variation(ratio, 1) == pytest.approx(apart, abs=1e-7)


def test_the_variation_of_many_pulls_is_that_of_the_best_test():
    rng = np.random.default_rng(7)
    pulls, ratio, size = 12, 1.4, 200_000
    null = rng.standard_normal((size, pulls))

    # Likelihood ratio of N(0, 1/r) to N(0, 1), from all rewards.
    def prefers(rewards):
        return pulls * np.log(ratio) / 2 - (ratio - 1) * (rewards**2).sum(axis=1) / 2 > 0

    apart = prefers(null / np.sqrt(ratio)).mean() - prefers(null).mean()
    assert minimax.variation(ratio, pulls) == pytest.approx(apart, abs=5 * (0.5 / size) ** 0.5)


@pytest.mark.parametrize("pulls", (1, 8, 200))
@pytest.mark.parametrize("u", (0.01, 0.1, LARGEST))
def test_the_mean_variation_is_below_its_bound(pulls, u):
    # d = 3: all pulls go to one couple, which is couple h in one bandit and the twin in the other.
    tight = [minimax.variation(r, pulls) for r in (1 + u, (1 + u) / (1 + 2 * u))]
    assert np.mean(tight) <= minimax.variation_bound(2, pulls, u)
    assert np.mean(tight) >= 0.4 * min(minimax.variation_bound(2, pulls, u), 1)


def test_the_chances_of_a_choice_are_those_of_draws():
    couples, pulls, u, size = 6, 30, 0.25, 200_000
    rng = np.random.default_rng(3)
    variances = np.full(couples, 1.0)
    variances[:2] = (3 - gap(u)) / 3, (3 + gap(u)) / 3
    chosen = np.argmin(variances * rng.chisquare(pulls, (size, couples)), axis=1)
    drawn = [(chosen == 0).mean(), (chosen == 1).mean()]
    assert minimax.choice_chances(couples, pulls, u) == pytest.approx(drawn, abs=0.006)


@pytest.mark.parametrize("d", (3, 5))
def test_the_chance_of_a_miss_is_at_least_that_of_the_lemma(d):
    couples = (d - 1) * (d - 2)
    for u in (0.03, 0.1, LARGEST):
        for pulls in (1, 10, 100):
            right, twin = minimax.choice_chances(couples, pulls, u)
            assert 0 < twin < 1 / couples < right
            assert 1 - right >= minimax.missed_bound(couples, couples * pulls, u)


def test_the_posterior_variance_is_the_least_squared_error_of_bayes():
    # Bayes: condition the joint normal law of value and rewards, action by action.
    family, u, tau = HardFamily(3), 0.2, 1.7
    counts = np.array([3, 2, 1, 4, 2, 2, 0, 1])
    x = np.repeat(family.features, counts, axis=0)
    noise = np.repeat(family.variances(1, u), counts)
    joint = tau**2 * x @ x.T + np.diag(noise)
    with_value = tau**2 * x @ family.direction
    left = tau**2 * family.direction @ family.direction
    left -= with_value @ np.linalg.solve(joint, with_value)
    n = counts.sum()
    risk = minimax.loss(family, counts / n, u, 1, 1 / (n * tau**2)) / n
    assert risk == pytest.approx(left, rel=1e-10)


def test_without_a_prior_it_is_the_loss():
    family, u = HardFamily(4), 0.15
    weights = np.random.default_rng(1).dirichlet(np.ones(family.n_actions))
    loss = pe_loss(weights, family.features, family.variances(3, u), policy=family.policy)
    assert minimax.loss(family, weights, u, 3) == pytest.approx(loss)


@pytest.mark.parametrize("d", (3, 4, 6))
@pytest.mark.parametrize("ridge", (0.0, 1e-3, 0.3))
def test_no_design_has_less_excess_than_the_lemma_says(d, ridge):
    rng, ratios = np.random.default_rng(d), []
    for _ in range(400):
        found = minimax.sample_instance(d, rng)
        found = minimax.perturb_instance(found, 0.1, rng)
        assert found.weights.sum() == pytest.approx(1) and 0 < found.u <= LARGEST
        ratios.append(minimax.excess_ratio(found.family, found.weights, found.u, ridge))
    assert min(ratios) >= 1 - 1e-9
    # The lemma is no looser than it must be.
    crowded = np.full(2 * (d - 1) ** 2, 1e-5)
    crowded[:2], crowded[-2 * (d - 1) :] = 1, 0
    least = minimax.excess_ratio(HardFamily(d), crowded / crowded.sum(), 0.02)
    assert least < 2.5


def test_the_price_of_a_prior_is_nine_epsilon_and_hardly_less():
    family = HardFamily(6)
    weights = np.zeros(family.n_actions)
    weights[4 : 2 * family.couples] = 1 / (2 * family.couples - 4)  # not couple 0, nor its twin
    # By hand: the posterior variance is 3/(1 + 3ε), S² is 3/(1 + u), both over ρ².
    u, ridge = 0.01, 0.005
    left = 3 / (1 + 3 * ridge) - 3 / (1 + u) + 9 * ridge
    ratio = minimax.excess_ratio(family, weights, u, ridge)
    assert ratio == pytest.approx(left / (3 * u / (1 + u) ** 2), rel=1e-9)
    assert 1 <= ratio < 1.1


def test_a_blind_strategy_has_the_excess_of_its_design():
    for d in (3, 5):
        family = HardFamily(d, 0.7)
        for u in (0.05, LARGEST):
            excess = minimax.loss(family, alike(family), u) - family.optimal_value(u)
            assert minimax.blind_excess(family, u) == pytest.approx(excess, rel=1e-9)
            assert excess <= 3 * 0.7**2 * u / (1 + u)


def test_looking_once_is_its_outcomes_one_by_one():
    family, u, rounds, part = HardFamily(4), 0.2, 1200, 0.3
    pulls = 60
    right, twin = minimax.choice_chances(6, pulls, u)
    expected = 0.0
    for chosen, chance in enumerate([right, twin] + [(1 - right - twin) / 4] * 4):
        counts = np.zeros(family.n_actions)
        counts[:12] = pulls / 2
        counts[2 * chosen : 2 * chosen + 2] += (rounds - 6 * pulls) / 2
        loss = minimax.loss(family, counts / rounds, u)
        expected += chance * (loss - family.optimal_value(u))
    assert minimax.look_once_excess(family, u, rounds, part) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("d", (3, 4, 7))
def test_the_constants_of_the_last_line(d):
    family = HardFamily(d)
    for rounds in (4 * family.couples, 10_000, 10**8):
        u = minimax.separation(family.couples, rounds)
        assert u <= LARGEST
        bound = minimax.regret_bound(family, rounds)
        assert minimax.unrounded_bound(family, rounds) >= bound * (1 - 1e-12)
        assert minimax.blind_excess(family, u) / rounds <= 25 / 4 * bound
    relative = bound * rounds / family.optimal_value(0)
    assert relative == pytest.approx(0.08 * np.sqrt((d - 1) * (d - 2) / rounds))
    exact = Fraction(3) * Fraction(1, 2) * Fraction(16, 25) * Fraction(1, 4)
    assert Fraction(6, 25) == exact and float(exact) == minimax.CONSTANT


def test_the_bound_is_tight_where_there_are_fewest_rounds_and_couples():
    family = HardFamily(3)
    assert minimax.unrounded_bound(family, 8) == pytest.approx(minimax.regret_bound(family, 8))
    with pytest.raises(ValueError, match="rounds: must be at least 4M = 8; got 7"):
        minimax.regret_bound(family, 7)


@pytest.mark.parametrize(("d", "millions"), [(3, 12), (5, 16), (10, 35)])
def test_with_a_bounded_parameter_something_is_left_from_millions_on(d, millions):
    family, n = HardFamily(d), millions * 1e6
    assert minimax.bounded_parameter_bound(family, 0.97 * n) < 0
    later = n * np.geomspace(1, 1e6, 50)
    left = [minimax.bounded_parameter_bound(family, k) for k in later]
    assert min(left) > 0
    bound = minimax.regret_bound(family, 10 * n)
    assert 0.7 < minimax.bounded_parameter_bound(family, 10 * n) / bound < 1
    # What lies outside of the ball, by the integral over its radius.
    s = n**0.25
    outside = quad(lambda x: x * chi2.pdf(x, d), s, np.inf)[0]
    lost = 9 * n**-0.75 + 4 * n * outside / s
    expected = minimax.regret_bound(family, n) - family.rho**2 * lost / n
    assert minimax.bounded_parameter_bound(family, n) == pytest.approx(expected, rel=1e-3)


def test_no_part_to_look_at_brings_the_regret_below_the_bound():
    family, rounds = HardFamily(3), 10_000
    u = minimax.separation(2, rounds)
    best = minimize_scalar(
        lambda part: minimax.look_once_excess(family, u, rounds, part),
        bounds=(0.01, 0.99),
        method="bounded",
        options={"xatol": 0.01},
    )
    ratio = best.fun / rounds / minimax.regret_bound(family, rounds)
    assert 1 < ratio < 25 / 4


@pytest.mark.slow
def test_speed_loses_more_than_the_bound():
    family, rounds = HardFamily(3), 10_000
    u = minimax.separation(2, rounds)
    run = mse_curve(family.bandit(0, u), family.policy, [SPEED()], [rounds], 400, seed=1)
    low = run.regret[0, 0] - 4 * run.standard_error[0, 0]
    assert low > minimax.regret_bound(family, rounds)
