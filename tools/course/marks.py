"""Marks and comments given by hand: grading again keeps those that still apply.

By itself, nbgrader keeps every score given by hand, whatever the student hands in next, and wants
all of them confirmed. Here a mark is kept where the answer is unchanged, and only the others have
to be given again. A file in the course folder lists all of them, so none is lost.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from speedbook.paths import write_atomically
from tools.course.folder import Course
from tools.course.hand_ins import HandIn, nbgrader_of
from tools.course.spreadsheet import safe, unmarked
from tools.course.submissions import File, Submission, folded, read_file

#: The file, and what its column `state` says besides the reasons why a mark does not apply.
MARKS = "marks-by-hand.csv"
WAITING, KEPT, EARLIER = "not compared yet", "kept", "a newer mark took its place"
ABSENT, UNGRADED = "not handed in this time", "this submission could not be graded"


@dataclass(frozen=True)
class Mark:
    """What somebody gave by hand for one cell, and the answer for which it was given."""

    student: str
    hand_in: str
    cell: str
    state: str
    score: float | None
    extra_credit: float | None
    comment: str
    #: What the cell can have, and what the tests gave.
    max_score: float | None
    auto_score: float | None
    #: The name in the notebook, from which its numbers come.
    named: str
    answer: str

    @property
    def key(self) -> tuple[str, ...]:
        """By this two marks are for the same answer."""
        return (folded(self.student), self.hand_in, self.cell, folded(self.named), self.answer)

    def told(self) -> str:
        """Return a line for a terminal."""
        given = [f"{self.score:g} points"] if self.score is not None else []
        given += [f"{self.extra_credit:g} extra"] if self.extra_credit else []
        words = " ".join(self.comment.split())
        given += [f"“{words[:60]}{'…' if len(words) > 60 else ''}”"] if words else []
        place = f"{self.student}, {self.hand_in}, {self.cell}"
        return f"{place} ({', '.join(given)}): {self.state}"


def answer(source: NotebookNode, submitted: NotebookNode, cell: str) -> str:
    """Return what a student answered to the exercise of a cell.

    For a cell that the student fills in, this is the cell. For a check, these are the answers since
    the check before it. If there are none, it is the whole notebook.

    Parameters
    ----------
    source : NotebookNode
        The teacher's version of the hand-in, which says which cells are answers and checks.
    submitted : NotebookNode
        What the student handed in.
    cell : str
        nbgrader's id of the cell.
    """
    names: list[str] = []
    for about in map(nbgrader_of, source.cells):
        name, solution = about.get("grade_id"), bool(about.get("solution"))
        names += [str(name)] if solution else []
        if name == cell:
            names = [cell] if solution else names
            break
        if about.get("grade") and not solution:
            names = []
    else:
        names = []
    found = {nbgrader_of(each).get("grade_id"): each.source for each in submitted.cells}
    texts = [found.get(name, "") for name in names] or [each.source for each in submitted.cells]
    lines = "\n\n".join(texts).splitlines()
    return "\n".join(line.rstrip() for line in lines).strip()


def read_marks(course: Path, hand_ins: Mapping[str, HandIn]) -> list[Mark]:
    """Return all that was given by hand in a course folder, now and before earlier gradings.

    Raises
    ------
    ValueError
        If the database or the file cannot be read.
    """
    given = _in_gradebook(course, hand_ins)
    # The database has those that were kept, perhaps changed or taken back since.
    earlier = [mark for mark in _in_file(course / MARKS) if mark.state != KEPT]
    found = {mark.key: replace(mark, state=WAITING) for mark in [*earlier, *given]}
    return list(found.values())


def _in_gradebook(course: Path, hand_ins: Mapping[str, HandIn]) -> list[Mark]:
    # The second is the class of what a database refuses.
    from nbgrader.api import Gradebook, StatementError

    database = course / "gradebook.db"
    if not database.is_file():
        return []
    folder, names, found = Course(course), _names(course), []
    try:
        with Gradebook(f"sqlite:///{database.resolve()}", "class") as book:
            for each in book.assignments:
                for submission in each.submissions if each.name in hand_ins else ():
                    by_hand = _by_hand(submission.notebooks)
                    if not by_hand:
                        continue
                    student = submission.student_id
                    path = folder.submitted(student, each.name)
                    handed_in = read_file(File(str(path), 0, path.read_bytes()))
                    found += [
                        Mark(
                            names.get(student, student),
                            each.name,
                            cell,
                            WAITING,
                            **given,
                            named=handed_in.named,
                            answer=answer(hand_ins[each.name].notebook, handed_in.notebook, cell),
                        )
                        for cell, given in by_hand.items()
                    ]
    except (StatementError, OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(
            f"{course}: the marks given by hand cannot be read ({reason}). Move the folder away, "
            'or drop the marks: make grade DIR=… GRADE="--drop-marks"'
        ) from error
    return found


def _by_hand(notebooks: Iterable[Any]) -> dict[str, dict[str, Any]]:
    """Return what was given by hand in nbgrader's rows of a submission, by cell."""
    nothing = {"score": None, "extra_credit": None, "comment": ""}
    nothing |= {"max_score": None, "auto_score": None}
    found: dict[str, dict[str, Any]] = {}
    for notebook in notebooks:
        for grade in notebook.grades:
            if grade.manual_score is not None or grade.extra_credit:
                found[grade.cell.name] = nothing | {
                    "score": grade.manual_score,
                    "extra_credit": grade.extra_credit,
                    "max_score": grade.max_score,
                    "auto_score": grade.auto_score,
                }
        for comment in notebook.comments:
            if (comment.manual_comment or "").strip():
                found.setdefault(comment.cell.name, dict(nothing))
                found[comment.cell.name]["comment"] = comment.manual_comment
    return found


def _names(course: Path) -> dict[str, str]:
    """Return the students' names by the names of their folders, from the summary."""
    path = course / "summary.csv"
    lines = csv.DictReader(io.StringIO(path.read_text("utf-8"))) if path.is_file() else []
    return {
        Path(line["feedback"]).parts[1]: unmarked(line["student"])
        for line in lines
        if line["feedback"]
    }


def _in_file(path: Path) -> list[Mark]:
    if not path.is_file():
        return []
    number = {each.name: "float" in str(each.type) for each in fields(Mark)}
    try:
        text = path.read_bytes().decode("utf-8")
        return [_from_line(line, number) for line in csv.DictReader(io.StringIO(text, newline=""))]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"{path}: must be as grading wrote it ({type(error).__name__}: {error}). Move it away "
            "to grade without the marks in it"
        ) from error


def _from_line(line: Mapping[str, str], number: Mapping[str, bool]) -> Mark:
    values: dict[str, Any] = {name: unmarked(line[name]) for name in number}
    for name in values:
        if number[name]:
            values[name] = float(values[name]) if values[name] else None
    return Mark(**values)


def write_marks(course: Path, marks: Sequence[Mark]) -> None:
    """Write the file of marks given by hand, with the state of each."""
    text = io.StringIO()
    writer = csv.DictWriter(text, [each.name for each in fields(Mark)], lineterminator="\n")
    writer.writeheader()
    for mark in marks:
        writer.writerow({name: safe(value) for name, value in vars(mark).items()})
    write_atomically(course / MARKS, text.getvalue())


def carry(
    folder: Course, student: str, each: Submission, source: NotebookNode, marks: Sequence[Mark]
) -> list[Mark]:
    """Give the marks that still apply to a submission graded again; return all with their state.

    Parameters
    ----------
    folder : Course
        The course folder, in which the submission is graded.
    student : str
        The name of the student's folder.
    each : Submission
        What the student handed in.
    source : NotebookNode
        The teacher's version of the hand-in.
    marks : sequence of Mark
        Those of this student for this hand-in.
    """
    from nbgrader.api import Gradebook

    name = each.hand_in
    with Gradebook(f"sqlite:///{folder.path.resolve() / 'gradebook.db'}", "class") as book:
        notebook = book.find_submission_notebook(name, name, student)
        grades = {grade.cell.name: grade for grade in notebook.grades}
        comments = {comment.cell.name: comment for comment in notebook.comments}
        compared = []
        for mark in marks:
            now = answer(source, each.notebook, mark.cell)
            grade = grades.get(mark.cell)
            state = KEPT
            if grade is None and mark.cell not in comments:
                state = "the hand-in no longer has this cell"
            elif folded(mark.named) != folded(each.named):
                state = f"its numbers are now those of {each.named or 'nobody'}: mark it again"
            elif mark.answer != now:
                state = "the answer changed: mark it again"
            elif grade is not None and mark.max_score is not None:
                state = _compared(mark, grade.max_score, grade.auto_score)
            compared.append(replace(mark, state=state))
        kept = {mark.cell for mark in compared if mark.state == KEPT}
        for mark in compared:
            grade, comment = grades.get(mark.cell), comments.get(mark.cell)
            if mark.state == KEPT:
                _give(mark, grade, comment)
            elif grade is not None and mark.score is not None and mark.cell not in kept:
                grade.needs_manual_grade = True
        book.db.commit()
    return [
        replace(mark, state=EARLIER) if mark.state != KEPT and mark.cell in kept else mark
        for mark in compared
    ]


def _compared(mark: Mark, most: float, scored: float | None) -> str:
    if mark.max_score != most:
        return f"it was worth {mark.max_score:g} points, now {most:g}: mark it again"
    if mark.auto_score != scored:
        before, now = (
            "no points" if score is None else f"{score:g} points"
            for score in (mark.auto_score, scored)
        )
        return f"its tests gave {before}, now {now}: mark it again"
    return KEPT


def _give(mark: Mark, grade: Any, comment: Any) -> None:
    if grade is not None and (mark.score is not None or mark.extra_credit is not None):
        grade.manual_score, grade.extra_credit = mark.score, mark.extra_credit
        # As nbgrader's page does.
        grade.needs_manual_grade = mark.score is None and grade.auto_score is None
    if comment is not None and mark.comment:
        comment.manual_comment = mark.comment


def told(marks: Sequence[Mark]) -> list[str]:
    """Return lines for a terminal: how many marks were kept, and which others were not, and why."""
    states = Counter(mark.state for mark in marks)
    if not states:
        return []
    others = [mark for mark in marks if mark.state not in (KEPT, EARLIER)]
    head = f"Marks and comments given by hand: {states[KEPT]} kept, {len(others)} not kept"
    return [head + (":" if others else "."), *(f"  {mark.told()}" for mark in others)]
