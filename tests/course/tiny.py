"""A hand-in of two tasks and an open question, and what students make of it."""

from __future__ import annotations

import copy
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from speedbook.notebook.files import KERNELSPEC, LANGUAGE, serialise, to_notebook
from tools.course import student
from tools.course.hand_ins import HandIn

NAME = "hand-in-1"
SOLUTION = "total = value + value  # the solution"
HIDDEN = "assert double(21) == the_right_answer, 'Doubling fails for 21.'"
TWICE = f"""def double(value):
    ### BEGIN SOLUTION
    {SOLUTION}
    return total
    ### END SOLUTION"""
TEST = f"""assert double(1) != 1, "This is the number itself, not its double."
### BEGIN HIDDEN TESTS
the_right_answer = 42
{HIDDEN}
### END HIDDEN TESTS"""


def graded(source: str, name: str, *, points: int | None = None, solution: bool = False) -> Any:
    about = {
        "grade": points is not None,
        "grade_id": name,
        "locked": not solution,
        "schema_version": 3,
        "solution": solution,
        "task": False,
    }
    about |= {"points": points} if points is not None else {}
    make = new_markdown_cell if source.startswith("Because") else new_code_cell
    about["cell_type"] = "markdown" if make is new_markdown_cell else "code"
    return make(source, metadata={"nbgrader": about})


def hand_in() -> NotebookNode:
    cells = [
        new_markdown_cell("# Doubling\n\nIt is $x_a^\\top y \\le 1$ for all."),
        new_code_cell(
            'student: str = "Ada Lovelace"  # your name', metadata={"tags": ["parameters"]}
        ),
        graded(TWICE, "double", solution=True),
        graded(TEST, "test-double", points=2),
        graded(
            "### BEGIN SOLUTION\nanswer = len(student) + 1000\n### END SOLUTION",
            "count",
            solution=True,
        ),
        graded("assert answer > 1000, 'It is more.'", "test-count", points=3),
        graded("Because I say so, and no other way.", "why", points=4, solution=True),
    ]
    for place, cell in enumerate(cells):
        cell.id = f"cell-{place}"
    metadata = {"kernelspec": KERNELSPEC, "language_info": LANGUAGE}
    notebook: NotebookNode = new_notebook(cells=cells, metadata=metadata)
    notebook.nbformat_minor = 5
    return notebook


def write(folder: Path) -> Path:
    """Write the hand-in as a teacher has it, and return its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{NAME}.ipynb").write_text(serialise(hand_in()), encoding="utf-8")
    return folder


def answered(
    release: NotebookNode, answers: Mapping[str, str], student: str = "Grace Hopper"
) -> str:
    """Return the text of a release with the answers of a student, by the id of their cell."""
    notebook = copy.deepcopy(release)
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        cell.source = answers.get(name, cell.source).replace("Ada Lovelace", student)
    return serialise(notebook)


def assignment() -> HandIn:
    return HandIn(NAME, hand_in())


def released(packed: Path, name: str = NAME) -> object:
    with zipfile.ZipFile(packed) as archive:
        return to_notebook(json.loads(archive.read(f"{student.TOP}/{name}.ipynb")))


def box(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder
