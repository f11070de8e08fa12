"""Make the book from executed notebooks: stage the sources, then let Jupyter Book build the pages.

The work happens in ``_build/press``; only a complete book, built without a warning, becomes
``_build/html``. Pages whose sources did not change are not built again.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from speedbook.paths import files_below, free_megabytes, mirror, mount_of, write_atomically
from speedbook.press.keys import press_key
from speedbook.run.execution import ANSI

#: Besides the pages, a page may include these files from the top folder.
TOP_FILES = ("_config.yml", "_toc.yml", "CHANGELOG.md", "CITATION.cff")
COMMAND = "from jupyter_book.cli.main import main; main(prog_name='jupyter-book')"
STRICT = ("--warningiserror", "--keep-going")
#: How many lines of the log a failure shows.
LOG_LINES = 20
#: With less room, in megabytes, a failure is probably due to a full disk: a page takes up to one.
LITTLE = 5


class PressError(Exception):
    """Jupyter Book failed or warned; the text holds its messages."""


def stage(root: Path, target: Path, derived: Mapping[str, str | bytes]) -> None:
    """Write the sources from which the book is built; unchanged files are not touched.

    Files that this build derived (executed notebooks, the ledger and pictures, by their paths from
    the root) replace the committed ones.
    """
    files: dict[str, Path | str | bytes] = {
        name: root / name for name in TOP_FILES if (root / name).is_file()
    }
    files |= files_below(root / "book", "book/")
    mirror({**files, **derived}, target)


def press(root: Path, staged: Path, build: Path, environment: Mapping[str, str]) -> Path:
    """Build the staged book with warnings as errors, and return its first page.

    After a PressError, the previous book is unchanged.
    """
    work, html, key = build / "press", build / "html", press_key(root, staged)
    pressed, page = work / "pressed", html / "index.html"
    if pressed.is_file() and pressed.read_text() == key and page.is_file():
        return page
    if work.exists() and not pressed.is_file():
        # Sphinx does not repeat the warnings of a page that it has read, and takes a half-written
        # page for a complete one. So after a failure or an interrupt, start again without it.
        shutil.rmtree(work)
    work.mkdir(parents=True, exist_ok=True)
    pressed.unlink(missing_ok=True)
    log = build / "press.log"
    with log.open("w", encoding="utf-8") as sink:
        done = subprocess.run(
            # Jupyter Book writes to `_build` in this folder.
            [sys.executable, "-c", COMMAND, "build", staged, "--path-output", work, *STRICT],
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
        )
    if done.returncode:
        raise PressError(_complaints(log))
    mirror(files_below(work / "_build" / "html"), html)
    write_atomically(pressed, key)
    return page


def _complaints(log: Path) -> str:
    lines = ANSI.sub("", log.read_text(encoding="utf-8", errors="replace")).splitlines()
    marked = [line for line in lines if "WARNING" in line or "ERROR" in line or "Error:" in line]
    last = f"The whole log is in {log}"
    if (free := free_megabytes(log.parent)) < LITTLE:
        place = mount_of(log)
        last += f"\nThe file system at {place} is full: {free:.1f} MB are left for {log.parent}"
    return "\n".join([*(marked or lines)[-LOG_LINES:], last])
