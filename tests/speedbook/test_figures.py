"""The house style: readable by everyone, light, and the same again on the next run."""

from __future__ import annotations

import base64
import io
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import IPython.display
import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
import seaborn
from matplotlib.collections import LineCollection, PatchCollection, RegularPolyCollection
from matplotlib.colors import to_hex, to_rgb
from matplotlib.offsetbox import AnnotationBbox, OffsetImage
from matplotlib.patches import Rectangle
from nbformat.v4 import new_code_cell, new_notebook, new_output
from PIL import Image

from paper.plots import plot_mse, strategy_style
from speedbook import figures
from speedbook.notebook.contract import output_problems
from speedbook.press.sphinx.figure_renderer import FigureRenderer

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
    plot_mse(ax, CURVES if curves is None else curves)
    return fig


# Style.


def test_the_style_is_seaborns_but_for_what_the_house_says() -> None:
    ground = seaborn.axes_style("ticks") | seaborn.plotting_context("paper", font_scale=1.25)
    wanted = ground | {"font.family": "DejaVu Sans"} | figures.STYLE
    with plt.rc_context(wanted):  # where matplotlib checks each, and writes it in its own way
        checked = {name: plt.rcParams[name] for name in wanted}
    assert {name: plt.rcParams[name] for name in wanted} == checked


def test_titles_and_legends_need_no_words_of_their_own() -> None:
    fig, ax = plt.subplots()
    _ = ax.plot([0, 1], label="line")
    title, legend = ax.set_title("what is drawn", loc=None), ax.legend(title="lines")
    assert (title.get_color(), title.get_fontweight()) == (figures.GREY, "normal")
    assert ax.get_title(loc="left") == "what is drawn"
    assert {text.get_fontsize() for text in (*legend.get_texts(), legend.get_title())} == {10}
    assert title.get_fontsize() == pytest.approx(12)
    assert to_hex(fig.get_facecolor()) == to_hex(ax.get_facecolor()) == "#ffffff"
    # Everybody has this font, so that a page looks the same everywhere.
    assert title.get_fontname() == "DejaVu Sans"


def test_lines_without_a_colour_take_those_of_the_house_in_order() -> None:
    _, ax = plt.subplots()
    lines = [ax.plot([i])[0] for i in range(len(figures.COLOURS) + 1)]
    colours = [to_hex(line.get_color()) for line in lines]
    assert colours == [*figures.COLOURS.values(), figures.COLOURS["blue"]]
    assert to_hex("k") == "#000000" and to_hex("b") == "#0000ff"


def test_no_white_edge_covers_a_thin_bar() -> None:
    _, ax = plt.subplots()
    (bar,) = ax.bar([0], [1e-3])
    assert bar.get_edgecolor()[3] == 0


@pytest.mark.slow
def test_whoever_asks_for_a_colour_does_not_load_seaborn() -> None:
    run = "import sys, speedbook.figures, paper.plots; print('seaborn' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", run], capture_output=True, text=True, check=True)
    assert found.stdout == "False\n"


@pytest.mark.slow
def test_nothing_warns() -> None:
    """From the import on, and with the plots of seaborn that fit into axes of ours."""
    run = """
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd
from paper.plots import plot_shares
from speedbook import figures
figures.use_style()
import seaborn
table = pd.DataFrame({"way": [*"aabb"] * 3, "n": [1, 2, 4] * 4, "error": range(12)})
for draw in (seaborn.boxplot, seaborn.violinplot, seaborn.stripplot, seaborn.pointplot):
    draw(table, x="error", y="way", hue="way", ax=plt.figure().subplots())
seaborn.lineplot(table, x="n", y="error", hue="way", errorbar="se", ax=plt.figure().subplots())
seaborn.histplot(table, x="error", hue="way", ax=plt.figure().subplots())
plot_shares(plt.figure().subplots(), pd.DataFrame([[0.2, 0.8]]), title="share, %")
for number in plt.get_fignums():
    plt.figure(number).canvas.draw()
print(len(plt.get_fignums()))
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", run], capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("7\n", "")


# Display.


@pytest.mark.slow
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


@pytest.mark.slow
def test_the_same_figure_has_the_same_bytes(displayed: list[Any]) -> None:
    for _ in range(2):
        figures.show(drawn(), "fig-test", ALT)
    assert displayed[0] == displayed[1]


def digests(displayed: list[Any]) -> list[str]:
    return [metadata["speedbook"]["figure"]["digest"] for _, metadata in displayed]


@pytest.mark.slow
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


def image(height: float) -> Any:
    fig, ax = plt.subplots()
    ax.imshow([[0.5, height]])
    return fig


def heat_map(height: float) -> Any:
    fig, ax = plt.subplots()
    seaborn.heatmap([[0.5, height]], vmin=0, vmax=1, cbar=False, ax=ax)
    return fig


def band(height: float) -> Any:
    fig, ax = plt.subplots()
    ax.fill_between([0, 1], [0, 0], [0.5, height])
    return fig


def box(height: float) -> Any:
    fig, ax = plt.subplots()
    seaborn.boxplot(x=[0.0, 0.1, 0.4, height], ax=ax)
    return fig


@pytest.mark.slow
@pytest.mark.parametrize("draw", [bar_chart, cloud, image, heat_map, band, box])
def test_the_digest_sees_whatever_shows_numbers(draw: Any, displayed: list[Any]) -> None:
    for height in (0.2, 0.2, 0.3):
        figures.show(draw(height), "fig-test", ALT)
    one, again, other = digests(displayed)
    assert one == again != other


def test_a_heat_map_is_read_as_its_table_and_a_hidden_cell_as_no_number() -> None:
    table, hidden = np.array([[1, 2], [3, 4]]), np.array([[False, True], [False, False]])
    fig, (left, right) = plt.subplots(ncols=2)
    seaborn.heatmap(table, mask=hidden, annot=True, cbar=False, ax=left)
    right.imshow(table)
    found = figures.plotted_data(fig)
    assert found.keys() == {"axes 0, 0", "axes 1, 0"}
    np.testing.assert_array_equal(found["axes 0, 0"], [[1, np.nan], [3, 4]])
    # Where nothing is hidden, the table has the digest that it has as an image.
    seaborn.heatmap(table, cbar=False, ax=plt.figure().subplots())
    assert figures.data_digest(figures.plotted_data(plt.gcf())) == figures.data_digest(
        {"axes 0, 0": found["axes 1, 0"]}
    )


X, Y = np.meshgrid(np.arange(4.0), np.arange(3.0))
FLAT = [0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0]


def masked(value: float) -> Any:
    return np.ma.masked_array([[1.0, 9.0], [3.0, 4.0]], [[False, value > 1], [False, False]])


def inset(ax: Any, value: float) -> None:
    ax.inset_axes([0.5, 0.5, 0.4, 0.4]).plot([0, value])


def nested_inset(ax: Any, value: float) -> None:
    inset(ax.inset_axes([0.1, 0.1, 0.8, 0.8]), value)


#: What draws a number into axes, by name.
DRAWS: dict[str, Any] = {
    "lines of equal height": lambda ax, v: ax.contour(X, Y, X + v * Y**2, [1.0, 2.0, 3.0]),
    "levels": lambda ax, v: ax.contourf(X, Y, X, [0.5, 1 + v / 2, 3.0]),
    "contours of scattered points": lambda ax, v: ax.tricontourf(*FLAT, [0.0, v, 1.0, 3.0]),
    "shades of points": lambda ax, v: ax.scatter([0, 1], [0, 1], c=[0.0, v]),
    "sizes of points": lambda ax, v: ax.scatter([0, 1], [0, 1], s=[1.0, 10 * v]),
    "a masked point": lambda ax, v: ax.scatter([0, 1], masked(v)[0]),
    "a masked pixel": lambda ax, v: ax.imshow(masked(v)),
    "a masked cell": lambda ax, v: ax.pcolormesh(masked(v)),
    "a masked end of a line": lambda ax, v: ax.plot(masked(v)[0]),
    "cells that are polygons": lambda ax, v: ax.pcolor([[0.0, v]]),
    "triangles": lambda ax, v: ax.tripcolor(*FLAT, [0.0, v, 0.0, 0.0]),
    "smooth triangles": lambda ax, v: ax.tripcolor(*FLAT, [0, v, 0, 0], shading="gouraud"),
    "counts in hexagons": lambda ax, v: ax.hexbin(*FLAT, C=[v, 0, 0, 0], gridsize=2),
    "arrows": lambda ax, v: ax.quiver([0], [0], [v], [1]),
    "shades of lines": lambda ax, v: ax.add_collection(
        LineCollection([[(0, 0), (1, 1)], [(0, 1), (1, 0)]], array=[0.0, v])
    ),
    "a group of forms": lambda ax, v: ax.add_collection(PatchCollection([Rectangle((0, 0), v, 1)])),
    "polygons at offsets": lambda ax, v: ax.add_collection(
        RegularPolyCollection(5, offsets=[(0, v)], offset_transform=ax.transData)
    ),
    "axes within axes": inset,
    "axes within axes within axes": nested_inset,
    "pixels of the figure": lambda ax, v: ax.figure.figimage([[0.0, v]]),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", DRAWS)
def test_every_number_that_is_drawn_is_read(kind: str) -> None:
    digests = []
    for value in (0.75, 0.75, 1.5):
        fig, ax = plt.subplots()
        DRAWS[kind](ax, value)
        digests.append(figures.data_digest(figures.plotted_data(fig)))
    one, again, other = digests
    assert one == again != other


@pytest.mark.parametrize("kind", ["a masked point", "a masked pixel", "a masked cell"])
def test_what_a_mask_hides_is_not_read(kind: str) -> None:
    fig, ax = plt.subplots()
    DRAWS[kind](ax, 2.0)
    numbers = np.concatenate([part.ravel() for part in figures.plotted_data(fig).values()])
    assert np.isnan(numbers).any() and 9 not in numbers


@pytest.mark.slow
def test_what_looks_alike_everywhere_adds_no_part() -> None:
    """Points of one size and colour, lines, bars and bands are read as their places alone."""
    fig, axes = plt.subplots(ncols=4)
    axes[0].scatter([0, 1], [2, 3], s=4, color="k")
    axes[1].plot([0, 1], label="line")
    axes[1].legend()
    axes[2].bar([0], [1])
    axes[3].fill_between([0, 1], [0, 1], [1, 2])
    assert set(figures.plotted_data(fig)) == {f"axes {i}, 0" for i in range(4)}


def picture_in_a_box(ax: Any) -> None:
    ax.add_artist(AnnotationBbox(OffsetImage(np.eye(2)), (0.5, 0.5)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("projection", "draw", "name"),
    [
        ("3d", lambda ax: ax.plot([0, 1], [0, 1], [0, 1]), "axes in three dimensions"),
        (None, lambda ax: ax.table([["1"]]), "Table"),
        (None, picture_in_a_box, "AnnotationBbox"),
        (None, lambda ax: picture_in_a_box(ax.inset_axes([0, 0, 1, 1])), "AnnotationBbox"),
    ],
)
def test_numbers_that_cannot_be_read_are_asked_for(
    projection: Any, draw: Any, name: str, displayed: list[Any]
) -> None:
    fig, ax = plt.subplots(subplot_kw={"projection": projection})
    draw(ax)
    with pytest.raises(ValueError, match=f"fig: the numbers of {name} cannot be read; pass them"):
        figures.plotted_data(fig)
    figures.show(fig, "fig-test", ALT, data={"x": [1.0]})
    assert len(displayed) == 1


@pytest.mark.slow
def test_the_digest_is_of_the_data_where_they_are_given(displayed: list[Any]) -> None:
    figures.show(drawn(), "fig-test", ALT, data={"x": [1.0, 2.0]})
    figures.show(bar_chart(1), "fig-test", ALT, data={"x": np.array([1.0, 2.0])})
    assert digests(displayed) == [figures.data_digest({"x": [1.0, 2.0]})] * 2
    assert figures.data_digest({"x": [1.0, 2.0]}) != figures.data_digest({"x": [[1.0, 2.0]]})
    assert figures.data_digest({"x": [1.0, 2.0]}) != figures.data_digest({"y": [1.0, 2.0]})


@pytest.mark.slow
def test_vector_figures_are_written_where_asked_and_reproducible(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, displayed: list[Any]
) -> None:
    for run in ("one", "two"):
        monkeypatch.setenv("SPEEDBOOK_FIGURES_DIR", str(tmp_path / run))
        figures.show(drawn(), "fig-test", ALT)
    one, two = ((tmp_path / run / "fig-test.svg").read_bytes() for run in ("one", "two"))
    assert one == two
    assert b"<dc:date>" not in one


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize("forms", ["svg,pdf", "SVG", "jpg"])
def test_unknown_forms_of_files_are_refused(
    forms: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPEEDBOOK_FIGURES_DIR", str(tmp_path))
    monkeypatch.setenv("SPEEDBOOK_FIGURES_FORMATS", forms)
    with pytest.raises(ValueError, match=f"^SPEEDBOOK_FIGURES_FORMATS: .*{forms}"):
        figures.show(drawn(), name="fig-test", alt="A figure.")


@pytest.mark.slow
def test_the_picture_keeps_the_colour_of_a_strategy(displayed: list[Any]) -> None:
    """Exactly, so that it is the same on every page, beside a few hundred other colours."""
    fig = drawn()
    _ = fig.axes[0].scatter(*np.random.default_rng(0).random((2, 300)), c=np.arange(300), s=4)
    figures.show(fig, name="fig-test", alt="A figure.")
    picture = Image.open(io.BytesIO(displayed[0][0]["image/png"])).convert("RGB")
    colours = {colour for _, colour in picture.getcolors(1 << 24)}
    wanted = tuple(round(255 * part) for part in to_rgb(strategy_style("SPEED")["color"]))
    assert wanted in colours
    assert (255, 255, 255) in colours


@pytest.mark.parametrize("name", ["Fig 1", "fig_1", "", "../fig", "fig-"])
def test_show_refuses_a_name_that_is_no_plain_file_name(name: str) -> None:
    with pytest.raises(ValueError, match=r"name: use lower-case letters"):
        figures.show(drawn(), name, ALT)


def test_show_refuses_a_figure_without_alt_text() -> None:
    with pytest.raises(ValueError, match="alt: say what figure 'fig-test' shows"):
        figures.show(drawn(), "fig-test", "  ")


@pytest.mark.slow
def test_a_heavy_figure_is_shown_with_a_note(
    displayed: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    fig, ax = plt.subplots()
    ax.imshow(np.random.default_rng(0).random((400, 500)), cmap="viridis")
    figures.show(fig, "fig-test", ALT)
    ((data, _),) = displayed
    assert len(data["image/png"]) > figures.MAX_PNG_BYTES
    assert re.match(r"Note: figure fig-test takes \d+ kB as PNG", capsys.readouterr().out)
    figures.show(drawn(), "fig-test", ALT)
    assert capsys.readouterr().out == ""


def test_the_build_refuses_a_heavy_figure_and_says_what_to_do() -> None:
    heavy = base64.b64encode(b"\0" * (figures.MAX_PNG_BYTES + 1)).decode()
    output = new_output("display_data", {"image/png": heavy})
    cell = new_code_cell("show()", outputs=[output], execution_count=1)
    (problem,) = output_problems(new_notebook(cells=[cell]))
    assert "a PNG of 150,001 bytes, more than 150,000; draw fewer, or rasterise" in problem


@pytest.mark.slow
def test_the_plotted_numbers_are_written_where_asked(
    displayed: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures.show(drawn(), "plain", ALT)
    monkeypatch.setenv("SPEEDBOOK_FIGURES_DIR", str(tmp_path))
    monkeypatch.setenv("SPEEDBOOK_FIGURES_FORMATS", "csv")
    figures.show(drawn(), "plain", ALT)
    assert [path.name for path in tmp_path.iterdir()] == ["plain.csv"]
    assert "SPEED" in (tmp_path / "plain.csv").read_text(encoding="utf-8")
    # What is displayed is the same, so that no committed notebook depends on it.
    assert displayed[0] == displayed[1]


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
