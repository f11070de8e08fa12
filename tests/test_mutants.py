"""The mutants: what is written down of them fits the project, and a fault is noticed."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from paper.mutants import (
    CAUGHT,
    _code,
    changed,
    dependencies,
    find_reason,
    read,
    without_words,
)
from speedbook.claims.registry import load_registry
from tools.mutants import __main__ as mutants

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mutmut"]
FAULTS = read(ROOT, "faults.yml")
REASONS = read(ROOT, "survivors.yml")
STORED = read(ROOT, "results/changes.json")
ALIVE = [row for row in STORED["rows"] if row["status"] not in CAUGHT]


# What is written down.


def test_there_are_faults_with_names_of_their_own() -> None:
    assert len({fault["name"] for fault in FAULTS}) == len(FAULTS) >= 16


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault["name"])
def test_a_fault_makes_another_program_and_names_what_exists(fault) -> None:
    before, after = (ROOT / fault["file"]).read_text("utf-8"), mutants.with_fault(ROOT, fault)
    assert ast.dump(ast.parse(before)) != ast.dump(ast.parse(after))
    registry = load_registry(ROOT)
    assert len({registry[claim].notebook for claim in fault["claims"]}) <= 1
    assert fault["tests"]
    assert all((ROOT / name).is_file() for name in fault["tests"])


def test_every_survivor_has_a_reason_and_every_reason_a_survivor() -> None:
    assert ALIVE
    assert [row for row in ALIVE if not find_reason(REASONS, row)] == []
    explained = {(entry["function"], new) for entry in REASONS for new in entry["new"]}
    assert explained - {(row["function"], row["new"]) for row in ALIVE} == set()


@pytest.mark.slow
def test_all_is_stored_with_what_it_depends_on() -> None:
    assert {row["module"] for row in STORED["rows"]} == {
        Path(name).stem for name in SETTINGS["only_mutate"]
    }
    assert not [row for row in STORED["rows"] if row["function"] in mutants.COMPLAINTS]
    rows = {row["name"]: row for row in read(ROOT, "results/faults.json")["rows"]}
    assert [*rows] == [fault["name"] for fault in FAULTS]
    known = dependencies(ROOT, SETTINGS).keys()
    assert [row for row in (STORED, *rows.values()) if row["depends"].keys() != known] == []


def test_results_tell_what_has_changed_since() -> None:
    assert changed({"speedlib": "1", "the tests": "2"}, {"speedlib": "1"}) == []
    now = {"speedlib": "1", "the tests": "3", "the faults": "4"}
    assert changed({"speedlib": "1", "the tests": "2"}, now) == ["the tests", "the faults"]


CODE = 'def f(x):\n    if x:\n        raise E(f"There is no {x}.")\n    return g(x, "mean")\n'


@pytest.mark.parametrize(
    "other",
    [
        CODE.replace(
            "    if", '    """Say it.\n\n    At length.\n    """\n    # And why.\n\n    if'
        ),
        CODE.replace('f"There is no {x}."', '"There is no"  # Why.\n            f" such {x}."'),
        CODE.replace('(x, "mean")', '(\n        x,\n        "mean",\n    )'),
    ],
)
def test_results_do_not_depend_on_words_and_layout(other: str) -> None:
    assert without_words(other) == without_words(CODE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return g", "return -g"),
        ("mean", "median"),
        ("    return", "        return"),
        ("raise ", ""),
    ],
)
def test_results_depend_on_all_else(old: str, new: str) -> None:
    assert without_words(CODE.replace(old, new)) != without_words(CODE)


def test_what_depends_on_a_test_notices_its_change(tmp_path: Path) -> None:
    files = {"conftest.py": "", "book/claims.yml": "claims: []", "speedlib/a.py": "", "t.py": "1"}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    before = dependencies(tmp_path, {"tests": ["t.py"]})
    (tmp_path / "t.py").write_text("2")
    assert changed(before, dependencies(tmp_path, {"tests": ["t.py"]})) == ["the tests"]


@pytest.mark.parametrize(("name", "loaded"), [("used", True), ("later", True), ("apart", False)])
def test_only_what_the_library_loads_decides(tmp_path: Path, name: str, loaded: bool) -> None:
    files = {
        "conftest.py": "",
        "book/claims.yml": "claims: []",
        "t.py": "",
        "speedlib/__init__.py": "from speedlib.used import f\n",
        "speedlib/used.py": "def f():\n    from speedlib import later\n",
        "speedlib/later.py": "x = 1\n",
        "speedlib/apart.py": "from speedlib.used import f\n",
    }
    for file, text in files.items():
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(text)
    before = dependencies(tmp_path, {"tests": ["t.py"]})
    with (tmp_path / "speedlib" / f"{name}.py").open("a") as source:
        source.write("y = 2\n")
    now = changed(before, dependencies(tmp_path, {"tests": ["t.py"]}))
    assert now == ["speedlib"] * loaded


def test_results_are_read_as_they_were_stored(tmp_path: Path) -> None:
    results = {"date": "today", "rows": [{"name": "é"}, {"name": "two"}]}
    mutants.store(tmp_path, "results/some.json", results)
    assert read(tmp_path, "results/some.json") == results
    assert read(tmp_path, "results/none.json") == {"rows": []}
    (file,) = (tmp_path / "tools/mutants/results").iterdir()
    assert len(file.read_text(encoding="utf-8").splitlines()) == 4


# That a fault is noticed.


@pytest.fixture
def project(tmp_path: Path, monkeypatch) -> Path:
    """Write a module with its tests, which look at all but the start."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # many seconds less
    (tmp_path / "small.py").write_text(
        "def double(x, start=0):\n"
        "    if x is None:\n"
        '        raise ValueError(f"x: must be {1 + 1} or so")\n'
        "    return 2 * x\n\n\n"
        "def _complaint():\n    return 1 + 1\n"
    )
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_small.py").write_text(
        "import small\n\n\ndef test_double():\n    assert small.double(3) == 6\n\n\n"
        "def test_complaint():\n    assert small._complaint() == 2\n"
    )
    (tmp_path / "pyproject.toml").write_text(
        '[tool.mutmut]\nsource_paths = ["small.py"]\nonly_mutate = ["small.py"]\n'
        f"do_not_mutate_patterns = {json.dumps(SETTINGS['do_not_mutate_patterns'])}\n"
    )
    return tmp_path


@pytest.mark.slow
def test_a_fault_is_noticed_and_the_project_left_as_it_was(project: Path, monkeypatch) -> None:
    text, seen = (project / "small.py").read_text(), []

    def asked(copy: Path, claims: list[str]) -> dict[str, str]:
        seen.append((copy / "small.py").read_text())
        return {claim: "refuted" for claim in claims}

    monkeypatch.setattr(mutants, "red_claims", asked)
    fault = {"name": "one", "file": "small.py", "old": "2 * x", "new": "3 * x"}
    fault |= {"tests": ["tests/test_small.py"], "claims": ["a"]}
    red = {"test": "tests/test_small.py::test_double", "claims": {"a": "refuted"}}
    assert mutants.trial(project, fault) == red
    assert seen == [text.replace("2 * x", "3 * x")]
    assert (project / "small.py").read_text() == text
    with pytest.raises(ValueError, match=r"fault one: .* once in small.py; it occurs 2 t"):
        mutants.trial(project, {**fault, "old": "return"})
    (project / "tests/test_small.py").write_text("def test_all():\n    assert False\n")
    with pytest.raises(RuntimeError, match="test_all also fails without the fault one"):
        mutants.trial(project, fault)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_what_mutmut_finds_is_read_without_the_words_of_errors(project: Path) -> None:
    mutants.run_mutmut(project)
    alive = mutants.changes_with(project, "survived")
    assert alive
    mutants.run_mutmut(project, *alive)
    assert mutants.changes_with(project, "survived") == alive
    found = {(row["old"], row["new"]): row for row in mutants.read_changes(project)}
    assert {(row["module"], row["function"]) for row in found.values()} == {("small", "double")}
    assert found["return 2 * x", "return 3 * x"]["status"] in CAUGHT
    assert found["def double(x, start=0):", "def double(x, start=1):"]["status"] == "survived"
    assert not [old for old, _ in found if "raise" in old]


@pytest.mark.parametrize(
    ("code", "error", "said"),
    [
        (0, "", ["", ""]),
        (1, "Claim a-b, seed 7: ✗ refuted, 2; committed: 1.\n", ["", "✗ refuted, 2"]),
        (3, "speedbook: notebooks/x.ipynb: Cell 2: no\n", ["its page stops: Cell 2: no", ""]),
    ],
)
def test_what_verify_says_is_understood(monkeypatch, tmp_path, code, error, said) -> None:
    done = subprocess.CompletedProcess([], code, "", error)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)
    assert mutants.red_claims(tmp_path, ["a", "a-b"]) == dict(zip(["a", "a-b"], said, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [(["--help"], 0, "Exit codes:"), (["no-such"], 2, "invalid choice: 'no-such'")],
)
def test_the_command_line_says_what_is_wrong(arguments: list[str], code: int, said: str) -> None:
    command = [sys.executable, "-m", "tools.mutants", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert said in " ".join((done.stdout + done.stderr).split())


# What makes results stale.

DRAWS = ["x = 3", "figures.show(x)", "record(x)"]


def code_of(folder: Path, *cells: str) -> list[str]:
    notebook = {"cells": [{"cell_type": "code", "source": cell} for cell in cells]}
    path = folder / "n.ipynb"
    path.write_text(json.dumps(notebook))
    return _code(path)


def test_a_picture_and_a_remark_change_no_verdict(tmp_path) -> None:
    before = code_of(tmp_path, *DRAWS)
    assert before == [*map(without_words, ["x = 3", "record(x)"])]
    assert code_of(tmp_path, "x = 3  # three", "ax = x\nfigures.show(ax)", "record(x)") == before
    assert code_of(tmp_path, "from paper.plots import plot_mse\nx = 3", *DRAWS[1:]) == before
    assert code_of(tmp_path, "x = 4", *DRAWS[1:]) != before
    # Names that pictures use for themselves are nobody's.
    loop = "for x in [1]:\n    record(x)"
    assert code_of(tmp_path, "x = 3\nfigures.show(x)", loop) == [without_words(loop)]


@pytest.mark.parametrize("cell", ["y = 2\nfigures.show(y)", "figures.show(rng.normal())"])
def test_a_picture_that_later_cells_need_counts(tmp_path, cell) -> None:
    assert code_of(tmp_path, cell, "record(y)") == [without_words(cell), without_words("record(y)")]
