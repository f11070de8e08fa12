"""The manifest of a run: enough to repeat it, and to say why a repetition differs."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from nbformat import NotebookNode
from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from speedbook.notebook.files import code
from speedbook.run.cache import LOCK, evidence_sources
from speedbook.run.provenance import (
    commit_text,
    data_digests,
    digest,
    file_sha256,
    git_state,
    installed_versions,
)
from speedbook.run.results import Results

Setting = Literal["defaults", "full"]
MANIFEST = "manifest.json"
#: How many changed packages are named; the rest is counted.
NAMED = 8


class Words(NamedTuple):
    """How a difference is put: of two values, and of texts that are too long to show."""

    values: str
    text: str


#: The words for a run and its repetition, and those for two runs side by side.
IN_TIME = Words("was {}, is {}", "has changed")
SIDE_BY_SIDE = Words("is {} in A, {} in B", "differs")


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Environment(_Part):
    """Everything that results may depend on besides the notebook and its parameters.

    ``changed`` says whether files differ from ``commit``; without git both are None. ``sources`` is
    a digest of our own code; ``lock`` and ``data`` are SHA-256.
    """

    commit: str | None
    changed: bool | None
    sources: str
    lock: str | None
    python: str
    packages: dict[str, str]
    data: dict[str, str]
    machine: dict[str, Any]

    def differences(self, other: Environment, words: Words = IN_TIME) -> list[str]:
        """Return how the other environment differs from this one, in sentences."""
        now = other._facts()
        found = [
            f"{thing} {words.values.format(before, now.get(thing))}"
            for thing, before in self._facts().items()
            if before != now.get(thing)
        ]
        found += _changes("package", self.packages, other.packages, words)
        found += _changes("data file", self.data, other.data, words)
        if self.lock != other.lock:
            found.append(f"{LOCK} {words.text}")
        if self.sources != other.sources:
            found.append(f"the code of speedlib or speedbook {words.text}")
        return found

    def _facts(self) -> dict[str, Any]:
        commit = commit_text(self.commit, self.changed, "none (no git)")
        machine = {f"the machine's {key}": value for key, value in self.machine.items()}
        return {"Python": self.python, "the commit": commit, **machine}


def _changes(
    thing: str, before: Mapping[str, str], now: Mapping[str, str], words: Words
) -> list[str]:
    changed = sorted(n for n in {*before, *now} if before.get(n) != now.get(n))
    found = [
        f"{thing} {name} {words.values.format(_short(before.get(name)), _short(now.get(name)))}"
        for name in changed[:NAMED]
    ]
    more = len(changed) - NAMED
    return found + ([f"{more} more of kind {thing} differ"] if more > 0 else [])


def _short(value: str | None) -> str:
    return "missing" if value is None else value[:12]


class Manifest(_Part):
    """The content of a run folder's ``manifest.json``.

    ``notebook`` is a path from the root of the book, and ``code`` the digest of its code there.
    ``parameters`` are all parameters, ``changed`` those that differ from their defaults.
    ``cell_timeout`` is the limit for a cell in seconds. ``started`` is in coordinated universal
    time. ``failure`` says in which cell the run failed and why; after a success it is empty.
    ``numbers`` are the files with the numbers of tables and figures, by their paths in the folder,
    with their SHA-256; comparisons of runs ignore them, and manifests of earlier runs have none.
    ``files`` are the files that parameters name, such as a user's table, with their SHA-256; a file
    that did not exist is not among them. In earlier runs it is None.
    """

    format: Literal[1] = 1
    notebook: str
    code: str
    setting: Setting
    parameters: dict[str, Any]
    changed: tuple[str, ...]
    seed: int | None
    cell_timeout: int
    started: str
    seconds: float
    failure: str
    environment: Environment
    results: Results
    numbers: dict[str, str] = {}
    files: dict[str, str] | None = None

    @field_validator("setting", mode="before")
    @classmethod
    def _former_name(cls, value: Any) -> Any:
        if value == "paper":
            raise ValueError("the setting `paper` is now called `full`: change it in the manifest")
        return value

    def circumstances(self, other: Manifest) -> list[str]:
        """Return a sentence for each circumstance in which a repetition differs from this run."""
        changed = [f"the code of {self.notebook} has changed"] if self.code != other.code else []
        changed += self.environment.differences(other.environment)
        if self.files is None or other.files is None:
            return changed
        # A file of another name is another value of the parameter, which is reported elsewhere. One
        # that both name may have been missing in one of them.
        both = _all_texts(self.parameters) & _all_texts(other.parameters)
        before, now = (
            {name: sha256 for name, sha256 in files.items() if name in both}
            for files in (self.files, other.files)
        )
        return changed + _changes("file", before, now, IN_TIME)


def read_environment(root: Path) -> Environment:
    """Return the current environment of a book."""
    lock = root / LOCK
    return Environment(
        **git_state(root),
        sources=digest({name: file_sha256(path) for name, path in evidence_sources(root).items()}),
        lock=file_sha256(lock) if lock.is_file() else None,
        python=platform.python_version(),
        packages=dict(sorted(installed_versions().items())),
        data=data_digests(root),
        machine={
            "system": platform.system(),
            "release": platform.release(),
            "processor": platform.machine(),
            "cores": os.cpu_count(),
        },
    )


def named_files(root: Path, values: Mapping[str, Any]) -> dict[str, str]:
    """Return the SHA-256 of each file that a parameter names by a path; paths start at `root`."""
    texts = sorted(_all_texts(values))
    return {text: file_sha256(path) for text in texts if (path := _file(root, text))}


def _all_texts(values: Mapping[str, Any]) -> set[str]:
    return {text for value in values.values() for text in _texts(value)}


def _texts(value: Any) -> list[str]:
    return [part for part in (value if isinstance(value, list) else [value]) if _is_text(part)]


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _file(root: Path, text: str) -> Path | None:
    try:
        path = root / Path(text).expanduser()
        return path if path.is_file() else None
    except (OSError, RuntimeError, ValueError):  # too long a name, no home, a null character
        return None


def code_digest(notebook: NotebookNode) -> str:
    """Return a short digest of a notebook's code."""
    return digest({str(place): source for place, source in enumerate(code(notebook))})


def read_manifest(path: Path, given: str = "--from: ") -> Manifest:
    """Read a manifest; the path leads to its file or to the run folder with it.

    Raises a ValueError if it is not valid; the message begins with how the path was `given`.
    """
    path = path / MANIFEST if path.is_dir() else path
    try:
        return Manifest.model_validate_json(path.read_bytes())
    except OSError as error:
        raise ValueError(f"{given}{path}: {error.strerror or error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "file"
        raise ValueError(f"{given}{path}: is not a manifest: {place}: {first['msg']}") from None
