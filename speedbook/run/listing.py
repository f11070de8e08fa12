"""All runs below a folder, with their state and their size on disk.

Only folders that `speedbook rerun` made are listed. Such a folder has the name of a run and a
manifest, or a name that says why it has no manifest.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from speedbook.notebook.values import as_shown
from speedbook.run.manifest import MANIFEST, Manifest, read_manifest

State = Literal["finished", "failed", "interrupted", "unfinished"]

#: The folders that a run writes into its own.
RESULTS, FIGURES = FOLDERS = "results", "figures"
#: The file that marks the folder of a sweep.
PLAN = "sweep.json"
#: The name of a run folder: time, digest, perhaps a number, and how the run ended.
NAME = re.compile(
    r"(?P<time>\d{8}T\d{6}Z)-(?P<digest>[0-9a-f]{8})(-\d+)?(?P<end>-failed|-interrupted)?"
)
#: The name of the folder of a run that works, or was killed.
HIDDEN = re.compile(r"\.(?P<name>.+)-(?P<process>\d+)-unfinished")


@dataclass(frozen=True)
class RunFolder:
    """A run folder.

    ``state`` is ``unfinished`` if the run is at work or was killed. ``manifest`` is None if the run
    was stopped before it wrote one. ``sweep`` is the folder of the sweep that the run belongs to.
    ``size`` is in bytes.
    """

    path: Path
    state: State
    begun: datetime
    manifest: Manifest | None
    size: int
    sweep: Path | None

    @property
    def notebook(self) -> str:
        """The short name of the notebook."""
        return self.path.parent.name

    @property
    def changed(self) -> dict[str, Any] | None:
        """The parameters that differed from their defaults; None if they are unknown.

        Of a run that was stopped, these are the parameters that it was given.
        """
        if self.manifest is None:
            return _given(self.path / f"{self.notebook}.ipynb")
        return {name: self.manifest.parameters[name] for name in self.manifest.changed}

    @property
    def in_words(self) -> str:
        """The parameters that differed from their defaults, and the setting, in words."""
        if self.changed is None:
            return "parameters unknown"
        changed = ", ".join(f"{name}={as_shown(value)}" for name, value in self.changed.items())
        if self.manifest is not None and self.manifest.setting == "full":
            return f"--full: {changed}"
        return changed or "at the defaults"


def run_folders(runs: Path) -> list[RunFolder]:
    """Return all runs below a folder, the latest first; links to folders are not followed."""
    found = [run for path in _folders(runs) if (run := _run_folder(path))]
    return sorted(found, key=lambda run: (run.begun, run.path), reverse=True)


def _folders(top: Path) -> Iterator[Path]:
    """Yield the folders that may be of runs; a run's own folders are not searched."""
    if not top.is_dir():
        return
    for path in sorted(top.iterdir()):
        if path.is_symlink() or not path.is_dir():
            continue
        if NAME.fullmatch(path.name) or HIDDEN.fullmatch(path.name):
            yield path
        elif not path.name.startswith("."):
            yield from _folders(path)


def _run_folder(path: Path) -> RunFolder | None:
    hidden = HIDDEN.fullmatch(path.name)
    name = NAME.fullmatch(hidden["name"] if hidden else path.name)
    if name is None:
        return None
    manifest = None
    if (path / MANIFEST).exists():
        try:
            manifest = read_manifest(path, "")
        except ValueError:
            return None
    state: State = "unfinished" if hidden else _state(name["end"], manifest)
    if manifest is None and state == "finished":
        return None
    begun = datetime.strptime(name["time"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    return RunFolder(path, state, begun, manifest, _size(path), _sweep(path))


def _given(notebook: Path) -> dict[str, Any] | None:
    """Return the parameters that papermill wrote into a notebook before it ran; None if not."""
    try:
        given = json.loads(notebook.read_bytes())["metadata"]["papermill"]["parameters"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return given if isinstance(given, dict) else None


def _sweep(run: Path) -> Path | None:
    above = run.parent.parent
    return above if (above / PLAN).exists() else None


def _state(ending: str | None, manifest: Manifest | None) -> State:
    if ending == "-interrupted":
        return "interrupted"
    return "failed" if ending or (manifest and manifest.failure) else "finished"


def _size(folder: Path) -> int:
    files = (path for path in folder.rglob("*") if not path.is_symlink() and path.is_file())
    return sum(path.stat().st_size for path in files)


def may_be_deleted(run: RunFolder, runs: Path) -> bool:
    """Return whether a folder is inside the folder of runs, and surely belongs to a run that ended.

    The folder must not be hidden. It must have a manifest for the notebook after which its parent
    folder is named. Without a manifest, its name must say that the run was stopped, and it may hold
    nothing but what a run writes before its manifest: the notebook, figures and results.
    """
    path, manifest = run.path, run.manifest
    inside = runs.resolve() in path.resolve().parents and not path.is_symlink()
    if manifest is None:
        written = {f"{run.notebook}.ipynb", f"{run.notebook}.html", *FOLDERS}
        ours = (path / f"{run.notebook}.ipynb").is_file() and written.issuperset(os.listdir(path))
    else:
        ours = Path(manifest.notebook).stem == run.notebook
    return inside and ours and run.state != "unfinished"


def delete(chosen: Sequence[RunFolder], runs: Path) -> None:
    """Delete run folders, and the folders of notebooks that are then empty.

    Raises a ValueError, before anything is deleted, if one of the folders must not be deleted.
    """
    for run in chosen:
        if not may_be_deleted(run, runs):
            raise ValueError(
                f"{run.path}: cannot be recognised as a run folder; nothing was deleted"
            )
    for run in chosen:
        shutil.rmtree(run.path)
        parent = run.path.parent
        if parent.resolve() != runs.resolve() and not any(parent.iterdir()):
            parent.rmdir()
