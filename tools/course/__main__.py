"""What ``make student`` and ``make grade`` run."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from speedbook.paths import file_fault, find_root

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tools.course.grade import Limits, Row
    from tools.course.marks import Mark

GRADED, ODD, USAGE, FAILED, INTERRUPTED = 0, 1, 2, 3, 130
BUILD = Path("_build") / "class"
WARNING = """\
Grading runs the students' code on this computer, with your rights and without a sandbox: it can
read and delete what you can. Use a container, a virtual machine or an account that has nothing to
lose."""


def parser() -> argparse.ArgumentParser:
    """Return the reader of the command line."""
    main = argparse.ArgumentParser(
        prog="python -m tools.course",
        description="Hand-ins for a class: pack them for students, and grade what comes back.",
        epilog="Exit codes: 0 done; 1 graded, but a file was not matched, or a kernel died, or a "
        "time limit was reached: see the summary; 2 wrong usage; 3 failed; 130 interrupted.",
    )
    main.add_argument(
        "--notebooks", type=Path, metavar="FOLDER", help="the hand-ins (notebooks/class)"
    )
    commands = main.add_subparsers(dest="command", required=True)
    student = commands.add_parser("student", help="pack an archive for students")
    student.add_argument("--out", type=Path, metavar="FILE", help="the archive")
    grade = commands.add_parser(
        "grade",
        help="grade all submissions in a folder; each is a folder, a .zip or a .ipynb",
        epilog="Exit codes: 0 graded; 1 graded as well, and something needs your attention: a file "
        "was not matched, a kernel died, a time limit was reached, or a notebook could not be "
        "graded; 2 wrong usage, and nothing was changed; 3 failed; 130 interrupted. make reports "
        "each code except 0 as an error, also code 1.",
    )
    grade.add_argument("dir", metavar="DIR", help="the folder")
    grade.add_argument(
        "--out", type=Path, metavar="FOLDER", help="the results (_build/class/grading)"
    )
    grade.add_argument("--seconds", type=_count, default=60, help="limit for each cell (60)")
    grade.add_argument(
        "--total", type=_count, default=900, help="limit in seconds for each notebook (900)"
    )
    grade.add_argument("--megabytes", type=_count, default=4000, help="limit of memory (4000)")
    grade.add_argument("--replace", action="store_true", help="remove results of another folder")
    grade.add_argument("--drop-marks", action="store_true", help="delete marks given by hand")
    feedback = commands.add_parser(
        "feedback", help="write pages and summary again, after marking by hand in formgrader"
    )
    feedback.add_argument(
        "--out", type=Path, metavar="FOLDER", help="the results (_build/class/grading)"
    )
    return main


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number, at least 1; got {text}")
    return int(text)


def main(arguments: list[str] | None = None) -> int:
    """Run a command, and say in one line what goes wrong."""
    asked = parser().parse_args(arguments)
    from tools.course.folder import CourseError

    try:
        root = find_root(Path.cwd())
        return {"student": student, "grade": grade, "feedback": feedback}[asked.command](
            asked, root
        )
    except (ValueError, CourseError) as error:
        print(f"course: {error}", file=sys.stderr)
        return FAILED
    except OSError as error:
        print(f"course: {file_fault(error)}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return INTERRUPTED


def student(asked: argparse.Namespace, root: Path) -> int:
    """Pack the archive for students."""
    from tools.course.hand_ins import FOLDER, hand_ins
    from tools.course.plain import macros
    from tools.course.student import pack

    folder = asked.notebooks or root / FOLDER
    target = asked.out or root / BUILD / "speed-in-class.zip"
    names = pack(hand_ins(folder, macros(root)), folder, root, target)
    print(f"{_shown(target)}: {', '.join(names)}")
    return GRADED


def grade(asked: argparse.Namespace, root: Path) -> int:
    """Grade a folder of submissions."""
    from tools.course import grade as grading
    from tools.course.hand_ins import FOLDER, hand_ins
    from tools.course.marks import read_marks
    from tools.course.plain import macros
    from tools.course.submissions import read_submissions

    if not asked.dir or not Path(asked.dir).is_dir():
        print(
            f"course: DIR: must be a folder with what students handed in; got {asked.dir!r}. For "
            "example: make grade DIR=submissions",
            file=sys.stderr,
        )
        return USAGE
    course = asked.out or root / BUILD / "grading"
    if why := grading.refusal(Path(asked.dir), course):
        print(f"course: {why}", file=sys.stderr)
        return USAGE
    if (before := grading.other_results(Path(asked.dir), course)) and not asked.replace:
        print(
            f"course: {_shown(course)}: holds the results of another folder ({before}), which "
            "would be removed. Keep them, and put the new results elsewhere: make grade DIR=… "
            'GRADE="--out FOLDER". Or remove them: make grade DIR=… GRADE="--replace"',
            file=sys.stderr,
        )
        return USAGE
    print(WARNING, file=sys.stderr)
    if os.name == "nt" or sys.platform == "darwin":
        print("On this system the limit of memory may not hold.", file=sys.stderr)
    known = hand_ins(asked.notebooks or root / FOLDER, macros(root))
    found = read_submissions(Path(asked.dir), known)
    limits = grading.Limits(asked.seconds, asked.total, asked.megabytes)
    for fault in found.faults:
        print(f"Not matched: {fault}", flush=True)
    if not found.submissions:
        print(f"course: {asked.dir}: has no submission", file=sys.stderr)
        return FAILED
    marks = [] if asked.drop_marks else read_marks(course, known)
    rows, marks = grading.grade(
        found,
        known,
        Path(asked.dir),
        course,
        root,
        limits,
        lambda line: print(line, flush=True),
        marks,
    )
    return report(rows, course, limits, marks)


def feedback(asked: argparse.Namespace, root: Path) -> int:
    """Write the pages and the summary again."""
    from tools.course.grade import renew

    course = asked.out or root / BUILD / "grading"
    return report(renew(course, root), course)


def report(
    rows: list[Row], course: Path, limits: Limits | None = None, marks: Sequence[Mark] = ()
) -> int:
    """Print the summary, write it, and return the exit code that follows from it."""
    from collections import Counter

    from tools.course import grade as grading
    from tools.course.marks import MARKS, told

    tables = grading.write_tables(rows, course)
    absent = grading.nobodys(rows)
    print(f"\n{grading.table([row for row in rows if row.hand_in not in absent])}")
    if absent:
        print(f"\nNobody handed in: {', '.join(absent)}. The table above leaves that out.")
    print(f"\nTables: {', '.join(map(_shown, tables))}")
    print(f"Pages for students: {_shown(course / 'feedback')}/<student>/<hand-in>/")
    if lines := told(marks):
        print("\n" + "\n".join(lines))
        print(f"All of them, with the answers they were given for: {_shown(course / MARKS)}")
    if limits and any(map(grading.out_of_time, rows)):
        print(
            f"A time limit was reached: {limits.seconds} seconds for each cell, {limits.total} for "
            "each notebook. To grade again with more time: make grade DIR=… "
            f'GRADE="--seconds {2 * limits.seconds} --total {2 * limits.total}"'
        )
    usual = (grading.GRADED, grading.NOT_HANDED_IN)
    odd = Counter(row.status for row in rows if row.status not in usual)
    done = "Grading ran to its end." if limits else "The pages and the summary were written again."
    if not odd:
        print(done)
        return GRADED
    counts = ", ".join(f"{count} {status}" for status, count in odd.items())
    called = ", which make calls an error," if limits else ""
    print(f"{done} Exit code 1{called} means that something above needs your attention: {counts}.")
    return ODD


def _shown(path: Path) -> str:
    path = path.resolve()
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


if __name__ == "__main__":
    sys.exit(main())
