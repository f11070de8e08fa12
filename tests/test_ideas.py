"""The chapters of `notebooks/ideas`: exercises that code solves, pictures to move, one thread.

`make test` runs the code of every solution with nbval, and its assertions with it.
"""

from __future__ import annotations

import ast
import copy
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from markdown_it import MarkdownIt
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from speedbook.notebook.files import code, prose, read_notebook
from speedbook.notebook.prose import loose_numbers
from speedbook.press.reading_time import reading_minutes

ROOT = Path(__file__).parents[1]
FOLDER = "notebooks/ideas"
CHAPTERS = sorted(path.stem for path in (ROOT / FOLDER).glob("*.ipynb"))
#: In the order in which they lead on, each to the next.
THREAD = (
    "which-actions",
    "worth-of-a-try",
    "one-direction",
    "not-knowing-the-noise",
    "two-looks",
    "how-long",
    "what-to-use",
)
KEEP = "## What to keep"

every_chapter = pytest.mark.parametrize("name", CHAPTERS)


class Fence(NamedTuple):
    """A directive as MyST sees it: name, argument, options, and the number of its cell."""

    name: str
    argument: str
    options: dict[str, str]
    cell: int


@cache
def chapter(name: str) -> NotebookNode:
    return read_notebook(ROOT / FOLDER / f"{name}.ipynb")


def text_of(notebook: NotebookNode) -> str:
    return "\n\n".join(text for _, text in prose(notebook))


def fences(notebook: NotebookNode) -> list[Fence]:
    """Return the directives of a notebook in order."""
    found = []
    for place, cell in enumerate(notebook.cells):
        if cell.cell_type != "markdown":
            continue
        for token in MarkdownIt().parse(cell.source):
            match = re.fullmatch(r"\{([\w-]+)\}\s*(.*)", token.info.strip())
            if token.type == "fence" and match:
                options = dict(re.findall(r"^:([\w-]+):\s*(.*)$", token.content, re.M))
                found.append(Fence(match[1], match[2], options, place))
    return found


def labels(notebook: NotebookNode) -> list[str]:
    return [f.options.get("label", "") for f in fences(notebook) if f.name == "exercise"]


def solution_problems(notebook: NotebookNode) -> list[str]:
    """Say which exercises lack a solution that is folded and stands on code that ran."""
    found, solved, start = [], Counter[str](), None
    for fence in fences(notebook):
        if fence.name in ("solution", "solution-start"):
            solved[fence.argument] += 1
            if "dropdown" not in fence.options.get("class", ""):
                found.append(f"{fence.argument}: not folded")
        if fence.name == "solution":
            content = notebook.cells[fence.cell].source.split("{solution} " + fence.argument)[1]
            if loose_numbers(content.split("```")[0]):
                found.append(f"{fence.argument}: a number that no code gave")
        if fence.name == "solution-start":
            found += [f"{start.argument}: no end"] if start else []
            start = fence
        if fence.name == "solution-end":
            if start is None:
                found.append("an end without a start")
            else:
                found += code_problems(start.argument, notebook.cells[start.cell : fence.cell])
            start = None
    found += [f"{start.argument}: no end"] if start else []
    wanted = Counter(labels(notebook))
    found += [f"{label}: no solution" for label in wanted - solved]
    return found + [f"{label}: no exercise" for label in solved - wanted]


def code_problems(label: str, cells: list[NotebookNode]) -> list[str]:
    """Say what the code of a solution lacks: a run, and assertions that could fail."""
    own = [cell for cell in cells if cell.cell_type == "code"]
    if not own:
        return [f"{label}: no code"]
    found = [] if all(cell.execution_count for cell in own) else [f"{label}: did not run"]
    asserted = [
        node for cell in own for node in ast.walk(ast.parse(cell.source)) if is_assertion(node)
    ]
    return found if asserted else [*found, f"{label}: checks nothing"]


def is_assertion(node: ast.AST) -> bool:
    return isinstance(node, ast.Assert) and not isinstance(node.test, ast.Constant)


@every_chapter
def test_a_chapter_has_two_to_four_exercises(name):
    assert 2 <= len(labels(chapter(name))) <= 4


def test_each_exercise_has_a_label_of_its_own():
    found = Counter(label for name in CHAPTERS for label in labels(chapter(name)))
    assert "" not in found
    assert set(found.values()) <= {1}


@every_chapter
def test_each_exercise_has_a_solution_that_code_checks(name):
    assert solution_problems(chapter(name)) == []


def test_at_least_five_chapters_have_a_picture_to_move_with_two_things_to_try():
    moved = []
    for name in CHAPTERS:
        embedded = [f for f in fences(chapter(name)) if f.name == "explorer"]
        tried = re.findall(r"\{explore\}`[^`]+<[^`>]+>`", text_of(chapter(name)))
        moved += [name] if embedded and len(tried) >= 2 else []
    assert len(moved) >= 5, moved


@every_chapter
def test_a_chapter_has_a_picture_with_a_caption(name):
    captions = [
        cell.metadata.get("mystnb", {}).get("figure", {}).get("caption", "")
        for cell in chapter(name).cells
        if any("image/png" in out.get("data", {}) for out in cell.get("outputs", []))
    ]
    captions += [f.options.get("name", "") for f in fences(chapter(name)) if f.name == "explorer"]
    assert captions
    assert all(captions)


@every_chapter
def test_a_chapter_leads_on_to_the_next(name):
    _, kept, end = text_of(chapter(name)).partition(KEEP)
    assert kept
    for follower in THREAD[THREAD.index(name) + 1 :][:1]:
        assert re.search(rf"\]\({follower}(?:\.ipynb)?\)", end)


@every_chapter
def test_a_chapter_has_no_machinery_of_claims(name):
    if name != THREAD[-1]:  # advice names its evidence
        assert "claim-badge" not in text_of(chapter(name))
    assert not re.search(r"\brecord\(", "\n".join(code(chapter(name))))


@every_chapter
def test_no_number_of_a_chapter_is_loose(name):
    assert loose_numbers(text_of(chapter(name))) == []


def test_the_half_hour_takes_half_an_hour_and_names_chapters_in_their_order():
    text = (ROOT / "book/paths.md").read_text(encoding="utf-8")
    half_hour = text.partition("(half-hour)=")[2].partition("(in-class)=")[0]
    rows = re.findall(r"^\d\. .*?ideas/([\w-]+)\)[^(]*\((\d+) minutes\)", half_hour, re.M)
    names = [name for name, _ in rows]
    assert names == [name for name in THREAD if name in names]
    assert len(names) >= 5
    assert [int(said) for _, said in rows] == [reading_minutes(chapter(name)) for name in names]
    assert sum(int(said) for _, said in rows) <= 30
    assert set(THREAD) == set(re.findall(r"ideas/([\w-]+)\)", half_hour))


def sound() -> NotebookNode:
    """Return a chapter with one exercise, solved by code that ran."""
    cell = new_code_cell("assert 1 + 1 == 2", execution_count=1)
    question = "```{exercise} Sum\n:label: ex-sum\n\nHow much?\n```"
    start = "```{solution-start} ex-sum\n:class: dropdown\n```"
    end = "```{solution-end}\n```"
    cells = [new_markdown_cell(f"{question}\n\n{start}"), cell, new_markdown_cell(end)]
    return new_notebook(cells=cells)


@pytest.mark.parametrize(
    ("place", "old", "new", "problem"),
    [
        (0, ":class: dropdown", "", "ex-sum: not folded"),
        (0, ":label: ex-sum", ":label: ex-other", "ex-other: no solution"),
        (1, "assert 1 + 1 == 2", "1 + 1", "ex-sum: checks nothing"),
        (1, "1 + 1 == 2", "True", "ex-sum: checks nothing"),
        (2, "```{solution-end}\n```", "That is all.", "ex-sum: no end"),
        (0, "```{solution-start} ex-sum\n:class: dropdown\n```", "", "an end without a start"),
        (
            0,
            "{solution-start} ex-sum\n:class: dropdown",
            "{solution} ex-sum\n:class: dropdown\n\nIt is 1.5.",
            "ex-sum: a number that no code gave",
        ),
    ],
)
def test_what_an_exercise_lacks_is_found(place, old, new, problem):
    assert solution_problems(sound()) == []
    faulty = copy.deepcopy(sound())
    assert old in faulty.cells[place].source
    faulty.cells[place].source = faulty.cells[place].source.replace(old, new)
    assert problem in solution_problems(faulty)


def test_code_that_did_not_run_is_found():
    faulty = sound()
    faulty.cells[1].execution_count = None
    assert solution_problems(faulty) == ["ex-sum: did not run"]
