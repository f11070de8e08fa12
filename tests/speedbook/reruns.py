"""Running `speedbook rerun` in this process, and seeing what it left."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from speedbook.commands.app import app


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
    """Return all files but those of runs, and the settings and caches of kernels."""
    files = [path for path in root.rglob("*") if path.is_file()]
    return {
        path: path.read_bytes()
        for path in files
        if "runs" not in path.parts and not path.is_relative_to(root / "_build" / "kernels")
    }
