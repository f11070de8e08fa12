"""``speedbook build`` as the tests run it: within this process, or as a program of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner

from speedbook.commands.app import app

from .helpers import ROOT


def build(*arguments, code=0):
    result = CliRunner().invoke(app, ["build", *arguments])
    assert result.exit_code == code, result.output
    return " ".join(result.output.split())


def run_cli(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    return subprocess.Popen(
        [sys.executable, "-m", "speedbook", "build", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        # A process group of its own, to be interrupted as from a terminal.
        start_new_session=True,
    )
