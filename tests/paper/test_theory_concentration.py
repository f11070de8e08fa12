"""Bounds on what exploration knows, against exact laws, draws and brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from paper.theory.concentration import (
    limit_covariance,
    limit_quantile,
    loss_change_bound,
    operator_factor,
    printed_additive_budget,
    printed_multiplicative_budget,
    printed_radius,
)
from speedlib import LinearBandit, estimate_covariance, pe_loss
from speedlib.quadratic import quadratic_features, svec_to_matrix


def test_printed_numbers_by_hand():
    # log(A / delta) = log 8, d = 3, C = 1/2.
    assert printed_radius(10, 3, 4, 2.0, 0.5, 0.5) == pytest.approx(9 * 2 * math.log(8) / 10)
    assert printed_multiplicative_budget(3, 4, 5.0, 0.5, 0.5) == pytest.approx(
        9 * 5 * math.log(8) ** 2
    )
    assert printed_additive_budget(3, 4, 5.0, 0.5, 0.5) == pytest.approx(
        4 * 81 * 25 * math.log(8) ** 2
    )


def test_printed_radius_is_half_the_smallest_variance_at_the_additive_budget():
    for ratio, d, actions, delta in ((1.0, 1, 1, 0.1), (7.0, 3, 9, 0.02)):
        n = printed_additive_budget(d, actions, ratio, delta, constant=3.0)
        radius = printed_radius(math.sqrt(n), d, actions, ratio, delta, constant=3.0)
        assert radius == pytest.approx(0.5)


def test_limit_of_one_action_is_the_chi_squared_law():
    covariance = limit_covariance([[2.0]], [3.0], [1.0], kappa=2.0)
    assert covariance == pytest.approx(np.array([[18.0]]))
    quantile = limit_quantile(covariance, 0.9, np.random.default_rng(1))
    assert quantile == pytest.approx(math.sqrt(18) * norm.ppf(0.95), rel=5e-3)


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["gaussian", "uniform", "laplace"])
def test_limit_covariance_is_that_of_drawn_errors(noise):
    rng = np.random.default_rng(5)
    features, root = rng.standard_normal((4, 2)), rng.standard_normal((2, 2))
    bandit = LinearBandit(features, [1.0, -2.0], Sigma=root @ root.T + np.eye(2), noise=noise)
    counts = np.tile([300, 500, 200, 1000], (3000, 1))
    rewards = bandit.pull(counts, rng)
    errors = estimate_covariance(rewards, features).variances - bandit.variances
    expected = limit_covariance(features, bandit.variances, counts[0] / 2000, bandit.kappa)
    found = 2000 * np.cov(errors.T)
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    assert np.abs(found - expected).max() < 0.12 * scale.max()
    assert np.all(np.abs((found - expected) / scale) < 0.12)


def test_limit_needs_determined_variances():
    with pytest.raises(ValueError, match="leaves the variance of an action open"):
        limit_covariance([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1, 1, 2], [0.5, 0.5, 0.0])


def test_operator_factor_bounds_every_matrix_and_is_nearly_needed():
    rng = np.random.default_rng(2)
    largest = 0.0
    for _ in range(300):
        d = int(rng.integers(1, 4))
        m = d * (d + 1) // 2
        features = rng.standard_normal((m, d))
        signs = rng.choice([-1.0, 1.0], m)
        delta = svec_to_matrix(np.linalg.solve(quadratic_features(features), signs), d)
        largest = max(largest, np.linalg.norm(delta) / operator_factor(features))
    # In one dimension the bound is attained.
    assert 1 - 1e-9 <= largest <= 1 + 1e-9


def test_operator_factor_is_infinite_for_actions_that_do_not_span():
    assert operator_factor([[1.0, 0.0], [0.0, 1.0], [2.0, 0.0]]) > 1e12
    with pytest.raises(ValueError, match="expected 3 actions"):
        operator_factor([[1.0, 0.0], [0.0, 1.0]])


def test_loss_change_is_bounded_and_the_bound_attained():
    rng = np.random.default_rng(3)
    ratios = []
    for _ in range(200):
        features, variances = rng.standard_normal((6, 3)), rng.uniform(0.1, 2.0, 6)
        design, direction = rng.dirichlet(np.ones(6)), rng.standard_normal(3)
        estimated = variances * rng.uniform(0.2, 1.9, 6)
        loss = pe_loss(design, features, variances, direction=direction)
        change = abs(pe_loss(design, features, estimated, direction=direction) - loss)
        ratios.append(change / loss_change_bound(loss, variances, estimated))
    assert max(ratios) <= 1 + 1e-9
    doubled = pe_loss(design, features, 2 * variances, direction=direction)
    assert doubled - loss == pytest.approx(loss_change_bound(loss, variances, 2 * variances))


def test_without_the_factor_the_operator_norm_lemma_fails():
    # Errors 1, 1, -1 of the variances of e1, e2 and (1, 1) leave one matrix.
    features, errors = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([1.0, 1.0, -1.0])
    delta = np.array([[1.0, -1.5], [-1.5, 1.0]])
    assert np.einsum("ai,ij,aj->a", features, delta, features) == pytest.approx(errors)
    printed = operator_factor(features) / math.sqrt(3)
    smallest = np.linalg.eigvalsh((features @ features.T) ** 2)[0]
    assert printed == pytest.approx(1 / math.sqrt(smallest))
    assert printed < 1.52 < 2.5 == pytest.approx(np.linalg.norm(delta, 2))
    assert np.linalg.norm(delta, 2) <= operator_factor(features)
