"""Rounds by action stay readable however many actions there are."""

from __future__ import annotations

import itertools
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest

from paper.plots import plot_allocation
from paper.plots.allocation import FEW, MOST, NAMED, root_ticks
from speedbook import figures

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def house_style() -> Any:
    with plt.rc_context():
        figures.use_style()
        yield
        plt.close("all")


def rounds(actions: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(actions)
    policy = 3000 * rng.dirichlet(np.ones(actions))
    explored, committed = np.zeros(actions), np.zeros(actions)
    explored[:4], committed[:2] = 50, [2000, 700][:actions]
    return policy, explored, committed


def drawn(actions: int) -> tuple[Any, tuple[np.ndarray, ...]]:
    numbers = rounds(actions)
    names = [f"an action with a long name, number {k}, of {actions}" for k in range(actions)]
    fig = plot_allocation(names, *numbers)
    return fig, numbers


@pytest.mark.slow
@pytest.mark.parametrize("actions", [1, FEW, FEW + 1, 250])
def test_names_do_not_overlap_and_the_picture_is_light(actions: int) -> None:
    fig, _ = drawn(actions)
    fig.canvas.draw()
    (ax,) = fig.axes
    for axis in (ax.yaxis, ax.xaxis):
        boxes = [label.get_window_extent() for label in axis.get_ticklabels() if label.get_text()]
        assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    assert fig.get_figheight() <= 0.55 * FEW + 1.4
    assert ax.get_window_extent().width > 0.3 * fig.bbox.width
    assert len(figures.png_of(fig)) < figures.MAX_PNG_BYTES


@pytest.mark.slow
@pytest.mark.parametrize("actions", [8, 52, 250])
def test_every_number_is_drawn(actions: int) -> None:
    fig, (policy, explored, committed) = drawn(actions)
    (ax,) = fig.axes
    shown = {str(bars.get_label()): bars for bars in ax.containers}
    widths = {name: [bar.get_width() for bar in bars] for name, bars in shown.items()}
    np.testing.assert_allclose(widths["SPEED, exploring"], explored)
    np.testing.assert_allclose(widths["SPEED, committed"], committed)
    if actions <= FEW:
        np.testing.assert_allclose(widths["target policy"], policy)
    else:
        (dots,) = ax.lines
        np.testing.assert_allclose(dots.get_xdata(), policy)
        assert len(ax.get_yticks()) <= NAMED
        assert 0 in ax.get_yticks() or 1 in ax.get_yticks()
    low, high = ax.get_ylim()
    assert low > high and high <= 0 and low >= actions - 1


@pytest.mark.slow
def test_of_very_many_actions_those_with_the_most_rounds_are_shown() -> None:
    fig, (policy, explored, committed) = drawn(1000)
    (ax,) = fig.axes
    assert f"for the {MOST} of 1000 actions with the most" in ax.get_title(loc="left")
    most = np.maximum(policy, explored + committed)
    (dots,) = ax.lines
    kept = np.flatnonzero(most >= np.sort(most)[-MOST])
    np.testing.assert_allclose(dots.get_xdata(), policy[kept])


@pytest.mark.parametrize("most", [1, 2, 9.5, 60, 1e3, 123456, 1e7])
def test_ticks_are_round_and_apart(most: float) -> None:
    ticks = np.sqrt(root_ticks(most))
    assert ticks[0] == 0 and 2 <= len(ticks) <= 8 and ticks[-1] ** 2 >= 0.4 * most
    assert np.diff(ticks).min() >= 0.149 * np.sqrt(most)
