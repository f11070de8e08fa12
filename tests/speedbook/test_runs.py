"""``speedbook runs``: what it lists, and that `clean` deletes runs and nothing else."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from speedbook.commands.app import app
from speedbook.run.listing import NAME, delete, run_folders

from .reruns import folders, rerun


def runs(*arguments: object, code: int = 0, answer: str | None = None) -> str:
    result = CliRunner().invoke(app, ["runs", *map(str, arguments)], input=answer)
    assert result.exit_code == code, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return " ".join(result.output.split())


@pytest.fixture
def book(tiny_book, no_kernels, monkeypatch):
    """A book with a run of each kind: finished, failed, interrupted, killed, and of a sweep."""
    monkeypatch.chdir(tiny_book.root)
    rerun("fig", "-p", "x=6")
    rerun("prop-1")
    no_kernels.failure = "cell 2: ValueError: no"
    rerun("fig", "-p", "x=7", code=3)
    no_kernels.failure = ""
    place = tiny_book.root / "runs" / "fig"
    (place / "20250101T000000Z-0123abcd-interrupted").mkdir()
    (place / "20250101T000000Z-0123abcd-interrupted" / "fig.ipynb").write_text("{}")
    (place / ".20250102T000000Z-0123abcd-77-unfinished").mkdir()
    sweep = tiny_book.root / "runs" / "sweeps" / "fig-0123"
    rerun("fig", "-p", "x=8", "--out", sweep)
    (sweep / "sweep.json").write_text("{}")
    return tiny_book


def test_it_lists_what_was_changed_with_verdicts_state_and_size(book):
    said = runs()
    assert "x=6" in said and "x=7" in said and "at the defaults" not in said
    assert said.count("finished") >= 3 and said.count("failed") >= 2
    assert "interrupted" in said and "unfinished" in said
    assert "5 runs," in said
    assert "Sweep runs/sweeps/fig-0123: 1 finished;" in said
    # The latest is first.
    assert said.index("x=7") < said.index("20250102T") < said.index("20250101T")


def test_the_parameters_of_a_run_that_was_stopped_are_in_its_notebook(book):
    place = book.root / "runs" / "fig" / "20250101T000000Z-0123abcd-interrupted"
    # A table, or on a narrow screen a list.
    row = r"20250101T000000Z-0123abcd- ?interrupted (Changed: )?{} .*interrupted"
    assert re.search(row.format("unknown"), runs())
    cases = [
        ({"x": 9, "seed": 2}, "x=9, seed=2", "x=9, seed=2"),
        ({}, "at the defaults", "–"),
        (7, "parameters unknown", "unknown"),
    ]
    for values, words, shown in cases:
        notebook = {"metadata": {"papermill": {"parameters": values}}}
        (place / "fig.ipynb").write_text(json.dumps(notebook))
        (run,) = (each for each in run_folders(book.root / "runs") if each.path == place)
        assert run.in_words == words
        assert run.state == "interrupted" and run.manifest is None
        assert shown in runs("--notebook", "fig", "--failed")


def test_the_filters(book):
    said = runs("--failed")
    assert "x=7" in said and "x=6" not in said and "3 runs," in said
    assert "1 run," in runs("--notebook", "prop-1")
    assert "There are no such runs" in runs("--failed", "--notebook", "prop-1")
    assert "nearest: fig" in runs("--notebook", "figs", code=2)
    assert "no such folder" in runs("--runs", "nowhere", code=2)
    assert "1 run," in runs("--runs", "runs/prop-1")


def test_a_verdict_that_is_not_the_books_is_named(book):
    place = next(iter(folders(book.root, "prop-1"))) / "manifest.json"
    manifest = json.loads(place.read_text())
    record = {"id": "prop-1", "verdict": "contradicted", "estimate": 2, "interval": [2, 2]}
    manifest["results"]["records"] = {"prop-1": record, "b": {**record, "verdict": "checked"}}
    place.write_text(json.dumps(manifest))
    book.write("book/ledger.json", json.dumps({"claims": {"prop-1": {"verdict": "supported"}}}))
    said = runs("--notebook", "prop-1")
    assert "1 ∎ checked, prop-1 ✗ contradicted (book: ✓ supported)" in said


def test_without_runs_it_says_so(tiny_book, monkeypatch):
    monkeypatch.chdir(tiny_book.root)
    assert "There are no such runs in runs." in runs()
    assert "There is nothing to delete in runs." in runs("clean")


# Deleting


def left(book):
    return {
        path.relative_to(book.root).as_posix()
        for path in book.root.rglob("*")
        if path.is_file() and "_build" not in path.parts
    }


def test_without_a_terminal_nothing_is_deleted(book):
    before = left(book)
    assert "to delete without it, add --yes" in runs("clean", code=2)
    assert left(book) == before


@pytest.mark.parametrize("answer", ["n\n", "\n", ""])
def test_without_a_yes_nothing_is_deleted(book, monkeypatch, answer):
    monkeypatch.setattr("speedbook.commands.on_runs._terminal", lambda: True)
    before = left(book)
    said = runs("clean", code=0 if answer else 130, answer=answer)
    assert "Delete 4 runs, " in said and left(book) == before
    assert ("Nothing was deleted." in said) == bool(answer)


def test_a_yes_deletes(book, monkeypatch):
    monkeypatch.setattr("speedbook.commands.on_runs._terminal", lambda: True)
    assert "Deleted: 1 run, " in runs("clean", "--notebook", "prop-1", answer="y\n")
    assert not (book.root / "runs" / "prop-1").exists()


def test_it_deletes_the_runs_that_it_named_and_nothing_else(book):
    before = left(book)
    ends = "-failed", "-interrupted"
    chosen = [f"runs/fig/{path.name}" for path in folders(book.root) if path.name.endswith(ends)]
    said = runs("clean", "--failed", "--yes")
    assert len(chosen) == 2 and all(name in said for name in chosen)
    assert "Deleted: 2 runs, " in said and "Delete by hand" in said
    assert re.search(r"These are kept, .*: runs/fig/\.20250102T.*-unfinished", said)
    gone = before - left(book)
    assert gone and all(name.startswith(tuple(f"{run}/" for run in chosen)) for name in gone)
    said = runs("clean", "--yes")
    assert "Deleted: 2 runs, " in said
    # What belongs to a sweep stays; an empty folder goes.
    names = {
        name.split("/")[1] + "/" + name.split("/")[2] for name in left(book) if "runs/" in name
    }
    assert names == {"sweeps/fig-0123"}
    assert (book.root / "runs" / "fig" / ".20250102T000000Z-0123abcd-77-unfinished").is_dir()
    assert not (book.root / "runs" / "prop-1").exists()


def test_what_only_looks_like_a_run_stays(book, tmp_path):
    """A link, a folder of another's files, a manifest of another notebook, one that is broken."""
    run = next(path for path in folders(book.root) if (path / "manifest.json").exists())
    outside = shutil.copytree(run, tmp_path / "elsewhere" / "fig" / run.name)
    place = book.root / "runs" / "other"
    place.mkdir()
    (place / run.name).symlink_to(outside, target_is_directory=True)
    (place / "20250103T000000Z-0123abcd").mkdir()
    (place / "20250103T000000Z-0123abcd" / "thesis.txt").write_text("mine")
    stopped = book.root / "runs" / "fig" / "20250101T000000Z-0123abcd-interrupted"
    (stopped / "thesis.txt").write_text("mine")
    other = shutil.copytree(stopped, place / stopped.name)
    (other / "thesis.txt").unlink()
    shutil.copytree(run, place / "20250104T000000Z-0123abcd")
    shutil.copytree(run, book.root / "runs" / "fig" / "my-copy")
    broken = shutil.copytree(run, book.root / "runs" / "fig" / "20250105T000000Z-0123abcd")
    (broken / "manifest.json").write_text("{}")
    runs("clean", "--yes")
    for path in (
        outside / "manifest.json",
        place / "20250103T000000Z-0123abcd" / "thesis.txt",
        place / "20250104T000000Z-0123abcd" / "manifest.json",
        book.root / "runs" / "fig" / "my-copy" / "manifest.json",
        broken / "manifest.json",
        stopped / "thesis.txt",
        other / "fig.ipynb",
    ):
        assert path.is_file(), path
    assert not run.exists()


def test_the_folder_of_runs_is_a_limit_for_the_function_too(book, tmp_path):
    found = run_folders(book.root / "runs")
    with pytest.raises(ValueError, match="nothing was deleted"):
        delete(found, book.root / "runs")
    with pytest.raises(ValueError, match="nothing was deleted"):
        delete([run for run in found if run.manifest], tmp_path / "other")
    assert run_folders(book.root / "runs") == found


def test_options_before_the_word_clean_are_refused(book):
    before = left(book)
    assert "write options after the word clean" in runs("--failed", "clean", "--yes", code=2)
    assert left(book) == before


@given(st.text("0123456789abcdefTZ-.", max_size=30))
def test_only_names_of_runs_are_names_of_runs(name):
    if NAME.fullmatch(name):
        assert name[8] == "T" and name[15:17] == "Z-" and len(Path(name).parts) == 1
