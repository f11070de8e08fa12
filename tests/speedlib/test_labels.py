"""Labels of pandas objects that say another order than the places of their numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import speedlib
from speedlib import SPEED, LinearBandit, Rewards
from speedlib.estimators import value_coefficients
from speedlib.fitting import calibration, fit_variances
from speedlib.solvers import elfving_design, pe_designs, smooth_designs

NAMES, FEATURES = ["red", "green", "blue", "grey"], ["size", "price"]
X = pd.DataFrame([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8], [1.0, 1.0]], NAMES, FEATURES)
P = pd.Series([0.1, 0.2, 0.3, 0.4], NAMES)
V = pd.Series([1.0, 2.0, 0.5, 0.7], NAMES)
N = pd.Series([3, 4, 5, 6], NAMES)
C = pd.Series([1.0, 2.0], FEATURES)
S = pd.DataFrame([[0.3, 0.1], [0.1, 0.2]], FEATURES, FEATURES)
LOG = pd.DataFrame({"action": [0, 1, 2, 3, 0, 1], "reward": [1.0, 4.0, 2.0, 0.0, 3.0, 9.0]})
REWARDS = Rewards.from_log(LOG.action, LOG.reward, 4)
MANY = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=FEATURES)
Y = pd.Series(np.random.default_rng(1).normal(size=60))

#: Every public function that takes several arguments of one order, and these.
DOORS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "target_direction": (speedlib.target_direction, {"features": X, "policy": P}),
    "information_matrix": (
        speedlib.information_matrix,
        {"features": X, "weights": P, "variances": V},
    ),
    "pe_loss": (speedlib.pe_loss, {"features": X, "weights": P, "variances": V, "policy": P}),
    "pe_loss of a direction": (
        speedlib.pe_loss,
        {"features": X, "weights": P, "variances": V, "direction": C},
    ),
    "optimal_design": (speedlib.optimal_design, {"features": X, "variances": V, "policy": P}),
    "optimal_design of a matrix": (
        lambda **given: speedlib.optimal_design(criterion="linear", **given),
        {"features": X, "variances": V, "matrix": S},
    ),
    "design_efficiency": (
        speedlib.design_efficiency,
        {"features": X, "weights": P, "variances": V, "direction": C},
    ),
    "estimation_cost": (
        speedlib.estimation_cost,
        {"features": X, "variances": V, "design": P, "exploration": P},
    ),
    "value_coefficients": (
        value_coefficients,
        {"features": X, "counts": N, "variances": V, "direction": C},
    ),
    "policy_value": (
        lambda **given: speedlib.policy_value(REWARDS, **given),
        {"features": X, "direction": C, "variances": V, "weights": V},
    ),
    "least_squares": (
        lambda **given: speedlib.least_squares(REWARDS, **given),
        {"features": X, "variances": V},
    ),
    "identifiability": (speedlib.identifiability, {"features": X, "weights": P}),
    "begin": (
        lambda **given: SPEED().begin(rounds=100, rng=1, **given),
        {"features": X, "policy": P, "variances": V},
    ),
    "LinearBandit": (LinearBandit, {"features": X, "theta": C, "variances": V}),
    "LinearBandit with Sigma": (LinearBandit, {"features": X, "theta": C, "Sigma": S}),
    "one_hot": (speedlib.one_hot, {"policy": P, "variances": V}),
    "elfving_design": (elfving_design, {"features": X, "variances": V, "direction": C}),
    "pe_designs": (
        pe_designs,
        {"features": X, "variances": pd.DataFrame([V, 2 * V]), "direction": C},
    ),
    "smooth_designs": (
        lambda **given: smooth_designs(criterion="A", **given),
        {"features": X, "variances": pd.DataFrame([V, 2 * V])},
    ),
    "calibration": (calibration, {"variances": Y**2, "squares": Y**4}),
    "fit_environment": (speedlib.fit_environment, {"X": MANY, "y": Y}),
    "fit_variances": (fit_variances, {"X": MANY, "squares": Y**2}),
    "from_log": (
        lambda **given: Rewards.from_log(n_actions=4, **given),
        {"actions": LOG.action, "rewards": LOG.reward},
    ),
}
CASES = [(door, name) for door, (_, given) in DOORS.items() for name in list(given)[1:]]


def other_order(value: Any) -> Any:
    """Return the same numbers with their labels, sorted otherwise."""
    return (
        value.iloc[::-1]
        if value.ndim == 1 or len(value) == 2 == value.shape[1]
        else (value.iloc[:, ::-1])
    )


@pytest.mark.parametrize(("door", "name"), CASES)
def test_another_order_of_labels_is_refused(door: str, name: str) -> None:
    function, given = DOORS[door]
    function(**given)
    table = next(iter(given))
    with pytest.raises(ValueError, match=rf"^{name}: has the labels of {table}.* another order"):
        function(**given | {name: other_order(given[name])})


@pytest.mark.parametrize("name", ["Sigma", "columns of Sigma"])
def test_both_axes_of_a_matrix_count(name: str) -> None:
    wrong = S[FEATURES[::-1]] if name == "columns of Sigma" else S.iloc[::-1]
    with pytest.raises(ValueError, match=r"^Sigma: .* 'price' in place of 'size' at index 0"):
        LinearBandit(X, C, wrong)


def test_replications_are_labelled_by_their_columns() -> None:
    both = pd.DataFrame([V, 2 * V])
    plain = speedlib.information_matrix(P, X, both)
    np.testing.assert_array_equal(plain, speedlib.information_matrix(P, X, both.to_numpy()))
    with pytest.raises(ValueError, match=r"^variances: has the labels of features"):
        speedlib.information_matrix(P, X, both[NAMES[::-1]])


@pytest.mark.parametrize(
    "policy",
    [
        P.tolist(),
        P.to_numpy()[::-1],
        P.reset_index(drop=True),
        P.rename({"red": "rot"})[::-1],
        pd.Series(P.to_numpy(), ["red", "red", "blue", "grey"]),
    ],
    ids=["list", "array", "numbered", "other names", "a name twice"],
)
def test_what_does_not_have_these_labels_is_taken_by_place(policy: Any) -> None:
    got = speedlib.target_direction(X, policy)
    np.testing.assert_array_equal(got, speedlib.target_direction(X.to_numpy(), np.array(policy)))


def test_a_shuffled_table_is_not_taken_by_place() -> None:
    shuffled = MANY.sample(frac=1, random_state=2)
    with pytest.raises(ValueError, match=r"^y: has the labels of X in another order"):
        speedlib.fit_environment(shuffled, Y)
    assert speedlib.fit_environment(shuffled, Y[shuffled.index]).bandit.d == 2
