"""A valid call of every public function that takes arrays or numbers: where wrong ones are tried.

A door is a function with its arguments as they should be. Random generators are made afresh in each
call, so that results can be compared to the bit.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from speedlib import (
    SPEED,
    AdaptiveNeyman,
    BookedOptimism,
    Environment,
    Limits,
    LinearBandit,
    OnPolicy,
    Oracle,
    Rewards,
    ValueEstimate,
    advise,
    best_exploration_length,
    ceil_counts,
    commit,
    design_efficiency,
    efficient_counts,
    estimate_covariance,
    estimate_saving,
    estimation_cost,
    fit_environment,
    fitted_slope,
    floor_counts,
    high_dimensional_ball,
    identifiability,
    information_matrix,
    least_squares,
    log_slope,
    motivating_example,
    mse_curve,
    one_hot,
    optimal_design,
    pe_loss,
    play,
    policy_value,
    quantile_slope,
    round_design,
    slope_weights,
    target_direction,
    unit_ball,
)
from speedlib.bandit import quadratic_form, standard_noise
from speedlib.comparison import (
    Comparison,
    by_variance,
    compare,
    compare_with_best,
    sample_actions,
    shares,
)
from speedlib.environments import threshold_policy
from speedlib.estimators import conditional_variance, normal_interval, value_coefficients
from speedlib.exploration import (
    check_exploration_length,
    exploration_counts,
    exploration_design,
    exploration_length,
    identifiable_design,
    pca_directions,
)
from speedlib.factorisation import factorise
from speedlib.fitting import calibration, fit_model, fit_variances, prepare_table
from speedlib.identification import quadratic_coordinates
from speedlib.live import advance, read_actions, read_log
from speedlib.measurements import read_measurements
from speedlib.psd import fit_psd
from speedlib.quadratic import matrix_to_svec, quadratic_features, svec_to_matrix
from speedlib.simulation import conditional_moments
from speedlib.solvers.batch import pe_designs
from speedlib.solvers.batch_smooth import smooth_designs
from speedlib.solvers.elfving import elfving_design
from speedlib.solvers.exchange import exchange_design
from speedlib.solvers.multiplicative import multiplicative_design
from speedlib.trials import Trial

RNG = np.random.default_rng(12)
X = RNG.uniform(0.1, 1, (7, 2)) * RNG.choice([-1, 1], (7, 2))
V, Y = RNG.uniform(0.1, 1, (2, 7))
#: A target that a model explains almost: quick to fit.
Z = np.round(X @ [1.0, -2.0], 1)
C = np.array([0.5, -0.25])
K = np.array([[1.0, 0.25], [0.25, 0.5]])
B = np.array([1, 2, 3, 4, 2, 3, 1]) / 16
T = np.array([5, 3, 0, 8, 4, 2, 6])
THETA = np.array([1.0, -2.0])
BANDIT = LinearBandit(X, THETA, Sigma=K)
REWARDS = BANDIT.pull([20] * 7, np.random.default_rng(1))
EXPLORED = estimate_covariance(REWARDS, X, "psd")
ESTIMATE = policy_value(REWARDS, X, C, V)
CURVES = mse_curve(BANDIT, B, [OnPolicy()], [20, 40, 80], 8, seed=1)
COMMITMENT = commit(
    Oracle().begin(X, B, 20, rng=1, variances=V),
    lambda counts: BANDIT.pull(counts, np.random.default_rng(2)),
)
POINTS = np.stack([X, X[::-1]])
ROOT = np.full((2, 7), np.sqrt(1 / 7))
TARGET = np.stack([V, Y])
ENVIRONMENT = Environment("e", BANDIT, B)
BOTH = [Oracle(), OnPolicy()]
COMPARED = Comparison(
    ("Oracle", "On-policy"),
    np.array([20, 30]),
    np.array([[[2.0, 1.0], [4.0, 3.0]], [[6.0, 2.0], [6.0, 8.0]]]),
    np.ones((2, 2)),
    np.zeros((2, 2)),
)
NAMES = tuple("abcdefg")
FILES = Path(__file__).parents[2] / "data"
ACTIONS, MEASUREMENTS = FILES / "example-actions.csv", FILES / "example-measurements.csv"
TABLE = read_actions(ACTIONS)


class Door(NamedTuple):
    """A call, and its arguments as they should be."""

    call: Callable[..., Any]
    arguments: dict[str, Any]


def fresh() -> np.random.Generator:
    return np.random.default_rng(3)


def pull(counts: np.ndarray) -> Rewards:
    return BANDIT.pull(counts, np.random.default_rng(5))


def started() -> Trial:
    return SPEED(exploration="uniform", rounding="efficient").begin(X, B, 400, rng=1)


def saved() -> dict[str, Any]:
    """A finished experiment, made afresh: what is passed in its place is another."""
    trial = started()
    return {"trial": trial, "rewards": pull(commit(trial, pull).counts)}


def door(call: Callable[..., Any], **arguments: Any) -> Door:
    return Door(call, arguments)


#: Names after a blank tell doors of one function apart.
DOORS: dict[str, Door] = {
    "advise": door(advise, actions=12, dimension=6, rounds=100, noise="known"),
    "LinearBandit": door(LinearBandit, features=X, theta=THETA, Sigma=K, noise="gaussian"),
    "LinearBandit variances": door(
        lambda variances: LinearBandit(X, THETA, variances=variances), variances=V
    ),
    "LinearBandit.value": door(BANDIT.value, policy=B),
    "LinearBandit.pull": door(lambda counts: BANDIT.pull(counts, fresh()), counts=T),
    "LinearBandit.pull rng": door(lambda rng: BANDIT.pull(T, rng), rng=7),
    "LinearBandit.pull_each": door(
        lambda actions: BANDIT.pull_each(actions, fresh()), actions=np.array([0, 3, 6, 3])
    ),
    "quadratic_form": door(quadratic_form, features=X, matrix=K),
    "standard_noise": door(
        lambda law, size: standard_noise(law, size, fresh()), law="laplace", size=4
    ),
    "Rewards": door(Rewards, counts=REWARDS.counts, means=REWARDS.means, scatters=REWARDS.scatters),
    "Rewards.from_log": door(
        Rewards.from_log,
        actions=np.array([0, 2, 2, 1]),
        rewards=np.array([1.0, 3.0, 2.5, 4.0]),
        n_actions=3,
    ),
    "Rewards.none": door(Rewards.none, shape=(2, 3)),
    "Environment": door(
        lambda bandit, policy: Environment("e", bandit, policy), bandit=BANDIT, policy=B
    ),
    "unit_ball": door(
        unit_ball,
        n_actions=6,
        low_variance=0.125,
        high_variance=0.5,
        optimal_probability=0.75,
        informative_probability=0.125,
        noise="gaussian",
    ),
    "motivating_example": door(
        motivating_example, n_actions=6, variances=V[:2], optimal_probability=0.75
    ),
    "high_dimensional_ball": door(
        high_dimensional_ball,
        dimension=2,
        n_actions=6,
        seed=1,
        low_variance=0.125,
        high_variance=0.5,
        optimal_probability=0.75,
        informative_probability=0.125,
    ),
    "one_hot": door(one_hot, policy=B, variances=V),
    "threshold_policy": door(threshold_policy, variances=V, n_low=2, low_probability=0.125),
    "fit_environment": door(
        fit_environment,
        X=X,
        y=Z,
        n_low=2,
        low_probability=0.125,
        preprocessing="scale",
        variance_floor=0.0625,
    ),
    "prepare_table": door(prepare_table, X=X, y=Y, preprocessing="centre"),
    "fit_model": door(
        fit_model, X=X, y=Z, variance_floor=0.0625, tolerance=0.0625, max_iterations=5
    ),
    "fit_variances": door(fit_variances, X=X, squares=V, variance_floor=0.0625),
    "calibration": door(calibration, variances=V, squares=Y, groups=2),
    "target_direction": door(target_direction, features=X, policy=B),
    "information_matrix": door(information_matrix, weights=B, features=X, variances=V),
    "information_matrix batch": door(
        information_matrix, weights=np.stack([B, B[::-1]]), features=X, variances=np.stack([V, Y])
    ),
    "pe_loss": door(pe_loss, weights=B, features=X, variances=V, direction=C),
    "pe_loss policy": door(
        pe_loss, weights=np.stack([B, B[::-1]]), features=X, variances=V, policy=B
    ),
    "optimal_design": door(optimal_design, features=X, variances=V, policy=B, tolerance=0.0625),
    "optimal_design direction": door(
        optimal_design, features=X, variances=V, criterion="PE", direction=C
    ),
    "optimal_design linear": door(
        optimal_design, features=X, variances=V, criterion="linear", matrix=K, tolerance=0.25
    ),
    "optimal_design A": door(
        optimal_design, features=X, variances=V, criterion="A", tolerance=0.25
    ),
    "optimal_design G": door(
        optimal_design, features=X, variances=V, criterion="G", tolerance=0.25
    ),
    "optimal_design costs": door(
        optimal_design, features=X, variances=V, policy=B, costs=Y, tolerance=0.0625
    ),
    "optimal_design limits": door(
        optimal_design,
        features=X,
        variances=V,
        policy=np.stack([B, B[::-1]]),
        importance=np.array([0.25, 0.75]),
        costs=Y,
        least=np.full(7, 0.0625),
        most=np.array([1.0, 0.5, 0.5, 0.25, 1.0, 1.0, 0.25]),
        tolerance=0.0625,
    ),
    "design_efficiency limits": door(
        design_efficiency,
        weights=B,
        features=X,
        variances=V,
        policy=np.stack([B, B[::-1]]),
        importance=np.array([0.25, 0.75]),
        costs=Y,
        least=np.full(7, 0.0625),
        most=np.array([1.0, 0.5, 0.5, 0.25, 1.0, 1.0, 0.25]),
    ),
    "Limits.of": door(
        lambda **given: Limits.of(7, **given).costs, costs=Y, least=B / 2, most=np.full(7, 0.5)
    ),
    "design_efficiency": door(design_efficiency, weights=B, features=X, variances=V, direction=C),
    "design_efficiency A": door(
        design_efficiency, weights=B, features=X, variances=V, criterion="A"
    ),
    "design_efficiency linear": door(
        design_efficiency, weights=B, features=X, variances=V, criterion="linear", matrix=K
    ),
    "design_efficiency policy": door(
        design_efficiency, weights=B, features=X, variances=V, policy=B
    ),
    "elfving_design": door(elfving_design, features=X, variances=V, direction=C),
    "pe_designs": door(
        pe_designs, features=X, variances=np.stack([V, Y]), direction=C, tolerance=0.0625
    ),
    "smooth_designs": door(
        smooth_designs, features=X, variances=np.stack([V, Y]), criterion="A", tolerance=0.0625
    ),
    "exchange_design": door(
        exchange_design, points=X, criterion="linear", matrix=K, tolerance=0.0625, max_rounds=50
    ),
    "multiplicative_design": door(
        multiplicative_design, points=X, criterion="linear", matrix=K, iterations=5
    ),
    "floor_counts": door(floor_counts, weights=B, rounds=50),
    "ceil_counts": door(ceil_counts, weights=np.stack([B, B]), rounds=np.array([50, 70])),
    "efficient_counts": door(efficient_counts, weights=np.stack([B, B]), rounds=np.array([50, 70])),
    "round_design": door(round_design, weights=B, rounds=np.array([50, 70]), rule="efficient"),
    "value_coefficients": door(value_coefficients, counts=T, features=X, variances=V, direction=C),
    "policy_value": door(
        policy_value, rewards=REWARDS, features=X, direction=C, variances=V, weights=Y
    ),
    "least_squares": door(least_squares, rewards=REWARDS, features=X, variances=V),
    "normal_interval": door(
        normal_interval, middle=np.array([1.0, 2.0]), error=np.array([0.5, 0.25]), level=0.875
    ),
    "conditional_variance": door(conditional_variance, coefficients=Y, counts=T, variances=V),
    "ValueEstimate.interval": door(
        ValueEstimate(np.array(2.0), np.array(0.5), np.array(True)).interval, level=0.875
    ),
    "ValueEstimate.interval of Student": door(
        ValueEstimate(np.array(2.0), np.array(0.5), np.array(True), 7.5).interval, level=0.875
    ),
    "estimate_covariance": door(
        estimate_covariance, rewards=REWARDS, features=X, method="ridge", ridge=0.125
    ),
    "CovarianceEstimate.floored": door(EXPLORED.floored, floor=0.125),
    "fit_psd": door(
        fit_psd,
        points=POINTS,
        root=ROOT,
        target=TARGET,
        features=X,
        start=np.stack([K, K]),
        tolerance=0.0625,
        max_iterations=20,
    ),
    "matrix_to_svec": door(matrix_to_svec, S=K),
    "quadratic_features": door(quadratic_features, features=X),
    "svec_to_matrix": door(svec_to_matrix, vector=np.array([1.0, 2.0, 3.0]), d=2),
    "quadratic_coordinates": door(quadratic_coordinates, features=X),
    "identifiability": door(identifiability, features=X, weights=B),
    "factorise": door(
        factorise,
        rows=np.array([0, 0, 1, 1, 2]),
        columns=np.array([0, 1, 0, 2, 2]),
        values=np.array([1.0, 2.0, 3.0, 4.0, 5.0]),
        rank=1,
        ridge=0.125,
        tolerance=0.0625,
        max_iterations=3,
    ),
    "exploration_design": door(
        lambda name, features, replications: exploration_design(
            name, features, fresh(), replications
        ),
        name="pca",
        features=X,
        replications=2,
    ),
    "exploration_counts": door(
        lambda weights, rounds, sampling: exploration_counts(weights, rounds, fresh(), sampling),
        weights=B,
        rounds=30,
        sampling="random",
    ),
    "exploration_length": door(exploration_length, rule="n^0.5", rounds=30),
    "check_exploration_length": door(check_exploration_length, rule=7),
    "identifiable_design": door(identifiable_design, features=X),
    "pca_directions": door(pca_directions, features=X),
    "estimation_cost": door(
        estimation_cost, features=X, variances=V, design=B, exploration=B[::-1].copy(), kappa=0.75
    ),
    "best_exploration_length": door(best_exploration_length, cost=np.array([0.5, 2.0]), rounds=100),
    "mse_curve": door(
        lambda **given: mse_curve(strategies=[OnPolicy()], **given),
        bandit=BANDIT,
        policy=B,
        rounds=np.array([20, 30]),
        replications=4,
        seed=1,
        method="exact",
        n_jobs=1,
    ),
    "MSECurves.slope": door(
        CURVES.slope, strategy=CURVES.strategies[0], low=10, high=100, level=0.875
    ),
    "conditional_moments": door(
        conditional_moments, commitment=COMMITMENT, bandit=BANDIT, policy=B
    ),
    "Strategy.begin": door(
        lambda **given: SPEED().begin(rng=4, **given).first_counts(),
        features=X,
        policy=B,
        rounds=100,
        replications=2,
    ),
    "SPEED.practical": door(
        lambda **given: SPEED.practical(**given).begin(X, B, 100, rng=4).first_counts(),
        exploration_rounds=20,
        variance_floor=0.25,
        tolerance=0.125,
    ),
    "BookedOptimism": door(
        lambda **given: BookedOptimism(**given).begin(X, B, 200, rng=4).first_counts(),
        first_pulls=2.0,
        width=0.5,
        regrowth=0.25,
    ),
    "AdaptiveNeyman": door(
        lambda **given: AdaptiveNeyman(**given).begin(X, B, 100, rng=4).first_counts(),
        fractions=(0.25, 0.5),
        pilot=5,
        support=(0, 2),
    ),
    "Strategy.begin variances": door(
        lambda variances: Oracle().begin(X, B, 100, rng=4, variances=variances).first_counts(),
        variances=V,
    ),
    "slope_weights": door(slope_weights, x=np.array([1.0, 2.0, 4.0])),
    "fitted_slope": door(
        fitted_slope,
        x=np.array([1.0, 2.0, 4.0]),
        y=np.array([1.0, 3.0, 2.0]),
        standard_error=np.array([0.5, 0.25, 0.125]),
    ),
    "log_slope": door(
        log_slope,
        x=np.array([1.0, 2.0, 4.0]),
        y=np.array([1.0, 3.0, 2.0]),
        standard_error=np.array([0.5, 0.25, 0.125]),
    ),
    "quantile_slope": door(
        lambda x, share, level: quantile_slope(x, [V, Y, V], share, rng=fresh(), level=level),
        x=np.array([1.0, 2.0, 4.0]),
        share=0.5,
        level=0.875,
    ),
    "quantile_slope sample": door(
        lambda samples: quantile_slope([1, 2], [V, samples], 0.5, rng=fresh()), samples=Y
    ),
    "commit": door(lambda trial, pull: commit(trial, pull).counts, trial=started(), pull=pull),
    "play": door(play, trial=started(), pull=pull),
    "estimate_saving": door(
        lambda **given: estimate_saving(**saved(), **given), seed=1, repetitions=20, level=0.875
    ),
    "estimate_saving trial": door(
        lambda trial: estimate_saving(trial, saved()["rewards"], seed=1), trial=started()
    ),
    "estimate_saving rewards": door(
        lambda rewards: estimate_saving(saved()["trial"], rewards, seed=1), rewards=REWARDS
    ),
    "compare": door(
        compare,
        draw=lambda rng: ENVIRONMENT,
        strategies=BOTH,
        rounds=np.array([20, 30]),
        replications=2,
        runs=2,
        seed=1,
    ),
    "compare_with_best": door(
        compare_with_best,
        found=COMPARED,
        name="Oracle",
        baselines=["On-policy"],
        draw=lambda rng: ENVIRONMENT,
        strategies=BOTH,
        replications=2,
        runs=2,
        seed=1,
    ),
    "Comparison.multiples": door(COMPARED.multiples, level=0.875),
    "Comparison.table": door(COMPARED.table, level=0.875),
    "Comparison.against": door(
        COMPARED.against, strategy="Oracle", baselines=["On-policy"], budget=0, level=0.875
    ),
    "Comparison.fall": door(COMPARED.fall, strategy="Oracle", baseline="On-policy", level=0.875),
    "sample_actions": door(sample_actions, environment=ENVIRONMENT, size=5, rng=3),
    "shares": door(
        shares, environment=ENVIRONMENT, strategies=BOTH, rounds=30, replications=2, seed=1
    ),
    "by_variance": door(by_variance, found={"a": B}, variances=V, groups=2),
    "by_variance share": door(lambda found: by_variance({"a": found}, V, 2), found=B),
    "advance": door(advance, trial=started(), log=[], names=NAMES),
    "read_actions": door(read_actions, path=ACTIONS, separator="auto", decimal="point"),
    "read_log": door(
        lambda **given: read_log(FILES / "none.csv", **given),
        actions=TABLE,
        separator="comma",
        decimal="point",
    ),
    "read_measurements": door(
        read_measurements,
        path=MEASUREMENTS,
        target="yield",
        leave_out=["barista", "machine"],
        separator="auto",
        decimal="auto",
        missing="drop",
        missing_values=["-999"],
        policy="",
    ),
}

#: Public functions that only write numbers that come from elsewhere.
ELSEWHERE = {"with_ends": "prints numbers", "with_half_width": "prints numbers"}
