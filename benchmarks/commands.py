"""The two commands of the README in a fresh clone: all notebooks, the book, and the tests.

Each is timed once, after the installation. The clone holds what is committed.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.common import Row, main, within

TITLE = "The two commands"
ROOT = Path(__file__).resolve().parents[1]

#: Minutes that the commands may take on two idle cores, and the notebooks together; seconds of the
#: longest notebook.
BOOK, TEST, SHELF, LONGEST = 5, 7, 8, 30
#: How many letters are shown of what a failed command printed.
SHOWN = 4000
#: A line of the build about a notebook that was executed.
EXECUTED = re.compile(r"^ +(notebooks/\S+\.ipynb): ([\d.]+) s$", re.MULTILINE)


def make(folder: Path, target: str) -> tuple[float, str]:
    """Return the seconds that a target takes, and what it prints."""
    start = time.perf_counter()
    command = ["make", target, f"PYTHON={sys.executable}"]
    done = subprocess.run(command, cwd=folder, text=True, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        raise RuntimeError(f"make {target} ended with {done.returncode}:\n{done.stdout[-SHOWN:]}")
    return time.perf_counter() - start, done.stdout


def run(quick: bool) -> list[Row]:
    """Time both commands; a quick look only installs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "clone"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)
        installed, _ = make(folder, ".venv/ready.stamp")
        rows = [within("the installation", installed, 5 * 60, [])]
        if quick:
            return rows
        book, said = make(folder, "book")
        shelf = {each[1]: float(each[2]) for each in EXECUTED.finditer(said)}
        longest = max(shelf, key=shelf.__getitem__)
        test, _ = make(folder, "test")
        changed = subprocess.run(
            ["git", "status", "--porcelain"],
            cwd=folder,
            text=True,
            stdout=subprocess.PIPE,
            check=True,
        ).stdout
        if changed:
            raise RuntimeError(f"the commands changed the clone:\n{changed}")
        return [
            *rows,
            within("make book, nothing executed before", book, 60 * BOOK, []),
            within(f"all {len(shelf)} notebooks, one by one", sum(shelf.values()), 60 * SHELF, []),
            within(f"the longest: {Path(longest).stem}", shelf[longest], LONGEST, []),
            within("make test", test, 60 * TEST, []),
        ]


if __name__ == "__main__":
    main("commands", TITLE, run)
