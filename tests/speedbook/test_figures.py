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

import matplotlib.pyplot as plt
import numpy as np
import pytest
import seaborn
from matplotlib.colors import to_hex, to_rgb
from nbformat.v4 import new_code_cell, new_notebook, new_output
from PIL import Image

from paper.plots import strategy_style
from speedbook import figures
from speedbook.notebook.contract import output_problems
from speedbook.press.sphinx.figure_renderer import FigureRenderer

from .drawings import ALT, drawn

pytestmark = pytest.mark.usefixtures("house_style")


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
