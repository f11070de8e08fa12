"""Formulas on Theorem 2 against integrals, draws, solvers and examples done by hand."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from paper import exact
from paper.theory import lower_bound
from paper.theory.tools import gaussian_divergence
from speedlib import optimal_design, pe_loss

RATIOS = (0.125, 0.5, 0.9, 1.1, 4 / 3, 2.0, 7.0)


@pytest.fixture(params=(1, 2, 3))
def environment(request):
    return lower_bound.hypothesis_environment(request.param)


def arrays(environment, j):
    x = np.array(environment.features, dtype=float)
    theta = np.array(environment.hypotheses[j], dtype=float)
    return x, np.array(environment.policy, dtype=float), (x @ theta) ** 2


def test_the_environment_is_the_table_of_the_proof(environment):
    d, J = len(environment.direction), len(environment.hypotheses)
    assert J == 2**d
    assert [row[0] for row in environment.means] == [Fraction(J - j, J) for j in range(J)]
    others = [mean for row in environment.means for mean in row[1:]]
    assert len(set(others)) == len(others)
    assert 0 < min(others) and max(others) < Fraction(1, 4 * J)
    x = np.array(environment.features, dtype=float)
    squares = np.einsum("ai,aj->aij", x, x).reshape(len(x), -1)
    assert np.linalg.matrix_rank(squares) == d * (d + 1) // 2


def test_no_environment_beyond_three_dimensions():
    with pytest.raises(ValueError, match="d: built for 1, 2 and 3"):
        lower_bound.hypothesis_environment(4)


def test_the_oracle_s_loss_is_the_squared_value(environment):
    for j, means in enumerate(environment.means):
        x, policy, variances = arrays(environment, j)
        value = float(exact.dot(environment.policy, means)) ** 2
        assert optimal_design(x, variances, policy=policy).value == pytest.approx(value, rel=1e-7)


def test_excess_loss_is_the_loss_less_the_squared_value(environment):
    rng = np.random.default_rng(3)
    for j, means in enumerate(environment.means):
        x, policy, variances = arrays(environment, j)
        value = float(exact.dot(environment.policy, means)) ** 2
        drawn = rng.integers(1, 9, len(x)).tolist()
        weights = tuple(Fraction(k, sum(drawn)) for k in drawn)
        expected = pe_loss(np.array(weights, dtype=float), x, variances, policy=policy) - value
        found = float(lower_bound.excess_loss(weights, environment, j))
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-12)


def test_excess_loss_refuses_pulls_that_leave_the_value_open():
    environment = lower_bound.hypothesis_environment(2)
    with pytest.raises(ValueError, match="leave the value open"):
        lower_bound.excess_loss(exact.vector("1 0 0 0"), environment, 0)


def test_printed_rate_and_scale_by_hand():
    assert lower_bound.printed_rate(2, 0.5, np.e**2) == pytest.approx(4 * 0.5 * 2 / np.e**3)
    # d = 2: J = 4, and log(n J / 4) = log n.
    assert lower_bound.squared_scale(2, np.e**3) == pytest.approx(16 * 3 / np.e**3)


@pytest.mark.parametrize("ratio", RATIOS)
def test_the_divergence_is_that_of_two_normal_laws(ratio):
    exactly = gaussian_divergence(ratio, ratio**2, 1.0, 1.0)
    assert lower_bound.divergence(ratio) == pytest.approx(exactly)
    # The printed formula counts the logarithm twice.
    assert lower_bound.printed_log_ratio_divergence(ratio) == pytest.approx(exactly - np.log(ratio))
    assert (ratio - 1) ** 2 <= exactly <= (ratio - 1) ** 2 * (1 + 1 / ratio)


@pytest.mark.parametrize("ratio", RATIOS)
def test_the_affinity_is_the_integral(ratio):
    p, q = norm(ratio, ratio), norm(1, 1)
    found, _ = quad(lambda r: np.sqrt(p.pdf(r) * q.pdf(r)), -60, 60, points=[0, 1, ratio])
    assert np.exp(lower_bound.log_affinity(ratio)) == pytest.approx(found, rel=1e-6)


def test_drawn_tests_err_less_often_than_the_bounds():
    means, pulls = np.array([1, 0.75, 0.5, 0.25]), 12
    bounds = lower_bound.error_bounds(means, pulls)
    rng = np.random.default_rng(11)
    for j, mean in enumerate(means):
        rewards = mean * (1 + rng.standard_normal((4000, pulls)))
        likely = norm.logpdf(rewards[:, :, None], means, means).sum(axis=1).argmax(axis=1)
        wrong = np.bincount(likely, minlength=4) / 4000
        for k in {0, 1, 2, 3} - {j}:
            assert wrong[k] <= bounds[j, k] + 4 * np.sqrt(bounds[j, k] / 4000)
    assert np.all(np.diag(bounds) == 0)


def test_enough_pulls_are_the_fewest_that_the_bound_allows():
    means = np.array([1, 0.75, 0.5, 0.25])
    for delta in (0.3, 1e-2, 1e-4, 1e-7):
        pulls = lower_bound.enough_pulls(means, delta)
        assert lower_bound.error_bounds(means, pulls).sum(axis=1).max() <= delta
        assert lower_bound.error_bounds(means, pulls - 1).sum(axis=1).max() > delta
        # Nothing depends on the size of the means.
        assert lower_bound.enough_pulls(1e-6 * means, delta) == pulls


def test_the_testing_strategy_drawn_has_less_regret_than_its_bound():
    environment, n = lower_bound.hypothesis_environment(2), 400
    pulls, bound = lower_bound.regret_of_testing(environment, n)
    assert pulls < n
    mu = np.array(environment.means, dtype=float)
    # J = 4 hypotheses, and the proof's bound on the chance of an error is 1/(nJ).
    assert lower_bound.error_bounds(mu[:, 0], pulls).sum(axis=1).max() <= 1 / (4 * n)
    policy = np.array(environment.policy, dtype=float)
    rng, drawn, expected = np.random.default_rng(7), [], []
    for j, means in enumerate(mu):
        value = (policy @ means) ** 2
        losses = [((policy * means) ** 2 / (policy * m / (m @ policy))).sum() for m in mu]
        chances = lower_bound.error_bounds(mu[:, 0], pulls)[j]
        wrong = sum(p * (loss / value - 1) for p, loss in zip(chances, losses, strict=True))
        expected.append((1 + wrong) / (n - pulls) - 1 / n)
        rewards = means[0] * (1 + rng.standard_normal((500, pulls)))
        found = norm.logpdf(rewards[:, :, None], mu[:, 0], mu[:, 0]).sum(axis=1).argmax(axis=1)
        drawn.append(np.mean([losses[k] for k in found]) / value / (n - pulls) - 1 / n)
    assert bound == pytest.approx(max(expected), rel=1e-9)
    assert 0.999 * pulls / (n * (n - pulls)) <= max(drawn) <= bound


@pytest.mark.parametrize("d", (1, 2, 3))
def test_the_conditions_are_those_of_the_proof(d):
    n, J = np.concatenate([np.geomspace(10, 1e60, 200), np.linspace(10, 60, 5001)]), 2**d
    beta = np.sqrt(lower_bound.squared_scale(d, n))
    delta, q = 1 / (n * J), d / (J**2 / beta**2)
    L = np.log(n * J)
    found = lower_bound.conditions(d, n)
    expected = {
        "means at most 1": beta <= 1,
        "step 3 (a)": n / (L - q) >= L + q,
        "step 4, bracket": beta**2 * L / J**2 - 1 >= 0,
        "step 4 (a)": L / J**2 - 1 >= L / (2 * J**2),
        "step 4 (b), column 1": beta**2 >= d / np.sqrt(n),
        "step 4 (b), last column": (beta - (J - 1) * beta / J) ** 2 >= d / np.sqrt(n),
        "step 4 (c)": d * L / (2 * J**2) >= d**2 * np.log(2 * n),
    }
    assert beta**2 == pytest.approx(J**2 * np.log(1 / (4 * delta)) / n)
    assert found.keys() == expected.keys()
    for name, holds in expected.items():
        assert np.array_equal(found[name], holds), name
