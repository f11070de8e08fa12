"""How strategies look: told apart by every eye, every point drawn, every curve named."""

from __future__ import annotations

import itertools
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgb
from matplotlib.text import Text
from scipy.optimize import LinearConstraint, minimize

from paper.plots import strategies as plots
from speedbook import figures
from speedlib import SPEED, OnPolicy, mse_curve, unit_ball

matplotlib.use("Agg")

ROUNDS = np.array([100, 1_000, 10_000])
CURVES = {
    "Oracle": (ROUNDS, 0.051 / ROUNDS, 0.001 / ROUNDS),
    "SPEED": (ROUNDS, 0.06 / ROUNDS, 0.001 / ROUNDS),
    "On-policy": (ROUNDS, 0.085 / ROUNDS, 0.002 / ROUNDS),
}


pytestmark = pytest.mark.usefixtures("house_style")


def drawn(curves: Any = None) -> Any:
    fig, ax = plt.subplots()
    plots.plot_mse(ax, CURVES if curves is None else curves)
    return fig


# Colours.


def luminance(colour: str | tuple[float, ...]) -> float:
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return float(np.dot([0.2126, 0.7152, 0.0722], parts))


def contrast_on_white(colour: str | tuple[float, ...]) -> float:
    return 1.05 / (luminance(colour) + 0.05)


@pytest.mark.parametrize("name", plots.STRATEGIES)
def test_lines_and_letters_stand_out_from_white(name: str) -> None:
    # WCAG 2: at least 3 for what is drawn, 4.5 for what is written.
    color = plots.strategy_style(name)["color"]
    assert contrast_on_white(color) >= 3
    assert contrast_on_white(plots.darker(color)) >= 4.5


@pytest.mark.parametrize("name", figures.COLOURS)
def test_every_colour_of_the_house_stands_out_from_white(name: str) -> None:
    assert contrast_on_white(figures.COLOURS[name]) >= 3


@pytest.mark.parametrize("name", figures.PALE)
def test_letters_stand_out_from_pale_areas(name: str) -> None:
    pale, ink = (0.05 + luminance(colour) for colour in (figures.PALE[name], figures.INK))
    assert pale / ink >= 7


def test_strategies_have_colours_of_the_house() -> None:
    assert {style["color"] for style in plots.STRATEGIES.values()} <= {*figures.COLOURS.values()}


def test_no_two_strategies_are_drawn_alike_without_their_colours() -> None:
    grey = [
        (style["marker"], style["linestyle"], style.get("markerfacecolor"))
        for style in plots.STRATEGIES.values()
    ]
    assert len({repr(each) for each in grey}) == len(grey)


# How the missing cones of red-green blindness (Viénot, Brettel and Mollon 1999) mix linear RGB.
PROTANOPIA = np.array([[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]])
DEUTERANOPIA = np.array([[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]])


def lab(colour: str, eye: np.ndarray) -> np.ndarray:
    linear = np.array(
        [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    )
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    x, y, z = np.cbrt(to_xyz @ np.clip(eye @ linear, 1e-3, 1) / [0.9505, 1.0, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize(
    "eye", [np.eye(3), PROTANOPIA, DEUTERANOPIA], ids=["all", "no red", "no green"]
)
def test_the_three_main_strategies_keep_apart_for_every_eye(eye: np.ndarray) -> None:
    for one, other in itertools.combinations(["Oracle", "SPEED", "On-policy"], 2):
        colours = [plots.strategy_style(name)["color"] for name in (one, other)]
        assert np.linalg.norm(lab(colours[0], eye) - lab(colours[1], eye)) > 25


def test_an_unknown_strategy_is_refused_with_the_names_that_exist() -> None:
    with pytest.raises(ValueError, match=r"expected one of Oracle, SPEED.*got 'oracle'"):
        plots.strategy_style("oracle")


@pytest.mark.parametrize(
    "eye", [np.eye(3), PROTANOPIA, DEUTERANOPIA], ids=["all", "no red", "no green"]
)
def test_the_first_colours_that_a_figure_takes_keep_apart_for_every_eye(eye: np.ndarray) -> None:
    first = [*figures.COLOURS.values()][:3]
    for one, other in itertools.combinations(first, 2):
        assert np.linalg.norm(lab(one, eye) - lab(other, eye)) > 25


# Curves.


def test_plot_mse_draws_every_point_with_its_standard_error() -> None:
    ax = drawn().axes[0]
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    for drawing, (rounds, mean, _) in zip(ax.containers, CURVES.values(), strict=True):
        points = drawing.lines[0].get_xydata()
        np.testing.assert_array_equal(points, np.column_stack([rounds, mean]))
    bars = np.array([bar.get_segments() for bar in ax.collections])
    spans = bars[:, :, 1, 1] - bars[:, :, 0, 1]
    np.testing.assert_allclose(spans, [2 * stderr for _, _, stderr in CURVES.values()])


def test_the_title_says_what_is_drawn_in_the_style_of_the_house() -> None:
    ax = drawn().axes[0]
    assert ax.get_title(loc="left") == "mean squared error"
    assert ax.get_title(loc="center") == ax.get_title(loc="right") == ""


def test_each_curve_is_named_once_in_the_order_of_their_ends() -> None:
    texts = drawn().axes[0].texts
    assert [text.get_text() for text in texts] == ["Oracle", "SPEED", "On-policy"]
    heights = [text.get_position()[1] for text in texts]
    assert heights == sorted(heights)


@pytest.mark.parametrize(
    ("curve", "rule"),
    [
        (([1, 2], [1.0], [0.1]), "equally long"),
        (([], [], []), "equally long"),
        (([0, 2], [1.0, 1.0], [0.1, 0.1]), "rounds must be positive"),
        (([1, 2], [1.0, -1.0], [0.1, 0.1]), "log axis needs positive means"),
    ],
)
def test_plot_mse_refuses_what_it_cannot_draw(curve: Any, rule: str) -> None:
    with pytest.raises(ValueError, match=rf"curves\['SPEED'\]: .*{rule}"):
        drawn({"SPEED": curve})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("budgets", "labels"),
    [
        ([100, 300], ["100", "300"]),
        ([100, 200, 300], ["100", "300"]),
        ([200, 700], ["200", "700"]),
        ([300, 2000, 4000], ["300", "4,000"]),
        ([2_000_000, 3_000_000], ["2,000,000", "3,000,000"]),
        ([100, 1000, 3000], ["100", "1,000"]),
        ([50, 100, 10_000], ["100", "1,000", "10,000"]),
    ],
)
def test_the_axis_names_two_budgets_at_least(budgets: list[int], labels: list[str]) -> None:
    fig, ax = plt.subplots()
    plots.plot_mse(ax, {"SPEED": (budgets, np.ones(len(budgets)), np.zeros(len(budgets)))})
    fig.canvas.draw()
    low, high = ax.get_xlim()
    shown = [tick for tick in ax.xaxis.get_major_ticks() if low <= tick.get_loc() <= high]
    assert [tick.label1.get_text() for tick in shown] == labels
    assert not any(label.get_text() for label in ax.xaxis.get_minorticklabels())


def test_a_linear_scale_draws_negative_numbers() -> None:
    _, ax = plt.subplots()
    plots.plot_mse(ax, {"SPEED": ([1, 2], [1.0, -1.0], [0.1, 0.1])}, yscale="linear")
    assert ax.get_ylim()[0] < -1


@pytest.mark.slow
@given(st.lists(st.floats(-5, 5), min_size=1, max_size=6).map(sorted), st.floats(0.01, 2))
def test_spread_is_the_nearest_arrangement_with_gaps(places: list[float], gap: float) -> None:
    found = np.array(plots.spread(places, gap, low=-3.0))
    assert found[0] >= -3.0 and np.all(np.diff(found) >= gap - 1e-9)
    order = np.eye(len(places))[1:] - np.eye(len(places))[:-1]
    limits = LinearConstraint(
        np.vstack([np.eye(1, len(places)), order]), [-3.0, *[gap] * len(order)]
    )
    best = minimize(
        lambda x: ((x - places) ** 2).sum(), found + 0.1, constraints=limits, method="SLSQP"
    )
    assert ((found - places) ** 2).sum() <= best.fun + 1e-6


def test_rings_mark_where_pulls_do_not_determine_the_value():
    ball = unit_ball()
    strategies = [SPEED(label="SPEED-PSD", covariance="psd"), OnPolicy()]
    curves = mse_curve(ball.bandit, ball.policy, strategies, [8, 3000], 400, seed=1)
    assert (curves.inestimable >= plots.INESTIMABLE).tolist() == [[True, False]] * 2
    fig, ax = plt.subplots()
    plots.plot_curves(ax, curves)
    rings = [line.get_xydata() for line in ax.lines if line.get_markersize() == 13]
    assert np.concatenate(rings).tolist() == [[8, mse] for mse in curves.mse[:, 0]]
    assert "ring: 1% or more inestimable" in ax.get_title(loc="left")
    plt.close(fig)
    fig, ax = plt.subplots()
    plots.plot_curves(ax, mse_curve(ball.bandit, ball.policy, [OnPolicy()], [50, 90], 40, seed=1))
    assert "ring" not in ax.get_title(loc="left")
    plt.close(fig)


# Two readings of one estimate.


def test_both_readings_of_speed_are_drawn_with_the_same_weight_and_told_apart_by_line() -> None:
    one, other = (plots.strategy_style(name) for name in plots.READINGS)
    assert one["color"] == other["color"]
    assert one["linewidth"] == other["linewidth"]
    assert one["linestyle"] != other["linestyle"]


def test_names_of_several_lines_stand_apart_and_keep_their_formulas() -> None:
    close = {
        name: (ROUNDS, (0.06 + 1e-5 * i) / ROUNDS, 0.001 / ROUNDS)
        for i, name in enumerate(["Oracle", *plots.READINGS, "On-policy"])
    }
    fig, ax = plt.subplots()
    plots.plot_mse(ax, close, names=plots.READINGS)
    fig.canvas.draw()
    words = ["Oracle", *plots.READINGS.values(), "On-policy"]
    assert [text.get_text() for text in ax.texts] == words
    # Without their arrows.
    boxes = [Text.get_window_extent(text) for text in ax.texts]
    for below, above in itertools.pairwise(boxes):
        assert below.y1 <= above.y0 + 1
