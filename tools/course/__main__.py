"""What ``make student`` and ``make grade`` run."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from speedbook.paths import file_fault, find_root

if TYPE_CHECKING:
    from tools.course.grade import Row

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
        "grade", help="grade a folder with a folder, a .zip or a .ipynb for each student"
    )
    grade.add_argument("dir", metavar="DIR", help="the folder")
    grade.add_argument("--out", type=Path, metavar="FOLDER", help="where nbgrader works")
    grade.add_argument("--seconds", type=_count, default=60, help="for each cell (60)")
    grade.add_argument("--total", type=_count, default=900, help="seconds for each notebook (900)")
    grade.add_argument("--megabytes", type=_count, default=4000, help="memory (4000)")
    grade.add_argument("--drop-marks", action="store_true", help="drop marks given by hand")
    feedback = commands.add_parser(
        "feedback", help="write pages and summary again, after marking by hand in formgrader"
    )
    feedback.add_argument("--out", type=Path, metavar="FOLDER", help="where nbgrader works")
    return main


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 on; got {text}")
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
    if grading.has_manual_work(course) and not asked.drop_marks:
        print(
            f"course: {_shown(course)}: holds marks or comments given by hand, which would be "
            'lost. Move it away, or drop them with make grade DIR=… GRADE="--drop-marks"',
            file=sys.stderr,
        )
        return USAGE
    print(WARNING, file=sys.stderr)
    if os.name == "nt" or sys.platform == "darwin":
        print("On this system the limit of memory may not hold.", file=sys.stderr)
    known = hand_ins(asked.notebooks or root / FOLDER, macros(root))
    found = read_submissions(Path(asked.dir), known)
    limits = grading.Limits(asked.seconds, asked.total, asked.megabytes)
    rows = grading.grade(found, known, course, root, limits, lambda line: print(line, flush=True))
    for fault in found.faults:
        print(f"Not matched: {fault}")
    if not rows:
        print(f"course: {asked.dir}: has no submission", file=sys.stderr)
        return FAILED
    return max(report(rows, course), ODD if found.faults else GRADED)


def feedback(asked: argparse.Namespace, root: Path) -> int:
    """Write the pages and the summary again."""
    from tools.course.grade import renew

    course = asked.out or root / BUILD / "grading"
    return report(renew(course, root), course)


def report(rows: list[Row], course: Path) -> int:
    """Print the summary, write it, and return the exit code that it deserves."""
    from tools.course import grade as grading

    tables = grading.write_tables(rows, course)
    print(f"\n{grading.table(rows)}")
    print(f"\nTables: {', '.join(map(_shown, tables))}")
    print(f"Pages for students: {_shown(course / 'feedback')}/<student>/<hand-in>/")
    ended = [row for row in rows if row.status not in (grading.GRADED, grading.NOT_HANDED_IN)]
    return ODD if ended else GRADED


def _shown(path: Path) -> str:
    path = path.resolve()
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


if __name__ == "__main__":
    sys.exit(main())
