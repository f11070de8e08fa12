"""An action whose features are all 0 has the variance 0, informs nothing and ends no run."""

from __future__ import annotations

import re

import numpy as np
import pytest

from speedlib import (
    SPEED,
    AOptimal,
    LinearBandit,
    Oracle,
    PerArm,
    best_exploration_length,
    design_efficiency,
    estimate_covariance,
    estimation_cost,
    identifiability,
    information_matrix,
    least_squares,
    mse_curve,
    optimal_design,
    pe_loss,
    policy_value,
)
from speedlib.designs import CRITERIA
from speedlib.estimators import value_coefficients
from speedlib.solvers import elfving_design, pe_designs, smooth_designs

X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
SIGMA = np.diag([0.1, 0.4])
BANDIT = LinearBandit(X, [1.0, 2.0], Sigma=SIGMA)
V = BANDIT.variances
UNIFORM = np.full(4, 0.25)


def target(criterion: str) -> dict:
    if criterion == "PE":
        return {"policy": UNIFORM}
    return {"matrix": SIGMA} if criterion == "linear" else {}


def test_the_design_pulls_the_one_action_along_the_direction() -> None:
    assert V.tolist() == pytest.approx([0.0, 0.1, 0.4, 0.5])
    design = optimal_design(X, V, policy=UNIFORM)
    assert design.weights.tolist() == [0.0, 0.0, 0.0, 1.0]
    # c = (1/2, 1/2) is half of the last action, whose variance is 1/2.
    assert design.value == pytest.approx(0.125)


@pytest.mark.slow
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("given", [0.0, 1e-3, 1.0, 1e3])
def test_it_gets_no_share_and_changes_nothing(criterion: str, given: float) -> None:
    variances = np.array([given, *V[1:]])
    direction = X.mean(axis=0)
    without = {"direction": direction} if criterion == "PE" else target(criterion)
    design = optimal_design(X, variances, criterion, **target(criterion))
    plain = optimal_design(X[1:], V[1:], criterion, **without)
    assert design.weights[0] == 0
    assert design.weights[1:] == pytest.approx(plain.weights, abs=1e-6)
    assert design.value == pytest.approx(plain.value, rel=1e-6)
    quarter = np.full(3, 1 / 3)
    assert design_efficiency(
        [0.0, *quarter], X, variances, criterion, **target(criterion)
    ) == pytest.approx(design_efficiency(quarter, X[1:], V[1:], criterion, **without), rel=1e-6)


def test_batches_give_it_no_share_either() -> None:
    rows = np.stack([V, V[[0, 2, 1, 3]]])
    assert pe_designs(X, rows, X.mean(axis=0)).weights.tolist() == [[0, 0, 0, 1]] * 2
    for criterion in "AD":
        designs = smooth_designs(X, rows, criterion)
        assert not designs.weights[:, 0].any()
        plain = smooth_designs(X[1:], rows[:, 1:], criterion)
        assert designs.values == pytest.approx(plain.values, rel=1e-6)


@pytest.mark.parametrize("given", [0.0, 1e-3])
def test_where_there_is_nothing_to_estimate_an_action_that_informs_is_pulled(given: float) -> None:
    policy, variances = [1.0, 0.0, 0.0, 0.0], np.array([given, *V[1:]])
    assert optimal_design(X, variances, policy=policy).weights.tolist() == [0, 1, 0, 0]
    assert elfving_design(X, variances, [0.0, 0.0]).weights.tolist() == [0, 1, 0, 0]
    assert pe_designs(X, [variances] * 2, [0.0, 0.0]).weights.tolist() == [[0, 1, 0, 0]] * 2


def test_losses_and_estimates_do_not_see_it() -> None:
    counts = np.array([9, 5, 6, 7])
    rewards = BANDIT.pull(counts, np.random.default_rng(1))
    assert rewards.means[0] == rewards.scatters[0] == 0
    c, rest = X.mean(axis=0), slice(1, None)
    assert information_matrix(UNIFORM, X, V) == pytest.approx(
        information_matrix(UNIFORM[rest], X[rest], V[rest])
    )
    assert pe_loss(UNIFORM, X, V, direction=c) == pytest.approx(
        pe_loss(UNIFORM[rest], X[rest], V[rest], direction=c)
    )
    found = value_coefficients(counts, X, V, c)
    assert found[0] == 0
    assert found[rest] == pytest.approx(value_coefficients(counts[rest], X[rest], V[rest], c))
    estimate = policy_value(rewards, X, c, V)
    assert estimate.value == pytest.approx(least_squares(rewards, X, V) @ c)
    assert 0 < estimate.standard_error < np.inf
    weighted = policy_value(rewards, X, c, 2 * V, weights=V)
    assert weighted.value == estimate.value
    assert weighted.standard_error == pytest.approx(np.sqrt(2) * estimate.standard_error)
    assert estimate_covariance(rewards, X, "psd").variances[0] == 0
    assert identifiability(X, UNIFORM).complete
    design = optimal_design(X, V, policy=UNIFORM).weights
    cost = estimation_cost(X, V, design, UNIFORM)
    assert 0 <= best_exploration_length(cost, 100) < np.inf


@pytest.mark.parametrize("strategy", [Oracle(), SPEED(), AOptimal(), PerArm()])
def test_it_ends_no_run(strategy: object) -> None:
    curves = mse_curve(BANDIT, UNIFORM, [strategy], [60], 20, seed=1)  # type: ignore[list-item]
    assert curves.oracle_loss == pytest.approx(0.125 / 60)
    assert np.isfinite(curves.mse).all()
    assert curves.mse.min() > 0


@pytest.mark.parametrize(
    "call",
    [
        lambda v: optimal_design(X, v, policy=UNIFORM),
        lambda v: optimal_design(X, v, "A"),
        lambda v: optimal_design(X, v, "G"),
        lambda v: pe_loss(UNIFORM, X, v, policy=UNIFORM),
        lambda v: pe_designs(X, [v], [1.0, 1.0]),
        lambda v: policy_value(BANDIT.pull([3] * 4, np.random.default_rng(1)), X, [1.0, 1.0], v),
        lambda v: estimation_cost(X, v, UNIFORM, UNIFORM),
        lambda v: Oracle().begin(X, UNIFORM, 100, rng=1, variances=v),
    ],
)
@pytest.mark.parametrize(("action", "value"), [(2, 0.0), (1, -0.5), (0, -0.5)])
def test_no_variance_where_there_are_features_is_refused(
    call: object, action: int, value: float
) -> None:
    wrong = V.copy()
    wrong[action] = value
    rule = rf"^variances: must be greater than 0; got {value:g} .*action {action}\b"
    with pytest.raises(ValueError, match=rule) as caught:
        call(wrong)  # type: ignore[operator]
    assert re.search("features are all 0", str(caught.value))
