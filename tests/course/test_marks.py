"""Marks and comments given by hand when a folder is graded again."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from tools.course import __main__ as course
from tools.course import marks
from tools.course.grade import CONFIG, ORIGIN, SETTINGS, clear
from tools.course.hand_ins import hand_ins
from tools.course.marks import ABSENT, EARLIER, KEPT, MARKS, WAITING, Mark, answer, told

from . import tiny
from .test_grading import GOOD, ROOT, pages, rows

MARK = Mark(
    "Ada", tiny.NAME, "why", WAITING, 3.5, None, "=Good,\n“but”.", 4.0, 0.0, "Ada", "Because.\n=1"
)


def gradebook(folder: Path) -> object:
    from nbgrader.api import Gradebook

    return Gradebook(f"sqlite:///{folder / 'gradebook.db'}", "class")


def give(
    folder: Path, student: str, cell: str, score: float | None = None, comment: str | None = None
) -> None:
    """Mark a cell as nbgrader's page does."""
    where = (cell, tiny.NAME, tiny.NAME, student)
    with gradebook(folder) as book:
        grade = book.find_grade(*where)
        grade.manual_score, grade.needs_manual_grade = score, False
        if comment:
            book.find_comment(*where).manual_comment = comment
        book.db.commit()


def states(folder: Path) -> dict[tuple[str, str], list[str]]:
    """Return the states in the file, by student and cell."""
    found: dict[tuple[str, str], list[str]] = {}
    with (folder / MARKS).open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            found.setdefault((line["student"], line["cell"]), []).append(line["state"])
    return found


@pytest.mark.slow
def test_grading_again_keeps_the_marks_of_unchanged_answers_and_asks_for_the_others(
    packed: Path, sources: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inbox, graded = tmp_path / "in", tmp_path / "out"
    wrong = {"count": "answer = 3"}

    def hand_in(student: str, **changes: str) -> None:
        text = tiny.answered(tiny.released(packed), GOOD | changes, student=student)
        tiny.box(inbox, **{f"{student}/{tiny.NAME}.ipynb": text})

    def grade(*words: str) -> str:
        asked = ["--notebooks", str(sources), "grade", str(inbox), "--out", str(graded), *words]
        assert course.main(asked) == course.GRADED
        return capsys.readouterr().out

    hand_in("same", **wrong)
    hand_in("changed")
    hand_in("absent")
    assert "given by hand" not in grade()
    assert not (graded / MARKS).exists()
    give(graded, "same", "why", 3.5, "A good reason.")
    give(graded, "same", "test-count", 1)
    give(graded, "changed", "why", 2, "Why not?")
    give(graded, "absent", "why", 4)

    # One answer of `same` is corrected, and only its mark has to be given again.
    hand_in("same")
    hand_in("changed", why="Because it must be.")
    (inbox / "absent" / f"{tiny.NAME}.ipynb").unlink()
    (inbox / "absent").rmdir()
    said = grade()
    again = "the answer changed: mark it again"
    assert states(graded) == {
        ("same", "why"): [KEPT],
        ("same", "test-count"): [again],
        ("changed", "why"): [again],
        ("absent", "why"): [ABSENT],
    }
    assert "Marks and comments given by hand: 1 kept, 3 not kept:" in said
    assert f"changed, {tiny.NAME}, why (2 points, “Why not?”): {again}" in said
    assert str(graded / MARKS) in said
    # 2 and 3 by the tests, and 3.5 by hand; the points for a wrong answer are gone.
    same = rows(graded)["same"]
    assert (float(same["score"]), same["to_mark"]) == (8.5, "1")
    assert (float(rows(graded)["changed"]["score"]), rows(graded)["changed"]["to_mark"]) == (5, "1")
    assert "3.5 / 4.0" in pages(graded)["same"] and "A good reason." in pages(graded)["same"]
    assert "Why not?" not in pages(graded)["changed"]

    # A mark for the new answer replaces the old one; one that is taken back does not return.
    give(graded, "changed", "why", 3)
    give(graded, "same", "why", None)
    with gradebook(graded) as book:
        book.find_comment("why", tiny.NAME, tiny.NAME, "same").manual_comment = None
        book.db.commit()
    hand_in("absent")
    said = grade()
    assert states(graded) == {
        ("same", "test-count"): [again],
        ("changed", "why"): [EARLIER, KEPT],
        ("absent", "why"): [KEPT],
    }
    assert "2 kept, 1 not kept" in said and "Why not?" not in said
    assert [float(rows(graded)[name]["score"]) for name in ("same", "changed", "absent")] == [
        5,
        8,
        9,
    ]

    grade("--drop-marks")
    assert not (graded / MARKS).exists()
    assert float(rows(graded)["absent"]["score"]) == 5


def test_a_check_belongs_to_the_answers_since_the_check_before() -> None:
    source = tiny.hand_in()
    given = {"double": "two  \n", "count": "three", "why": "four"}
    for cell in source.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        cell.source = given.get(name, "elsewhere")
    about = {"test-double": "two", "test-count": "three", "why": "four", "double": "two"}
    assert {name: answer(source, source, name) for name in about} == about
    # For what has no answer of its own, any change counts.
    assert "two" in answer(source, source, "other") and "four" in answer(source, source, "other")


def test_each_cell_with_points_of_the_hand_ins_has_an_answer_of_its_own() -> None:
    for name, each in hand_ins(ROOT / "notebooks/class", {}).items():
        whole = "\n\n".join(cell.source for cell in each.notebook.cells)
        for cell in each.notebook.cells:
            about = cell.metadata.get("nbgrader", {})
            if about.get("grade"):
                found = answer(each.notebook, each.notebook, about["grade_id"])
                assert found and len(found) < len(whole) / 2, (name, about["grade_id"])


@pytest.mark.parametrize(
    ("most", "scored", "state"),
    [
        (4, 0, KEPT),
        (5, 0, "it was worth 4 points, now 5: mark it again"),
        (4, 1, "its tests gave 0 points, now 1 points: mark it again"),
        (4, None, "its tests gave 0 points, now no points: mark it again"),
    ],
)
def test_a_mark_is_for_these_points_and_this_result(
    most: float, scored: float | None, state: str
) -> None:
    assert marks._compared(MARK, most, scored) == state


def test_marks_are_the_same_after_the_file(tmp_path: Path) -> None:
    other = replace(MARK, cell="double", score=None, max_score=None, auto_score=None)
    marks.write_marks(tmp_path, [MARK, other])
    assert marks.read_marks(tmp_path, {}) == [MARK, other]
    assert "'=Good" in (tmp_path / MARKS).read_text(encoding="utf-8")


def test_marks_outlive_a_grading_that_was_interrupted(tmp_path: Path) -> None:
    tiny.box(tmp_path, **{SETTINGS: CONFIG, ORIGIN: "x", "gradebook.db": "", "source/a.ipynb": ""})
    clear(tmp_path, [MARK])
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([ORIGIN, MARKS, SETTINGS])
    assert marks.read_marks(tmp_path, {}) == [MARK]
    clear(tmp_path, [])
    assert not (tmp_path / MARKS).exists()


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("gradebook.db", "no database", "the marks given by hand cannot be read"),
        (MARKS, "student\nAda\n", "must be as grading wrote it (KeyError: 'hand_in')"),
    ],
)
def test_what_cannot_be_read_is_named_and_not_removed(
    tmp_path: Path,
    sources: Path,
    packed: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    text: str,
    said: str,
) -> None:
    handed_in = tiny.answered(tiny.released(packed), GOOD)
    inbox = tiny.box(tmp_path / "in", **{f"a/{tiny.NAME}.ipynb": handed_in})
    out = tiny.box(tmp_path / "out", **{SETTINGS: CONFIG, ORIGIN: str(inbox.resolve()), name: text})
    asked = ["--notebooks", str(sources), "grade", str(inbox), "--out", str(out)]
    assert course.main(asked) == course.FAILED
    assert said in capsys.readouterr().err
    assert (out / name).read_text(encoding="utf-8") == text


def test_a_long_comment_is_shortened_for_the_terminal() -> None:
    (head, line) = told([replace(MARK, state=ABSENT, comment="word\n" * 50)])
    assert head.endswith("0 kept, 1 not kept:")
    assert len(line) < 150 and "…”" in line and "3.5 points" in line
    assert told([]) == []
