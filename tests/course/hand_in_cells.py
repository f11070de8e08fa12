"""The cells of a hand-in, run in a namespace: no kernel is needed."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from speedbook.notebook.files import read_notebook
from speedbook.paths import find_root

FOLDER = find_root() / "notebooks" / "class"
HIDDEN = re.compile(r"### BEGIN HIDDEN TESTS\n.*?### END HIDDEN TESTS", re.S)


@cache
def cells(hand_in: int) -> tuple[tuple[str, str], ...]:
    """Return the code cells of a hand-in: the id of each and its source."""
    notebook = read_notebook(FOLDER / f"hand-in-{hand_in}.ipynb")
    return tuple((c.id, c.source) for c in notebook.cells if c.cell_type == "code")


@cache
def tasks() -> dict[str, int]:
    """Return the name of each task with the number of its hand-in, in order."""
    return {
        name.removeprefix("check-"): hand_in
        for hand_in in range(1, 5)
        for name, _ in cells(hand_in)
        if name.startswith("check-")
    }


def visible(source: str) -> str:
    """Return what a student sees of a check."""
    return HIDDEN.sub("", source)


def hidden(source: str) -> str:
    """Return the hidden tests of a check."""
    return "\n".join(HIDDEN.findall(source))


def before(task: str, student: str) -> dict[str, Any]:
    """Run all cells above the answer to a task, with solutions, and return the names they leave."""
    namespace: dict[str, Any] = {"__name__": "hand_in"}
    for name, source in cells(tasks()[task]):
        if name == f"answer-{task}":
            return namespace
        if name == "parameters":
            source = f"student = {student!r}"
        if not name.startswith("check-"):
            run(source, namespace)
    raise ValueError(f"task: no cell answers {task!r}")


def source_of(name: str, task: str) -> str:
    """Return the source of the answer or the check of a task."""
    return dict(cells(tasks()[task]))[f"{name}-{task}"]


def run(source: str, namespace: dict[str, Any]) -> None:
    """Run the source of a cell."""
    exec(compile(source, "<cell>", "exec"), namespace)
