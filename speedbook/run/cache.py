"""The cache of executed notebooks.

A run has a key, which is a digest of all that its outputs can depend on. These are the code of the
notebook with its parameters, the source of ``speedlib`` and ``paper``, and the modules of
``speedbook`` that a notebook imports. The data, the notebook's entries in ``book/claims.yml``, the
files that this page alone reads, the lock and the version of Python also enter the key. The key
does not depend on prose: if only the text of a page has changed, the page's outputs come from the
cache.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from speedbook.claims.claim import Claim
from speedbook.notebook.files import code, serialise, to_notebook
from speedbook.paths import files_below, write_atomically
from speedbook.run.provenance import file_sha256

PACKAGE = Path(__file__).parents[1]
LOCK = "requirements.txt"
#: Folders of ``speedbook`` that no notebook imports; all others count as evidence.
PRESS = frozenset({"commands", "notebook", "press", "run"})
#: The fields of a claim that only the errata and the map use.
PROSE = {"counterexample", "corrected_by", "uncorrected", "rests_on"}
#: Further folders or files of the book that single pages read.
READS = {
    "notebooks/beyond/mutants.ipynb": (
        "tools/mutants",
        "tests/speedlib",
        "conftest.py",
        "pyproject.toml",
        "notebooks/claims",
        "notebooks/figures",
        "book/claims.yml",
    ),
    "notebooks/beyond/performance.ipynb": ("benchmarks/results",),
    "notebooks/ideas/what-to-use.ipynb": ("speedlib/advice.json", "speedlib/advice_words.json"),
}
#: How many runs of a notebook are kept, so going back to an old version needs no run.
KEPT_RUNS = 5


def shared_key(root: Path) -> str:
    """Return the digest of everything that all notebooks of a book depend on."""
    data = files_below(root / "data", "data/")
    return files_key({**library_sources(root), **evidence_sources(root), **data})


def evidence_sources(root: Path) -> dict[str, Path]:
    """Return the project's own code that results depend on, by its paths from the root."""
    press = tuple(f"speedbook/{folder}/" for folder in PRESS)
    evidence = {n: path for n, path in package_sources().items() if not n.startswith(press)}
    return {**_sources(root / "speedlib", "speedlib/"), **evidence}


def page_key(root: Path, name: str, shared: str) -> str:
    """Return the digest of what a page depends on besides its code; some files are its own."""
    files = {
        entry + "/" * path.is_dir() + below: file
        for entry in READS.get(name, ())
        for path in [root / entry]
        for below, file in (files_below(path) if path.is_dir() else {"": path}).items()
        if "__pycache__" not in file.parts
    }
    return _digest([shared, files_key(files)]) if files else shared


def run_key(
    notebook: NotebookNode,
    claims: Iterable[Claim],
    shared: str,
    given: Mapping[str, Any] | None = None,
) -> str:
    """Return the digest of everything that the outputs of a notebook can depend on.

    `given` are the parameters that replace the notebook's own.
    """
    entries = (claim.model_dump_json(exclude=PROSE) for claim in claims)
    values = [json.dumps(given, sort_keys=True)] if given else []
    return _digest([shared, *entries, *values, *code(notebook)])


def files_key(files: Mapping[str, Path]) -> str:
    """Return a digest of files, their names and the version of Python."""
    digests = (f"{name} {file_sha256(path)}" for name, path in sorted(files.items()))
    return _digest([platform.python_version(), *digests])


def library_sources(root: Path) -> dict[str, Path]:
    """Return the files of ``speedlib``, and the lock, which names the installed packages."""
    lock = root / LOCK
    return _sources(root / "speedlib", "speedlib/") | ({LOCK: lock} if lock.is_file() else {})


def package_sources() -> dict[str, Path]:
    """Return the files of ``speedbook`` and ``paper``, wherever these packages are installed."""
    rooms = [_sources(PACKAGE.with_name(room), f"{room}/") for room in ("speedbook", "paper")]
    return {name: path for files in rooms for name, path in files.items()}


def _sources(folder: Path, prefix: str) -> dict[str, Path]:
    files = files_below(folder, prefix)
    return {name: path for name, path in files.items() if path.suffix == ".py"}


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256(json.dumps(list(parts)).encode()).hexdigest()


@dataclass(frozen=True)
class Run:
    """An executed notebook, the seconds that the run took, and further facts about the run.

    ``files`` holds the texts of its figures' files, by name. It is None if they were not kept.
    """

    notebook: NotebookNode
    seconds: float
    facts: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] | None = None


class Cache:
    """A folder of executed notebooks, found by notebook and key; the folder need not exist yet."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def _path(self, name: str, key: str) -> Path:
        return self.folder / name / f"{key}.json"

    def get(self, name: str, key: str) -> Run | None:
        """Return an earlier run, or None if there is none or it cannot be read."""
        try:
            kept = json.loads(self._path(name, key).read_text(encoding="utf-8"))
            notebook = to_notebook(kept["notebook"])
            return Run(notebook, float(kept["seconds"]), kept.get("facts", {}), kept.get("files"))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, name: str, key: str, run: Run) -> None:
        """Store a run, and delete the oldest ones of the same notebook."""
        kept = {"seconds": run.seconds, "notebook": json.loads(serialise(run.notebook))}
        kept |= {"facts": dict(run.facts)} if run.facts else {}
        kept |= {} if run.files is None else {"files": dict(run.files)}
        new = self._path(name, key)
        write_atomically(new, json.dumps(kept))
        # Never the new one, whose time is the oldest if the clock has been set back.
        others = (path for path in new.parent.glob("*.json") if path != new)
        runs = sorted(others, key=lambda path: path.stat().st_mtime)
        for old in runs[: 1 - KEPT_RUNS]:
            old.unlink(missing_ok=True)
