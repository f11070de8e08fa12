"""The adversary against statements whose worst case is known."""

import math

import numpy as np
import pytest

from paper.adversary import Bandits, search


def line(rng):
    return rng.uniform(-10, 10)


def nudge(x, scale, rng):
    return x + scale * rng.standard_normal()


@pytest.mark.parametrize("budget", [1, 2, 7, 50, 301])
@pytest.mark.parametrize("starts", [1, 3])
def test_the_budget_is_kept_and_the_trace_is_the_running_worst(budget, starts):
    seen = []

    def objective(x):
        seen.append(-abs(x - 1))
        return seen[-1]

    found = search(objective, line, nudge, budget, np.random.default_rng(3), starts=starts)
    assert found.evaluations == budget == len(seen) == len(found.trace)
    assert np.array_equal(found.trace, np.maximum.accumulate(seen))
    assert found.value == max(seen) == -abs(found.instance - 1)


def test_equal_generators_find_the_same():
    def run(seed):
        family = Bandits(3, 6, 9)
        rng = np.random.default_rng(seed)
        return search(lambda b: b.ratio, family.sample, family.perturb, 60, rng)

    first, second, other = run(1), run(1), run(2)
    assert np.array_equal(first.trace, second.trace)
    assert np.array_equal(first.instance.directions, second.instance.directions)
    assert first.value != other.value


def test_a_corner_that_draws_hardly_meet_is_found_by_small_steps():
    """That eight numbers below 1 add to no more than 7.9 fails in less than one draw in 1e9."""

    def corner(rng):
        return rng.uniform(0, 1, 8)

    def move(x, scale, rng):
        return np.clip(x + scale * rng.standard_normal(8), 0, 1)

    rng = np.random.default_rng(5)
    drawn = max(corner(rng).sum() for _ in range(3000))
    found = search(np.sum, corner, move, 3000, rng, enough=7.9)
    assert drawn < 7.3
    assert found.value > 7.9
    assert found.evaluations < 3000
    assert np.all(found.trace[:-1] <= 7.9)


def test_what_breaks_the_conditions_is_never_the_worst():
    def objective(x):
        return x if x < 2 else (math.nan if x < 5 else -math.inf)

    found = search(objective, line, nudge, 2000, np.random.default_rng(7))
    assert 1.99 < found.value < 2
    with pytest.raises(ValueError, match="none of 5 instances"):
        search(lambda x: math.nan, line, nudge, 5, np.random.default_rng(7))
    for wrong in ({"budget": 0}, {"budget": 5, "starts": 0}):
        with pytest.raises(ValueError, match="must be at least 1"):
            search(abs, line, nudge, rng=np.random.default_rng(7), **wrong)


def test_a_wrong_inequality_between_designs_is_refuted():
    """A smallest variance of half the largest eigenvalue is claimed; the truth is the smallest."""
    family = Bandits(2, 3, log_ratio=math.log(50))

    def objective(bandit):
        return np.linalg.eigvalsh(bandit.Sigma)[-1] / 2 / bandit.variances.min()

    found = search(objective, family.sample, family.perturb, 1500, np.random.default_rng(11))
    # The true worst case is an action on the short axis: half the ratio of the eigenvalues.
    assert found.value == pytest.approx(25, rel=1e-3)


def test_bandits_stay_within_their_limits():
    family = Bandits(3, 5, most_copies=7, log_ratio=math.log(20), log_policy=math.log(30))
    rng = np.random.default_rng(13)
    bandit = family.sample(rng)
    sizes = set()
    for _ in range(300):
        bandit = family.perturb(bandit, rng.choice([1e-3, 0.3, 2.0]), rng)
        X, variances, policy = bandit.actions()
        sizes.update(bandit.copies)
        assert np.linalg.norm(X, axis=1) == pytest.approx(np.ones(len(X)))
        assert len(X) == bandit.copies.sum() == len(variances) == len(policy)
        assert variances == pytest.approx(np.einsum("ai,ij,aj->a", X, bandit.Sigma, X))
        eigenvalues = np.linalg.eigvalsh(bandit.Sigma)
        assert eigenvalues[-1] == pytest.approx(1)
        assert eigenvalues[0] > 1 / 20 - 1e-9
        assert policy.sum() == pytest.approx(1)
        assert np.all(policy >= 0)
        assert bandit.shares.max() / bandit.shares.min() < 30 + 1e-6
        firsts = np.cumsum(bandit.copies) - bandit.copies
        assert np.add.reduceat(policy, firsts) == pytest.approx(bandit.shares)
    assert sizes == set(range(1, 8))
    longest, shortest = [], []
    family = Bandits(2, 3, log_length=math.log(5))
    bandit = family.sample(rng)
    for _ in range(300):
        bandit = family.perturb(bandit, rng.choice([1e-3, 0.3, 2.0]), rng)
        lengths = np.linalg.norm(bandit.actions()[0], axis=1)
        longest.append(lengths.max())
        shortest.append(lengths.min())
    assert np.array(longest) == pytest.approx(np.ones(300))
    assert 0.2 - 1e-9 <= min(shortest) < 0.21 < 0.5 < max(shortest)
    with pytest.raises(ValueError, match="at least the dimension"):
        Bandits(3, 2)
