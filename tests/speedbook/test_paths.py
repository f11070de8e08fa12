"""Files: written whole or not at all, mirrored, found."""

from __future__ import annotations

import os

import pytest

from speedbook.paths import find_root, mirror, write_atomically, write_if_changed


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "new" / "f.txt"
    write_atomically(path, "old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        write_atomically(path, "new")
    assert [p.read_text() for p in path.parent.iterdir()] == ["old"]


def test_an_unchanged_file_keeps_its_time(tmp_path):
    path = tmp_path / "f.txt"
    assert write_if_changed(path, "text")
    os.utime(path, (1, 1))
    assert not write_if_changed(path, b"text")
    assert path.stat().st_mtime == 1
    assert write_if_changed(path, "other")
    assert path.stat().st_mtime > 1


def test_a_mirror_holds_exactly_what_it_is_given(tmp_path):
    source = write_if_changed(tmp_path / "s.txt", "s") and tmp_path / "s.txt"
    target = tmp_path / "t"
    mirror({"a.txt": "a", "deep/b.txt": source, "old/c.txt": "c"}, target)
    for name in ("a.txt", "deep/b.txt"):
        os.utime(target / name, (1, 1))
    source.write_text("changed")
    mirror({"a.txt": "a", "deep/b.txt": source}, target)
    files = {p.relative_to(target).as_posix() for p in target.rglob("*")}
    assert files == {"a.txt", "deep", "deep/b.txt"}
    assert (target / "a.txt").stat().st_mtime == 1
    assert (target / "deep" / "b.txt").read_text() == "changed"


def test_the_root_is_found_from_below_and_else_named(tiny_book, tmp_path):
    assert find_root(tiny_book.root / "notebooks" / "figures") == tiny_book.root
    with pytest.raises(FileNotFoundError, match="go to the folder of the book"):
        find_root(tmp_path)
