"""The house style: readable by everyone, light, and the same again on the next run."""

from __future__ import annotations

import io
import itertools
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import IPython.display
import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgb
from PIL import Image
from scipy.optimize import LinearConstraint, minimize

from speedbook import figures
from speedbook.press.sphinx.figure_renderer import FigureRenderer
from speedlib import SPEED, OnPolicy, mse_curve, unit_ball

matplotlib.use("Agg")

ROUNDS = np.array([100, 1_000, 10_000])
CURVES = {
    "Oracle": (ROUNDS, 0.051 / ROUNDS, 0.001 / ROUNDS),
    "SPEED": (ROUNDS, 0.06 / ROUNDS, 0.001 / ROUNDS),
    "On-policy": (ROUNDS, 0.085 / ROUNDS, 0.002 / ROUNDS),
}
ALT = "Three falling lines; the oracle's is lowest."


@pytest.fixture(autouse=True)
def house_style(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.delenv("SPEEDBOOK_FIGURES_DIR", raising=False)
    with plt.rc_context():
        figures.use_style()
        yield
        plt.close("all")


@pytest.fixture
def displayed(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What was displayed, as pairs of data and metadata."""
    shown: list[Any] = []
    monkeypatch.setattr(
        IPython.display, "display", lambda data, raw, metadata: shown.append((data, metadata))
    )
    return shown


def drawn(curves: Any = None) -> Any:
    fig, ax = plt.subplots()
    figures.plot_mse(ax, CURVES if curves is None else curves)
    return fig


# Colours.


def luminance(colour: str | tuple[float, ...]) -> float:
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return float(np.dot([0.2126, 0.7152, 0.0722], parts))


def contrast_on_white(colour: str | tuple[float, ...]) -> float:
    return 1.05 / (luminance(colour) + 0.05)


@pytest.mark.parametrize("name", figures.STRATEGIES)
def test_lines_and_letters_stand_out_from_white(name: str) -> None:
    # WCAG 2: at least 3 for what is drawn, 4.5 for what is written.
    color = figures.strategy_style(name)["color"]
    assert contrast_on_white(color) >= 3
    assert contrast_on_white(figures.darker(color)) >= 4.5


def test_no_two_strategies_are_drawn_alike_without_their_colours() -> None:
    grey = [
        (style["marker"], style["linestyle"], style.get("markerfacecolor"))
        for style in figures.STRATEGIES.values()
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
        colours = [figures.strategy_style(name)["color"] for name in (one, other)]
        assert np.linalg.norm(lab(colours[0], eye) - lab(colours[1], eye)) > 25


def test_an_unknown_strategy_is_refused_with_the_names_that_exist() -> None:
    with pytest.raises(ValueError, match=r"expected one of Oracle, SPEED.*got 'oracle'"):
        figures.strategy_style("oracle")


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
    figures.plot_mse(ax, {"SPEED": (budgets, np.ones(len(budgets)), np.zeros(len(budgets)))})
    fig.canvas.draw()
    low, high = ax.get_xlim()
    shown = [tick for tick in ax.xaxis.get_major_ticks() if low <= tick.get_loc() <= high]
    assert [tick.label1.get_text() for tick in shown] == labels
    assert not any(label.get_text() for label in ax.xaxis.get_minorticklabels())


def test_a_linear_scale_draws_negative_numbers() -> None:
    _, ax = plt.subplots()
    figures.plot_mse(ax, {"SPEED": ([1, 2], [1.0, -1.0], [0.1, 0.1])}, yscale="linear")
    assert ax.get_ylim()[0] < -1


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=6).map(sorted), st.floats(0.01, 2))
def test_spread_is_the_nearest_arrangement_with_gaps(places: list[float], gap: float) -> None:
    found = np.array(figures.spread(places, gap, low=-3.0))
    assert found[0] >= -3.0 and np.all(np.diff(found) >= gap - 1e-9)
    order = np.eye(len(places))[1:] - np.eye(len(places))[:-1]
    limits = LinearConstraint(
        np.vstack([np.eye(1, len(places)), order]), [-3.0, *[gap] * len(order)]
    )
    best = minimize(
        lambda x: ((x - places) ** 2).sum(), found + 0.1, constraints=limits, method="SLSQP"
    )
    assert ((found - places) ** 2).sum() <= best.fun + 1e-6


# Display.


def test_show_displays_a_light_crisp_png_with_alt_text(displayed: list[Any]) -> None:
    fig = drawn()
    figures.show(fig, "fig-test", ALT)
    ((data, metadata),) = displayed
    with Image.open(io.BytesIO(data["image/png"])) as picture:
        assert picture.size == (1160, 800)
        assert picture.info.keys().isdisjoint({"Software", "Creation Time"})
        assert picture.convert("RGB").getpixel((0, 0)) == (255, 255, 255)
    assert len(data["image/png"]) < 60_000
    assert data["text/plain"] == f"Figure fig-test: {ALT}"
    assert metadata["image/png"] == {"width": 580, "alt": ALT}
    assert metadata["speedbook"]["figure"]["name"] == "fig-test"
    assert not plt.fignum_exists(fig.number)


def test_the_same_figure_has_the_same_bytes(displayed: list[Any]) -> None:
    for _ in range(2):
        figures.show(drawn(), "fig-test", ALT)
    assert displayed[0] == displayed[1]


def digests(displayed: list[Any]) -> list[str]:
    return [metadata["speedbook"]["figure"]["digest"] for _, metadata in displayed]


@pytest.mark.parametrize(("factor", "same"), [(1 + 1e-12, True), (1 + 1e-3, False)])
@pytest.mark.parametrize("part", [1, 2], ids=["mean", "standard error"])
def test_the_digest_sees_the_data_but_not_the_last_bits(
    part: int, factor: float, same: bool, displayed: list[Any]
) -> None:
    figures.show(drawn(), "fig-test", ALT)
    changed = list(CURVES["SPEED"])
    changed[part] = changed[part] * factor
    figures.show(drawn(CURVES | {"SPEED": changed}), "fig-test", ALT)
    one, other = digests(displayed)
    assert (one == other) is same


def bar_chart(height: float) -> Any:
    fig, ax = plt.subplots()
    ax.bar([0, 1], [0.5, height])
    return fig


def cloud(height: float) -> Any:
    fig, ax = plt.subplots()
    ax.scatter([0, 1], [0.5, height])
    return fig


def heat(height: float) -> Any:
    fig, ax = plt.subplots()
    ax.imshow([[0.5, height]])
    return fig


@pytest.mark.parametrize("draw", [bar_chart, cloud, heat])
def test_the_digest_sees_bars_points_and_images(draw: Any, displayed: list[Any]) -> None:
    for height in (0.2, 0.2, 0.3):
        figures.show(draw(height), "fig-test", ALT)
    one, again, other = digests(displayed)
    assert one == again != other


def test_the_digest_is_of_the_data_where_they_are_given(displayed: list[Any]) -> None:
    figures.show(drawn(), "fig-test", ALT, data={"x": [1.0, 2.0]})
    figures.show(bar_chart(1), "fig-test", ALT, data={"x": np.array([1.0, 2.0])})
    assert digests(displayed) == [figures.data_digest({"x": [1.0, 2.0]})] * 2
    assert figures.data_digest({"x": [1.0, 2.0]}) != figures.data_digest({"x": [[1.0, 2.0]]})
    assert figures.data_digest({"x": [1.0, 2.0]}) != figures.data_digest({"y": [1.0, 2.0]})


def test_vector_figures_are_written_where_asked_and_reproducible(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, displayed: list[Any]
) -> None:
    for run in ("one", "two"):
        monkeypatch.setenv("SPEEDBOOK_FIGURES_DIR", str(tmp_path / run))
        figures.show(drawn(), "fig-test", ALT)
    one, two = ((tmp_path / run / "fig-test.svg").read_bytes() for run in ("one", "two"))
    assert one == two
    assert b"<dc:date>" not in one


@pytest.mark.parametrize("forms", ["svg pdf", "pdf svg", "pdf png svg"])
def test_every_file_has_the_layout_of_the_first(
    forms: str, displayed: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = {}
    for asked in ("svg", forms):
        folder = tmp_path / asked
        monkeypatch.setenv("SPEEDBOOK_FIGURES_DIR", str(folder))
        monkeypatch.setenv("SPEEDBOOK_FIGURES_FORMATS", asked)
        fig = drawn()
        figures.show(fig, name="fig-test", alt="A figure.")
        places[asked] = fig.axes[0].get_position().bounds
        assert {path.suffix[1:] for path in folder.iterdir()} == set(asked.split())
    assert (tmp_path / "svg/fig-test.svg").read_bytes() == (
        tmp_path / forms / "fig-test.svg"
    ).read_bytes()
    assert places["svg"] == places[forms]


@pytest.mark.parametrize("forms", ["svg,pdf", "SVG", "jpg"])
def test_unknown_forms_of_files_are_refused(
    forms: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPEEDBOOK_FIGURES_DIR", str(tmp_path))
    monkeypatch.setenv("SPEEDBOOK_FIGURES_FORMATS", forms)
    with pytest.raises(ValueError, match=f"^SPEEDBOOK_FIGURES_FORMATS: .*{forms}"):
        figures.show(drawn(), name="fig-test", alt="A figure.")


def test_the_picture_keeps_the_colour_of_a_strategy(displayed: list[Any]) -> None:
    """Exactly, so that it is the same on every page, beside a few hundred other colours."""
    fig = drawn()
    _ = fig.axes[0].scatter(*np.random.default_rng(0).random((2, 300)), c=np.arange(300), s=4)
    figures.show(fig, name="fig-test", alt="A figure.")
    picture = Image.open(io.BytesIO(displayed[0][0]["image/png"])).convert("RGB")
    colours = {colour for _, colour in picture.getcolors(1 << 24)}
    wanted = tuple(round(255 * part) for part in to_rgb(figures.strategy_style("SPEED")["color"]))
    assert wanted in colours
    assert (255, 255, 255) in colours


@pytest.mark.parametrize("name", ["Fig 1", "fig_1", "", "../fig", "fig-"])
def test_show_refuses_a_name_that_is_no_plain_file_name(name: str) -> None:
    with pytest.raises(ValueError, match=r"name: use lower-case letters"):
        figures.show(drawn(), name, ALT)


def test_show_refuses_a_figure_without_alt_text() -> None:
    with pytest.raises(ValueError, match="alt: say what figure 'fig-test' shows"):
        figures.show(drawn(), "fig-test", "  ")


def test_show_refuses_a_heavy_figure() -> None:
    fig, ax = plt.subplots()
    ax.imshow(np.random.default_rng(0).random((400, 500)), cmap="viridis")
    with pytest.raises(ValueError, match=r"'fig-test' takes \d+ bytes as PNG"):
        figures.show(fig, "fig-test", ALT)


# In the book.


class Renderer:
    """Renders a picture as MyST-NB does, without alt text."""

    def render_image(self, data: Any) -> list[dict[str, Any]]:
        return [{"uri": "picture.png", "classes": []}]


def test_the_alt_text_reaches_the_page() -> None:
    data = SimpleNamespace(mime_type="image/png", output_metadata={"image/png": {"alt": ALT}})
    (node,) = FigureRenderer.handle_mime(Renderer(), data, inline=False) or []
    assert node == {"uri": "picture.png", "classes": ["sb-figure"], "alt": ALT}


@pytest.mark.parametrize(
    ("mime_type", "metadata"), [("image/png", {}), ("text/html", {"text/html": {"alt": ALT}})]
)
def test_other_outputs_are_left_alone(mime_type: str, metadata: dict[str, Any]) -> None:
    data = SimpleNamespace(mime_type=mime_type, output_metadata=metadata)
    assert FigureRenderer.handle_mime(Renderer(), data, inline=False) is None


def test_rings_mark_where_pulls_do_not_determine_the_value():
    ball = unit_ball()
    strategies = [SPEED(label="SPEED-PSD", covariance="psd"), OnPolicy()]
    curves = mse_curve(ball.bandit, ball.policy, strategies, [8, 3000], 400, seed=1)
    assert (curves.inestimable >= figures.INESTIMABLE).tolist() == [[True, False]] * 2
    fig, ax = plt.subplots()
    figures.plot_curves(ax, curves)
    rings = [line.get_xydata() for line in ax.lines if line.get_markersize() == 13]
    assert np.concatenate(rings).tolist() == [[8, mse] for mse in curves.mse[:, 0]]
    assert "ring: 1% or more inestimable" in ax.get_title(loc="left")
    plt.close(fig)
    fig, ax = plt.subplots()
    figures.plot_curves(ax, mse_curve(ball.bandit, ball.policy, [OnPolicy()], [50, 90], 40, seed=1))
    assert "ring" not in ax.get_title(loc="left")
    plt.close(fig)
