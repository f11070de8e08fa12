"""The hand-ins: their notebooks, which cells are graded, and what students must not see."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from speedbook.notebook.files import code_cells, read_notebook
from tools.course.plain import for_students

#: Where notebooks for a class are, and how the hand-ins among them are called.
FOLDER, PATTERN = "notebooks/class", "hand-in-*.ipynb"
#: How nbgrader marks what a release leaves out.
REGION = re.compile(r"BEGIN (SOLUTION|HIDDEN TESTS)(.*?)END \1", re.S)
MARKS = ("BEGIN SOLUTION", "END SOLUTION", "BEGIN HIDDEN TESTS", "END HIDDEN TESTS")
#: Characters, blanks not counted, from which on a line of a solution is one by itself.
LONG = 20


@dataclass(frozen=True)
class HandIn:
    """One hand-in, in nbgrader's source form."""

    name: str
    notebook: NotebookNode

    @cached_property
    def cells(self) -> frozenset[str]:
        """The ids by which nbgrader recognises cells."""
        return frozenset(graded_ids(self.notebook))

    @cached_property
    def default(self) -> str:
        """The name that stands in the hand-in before a student enters another one."""
        return student_named(self.notebook)

    def leaks(self, release: NotebookNode) -> list[str]:
        """Return a line for each thing that a release shows although it must not."""
        shown = [cell.source for cell in release.cells]
        found = [mark for mark in MARKS if any(mark in text for text in shown)]
        lines = {line.strip() for text in shown for line in text.splitlines()}
        secret = set(secret_lines(self.notebook))
        # What stands outside of the marks too is no secret.
        open_text = "\n".join(REGION.sub("", cell.source) for cell in self.notebook.cells)
        secret -= {line.strip() for line in open_text.splitlines()}
        found += sorted(secret & lines)
        return found + ["outputs" for cell in code_cells(release) if cell.outputs][:1]


def hand_ins(folder: Path, known: Mapping[str, str]) -> dict[str, HandIn]:
    """Read the hand-ins of a folder, by name, their Markdown as students get it.

    Parameters
    ----------
    folder : Path
        Where they are.
    known : mapping of str to str
        Abbreviations in formulas: `tools.course.plain.macros`.

    Raises
    ------
    ValueError
        If there is none, or one cannot be read.
    """
    paths = sorted(folder.glob(PATTERN))
    if not paths:
        raise ValueError(f"{folder}: has no {PATTERN}")
    read = {path.stem: for_students(read_notebook(path), known) for path in paths}
    return {name: HandIn(name, notebook) for name, notebook in read.items()}


def nbgrader_of(cell: NotebookNode) -> dict[str, Any]:
    """Return what nbgrader knows of a cell."""
    found = cell.get("metadata", {}).get("nbgrader", {})
    return found if isinstance(found, dict) else {}


def graded_ids(notebook: NotebookNode) -> list[str]:
    """Return the ids of the cells that nbgrader grades or locks."""
    found = (nbgrader_of(cell).get("grade_id") for cell in notebook.get("cells", []))
    return [str(name) for name in found if name]


def secret_lines(notebook: NotebookNode) -> Iterator[str]:
    """Yield the lines of solutions and hidden tests that are long enough to be recognised."""
    for cell in notebook.cells:
        found = [match[2] for match in REGION.finditer(cell.source)]
        if nbgrader_of(cell).get("solution") and not found:
            # nbgrader takes such a cell for a solution as a whole.
            found = [cell.source]
        for line in "\n".join(found).splitlines():
            if len(re.sub(r"\s", "", line)) >= LONG:
                yield line.strip()


def student_named(notebook: NotebookNode) -> str:
    """Return the name that a student put into the cell of parameters, or an empty text."""
    for cell in notebook.get("cells", []):
        if "parameters" not in cell.get("metadata", {}).get("tags", []):
            continue
        try:
            body = ast.parse(cell.source).body
        except (SyntaxError, ValueError):
            continue
        for line in body:
            if isinstance(line, ast.AnnAssign):
                targets: list[ast.expr] = [line.target]
            elif isinstance(line, ast.Assign):
                targets = line.targets
            else:
                continue
            names = [target.id for target in targets if isinstance(target, ast.Name)]
            value = line.value
            if "student" in names and isinstance(value, ast.Constant):
                return " ".join(str(value.value).split())
    return ""
