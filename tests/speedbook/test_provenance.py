"""Where results come from, as a build notes it."""

from __future__ import annotations

import shutil
import subprocess

import pytest

import speedbook.run.provenance
from speedbook.claims.ledger import built_ledger
from speedbook.run.provenance import (
    build_facts,
    commit_year,
    data_digests,
    digest,
    git_state,
)


def git(folder, *arguments):
    who = ("-c", "user.name=A", "-c", "user.email=a@b")
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
def test_the_commit_is_that_of_the_folder_itself(tmp_path, monkeypatch):
    assert git_state(tmp_path) == {"commit": None, "changed": None}
    git(tmp_path, "init")
    assert git_state(tmp_path)["commit"] is None, "no commit yet"
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "a.txt").write_text("a")
    git(tmp_path, "add", ".")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2031-05-01T12:00:00")
    git(tmp_path, "commit", "-m", "A")
    assert commit_year(tmp_path) == 2031
    clean = git_state(tmp_path)
    assert len(clean["commit"]) == 40 and clean["changed"] is False
    # An archive that was unpacked in somebody's repository.
    assert git_state(tmp_path / "book") == {"commit": None, "changed": None}
    assert commit_year(tmp_path / "book") is None
    # A hook of another repository runs us.
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other"))
    assert git_state(tmp_path) == clean
    monkeypatch.delenv("GIT_DIR")
    (tmp_path / "book" / "a.txt").write_text("b")
    assert git_state(tmp_path) == {**clean, "changed": True}
    git(tmp_path, "checkout", ".")
    (tmp_path / "new.txt").write_text("new")
    assert git_state(tmp_path) == {**clean, "changed": True}


def test_without_git_there_is_no_commit(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git_state(tmp_path) == {"commit": None, "changed": None}


def test_digests_know_data_and_packages(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.csv").write_text("1\n")
    facts = build_facts(tmp_path)
    assert list(data_digests(tmp_path)) == ["data/a.csv"]
    (tmp_path / "data" / "a.csv").write_text("2\n")
    other = build_facts(tmp_path)
    assert other["data"] != facts["data"] and other["environment"] == facts["environment"]
    monkeypatch.setattr(speedbook.run.provenance, "installed_versions", lambda: {"numpy": "99"})
    assert build_facts(tmp_path)["environment"] != facts["environment"]
    monkeypatch.setattr(speedbook.run.provenance.platform, "python_version", lambda: "3.99.0")
    assert build_facts(tmp_path)["environment"] not in (digest({"numpy": "99"}), facts)
    assert digest({"a": "1", "b": "2"}) == digest({"b": "2", "a": "1"}) != digest({"a": "2"})


def test_the_ledger_of_a_build_knows_it_and_the_derived_one_does_not():
    row = {"notebook": "notebooks/claims/p.ipynb", "estimate": 1.0}
    derived, build = {"claims": {"p": row}}, {"build": {"commit": "c"}}
    seconds = {"notebooks/claims/p.ipynb": 2.5}
    built = built_ledger(derived, seconds, {"commit": "c"}, {"p": "a"}, {"p": "f"})
    more = {"seconds": 2.5, "agreement": "a", "full": "f"}
    assert built == {"claims": {"p": {**row, **more}}, **build}
    assert derived == {"claims": {"p": {"notebook": row["notebook"], "estimate": 1.0}}}
