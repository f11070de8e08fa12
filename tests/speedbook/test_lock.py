"""One command at a time writes in a folder: the others say who does, and do nothing."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import speedbook.run.lock
from speedbook.commands.app import app
from speedbook.run.lock import LOCK, Busy, only_one

from .builds import build
from .helpers import FIG, ROOT, SPEEDBOOK, start
from .reruns import rerun
from .test_interrupt import HANG, KILL, alive, wait_until

WRITERS = "build", "build --refresh", "verify --seeds 2 --store"


@pytest.fixture
def book(tiny_book, monkeypatch):
    monkeypatch.chdir(tiny_book.root)
    row = {"verdict": "supported", "estimate": 1.0, "interval": [1.0, 1.0], "seed": 3}
    rows = {"prop-1": {**row, "rule": "equal to 1 ± 0.1"}}
    tiny_book.write("book/ledger.json", json.dumps({"claims": rows}))
    return tiny_book


def tree(root: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.mark.parametrize("command", WRITERS)
def test_a_second_writer_says_who_works_there_and_touches_nothing(book, command):
    book.write("_build/running/notebooks/of-the-first.ipynb", "half of it")
    with only_one(book.root, "speedbook build", print):
        before = tree(book.root)
        result = CliRunner().invoke(app, command.split())
        assert tree(book.root) == before
    assert result.exit_code == 4
    (line,) = result.output.splitlines()
    for part in (str(book.root / LOCK), "speedbook build", f"process {os.getpid()} on ", " UTC"):
        assert part in line


def test_reruns_and_plain_verdicts_need_no_lock(book, no_kernels, monkeypatch):
    monkeypatch.setattr("speedbook.commands.verify.execute_all", lambda *_: iter(()))
    with only_one(book.root, "speedbook build", print):
        rerun("fig")
        assert CliRunner().invoke(app, ["verify"]).exit_code != 4
    assert len(list(book.root.glob("runs/fig/*/manifest.json"))) == 1


def test_the_lock_is_free_again_whatever_became_of_the_first(tmp_path):
    said = []
    with pytest.raises(KeyboardInterrupt), only_one(tmp_path, "one", said.append):
        raise KeyboardInterrupt
    with only_one(tmp_path, "two", said.append), pytest.raises(Busy, match="two, process"):
        with only_one(tmp_path, "three", said.append):
            pass
    assert said == []


def test_a_folder_removed_meanwhile_is_no_hindrance(tmp_path):
    with only_one(tmp_path, "one", print):
        (tmp_path / LOCK).unlink()
        with only_one(tmp_path, "two", print), pytest.raises(Busy, match="two, process"):
            with only_one(tmp_path, "three", print):
                pass


@pytest.mark.parametrize("made_again", [True, False])
def test_a_lock_on_a_file_that_was_removed_in_between_does_not_count(
    tmp_path, monkeypatch, made_again
):
    """As where `make clean` ends between the opening of the file and its lock."""
    calls, lock = [], speedbook.run.lock._lock

    def slow(file):
        if not calls:
            (tmp_path / LOCK).unlink()
            if made_again:
                (tmp_path / LOCK).touch()
        calls.append(file)
        lock(file)

    monkeypatch.setattr("speedbook.run.lock._lock", slow)
    with only_one(tmp_path, "one", print):
        with pytest.raises(Busy, match="one, process"), only_one(tmp_path, "two", print):
            pass


def test_a_file_system_without_locks_is_named(tmp_path, monkeypatch):
    def none(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr("speedbook.run.lock._lock", none)
    said = []
    with only_one(tmp_path, "one", said.append):
        pass
    (line,) = said
    assert str(tmp_path / LOCK) in line and "no locks" in line


def test_a_folder_that_cannot_be_written_is_named(book):
    book.write("_build", "a file")
    assert f"{book.root / '_build'}: File exists" in build(code=3)


@pytest.mark.slow
def test_two_builds_in_one_folder_and_one_after_the_first_was_killed(book, tiny_notebook):
    book.notebook(FIG, tiny_notebook(f"{HANG}; x"))
    first = start(book.root, *SPEEDBOOK, "build")
    try:
        pids = book.root / "pids"
        assert wait_until(lambda: pids.is_file() and pids.read_text().endswith("\n"))
        others = [*map(int, pids.read_text().split())]
        assert f"process {first.pid} on" in build(code=4)
        assert (book.root / "_build" / "running").is_dir()
        cleaning = subprocess.run(
            ["make", "-f", ROOT / "Makefile", "clean", f"PY={shlex.quote(sys.executable)}"],
            cwd=book.root,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert cleaning.returncode and f"process {first.pid} on" in cleaning.stderr
        assert (book.root / "_build" / "running").is_dir()
        first.send_signal(KILL)
        first.wait(60)
        assert wait_until(lambda: not any(map(alive, others)), 30)
    finally:
        if alive(-first.pid):
            os.killpg(first.pid, signal.SIGKILL)
        first.wait()
    book.toc("book/ledger")
    book.claims([])
    book.write("book/index.md", "# Tiny\n")
    again = build()
    assert "taken over" in again and f"process {first.pid} on" in again
    assert "taken over" not in build()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    clean = ["make", "-f", str(ROOT / "Makefile"), "clean", f"PY={shlex.quote(sys.executable)}"]
    subprocess.run(clean, cwd=book.root, env=environment, check=True)
    assert not (book.root / "_build").exists()
