"""The origin of results: the commit, the environment and the data, each in a few characters.

Such facts belong to one build or run, and no committed file contains them.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from speedbook.paths import files_below

#: Characters of a digest that are enough to distinguish two.
SHORT = 12


def build_facts(root: Path) -> dict[str, Any]:
    """Return the facts that all results of a build share, ready for JSON.

    ``profile`` is "defaults", the parameters with which a build runs every notebook.
    ``year`` is that of the commit. ``environment`` and ``data`` are digests; the rest is as in
    `git_state`.
    """
    return {
        "profile": "defaults",
        **git_state(root),
        "year": commit_year(root),
        "python": platform.python_version(),
        "environment": digest(installed_versions() | {"python": platform.python_version()}),
        "data": digest(data_digests(root)),
    }


def git_state(root: Path) -> dict[str, Any]:
    """Return the commit of a checkout, and whether its files differ from it.

    An unpacked archive has no commit, even inside another repository, and neither has a computer
    without git. If git cannot say whether files differ, for example because the index is damaged,
    ``changed`` is None.
    """
    anyone = _anyone(root)
    top = _git(root, *anyone, "rev-parse", "--show-toplevel")
    commit = _git(root, *anyone, "rev-parse", "HEAD")
    if top is None or commit is None or Path(top).resolve() != root.resolve():
        return {"commit": None, "changed": None}
    # Without locks, since a build must not block a commit.
    status = _git(root, "--no-optional-locks", "status", "--porcelain")
    return {"commit": commit, "changed": None if status is None else bool(status)}


def commit_year(root: Path) -> int | None:
    """Return the year in which the commit of a checkout was made; None without a commit."""
    if git_state(root)["commit"] is None:
        return None
    year = _git(root, *_anyone(root), "show", "--no-patch", "--format=%cd", "--date=format:%Y")
    return int(year) if year else None


def commit_text(commit: str | None, changed: bool | None, none: str = "no git") -> str:
    """Return in a few words what `git_state` found."""
    if commit is None:
        return none
    words = {True: " with uncommitted changes", None: ", perhaps with uncommitted changes"}
    return commit[:12] + words.get(changed, "")


def _anyone(root: Path) -> tuple[str, ...]:
    # These commands run nothing from the repository, so any owner is safe, as in a container.
    return ("-c", f"safe.directory={root.resolve()}")


def _git(root: Path, *arguments: str) -> str | None:
    # Within a hook, git's variables name the repository of the hook.
    environment = {key: val for key, val in os.environ.items() if not key.startswith("GIT_")}
    command = ["git", "-C", str(root), *arguments]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def installed_versions() -> dict[str, str]:
    """Return the versions of all installed distributions by name.

    Remains of an interrupted installation, without a name or a version, are left out. Some packages
    contain copies of other packages, which setuptools puts on the path when it is imported. These
    copies are left out too.
    """
    versions = {}
    for found in distributions():
        if Path(str(found.locate_file(""))).name == "_vendor":
            continue
        with suppress(FileNotFoundError):  # raised by newer versions if there is no metadata
            about: Any = found.metadata or {}  # each access reads the file again
            name, version = about.get("Name"), about.get("Version")
            if name and version:
                versions[name.lower()] = version
    return versions


def data_digests(root: Path) -> dict[str, str]:
    """Return the SHA-256 of every file of the data folder, by its path from the root."""
    return {name: file_sha256(path) for name, path in files_below(root / "data", "data/").items()}


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def digest(parts: Mapping[str, str]) -> str:
    """Return one digest for named texts, whatever their order."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:SHORT]
