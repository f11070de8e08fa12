"""What may go wrong in a rerun, before it and on the way; and what it tells meanwhile."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import Mock

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output
from rich.console import Console

import speedbook.run.folder
from speedbook.commands.reporter import Reporter
from speedbook.notebook.files import code_cells, read_notebook, write_notebook
from speedbook.paths import write_atomically
from speedbook.run.execution import ANSI, Finished
from speedbook.run.manifest import read_manifest
from speedlib._progress import PROGRESS_FILE

from .helpers import FIG, PROP, ROOT, SPEEDBOOK, start
from .reruns import folders, rerun

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def book(tiny_book, tiny_notebook, monkeypatch):
    """A tiny book to work in, whose figure page can be given other cells."""
    monkeypatch.chdir(tiny_book.root)
    tiny_book.cells = lambda *cells: tiny_book.notebook(FIG, tiny_notebook(*cells))
    return tiny_book


def failed(root: Path, ending: str = "-failed") -> Path:
    """Return the one folder there is, which says that its run did not succeed."""
    (folder,) = folders(root)
    assert folder.name.endswith(ending)
    return folder


@pytest.mark.slow
def test_a_failing_cell_prints_error_and_place_and_keeps_the_partial_notebook(book):
    book.cells("print('before')", "y = x\nraise RuntimeError('on purpose')", "print('after')")
    said = rerun("fig", "-p", "x=2", code=3)
    assert f"{FIG}: cell 5 (y = x)" in said
    assert "RuntimeError: on purpose" in said
    folder = failed(book.root)
    assert f"unfinished run: {folder}" in said
    cells = code_cells(read_notebook(folder / "fig.ipynb"))
    assert cells[2].outputs[0].text == "before\n"
    assert cells[-1].execution_count is None
    assert "RuntimeError: on purpose" in read_manifest(folder).failure
    assert "on purpose" in (folder / "fig.html").read_text()
    assert not list(folder.glob(".*"))


def test_the_page_of_a_failed_run_shows_no_verdict_that_it_has_not_computed(
    book, tiny_notebook, no_kernels
):
    notebook = tiny_notebook(
        "record_early = 1\nraise RuntimeError('too <soon>')",
        "from speedbook import record\nrecord('prop-1', 1.0, seed=seed)",
        parameters="seed: int = 7  # of the run [0 ..]",
    )
    no_kernels.failure = "cell 3\n    RuntimeError: too <soon>"
    prose = "It is {ledger}`prop-1.estimate`: {claim-badge}`prop-1`."
    notebook.cells.append(new_markdown_cell(prose, id="prose"))
    book.notebook(PROP, notebook)
    row = {"verdict": "supported", "estimate": 1.25, "interval": [1.0, 1.5]}
    book.write("book/ledger.json", json.dumps({"claims": {"prop-1": row}}))
    rerun("prop-1", code=3)
    (folder,) = folders(book.root, "prop-1")
    page = (folder / "prop-1.html").read_text().partition("<body>")[2]
    assert "1.25" not in page and "supported" not in page
    assert "not computed in this run" in page and "no verdict in this run" in page
    head = page[: page.index("<details>")]
    assert "This run stopped before its end" in head and "too &lt;soon&gt;" in head


@pytest.mark.slow
@pytest.mark.parametrize(
    "failure", ["cell 3 (time.sleep(99)) took longer than 1 s", "the kernel python3 did not start"]
)
def test_whatever_stopped_a_run_is_told_and_kept(book, no_kernels, failure):
    no_kernels.failure = failure
    said = rerun("fig", "--cell-timeout", 1, code=3)
    assert [job.timeout for job in no_kernels.jobs] == [1]
    assert f"{FIG}: {failure}" in said
    folder = failed(book.root)
    assert read_manifest(folder).failure == failure
    assert (folder / "fig.ipynb").is_file()


@pytest.mark.slow
def test_a_long_output_is_kept_but_not_shown(book, no_kernels):
    def much(_, notebook):
        cell = code_cells(notebook)[-1]
        cell.outputs = [new_output("stream", text="y" * 5_000_000)]
        notebook.cells.append(new_code_cell("1", outputs=[new_output("stream", text="the end")]))

    no_kernels.fill = much
    assert rerun("fig", "--quiet") == ""
    (folder,) = folders(book.root)
    assert (folder / "fig.ipynb").stat().st_size > 5_000_000
    page = (folder / "fig.html").read_text()
    assert len(page) < 4_000_000
    assert "more characters are in the notebook" in page
    assert "the end" in page


@pytest.mark.slow
def test_quiet_says_nothing_and_a_terminal_is_needed_for_bars(book, no_kernels):
    assert rerun("fig", "--quiet") == ""
    said = rerun("fig")
    assert "\x1b" not in said
    assert len(folders(book.root)) == 2


@pytest.mark.slow
def test_a_folder_that_is_there_is_never_written_to(book, no_kernels, monkeypatch):
    monkeypatch.setattr(speedbook.run.folder, "datetime", Mock(now=lambda _: NOON))
    for value in ("one", "two", "three"):
        no_kernels.fill = lambda _, notebook, value=value: notebook.metadata.update(value=value)
        rerun("fig")
    found = folders(book.root)
    name = found[0].name
    assert name.startswith("20260101T120000Z-")
    assert [folder.name for folder in found] == [name, f"{name}-2", f"{name}-3"]
    kept = [read_notebook(folder / "fig.ipynb").metadata.get("value") for folder in found]
    assert kept == ["one", "two", "three"]


def test_progress_is_told_cell_by_cell_and_how_far_a_simulation_is(book, monkeypatch):
    told = []

    @contextmanager
    def steps(_, title, total):
        yield lambda place, step: told.append((total, place, step))

    def kernels(jobs, workers, environment, tick):
        (job,) = jobs
        tick()
        for place, simulated in ((3, None), (4, "12/48"), (4, "12/"), (5, None)):
            job.progress.write_text(str(place))
            if simulated:
                Path(environment[PROGRESS_FILE]).write_text(simulated)
            tick()
        write_notebook(job.output, read_notebook(job.source))
        yield Finished(job, 0.1)

    monkeypatch.setattr(Reporter, "steps", steps)
    monkeypatch.setattr(speedbook.run.folder, "execute_all", kernels)
    book.cells("1", "2", "3")
    rerun("fig", "-p", "x=2")
    # Of six: the title, the parameters, the values given, and three more.
    assert told == [
        (6, 3, "cell 4"),
        (6, 4, "cell 5, 25% simulated"),
        (6, 4, "cell 5"),
        (6, 5, "cell 6"),
    ]
    (folder,) = folders(book.root)
    assert not list(folder.glob(".*"))


def test_a_terminal_shows_a_bar():
    reporter = Reporter()
    reporter.console = Console(file=io.StringIO(), force_terminal=True, width=90)
    with reporter.steps("Running it", 4) as at:
        at(2, "cell 3")
    shown = ANSI.sub("", reporter.console.file.getvalue())
    assert re.search("Running it.* 2/4 .*cell 3", shown)


@pytest.mark.slow
def test_two_runs_at_once_do_not_meet(book):
    processes = [start(book.root, *SPEEDBOOK, "rerun", "fig", "-p", "x=5") for _ in range(2)]
    for process in processes:
        said, _ = process.communicate(timeout=300)
        assert process.returncode == 0, said
    found = folders(book.root)
    assert len(found) == 2
    for folder in found:
        assert read_manifest(folder).parameters == {"x": 5}
        assert (folder / "fig.html").is_file()


@pytest.mark.slow
@pytest.mark.parametrize("file", ["fig.ipynb", "fig.html", "manifest.json"])
def test_a_full_disk_while_the_results_are_written_is_named(book, no_kernels, monkeypatch, file):
    def full(path, content):
        if path.name == file:
            raise OSError(28, "No space left on device", str(path))
        return write_atomically(path, content)

    monkeypatch.setattr(speedbook.run.folder, "write_atomically", full)
    said = rerun("fig", code=3)
    assert f"{file}: No space left on device" in said
    assert "+ 1" in failed(book.root).joinpath("fig.ipynb").read_text()


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="limits of processes")
def test_a_notebook_that_cannot_grow_is_named(book):
    book.cells("print('y' * 30_000)")
    process = start(book.root, *SPEEDBOOK, "rerun", "fig", limit=20_000)
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 3, said
    assert "File too large" in said
    assert "Traceback" not in said
    assert all(folder.name.endswith("-failed") for folder in folders(book.root))


def test_an_unwritable_place_is_named_before_anything_runs(book, monkeypatch):
    book.write("file", "")
    monkeypatch.setattr(speedbook.run.folder, "execute_all", None)
    assert "file" in (said := rerun("fig", "--out", "file", code=3))
    assert "Not a directory" in said or "File exists" in said


@pytest.mark.skipif(os.name == "nt", reason="permissions")
def test_a_read_only_folder_is_named_before_anything_runs(book, monkeypatch):
    monkeypatch.setattr(speedbook.run.folder, "execute_all", None)
    folder = book.root / "locked"
    folder.mkdir()
    folder.chmod(0o500)
    # Not even root may write there.
    place = folder if os.geteuid() else Path("/proc/1")
    said = rerun("fig", "--out", place / "runs", code=3)
    assert str(place) in said
    assert re.search("Permission denied|No such file|not permitted", said)


# Before anything runs


def test_a_notebook_that_breaks_the_contract_does_not_run(book, tiny_notebook):
    book.notebook(FIG, tiny_notebook("print(1)", parameters="x = 3"))
    said = rerun("fig", code=2)
    assert f"{FIG}: cell 2 (x = 3): line 1 must read `name: type = value  # help`" in said
    assert folders(book.root) == []


def test_all_is_checked_before_anything_runs(book, monkeypatch):
    monkeypatch.setattr(speedbook.run.folder, "execute_all", None)
    said = rerun("fig", "-p", "x=10", code=2)
    assert said == "speedbook: x: must be between 1 and 9; got 10\n"
    assert "nearest: x" in rerun("fig", "-p", "xx=1", code=2)
    assert "nearest: fig" in rerun("figs", code=2)
    assert "full.yml: No such file" in rerun("fig", "--full", code=2)
    assert rerun("--paper", code=2) == (
        "speedbook: --paper is now called --full, and notebooks/paper.yml is notebooks/full.yml\n"
    )
    book.write("notebooks/paper.yml", "x: 1\n")
    said = rerun("fig", "--full", code=2)
    assert said == (
        "speedbook: notebooks/paper.yml: is now called notebooks/full.yml; please rename it\n"
    )
    rerun("fig", "--cell-timeout", 0, code=2)
    assert not (book.root / "runs").exists()


def test_outside_the_book_it_says_where_to_go(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "no _toc.yml in" in rerun("fig", code=2)
    assert "no _toc.yml in" in rerun("fig", "--help", code=2)
    assert "--from MANIFEST" in rerun("--help")


def test_help_shows_the_parameters_of_the_notebook(book):
    said = rerun("fig", "--help")
    assert "-p NAME=VALUE" in said
    assert f"Parameters of {FIG}" in said
    assert re.search(r"x +int +3 +a number; between 1 and 9", said)
    assert "the book has none of this name" in rerun("gif", "--help", code=2)


@pytest.mark.slow
def test_help_of_a_notebook_loads_nothing_heavy():
    script = (
        "import sys\nfrom speedbook.commands.app import app\ntry:\n"
        "    app(['rerun', 'fig1a-unit-ball', '--help'])\n"
        "except SystemExit as stop:\n    assert not stop.code\n"
        "print(*sorted(m for m in sys.modules if '.' not in m), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "high_variance" in done.stdout
    heavy = {"numpy", "nbformat", "papermill", "yaml", "matplotlib", "sphinx", "pandas"}
    assert not heavy & set(done.stderr.split())


@pytest.mark.slow
def test_the_command_that_pages_show_is_understood(monkeypatch):
    import shlex

    import speedbook.commands.rerun
    from speedbook.notebook.find import notebook_names, parameters_of
    from speedbook.press.foot import rerun_command

    asked = []

    def no_run(request, *_):
        asked.append(request)
        raise speedbook.commands.rerun.RunFailed("not here")

    monkeypatch.setattr(speedbook.commands.rerun, "run", no_run)
    monkeypatch.chdir(ROOT)
    names = notebook_names(ROOT)
    for name in names:
        command = shlex.split(rerun_command(name, parameters_of(ROOT, name)))
        assert command[:2] == [".venv/bin/speedbook", "rerun"]
        rerun(*command[2:], code=3)
    assert [request.name for request in asked] == names
    # The one parameter of a hand-in is a name, for which no other is better.
    assert all(request.changed for request in asked if "hand-in" not in request.name)


TRACE = "cell 5 (check(table))\n    ----> 1 check(table)\n    ValueError: {}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("message", "values", "line"),
    [
        (
            "leave_out: the table has no column barista",
            {},
            "leave_out: the table has no column barista (leave_out is barista,machine, its "
            "default; set another with -p leave_out=…)",
        ),
        (
            "the columns of `leave_out` are not in the table;\n    it has a, b",
            {"leave_out": ["x"]},
            "the columns of `leave_out` are not in the table; it has a, b (leave_out is x, not its "
            "default barista,machine; set another with -p leave_out=…)",
        ),
        (
            "rounds must grow; got [2, 1]",
            {"rounds": [2, 1]},
            "rounds must grow; got [2, 1] (rounds is 2,1, not its default 1,2; "
            "set another with -p rounds=…)",
        ),
        (
            "mine.csv: there is no such file",
            {"leave_out": ["mine.csv"]},
            "mine.csv: there is no such file (leave_out is mine.csv, not its default "
            "barista,machine; set another with -p leave_out=…)",
        ),
        ("a machine of x has no name", {"leave_out": ["x"]}, None),
        ("after many rounds nothing came", {}, None),
        ("of no parameter", {}, None),
    ],
)
def test_an_error_about_a_parameter_is_one_line_with_its_value(
    tiny_book, tiny_notebook, no_kernels, monkeypatch, message, values, line
):
    parameters = (
        'leave_out: list[str] = ["barista", "machine"]  # columns\n'
        "rounds: list[int] = [1, 2]  # budgets"
    )
    tiny_book.notebook(FIG, tiny_notebook("print(leave_out, rounds)", parameters=parameters))
    monkeypatch.chdir(tiny_book.root)
    no_kernels.failure = TRACE.format(message)
    given = [f"{name}={json.dumps(value)}" for name, value in values.items()]
    said = rerun("fig", *(part for pair in given for part in ("-p", pair)), code=3)
    first = next(text for text in said.splitlines() if text.startswith("speedbook: "))
    if line is None:
        assert first == f"speedbook: {FIG}: cell 5 (check(table))"
    else:
        assert first == f"speedbook: {FIG}: {line}"
        # Where it arose stands below.
        assert "    cell 5 (check(table))" in said.splitlines()
    (folder,) = folders(tiny_book.root)
    assert f"{FIG}: {json.loads((folder / 'manifest.json').read_text())['failure']}" in said
