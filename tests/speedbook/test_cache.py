"""The cache key: all that outputs depend on, and nothing else."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import pytest

import speedbook.commands.build
import speedbook.press.jupyter_book
import speedbook.run.cache
from speedbook.notebook.files import code, read_notebook

from .a_claim import claim
from .helpers import FIG, PROP, ROOT, edit


def run_key(book, name=PROP):
    registry = speedbook.commands.build.load_registry(book.root)
    shared = speedbook.run.cache.shared_key(book.root)
    return speedbook.run.cache.run_key(
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
    monkeypatch.setattr(speedbook.run.cache.platform, "python_version", lambda: "3.99.0")
    keys.append(run_key(tiny_book))
    assert len(set(keys)) == len(keys)


def test_a_page_may_read_files_of_its_own(tiny_book, monkeypatch):
    monkeypatch.setattr(speedbook.run.cache, "READS", {PROP: ("tests", "conftest.py")})
    for name in ("tests/test_one.py", "conftest.py"):
        tiny_book.write(name, "x")
    before = speedbook.run.cache.page_key(tiny_book.root, PROP, "shared")
    tiny_book.write("tests/__pycache__/test_one.pyc", "x")
    assert speedbook.run.cache.page_key(tiny_book.root, PROP, "shared") == before
    for name in ("tests/test_one.py", "conftest.py"):
        tiny_book.write(name, "y")
        after = speedbook.run.cache.page_key(tiny_book.root, PROP, "shared")
        assert after != before
        before = after
    assert speedbook.run.cache.page_key(tiny_book.root, FIG, "shared") == "shared"


def test_a_claim_of_another_page_changes_no_key(tiny_book):
    before = run_key(tiny_book, FIG)
    edit(tiny_book.root / "book/claims.yml", "tolerance: 0.1", "tolerance: 0.2")
    assert run_key(tiny_book, FIG) == before


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("speedbook/claims/rules.py", True),
        ("speedbook/figures.py", True),
        ("speedbook/new.py", True),
        ("speedbook/new/new.py", True),
        ("paper/theory/regret.py", True),
        ("paper/new.py", True),
        ("speedbook/press/run_page.py", False),
        ("speedbook/press/sphinx/errata.py", False),
        ("speedbook/run/cache.py", False),
        ("speedbook/notebook/prose.py", False),
        ("speedbook/commands/build.py", False),
    ],
)
def test_the_folder_decides_whether_a_notebook_runs_again(
    tiny_book, tmp_path, monkeypatch, name, changes
):
    for room in ("speedbook", "paper"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / room, tmp_path / room, ignore=ignored)
    monkeypatch.setattr(speedbook.run.cache, "PACKAGE", tmp_path / "speedbook")
    before = run_key(tiny_book)
    (tmp_path / name).parent.mkdir(exist_ok=True)
    with (tmp_path / name).open("a") as source:
        source.write("# a line\n")
    assert (run_key(tiny_book) != before) == changes


def test_what_the_errata_say_of_a_claim_runs_nothing_again(tiny_notebook):
    notebook = tiny_notebook("x")

    def key(**changes):
        return speedbook.run.cache.run_key(notebook, [claim(**changes)], "shared")

    assert key(counterexample="One.", corrected_by=["a"], rests_on=["b"]) == key()
    assert key(uncorrected="No need.") == key() != key(title="Another")


@pytest.mark.slow
def test_what_the_notebooks_import_is_evidence():
    imports = {
        line
        for path in (ROOT / "notebooks").rglob("*.ipynb")
        for source in code(read_notebook(path))
        for line in re.findall(r"^from (?:paper|speedbook)[\w.]* import [^(\n]+$", source, re.M)
    }
    script = "\n".join([*sorted(imports), "import sys", "print(*sys.modules)"])
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = {name.split(".")[1] for name in done.stdout.split() if name[:10] == "speedbook."}
    assert {"claims", "figures", "paths"} <= loaded
    assert not loaded & speedbook.run.cache.PRESS


def test_an_unreadable_run_counts_as_none(tmp_path, tiny_notebook):
    cache = speedbook.run.cache.Cache(tmp_path)
    assert cache.get(FIG, "k") is None
    cache.put(FIG, "k", speedbook.run.cache.Run(tiny_notebook("x"), 1.5))
    assert cache.get(FIG, "k").seconds == 1.5
    assert cache.get(FIG, "k").files is None
    drawn = speedbook.run.cache.Run(tiny_notebook("x"), 1.5, files={"a.svg": "<svg/>"})
    cache.put(FIG, "k", drawn)
    assert cache.get(FIG, "k").files == {"a.svg": "<svg/>"}
    (path,) = tmp_path.rglob("*.json")
    path.write_text(path.read_text()[:50])
    assert cache.get(FIG, "k") is None


def test_old_runs_are_forgotten(tmp_path, tiny_notebook):
    cache = speedbook.run.cache.Cache(tmp_path)
    for i in range(8):
        cache.put(FIG, f"k{i}", speedbook.run.cache.Run(tiny_notebook("x"), i))
        path = tmp_path / FIG / f"k{i}.json"
        os.utime(path, (i + 1, i + 1))
    assert sorted(path.stem for path in (tmp_path / FIG).iterdir()) == [
        "k3",
        "k4",
        "k5",
        "k6",
        "k7",
    ]
