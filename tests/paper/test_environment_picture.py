"""The picture of an environment: what it draws, and what its words say."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

from paper.plots import environment, show_environment
from speedlib import optimal_design

ARROWS = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
POLICY = np.array([0.5, 0.3, 0.2])


@pytest.fixture
def shown(monkeypatch):
    """What is displayed: figure, name and alt text."""
    found = []
    monkeypatch.setattr(
        environment.figures, "show", lambda fig, name, alt: found.append((fig, name, alt))
    )
    yield found
    plt.close("all")


def heights(ax) -> dict[str, list[float]]:
    return {bars.get_label(): [bar.get_height() for bar in bars] for bars in ax.containers}


def test_arrows_bars_and_words_are_those_of_the_library(shown):
    Sigma = np.array([[0.2, 0.1], [0.1, 0.6]])
    variances = [arrow @ Sigma @ arrow for arrow in ARROWS]
    best = optimal_design(ARROWS, np.array(variances), policy=POLICY).weights
    show_environment(ARROWS, POLICY, name="here", Sigma=Sigma)
    ((fig, name, alt),) = shown
    plane, bars = fig.axes
    assert name == "here"
    arrows = [text for text in plane.texts if text.arrow_patch is not None]
    tips = np.array([text.xy for text in arrows])
    np.testing.assert_allclose(tips, [*ARROWS, POLICY @ ARROWS])
    drawn = heights(bars)
    np.testing.assert_allclose(drawn["policy"], 100 * POLICY)
    np.testing.assert_allclose(drawn["optimal"], 100 * best)
    low, high = np.sqrt([min(variances), max(variances)])
    assert f"from {low:.3g} to {high:.3g}" in alt
    for action in np.flatnonzero(best):
        assert f"{100 * best[action]:.0f} % to action {action + 1}" in alt


def test_the_ellipse_is_as_wide_as_the_noise_in_each_direction(shown):
    Sigma = np.array([[0.2, 0.1], [0.1, 0.6]])
    show_environment(ARROWS, POLICY, name="here", Sigma=Sigma)
    (patch,) = shown[0][0].axes[0].patches
    outline = patch.get_xy()
    for angle in np.linspace(0, np.pi, 7):
        unit = np.array([np.cos(angle), np.sin(angle)])
        wide, sigma = (outline @ unit).max(), np.sqrt(unit @ Sigma @ unit)
        expected = environment.ELLIPSE * sigma / np.sqrt(np.linalg.eigvalsh(Sigma).max())
        assert wide == pytest.approx(expected, rel=1e-3)


def test_without_a_matrix_or_a_plane_there_are_bars_alone(shown):
    show_environment(np.eye(3), POLICY, name="here", variances=[1, 4, 9])
    assert len(shown[0][0].axes) == 1
    labels = [label.get_text() for label in shown[0][0].axes[0].get_xticklabels()]
    assert labels == ["1\n1", "2\n2", "3\n3"]


def test_many_actions_are_dots_over_their_noise(shown):
    X = np.random.default_rng(0).normal(size=(60, 3))
    show_environment(X, np.full(60, 1 / 60), name="here", Sigma=np.eye(3))
    policy, best = shown[0][0].axes[0].lines
    assert len(policy.get_xdata()) == 60
    assert sum(best.get_ydata()) == pytest.approx(100)


@pytest.mark.parametrize("given", [{}, {"Sigma": np.eye(2), "variances": np.ones(3)}])
def test_noise_is_given_in_one_way(given):
    with pytest.raises(ValueError, match="Sigma, variances: give one of the two"):
        show_environment(ARROWS, POLICY, name="here", **given)


def test_of_arrows_that_are_close_the_optimal_ones_keep_their_numbers(shown):
    angles = np.deg2rad([45, 43, 41, 0, 90])
    arrows = np.column_stack([np.cos(angles), np.sin(angles)])
    policy, variances = np.full(5, 0.2), np.array([1, 0.5, 1, 9, 9])
    design = optimal_design(arrows, variances, policy=policy)
    show_environment(arrows, policy, name="here", variances=variances)
    numbers = {text.get_text() for text in shown[0][0].axes[0].texts} - {"", "c", "noise"}
    assert 1 in design.support
    assert {f"{a + 1}" for a in design.support} <= numbers
    assert numbers < {"1", "2", "3", "4", "5"}
