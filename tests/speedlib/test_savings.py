"""What an experiment saves, against closed forms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from speedlib import (
    SPEED,
    LinearBandit,
    OnPolicy,
    PerArm,
    Rewards,
    commit,
    estimate_saving,
    pe_loss,
    play,
)
from speedlib.savings import _ends

from .cases import phases_of, space

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


def refitted(rewards: Rewards):
    """Return means and variances from all rewards: those of each action, on one-hot actions."""
    return rewards.means, rewards.scatters / rewards.counts


def test_the_losses_are_those_of_all_rewards() -> None:
    """On one-hot actions errors are sums over actions: everything can be written out."""
    bandit = LinearBandit(X, [1.0, 0.0], Sigma=np.diag([0.1, 4.0]))
    trial, last = experiment(bandit, 10_000, 1)
    found = estimate_saving(trial, last, seed=3, repetitions=200)
    means, variances = refitted(trial.explored + last)
    average = POLICY @ (variances + (means - POLICY @ means) ** 2)
    weighted = POLICY @ variances  # on one-hot actions A(pi) is diagonal
    assert found.losses == pytest.approx([average, weighted], rel=1e-9)
    # The correction of the ratio is small where exploration is as long as here.
    error = np.sum(POLICY**2 * variances / last.counts)
    assert found.rounds == pytest.approx(found.losses / error, rel=0.05)
    assert np.all(found.low < found.rounds) and np.all(found.rounds < found.high)


def test_the_losses_are_those_of_a_reweighted_fit() -> None:
    """Of two regressions by rows of `numpy.linalg.lstsq`, where no constraint binds.

    Variances are known through three entries only, so that weights matter, as they do not on
    one-hot actions.
    """
    features = np.array([[1.0, 0.0], [0.0, 1.0], [0.8, 0.6], [0.6, -0.8], [2.0, 1.0]])
    policy = np.array([0.3, 0.1, 0.3, 0.2, 0.1])
    bandit = LinearBandit(features, [1.0, 0.5], Sigma=[[0.2, 0.1], [0.1, 2.0]])
    trial = STRATEGY.begin(features, policy, 600, rng=4)
    last = phases_of(trial, bandit, 4)[-1]
    rewards = trial.explored + last
    quadratic = np.stack([features[:, 0] ** 2, features.prod(axis=1), features[:, 1] ** 2], axis=1)
    deviations, fits = np.ones(5), []
    for _ in range(2):
        root = np.sqrt(rewards.counts) / deviations
        theta = np.linalg.lstsq(features * root[:, None], rewards.means * root)[0]
        squares = rewards.scatters / rewards.counts + (rewards.means - features @ theta) ** 2
        root = np.sqrt(rewards.counts) / deviations**2
        entries = np.linalg.lstsq(quadratic * root[:, None], squares * root)[0]
        assert 4 * entries[0] * entries[2] > entries[1] ** 2  # positive definite
        deviations = np.sqrt(quadratic @ entries)
        root = np.sqrt(rewards.counts) / deviations
        theta = np.linalg.lstsq(features * root[:, None], rewards.means * root)[0]
        means = features @ theta
        average = policy @ (deviations**2 + (means - policy @ means) ** 2)
        information = (features.T * (policy / deviations**2)) @ features
        fits.append([average, policy @ features @ np.linalg.solve(information, policy @ features)])
    found = estimate_saving(trial, last, seed=3, repetitions=2)
    assert found.losses == pytest.approx(fits[1], rel=1e-9)
    assert found.losses != pytest.approx(fits[0], rel=1e-3)


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
    assert one.rounds.tolist() == same.rounds.tolist() != other.rounds.tolist()
    assert one.losses.tolist() == other.losses.tolist()


def test_what_has_no_saving_is_refused() -> None:
    bandit = LinearBandit(X, [1.0, 0.0], Sigma=np.eye(2))
    trial, last = experiment(bandit, 1000, 1)
    with pytest.raises(ValueError, match="level: must lie strictly between 0 and 1; got 1"):
        estimate_saving(trial, last, seed=1, level=1.0)
    with pytest.raises(ValueError, match="repetitions: must be at least 2; got 1"):
        estimate_saving(trial, last, seed=1, repetitions=1)
    fresh = STRATEGY.begin(X, POLICY, 1000, rng=1)
    with pytest.raises(RuntimeError, match="SPEED: exploration is not finished; pass its rewards"):
        estimate_saving(fresh, last, seed=1)
    with pytest.raises(ValueError, match="rewards: their counts must equal the pulls"):
        estimate_saving(trial, trial.explored, seed=1)
    with pytest.raises(TypeError, match="rewards: expected Rewards"):
        estimate_saving(trial, [1.0, 2.0], seed=1)
    for other in (OnPolicy(estimator="ols"), PerArm()):
        started = other.begin(X, POLICY, 1000, rng=1)
        with pytest.raises(TypeError, match=f"trial: must be a trial of a plug-in.*{other.name}"):
            estimate_saving(started, last, seed=1)
    batch = STRATEGY.begin(X, POLICY, 1000, rng=1, replications=3)
    with pytest.raises(ValueError, match="trial: must be a single trial; got 3 replications"):
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

    means, variances = refitted(trial.explored + last)
    world = LinearBandit(X, means, variances=variances)
    again = STRATEGY.begin(X, POLICY, 2000, rng=9, replications=300)
    rng = np.random.default_rng([9, 2])
    again.next_counts(world.pull(again.first_counts(), rng))
    _, anew = refitted(again.explored + world.pull(again.commitment.counts, rng))
    errors = np.log(weighted(again, anew) / weighted(again, variances))
    low, point, high = weighted(trial, variances) / np.exp(np.quantile(errors, [0.95, 0.5, 0.05]))
    assert found.low[1] == pytest.approx(low, rel=1e-9)
    assert found.rounds[1] == pytest.approx(point, rel=1e-9)
    assert found.high[1] == pytest.approx(high, rel=1e-9)
    usual = estimate_saving(trial, last, seed=9)
    same = estimate_saving(trial, last, seed=9, repetitions=1000, level=0.95)
    assert usual.low.tolist() == same.low.tolist()


def random_experiment(seed: int, rounds: int, d: int):
    """Return a bandit of 12 random actions, and an experiment with it as one would run it."""
    rng = np.random.default_rng([seed, 5])
    features, root = rng.normal(size=(12, d)), rng.normal(size=(d, d))
    bandit = LinearBandit(features, rng.normal(size=d), Sigma=root @ root.T / d)
    strategy = SPEED(
        exploration="identifiable",
        exploration_rounds="tuned",
        exploration_sampling="balanced",
        covariance="psd",
        rounding="efficient",
    )
    trial = strategy.begin(features, rng.dirichlet(np.ones(12)), rounds, rng=seed)
    commit(trial, lambda counts: bandit.pull(counts, rng))
    return bandit, trial, bandit.pull(trial.commitment.counts, rng)


@pytest.mark.slow
@pytest.mark.parametrize("d", [4, 6])
def test_the_saving_does_not_flatter(d: int) -> None:
    """Estimated from the variances that chose the pulls, it was half as large again."""
    ratios, held = [], []
    for seed in range(12):
        bandit, trial, last = random_experiment(seed, 1000, d)
        found = estimate_saving(trial, last, seed=seed, repetitions=60)
        true = pe_loss(
            trial.setting.policy, bandit.features, bandit.variances, policy=trial.setting.policy
        ) / trial.error_given_pulls(bandit.variances)
        ratios.append(found.rounds[1] / true)
        held.append(found.low[1] <= true <= found.high[1])
        assert np.all(found.low <= found.rounds) and np.all(found.rounds <= found.high)
    # The logarithm of a ratio has a deviation of about 0.1, their median one of about 0.03.
    assert 0.88 < np.median(ratios) < 1.15
    assert np.sum(held) >= 7  # of 12 where nine in ten hold: fewer once in 1,800 times


# --- kept rewards -------------------------------------------------------------------------------


def test_kept_rewards_count_in_the_error() -> None:
    """On one-hot actions: the variance of the mean of all rewards of each action."""
    bandit = LinearBandit(X, [1.0, 0.0], Sigma=np.diag([0.1, 4.0]))
    strategy = replace(STRATEGY, keep_exploration=True)
    trial = strategy.begin(X, POLICY, 600, rng=1)
    last = phases_of(trial, bandit, 1)[-1]
    found = estimate_saving(trial, last, seed=3, repetitions=100)
    pooled = trial.explored + last
    error = np.sum(POLICY**2 * refitted(pooled)[1] / pooled.counts)
    assert found.rounds == pytest.approx(found.losses / error, rel=0.05)
    assert np.all(found.low < found.rounds) and np.all(found.rounds < found.high)


@pytest.mark.slow
@pytest.mark.parametrize("keep", [False, True])
def test_the_error_given_the_pulls_is_the_mean_squared_error(keep: bool) -> None:
    """Against draws, where the weights rest on the same rewards, too: to within a tenth."""
    bandit, policy, size = space(5), np.full(8, 1 / 8), 4000
    strategy = SPEED(
        exploration="uniform", exploration_rounds=400, covariance="psd", keep_exploration=keep
    )
    trial = strategy.begin(bandit.features, policy, 800, rng=1, replications=size)
    rng = np.random.default_rng(2)
    value = play(trial, lambda counts: bandit.pull(counts, rng)).value
    squared = (value - bandit.value(policy)) ** 2
    noise = squared.std() / np.sqrt(size)
    said = trial.error_given_pulls(bandit.variances).mean()
    assert abs(squared.mean() - said) < 0.1 * said + 4 * noise
    assert noise < 0.03 * said


def test_the_error_given_the_pulls_waits_for_the_commitment() -> None:
    with pytest.raises(RuntimeError, match="SPEED: exploration is not finished; pass its rewards"):
        STRATEGY.begin(X, POLICY, 1000, rng=1).error_given_pulls(np.ones(2))


# --- what is not determined ---------------------------------------------------------------------

#: Rounded down, the second action is left out where it seems quiet.
ROUNDED = replace(STRATEGY, exploration_rounds=20, rounding="floor")


def rounded(rounds: int, seed: int):
    bandit = LinearBandit(X, [1.0, 0.0], Sigma=np.diag([1.0, 1.5]))
    trial = ROUNDED.begin(X, POLICY, rounds, rng=seed)
    return trial, phases_of(trial, bandit, seed)[-1]


def test_a_value_that_is_not_determined_has_no_saving() -> None:
    trial, last = rounded(26, 1)
    assert trial.commitment.counts[1] == 0
    rule = r"trial: the pulls of SPEED do not determine the value.*more rounds.*efficient"
    with pytest.raises(ValueError, match=rule):
        estimate_saving(trial, last, seed=1)


def test_the_value_of_a_zero_feature_vector_needs_no_rounds() -> None:
    features, policy = np.array([[1.0], [-1.0]]), [0.5, 0.5]
    bandit = LinearBandit(features, [1.0], Sigma=[[1.0]])
    trial = replace(STRATEGY, exploration_rounds=20).begin(features, policy, 100, rng=1)
    last = phases_of(trial, bandit, 1)[-1]
    with pytest.raises(ValueError, match="trial: its target policy has the mean feature vector 0"):
        estimate_saving(trial, last, seed=1)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("rounds", "seed", "often"), [(26, 2, True), (30, 1, True), (60, 2, False)]
)
def test_repetitions_that_are_not_determined_leave_the_ends_open(
    rounds: int, seed: int, often: bool
) -> None:
    """Their errors may be any: the ends are those of the worst case, and numbers."""
    trial, last = rounded(rounds, seed)
    level, repetitions = 0.8, 200
    again = ROUNDED.begin(X, POLICY, rounds, rng=7, replications=repetitions)
    theta, variances = refitted(trial.explored + last)
    world = LinearBandit(X, theta, variances=variances)
    rng = np.random.default_rng([7, 2])
    lost = int((~commit(again, lambda counts: world.pull(counts, rng)).estimable).sum())
    assert (lost > 0.1 * repetitions) == often
    found = estimate_saving(trial, last, seed=7, repetitions=repetitions, level=level)
    assert np.all(np.isfinite(found.rounds))
    assert np.all(found.low == 0) == often
    assert np.all(found.high == np.inf) == often
    assert np.all(found.low < found.rounds) and np.all(found.rounds < found.high)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("lost", [0, 1, 9, 10, 11, 12, 99, 100])
def test_the_ends_of_errors_of_which_some_are_not_known(lost: int) -> None:
    """A hundred and one errors: quantiles fall on one of them, or between two."""
    errors = np.random.default_rng(1).permutation(np.arange(101.0))[:, None] * [1.0, -1.0]
    known = np.arange(101) >= lost
    for tail in (0.1, 0.105):
        low, high = _ends(errors, known, tail)
        worst = [np.where(known[:, None], errors, extreme) for extreme in (-1e9, 1e9)]
        least, most = (
            np.quantile(w, q, axis=0) for w, q in zip(worst, (tail, 1 - tail), strict=True)
        )
        assert low == pytest.approx(np.where(least < -1e5, -np.inf, least))
        assert high == pytest.approx(np.where(most > 1e5, np.inf, most))


@pytest.mark.slow
@pytest.mark.parametrize("quiet", [1e-4, 0.003])
def test_quiet_actions_are_not_made_louder(quiet: float) -> None:
    """The floor of the strategy guards its design; the saving is of the noise that there is."""
    variances, policy = np.array([quiet, quiet, quiet, 1.0]), np.array([0.3, 0.3, 0.3, 0.1])
    bandit = LinearBandit(np.eye(4), np.zeros(4), variances=variances)
    ratios, held = [], 0
    for seed in range(8):
        rng = np.random.default_rng([seed, 7])
        trial = SPEED.practical().begin(np.eye(4), policy, 2000, rng=rng)
        commit(trial, lambda counts: bandit.pull(counts, rng))  # noqa: B023
        last = bandit.pull(trial.commitment.counts, rng)
        found = estimate_saving(trial, last, seed=seed, repetitions=60)
        true = pe_loss(policy, np.eye(4), variances, policy=policy)
        true /= trial.error_given_pulls(variances)
        ratios.append(found.rounds[1] / true)
        held += found.low[1] <= true <= found.high[1]
    assert 0.85 < np.median(ratios) < 1.18
    assert held >= 5


def test_rewards_without_noise_have_no_saving() -> None:
    bandit = LinearBandit(X, [1.0, 2.0], variances=np.zeros(len(X)))
    trial = STRATEGY.begin(X, POLICY, 600, rng=1)
    last = phases_of(trial, bandit, 1)[-1]
    with pytest.raises(ValueError, match=r"^rewards: they show no noise"):
        estimate_saving(trial, last, seed=1, repetitions=20)
