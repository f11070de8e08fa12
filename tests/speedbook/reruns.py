"""Running `speedbook rerun`, in this process or one of its own, and seeing what it left."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner

from speedbook.commands.app import app

from .helpers import ROOT


def rerun(*arguments: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["rerun", *map(str, arguments)])
    assert result.exit_code == code, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert "Traceback (most" not in result.output or code == 3
    return str(result.output)


def folders(root: Path, notebook: str = "fig") -> list[Path]:
    """Return what is in the folder of a notebook's runs, hidden folders too."""
    runs = root / "runs" / notebook
    return sorted(runs.iterdir()) if runs.is_dir() else []


def files_of(root: Path) -> dict[Path, bytes]:
    """Return all files but those of runs."""
    files = [path for path in root.rglob("*") if path.is_file()]
    return {path: path.read_bytes() for path in files if "runs" not in path.parts}


def start(folder: Path, *arguments: str, limit: int | None = None) -> subprocess.Popen[str]:
    """Start the command in a process group of its own, to be interrupted as from a terminal."""

    def small_files() -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    return subprocess.Popen(
        [sys.executable, "-m", "speedbook", "rerun", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        preexec_fn=small_files if limit else None,
    )
