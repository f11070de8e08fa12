"""Units, shared memory and odd arguments: what must not change a result, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from speedlib import (
    SPEED,
    Environment,
    LinearBandit,
    Oracle,
    Rewards,
    ceil_counts,
    efficient_counts,
    estimate_covariance,
    fit_environment,
    floor_counts,
    mse_curve,
    optimal_design,
    policy_value,
    simulation,
    unit_ball,
)
from speedlib.environments import fit_model
from speedlib.strategies import AOptimal, DOptimal, GOptimal

BALL = unit_ball()
FOUR = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0]])


# --- units --------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["lstsq", "psd"])
@pytest.mark.parametrize("unit", [1e-9, 1e-6, 1e6, 1e9])
def test_estimated_variances_do_not_depend_on_the_unit_of_a_feature(
    method: str, unit: float
) -> None:
    bandit = LinearBandit(FOUR, [1.0, 2.0], Sigma=np.diag([1.0, 4.0]))
    rewards = bandit.pull([10_000] * 4, np.random.default_rng(0))
    plain = estimate_covariance(rewards, FOUR, method)
    other = estimate_covariance(rewards, FOUR * [1.0, unit], method)
    assert other.rank == plain.rank == 3
    assert other.variances == pytest.approx(plain.variances, rel=1e-6)
    assert plain.variances == pytest.approx([1.0, 4.0, 5.0, 5.0], rel=0.1)


@pytest.mark.parametrize("unit", [1e-7, 1e7])
def test_a_fitted_environment_does_not_depend_on_the_unit_of_a_feature(unit: float) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 2))
    y = X @ [1.0, 2.0] + rng.normal(size=60) * np.abs(X[:, 0])
    plain, other = (
        fit_environment(X * [1.0, k], y, n_low=5, preprocessing="raw") for k in (1.0, unit)
    )
    assert other.bandit.variances == pytest.approx(plain.bandit.variances, rel=1e-4)
    assert other.policy == pytest.approx(plain.policy)


@pytest.mark.parametrize("unit", [1e-12, 1e12])
@pytest.mark.parametrize("covariance", ["lstsq", "psd"])
def test_speed_does_not_depend_on_the_unit_of_reward(unit: float, covariance: str) -> None:
    runs = []
    for k in (1.0, unit):
        bandit = LinearBandit(
            BALL.bandit.features, BALL.bandit.theta * k, Sigma=BALL.bandit.Sigma * k**2
        )
        strategy = SPEED(exploration="uniform", covariance=covariance)
        trial = strategy.begin(bandit.features, BALL.policy, 400, rng=0)
        pulls = trial.next_counts(bandit.pull(trial.first_counts(), np.random.default_rng(1)))
        estimate = trial.estimate(bandit.pull(pulls, np.random.default_rng(2)))
        runs.append((pulls.tolist(), float(estimate.standard_error) / k))
    assert runs[0][0] == runs[1][0]
    assert runs[1][1] == pytest.approx(runs[0][1], rel=1e-6)


# --- memory -------------------------------------------------------------------------------------


def test_a_trial_does_not_follow_later_changes_of_its_input() -> None:
    features, policy = np.eye(2), np.array([0.9, 0.1])
    variances = np.array([1.0, 1.0])
    for strategy in (SPEED(exploration_sampling="balanced"), Oracle()):
        pulls = []
        for spoil in (False, True):
            arrays = features.copy(), policy.copy(), variances.copy()
            trial = strategy.begin(arrays[0], arrays[1], 100, rng=0, variances=arrays[2])
            first = trial.first_counts()
            if spoil:
                for array in arrays:
                    array[...] = array[::-1] * 3
            rewards = Rewards(first, np.where(first > 0, [1.0, 5.0], 0), np.where(first > 0, 4, 0))
            if not trial.committed:
                trial.next_counts(rewards)
            pulls.append((first.tolist(), trial.commitment.counts.tolist()))
        assert pulls[0] == pulls[1]


def test_an_environment_keeps_its_policy() -> None:
    policy = np.array([0.5, 0.5])
    environment = Environment("e", LinearBandit(np.eye(2), [1, 0], Sigma=np.eye(2)), policy)
    policy[0] = 9.0
    assert environment.policy.tolist() == [0.5, 0.5]
    with pytest.raises(ValueError, match="read-only"):
        environment.policy[0] = 9.0


def test_environments_and_bandits_can_be_compared() -> None:
    one, other = unit_ball(), unit_ball()
    assert one != other
    assert one == one
    assert one.bandit in [other.bandit, one.bandit]


# --- arguments ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("optimal", "informative"), [(0.9, 0.1), (0.85, 0.15), (1.0, 0.0)])
def test_probabilities_that_leave_nothing_are_fine(optimal: float, informative: float) -> None:
    policy = unit_ball(optimal_probability=optimal, informative_probability=informative).policy
    assert policy[2:] == pytest.approx([0.0] * 3, abs=1e-15)


def test_probabilities_that_leave_less_than_nothing_are_named() -> None:
    with pytest.raises(ValueError, match=r"optimal_probability.*at most 1.*0\.95 \+ 0\.1"):
        unit_ball(optimal_probability=0.95)


@pytest.mark.parametrize("variances", [2.0, [[1.0, 1.0]], [1.0, 2.0], [9e-9, 2e-9], "a"])
def test_variances_beside_sigma_must_have_its_shape_and_values(variances: object) -> None:
    with pytest.raises((TypeError, ValueError), match="variances"):
        LinearBandit(np.eye(2), [0.0, 0.0], Sigma=np.eye(2) * 1e-9, variances=variances)  # type: ignore[arg-type]


@pytest.mark.parametrize("rule", [floor_counts, ceil_counts, efficient_counts])
@pytest.mark.parametrize("rounds", [2**53 + 1, 10**20, 10**400])
def test_more_rounds_than_floats_can_count_are_refused(rule: object, rounds: int) -> None:
    with pytest.raises(ValueError, match=r"rounds.*at most"):
        rule([0.5, 0.5], rounds)  # type: ignore[operator]


def test_weights_within_the_tolerance_still_keep_the_budget() -> None:
    n = 10**9
    assert floor_counts([0.5 + 4e-9] * 2, n).sum() <= n
    assert ceil_counts([0.5 - 4e-9] * 2, n).sum() >= n
    assert efficient_counts([1 / 3 - 3e-9] * 3, n).sum() == n


@pytest.mark.parametrize("strategies", [[SPEED], ["SPEED"], 7, [Oracle(), None]])
def test_what_is_no_strategy_is_refused(strategies: object) -> None:
    with pytest.raises(TypeError, match=r"strategies.*SPEED\(\)"):
        mse_curve(BALL.bandit, BALL.policy, strategies, [50], 2, seed=0)  # type: ignore[arg-type]


def test_one_strategy_or_a_generator_of_them_will_do() -> None:
    alone = mse_curve(BALL.bandit, BALL.policy, Oracle(), [50], 2, seed=0)  # type: ignore[arg-type]
    made = mse_curve(BALL.bandit, BALL.policy, (s for s in [Oracle()]), [50], 2, seed=0)  # type: ignore[arg-type]
    assert alone.mse == made.mse


def test_an_environment_is_no_bandit() -> None:
    with pytest.raises(TypeError, match=r"bandit.*Environment"):
        mse_curve(BALL, BALL.policy, [Oracle()], [50], 2, seed=0)  # type: ignore[arg-type]


def test_rewards_must_be_rewards() -> None:
    trial = SPEED().begin(BALL.bandit.features, BALL.policy, 100, rng=0)
    with pytest.raises(TypeError, match=r"rewards.*from_log"):
        trial.next_counts([1, 2])  # type: ignore[arg-type]


def test_a_table_with_too_few_rows_cannot_be_fitted() -> None:
    with pytest.raises(ValueError, match=r"X: .*more rows than columns.*\(2, 2\)"):
        fit_model([[1.0, 2.0], [3.0, 4.0]], [1.0, 2.0])


def test_weights_may_differ_between_replications() -> None:
    rewards = Rewards(np.array([[1, 1], [1, 1]]), np.array([[1.0, 3.0]] * 2), np.zeros((2, 2)))
    weights = np.array([[1.0, 1.0], [1.0, 3.0]])
    found = policy_value(rewards, [[1.0], [1.0]], [1.0], [1.0, 1.0], weights=weights)
    assert found.value == pytest.approx([2.0, 1.5])


def test_weights_are_told_from_variances() -> None:
    rewards = Rewards.from_log([0, 1], [1.0, 2.0], 2)
    with pytest.raises(ValueError, match=r"^weights: .* 0"):
        policy_value(rewards, np.eye(2), [0.5, 0.5], [1.0, 1.0], weights=[0.0, 1.0])


def test_a_homoscedastic_certificate_does_not_know_the_variances() -> None:
    variances = np.array([1.0, 2.0, 0.5, 1.0])
    one, other = (optimal_design(FOUR, unit * variances, "G") for unit in (1.0, 2.0**190))
    assert np.array_equal(one.dual, other.dual)
    linear = [optimal_design(FOUR, unit * variances, "A").dual for unit in (1.0, 2.0**190)]
    assert linear[1] == pytest.approx(linear[0] * 2.0**95)


def test_blocks_budgets_and_strategies_have_streams_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = []

    def told(bandit, policy, strategy, rounds, size, stream, method):
        seen.append(tuple(stream.generate_state(4).tolist()))
        return np.ones(size), np.zeros(size, dtype=bool)

    monkeypatch.setattr(simulation, "squared_errors", told)
    monkeypatch.setattr(simulation, "_BLOCK_ENTRIES", 1)  # blocks of one replication
    strategies = [Oracle(), SPEED()]
    mse_curve(BALL.bandit, BALL.policy, strategies, [10, 20], 4, seed=1)
    assert len(set(seen)) == len(seen) == 2 * 2 * 4


@pytest.mark.parametrize(
    ("strategy", "criterion"), [(AOptimal(), "A"), (DOptimal(), "D"), (GOptimal(), "G")]
)
def test_a_strategy_commits_to_the_design_that_it_is_named_for(
    strategy: AOptimal | DOptimal | GOptimal, criterion: str
) -> None:
    variances = np.array([0.1, 2.0, 0.5, 1.0])
    setting = strategy.begin(FOUR, np.full(4, 0.25), 100, rng=1).setting
    expected = optimal_design(FOUR, variances, criterion).weights
    others = [optimal_design(FOUR, variances, name).weights for name in "ADG" if name != criterion]
    assert min(np.abs(other - expected).max() for other in others) > 0.02
    found = strategy.designs(variances[None], setting)[0]
    assert found == pytest.approx(expected, abs=2e-3)
