"""A sweep: one notebook at many points, in one folder that says which points are finished.

The folder of a sweep holds its plan, ``sweep.json``, and an ordinary run folder for each finished
point. Nothing else records what is finished: a run folder counts if it is whole and was made at a
point of the plan, by the code of the plan. So the end of any process loses at most the points that
it was running.
"""

from __future__ import annotations

import json
import platform
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from speedbook.claims.registry import REGISTRY, load_registry
from speedbook.notebook.parameters import Value
from speedbook.notebook.values import as_shown
from speedbook.paths import write_atomically
from speedbook.run.altered import missing_files
from speedbook.run.cache import LOCK, PROSE, evidence_sources
from speedbook.run.folder import Request
from speedbook.run.manifest import Manifest, Setting, code_digest, named_files, read_manifest
from speedbook.run.provenance import SHORT, data_digests, digest, file_sha256

#: Folder and manifest of each finished point, by its number.
Finished = dict[int, tuple[Path, Manifest]]

PLAN = "sweep.json"
#: Where the folders of sweeps are, below that of runs.
SWEEPS = "sweeps"


class Code(BaseModel):
    """Everything except the parameters on which the results of a point depend.

    ``notebook`` and ``sources`` are digests of code, ``rules`` of the notebook's entries in
    ``book/claims.yml``; ``data`` and ``lock`` of files.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    notebook: str
    sources: str
    rules: str
    data: str
    lock: str | None
    python: str

    def differences(self, other: Code) -> list[str]:
        """Return the names of the parts that differ."""
        words = {
            "notebook": "the notebook's code",
            "sources": "the code of speedlib, paper or speedbook",
            "rules": f"the notebook's rules in {REGISTRY}",
            "data": "the data",
            "lock": LOCK,
            "python": "the version of Python",
        }
        return [words[name] for name, value in self if value != getattr(other, name)]

    def made(self, manifest: Manifest) -> bool:
        """Return whether a run was made by this code, according to the run's manifest."""
        its = manifest.environment
        theirs = manifest.code, its.sources, digest(its.data), its.lock, its.python
        return theirs == (self.notebook, self.sources, self.data, self.lock, self.python)


def read_code(request: Request) -> Code:
    """Return the code with which a request would run now."""
    root, lock = request.root, request.root / LOCK
    claims = load_registry(root).claims
    own = [c.model_dump_json(exclude=PROSE) for c in claims if c.notebook == request.name]
    return Code(
        notebook=code_digest(request.notebook),
        sources=digest({n: file_sha256(path) for n, path in evidence_sources(root).items()}),
        rules=digest({str(i): text for i, text in enumerate(own)}),
        data=digest(data_digests(root)),
        lock=file_sha256(lock) if lock.is_file() else None,
        python=platform.python_version(),
    )


class Plan(BaseModel):
    """The content of ``sweep.json``.

    ``points`` are the values that each point sets; the other parameters have their defaults.
    ``swept`` names the parameters that differ between points. ``since`` is a time in coordinated
    universal time: runs that began earlier do not count.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal[1] = 1
    notebook: str
    setting: Setting
    cell_timeout: int
    swept: tuple[str, ...]
    points: tuple[dict[str, Any], ...]
    code: Code
    since: str = ""


def read_plan(folder: Path) -> Plan | None:
    """Read the plan of a sweep's folder; None if it has none.

    Raises a ValueError if the file is not a plan.
    """
    path = folder / PLAN
    try:
        return Plan.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror or error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "file"
        raise ValueError(
            f"{path}: is not the plan of a sweep: {place}: {first['msg']}; delete it and repeat "
            "the command that began the sweep: finished points are kept"
        ) from None


@dataclass(frozen=True)
class Point:
    """One point: its number, counted from 1, and what to run."""

    number: int
    request: Request


@dataclass(frozen=True)
class Sweep:
    """A plan with its folder, and a request at the defaults with everything that points share."""

    folder: Path
    plan: Plan
    base: Request

    @cached_property
    def points(self) -> list[Point]:
        """All points in order."""
        return [
            Point(number, replace(self.base, given=values))
            for number, values in enumerate(self.plan.points, 1)
        ]

    def label(self, point: Point) -> str:
        """Return a name for a point, made of the parameters that differ between points."""
        values = point.request.values
        named = self.plan.swept or tuple(point.request.given)
        return ", ".join(f"{name}={as_shown(values[name])}" for name in named) or "the defaults"

    def write(self) -> None:
        """Write the plan."""
        write_atomically(self.folder / PLAN, self.plan.model_dump_json(indent=1) + "\n")

    def finished(self) -> Finished:
        """Return folder and manifest of each finished point, by the point's number."""
        found: dict[str, tuple[Path, Manifest]] = {}
        for folder in sorted((self.folder / self.base.stem).glob("[0-9]*")):
            manifest = whole_run(folder, self.base.stem)
            if (
                manifest
                and manifest.notebook == self.plan.notebook
                and manifest.started >= self.plan.since
                and self.plan.code.made(manifest)
            ):
                key = _key(manifest.parameters, manifest.files or {})
                found.setdefault(key, (folder, manifest))
        finished = {}
        for point in self.points:
            values = point.request.values
            # A parameter may name a file, whose content has changed since.
            if run := found.get(_key(values, named_files(self.base.root, values))):
                finished[point.number] = run
        return finished

    def sweep_up(self) -> None:
        """Remove what killed processes left behind; nothing may be running in the folder."""
        for path in (self.folder / self.base.stem).glob(".*-unfinished"):
            shutil.rmtree(path, ignore_errors=True)


@dataclass(frozen=True)
class SweepResults:
    """What the table and the page of a sweep show.

    Attributes
    ----------
    sweep : Sweep
        The sweep.
    finished : dict
        Folder and manifest of each finished point, by its number.
    failures : mapping
        Why a point failed, by its number. A point that is neither here nor in ``finished`` was not
        run.
    """

    sweep: Sweep
    finished: Finished
    failures: Mapping[int, str]

    @property
    def claims(self) -> list[str]:
        """The claims that the finished points recorded, each once."""
        runs = self.finished.values()
        return list(dict.fromkeys(name for _, run in runs for name in run.results.records))


def _key(values: Mapping[str, Value], files: Mapping[str, str]) -> str:
    return json.dumps([values, files], sort_keys=True)


def whole_run(folder: Path, stem: str) -> Manifest | None:
    """Return the manifest of a run folder if the run succeeded and every file is there, or None.

    After a power cut a file may be empty, so the SHA-256 of each table and file of numbers is
    checked.
    """
    with suppress(ValueError, OSError):
        manifest = read_manifest(folder)
        pages = [folder / f"{stem}{suffix}" for suffix in (".ipynb", ".html")]
        if (
            not manifest.failure
            and all(page.stat().st_size for page in pages)
            and not missing_files(folder, manifest)
        ):
            return manifest
    return None


def new_plan(request: Request, points: Sequence[Mapping[str, Value]]) -> Plan:
    """Return the plan of a sweep over points, with the code as it is now."""
    names = dict.fromkeys(name for values in points for name in values)
    defaults = request.values
    swept = tuple(
        name
        for name in names
        if len({json.dumps(values.get(name, defaults[name])) for values in points}) > 1
    )
    return Plan(
        notebook=request.name,
        setting=request.setting,
        cell_timeout=request.timeout,
        swept=swept,
        points=tuple(dict(values) for values in points),
        code=read_code(request),
    )


def usual_folder(runs: Path, plan: Plan) -> Path:
    """Return the default folder of a sweep; equal points always lead to the same folder."""
    parts = {"notebook": plan.notebook, "points": json.dumps(plan.points, sort_keys=True)}
    return runs / SWEEPS / f"{Path(plan.notebook).stem}-{digest(parts)[: SHORT - 4]}"
