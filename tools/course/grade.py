"""Grade students' submissions with nbgrader, each in its own process, and sum up the results."""

from __future__ import annotations

import csv
import html
import io
import os
import re
import subprocess
import sys
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from nbformat import NotebookNode
from nbgrader.utils import remove, rmtree

from speedbook.notebook.files import cell_name, code_cells, read_notebook
from speedbook.paths import write_atomically
from speedbook.run.kernels import own_settings, put_into
from tools.course.execution import DIED, NOT_RUN, TOO_LONG
from tools.course.feedback import make_offline, name_parts, offline, tasks
from tools.course.folder import Course, CourseError
from tools.course.hand_ins import HandIn, graded_ids, nbgrader_of
from tools.course.marks import ABSENT, KEPT, MARKS, UNGRADED, Mark, carry, write_marks
from tools.course.spreadsheet import safe, unmarked
from tools.course.submissions import Found, Submission, folded, identifiers

#: By this variable the processes that a submission started are known.
MARK = "SPEED_GRADING"
#: Variables that a submission gets to see; others may hold what is nobody's business.
PASSED_ON = re.compile(
    "PATH|HOME|USER|LANG|LC_.*|TZ|TMPDIR|TEMP|TMP|LD_LIBRARY_PATH|DYLD_.*|SYSTEMROOT|SYSTEMDRIVE|"
    "WINDIR|COMSPEC|PATHEXT|USERPROFILE|APPDATA|LOCALAPPDATA|PROGRAMDATA|NUMBER_OF_PROCESSORS",
    re.I,
)
#: Threads of numerical libraries.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
SETTINGS = "nbgrader_config.py"
CONFIG = "c = get_config()\nc.CourseDirectory.course_id = 'class'\n"
#: Where a course folder keeps the path of the folder that was graded.
ORIGIN = "graded-folder.txt"
NOT_HANDED_IN, GRADED, DEAD, LATE, FAILED, NOT_MATCHED = (
    "not handed in",
    "graded",
    "kernel died",
    "time limit",
    "not graded",
    "not matched",
)
#: The statuses of rows for which there is no page by nbgrader.
WITHOUT_PAGE = (NOT_HANDED_IN, FAILED, NOT_MATCHED)
OVER = "took longer than"
FIELDS = "student,hand_in,score,max_score,to_mark,status,notes,named,file,feedback".split(",")


@dataclass
class Row:
    """The row of the summary for one student and one hand-in."""

    student: str
    hand_in: str
    status: str = NOT_HANDED_IN
    score: float = 0.0
    max_score: float = 0.0
    #: Cells that only a person can mark.
    to_mark: int = 0
    notes: list[str] = field(default_factory=list)
    named: str = ""
    file: str = ""
    feedback: str = ""
    #: Points of each graded cell, and how many it may have.
    cells: dict[str, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Limits:
    """What a submission may use: seconds for a cell, seconds in all, and megabytes of memory."""

    seconds: int = 60
    total: int = 900
    megabytes: int = 4000


def refusal(inbox: Path, course: Path) -> str:
    """Say why a course folder must not be made again for these submissions; empty if it may."""
    inbox, course = inbox.resolve(), course.resolve()
    if inbox.is_relative_to(course) or course.is_relative_to(inbox):
        return f"{inbox} and {course}: one must not be inside of the other"
    if not course.exists() or (course.is_dir() and not any(course.iterdir())):
        return ""
    if not (course / SETTINGS).is_file():
        return f"{course}: is no folder of an earlier make grade, and would be removed"
    return ""


def other_results(inbox: Path, course: Path) -> str:
    """Return the folder whose results a course folder holds; empty if it is the given folder."""
    if not (course / SETTINGS).is_file():
        return ""
    path = course / ORIGIN
    before = path.read_text(encoding="utf-8").strip() if path.is_file() else "unknown"
    return "" if before == str(inbox.resolve()) else before


def grade(
    found: Found,
    hand_ins: Mapping[str, HandIn],
    inbox: Path,
    course: Path,
    root: Path,
    limits: Limits,
    say: Callable[[str], None],
    marks: Sequence[Mark] = (),
) -> tuple[list[Row], list[Mark]]:
    """Grade all submissions in a new course folder.

    Return a row for each submission and for each other file, and the marks given by hand with their
    new state.

    Parameters
    ----------
    found : Found
        What was handed in.
    hand_ins : mapping of str to HandIn
        By name.
    inbox : Path
        The folder in which it was.
    course : Path
        The course folder; its earlier content is removed.
    root : Path
        The top folder of the project.
    limits : Limits
        What each submission may use.
    say : callable
        Called with a line for each submission that was graded.
    marks : sequence of Mark
        What was given by hand in the folder's earlier content; a file in the folder keeps it.

    Raises
    ------
    CourseError
        If nbgrader cannot make a release of a hand-in.
    """
    clear(course, marks)
    folder = Course(course, limits.seconds)
    write_atomically(course / ORIGIN, f"{inbox.resolve()}\n")
    # So that nbgrader's own programs, such as its page for marking by hand, know the folder.
    write_atomically(course / SETTINGS, CONFIG)
    folder.release(hand_ins)
    ids = identifiers(found.students)
    rows, compared = list[Row](), {mark.key: replace(mark, state=ABSENT) for mark in marks}
    for each in found.submissions:
        target = folder.submitted(ids[each.student], each.hand_in)
        write_atomically(target, each.file.content)
        own = [mark for mark in marks if belongs(mark, each)]
        source = hand_ins[each.hand_in].notebook
        row, own = _grade_one(folder, each, ids[each.student], root, limits, source, own)
        compared |= {mark.key: mark for mark in own}
        row.notes += found.notes.get((each.student, each.hand_in), [])
        rows.append(row)
        say(f"{row.student}, {row.hand_in}: {points(row)}, {row.status}")
    given = {(row.student, row.hand_in) for row in rows}
    for student in found.students:
        rows += [
            Row(student, name, max_score=full_score(hand_ins[name]))
            for name in hand_ins
            if (student, name) not in given
        ]
    rows += [
        Row(fault.student, "", NOT_MATCHED, notes=[fault.why], file=fault.place)
        for fault in found.unmatched
    ]
    if marks:
        write_marks(course, list(compared.values()))
    rows.sort(key=lambda row: (row.student.casefold(), row.hand_in))
    return rows, list(compared.values())


def full_score(hand_in: HandIn) -> float:
    """Return the points that a hand-in can have."""
    cells = map(nbgrader_of, hand_in.notebook.cells)
    return sum(float(about.get("points", 0)) for about in cells if about.get("grade"))


def clear(course: Path, marks: Sequence[Mark]) -> None:
    """Empty a course folder, but for what says that it is one and for marks given by hand.

    If grading is interrupted, the marks are still there.
    """
    if marks:
        write_marks(course, marks)
    keep = {SETTINGS, ORIGIN} | ({MARKS} if marks else set())
    for path in course.iterdir() if course.is_dir() else ():
        if path.name not in keep:
            # These also remove files that may not be written, as nbgrader leaves some.
            is_folder = path.is_dir() and not path.is_symlink()
            (rmtree if is_folder else remove)(str(path))


def renew(course: Path, root: Path) -> list[Row]:
    """Write the pages and the summary of a course folder again, with the marks given by hand.

    No code of students runs.

    Raises
    ------
    ValueError
        If the folder has no summary.
    """
    path = course / "summary.csv"
    if not path.is_file():
        raise ValueError(f"{course}: has no summary.csv: run make grade first")
    folder, rows = Course(course), list[Row]()
    for line in csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))):
        row = Row(unmarked(line["student"]), line["hand_in"], line["status"])
        row.named, row.file, row.feedback = line["named"], line["file"], line["feedback"]
        if row.status not in WITHOUT_PAGE:
            student = Path(row.feedback).parts[1]
            write_page(folder, student, row.hand_in, root)
            read_scores(folder, student, row)
        else:
            row.max_score = float(line["max_score"])
        row.notes += [note for note in line["notes"].split("; ") if note not in row.notes]
        row.notes = [note for note in row.notes if note]
        rows.append(row)
    return rows


def _grade_one(
    folder: Course,
    each: Submission,
    student: str,
    root: Path,
    limits: Limits,
    source: NotebookNode,
    marks: Sequence[Mark],
) -> tuple[Row, list[Mark]]:
    row = Row(each.student, each.hand_in, named=each.named, file=each.file.place)
    failure = _run(folder.path, student, each.hand_in, root, limits)
    page = folder.feedback(student, each.hand_in)
    row.feedback = page.relative_to(folder.path).as_posix()
    if not failure:
        try:
            compared = carry(folder, student, each, source, marks) if marks else []
            if any(mark.state == KEPT for mark in compared):
                write_page(folder, student, each.hand_in, root)
            read_scores(folder, student, row)
            return row, compared
        except (OSError, ValueError, RecursionError, CourseError) as error:
            failure = f"its results cannot be read ({error})"
    row.status, row.score, row.cells = FAILED, 0.0, {}
    row.notes.append(failure)
    write_atomically(page, failure_page(each.hand_in, failure.splitlines()[0]))
    return row, [replace(mark, state=UNGRADED) for mark in marks]


def belongs(mark: Mark, each: Submission) -> bool:
    """Say whether a mark is for this student and this hand-in."""
    return (folded(mark.student), mark.hand_in) == (folded(each.student), each.hand_in)


def write_page(folder: Course, student: str, name: str, root: Path) -> None:
    """Write the page of feedback from what the gradebook has now."""
    folder.give_feedback(student, name)
    make_offline(folder.feedback(student, name), root)


def _run(course: Path, student: str, name: str, root: Path, limits: Limits) -> str:
    """Grade one submission in its own process; return why that failed, or an empty text."""
    mark = uuid.uuid4().hex
    environment = {name: text for name, text in os.environ.items() if PASSED_ON.fullmatch(name)}
    put_into(environment, own_settings(root))
    environment |= {MARK: mark, "PYTHONPATH": str(root)} | dict.fromkeys(THREADS, "1")
    words = [str(course.resolve()), student, name, str(limits.seconds), str(limits.megabytes)]
    try:
        done = subprocess.run(
            [sys.executable, "-m", "tools.course.worker", *words],
            cwd=root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            timeout=limits.total,
        )
    except subprocess.TimeoutExpired:
        return f"it {OVER} {limits.total} seconds in all"
    finally:
        end_all(mark)
    if done.returncode == 0:
        return ""
    said = done.stderr.strip()
    if "MemoryError" in said or done.returncode < 0:
        return (
            f"its outputs, or a process of its own, needed more than {limits.megabytes} MB of "
            "memory, or ended the process that graded it"
        )
    return said.splitlines()[-1].strip() if said else f"it ended with exit code {done.returncode}"


def end_all(mark: str) -> None:
    """End every process that has the mark of a submission in its environment."""
    import psutil

    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if process.environ().get(MARK) == mark:
                process.kill()


def read_scores(folder: Course, student: str, row: Row) -> None:
    """Put into a row what nbgrader found and what happened; the page says what waits for a mark."""
    from nbgrader.api import Gradebook

    name, waiting = row.hand_in, list[str]()
    with Gradebook(f"sqlite:///{folder.path.resolve() / 'gradebook.db'}", "class") as book:
        graded = book.find_submission_notebook(name, name, student)
        row.score, row.max_score = float(graded.score), float(graded.max_score)
        for each in graded.grades:
            row.cells[each.name] = float(each.score), float(each.max_score)
            if each.needs_manual_grade:
                waiting.append(each.name)
    row.to_mark = len(waiting)
    row.status = GRADED
    notebook = read_notebook(folder.autograded(student, name))
    row.notes += missing_cells(read_notebook(folder.source(name)), notebook)
    name_parts(folder.feedback(student, name), notebook, waiting)
    for cell in code_cells(notebook):
        errors = {output.get("ename") for output in cell.outputs if "ename" in output}
        called = nbgrader_of(cell).get("grade_id") or cell_name(notebook, cell)
        if TOO_LONG in errors:
            row.notes.append(f"{called} {OVER} its time and was interrupted")
            row.status = LATE if row.status == GRADED else row.status
        if "MemoryError" in errors:
            row.notes.append(f"{called} needed too much memory")
        if DIED in errors:
            row.notes.append(f"{called} ended its kernel")
            row.status = DEAD
        if NOT_RUN in errors and (remark := "the cells after it did not run") not in row.notes:
            row.notes.append(remark)


def missing_cells(source: NotebookNode, submitted: NotebookNode) -> list[str]:
    """Return a remark for each cell with points that a submission lacks."""
    there, task, remarks = set(graded_ids(submitted)), tasks(source), []
    for about in map(nbgrader_of, source.cells):
        if about.get("grade") and (name := about["grade_id"]) not in there:
            what = "an answer" if about.get("solution") else "a check"
            remarks.append(f"{what} is missing: {task.get(name, name).lower()}")
    return remarks


def out_of_time(row: Row) -> bool:
    """Say whether a submission reached a time limit."""
    return any(OVER in note for note in row.notes)


def failure_page(name: str, why: str) -> str:
    """Return the page of a submission that could not be graded."""
    return offline(
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{name}</title></head>'
        f"<body><h1>{name}</h1><p>This notebook could not be graded: {html.escape(why)}.</p>"
        "<p>In JupyterLab, choose <em>Run</em>, then <em>Restart Kernel and Run All Cells…</em>: "
        "all cells must run one after the other. Then hand it in again.</p></body></html>\n"
    )


def points(row: Row) -> str:
    """Return the points of a row as text."""
    if row.status in (NOT_HANDED_IN, NOT_MATCHED):
        return "–"
    return f"{row.score:g} of {row.max_score:g}"


def nobodys(rows: Sequence[Row]) -> list[str]:
    """Return the hand-ins that nobody handed in."""
    given = {row.hand_in for row in rows if row.status != NOT_HANDED_IN}
    return sorted({row.hand_in for row in rows} - given)


def table(rows: Sequence[Row]) -> str:
    """Return the summary for a terminal."""
    heads = ("Student", "Hand-in", "Points", "To mark", "Status", "Notes")
    lines = [heads] + [
        (
            row.student,
            row.hand_in or "–",
            points(row),
            str(row.to_mark or ""),
            row.status,
            "; ".join(note.splitlines()[0] for note in row.notes),
        )
        for row in rows
    ]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads) - 1)]
    return "\n".join(
        "  ".join([*(t.ljust(w) for t, w in zip(line, widths, strict=False)), line[-1]]).rstrip()
        for line in lines
    )


def write_tables(rows: Sequence[Row], course: Path) -> list[Path]:
    """Write the summary and the points of each cell as CSV files; return their paths.

    What was not handed in has no points, out of those that a submission can have.
    """
    summary, cells = io.StringIO(), io.StringIO()
    writer = csv.DictWriter(summary, FIELDS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        values = vars(row) | {"notes": "; ".join(row.notes)}
        writer.writerow({name: safe(value) for name, value in values.items()})
    by_cell = csv.writer(cells, lineterminator="\n")
    by_cell.writerow(["student", "hand_in", "cell", "score", "max_score"])
    for row in rows:
        for name, (score, most) in row.cells.items():
            by_cell.writerow(map(safe, (row.student, row.hand_in, name, score, most)))
    paths = [course / "summary.csv", course / "cells.csv"]
    write_atomically(paths[0], summary.getvalue())
    write_atomically(paths[1], cells.getvalue())
    return paths
