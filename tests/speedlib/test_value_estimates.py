"""Estimates of a value: their intervals, and what they print."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from speedlib.bandit import LinearBandit
from speedlib.estimators import ValueEstimate, normal_interval, policy_value

ALPHA = 1e-4


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_interval_has_normal_quantiles(level: float) -> None:
    estimate = ValueEstimate(np.array(2.0), np.array(0.5), np.array(True))
    low, high = estimate.interval(level)
    assert (low, high) == pytest.approx(stats.norm(2.0, 0.5).interval(level))


def test_the_ends_are_floats_for_one_trial_and_arrays_for_several() -> None:
    one = ValueEstimate(np.array(2.0), np.array(0.5), np.array(True), np.array(3.0))
    assert [type(end) for end in one.interval()] == [float, float]
    assert [type(end) for end in normal_interval(2, 0.5, 0.9)] == [float, float]
    several = ValueEstimate(np.zeros((7, 1)), np.ones((7, 1)), np.ones((7, 1), dtype=bool))
    assert [end.shape for end in several.interval()] == [(7, 1), (7, 1)]


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0, -0.5, float("nan")])
def test_levels_outside_the_unit_interval_are_refused(level: float) -> None:
    estimate = ValueEstimate(np.array(2.0), np.array(0.5), np.array(True))
    with pytest.raises(ValueError, match=f"level.*between 0 and 1.*{level}"):
        estimate.interval(level)


@pytest.mark.parametrize("noise", ["gaussian", "uniform"])
def test_intervals_cover_as_often_as_they_say(noise: str) -> None:
    rng = np.random.default_rng(6)
    bandit = LinearBandit(
        rng.normal(size=(4, 2)), [1.0, -2.0], Sigma=[[0.5, 0.2], [0.2, 0.4]], noise=noise
    )
    policy, size = np.array([0.4, 0.3, 0.2, 0.1]), 6000
    rewards = bandit.pull(np.broadcast_to([25, 10, 30, 15], (size, 4)), rng)
    result = policy_value(rewards, bandit.features, policy @ bandit.features, bandit.variances)
    errors = result.value - bandit.value(policy)
    assert abs(errors.mean()) < 4 * errors.std() / np.sqrt(size)
    for level in (0.5, 0.95):
        low, high = result.interval(level)
        covered = int(np.sum((low <= bandit.value(policy)) & (bandit.value(policy) <= high)))
        assert stats.binomtest(covered, size, level).pvalue > ALPHA


def test_estimates_print_what_matters() -> None:
    one = ValueEstimate(np.array(2.0), np.array(0.5), np.array(True))
    assert repr(one) == (
        "ValueEstimate(value=2, standard_error=0.5, 95% interval=(1.02002, 2.97998))"
    )
    many = ValueEstimate(np.zeros(7), np.ones(7), np.ones(7, dtype=bool))
    assert repr(many) == "ValueEstimate(7 replications)"
