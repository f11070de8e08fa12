"""What a plan promises, and what daily looks do: against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from paper.planned import missed_by_looking, planned_half_lengths
from speedlib import SPEED, LinearBandit


def test_the_target_policy_is_as_precise_as_its_variance_says() -> None:
    """One-hot actions of one mean: the average has the variance sum pi sigma^2 / n."""
    variances, policy = np.array([1.0, 4.0]), np.array([0.7, 0.3])
    bandit = LinearBandit(np.eye(2), [2.0, 2.0], variances=variances)
    halves = planned_half_lengths(
        SPEED.practical(), bandit, policy, 900, level=0.95, repetitions=60, seed=1
    )
    expected = 1.96 * np.sqrt(policy @ variances / 900)
    assert np.median(halves[1]) == pytest.approx(expected, rel=0.05)
    best = 1.96 * (policy @ np.sqrt(variances)) / np.sqrt(900)
    assert best * 0.95 < np.median(halves[0]) < expected


def test_money_buys_rounds_of_the_policy() -> None:
    bandit = LinearBandit(np.eye(2), [2.0, 2.0], variances=[1.0, 1.0])
    halves = [
        np.median(
            planned_half_lengths(
                SPEED.practical(), bandit, np.array([0.5, 0.5]), 900,
                level=0.9, repetitions=30, seed=2, limits={"costs": costs, "most": None},
            )[1]
        )
        for costs in (None, np.array([4.0, 4.0]))
    ]  # fmt: skip
    assert halves[1] == pytest.approx(2 * halves[0], rel=0.15)


def test_looks_err_as_often_as_a_normal_law_says() -> None:
    """One look: the level. Two: the chance that a bivariate normal law gives."""
    rng = np.random.default_rng(1)
    one, two, ten = missed_by_looking([1, 2, 10], level=0.95, repetitions=40_000, rng=rng)
    z = stats.norm.ppf(0.975)
    root = np.sqrt(0.5)
    law = stats.multivariate_normal(cov=[[1, root], [root, 1]])
    inside = law.cdf([z, z], lower_limit=[-z, -z])
    error = 4 * np.sqrt(0.1 * 0.9 / 40_000)
    assert one == pytest.approx(0.05, abs=error)
    assert two == pytest.approx(1 - inside, abs=error)
    assert 0.17 < ten < 0.22
