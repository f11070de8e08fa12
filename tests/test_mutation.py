"""The mutants: what is written down of them fits the project, and their runners notice a fault."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from mutation import every, named, stored
from speedbook.claims import load_registry

ROOT = Path(__file__).resolve().parents[1]
MUTANTS = stored.named_mutants(ROOT)

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")


# What is written down.


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant["name"])
def test_a_named_mutant_is_another_program_and_names_what_exists(mutant) -> None:
    text = (ROOT / mutant["file"]).read_text(encoding="utf-8")
    changed = named.mutated(ROOT, mutant)
    assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(text))
    registry = load_registry(ROOT)
    assert [registry[claim].id for claim in mutant["claims"]] == mutant["claims"]
    assert len({registry[claim].notebook for claim in mutant["claims"]}) <= 1
    assert mutant["tests"]
    assert all((ROOT / name).is_file() for name in mutant["tests"])


def test_named_mutants_have_names_of_their_own() -> None:
    assert len({mutant["name"] for mutant in MUTANTS}) == len(MUTANTS) >= 16


@pytest.mark.parametrize("module", stored.MODULES)
def test_every_stored_survivor_has_a_reason(module: str) -> None:
    entries = stored.reasons(ROOT)
    rows = stored.read(ROOT, module)["mutants"]
    alive = [row for row in rows if row["status"] not in every.CAUGHT]
    assert [row for row in alive if not stored.reason(entries, row)] == []


def test_every_reason_belongs_to_a_survivor() -> None:
    rows = [row for module in stored.MODULES for row in stored.read(ROOT, module)["mutants"]]
    alive = [row for row in rows if row["status"] not in every.CAUGHT]
    for entry in stored.reasons(ROOT):
        assert any(stored.reason([entry], row) for row in alive), entry


def test_results_tell_what_has_changed_since() -> None:
    assert stored.changed({"speedlib": "1", "the tests": "2"}, {"speedlib": "1"}) == []
    now = {"speedlib": "1", "the tests": "3", "the runner": "4"}
    assert stored.changed({"speedlib": "1", "the tests": "2"}, now) == ["the tests", "the runner"]


# The runner of the named mutants.


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Write a module, and a test that looks at half of it."""
    (tmp_path / "small.py").write_text(
        "def double(x):\n    return 2 * x\n\n\ndef half(x):\n    return x / 2\n"
    )
    (tmp_path / "test_small.py").write_text(
        "import small\n\n\ndef test_double():\n    assert small.double(3) == 6\n\n\n"
        "def test_half_runs():\n    small.half(3)\n"
    )
    return tmp_path


def mutant(old: str, new: str) -> dict[str, object]:
    file, tests = "small.py", ["test_small.py"]
    return {"name": "one", "file": file, "old": old, "new": new, "tests": tests, "claims": []}


def test_a_fault_turns_a_test_red_and_is_taken_out_again(project: Path) -> None:
    before = (project / "small.py").read_text()
    row = named.trial(project, mutant("2 * x", "3 * x"))
    assert row["test"] == "test_small.py::test_double"
    assert (project / "small.py").read_text() == before
    assert named.trial(project, mutant("x / 2", "x / 3"))["test"] == ""


@pytest.mark.parametrize(("old", "count"), [("4 * x", 0), ("return", 2)])
def test_a_text_that_does_not_occur_once_is_refused(project: Path, old: str, count: int) -> None:
    with pytest.raises(ValueError, match=f"mutant one: .* once in small.py; it occurs {count} tim"):
        named.mutated(project, mutant(old, "0"))


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--help"], 0, "Exit codes:"),
        (["named", "no-such"], 2, "no mutant called no-such"),
        (["every", "no_such"], 2, "no module no_such"),
        (["named", "--jobs", "0"], 2, "--jobs: must be at least 1"),
    ],
)
def test_the_command_line_says_what_is_wrong(arguments: list[str], code: int, said: str) -> None:
    command = [sys.executable, "-m", "mutation", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert said in " ".join((done.stdout + done.stderr).split())
    assert "Traceback" not in done.stderr


# The runner of all small mutants.


@needs_fork
def test_only_another_code_counts_as_a_mutant(monkeypatch) -> None:
    from mutation.plugin import exchange

    module = ModuleType("small")
    source = "def double(x):\n    return 2 * x\n"
    exec(source, vars(module))
    monkeypatch.setitem(sys.modules, "small", module)
    held, change = module.double, {"module": "small", "function": "double"}
    assert not exchange({**change, "source": source.replace("2 * x", "(2 * x)")})
    assert held(3) == 6
    assert exchange({**change, "source": source.replace("2 * x", "3 * x")})
    assert held(3) == 9


@needs_fork
def test_the_plugin_tells_what_became_of_every_mutant(project: Path) -> None:
    text = (project / "small.py").read_text()
    double, half = text.split("\n\n\n")
    rows = [
        ("caught", "double", double.replace("2", "3")),
        ("survived", "half", half.replace("2", "3")),
        ("same", "half", half),
        ("endless", "double", double.replace("return 2 * x", "while True: x += 1")),
        ("caught", "half", half.replace("/ 2", "/ 0")),
    ]
    listed, answers = project / "mutants.json", project / "answers.jsonl"
    listed.write_text(
        json.dumps(
            [
                {"id": str(i), "module": "small", "function": name, "source": source, "hint": ""}
                for i, (_, name, source) in enumerate(rows)
            ]
        )
    )
    options = ["-q", "-s", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "mutation.plugin"]
    paths = ["--mutants", str(listed), "--answers", str(answers), "--forks", "2"]
    path = os.pathsep.join([str(project), str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *paths, "test_small.py"],
        cwd=project,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    found = every.read_answers(answers)
    assert [found[str(i)]["status"] for i in range(len(rows))] == [row[0] for row in rows], done
    assert found["0"]["test"] == "test_small.py::test_double"
    assert len(found) == len(rows)


def test_a_half_written_answer_is_asked_for_again(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text('{"id": "a", "status": "caught"}\n{"id": "b", "sta{"id": "c", "status": "x"}\n')
    assert list(every.read_answers(path)) == ["a"]
