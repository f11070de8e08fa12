"""Sizes beyond 1e-60 and 1e60 are refused at every door; within, units count for nothing."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import warnings
from fractions import Fraction

import numpy as np
import pytest

import speedlib
from speedlib import (
    SPEED,
    LinearBandit,
    Oracle,
    Rewards,
    design_efficiency,
    estimate_covariance,
    estimation_cost,
    fit_environment,
    identifiability,
    information_matrix,
    least_squares,
    motivating_example,
    one_hot,
    optimal_design,
    pe_loss,
    policy_value,
    target_direction,
)
from speedlib.bandit import quadratic_form
from speedlib.comparison import by_variance
from speedlib.criteria import criterion_value
from speedlib.designs import CRITERIA
from speedlib.environments import threshold_policy
from speedlib.estimators import conditional_variance, value_coefficients
from speedlib.exploration import exploration_design, identifiable_design, pca_directions
from speedlib.fitting import calibration, fit_model, fit_variances, prepare_table
from speedlib.identification import quadratic_coordinates
from speedlib.psd import fit_psd
from speedlib.slopes import fitted_slope, log_slope
from speedlib.solvers.batch import pe_designs
from speedlib.solvers.batch_smooth import smooth_designs
from speedlib.solvers.elfving import elfving_design
from speedlib.solvers.exchange import exchange_design
from speedlib.solvers.multiplicative import multiplicative_design

RNG = np.random.default_rng(12)
X = RNG.uniform(0.1, 1, (9, 3)) * RNG.choice([-1, 1], (9, 3))
V, C, Y = RNG.uniform(0.1, 1, (3, 9))
C = C[:3]
ROOT = RNG.standard_normal((3, 2))
K = ROOT @ ROOT.T
B = RNG.dirichlet(np.ones(9))
REWARDS = LinearBandit(X, [1.0, 2.0, 3.0], variances=V).pull([20] * 9, np.random.default_rng(1))


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


# --- the rule -----------------------------------------------------------------------------------

#: Every door with arguments that it lets in; those to be tried are named.
DOORS = {
    "SPEED.begin": lambda features=X: SPEED().begin(features, B, 100, rng=0),
    "Oracle.begin": lambda features=X, variances=V: Oracle().begin(
        features, B, 100, rng=0, variances=variances
    ),
    "LinearBandit": lambda features=X, variances=V: LinearBandit(
        features, np.ones(3), variances=variances
    ),
    "LinearBandit with Sigma": lambda Sigma=K: LinearBandit(X, np.ones(3), Sigma=Sigma),
    "calibration": lambda variances=V: calibration(variances, V, 2),
    "design_efficiency": lambda features=X, variances=V, direction=C: design_efficiency(
        B, features, variances, direction=direction
    ),
    "design_efficiency with K": lambda features=X, variances=V, matrix=K: design_efficiency(
        B, features, variances, "linear", matrix=matrix
    ),
    "elfving_design": lambda features=X, variances=V, direction=C: elfving_design(
        features, variances, direction
    ),
    "estimate_covariance": lambda features=X: estimate_covariance(REWARDS, features),
    "estimation_cost": lambda features=X, variances=V: estimation_cost(features, variances, B, B),
    "exchange_design": lambda points=X, matrix=K: exchange_design(points, "linear", matrix=matrix),
    "exploration_design": lambda features=X: exploration_design("uniform", features, RNG),
    "fit_environment": lambda X=X, y=Y: fit_environment(X, y, n_low=2),
    "fit_model": lambda X=X, y=Y: fit_model(X, y),
    "fit_variances": lambda X=X: fit_variances(X, V),
    "fitted_slope": lambda y=Y: fitted_slope(np.arange(9.0), y),
    "identifiability": lambda features=X: identifiability(features, B),
    "identifiable_design": lambda features=X: identifiable_design(features),
    "information_matrix": lambda features=X, variances=V: information_matrix(
        B, features, variances
    ),
    "least_squares": lambda features=X, variances=V: least_squares(REWARDS, features, variances),
    "log_slope": lambda y=V: log_slope(np.arange(1.0, 10.0), y),
    "motivating_example": lambda variances=V[:2]: motivating_example(variances=variances),
    "multiplicative_design": lambda points=X, matrix=K: multiplicative_design(
        points, "linear", matrix=matrix
    ),
    "one_hot": lambda variances=V: one_hot(B, variances),
    "optimal_design": lambda features=X, variances=V, direction=C: optimal_design(
        features, variances, direction=direction
    ),
    "optimal_design with K": lambda features=X, variances=V, matrix=K: optimal_design(
        features, variances, "linear", matrix=matrix
    ),
    "pca_directions": lambda features=X: pca_directions(features),
    "conditional_variance": lambda variances=V: conditional_variance(B, [1] * 9, variances),
    "fit_psd": lambda features=X: fit_psd(
        X, np.full(9, 1 / 3), V, features, start=K, max_iterations=10
    ),
    "quadratic_coordinates": lambda features=X: quadratic_coordinates(features),
    "quadratic_form": lambda features=X: quadratic_form(features, K),
    "pe_designs": lambda features=X, variances=V[None], direction=C: pe_designs(
        features, variances, direction
    ),
    "pe_loss": lambda features=X, variances=V, direction=C: pe_loss(
        B, features, variances, direction=direction
    ),
    "policy_value": lambda features=X, direction=C, variances=V: policy_value(
        REWARDS, features, direction, variances
    ),
    "by_variance": lambda variances=V: by_variance({"a": B}, variances, 2),
    "prepare_table": lambda X=X, y=Y: prepare_table(X, y),
    "smooth_designs": lambda features=X, variances=V[None]: smooth_designs(
        features, variances, "A"
    ),
    "target_direction": lambda features=X: target_direction(features, B),
    "threshold_policy": lambda variances=V: threshold_policy(variances, 2, 0.1),
    "value_coefficients": lambda features=X, variances=V, direction=C: value_coefficients(
        REWARDS.counts, features, variances, direction
    ),
}
ARGUMENTS = [
    (door, name) for door, call in DOORS.items() for name in inspect.signature(call).parameters
]


@pytest.mark.parametrize(("door", "name"), ARGUMENTS)
@pytest.mark.parametrize("size", [1e-300, 5e-61, 2e61, 1e300])
def test_sizes_beyond_the_range_are_refused_by_name(door: str, name: str, size: float) -> None:
    call = DOORS[door]
    call()
    given = inspect.signature(call).parameters[name].default
    with pytest.raises(ValueError, match=rf"^{name}: .*between 1e-60 and 1e\+60 in size; got "):
        call(**{name: given / np.abs(given).max() * size})


def test_no_door_is_forgotten() -> None:
    """What takes an array that may be anything, and is not a check itself, is tried above."""
    names = {"features", "variances", "Sigma", "matrix", "direction", "points", "X", "y"}
    found = set()
    for module in pkgutil.walk_packages(speedlib.__path__, "speedlib."):
        if module.name == "speedlib.checks":
            continue
        for name, part in vars(importlib.import_module(module.name)).items():
            if inspect.isfunction(part) and part.__module__ == module.name and name[0] != "_":
                parameters = inspect.signature(part).parameters.items()
                found |= {(name, key) for key, value in parameters if "ArrayLike" in str(value)}
    # What it is given has been checked, but for policy and direction, which it checks itself.
    found -= {("chosen_direction", "direction"), ("columns_of", "direction")}
    # What `optimal_design` and `Strategy.begin` pass on as they got it.
    found -= {(name, key) for name, key in found if name in ("target_of", "make_setting")}
    # Bounded from above only, since there is no unit in which they are divided: test_arguments.
    found -= {("quadratic_features", "features"), ("quadratic_form", "matrix")}
    found -= {("fit_psd", "points")}
    tried = {(door.split(" ")[0], name) for door, name in ARGUMENTS}
    assert {each for each in found if each[1] in names} <= tried


def test_a_policy_that_asks_for_next_to_nothing_is_refused() -> None:
    x, v, policy = np.array([[0.0], [1.0]]), np.ones(2), np.array([1.0, 1e-100])
    message = r"^policy @ features: its largest entry must be .* got 1e-100$"
    for call in (
        lambda: optimal_design(x, v, policy=policy),
        lambda: design_efficiency(policy, x, v, policy=policy),
        lambda: pe_loss(policy, x, v, policy=policy),
        lambda: SPEED().begin(x, policy, 100, rng=0),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_a_variance_that_sigma_makes_too_small_or_large_is_refused() -> None:
    for size in (1e-40, 1e40):
        with pytest.raises(
            ValueError, match=r"^Sigma: the variances that it gives must be .* got "
        ):
            LinearBandit(X * size, np.ones(3), Sigma=K)


def test_zeros_and_entries_far_below_the_largest_are_let_in() -> None:
    """In powers of numbers from -1 to 1 there is dust; in a direction it is as harmless."""
    x = np.vander(np.array([-1.0, 1e-25, 0.3, 1.0]), 4)
    assert x[1, 0] < 1e-60
    clean = np.where(np.abs(x) < 1e-20, 0.0, x)
    for c in (x.mean(axis=0), np.array([1.0, 0.0, 0.0, 1e-100])):
        dusty, plain = (optimal_design(each, np.ones(4), direction=c) for each in (x, clean))
        assert dusty.efficiency_bound >= 1 - 1e-9
        assert dusty.weights == pytest.approx(plain.weights, abs=1e-9)
    bandit = LinearBandit(np.eye(2), [1.0, 2.0], Sigma=np.diag([1.0, 0.0]))
    assert bandit.variances.tolist() == [1.0, 0.0]


# --- within it, units count for nothing ----------------------------------------------------------

EDGES = [1e-58, 1.0, 1e60]


def near_one(array: np.ndarray) -> np.ndarray:
    return array / np.abs(array).max()


X1, V1, C1, K1 = X / np.abs(X).max(axis=0), near_one(V), near_one(C), near_one(K)


def target_of(criterion: str, unit: float = 1.0) -> dict:
    if criterion == "PE":
        return {"direction": C1 * unit}
    return {"matrix": K1 * unit} if criterion == "linear" else {}


def scaled(value: float, *powers: tuple[float, int]) -> float:
    """Multiply by powers of floats without overflow, then round once."""
    result = Fraction(value)
    for base, power in powers:
        result *= Fraction(base) ** power
    try:
        return float(result)
    except OverflowError:
        return np.inf


@pytest.mark.slow
@pytest.mark.parametrize(
    ("criterion", "target"),
    [(criterion, target) for criterion in ("PE", "linear") for target in EDGES]
    + [("A", 1.0), ("D", 1.0), ("G", 1.0)],
)
@pytest.mark.parametrize("noise", EDGES)
@pytest.mark.parametrize("size", EDGES)
def test_designs_up_to_the_edge(criterion: str, target: float, size: float, noise: float) -> None:
    plain = optimal_design(X1, V1, criterion, **target_of(criterion))
    moved = target_of(criterion, target)
    other = optimal_design(X1 * size, V1 * noise, criterion, **moved)
    assert other.weights == pytest.approx(plain.weights, abs=2e-6)
    assert other.efficiency_bound == pytest.approx(plain.efficiency_bound, abs=1e-6)
    assert design_efficiency(B, X1 * size, V1 * noise, criterion, **moved) == pytest.approx(
        design_efficiency(B, X1, V1, criterion, **target_of(criterion)), rel=3e-6
    )
    matrix = next(iter(moved.values()), None)
    value = criterion_value(criterion, B, X1 * size, V1 * noise, matrix)
    plainly = next(iter(target_of(criterion).values()), None)
    one = criterion_value(criterion, B, X1, V1, plainly)
    if criterion == "D":
        shift = 6 * np.log(size) - 3 * np.log(noise)
        assert other.value == pytest.approx(plain.value + shift, rel=1e-6)
        assert value == pytest.approx(one + shift, rel=1e-9)
    else:
        powers = {"PE": (-2, 1, 2), "A": (-2, 1, 0), "G": (0, 0, 0), "linear": (-2, 1, 1)}
        units = list(zip((size, noise, target), powers[criterion], strict=True))
        assert other.value == pytest.approx(scaled(plain.value, *units), rel=3e-6)
        assert value == pytest.approx(scaled(one, *units), rel=1e-9)
    reach = (X1 * size) @ np.reshape(other.dual, (3, -1))
    deviations = np.ones(9) if criterion == "G" else np.sqrt(V1 * noise)
    assert (np.linalg.norm(reach / deviations[:, None], axis=1)).max() == pytest.approx(1, rel=1e-5)


@pytest.mark.parametrize("noise", EDGES)
@pytest.mark.parametrize("size", EDGES)
def test_batches_up_to_the_edge(size: float, noise: float) -> None:
    rows = np.array([V1, V1[::-1]])
    for target in EDGES:
        plain, other = pe_designs(X1, rows, C1), pe_designs(X1 * size, rows * noise, C1 * target)
        assert other.weights == pytest.approx(plain.weights, abs=1e-9)
        units = (size, -2), (noise, 1), (target, 2)
        expected = [scaled(value, *units) for value in plain.values]
        assert other.values == pytest.approx(expected, rel=1e-9)
    for criterion in "AD":
        plain = smooth_designs(X1, rows, criterion)
        other = smooth_designs(X1 * size, rows * noise, criterion)
        assert other.weights == pytest.approx(plain.weights, abs=2e-6)
        assert (plain.singles, other.singles) == (0, 0)


@pytest.mark.parametrize("target", EDGES)
@pytest.mark.parametrize("noise", EDGES)
@pytest.mark.parametrize("size", EDGES)
def test_losses_of_weights_of_any_sum_up_to_the_edge(size, noise, target) -> None:
    weights = np.array([[1e-300], [1e-6], [1.0], [1e250]]) * B
    losses = pe_loss(weights, X1 * size, V1 * noise, direction=C1 * target)
    one = pe_loss(B, X1, V1, direction=C1)
    units = (size, -2), (noise, 1), (target, 2)
    expected = [scaled(one, *units, (sum_, -1)) for sum_ in (1e-300, 1e-6, 1.0, 1e250)]
    assert losses == pytest.approx(expected, rel=1e-9)
    short = np.eye(9)[0] * 1e-9 + np.eye(9)[1]
    assert pe_loss(short, X1 * size, V1 * noise, direction=C1 * target) == np.inf


@pytest.mark.parametrize("noise", EDGES)
@pytest.mark.parametrize("size", EDGES)
def test_estimates_up_to_the_edge(size: float, noise: float) -> None:
    theta = least_squares(REWARDS, X1, V1)
    assert least_squares(REWARDS, X1 * size, V1 * noise) * size == pytest.approx(theta, rel=1e-9)
    plain = policy_value(REWARDS, X1, C1, V1)
    for target in EDGES:
        other = policy_value(REWARDS, X1 * size, C1 * target, V1 * noise)
        unit = target / size
        assert other.value / unit == pytest.approx(plain.value, rel=1e-9)
        error = other.standard_error / unit / np.sqrt(noise)
        assert error == pytest.approx(plain.standard_error, rel=1e-9)
        assert other.estimable
    assert estimation_cost(X1 * size, V1 * noise, B, B) == pytest.approx(
        estimation_cost(X1, V1, B, B), rel=1e-9
    )
    assert identifiability(X1 * size, B).rank == identifiability(X1, B).rank == 6


@pytest.mark.parametrize("unit", [1e-29, 1e29])
@pytest.mark.parametrize("method", ["lstsq", "psd", "ridge"])
def test_variances_are_learnt_in_any_unit_of_reward(method: str, unit: float) -> None:
    rewards = Rewards(REWARDS.counts, REWARDS.means * unit, REWARDS.scatters * unit**2)
    plain = estimate_covariance(REWARDS, X1, method).variances
    for size in (1e-30, 1.0, 1e30):
        other = estimate_covariance(rewards, X1 * size, method).variances
        assert other / unit**2 == pytest.approx(plain, rel=1e-5)


def test_an_efficiency_is_not_one_because_both_squares_vanish() -> None:
    # The fault that started this: 1e-170 squared is 0, and so was the value of every design.
    for size in (1e-60, 1.0, 1e60):
        assert design_efficiency(
            [0.9, 0.1], np.eye(2), [1, 1], direction=[size, size]
        ) == pytest.approx(0.36, rel=1e-12)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_features_in_unlike_units(criterion: str) -> None:
    units = np.array([1e-58, 1.0, 1e58])
    target = {"PE": {"direction": C1 * units}}.get(criterion, target_of(criterion))
    plain = optimal_design(X1, V1, criterion, **target_of(criterion))
    other = optimal_design(X1 * units, V1, criterion, **target)
    if criterion in ("A", "linear"):
        assert other.efficiency_bound >= 1 - 1e-6 and other.value > 1e110
    else:
        assert other.weights == pytest.approx(plain.weights, abs=1e-5)


# --- a feature that next to nothing is left of ----------------------------------------------------


@pytest.mark.parametrize("dust", [1e-309, 5e-324, 1e-300, 1e-200])
def test_a_design_that_sees_a_feature_as_dust_alone_is_useless(dust: float) -> None:
    features, direction = [[1.0, dust], [0.0, 1.0]], [0.0, 1.0]
    assert pe_loss([1.0, 0.0], features, [1, 1], direction=direction) == np.inf
    assert design_efficiency([1.0, 0.0], features, [1, 1], direction=direction) == 0.0
    losses = pe_loss([[1.0, 0.0], [0.0, 1.0]], features, [1, 1], direction=direction)
    assert losses == pytest.approx([np.inf, 1.0])
    for criterion in ("A", "D", "G"):
        assert design_efficiency([1.0, 0.0], features, [1, 1], criterion) == 0.0


@pytest.mark.parametrize("dust", [1e-100, 1e-140])
def test_a_loss_within_the_range_of_floats_is_right(dust: float) -> None:
    features, direction = [[dust, 0.0], [1.0, 0.0], [0.0, 1.0]], [1.0, 0.0]
    loss = pe_loss([0.5, 0.0, 0.5], features, [1, 1, 1], direction=direction)
    assert loss == pytest.approx(2 / dust**2, rel=1e-12)


# --- replications that do not fit -----------------------------------------------------------------


def test_replications_that_do_not_fit_are_named() -> None:
    rows, many = np.stack([V, V, V]), np.tile(B, (2, 1))
    for call in (
        lambda: policy_value(REWARDS, X, C, rows),
        lambda: least_squares(REWARDS, X, rows),
        lambda: value_coefficients(REWARDS.counts, X, rows, C),
        lambda: pe_loss(many, X, rows, direction=C),
        lambda: information_matrix(many, X, rows),
    ):
        with pytest.raises(ValueError, match=r"^variances: expected one row for all replications"):
            call()
    with pytest.raises(ValueError, match=r"^weights: expected one row"):
        policy_value(REWARDS, X, C, V, weights=rows)
    with pytest.raises(ValueError, match=r"^(design|exploration): expected one row"):
        estimation_cost(X, rows, many, B)
