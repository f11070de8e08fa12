"""Simulated errors: against the per-round simulator, drawn rewards and closed forms."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from speedlib.bandit import LinearBandit
from speedlib.environments import one_hot, unit_ball
from speedlib.simulation import mse_curve, squared_errors
from speedlib.strategies import SPEED, OnPolicy, Oracle, Uniform
from speedlib.trials import Strategy

from .cases import finish
from .per_round import Result, run_on_policy, run_oracle, run_speed

#: A correct program fails a random test with this probability; all seeds were chosen once.
ALPHA = 1e-4
LIMIT = float(stats.norm.isf(ALPHA / 2))

BALL = unit_ball()
ROTATED = [[0.15, 0.12], [0.12, 0.35]]


def ball(noise: str) -> LinearBandit:
    """Return the unit ball with correlated parameters and means that differ."""
    return LinearBandit(BALL.bandit.features, [1.0, -0.5], Sigma=ROTATED, noise=noise)


def far_means(noise: str) -> LinearBandit:
    """Return means so large that what kept rewards contribute cannot be overlooked."""
    return LinearBandit(BALL.bandit.features, [4.0, -2.0], Sigma=ROTATED, noise=noise)


def unequal() -> LinearBandit:
    """Return variances from .02 to 16, so that ordinary least squares errs half as much again."""
    features = [[1.0, 0.0], [1.0, 0.05], [1.0, 2.0], [0.0, 1.0], [1.0, 1.0]]
    return LinearBandit(features, [1.0, -0.5], Sigma=np.diag([0.02, 4.0]))


def space(noise: str) -> LinearBandit:
    rng = np.random.default_rng(1)
    root = rng.normal(size=(3, 3))
    return LinearBandit(
        rng.normal(size=(6, 3)), rng.normal(size=3), Sigma=root @ root.T / 3, noise=noise
    )


# --- the per-round simulator --------------------------------------------------------------------

CASES: dict[str, tuple[LinearBandit, Strategy, int, Callable[..., Result], dict]] = {
    "oracle": (ball("laplace"), Oracle(rounding="ceil"), 31, run_oracle, {}),
    "wls": (unequal(), OnPolicy(), 25, run_on_policy, {"estimator": "wls"}),
    "ols": (ball("uniform"), OnPolicy(estimator="ols"), 25, run_on_policy, {"estimator": "ols"}),
    "mean": (
        ball("rademacher"),
        OnPolicy(estimator="mean"),
        25,
        run_on_policy,
        {"estimator": "mean"},
    ),
    "speed-pca": (ball("gaussian"), SPEED(), 150, run_speed, {"exploration": "pca"}),
    "speed-coins": (
        ball("rademacher"),
        SPEED(variance_floor=0.1),
        150,
        run_speed,
        {"exploration": "pca", "floor": 0.1},
    ),
    "speed-space": (
        space("student"),
        SPEED(exploration="uniform"),
        260,
        run_speed,
        {"exploration": "uniform"},
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_fast_simulation_has_the_law_of_the_per_round_simulator(case: str) -> None:
    """Errors by Kolmogorov-Smirnov, their mean and square by z-scores, likewise the pulls."""
    bandit, strategy, rounds, slow, options = CASES[case]
    policy = np.array([0.4, 0.2, 0.2, 0.1, 0.1, 0.0])[: bandit.n_actions]
    policy = policy / policy.sum()
    rng = np.random.default_rng(2)
    size = 1000 if slow is run_on_policy else 500
    runs = [slow(bandit, policy, rounds, rng, **options) for _ in range(size)]
    truth = policy @ bandit.features @ bandit.theta
    errors = np.array([run.value for run in runs]) - truth

    trial = strategy.begin(
        bandit.features,
        policy,
        rounds,
        rng=np.random.default_rng(3),
        variances=bandit.variances,
        replications=1200,
    )
    fast = finish(trial, bandit, 4).value - truth

    assert stats.ks_2samp(fast.round(9), errors.round(9)).pvalue > ALPHA
    assert_equal_means(fast, errors)
    assert_equal_means(fast**2, errors**2)
    pulls = np.array([run.pulls for run in runs])
    for a in range(bandit.n_actions):
        assert_equal_means(trial.commitment.counts[:, a], pulls[:, a])
        assert stats.ks_2samp(trial.commitment.counts[:, a], pulls[:, a]).pvalue > ALPHA


def assert_equal_means(one: np.ndarray, other: np.ndarray) -> None:
    spread = np.sqrt(one.var() / one.size + other.var() / other.size)
    assert abs(one.mean() - other.mean()) <= LIMIT * spread


@pytest.mark.parametrize(
    "strategy",
    [OnPolicy(), OnPolicy(estimator="mean"), SPEED(exploration="uniform", keep_exploration=True)],
    ids=repr,
)
def test_one_number_has_the_law_of_a_whole_experiment(strategy: Strategy) -> None:
    """Gaussian noise: squared errors drawn given the pulls against those of drawn rewards."""
    bandit, policy = ball("gaussian"), BALL.policy
    short, _ = squared_errors(
        bandit, policy, strategy, 60, 4000, np.random.SeedSequence(5), "draws"
    )
    trial = strategy.begin(
        bandit.features, policy, 60, rng=6, variances=bandit.variances, replications=4000
    )
    long = (finish(trial, bandit, 7).value - bandit.value(policy)) ** 2
    assert stats.ks_2samp(short, long).pvalue > ALPHA
    assert_equal_means(short, long)


# --- exact against drawn ------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("strategy", "bandit", "rounds"),
    [
        (Oracle(), ball("gaussian"), 40),
        (Oracle(rounding="floor"), ball("gaussian"), 1),  # nothing pulled: all bias
        (OnPolicy(), ball("laplace"), 40),
        (OnPolicy(), ball("gaussian"), 2),  # often inestimable
        (OnPolicy(estimator="ols"), ball("gaussian"), 40),
        (OnPolicy(estimator="mean"), ball("uniform"), 40),
        (OnPolicy(estimator="mean", sampling="balanced"), ball("uniform"), 7),
        (SPEED(), ball("rademacher"), 60),
        (SPEED(), ball("gaussian"), 4),  # one round of exploration or two, much bias
        (SPEED(covariance="psd", exploration="uniform"), space("gaussian"), 100),
        (SPEED(exploration="uniform", keep_exploration=True), far_means("rademacher"), 60),
        (SPEED(exploration="uniform", exploration_rounds="tuned"), ball("rademacher"), 60),
    ],
    ids=lambda value: getattr(value, "name", None) or getattr(value, "noise", None) or str(value),
)
def test_exact_errors_are_the_mean_of_drawn_ones(
    strategy: Strategy, bandit: LinearBandit, rounds: int
) -> None:
    policy = np.full(bandit.n_actions, 1 / bandit.n_actions)
    size = 500 if isinstance(strategy, SPEED) else 2000
    exact, drawn = (
        mse_curve(bandit, policy, [strategy], [rounds], size, seed=seed, method=method)
        for seed, method in ((5, "exact"), (6, "draws"))
    )
    gap = exact.mse[0, 0] - drawn.mse[0, 0]
    assert abs(gap) <= LIMIT * np.hypot(exact.standard_error[0, 0], drawn.standard_error[0, 0])
    assert exact.standard_error[0, 0] <= 1.1 * drawn.standard_error[0, 0]
    if getattr(strategy, "estimator", "") != "mean":
        shares = exact.inestimable[0, 0], drawn.inestimable[0, 0]
        assert abs(shares[0] - shares[1]) <= LIMIT * np.sqrt(0.25 * 2 / size)


def test_share_of_inestimable_runs_does_not_depend_on_the_method() -> None:
    shares = [
        mse_curve(
            BALL.bandit, BALL.policy, [OnPolicy(estimator="mean")], [50], 20, seed=1, method=method
        ).inestimable[0, 0]
        for method in ("exact", "draws")
    ]
    assert shares[0] == shares[1]


# --- closed forms -------------------------------------------------------------------------------


def test_oracle_loss_of_one_hot_actions() -> None:
    """Where n pi sigma / sum is whole, the error is the oracle loss (sum of pi sigma)^2 / n."""
    environment = one_hot([0.4, 0.3, 0.2, 0.1], [1.0, 4.0, 9.0, 16.0])
    curves = mse_curve(environment.bandit, environment.policy, [Oracle()], [10, 100], 5, seed=0)
    assert curves.oracle_loss == pytest.approx([4.0 / 10, 4.0 / 100])
    assert curves.mse[0] == pytest.approx([4.0 / 10, 4.0 / 100])
    assert curves.standard_error[0] == pytest.approx([0.0, 0.0], abs=1e-12)
    assert curves.regret[0] == pytest.approx([0.0, 0.0], abs=1e-12)
    assert not curves.inestimable.any()


def test_balanced_on_policy_on_one_hot_actions() -> None:
    """The sum of pi sigma^2 over n, and the regret Var_pi(sigma) / n."""
    environment = one_hot([0.5, 0.3, 0.2], [1.0, 4.0, 9.0])
    curves = mse_curve(
        environment.bandit, environment.policy, [OnPolicy(sampling="balanced")], [20], 2, seed=0
    )
    assert curves.mse[0, 0] == pytest.approx((0.5 + 1.2 + 1.8) / 20)
    assert curves.regret[0, 0] == pytest.approx((3.5 - (0.5 + 0.6 + 0.6) ** 2) / 20)


def test_plain_average_in_closed_form() -> None:
    """(sum of pi sigma^2 + Var_pi(mean)) / n, whatever the features."""
    bandit, policy, n = space("gaussian"), np.array([0.3, 0.2, 0.2, 0.1, 0.1, 0.1]), 15
    curves = mse_curve(bandit, policy, [OnPolicy(estimator="mean")], [n], 20_000, seed=7)
    value = policy @ bandit.means
    expected = (policy @ bandit.variances + policy @ (bandit.means - value) ** 2) / n
    assert abs(curves.mse[0, 0] - expected) < LIMIT * curves.standard_error[0, 0]
    assert curves.standard_error[0, 0] < 0.02 * expected


def test_unpulled_actions_leave_a_bias() -> None:
    """Means 0 and 1, one pull of the first action: the error is the bias 1/2 and some variance."""
    bandit = LinearBandit(np.eye(2), [0.0, 1.0], Sigma=np.diag([1.0, 1e-8]))
    curves = mse_curve(bandit, [0.5, 0.5], [Oracle(rounding="efficient")], [1], 2, seed=0)
    assert curves.mse[0, 0] == pytest.approx(0.5**2 * 1.0 + 0.5**2)
    assert curves.inestimable[0, 0] == 1.0


def regret_constant(bandit: LinearBandit, shares: np.ndarray, exploration: np.ndarray) -> float:
    """Return v of R = S^2 (Gamma/n^2 + v/(n Gamma)): a quarter of the variance over the optimal
    shares of the relative errors of the estimated variances, from the normal equations of the
    quadratic regression with Gaussian noise."""
    x = bandit.features
    phi = np.array([[v[0] ** 2, np.sqrt(2) * v[0] * v[1], v[1] ** 2] for v in x])
    H = np.linalg.inv(phi.T @ (exploration[:, None] * phi))
    middle = phi.T @ ((exploration * 2 * bandit.variances**2)[:, None] * phi)
    C = phi @ H @ middle @ H @ phi.T / np.outer(bandit.variances, bandit.variances)
    return float((shares @ np.diag(C) - shares @ C @ shares) / 4)


def test_regret_of_speed_has_the_predicted_constant() -> None:
    """At n = 1e8 with an identifiable exploration, R n^1.5 = S^2 (1 + v) to a few per cent.

    The support of the optimum is actions 0 and 2 for every positive definite matrix.
    """
    bandit, n = ball("gaussian"), 10**8
    w = np.linalg.solve(bandit.features[[0, 2]].T, BALL.policy @ bandit.features)
    S = np.abs(w) @ np.sqrt(bandit.variances[[0, 2]])
    shares = np.zeros(5)
    shares[[0, 2]] = np.abs(w) * np.sqrt(bandit.variances[[0, 2]]) / S
    assert S**2 == pytest.approx(0.159440, abs=1e-6)
    v = regret_constant(bandit, shares, np.full(5, 0.2))
    assert v == pytest.approx(0.5344, abs=1e-4)
    speed = SPEED(
        exploration="uniform", exploration_sampling="balanced", covariance="psd", label="SPEED"
    )
    curves = mse_curve(bandit, BALL.policy, [speed], [n], 700, seed=8)
    assert curves.oracle_loss[0] == pytest.approx(S**2 / n)
    scaled, error = curves.regret[0, 0] * n**1.5, curves.standard_error[0, 0] * n**1.5
    assert abs(scaled - S**2 * (1 + v)) < LIMIT * error + 0.02 * S**2
    assert error < 0.03 * S**2


@pytest.mark.parametrize("strategy", [OnPolicy(), OnPolicy(estimator="mean"), Uniform(), SPEED()])
def test_drawn_errors_follow_the_law_of_the_noise(strategy: Strategy) -> None:
    """Of the mean of n fair signs there are n + 1 values, whatever the pulls: no bell curve."""
    bandit = LinearBandit([[1.0]], [0.5], variances=[4.0], noise="rademacher")
    errors, _ = squared_errors(
        bandit, np.ones(1), strategy, 6, 500, np.random.default_rng(1), "draws"
    )
    last = 6 - (strategy.exploration_length(6) if isinstance(strategy, SPEED) else 0)
    possible = {round((2 * (2 * k - last) / last) ** 2, 9) for k in range(last + 1)}
    assert {round(float(error), 9) for error in errors} == possible
