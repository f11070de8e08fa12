"""Which file is whose, and which task it answers."""

from __future__ import annotations

import os
import re
import zipfile
from pathlib import Path

from tools.course.submissions import read_submissions

from . import tiny


def work(named: str, double: str = "1") -> str:
    return tiny.answered(tiny.hand_in(), {"double": double}, student=named)


def test_submissions_are_matched_by_their_cells_whatever_their_name(tmp_path: Path) -> None:
    files = {
        "Ada/my final version.ipynb": work("Ada"),
        "Ada/.ipynb_checkpoints/my final version-checkpoint.ipynb": work("Ada"),
        "Emmy Noether_hand-in-1 (2).ipynb": work("Emmy"),
        "hand-in-1.ipynb": work("Grace Hopper"),
        ".DS_Store": "",
    }
    tiny.box(tmp_path, **files)
    with zipfile.ZipFile(tmp_path / "Zoë.zip", "w") as archive:
        archive.writestr("x/y/work.ipynb", work("Zoë"))
        archive.writestr("__MACOSX/._work.ipynb", "")
    found = read_submissions(tmp_path, {tiny.NAME: tiny.assignment()})
    assert found.students == ["Ada", "Emmy Noether", "Grace Hopper", "Zoë"]
    assert found.faults == [] and found.notes == {}
    assert [each.named for each in found.submissions] == ["Ada", "Emmy", "Grace Hopper", "Zoë"]


def test_ways_to_write_a_name_are_one_student(tmp_path: Path) -> None:
    """Blanks, dashes and capitals differ between files, and Moodle adds a number to each."""
    for place in (
        "Maria-Muster/a.ipynb",
        "maria muster_4711_assignsubmission_file/b.ipynb",
        "Maria Muster_12_assignsubmission_file_hand-in-1.ipynb",
        "hand-in-1.ipynb",
    ):
        tiny.box(tmp_path, **{place: work("Maria Muster")})
    found = read_submissions(tmp_path, {tiny.NAME: tiny.assignment()})
    assert len(found.students) == 1 and len(found.submissions) == 1 and not found.faults


def test_what_cannot_be_matched_is_named(tmp_path: Path) -> None:
    other = tiny.hand_in()
    for cell in other.cells:
        cell.metadata.pop("nbgrader", None)
    tiny.box(
        tmp_path, **{"a.txt": "", "b.ipynb": "{", "c.ipynb": tiny.serialise(other), "d.zip": "x"}
    )
    (tmp_path / "e").mkdir()
    (tmp_path / "f.ipynb").symlink_to(tmp_path / "c.ipynb")
    found = read_submissions(tmp_path, {tiny.NAME: tiny.assignment()})
    assert found.submissions == []
    assert [re.split(r" \(", fault)[0] for fault in found.faults] == [
        "a.txt: is neither a folder nor a .zip nor a .ipynb",
        "b.ipynb: is not a notebook",
        "c.ipynb: has no notebook with the cells of a hand-in",
        "d.zip: cannot be read",
        "e: has no notebook with the cells of a hand-in",
        "f.ipynb: is neither a folder nor a .zip nor a .ipynb",
    ]


def test_the_newest_of_several_is_graded_and_others_are_named(tmp_path: Path) -> None:
    tiny.box(tmp_path, **{"Ada/old.ipynb": work("Ada"), "Ada/new.ipynb": work("Ada", double="2")})
    os.utime(tmp_path / "Ada/old.ipynb", (1, 1))
    found = read_submissions(tmp_path, {tiny.NAME: tiny.assignment()})
    assert [each.file.place for each in found.submissions] == ["Ada/new.ipynb"]
    assert found.notes == {
        ("Ada", tiny.NAME): ["graded Ada/new.ipynb, the newest, not Ada/old.ipynb"]
    }


def test_numbers_that_are_not_their_own_are_named(tmp_path: Path) -> None:
    texts = {"A": "Ada  LOVELACE", "B": "Ben", "C": "ben", "D": "Dan"}
    tiny.box(tmp_path, **{f"{name}/x.ipynb": work(named) for name, named in texts.items()})
    found = read_submissions(tmp_path, {tiny.NAME: tiny.assignment()})
    assert found.notes == {
        ("A", tiny.NAME): ["the numbers are those of the example, Ada Lovelace"],
        ("B", tiny.NAME): ["is for Ben, as is that of C"],
        ("C", tiny.NAME): ["is for ben, as is that of B"],
    }
