"""Expected trouble: one plain line that names the file, the right exit code, and no traceback."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from speedbook.commands.app import app
from speedbook.commands.exit_codes import ExitCode, end_with
from speedbook.paths import write_atomically
from speedbook.run.execution import execute_all
from speedlib import SPEED, mse_curve, unit_ball

from .helpers import FIG, ROOT, SPEEDBOOK
from .reruns import folders

UNSHARE = ["unshare", "--net"]


def can(*program: str) -> bool:
    return (
        bool(shutil.which(program[0]))
        and not subprocess.run(program, capture_output=True).returncode
    )


def run(folder: Path, program: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        program,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=150,
    )


@pytest.fixture
def book(tiny_book, monkeypatch):
    monkeypatch.chdir(tiny_book.root)
    return tiny_book


# No loopback interface.


@pytest.mark.slow
@pytest.mark.skipif(not can(*UNSHARE, "true"), reason="needs a network of its own")
@pytest.mark.parametrize("command", ["build", "rerun fig", "verify"])
def test_without_a_loopback_interface_it_ends_at_once_and_says_so(tiny_book, command):
    program = [*UNSHARE, sys.executable, *SPEEDBOOK, *command.split()]
    done = run(tiny_book.root, program)
    assert done.returncode == 3
    (line,) = done.stderr.splitlines()
    assert "127.0.0.1" in line and "loopback" in line
    assert folders(tiny_book.root) == []


def test_an_address_that_cannot_be_reached_starts_no_worker(monkeypatch):
    def unreachable(*_, **__):
        raise OSError(errno.ENETUNREACH, "Network is unreachable")

    monkeypatch.setattr("speedbook.run.loopback.socket.create_connection", unreachable)
    monkeypatch.setattr("speedbook.run.workers.ProcessPoolExecutor", None)
    with pytest.raises(OSError, match="loopback"):
        next(execute_all([], 1, {}))


# A full disk.


def full(*_, **__):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_names_file_and_file_system(book, monkeypatch, capsys):
    path = book.root / "book" / "new.json"
    monkeypatch.setattr(Path, "open", full)

    def command():
        write_atomically(path, "1")
        return ExitCode.WELL

    assert end_with(command, "").exit_code == ExitCode.FAILED
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{path}: No space left on device" in line
    place = path.parent
    while not os.path.ismount(place):
        place = place.parent
    assert f"the file system at {place} " in line and "MB left" in line


def test_curves_that_find_no_room_name_their_file(tmp_path, monkeypatch):
    ball = unit_ball()
    curves = mse_curve(ball.bandit, ball.policy, [SPEED()], [100], 2, seed=1)
    monkeypatch.setattr("speedlib.curves.os.fsync", full)
    with pytest.raises(OSError, match="No space") as caught:
        curves.save(tmp_path / "curves.npz")
    assert caught.value.filename == str(tmp_path / "curves.npz")
    assert list(tmp_path.iterdir()) == []


def mounted(folder: Path, size: str) -> bool:
    return can("mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder))


@pytest.mark.slow
@pytest.mark.parametrize("command", ["build", "rerun fig"])
def test_on_a_full_file_system_a_command_names_it(book, tmp_path, command):
    disk = tmp_path / "disk"
    disk.mkdir()
    if not mounted(disk, "64k"):
        pytest.skip("needs the right to mount")
    try:
        (disk / "filler").write_bytes(b"x" * 56_000)
        target = book.root / command.replace("rerun fig", "runs").replace("build", "_build")
        target.symlink_to(disk)
        done = run(book.root, [sys.executable, *SPEEDBOOK, *command.split()])
        assert done.returncode == 3, done.stderr
        assert "Traceback" not in done.stderr
        assert "No space left on device" in done.stderr
        left = [path.name for path in disk.rglob("*") if path.is_file()]
        assert not [name for name in left if name.endswith(".part")]
        assert f"the file system at {disk} has" in done.stderr
    finally:
        subprocess.run(["umount", disk], check=True)


# Files that are not what they should be.

LATIN, BROKEN = b"\xff\xe4: {", b"{ [ : hello"
V3 = b'{"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": []}'
TEXT = b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": "abc"}'
BARE = b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": "code"}]}'
CONTENTS = {
    FIG: (LATIN, BROKEN, b"[1, 2]", b"null", b"", V3, TEXT, BARE),
    "book/ledger.json": (LATIN, BROKEN, b"[1, 2]", b"null", b'{"claims": [1]}', b""),
    "_config.yml": (LATIN, BROKEN, b"[1, 2]"),
    "book/references.bib": (LATIN,),
}
RERUN = "rerun fig --quiet"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "content"), [(name, content) for name, all_ in CONTENTS.items() for content in all_]
)
def test_a_file_that_is_none_of_its_kind_is_named_by_a_rerun(book, no_kernels, name, content):
    book.write(name, "")
    (book.root / name).write_bytes(content)
    result = CliRunner().invoke(app, RERUN.split())
    assert isinstance(result.exception, SystemExit), repr(result.exception)
    assert result.exit_code in (2, 3)
    line = result.output.splitlines()[0]
    assert line.startswith("speedbook: ") and name in line


@pytest.mark.parametrize("content", CONTENTS["book/ledger.json"])
@pytest.mark.parametrize("command", ["verify", "verify --seeds 2 --store"])
def test_a_ledger_that_is_none_is_named_before_anything_runs(book, content, command):
    (book.root / "book/ledger.json").write_bytes(content)
    result = CliRunner().invoke(app, command.split())
    assert result.exit_code == 2, repr(result.exception)
    (line,) = result.output.splitlines()
    assert "book/ledger.json" in line and "make refresh" in line


# Whoever reads goes away, or the disk that output goes to is full.


def written_to(sink: Any, folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command whose output goes somewhere."""
    return subprocess.run(
        [sys.executable, *SPEEDBOOK, *command],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=sink,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_output_that_cannot_be_written_is_one_line(tiny_book):
    with open("/dev/full", "w") as sink:
        done = written_to(sink, tiny_book.root, "data", "list")
    assert done.returncode == 3
    assert done.stderr.splitlines() == ["speedbook: standard output: No space left on device"]


@pytest.mark.slow
def test_a_reader_who_has_enough_stops_no_work(tiny_book):
    read, write = os.pipe()
    os.close(read)
    done = written_to(write, tiny_book.root, "rerun", "fig")
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")
    (folder,) = folders(tiny_book.root)
    assert (folder / "manifest.json").is_file()
