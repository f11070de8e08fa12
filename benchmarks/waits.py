"""What a reader waits for: an import, a rerun, a sweep on two processes, the first view of a page.

A time is the best of three, since other programs of the machine only add to it. The first view
needs a built book.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.common import Row, main, within
from speedbook.notebook.find import find_notebook
from speedbook.run.execution import Job, execute, kernel_environment
from speedbook.run.kernels import put_into

TITLE = "What a reader waits for"
ROOT = Path(__file__).resolve().parents[1]
REPEATS = 3

#: Seconds that importing our library may add to its dependencies; that a rerun may add to its
#: cells; how many times faster two processes must be; bytes of a page's first view.
IMPORT, RERUN, FASTER, VIEW = 0.1, 2.5, 1.6, 1e6
NOTEBOOK = "prop-1-mse"
SWEPT = ("motivating-variances", "-p", "first_probability=0.6:0.9:4", "-p")
#: Twenty points, and two for a quick look.
MANY, FEW = "n_actions=10,50,100,500,1000", "n_actions=10"
LIBRARIES = "import numpy, scipy.linalg"


def timed(*command: str) -> float:
    """Return the seconds that a command takes."""
    start = time.perf_counter()
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def speedbook(*arguments: str) -> float:
    """Return the seconds of a command of the book."""
    return timed(sys.executable, "-m", "speedbook", *arguments, "--quiet")


def importing(repeats: int) -> Row:
    """Time the import of the library in new processes, and that of its dependencies alone."""
    with_ours, without = [], []
    for _ in range(4 * repeats):
        with_ours.append(timed(sys.executable, "-c", f"{LIBRARIES}, speedlib"))
        without.append(timed(sys.executable, "-c", LIBRARIES))
    added = min(with_ours) - min(without)
    return within("import speedlib, above numpy and scipy", added, IMPORT, with_ours)


def cells(folder: Path) -> float:
    """Return the seconds that the cells of the notebook take, by papermill's notes."""
    output = folder / "executed.ipynb"
    end = execute(Job(NOTEBOOK, ROOT / find_notebook(ROOT, NOTEBOOK), output))
    if end.failure:
        raise RuntimeError(end.failure)
    executed = json.loads(output.read_text(encoding="utf-8"))
    notes = [each["metadata"].get("papermill", {}) for each in executed["cells"]]
    return sum(each.get("duration") or 0.0 for each in notes)


def rerunning(repeats: int, folder: Path) -> Row:
    """Time a rerun from the command line, and the cells of its notebook."""
    put_into(os.environ, kernel_environment(ROOT, folder / "figures"))
    runs, inside = [], []
    for _ in range(repeats):
        inside.append(cells(folder))
        runs.append(speedbook("rerun", NOTEBOOK, "--out", str(folder / "runs")))
    return within("a rerun, above its cells", min(runs) - min(inside), RERUN, runs)


def sweeping(repeats: int, points: str, folder: Path) -> Row:
    """Time a sweep on one process and on two."""
    seconds: dict[int, list[float]] = {1: [], 2: []}
    for turn in range(repeats):
        for jobs in (1, 2):
            out = ("--out", str(folder / f"sweep-{turn}-{jobs}"))
            seconds[jobs].append(speedbook("sweep", *SWEPT, points, "--jobs", str(jobs), *out))
    two, one = min(seconds[2]), min(seconds[1])
    return {
        "case": "a sweep of 20 points on two processes" if points == MANY else "a small sweep",
        "peer": "the same on one process",
        "seconds": two,
        "peer_seconds": one,
        "ratio": one / two,
        "meaning": "times faster than one process",
        "gap": None,
        "peer_gap": None,
        "target": f">= {FASTER:g}",
        "met": one / two >= FASTER,
        "all_seconds": seconds[2],
    }


def viewing(names: Sequence[str] | None = None) -> list[Row]:
    """Weigh what the heaviest page loads before a reader scrolls; without a book, nothing."""
    from tools.audit.__main__ import a_browser
    from tools.audit.measure import built_pages, weight

    html = ROOT / "_build" / "html"
    if not (html / "index.html").is_file():
        return []
    sizes: dict[str, int] = {}
    with a_browser() as browser:
        for name in names or built_pages(html):
            loaded: list[str] = []
            page = browser.new_page()
            page.on("request", lambda request, loaded=loaded: loaded.append(request.url))
            page.goto((html / name).as_uri(), wait_until="load")
            page.evaluate("() => window.MathJax?.startup?.promise")
            sizes[name] = weight(loaded)
            page.close()
    heaviest = max(sizes, key=sizes.__getitem__)
    row = within(f"first view of {Path(heaviest).stem}", sizes[heaviest] / VIEW, 1.0, [])
    return [row | {"seconds": None, "peer": "one megabyte, gzipped", "peer_seconds": None}]


def run(quick: bool) -> list[Row]:
    """Measure each wait; a quick look takes the first of three and few points."""
    repeats = 1 if quick else REPEATS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return [
            importing(repeats),
            rerunning(repeats, folder),
            sweeping(repeats, FEW if quick else MANY, folder),
            *viewing(["index.html"] if quick else None),
        ]


if __name__ == "__main__":
    main("waits", TITLE, run)
