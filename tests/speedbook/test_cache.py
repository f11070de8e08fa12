"""The cache key: all that outputs depend on, and nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

import speedbook.build
import speedbook.cache
import speedbook.press
from speedbook.notebooks import read_notebook

from .a_claim import claim
from .helpers import FIG, PROP, ROOT, edit


def run_key(book, name=PROP):
    registry = speedbook.build.load_registry(book.root)
    shared = speedbook.cache.shared_key(book.root)
    return speedbook.cache.run_key(
        read_notebook(book.root / name), registry.of_notebook(name), shared
    )


@pytest.mark.parametrize(
    ("name", "old", "new", "changes"),
    [
        ("speedlib/__init__.py", "ANSWER = 1", "ANSWER = 1  # one", True),
        ("data/set.csv", "1,2", "1,3", True),
        (PROP, "seed: int = 3", "seed: int = 4", True),
        (PROP, "1.001", "1.002", True),
        (PROP, "# A page", "# Another title", False),
        ("book/claims.yml", "tolerance: 0.1", "tolerance: 0.2", True),
        ("book/claims.yml", "One is one.", "One is one!", True),
        (FIG, "x + 1", "x + 2", False),
        ("book/index.md", "# Tiny", "# Small", False),
    ],
)
def test_the_key_knows_what_outputs_depend_on(tiny_book, name, old, new, changes):
    before = run_key(tiny_book)
    edit(tiny_book.root / name, old, new)
    assert (run_key(tiny_book) != before) == changes


def test_the_key_knows_lock_python_new_modules_and_new_data(tiny_book, monkeypatch):
    keys = [run_key(tiny_book)]
    for name in ("requirements.txt", "speedlib/solvers/lp.py", "data/more.csv"):
        tiny_book.write(name, "x")
        keys.append(run_key(tiny_book))
    monkeypatch.setattr(speedbook.cache.platform, "python_version", lambda: "3.99.0")
    keys.append(run_key(tiny_book))
    assert len(set(keys)) == len(keys)


def test_a_page_may_read_files_of_its_own(tiny_book, monkeypatch):
    monkeypatch.setattr(speedbook.cache, "READS", {PROP: ("tests", "conftest.py")})
    for name in ("tests/test_one.py", "conftest.py"):
        tiny_book.write(name, "x")
    before = speedbook.cache.page_key(tiny_book.root, PROP, "shared")
    tiny_book.write("tests/__pycache__/test_one.pyc", "x")
    assert speedbook.cache.page_key(tiny_book.root, PROP, "shared") == before
    for name in ("tests/test_one.py", "conftest.py"):
        tiny_book.write(name, "y")
        after = speedbook.cache.page_key(tiny_book.root, PROP, "shared")
        assert after != before
        before = after
    assert speedbook.cache.page_key(tiny_book.root, FIG, "shared") == "shared"


def test_a_claim_of_another_page_changes_no_key(tiny_book):
    before = run_key(tiny_book, FIG)
    edit(tiny_book.root / "book/claims.yml", "tolerance: 0.1", "tolerance: 0.2")
    assert run_key(tiny_book, FIG) == before


@pytest.mark.parametrize(
    ("name", "changes"),
    [("claims.py", True), ("datasets/__init__.py", True), ("new.py", True), ("build.py", False)],
)
def test_the_key_knows_the_evidence_parts_of_speedbook(
    tiny_book, tmp_path, monkeypatch, name, changes
):
    package = tmp_path / "speedbook"
    shutil.copytree(ROOT / "speedbook", package, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(speedbook.cache, "PACKAGE", package)
    before = run_key(tiny_book)
    with (package / name).open("a") as source:
        source.write("# a line\n")
    assert (run_key(tiny_book) != before) == changes


def test_what_the_errata_say_of_a_claim_runs_nothing_again(tiny_notebook):
    notebook = tiny_notebook("x")

    def key(**changes):
        return speedbook.cache.run_key(notebook, [claim(**changes)], "shared")

    assert key(counterexample="One.", corrected_by=["a"], rests_on=["b"]) == key()
    assert key(uncorrected="No need.") == key() != key(title="Another")


def test_what_a_notebook_imports_is_evidence():
    script = (
        "import sys, speedbook; speedbook.record, speedbook.figures, speedbook.datasets;"
        "print(*(m for m in sys.modules if m.startswith('speedbook.')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = {name.split(".")[1] for name in done.stdout.split()}
    assert {"claims", "rules", "cards", "figures", "datasets"} <= loaded
    assert not loaded & speedbook.cache.PRESS


def test_an_unreadable_run_counts_as_none(tmp_path, tiny_notebook):
    cache = speedbook.cache.Cache(tmp_path)
    assert cache.get(FIG, "k") is None
    cache.put(FIG, "k", speedbook.cache.Run(tiny_notebook("x"), 1.5))
    assert cache.get(FIG, "k").seconds == 1.5
    (path,) = tmp_path.rglob("*.json")
    path.write_text(path.read_text()[:50])
    assert cache.get(FIG, "k") is None


def test_old_runs_are_forgotten(tmp_path, tiny_notebook):
    cache = speedbook.cache.Cache(tmp_path)
    for i in range(8):
        cache.put(FIG, f"k{i}", speedbook.cache.Run(tiny_notebook("x"), i))
        path = tmp_path / FIG / f"k{i}.json"
        os.utime(path, (i + 1, i + 1))
    assert sorted(path.stem for path in (tmp_path / FIG).iterdir()) == [
        "k3",
        "k4",
        "k5",
        "k6",
        "k7",
    ]
