"""Grade one submission in a process of its own, so its faults affect no other submission.

`tools.course.grade` runs it as ``python -m tools.course.worker COURSE STUDENT HAND_IN SECONDS
MEGABYTES``. The exit code is 0 if nbgrader did its work. Otherwise it is 3, and the reason is on
standard error.
"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

#: A submission may not fill the disk either.
LARGEST_FILE = 1_000_000_000
FAILED = 3


def limit(megabytes: int) -> bool:
    """Limit the memory of this process and of its child processes; return whether that is possible.

    A kernel inherits the limit and cannot raise it. Windows has no such limits, and some versions
    of macOS refuse them.
    """
    # Where the whole computer is short of memory, Linux ends this process first.
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    try:
        import resource
    except ImportError:
        return False
    largest = megabytes * 1_000_000
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))
        resource.setrlimit(resource.RLIMIT_AS, (largest, largest))
    except (ValueError, OSError):
        return False
    return True


def main(arguments: list[str]) -> int:
    """Grade one submission and write its feedback."""
    course, student, name, seconds, megabytes = arguments
    limit(int(megabytes))
    from tools.course.feedback import make_offline
    from tools.course.folder import Course, CourseError

    folder = Course(Path(course), int(seconds))
    try:
        folder.autograde(student, name)
        folder.give_feedback(student, name)
        make_offline(folder.feedback(student, name), Path.cwd())
    except CourseError as error:
        print(error, file=sys.stderr)
        return FAILED
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
