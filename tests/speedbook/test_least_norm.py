"""The exact least-norm covariance, against the library's least squares on noiseless data."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from speedbook.theory.least_norm import least_norm_covariance, variance
from speedlib import Rewards, estimate_covariance


def limit_by_library(actions, variances):
    """Least squares on scatters that are the variances, with an error of the means of zero."""
    counts = np.full(len(actions), 7)
    rewards = Rewards(counts, np.zeros(len(actions)), 7 * np.asarray(variances, dtype=float))
    return estimate_covariance(rewards, np.asarray(actions, dtype=float)).Sigma


@pytest.mark.parametrize("seed", range(10))
def test_agrees_with_least_squares(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 4))
    actions = rng.integers(-4, 5, (int(rng.integers(1, d + 1)), d))
    actions[:, 0] += 1 + np.arange(len(actions)) * 9
    values = rng.integers(1, 10, len(actions))
    exact = least_norm_covariance(actions.tolist(), values.tolist())
    found = [[float(entry) for entry in row] for row in exact]
    assert found == pytest.approx(limit_by_library(actions, values), rel=1e-7, abs=1e-9)
    rows = zip(actions.tolist(), values.tolist(), strict=True)
    assert all(variance(x, exact) == value for x, value in rows)


def test_by_hand():
    exact = least_norm_covariance([(1, 0), (1, 1)], [1, 3])
    assert exact == [[1, Fraction(2, 3)], [Fraction(2, 3), Fraction(2, 3)]]


def test_dependent_actions_are_refused():
    with pytest.raises(ValueError, match="linearly independent"):
        least_norm_covariance([(1, 2), (2, 4)], [1, 4])
