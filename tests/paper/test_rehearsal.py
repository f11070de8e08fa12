"""A rehearsal does not depend on the units of the features."""

from __future__ import annotations

import numpy as np
import pytest

from paper.rehearsal import rehearsal_bandit
from speedlib import SPEED, pe_loss, play


def table(seed: int = 1, actions: int = 12) -> np.ndarray:
    """Return features of the sizes that made nonsense of raw units."""
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.uniform(10, 17, actions), rng.uniform(13, 27, actions)])


def draw(X: np.ndarray, seed: int = 5, **choices):
    return rehearsal_bandit(X, rng=np.random.default_rng(seed), **choices)


@pytest.mark.parametrize("units", [[1e-6, 1e3], [1e-25, 1e20], [1, 2.54]])
def test_units_change_neither_means_nor_variances(units) -> None:
    X = np.column_stack([table(), np.zeros(12), np.ones(12)])
    units = [*units, 1e5, 1e-7]
    choices = {"effects": 0.7, "noise": [0.2, 2.0, 1.0, 0.1]}
    plain, other = draw(X, **choices), draw(X * units, **choices)
    np.testing.assert_allclose(other.means, plain.means, rtol=1e-10)
    np.testing.assert_allclose(other.variances, plain.variances, rtol=1e-10)


def test_effects_are_those_of_a_standard_deviation_and_noise_that_of_a_usual_size() -> None:
    X = table()
    drawn = [draw(X, seed, effects=0.5, noise=[0.2, 3.0]) for seed in range(500)]
    moves = np.array([bandit.theta * X.std(axis=0) for bandit in drawn])
    assert moves.std(axis=0) == pytest.approx([0.5, 0.5], rel=0.12)
    assert abs(moves.mean(axis=0)).max() < 0.08
    assert drawn[0].variances.mean() == pytest.approx(0.2**2 + 3.0**2)


def test_a_constant_feature_moves_all_actions_by_one_effect() -> None:
    X = np.full((5, 1), 1e-3)
    means = [draw(X, seed).means for seed in range(500)]
    assert np.std(means) == pytest.approx(1, rel=0.12)


def test_a_plain_average_is_not_made_hopeless_by_units() -> None:
    """In raw units the spread of the means, and with it this ratio, was a hundred times larger."""
    X, policy = table(), np.full(12, 1 / 12)
    for seed in range(20):
        bandit = draw(X, seed)
        between = policy @ (bandit.means - policy @ bandit.means) ** 2
        assert between <= 30 * policy @ bandit.variances


def test_an_experiment_goes_the_same_way_in_any_unit() -> None:
    X, policy = table(), np.full(12, 1 / 12)
    strategy = SPEED(exploration="identifiable", covariance="psd", rounding="efficient")
    found = []
    for unit in (1, 1e-6):
        bandit, rng = draw(X * unit), np.random.default_rng(3)
        estimate = play(
            strategy.begin(X * unit, policy, 500, rng=2), lambda n, b=bandit, r=rng: b.pull(n, r)
        )
        found.append(float(estimate.value))
        assert pe_loss(policy, X * unit, bandit.variances, policy=policy) > 0
    assert found[0] == pytest.approx(found[1], rel=1e-6)


@pytest.mark.parametrize("noise", [[1.0], [1.0, 1.0, 1.0], [1.0, 0.0], [1.0, -1.0], [1.0, np.nan]])
def test_noise_that_does_not_fit_is_refused(noise) -> None:
    with pytest.raises(
        ValueError, match=r"noise: give 2 numbers greater than 0, one for each feature"
    ):
        draw(table(), noise=noise)


@pytest.mark.parametrize("effects", [-1.0, np.nan])
def test_effects_that_are_none_are_refused(effects) -> None:
    with pytest.raises(ValueError, match=r"effects: must be at least 0; got"):
        draw(table(), effects=effects)
