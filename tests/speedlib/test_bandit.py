"""The bandit and its two ways of drawing rewards: summarised at once, and one by one."""

from __future__ import annotations

import dataclasses
import math
import re

import numpy as np
import pytest
from scipy import stats

from speedlib import bandit as module
from speedlib.bandit import NOISE_LAWS, LinearBandit, standard_noise
from speedlib.rewards import Rewards

from .per_round import play

#: A correct program fails a random test with this probability; all seeds were chosen once.
ALPHA = 1e-4
LAWS = sorted(NOISE_LAWS)

#: kappa = E[eta^4] - 1 of the standardised laws, from their fourth moments.
KAPPA = {
    "gaussian": 3 - 1,
    "uniform": 9 / 5 - 1,
    "rademacher": 1 - 1,
    "laplace": 6 - 1,
    "student": 3 + 6 / (5 - 4) - 1,
}


def two_armed(noise: str = "gaussian") -> LinearBandit:
    return LinearBandit(
        [[1.0, 0.0], [1.0, 1.0]], [2.0, -0.5], Sigma=[[0.5, -0.1], [-0.1, 0.3]], noise=noise
    )


def z_score(sample: np.ndarray, mean: float) -> float:
    if np.ptp(sample) < 1e-12:  # two coins: half of the scatters are 0, half are 2 sigma^2
        return 0.0 if sample[0] == pytest.approx(mean) else math.inf
    return float((sample.mean() - mean) / (sample.std(ddof=1) / math.sqrt(sample.size)))


def test_means_and_variances_by_hand() -> None:
    bandit = two_armed()
    assert bandit.means.tolist() == [2.0, 1.5]
    # (1,1) Sigma (1,1)' = .5 - .1 - .1 + .3
    assert bandit.variances == pytest.approx([0.5, 0.6], rel=1e-15)
    assert (bandit.n_actions, bandit.d) == (2, 2)
    assert bandit.value([0.25, 0.75]) == pytest.approx(0.25 * 2.0 + 0.75 * 1.5)


def test_variances_of_random_bandits() -> None:
    rng = np.random.default_rng(1)
    features, root = rng.normal(size=(6, 3)), rng.normal(size=(3, 3))
    bandit = LinearBandit(features, rng.normal(size=3), Sigma=root @ root.T)
    for x, variance in zip(features, bandit.variances, strict=True):
        assert variance == pytest.approx(np.linalg.norm(root.T @ x) ** 2, rel=1e-12)


def test_singular_sigma_gives_zero_and_never_negative_variances() -> None:
    normal = np.array([3.0, -1.0, 0.7])
    features = np.random.default_rng(2).normal(size=(500, 3))
    flat = features - np.outer(features @ normal, normal) / (normal @ normal)
    bandit = LinearBandit(flat, np.zeros(3), Sigma=np.outer(normal, normal))
    assert np.all(bandit.variances >= 0)
    assert bandit.variances.max() < 1e-13


def test_variances_without_sigma() -> None:
    # No semidefinite Sigma gives these: its off-diagonal entry would have to be -.475.
    features = [[1.0, 0.0], [0.0, 1.0], [np.sqrt(0.5), np.sqrt(0.5)]]
    bandit = LinearBandit(features, [0.0, 0.0], variances=[0.05, 1.0, 0.05])
    assert bandit.Sigma is None
    assert bandit.variances.tolist() == [0.05, 1.0, 0.05]


def test_bandit_keeps_its_own_unchangeable_arrays() -> None:
    features = np.eye(2)
    bandit = LinearBandit(features, [1.0, 0.0], Sigma=np.eye(2))
    features[0, 0] = 7.0
    assert bandit.features[0, 0] == 1.0
    for array in (bandit.features, bandit.theta, bandit.Sigma, bandit.variances):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        bandit.noise = "laplace"  # type: ignore[misc]


def test_noise_law_can_be_replaced() -> None:
    other = dataclasses.replace(two_armed(), noise="laplace")
    assert other.kappa == 5.0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"Sigma": None}, "Sigma or variances.*neither"),
        ({"variances": [1.0, 2.0]}, "variances must agree with Sigma.*2"),
        ({"Sigma": None, "variances": [1.0, -1.0]}, "variances.*at least 0.*-1"),
        ({"Sigma": None, "variances": [1.0]}, r"variances.*\(2,\).*\(1,\)"),
        ({"Sigma": [[1.0, 2.0], [2.0, 1.0]]}, "Sigma.*semidefinite.*-1"),
        ({"Sigma": [[1.0, 0.5], [0.0, 1.0]]}, "Sigma.*symmetric"),
        ({"Sigma": [1.0, 1.0]}, r"Sigma.*\(2, 2\).*\(2,\)"),
        ({"theta": [1.0]}, r"theta.*\(2,\).*\(1,\)"),
        ({"theta": [1.0, float("nan")]}, "theta.*finite.*nan"),
        ({"features": [[1.0, float("inf")], [0.0, 1.0]]}, "features.*finite.*inf"),
        ({"features": [1.0, 0.0]}, r"features.*\(A, d\).*\(2,\)"),
        ({"noise": "cauchy"}, "noise.*'gaussian'.*'cauchy'"),
    ],
)
def test_bad_bandits_are_refused(changes: dict, message: str) -> None:
    arguments = {"features": np.eye(2), "theta": [0.0, 0.0], "Sigma": np.eye(2)}
    with pytest.raises(ValueError, match=message):
        LinearBandit(**(arguments | changes))


def test_value_checks_the_policy() -> None:
    with pytest.raises(ValueError, match=r"policy.*sum to 1.*got sum 0.9"):
        two_armed().value([0.4, 0.5])


def test_pull_checks_the_counts() -> None:
    rng = np.random.default_rng(0)
    for counts, message in [([1], r"\(\.\.\., 2\)"), ([1, -2], "at least 0.*-2")]:
        with pytest.raises(ValueError, match=f"counts.*{message}"):
            two_armed().pull(counts, rng)


@pytest.mark.parametrize("actions", [[-1], [0.7], [2]])
def test_pull_each_checks_the_actions(actions: list) -> None:
    with pytest.raises((TypeError, ValueError), match="actions"):
        two_armed().pull_each(actions, np.random.default_rng(0))


def test_pull_checks_the_source_of_randomness() -> None:
    with pytest.raises(TypeError, match="rng"):
        two_armed().pull([1, 1], "seed")  # type: ignore[arg-type]


# --- the laws -----------------------------------------------------------------------------------


def test_kappa_of_the_laws() -> None:
    assert pytest.approx(KAPPA) == NOISE_LAWS
    assert two_armed("laplace").kappa == 5.0


@pytest.mark.parametrize("law", LAWS)
def test_standard_noise_has_the_law(law: str) -> None:
    noise = standard_noise(law, 40_000, np.random.default_rng(3))
    if law == "rademacher":
        assert set(noise) == {-1.0, 1.0}
        assert stats.binomtest(int((noise > 0).sum()), noise.size).pvalue > ALPHA
        return
    exact = {
        "gaussian": stats.norm(),
        "uniform": stats.uniform(-math.sqrt(3), 2 * math.sqrt(3)),
        "laplace": stats.laplace(scale=math.sqrt(1 / 2)),
        "student": stats.t(df=5, scale=math.sqrt(3 / 5)),
    }[law]
    assert exact.var() == pytest.approx(1.0)
    assert stats.kstest(noise, exact.cdf).pvalue > ALPHA


def test_unknown_law_is_refused() -> None:
    with pytest.raises(ValueError, match=r"noise.*'rademacher'.*'levy'"):
        standard_noise("levy", 1, np.random.default_rng(0))


@pytest.mark.parametrize("law", LAWS)
def test_moments_of_summaries(law: str) -> None:
    """Mean and variance of the average; mean of the scatter; and the two are uncorrelated."""
    bandit, counts = two_armed(law), np.array([2, 9])
    rewards = bandit.pull(np.broadcast_to(counts, (40_000, 2)), np.random.default_rng(4))
    limit = stats.norm.isf(ALPHA / 2)
    for a, T in enumerate(counts):
        variance = bandit.variances[a]
        centred = rewards.means[:, a] - bandit.means[a]
        assert abs(z_score(rewards.means[:, a], bandit.means[a])) < limit
        assert abs(z_score(centred**2, variance / T)) < limit
        assert abs(z_score(rewards.scatters[:, a], (T - 1) * variance)) < limit
        assert abs(z_score(centred * (rewards.scatters[:, a] - (T - 1) * variance), 0.0)) < limit
        # Var S = (T-1)^2 sigma^4 ((kappa - 2)/T + 2/(T-1)); squares of Student's law have no CLT.
        if law != "student":
            spread = (T - 1) ** 2 * variance**2 * ((KAPPA[law] - 2) / T + 2 / (T - 1))
            squares = (rewards.scatters[:, a] - (T - 1) * variance) ** 2
            assert abs(z_score(squares, spread)) < limit


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
def test_summaries_against_single_draws(law: str) -> None:
    """`pull` against the log of `pull_each` and of a third, one-by-one simulator."""
    bandit, counts, size = two_armed(law), np.array([1, 5]), 3000
    fast = bandit.pull(np.broadcast_to(counts, (size, 2)), np.random.default_rng(5))
    actions = np.repeat([0, 1], counts)
    each_rng, own_rng = np.random.default_rng(6), np.random.default_rng(7)
    each = [Rewards.from_log(actions, bandit.pull_each(actions, each_rng), 2) for _ in range(size)]
    own = [
        Rewards.from_log(actions, [play(bandit, a, own_rng) for a in actions], 2)
        for _ in range(size)
    ]
    for single in (each, own):
        means = np.array([r.means for r in single])
        scatters = np.array([r.scatters for r in single])
        # Rounded, because equal atoms of Rademacher sums differ in the last digit.
        for a in (0, 1):
            test = stats.ks_2samp(fast.means[:, a].round(9), means[:, a].round(9))
            assert test.pvalue > ALPHA
        assert stats.ks_2samp(fast.scatters[:, 1].round(9), scatters[:, 1].round(9)).pvalue > ALPHA
        assert np.all(scatters[:, 0] == 0)
    assert np.all(fast.scatters[:, 0] == 0)


@pytest.mark.parametrize("law", LAWS)
def test_shapes_and_empty_cells(law: str) -> None:
    bandit, rng = two_armed(law), np.random.default_rng(8)
    counts = np.array([[[0, 3], [1, 0]], [[2, 2], [0, 0]], [[5, 1], [4, 4]]])
    rewards = bandit.pull(counts, rng)
    assert rewards.counts.tolist() == counts.tolist()
    assert rewards.means.shape == rewards.scatters.shape == counts.shape
    assert not rewards.means[counts == 0].any()
    assert not rewards.scatters[counts <= 1].any()
    assert np.all(rewards.means[counts > 0] != 0)
    if law != "rademacher":  # two coins may well fall alike
        assert np.all(rewards.scatters[counts > 1] > 0)
    assert bandit.pull([0, 0], rng).rounds == 0


@pytest.mark.parametrize("law", LAWS)
def test_replications_and_actions_are_independent(law: str) -> None:
    bandit = two_armed(law)
    rewards = bandit.pull(np.full((20_000, 2), 3), np.random.default_rng(9))
    centred = rewards.means - bandit.means
    limit = stats.norm.isf(ALPHA / 2)
    assert abs(z_score(centred[:, 0] * centred[:, 1], 0.0)) < limit
    assert abs(z_score(centred[1:, 0] * centred[:-1, 0], 0.0)) < limit
    assert len(np.unique(centred[:, 1].round(9))) > 3


def test_rewards_depend_on_the_seed_alone() -> None:
    bandit, counts = two_armed("laplace"), [[3, 4], [5, 6]]
    one, again, other = (bandit.pull(counts, np.random.default_rng(s)) for s in (1, 1, 2))
    assert one.means.tolist() == again.means.tolist()
    assert np.all(one.means != other.means)


@pytest.mark.parametrize("law", ["uniform", "laplace", "student"])
def test_drawing_in_runs_changes_nothing(law: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bandit, counts = two_armed(law), [[3, 0], [25, 1], [0, 0], [4, 8]]
    whole = bandit.pull(counts, np.random.default_rng(10))
    monkeypatch.setattr(module, "_CHUNK", 7)
    parts = bandit.pull(counts, np.random.default_rng(10))
    assert parts.means == pytest.approx(whole.means, rel=1e-14)
    assert parts.scatters == pytest.approx(whole.scatters, rel=1e-12)


def test_no_noise_means_exact_rewards() -> None:
    bandit = LinearBandit(np.eye(2), [0.3, 0.7], variances=[0.0, 0.0])
    rewards = bandit.pull([4, 5], np.random.default_rng(0))
    assert rewards.means.tolist() == [0.3, 0.7]
    assert rewards.scatters.tolist() == [0.0, 0.0]
    assert bandit.pull_each([1, 0], np.random.default_rng(0)).tolist() == [0.7, 0.3]


def test_a_hundred_million_gaussian_pulls_cost_nothing() -> None:
    rewards = two_armed().pull([10**8, 10**8], np.random.default_rng(12))
    sd = np.sqrt(two_armed().variances / 1e8)
    assert np.all(np.abs(rewards.means - two_armed().means) < 5 * sd)
    assert rewards.scatters / 1e8 == pytest.approx(two_armed().variances, rel=1e-3)


def test_quadratic_form_of_a_stack() -> None:
    rng = np.random.default_rng(13)
    features, matrices = rng.normal(size=(5, 3)), rng.normal(size=(2, 4, 3, 3))
    values = module.quadratic_form(features, matrices)
    assert values.shape == (2, 4, 5)
    for i, j, a in [(0, 0, 0), (1, 3, 4), (0, 2, 1)]:
        expected = sum(
            features[a, p] * matrices[i, j, p, q] * features[a, q]
            for p in range(3)
            for q in range(3)
        )
        assert values[i, j, a] == pytest.approx(expected, rel=1e-12)


def test_message_of_the_class_names_the_shape() -> None:
    with pytest.raises(ValueError, match=re.escape("got shape (2, 2, 1)")):
        LinearBandit(np.zeros((2, 2, 1)), [0.0, 0.0], Sigma=np.eye(2))


def test_one_action_is_drawn_in_runs_too(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []

    def recorded(law: str, size: int, rng: np.random.Generator) -> np.ndarray:
        sizes.append(size)
        return standard_noise(law, size, rng)

    monkeypatch.setattr(module, "_CHUNK", 7)
    monkeypatch.setattr(module, "standard_noise", recorded)
    two_armed("laplace").pull([100, 100], np.random.default_rng(0))
    assert sum(sizes) == 200
    assert max(sizes) <= 2 * 7
