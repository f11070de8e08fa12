"""Files and facts that are found where a folder is linked, and a computer not quite in order."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import speedbook.run.cache
from speedbook.notebook.find import find_notebook, notebook_names
from speedbook.paths import files_below
from speedbook.run.cache import KEPT_RUNS, shared_key
from speedbook.run.provenance import commit_text, data_digests, git_state, installed_versions

FIG = "notebooks/figures/fig.ipynb"


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """Return a folder outside the book, as on another disk."""
    folder = tmp_path / "another disk"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "numbers.csv").write_text("1")
    (folder / ".hidden").write_text("")
    return folder


# Links


def test_files_in_linked_folders_are_found(tmp_path, elsewhere):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "big").symlink_to(elsewhere)
    (tmp_path / "data" / ".cache").symlink_to(elsewhere)
    (tmp_path / "data" / "gone").symlink_to(tmp_path / "nothing")
    files = files_below(tmp_path / "data", "data/")
    assert list(files) == ["data/big/deep/numbers.csv"]
    assert files["data/big/deep/numbers.csv"].read_text() == "1"


@pytest.mark.parametrize("target", [".", "..", "a", "b", "/"])
def test_links_that_lead_back_are_not_followed_for_ever(tmp_path, target):
    top = tmp_path / "top"
    for name in ("a", "b"):
        (top / name).mkdir(parents=True)
        (top / name / "file").write_text(name)
    (top / "b" / "to a").symlink_to(top / "a")
    (top / "a" / "back").symlink_to(top / target if target != "/" else "/")
    names = files_below(top)
    assert {"a/file", "b/file", "b/to a/file"} <= names.keys()
    assert len(names) < 10 and not any(name.startswith("a/back/a") for name in names)


def test_data_behind_a_link_are_data(tiny_book, elsewhere):
    (tiny_book.root / "data").mkdir(exist_ok=True)
    (tiny_book.root / "data" / "big").symlink_to(elsewhere)
    before = shared_key(tiny_book.root)
    assert "data/big/deep/numbers.csv" in data_digests(tiny_book.root)
    (elsewhere / "deep" / "numbers.csv").write_text("2")
    assert shared_key(tiny_book.root) != before, "a page would keep the results of the old data"


def test_linked_notebooks_are_found_by_path_and_by_name(tiny_book, elsewhere, monkeypatch):
    root = tiny_book.root
    (root / FIG).rename(elsewhere / "deep" / "fig.ipynb")
    (root / FIG).symlink_to(elsewhere / "deep" / "fig.ipynb")
    (root / "notebooks" / "more").symlink_to(elsewhere / "deep")
    assert {FIG, "notebooks/more/fig.ipynb"} <= set(notebook_names(root))
    for name in (FIG, "notebooks/more/fig.ipynb"):
        assert find_notebook(root, name) == name
        assert find_notebook(root, str(root / name)) == name
    monkeypatch.chdir(root / "notebooks")
    assert find_notebook(root, "figures/../more/fig.ipynb") == "notebooks/more/fig.ipynb"


# A clock that was set back


def test_the_newest_run_is_kept_whatever_the_clock_says(tmp_path, tiny_notebook):
    cache = speedbook.run.cache.Cache(tmp_path)
    for i in range(KEPT_RUNS):
        cache.put(FIG, f"k{i}", speedbook.run.cache.Run(tiny_notebook("x"), i))
        future = 4_000_000_000 + i
        os.utime(tmp_path / FIG / f"k{i}.json", (future, future))
    cache.put(FIG, "new", speedbook.run.cache.Run(tiny_notebook("x"), 1.0))
    assert cache.get(FIG, "new") is not None
    assert len(list((tmp_path / FIG).iterdir())) == KEPT_RUNS
    assert cache.get(FIG, "k0") is None, "the oldest of the others goes"


# Repositories and installations that are not in order


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    if shutil.which("git") is None:
        pytest.skip("there is no git")
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "file").write_text("")
    who = ("-c", "user.name=A", "-c", "user.email=a@b")
    for command in (["init"], ["add", "."], ["commit", "-m", "A"]):
        subprocess.run(["git", *who, *command], cwd=folder, check=True, capture_output=True)
    return folder


def test_what_git_cannot_compare_is_not_called_unchanged(repository):
    commit = git_state(repository)["commit"]
    assert git_state(repository) == {"commit": commit, "changed": False}
    (repository / ".git" / "index").write_bytes(b"damaged")
    assert git_state(repository) == {"commit": commit, "changed": None}


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away"
)
def test_the_commit_of_a_repository_of_another_user_is_known(repository):
    commit = git_state(repository)["commit"]
    for path in (repository, repository / ".git"):
        os.chown(path, 12345, 12345)
    assert git_state(repository) == {"commit": commit, "changed": None}


@pytest.mark.parametrize(
    ("commit", "changed", "text"),
    [
        (None, None, "no git"),
        ("0123456789abcdef", False, "0123456789ab"),
        ("0123456789abcdef", True, "0123456789ab with uncommitted changes"),
        ("0123456789abcdef", None, "0123456789ab, perhaps with uncommitted changes"),
    ],
)
def test_what_is_not_known_of_a_checkout_is_said(commit, changed, text):
    assert commit_text(commit, changed) == text


@pytest.mark.slow
@pytest.mark.parametrize(
    "metadata", [None, "", "Name: half\n", "Version: 1\n"], ids=["none", "empty", "name", "version"]
)
def test_remains_of_an_installation_are_no_packages(tmp_path, monkeypatch, metadata):
    before = installed_versions()
    folder = tmp_path / "~alf-1.0.dist-info"
    folder.mkdir()
    if metadata is not None:
        (folder / "METADATA").write_text(metadata)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    assert installed_versions() == before


def test_copies_of_packages_inside_another_are_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = installed_versions()
    copy = tmp_path / "package/_vendor/numpy-0.1.dist-info"
    copy.mkdir(parents=True)
    (copy / "METADATA").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 0.1\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(copy.parent)])
    assert installed_versions() == before
