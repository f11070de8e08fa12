"""The paper's environments, and environments fitted to tables."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from speedlib.bandit import LinearBandit
from speedlib.designs import optimal_design, pe_loss
from speedlib.environments import (
    Environment,
    fit_environment,
    fit_model,
    high_dimensional_ball,
    motivating_example,
    one_hot,
    prepare_table,
    threshold_policy,
    unit_ball,
)

from .per_round import weighted_least_squares

# --- the unit ball ------------------------------------------------------------------------------


def test_unit_ball_by_hand() -> None:
    environment = unit_ball()
    angles = np.deg2rad([0, 90, 15, 30, 45])
    assert environment.bandit.features == pytest.approx(
        np.column_stack([np.cos(angles), np.sin(angles)]), abs=1e-15
    )
    assert environment.bandit.features[1, 0] == 0.0
    assert environment.bandit.theta.tolist() == [1.0, 0.0]
    assert environment.bandit.Sigma.tolist() == [[0.05, 0.0], [0.0, 0.35]]
    assert environment.policy == pytest.approx([0.8, 0.1, 0.1 / 3, 0.1 / 3, 0.1 / 3])
    variances = 0.05 * np.cos(angles) ** 2 + 0.35 * np.sin(angles) ** 2
    assert environment.bandit.variances == pytest.approx(variances)
    assert environment.value == pytest.approx(0.8 + 0.1 / 3 * np.cos(angles[2:]).sum())


@pytest.mark.parametrize(
    ("n_actions", "others"),
    [(3, [30]), (4, [15, 45]), (5, [15, 30, 45]), (10, np.linspace(15, 45, 8))],
)
def test_unit_ball_of_any_size(n_actions: int, others: list[float]) -> None:
    environment = unit_ball(n_actions)
    x = environment.bandit.features
    assert np.rad2deg(np.arctan2(x[2:, 1], x[2:, 0])) == pytest.approx(others)
    assert np.linalg.norm(x, axis=1) == pytest.approx(np.ones(n_actions))
    assert environment.policy[:2].tolist() == [0.8, 0.1]
    assert environment.policy[2:] == pytest.approx(np.full(n_actions - 2, 0.1 / (n_actions - 2)))


def test_unit_ball_options() -> None:
    environment = unit_ball(
        4,
        low_variance=0.2,
        high_variance=0.9,
        optimal_probability=0.5,
        informative_probability=0.3,
        noise="laplace",
    )
    assert environment.bandit.variances[:2] == pytest.approx([0.2, 0.9])
    assert environment.policy == pytest.approx([0.5, 0.3, 0.1, 0.1])
    assert environment.bandit.noise == "laplace"


def test_losses_of_the_designs_in_the_unit_ball() -> None:
    """n times the loss of the designs with five actions, each design by its equivalence theorem."""
    environment = unit_ball()
    x, v = environment.bandit.features, environment.bandit.variances
    sigma = np.sqrt(v)
    c = environment.policy @ x

    def loss(weights: np.ndarray) -> float:
        return pe_loss(weights, x, v, policy=environment.policy)

    def worst(points: np.ndarray, weights: np.ndarray, power: int) -> float:
        inverse = np.linalg.inv((points.T * weights) @ points)
        powers = np.linalg.matrix_power(inverse, power)
        return float(np.einsum("ai,ij,aj->a", points, powers, points).max())

    # Oracle: of all pairs, the one whose |w1| sigma1 + |w2| sigma2 is least, where w X = c.
    pairs = [list(pair) for pair in combinations(range(5), 2)]
    norms = [np.abs(np.linalg.solve(x[pair].T, c)) @ sigma[pair] for pair in pairs]
    assert min(norms) ** 2 == pytest.approx(0.0510, abs=5e-5)
    design = optimal_design(x, v, policy=environment.policy)
    assert design.value == pytest.approx(min(norms) ** 2)
    assert design.support.tolist() == pairs[int(np.argmin(norms))]
    assert loss(environment.policy) == pytest.approx(0.0846, abs=5e-5)
    # D on x and on x / sigma (G on x): half on each of the two orthogonal actions.
    half = np.array([0.5, 0.5, 0.0, 0.0, 0.0])
    assert worst(x, half, 1) == pytest.approx(2.0)
    assert worst(x / sigma[:, None], half, 1) == pytest.approx(2.0)
    assert loss(half) == pytest.approx(0.09377, abs=5e-6)
    # A on x / sigma: proportional to sigma on the two, with trace (sigma_0 + sigma_1)^2.
    shares = np.array([sigma[0], sigma[1], 0.0, 0.0, 0.0]) / (sigma[0] + sigma[1])
    assert worst(x / sigma[:, None], shares, 2) == pytest.approx((sigma[0] + sigma[1]) ** 2)
    assert loss(shares) == pytest.approx(0.1533, abs=5e-5)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n_actions": 2}, ValueError, "n_actions.*at least 3.*2"),
        ({"n_actions": 5.0}, TypeError, "n_actions.*whole number.*5.0"),
        ({"low_variance": 0.0}, ValueError, r"low_variance.*greater than 0.*got 0"),
        ({"high_variance": -1.0}, ValueError, r"high_variance.*greater than 0.*-1"),
        ({"optimal_probability": 0.95}, ValueError, "optimal_probability.*at most 1.*0.95"),
        ({"noise": "pink"}, ValueError, "noise.*'gaussian'.*pink"),
    ],
)
def test_bad_unit_balls_are_refused(arguments: dict, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        unit_ball(**arguments)


# --- one-hot ------------------------------------------------------------------------------------


def test_one_hot_environment() -> None:
    environment = one_hot([0.5, 0.3, 0.2], [1.0, 4.0, 9.0], noise="rademacher")
    assert environment.bandit.features.tolist() == np.eye(3).tolist()
    assert environment.bandit.variances.tolist() == [1.0, 4.0, 9.0]
    assert environment.value == 0.0
    assert environment.bandit.noise == "rademacher"
    design = optimal_design(
        environment.bandit.features, environment.bandit.variances, policy=environment.policy
    )
    # pi sigma = (.5, .6, .6)
    assert design.value == pytest.approx(1.7**2)
    assert design.weights == pytest.approx(np.array([0.5, 0.6, 0.6]) / 1.7)


def test_one_hot_checks_the_policy() -> None:
    with pytest.raises(ValueError, match=r"policy.*\(2,\).*\(3,\)"):
        one_hot([0.5, 0.3, 0.2], [1.0, 4.0])


def test_one_hot_checks_the_variances() -> None:
    with pytest.raises(ValueError, match=r"variances.*-4"):
        one_hot([0.5, 0.5], [1.0, -4.0])


def test_environments_check_their_policy() -> None:
    bandit = LinearBandit(np.eye(2), [1.0, 0.0], Sigma=np.eye(2))
    with pytest.raises(ValueError, match=r"policy.*sum to 1.*0.9"):
        Environment("x", bandit, [0.5, 0.4])  # type: ignore[arg-type]
    assert Environment("x", bandit, [0.25, 0.75]).value == 0.25  # type: ignore[arg-type]


# --- tables -------------------------------------------------------------------------------------


def table(rows: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.gamma(3.0, size=(rows, 3)) * [1.0, 20.0, 0.1] + [0.0, 5.0, 1.0]
    return X, X @ [1.0, 0.1, 2.0] + rng.normal(size=rows)


def test_preparations() -> None:
    X, y = table(50)
    raw, same_y = prepare_table(X, y, "raw")
    assert np.array_equal(raw, X)
    assert np.array_equal(same_y, y)
    scaled, same_y = prepare_table(X, y)
    assert scaled == pytest.approx(X / X.std(axis=0))
    assert np.array_equal(same_y, y)
    centred, centred_y = prepare_table(X, y, "centre")
    assert centred == pytest.approx((X - X.mean(axis=0)) / X.std(axis=0))
    assert centred.mean(axis=0) == pytest.approx(np.zeros(3), abs=1e-12)
    assert centred.std(axis=0) == pytest.approx(np.ones(3))
    assert centred_y == pytest.approx(y - y.mean())


@pytest.mark.parametrize(
    ("X", "y", "preprocessing", "message"),
    [
        ([[1.0, 5.0], [2.0, 5.0]], [1.0, 2.0], "scale", "X.*column 1 is constant"),
        ([[0.1, 5.0], [0.1, 6.0]], [1.0, 2.0], "centre", "X.*column 0 is constant"),
        ([[1.0], [2.0]], [1.0], "scale", r"y.*\(2,\).*\(1,\)"),
        ([[1.0], [2.0]], [1.0, np.nan], "scale", "y.*finite.*nan"),
        ([[1.0], [np.inf]], [1.0, 2.0], "scale", "finite.*inf"),
        ([[1.0], [2.0]], [1.0, 2.0], "whiten", "preprocessing.*'scale'.*whiten"),
    ],
)
def test_bad_tables_are_refused(X: object, y: object, preprocessing: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        prepare_table(X, y, preprocessing)  # type: ignore[arg-type]


def test_a_constant_feature_may_stay_as_it_is() -> None:
    X, _ = prepare_table([[1.0, 5.0], [2.0, 5.0]], [1.0, 2.0], "raw")
    assert X.tolist() == [[1.0, 5.0], [2.0, 5.0]]


@pytest.mark.parametrize("function", [prepare_table, fit_model])
def test_complaints_about_a_table_name_its_argument(function: object) -> None:
    with pytest.raises(ValueError, match=r"^X:"):
        function([1.0, 2.0], [1.0, 2.0])  # type: ignore[operator]


# --- fitting ------------------------------------------------------------------------------------

PLANTED = np.array([[0.8, 0.3, 0.0], [0.3, 0.5, -0.2], [0.0, -0.2, 0.6]])


def planted(
    rows: int, seed: int, noise: str = "gaussian", Sigma: np.ndarray = PLANTED
) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    bandit = LinearBandit(rng.normal(size=(rows, 3)), [1.0, -2.0, 0.5], Sigma=Sigma, noise=noise)
    return bandit.features, bandit.pull_each(np.arange(rows), rng)


@pytest.mark.slow
def test_fit_recovers_a_planted_model() -> None:
    X, y = planted(40_000, 2)
    fit = fit_model(X, y)
    # Weighted least squares is about as exact as its information says.
    variances = np.einsum("ai,ij,aj->a", X, PLANTED, X)
    errors = np.sqrt(np.diag(np.linalg.inv((X.T / variances) @ X)))
    assert np.all(np.abs(fit.theta - [1.0, -2.0, 0.5]) < 5 * errors)
    assert fit.Sigma == pytest.approx(PLANTED, abs=0.06)
    assert fit.variances == pytest.approx(np.einsum("ai,ij,aj->a", X, fit.Sigma, X))
    assert fit.residual_variance == pytest.approx(np.mean((y - X @ fit.theta) ** 2))


def test_fit_of_coins_recovers_sigma_more_exactly() -> None:
    """Rademacher residuals have squares without noise, so that Sigma is nearly exact."""
    X, y = planted(4000, 3, "rademacher")
    assert fit_model(X, y).Sigma == pytest.approx(PLANTED, abs=0.02)


@pytest.mark.parametrize("rank", [1, 3])
def test_fit_is_a_fixed_point_of_the_alternation(rank: int) -> None:
    """Theta is the weighted least-squares estimate for the fitted variances, and Sigma minus its
    floor meets the optimality conditions of the semidefinite regression on those residuals."""
    v = np.array([1.0, 2.0, -1.0])
    X, y = planted(300, 4, Sigma=PLANTED if rank == 3 else np.outer(v, v))
    floor = 0.05
    fit = fit_model(X, y, variance_floor=floor, tolerance=1e-10)
    assert fit.theta == pytest.approx(weighted_least_squares(X, y, fit.variances), rel=1e-6)
    squares = (y - X @ fit.theta) ** 2
    base = np.linalg.inv(X.T @ X / 300) * floor * squares.mean() / 3
    S = fit.Sigma - base
    misses = np.einsum("ai,ij,aj->a", X, fit.Sigma, X) - squares
    G = (X.T * misses) @ X / 300
    scale = np.sqrt(np.mean(squares**2))
    eigenvalues = np.linalg.eigvalsh(S)
    assert eigenvalues[0] > -1e-9 * scale
    # The floor is reached where the data show one direction only.
    assert (eigenvalues[0] < 1e-6 * scale) == (rank == 1)
    assert np.linalg.eigvalsh(G)[0] > -1e-6 * scale
    assert abs(np.sum(G * S)) < 1e-6 * scale**2


@pytest.mark.slow
def test_mean_fitted_variance_is_near_the_residual_variance() -> None:
    """On every fourth red wine; clipping an unconstrained fit gives a median ten times as large."""
    path = Path(__file__).parents[2] / "data" / "winequality-red.csv"
    table = np.genfromtxt(path, delimiter=";", skip_header=1)[::4]
    X, y = prepare_table(table[:, :-1], table[:, -1], "centre")
    fit = fit_model(X, y)
    assert fit.residual_variance == pytest.approx(0.44, abs=0.03)
    assert fit.variances.mean() == pytest.approx(fit.residual_variance, rel=0.1)
    assert 0.1 < np.median(fit.variances) < 0.5
    assert np.all(fit.variances > 0)
    assert fit.iterations < 100


def test_floor_of_the_fit_holds_row_by_row() -> None:
    """No variance falls below its share of floor x'M^-1 x / d, whatever the residuals."""
    X, y = planted(200, 7)
    for floor in (0.01, 0.5):
        fit = fit_model(X, y, variance_floor=floor)
        leverage = np.einsum("ai,ij,aj->a", X, np.linalg.inv(X.T @ X / 200), X)
        assert leverage.mean() == pytest.approx(3.0)
        smallest = floor * fit.residual_variance * leverage / 3
        assert np.all(fit.variances >= smallest * (1 - 1e-6))


def test_fit_does_not_depend_on_units() -> None:
    X, y = planted(300, 8)
    units = np.array([1.0, 100.0, 0.01])
    one, other = fit_model(X, y), fit_model(X * units, 10 * y)
    assert other.theta * units == pytest.approx(10 * one.theta, rel=1e-4)
    assert other.variances == pytest.approx(100 * one.variances, rel=1e-3)


def test_iterations_are_counted_and_limited() -> None:
    X, y = planted(200, 10)
    assert fit_model(X, y, max_iterations=1).iterations == 1
    assert fit_model(X, y, max_iterations=1).theta == pytest.approx(
        np.linalg.lstsq(X, y, rcond=None)[0]
    )
    full = fit_model(X, y)
    assert 1 < full.iterations < 100


@pytest.mark.parametrize("floor", [0.0, 1.0, -0.5, np.nan])
def test_bad_floors_are_refused(floor: float) -> None:
    with pytest.raises(ValueError, match=f"variance_floor.*between 0 and 1.*{floor}"):
        fit_model(*planted(20, 11), variance_floor=floor)


@pytest.mark.parametrize(
    ("X", "y"), [([[1.0], [2.0]], [1.0, 2.0]), ([[1.0], [2.0], [0.0]], [1.1, 2.0, 0.1])]
)
def test_perfect_fits_and_empty_rows_are_no_trouble(X: list, y: list) -> None:
    fit = fit_model(X, y)
    assert np.all(np.isfinite(fit.theta))
    assert fit.theta == pytest.approx([1.0], abs=0.1)


# --- the policy of the data experiments ---------------------------------------------------------


def test_threshold_policy_by_hand() -> None:
    policy = threshold_policy([3.0, 1.0, 5.0, 2.0, 4.0], n_low=2, low_probability=0.1)
    assert policy == pytest.approx([0.3, 0.3, 0.05, 0.3, 0.05])
    assert policy.sum() == pytest.approx(1.0, abs=1e-12)


def test_threshold_policy_at_its_edges() -> None:
    assert threshold_policy([1.0, 2.0], 1, 0.0).tolist() == [1.0, 0.0]
    assert threshold_policy([1.0, 2.0], 1, 1.0).tolist() == [0.0, 1.0]
    # Equal variances: the first ones are low.
    assert threshold_policy([1.0, 1.0, 1.0], 1, 0.2).tolist() == [0.2, 0.4, 0.4]


@pytest.mark.parametrize(
    ("variances", "n_low", "probability", "error", "message"),
    [
        ([1.0, 2.0], 2, 0.1, ValueError, "n_low.*less than the 2 actions.*2"),
        ([1.0, 2.0], 0, 0.1, ValueError, "n_low.*at least 1.*0"),
        ([1.0, 2.0], 1.0, 0.1, TypeError, "n_low.*whole number.*1.0"),
        ([1.0, 2.0], 1, 1.5, ValueError, "low_probability.*between 0 and 1.*1.5"),
        ([1.0, 2.0], 1, np.nan, ValueError, "low_probability.*between 0 and 1.*nan"),
        ([1.0, np.inf], 1, 0.1, ValueError, "variances.*finite.*inf"),
    ],
)
def test_bad_threshold_policies_are_refused(
    variances: list, n_low: object, probability: float, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        threshold_policy(variances, n_low, probability)  # type: ignore[arg-type]


# --- all together -------------------------------------------------------------------------------


def test_fit_environment_is_the_sum_of_its_parts() -> None:
    X, y = table(120)
    environment = fit_environment(
        X, y, n_low=20, low_probability=0.02, preprocessing="centre", noise="uniform", name="mine"
    )
    prepared, target = prepare_table(X, y, "centre")
    fit = fit_model(prepared, target)
    assert environment.name == "mine"
    assert environment.bandit.noise == "uniform"
    assert environment.bandit.features == pytest.approx(prepared)
    assert environment.bandit.theta == pytest.approx(fit.theta)
    assert environment.bandit.Sigma == pytest.approx(fit.Sigma)
    assert environment.policy == pytest.approx(threshold_policy(fit.variances, 20, 0.02))
    low = environment.policy < 0.005
    assert low.sum() == 20
    assert environment.bandit.variances[low].min() >= environment.bandit.variances[~low].max()


def test_preprocessing_matters_and_is_scaled_by_default() -> None:
    X, y = table(120)
    default = fit_environment(X, y, n_low=20)
    for preprocessing, equal in (("scale", True), ("centre", False), ("raw", False)):
        other = fit_environment(X, y, n_low=20, preprocessing=preprocessing)
        assert np.allclose(default.bandit.features, other.bandit.features) == equal


def test_fit_environment_needs_more_rows_than_low_actions() -> None:
    X, y = table(40)
    with pytest.raises(ValueError, match=r"n_low.*less than the 40 actions.*40"):
        fit_environment(X, y)


def test_the_motivating_example_is_that_of_the_paper() -> None:
    """One action along x, one along y, 98 along the diagonal; .9 and a tenth shared by the rest."""
    environment = motivating_example()
    x, bandit = environment.bandit.features, environment.bandit
    assert x.shape == (100, 2)
    assert x[:2].tolist() == [[1, 0], [0, 1]]
    assert x[2:] == pytest.approx(np.full((98, 2), 2**-0.5))
    assert environment.policy[0] == 0.9
    assert environment.policy[1:] == pytest.approx(np.full(99, 0.1 / 99))
    assert bandit.variances[:3] == pytest.approx([0.05, 0.35, 0.2])
    assert environment.value == pytest.approx(0.9 + 9.8 / 99 * 2**-0.5)


def test_equal_variances_leave_on_policy_little_to_lose_in_the_motivating_example() -> None:
    """On-policy .99966 against the oracle's .99882 (times the variance), by hand for d = 2."""
    environment = motivating_example(variances=(1.0, 1.0))
    x, policy = environment.bandit.features, environment.policy
    c = policy @ x
    inverse = np.linalg.inv((x.T * policy) @ x)
    best = min(
        np.abs(np.linalg.solve(x[list(pair)].T, c)).sum() ** 2 for pair in ((0, 1), (0, 2), (1, 2))
    )
    assert c @ inverse @ c == pytest.approx(0.99966, abs=1e-5)
    assert best == pytest.approx(0.99882, abs=1e-5)


@pytest.mark.parametrize("d", [2, 3, 15])
def test_balls_in_more_dimensions_have_three_groups_of_unit_vectors(d: int) -> None:
    environment = high_dimensional_ball(d, seed=4)
    x, policy = environment.bandit.features, environment.policy
    assert x.shape == (d**2 + 20, d)
    assert np.linalg.norm(x, axis=1) == pytest.approx(1)
    assert x[:d].tolist() == np.eye(d).tolist()
    angles = np.rad2deg(np.arccos(x[d:, 0]))
    assert angles == pytest.approx(np.linspace(15, 45, len(angles)))
    assert (policy[0], policy[1:d].sum(), policy[d:].sum()) == pytest.approx((0.8, 0.1, 0.1))
    assert environment.bandit.variances[:d] == pytest.approx([0.05] + [0.35] * (d - 1))
    assert environment.bandit.features.tolist() == x.tolist()
    assert high_dimensional_ball(d, seed=5).bandit.features[d:].tolist() != x[d:].tolist()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: motivating_example(2), "n_actions.*at least 3"),
        (lambda: motivating_example(variances=(1.0, 0.0)), "variances.*greater than 0"),
        (lambda: motivating_example(optimal_probability=1.5), "optimal_probability.*0 and 1.*1.5"),
        (lambda: high_dimensional_ball(1), "dimension.*at least 2"),
        (lambda: high_dimensional_ball(4, 4), "n_actions.*at least 5"),
        (lambda: high_dimensional_ball(3, optimal_probability=0.95), "at most 1.*0.95"),
        (lambda: high_dimensional_ball(3, informative_probability=-0.1), "between 0 and 1.*-0.1"),
    ],
)
def test_bad_examples_and_balls_are_refused(make: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()  # type: ignore[operator]
