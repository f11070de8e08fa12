"""Parallel actions always tie, and the constant of Theorem 1 does not depend on which is pulled."""

import numpy as np
import pytest

from speedlib import SPEED, LinearBandit, estimation_cost, mse_curve, optimal_design, unit_ball

BALL = unit_ball(5)
SIGMA = np.array([[0.15, 0.12], [0.12, 0.35]])
BEST = optimal_design(
    BALL.bandit.features,
    np.einsum("ai,ij,aj->a", BALL.bandit.features, SIGMA, BALL.bandit.features),
    policy=BALL.policy,
)
FIRST, SECOND = BEST.support


def doubled(factor):
    """Return the bandit with a multiple of an action of the support, and its oracle design."""
    x = np.vstack([BALL.bandit.features, factor * BALL.bandit.features[FIRST]])
    return LinearBandit(x, [1.0, 0.5], Sigma=SIGMA), np.append(BEST.weights, 0.0)


@pytest.mark.parametrize("factor", (-1.5, 1.0, 0.4))
def test_the_price_of_the_variances_does_not_depend_on_which_parallel_action_is_pulled(factor):
    bandit, design = doubled(factor)
    uniform, prices = np.full(6, 1 / 6), []
    for moved in (0.0, 0.3, 1.0):
        shared = design.copy()
        shared[[FIRST, 5]] = design[FIRST] * np.array([1 - moved, moved])
        prices.append(float(estimation_cost(bandit.features, bandit.variances, shared, uniform)))
    assert prices == pytest.approx([prices[0]] * 3)


def test_the_constant_survives_a_parallel_action():
    bandit, design = doubled(-1.5)
    policy, n = np.append(BALL.policy, 0.0), 10**8
    strategy = SPEED(exploration="uniform", exploration_sampling="balanced", covariance="psd")
    found = mse_curve(bandit, policy, [strategy], [n], 4000, seed=5)
    v = float(estimation_cost(bandit.features, bandit.variances, design, np.full(6, 1 / 6)))
    expected = BEST.value * (1 + v) * n**-1.5
    assert found.regret[0, 0] == pytest.approx(
        expected, abs=4 * found.standard_error[0, 0] + 0.005 * expected
    )
