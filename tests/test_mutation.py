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

from mutation import named, stored
from mutation.forks import CAUGHT, changed_function, read_answers
from speedbook.claims.registry import load_registry

ROOT = Path(__file__).resolve().parents[1]
MUTANTS = stored.named_mutants(ROOT)

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")


# What is written down.


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant["name"])
def test_a_named_mutant_is_another_program_and_names_what_exists(mutant) -> None:
    before, after = named.texts(ROOT, mutant)
    assert ast.dump(ast.parse(before)) != ast.dump(ast.parse(after))
    assert changed_function(before, after)
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
    alive = [row for row in rows if row["status"] not in CAUGHT]
    assert [row for row in alive if not stored.reason(entries, row)] == []


def test_every_reason_belongs_to_a_survivor() -> None:
    rows = [row for module in stored.MODULES for row in stored.read(ROOT, module)["mutants"]]
    alive = [row for row in rows if row["status"] not in CAUGHT]
    for entry in stored.reasons(ROOT):
        assert any(stored.reason([entry], row) for row in alive), entry


def test_results_tell_what_has_changed_since() -> None:
    assert stored.changed({"speedlib": "1", "the tests": "2"}, {"speedlib": "1"}) == []
    now = {"speedlib": "1", "the tests": "3", "the runner": "4"}
    assert stored.changed({"speedlib": "1", "the tests": "2"}, now) == ["the tests", "the runner"]


@pytest.mark.parametrize("head", [{}, {"module": "é.py", "left_out": {"a": 1}}])
def test_results_are_read_as_they_were_written(tmp_path: Path, head: dict[str, object]) -> None:
    record = {**head, "mutants": [{"name": "one"}, {"name": "two"}]}
    stored.write(tmp_path, "some", record, "mutants")
    assert stored.read(tmp_path, "some") == record
    assert stored.read(tmp_path, "none") == {}


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
    return {"name": "one", "file": file, "old": old, "new": new, "tests": tests, "claims": ["a"]}


def test_a_claim_is_asked_of_the_mutant_which_is_then_taken_out(project: Path, monkeypatch) -> None:
    before, seen = (project / "small.py").read_text(), []

    def asked(copy: Path, claims: list[str]) -> dict[str, str]:
        seen.append((copy / "small.py").read_text())
        return {claim: "refuted" for claim in claims}

    monkeypatch.setattr(named, "red_claims", asked)
    assert named.trial(project, mutant("2 * x", "3 * x"))["claims"] == {"a": "refuted"}
    assert seen == [before.replace("2 * x", "3 * x")]
    assert (project / "small.py").read_text() == before


@pytest.mark.parametrize(
    ("code", "error", "said"),
    [
        (0, "", {"a": "", "a-b": ""}),
        (
            1,
            "Claim a-b, seed 7: ✗ refuted, 2 [2, 2]; committed: 1.\n",
            {"a": "", "a-b": "✗ refuted, 2 [2, 2]"},
        ),
        (
            3,
            "speedbook: notebooks/x.ipynb: Cell 2: no\n",
            {"a": "its page stops: Cell 2: no", "a-b": ""},
        ),
    ],
)
def test_what_verify_says_is_understood(monkeypatch, tmp_path, code, error, said) -> None:
    done = subprocess.CompletedProcess([], code, "", error)
    monkeypatch.setattr(named, "_run", lambda copy, arguments: done)
    assert named.red_claims(tmp_path, ["a", "a-b"]) == said


@pytest.mark.parametrize(("old", "count"), [("4 * x", 0), ("return", 2)])
def test_a_text_that_does_not_occur_once_is_refused(project: Path, old: str, count: int) -> None:
    with pytest.raises(ValueError, match=f"mutant one: .* once in small.py; it occurs {count} tim"):
        named.texts(project, mutant(old, "0"))


def test_a_change_is_within_one_function() -> None:
    text = "X = 1\n\nclass A:\n    def f(self):\n        return X\n\ndef g():\n    return 2\n"
    assert changed_function(text, text.replace("return X", "return 0")) == (
        "A.f",
        "def f(self):\n    return 0",
    )
    for after in (text, text.replace("X = 1", "X = 2"), text.replace("return", "return -")):
        with pytest.raises(ValueError, match="within one function"):
            changed_function(text, after)


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
    found = read_answers(answers)
    assert [found[str(i)]["status"] for i in range(len(rows))] == [row[0] for row in rows], done
    assert found["0"]["test"] == "test_small.py::test_double"
    assert len(found) == len(rows)


def test_a_half_written_answer_is_asked_for_again(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text('{"id": "a", "status": "caught"}\n{"id": "b", "sta{"id": "c", "status": "x"}\n')
    assert list(read_answers(path)) == ["a"]
