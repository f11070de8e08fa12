"""What several tests of the press and of reruns share."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
FIG, PROP = "notebooks/figures/fig.ipynb", "notebooks/claims/prop-1.ipynb"
SPEEDBOOK = ("-m", "speedbook")


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def start(
    folder: Path, *arguments: str, limit: int | None = None, **environment: str
) -> subprocess.Popen[str]:
    """Start Python in a process group of its own, as a terminal does.

    With a limit no file may grow beyond so many bytes.
    """

    def small_files() -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        preexec_fn=small_files if limit else None,
    )
