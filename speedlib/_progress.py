"""Reports of progress in a simulation: to a callable, a file or a bar on a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from speedlib._extras import needed_by

#: Environment variable with the name of a file that holds the progress of a simulation.
PROGRESS_FILE = "SPEEDLIB_PROGRESS_FILE"

#: Takes the numbers of finished and of all blocks.
Progress = Callable[[int, int], None]


@contextmanager
def reporter(progress: Progress | bool) -> Generator[Progress]:
    """Yield the function that reports progress; the file or the bar is removed at the end."""
    if callable(progress):
        yield progress
    elif name := os.environ.get(PROGRESS_FILE):
        path = Path(name)
        try:
            yield lambda done, total: _note(path, f"{done}/{total}")
        finally:
            # A file that cannot be removed must not cost a simulation that is done.
            with suppress(OSError):
                path.unlink()
    elif progress and sys.stderr.isatty():
        yield from _bar()
    else:
        yield lambda done, total: None


def _note(path: Path, text: str) -> None:
    # Nobody's results depend on it: a full disk is no reason to stop.
    with suppress(OSError):
        path.write_text(text)


def _bar() -> Generator[Progress]:
    with needed_by("mse_curve with progress=True", "simulation"):
        from rich.console import Console
        from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("replications", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
