"""Ways through the book: stations, titles, and what pages call one another."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from speedbook.notebook.files import read_notebook
from speedbook.press.front_matter import NEED, PLACE

ROOT = Path(__file__).resolve().parents[1]
STATIONS = sorted(path.stem for path in (ROOT / "book" / "stations").glob("*.md"))
NOTEBOOKS = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "notebooks").rglob("*.ipynb")
    if ".ipynb_checkpoints" not in path.parts
)
LINK = re.compile(r"\[([^]]*)\]\(([^)#]+)\)")
#: What a sidebar shows in two lines.
LONGEST_TITLE = 45
MOST_BOXES = 10


def pages_below(name: str) -> set[str]:
    """Return the pages that the table of contents has below a page."""
    toc: dict[str, Any] = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    (entry,) = [c for part in toc["parts"] for c in part["chapters"] if c["file"] == name]
    return {section["file"] for section in entry["sections"]}


def linked(text: str, page: str) -> set[str]:
    """Return the pages that a text leads to, as paths from the root without an ending."""
    folder = posixpath.dirname(page)
    targets = [posixpath.normpath(posixpath.join(folder, to)) for _, to in LINK.findall(text)]
    return {re.sub(r"\.(ipynb|md)$", "", target) for target in targets}


def head(name: str) -> list[str]:
    """Return the paragraphs of a notebook's first cell, each in one line."""
    first = read_notebook(ROOT / name).cells[0].source
    return [" ".join(paragraph.split()) for paragraph in first.split("\n\n")]


def test_there_are_five_stations() -> None:
    assert STATIONS == ["designs", "lower-bounds", "noise", "rate", "steps"]


@pytest.mark.parametrize("station", STATIONS)
def test_a_station_leads_to_its_pages_in_ten_boxes_at_most(station: str) -> None:
    page = f"book/stations/{station}"
    text = (ROOT / f"{page}.md").read_text(encoding="utf-8")
    boxes = re.split(r"^:+\{grid-item-card\}", text, flags=re.M)[1:]
    assert 0 < len(boxes) <= MOST_BOXES
    for box in boxes:
        assert LINK.search(box), box
        assert "{claim-badge}`" in box, box
    assert pages_below(page) <= linked("".join(boxes), page)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_title_is_short_and_says_more_than_a_number_of_the_paper(name: str) -> None:
    title = head(name)[0].removeprefix("# ")
    assert len(title) <= LONGEST_TITLE
    # Formulas are not typeset in the title of a window, nor in the results of a search.
    assert "$" not in title
    assert not re.match(r"(Algorithm|Corollary|Figure|Lemma|Proposition|Theorem) \d", title)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_what_one_needs_to_know_goes_by_its_title_or_its_name_in_the_paper(name: str) -> None:
    (need,) = [text.split(NEED)[1] for text in head(name) if NEED in text]
    for text, target in LINK.findall(need):
        if target.endswith(".ipynb"):
            to = posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
            title, place = head(to)[:2]
            called = title + place * place.startswith(PLACE)
            assert text.lower() in called.lower(), f"{to} is {title!r} now, not {text!r}"
