"""What students get: the archive and its releases, and tasks in the book."""

from __future__ import annotations

import doctest
import importlib
import json
import os
import subprocess
import sys
import venv
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest
from nbformat.v4 import new_output

from speedbook.notebook.files import code_cells, read_notebook, to_notebook
from speedbook.press.template import as_page, published
from tools.course import __main__ as course
from tools.course import student
from tools.course.folder import Course, CourseError
from tools.course.hand_ins import MARKS, HandIn, hand_ins, secret_lines, student_named

from . import tiny

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", ["feedback", "plain", "student", "submissions"])
def test_examples_in_docstrings_are_right(name: str) -> None:
    result = doctest.testmod(importlib.import_module(f"tools.course.{name}"))
    assert result.attempted and not result.failed


@pytest.mark.slow
def test_a_release_has_no_solution_and_no_hidden_test(packed: Path) -> None:
    text = json.dumps(tiny.released(packed))
    assert "raise NotImplementedError" in text and "not its double" in text
    for secret in (*MARKS, tiny.SOLUTION, "the_right_answer", "Because I say so", "+ 1000"):
        assert secret in str(tiny.hand_in())
        assert secret not in text


def test_a_release_that_shows_a_solution_is_noticed() -> None:
    release = tiny.hand_in()
    assert {*MARKS, tiny.SOLUTION, tiny.HIDDEN} <= set(tiny.assignment().leaks(release))
    for cell in release.cells:
        cell.source = cell.source.replace("BEGIN", "X").replace("END", "X")
    assert tiny.SOLUTION in tiny.assignment().leaks(release)
    release.cells = release.cells[:2]
    assert tiny.assignment().leaks(release) == []
    release.cells[1].outputs = [new_output("stream", text="42")]
    assert tiny.assignment().leaks(release) == ["outputs"]


@pytest.mark.slow
def test_the_hand_ins_of_the_book_are_released_without_solutions(tmp_path: Path) -> None:
    known = hand_ins(ROOT / "notebooks/class", {})
    for name, text in Course(tmp_path / "course").release(known).items():
        lines = {line.strip() for cell in json.loads(text)["cells"] for line in cell["source"]}
        assert set(secret_lines(known[name].notebook)) - {""}
        assert not {mark for mark in MARKS if mark in text}
        assert known[name].leaks(to_notebook(json.loads(text))) == [], lines
        assert student_named(to_notebook(json.loads(text))) == known[name].default != ""


@pytest.mark.slow
def test_the_archive_has_what_a_student_needs_and_says_how_to_start(packed: Path) -> None:
    with zipfile.ZipFile(packed) as archive:
        names = {name.removeprefix(f"{student.TOP}/") for name in archive.namelist()}
        start = archive.read(f"{student.TOP}/START.md").decode()
    (wheel,) = (name for name in names if name.endswith(".whl"))
    assert {"START.md", "requirements.txt", "LICENSE", f"{tiny.NAME}.ipynb", wheel} == names
    assert start.count(wheel) == 2 and "WHEEL" not in start
    for word in ("Windows", "macOS and Linux", "-m venv .venv", "--require-hashes", "Hand in"):
        assert word in start


@pytest.mark.slow
def test_the_same_sources_make_the_same_archive(packed: Path, sources: Path) -> None:
    again = packed.with_name("again.zip")
    course.main(["--notebooks", str(sources), "student", "--out", str(again)])
    assert again.read_bytes() == packed.read_bytes()


def test_what_students_do_not_have_is_noticed(tmp_path: Path) -> None:
    notebook = tiny.hand_in()
    code_cells(notebook)[0].source = "import numpy, json\nfrom paper import exact\nimport seaborn"
    files, missing = student.modules([notebook], ROOT)
    assert {"paper/__init__.py", "paper/exact.py"} <= set(files)
    assert missing == ["seaborn"]
    with pytest.raises(CourseError, match="hand-in-1: students do not have: seaborn"):
        student.lacking({tiny.NAME: HandIn(tiny.NAME, notebook)}, ROOT)


def test_the_book_shows_tasks_without_solutions() -> None:
    for name, one in hand_ins(ROOT / "notebooks/class", {}).items():
        page = as_page(published(one.notebook), f"notebooks/class/{name}.ipynb")
        shown = json.dumps(page, ensure_ascii=False)
        assert "## Task" in shown and not [mark for mark in MARKS if mark in shown]
        assert one.leaks(page) in ([], ["outputs"]), name


def test_the_hand_ins_of_the_book_need_what_students_have() -> None:
    student.lacking(hand_ins(ROOT / "notebooks/class", {}), ROOT)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="links to packages need rights that few have there")
def test_a_hand_in_of_the_book_runs_with_what_is_in_the_archive(tmp_path: Path) -> None:
    """In an environment of its own, with links to the numpy and scipy that are installed here."""
    target = tmp_path / "x.zip"
    assert course.main(["student", "--out", str(target)]) == 0
    with zipfile.ZipFile(target) as archive:
        archive.extractall(tmp_path / "a folder")
    here = tmp_path / "a folder" / student.TOP
    venv.create(here / ".venv", symlinks=True)
    python = here / ".venv" / "bin" / "python"
    (site,) = (here / ".venv").glob("lib/python*/site-packages")
    for package in ("numpy", "scipy"):
        files = distribution(package).files or []
        for name in {file.parts[0] for file in files} - {"..", "__pycache__"}:
            (site / name).symlink_to(distribution(package).locate_file(name))
    (wheel,) = here.glob("*.whl")
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    subprocess.run([*pip, "--no-deps", "--no-index", str(wheel)], check=True)
    for path in sorted(here.glob("hand-in-*.ipynb")):
        given = [
            cell.source
            for cell in code_cells(read_notebook(path))
            if not {"grade", "solution"}
            & {key for key, yes in cell.metadata.get("nbgrader", {}).items() if yes is True}
        ]
        code = "\n".join(["import os, sys; sys.path.insert(0, os.getcwd())", *given])
        done = subprocess.run(
            [str(python), "-I", "-c", code], cwd=here, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{path.name}: {done.stderr}"
