"""Every notebook keeps the template of a page; what it lacks is named, with the notebook."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from nbformat import NotebookNode

from speedbook.notebook.captions import shown_figures
from speedbook.notebook.files import caption, cell_name, code_cells, figure_name, read_notebook
from speedbook.press.front_matter import SHORT
from speedbook.press.lead import tagged_cells

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "notebooks").rglob("*.ipynb")
    if ".ipynb_checkpoints" not in path.parts
)
every_notebook = pytest.mark.parametrize("name", NOTEBOOKS)
#: What is for a class has a form of its own: slides, and tasks without solutions.
CLASS = "notebooks/class/"
every_page = pytest.mark.parametrize("name", [n for n in NOTEBOOKS if not n.startswith(CLASS)])
#: A directive that makes a figure in the text, up to its options.
FIGURE = re.compile(r"^[`:]{3,}\{(?:explorer|figure)\}.*\n((?::.*\n)*)", re.M)


@cache
def notebook(name: str) -> NotebookNode:
    return read_notebook(ROOT / name)


def text(name: str) -> str:
    cells = notebook(name).cells
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def figure_cells(name: str) -> list[NotebookNode]:
    return [cell for cell in code_cells(notebook(name)) if shown_figures(cell)]


@every_notebook
def test_a_page_begins_with_its_finding_in_words(name: str) -> None:
    first = notebook(name).cells[0].source
    assert SHORT in first
    # Its cards show the verdicts.
    assert "{claim-badge}" not in first


@every_page
def test_a_page_has_a_lead_picture(name: str) -> None:
    if figure_cells(name) and "{explorer}" not in text(name):
        assert len(tagged_cells(notebook(name))) == 1


@every_notebook
def test_every_figure_has_a_caption_a_name_and_a_cell_of_its_own(name: str) -> None:
    for cell in figure_cells(name):
        where = cell_name(notebook(name), cell)
        assert caption(cell), where
        assert figure_name(cell), where
        assert len(shown_figures(cell)) == 1, where


def test_no_two_figures_of_the_book_have_the_same_name() -> None:
    names = [figure_name(cell) for name in NOTEBOOKS for cell in figure_cells(name)]
    pages = [path.read_text(encoding="utf-8") for path in (ROOT / "book").rglob("*.md")]
    for options in FIGURE.findall("\n".join([*map(text, NOTEBOOKS), *pages])):
        names += re.findall(r"^:name: (.+)$", options, re.M)
    assert {name: count for name, count in Counter(names).items() if name and count > 1} == {}


@every_page
def test_a_page_says_what_it_means_in_practice_and_sets_exercises(name: str) -> None:
    assert re.search(r"^## In practice\b", text(name), re.M)
    labels = re.findall(r"^[`:]{3,}\{exercise(?:-start)?\}.*\n:label: (.+)$", text(name), re.M)
    solved = re.findall(
        r"^[`:]{3,}\{solution(?:-start)?\} (.+)\n:class: dropdown$", text(name), re.M
    )
    assert labels
    assert sorted(labels) == sorted(solved)
