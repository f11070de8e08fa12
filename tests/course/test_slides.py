"""Slides that ask nothing of the network, and drawings with and without sliders."""

from __future__ import annotations

import hashlib
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest

from paper.plots import live
from paper.plots.lectures import arrows, noise, walks
from paper.plots.live import Choice, Range
from speedbook.notebook.files import code_cells, figure_name, read_notebook
from tools.course import slides

ROOT = Path(__file__).resolve().parents[2]
LECTURES = ["lecture-1", "lecture-2", "lecture-3"]
every_lecture = pytest.mark.parametrize("name", LECTURES)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Slides of all lectures in a folder of their own."""
    out = tmp_path_factory.mktemp("slides")
    slides.write_slides(ROOT, out)
    return out


class Page(HTMLParser):
    """What a page of slides holds."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.slides = self.inner = self.depth = 0
        self.loaded: list[str] = []
        self.images: list[dict[str, str | None]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Count sections, and collect what is loaded."""
        found = dict(attrs)
        if tag == "section":
            self.slides += self.depth == 0
            self.inner += self.depth == 1
            self.depth += 1
        if tag == "img":
            self.images.append(found)
        elif tag in ("script", "link") and (place := found.get("src") or found.get("href")):
            self.loaded.append(place)

    def handle_endtag(self, tag: str) -> None:
        """Leave a section."""
        self.depth -= tag == "section"


def test_there_are_three_lectures(folder):
    assert [path.stem for path in slides.lectures(ROOT)] == LECTURES
    assert sorted(path.stem for path in folder.glob("*.html")) == LECTURES


@every_lecture
def test_slides_name_no_address_of_the_network(folder, name):
    html = (folder / f"{name}.html").read_text(encoding="utf-8")
    without_pictures = re.sub(r"data:image/png;base64,[\w+/=]+", "", html)
    assert re.findall(r"(?:https?:)?//[\w.-]+\.\w+", without_pictures) == []
    assert "mermaid" not in without_pictures and ".ipynb" not in without_pictures
    for place in Page(html).loaded:
        assert (folder / place).is_file(), place


def test_style_sheets_load_nothing_else(folder):
    for path in (folder / "assets").glob("*.css"):
        rules = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)
        assert "@import" not in rules and "http" not in rules, path.name
        assert re.findall(r"url\((?!['\"]?data:)", rules) == [], path.name


@every_lecture
def test_a_lecture_has_fifteen_to_twenty_slides(folder, name):
    page = Page((folder / f"{name}.html").read_text(encoding="utf-8"))
    assert 15 <= page.slides <= 20
    assert page.slides <= page.inner <= 28


@every_lecture
def test_each_figure_is_on_the_slides_with_words(folder, name):
    notebook = read_notebook(ROOT / "notebooks" / "class" / f"{name}.ipynb")
    named = [cell for cell in code_cells(notebook) if figure_name(cell)]
    page = Page((folder / f"{name}.html").read_text(encoding="utf-8"))
    assert len(page.images) == len(named) >= 5
    assert all(image["alt"] and (image["src"] or "").startswith("data:") for image in page.images)


@every_lecture
def test_a_lecture_has_questions_answers_and_notes(name):
    notebook = read_notebook(ROOT / "notebooks" / "class" / f"{name}.ipynb")
    kinds = [cell.metadata.slideshow.slide_type for cell in notebook.cells]
    assert set(kinds) <= {"slide", "subslide", "fragment", "skip", "notes", "-"}
    notes = [cell for cell in notebook.cells if cell.metadata.slideshow.slide_type == "notes"]
    assert notes
    others = [cell.source for cell in notebook.cells if cell not in notes]
    asked = [text for text in others if "<details>" in text]
    assert len(asked) >= 7
    assert all(text.count("</details>") == 1 for text in asked)
    # In the book nobody needs the minutes of a talk.
    assert all("remove-cell" in cell.metadata.tags for cell in notes)


@every_lecture
def test_notes_for_the_teacher_are_folded_in_jupyterlab_and_whole_for_the_speaker(folder, name):
    notebook = read_notebook(ROOT / "notebooks" / "class" / f"{name}.ipynb")
    notes = [cell for cell in notebook.cells if cell.metadata.slideshow.slide_type == "notes"]
    html = (folder / f"{name}.html").read_text(encoding="utf-8")
    asides = re.findall(r'<aside class="notes">(.*?)</aside>', html, re.S)
    assert len(asides) == len(notes)
    for cell, aside in zip(notes, asides, strict=True):
        shown, note = cell.source.split("</summary>")
        # What is seen on a projector before somebody opens it.
        assert shown == "<details>\n<summary>For the teacher"
        said = re.sub(r"\s+", " ", unescape(re.sub("<[^>]+>", "", aside))).strip()
        assert said == " ".join(note.removesuffix("</details>").split())
        assert "<details" not in aside


def test_a_note_that_is_not_folded_is_refused():
    notebook = read_notebook(ROOT / "notebooks" / "class" / "lecture-1.ipynb")
    notebook.cells[1].source = "0:00. Say it."
    with pytest.raises(ValueError, match=r"lecture-1: lecture-1-02: .* is not folded"):
        slides.prepared(notebook, "lecture-1")


def test_a_lecture_that_was_not_run_is_refused():
    notebook = read_notebook(ROOT / "notebooks" / "class" / "lecture-1.ipynb")
    code_cells(notebook)[3].execution_count = None
    with pytest.raises(ValueError, match=r"lecture-1: is not executed: run `make refresh`"):
        slides.prepared(notebook, "lecture-1")


def test_a_book_without_lectures_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"holds no notebook lecture-\*\.ipynb"):
        slides.write_slides(tmp_path, tmp_path)


def test_the_command_tells_what_it_wrote(tmp_path, capsys):
    assert slides.main(["--out", str(tmp_path / "new")]) == slides.DONE
    assert capsys.readouterr().out.count("slides: ") == 3
    (tmp_path / "file").write_text("in the way")
    assert slides.main(["--out", str(tmp_path / "file")]) == slides.FAILED
    assert capsys.readouterr().err.startswith("slides: ")


def test_reveal_is_what_its_package_holds():
    note = (slides.REVEAL / "VENDORED.txt").read_text(encoding="utf-8")
    sums = {name: digest for digest, name in re.findall(r"^([0-9a-f]{64})  (\S+)$", note, re.M)}
    assert sums.keys() == {path.name for path in slides.REVEAL.iterdir()} - {"VENDORED.txt"}
    for name, digest in sums.items():
        assert hashlib.sha256((slides.REVEAL / name).read_bytes()).hexdigest() == digest, name
    version = re.search(r"^version: (\S+)$", note, re.M)
    assert version is not None
    assert version[1] in (slides.REVEAL / "reveal.js").read_text(encoding="utf-8")[:200]


# Drawings with sliders.


def line(place, height):
    """Draw one level line."""
    place.subplots().plot([0, 1], [height, height])


def test_moving_a_slider_draws_anew():
    drawn = []

    def draw(place: Any, height: float) -> None:
        drawn.append(height)
        line(place, height)

    widget = live.sliders(draw, size=(2, 2), height=Range("height", 1, 0, 4, 0.5, "{:.1f} m"))
    row, picture = widget.children
    _, mover, value = row.children
    before = bytes(picture.value)
    mover.value = 2.5
    assert drawn == [1, 2.5]
    assert picture.value != before and bytes(picture.value).startswith(b"\x89PNG")
    assert value.value == "2.5 m"
    mover.value = 1.0
    assert picture.value == before
    assert plt.get_fignums() == []


def test_buttons_draw_anew():
    control = Choice("height", {"low": 1, "high": 3})
    row, picture = live.sliders(line, size=(2, 2), height=control).children
    before = picture.value
    row.children[1].value = 3
    assert picture.value != before


def test_a_flip_book_shows_one_picture_and_holds_the_others():
    html = live.flip_book(line, size=(2, 2), height=Range("height", 1, 0, 4, 0.5))
    assert html.count("<img") == 9
    assert len(re.findall(r"<img [^>]*hidden>", html)) == 8
    assert 'value="2"' in html and "height: 1<" in html
    assert len(set(re.findall(r"base64,([\w+/=]+)", html))) == 9


@pytest.mark.parametrize(
    "control",
    [Range("x", 50, 20, 96, 1), Range("x", 0, -11.8, 11.8, 0.1), Range("x", 3, 3, 4, 0.5)],
)
def test_a_flip_book_has_few_pages_and_the_first_value_is_one(control):
    places = control.places()
    assert len(places) <= live.PICTURES
    assert min(abs(np.array(places) - control.start)) < 1e-9
    assert control.low <= min(places) and max(places) <= control.high + 1e-9


def test_without_a_front_end_there_is_a_static_figure(capsys):
    control = Range("height", 1, 0, 4, 1)
    assert not live.someone_can_drag()
    live.slider(line, height=control, shown=[{"height": 0}, {}], name="levels", alt="Two lines.")
    assert "Figure levels: Two lines." in capsys.readouterr().out
    fig = live.static_figure(line, [{"height": 0}, {"height": 4}], {"height": control}, (2, 2))
    assert [part.get_suptitle() for part in fig.subfigs] == ["height: 0", "height: 4"]
    assert [ax.lines[0].get_ydata()[0] for ax in fig.axes] == [0, 4]
    plt.close(fig)


def test_refusals_name_the_argument():
    control = Range("height", 1, 0, 4, 1)
    with pytest.raises(
        ValueError, match=r"shown: a state may have values only for controls: height"
    ):
        live.slider(line, height=control, shown=[{"width": 1}], name="x", alt="x")
    with pytest.raises(ValueError, match=r"shown: name one state at least; got none"):
        live.slider(line, height=control, shown=[], name="x", alt="x")
    with pytest.raises(ValueError, match=r"x: need low <= start <= high and step > 0"):
        Range("x", 5, 0, 4, 1)
    with pytest.raises(ValueError, match=r"x: options must not be empty"):
        Choice("x", {})


@pytest.mark.slow
def test_a_kernel_knows_whether_somebody_can_drag():
    """Front ends say that they can be asked for input; papermill, nbval and others say no."""
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="python3")
    try:
        code = "from paper.plots.live import someone_can_drag; print(someone_can_drag())"
        for answer in (True, False):
            said: list[str] = []
            client.execute_interactive(
                code,
                allow_stdin=answer,
                stdin_hook=print,
                timeout=120,
                output_hook=lambda message, said=said: said.append(
                    message["content"].get("text", "")
                ),
            )
            assert "".join(said).strip() == str(answer)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


# What the pictures show.


def test_the_walk_is_shortest_at_a_corner():
    share = np.linspace(-0.25, 0.5, 76)
    steps = [walks.quarters(walks.with_detour(each)) for each in share]
    assert share[int(np.argmin(steps))] == pytest.approx(0.25)
    assert min(steps) == pytest.approx(7)
    assert walks.quarters(walks.OWN) == pytest.approx(12)
    assert walks.quarters([*walks.C, 0]) == pytest.approx(17)


def test_no_slope_proves_more_than_the_shortest_walk_takes():
    angles = np.linspace(-90, 90, 721)
    proved = [4 * walks.C @ walks.highest_slope(angle) for angle in angles]
    assert 6.9 < max(proved) <= 7
    best = np.degrees(np.arctan2(-1, 3))
    assert 4 * walks.C @ walks.highest_slope(best) == pytest.approx(7)


def test_two_coins_have_their_least_error_at_three_quarters():
    shares = np.linspace(0.1, 0.9, 81)
    errors = arrows.coin_error(shares, 3.0, 100)
    assert shares[int(np.argmin(errors))] == pytest.approx(0.75)
    assert arrows.coin_error(0.5, 3.0, 100) / errors.min() == pytest.approx(1.25)


def test_a_wrong_noise_costs_its_square():
    small, large = (noise.excess([9 * r**2, 16, 4]) for r in (1.05, 1.1))
    assert large / small == pytest.approx(4, rel=0.1)
    assert noise.excess([9, 16, 25]) == pytest.approx(100 * 54 / 245)
    assert noise.excess([9 / 4, 16, 4]) == pytest.approx(12.24, abs=0.01)
    # Beyond twice the noise other actions look best: then the valley is flat no longer.
    assert noise.excess([9 * 1.95**2, 16, 4]) < 12 < 100 < noise.excess([9 * 2.05**2, 16, 4])
