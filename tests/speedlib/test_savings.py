"""What an experiment saves, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from speedlib import (
    SPEED,
    LinearBandit,
    OnPolicy,
    PerArm,
    Rewards,
    estimate_saving,
    pe_loss,
)

from .cases import phases_of

X = np.eye(2)
POLICY = np.array([0.9, 0.1])
STRATEGY = SPEED(
    exploration="uniform",
    exploration_sampling="balanced",
    rounding="efficient",
    exploration_rounds=200,
)


def experiment(bandit: LinearBandit, rounds: int, seed: int):
    trial = STRATEGY.begin(X, POLICY, rounds, rng=seed)
    return trial, phases_of(trial, bandit, seed)[-1]


def test_the_saving_is_the_ratio_of_errors() -> None:
    """On one-hot actions errors are sums over actions: everything can be written out."""
    bandit = LinearBandit(X, [1.0, 0.0], Sigma=np.diag([0.1, 4.0]))
    trial, last = experiment(bandit, 10_000, 1)
    found = estimate_saving(trial, last, seed=3, repetitions=200)
    variances, pooled = trial.variances, trial.explored + last
    means = pooled.means
    error = np.sum(POLICY**2 * variances / last.counts)
    average = POLICY @ (variances + (means - POLICY @ means) ** 2)
    weighted = POLICY @ variances  # on one-hot actions A(pi) is diagonal
    assert found.losses == pytest.approx([average, weighted], rel=1e-9)
    assert found.rounds == pytest.approx([average / error, weighted / error], rel=1e-9)
    assert np.all(found.low < found.rounds) and np.all(found.rounds < found.high)


@pytest.mark.slow
def test_the_interval_holds_the_true_saving_about_as_often_as_it_says() -> None:
    bandit = LinearBandit(X, [0.3, 0.0], Sigma=np.diag([1.0, 3.0]))
    held, runs = 0, 60
    for seed in range(runs):
        trial, last = experiment(bandit, 4000, seed)
        found = estimate_saving(trial, last, seed=seed, repetitions=200, level=0.8)
        true = pe_loss(POLICY, X, bandit.variances, policy=POLICY) / np.sum(
            POLICY**2 * bandit.variances / last.counts
        )
        held += bool(found.low[1] <= true <= found.high[1])
    # Binomial with mean 48 and standard deviation 3.1: three of them either way.
    assert 39 <= held <= 57


def test_the_same_seed_gives_the_same_interval() -> None:
    bandit = LinearBandit(X, [1.0, 0.0], Sigma=np.eye(2))
    trial, last = experiment(bandit, 1000, 1)
    one, same, other = (
        estimate_saving(trial, last, seed=seed, repetitions=50) for seed in (1, 1, 2)
    )
    assert one.low.tolist() == same.low.tolist() != other.low.tolist()
    assert one.rounds.tolist() == other.rounds.tolist()


def test_what_has_no_saving_is_refused() -> None:
    bandit = LinearBandit(X, [1.0, 0.0], Sigma=np.eye(2))
    trial, last = experiment(bandit, 1000, 1)
    with pytest.raises(ValueError, match="level: must lie strictly between 0 and 1; got 1"):
        estimate_saving(trial, last, seed=1, level=1.0)
    with pytest.raises(ValueError, match="repetitions: must be at least 2; got 1"):
        estimate_saving(trial, last, seed=1, repetitions=1)
    fresh = STRATEGY.begin(X, POLICY, 1000, rng=1)
    with pytest.raises(RuntimeError, match="SPEED: tell the trial its exploration rewards"):
        estimate_saving(fresh, last, seed=1)
    with pytest.raises(ValueError, match="rewards: their counts must equal the pulls"):
        estimate_saving(trial, trial.explored, seed=1)
    with pytest.raises(TypeError, match="rewards: expected Rewards"):
        estimate_saving(trial, [1.0, 2.0], seed=1)
    for other in (OnPolicy(estimator="ols"), PerArm()):
        started = other.begin(X, POLICY, 1000, rng=1)
        with pytest.raises(TypeError, match=f"trial: must be one of a plug-in.*{other.name}"):
            estimate_saving(started, last, seed=1)
    batch = STRATEGY.begin(X, POLICY, 1000, rng=1, replications=3)
    with pytest.raises(ValueError, match="trial: must be a single one; got 3 replications"):
        estimate_saving(batch, Rewards.none((3, 2)), seed=1)


def test_the_interval_is_that_of_experiments_simulated_again() -> None:
    """The bootstrap once more, written out for one-hot actions, where errors are sums."""
    bandit = LinearBandit(X, [1.0, 0.0], Sigma=np.diag([0.2, 2.0]))
    trial, last = experiment(bandit, 2000, 1)
    found = estimate_saving(trial, last, seed=9, repetitions=300, level=0.9)

    def weighted(trial, variances):
        """Rounds of weighted least squares under the target policy for the trial's error."""
        error = np.sum(POLICY**2 * variances / trial.commitment.counts, axis=-1)
        return (variances @ POLICY) / error

    means = (trial.explored + last).means
    world = LinearBandit(X, means, variances=trial.variances)
    again = STRATEGY.begin(X, POLICY, 2000, rng=9, replications=300)
    rng = np.random.default_rng([9, 2])
    again.next_counts(world.pull(again.first_counts(), rng))
    errors = np.log(weighted(again, again.variances) / weighted(again, trial.variances))
    low, high = weighted(trial, trial.variances) / np.exp(np.quantile(errors, [0.95, 0.05]))
    assert found.low[1] == pytest.approx(low, rel=1e-9)
    assert found.high[1] == pytest.approx(high, rel=1e-9)
    usual = estimate_saving(trial, last, seed=9)
    same = estimate_saving(trial, last, seed=9, repetitions=1000, level=0.95)
    assert usual.low.tolist() == same.low.tolist()
