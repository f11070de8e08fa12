"""Run folders: one for each rerun of a notebook, written whole or not at all.

The run works in a hidden folder. At the end the folder is renamed to ``<time>-<digest of code and
parameters>``. If the run fails or is interrupted, the folder's name says so, and the folder keeps
the unfinished notebook. After the end of a run, nothing is written to its folder. A process that is
killed (SIGKILL) leaves only its hidden folder, which may be deleted.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from nbformat import NotebookNode

from speedbook.frames import KEEP
from speedbook.notebook.contract import source_problems
from speedbook.notebook.files import MESSAGE, normalise, read_notebook, serialise
from speedbook.notebook.parameters import Parameter, Value, notebook_parameters
from speedbook.notebook.values import as_shown, explained
from speedbook.paths import write_atomically
from speedbook.run.altered import short_digest
from speedbook.run.execution import (
    CELL_TIMEOUT,
    FIGURES_FORMATS,
    Finished,
    Job,
    execute_all,
    kernel_environment,
)
from speedbook.run.listing import FIGURES, RESULTS
from speedbook.run.manifest import (
    MANIFEST,
    Manifest,
    Setting,
    code_digest,
    named_files,
    read_environment,
)
from speedbook.run.provenance import commit_text, file_sha256
from speedbook.run.results import NUMBERS, Results, read_results, result_files, text_sha256
from speedbook.text import duration

#: Where run folders are, below the top folder of the book.
RUNS = "runs"
FORMATS = "svg pdf png csv"
PROGRESS, SIMULATION = ".cell", ".simulation"
#: As in `speedlib._progress`; a book's own library need not have it.
PROGRESS_FILE = "SPEEDLIB_PROGRESS_FILE"


@dataclass(frozen=True)
class Request:
    """A notebook to rerun, with its parameters and settings, all of them checked.

    Attributes
    ----------
    root : Path
        The top folder of the book.
    name : str
        The notebook's path from there.
    notebook : NotebookNode
        As read.
    parameters : tuple of Parameter
        The notebook's parameters.
    given : mapping
        The checked value of each parameter that is set.
    setting : {"defaults", "full"}
        The default of each parameter that is not set.
    timeout : int
        Seconds for each cell.
    """

    root: Path
    name: str
    notebook: NotebookNode
    parameters: tuple[Parameter, ...]
    given: Mapping[str, Value]
    setting: Setting = "defaults"
    timeout: int = CELL_TIMEOUT

    @property
    def values(self) -> dict[str, Value]:
        """All parameters with the values of this run."""
        return {p.name: self.given.get(p.name, p.default) for p in self.parameters}

    @property
    def changed(self) -> dict[str, Value]:
        """The parameters whose values are not their defaults."""
        defaults = {p.name: p.default for p in self.parameters}
        return {name: val for name, val in self.values.items() if val != defaults[name]}

    @property
    def stem(self) -> str:
        """The notebook's short name."""
        return Path(self.name).stem


def at_defaults(root: Path, name: str) -> Request:
    """Return a request for a notebook at its defaults.

    Raises a ValueError if the notebook breaks the rules for notebooks.
    """
    notebook = read_notebook(root / name)
    if problems := source_problems(notebook):
        raise ValueError("\n".join(f"{name}: {problem}" for problem in problems))
    return Request(root, name, notebook, notebook_parameters(notebook), {})


class RunFailed(Exception):
    """The notebook failed; the text says where and why, and where the unfinished notebook is."""


class RunDied(RunFailed):
    """The kernel, or the process that ran it, was killed; another attempt may succeed."""


class RunInterrupted(Exception):
    """The run was interrupted; the text says where the unfinished notebook is."""


#: Writes the page of a run.
WritePage = Callable[[Request, NotebookNode, Manifest], str]
#: Shows a title and a number of steps; the function that it yields sets the step and its progress.
Steps = Callable[[str, int], AbstractContextManager[Callable[[int, str], None]]]
#: Runs jobs, as `execute_all` does.
Execute = Callable[
    [Sequence[Job], int, dict[str, str], Callable[[], None] | None], Iterable[Finished]
]


def run(
    request: Request, out: Path, page: WritePage, steps: Steps, execute: Execute | None = None
) -> tuple[Path, Manifest]:
    """Run a notebook, and write its results into a new folder.

    Parameters
    ----------
    request : Request
        What to run.
    out : Path
        The folder for run folders; the new one is in a subfolder with the notebook's name.
    page : callable
        Writes the page from the request, the executed notebook and the manifest.
    steps : callable
        Shows the progress of the run.
    execute : callable, optional
        Runs the notebook; by default `execute_all`, from a process of its own.

    Returns
    -------
    folder : Path
        The run folder.
    manifest : Manifest
        The content of its ``manifest.json``.

    Raises
    ------
    RunFailed
        If a cell fails; `RunDied` if the kernel was killed.
    RunInterrupted
        If the run was interrupted after it had written something; otherwise the interrupt itself is
        raised.
    OSError
        If a file cannot be written.
    """
    started = datetime.now(UTC)
    # Kernels work in the folder of the notebook, where a relative path would be another one.
    parent = out.resolve() / request.stem
    environment = read_environment(request.root)
    files = named_files(request.root, request.values)
    with _working_folder(parent, _folder_name(request, started)) as work:
        end = _execute(request, work.path, steps, execute or execute_all)
        end = replace(end, failure=explained(end.failure, request.parameters, request.values))
        executed = _executed(work.path / f"{request.stem}.ipynb", end)
        results, tables = read_results(executed)
        seed = request.values.get("seed")
        manifest = Manifest(
            notebook=request.name,
            code=code_digest(request.notebook),
            setting=request.setting,
            parameters=request.values,
            changed=tuple(request.changed),
            seed=seed if type(seed) is int else None,
            cell_timeout=request.timeout,
            started=f"{started:%Y-%m-%d %H:%M:%S} UTC",
            seconds=end.seconds,
            failure=end.failure,
            environment=environment,
            results=results,
            numbers=_numbers(work.path / FIGURES, tables),
            files=files,
        )
        _write_results(work.path / RESULTS, manifest.results, tables)
        html = page(request, executed, manifest)
        write_atomically(work.path / f"{request.stem}.html", html)
        write_atomically(work.path / MANIFEST, manifest.model_dump_json(indent=1) + "\n")
        if end.failure:
            raise (RunDied if end.died else RunFailed)(f"{request.name}: {end.failure}")
        return work.settle(), manifest


def _folder_name(request: Request, started: datetime) -> str:
    code = code_digest(request.notebook)
    return f"{started:%Y%m%dT%H%M%SZ}-{short_digest(code, request.values)}"


class _WorkingFolder:
    """A hidden folder, and the name that it gets at the end."""

    def __init__(self, parent: Path, name: str) -> None:
        self.parent, self.name = parent, name
        self.path = parent / f".{name}-{os.getpid()}-unfinished"

    def settle(self, ending: str = "") -> Path:
        """Give the folder its name, or the next free one; existing folders are never touched."""
        _to_disk(self.path)
        number = 1
        while True:
            suffix = f"-{number}" if number > 1 else ""
            target = self.parent / f"{self.name}{suffix}{ending}"
            try:
                # Fails if a folder with files has that name, even one that was just made.
                if not target.exists():
                    self.path.rename(target)
                    return target
            except OSError:
                if not target.exists():
                    raise
            number += 1


def _to_disk(folder: Path) -> None:
    """Write a folder to the disk, or a power cut after the renaming would empty its files."""
    for path in (path for path in folder.rglob("*") if path.is_file()):
        # A file system that cannot do this still holds the file.
        with suppress(OSError), path.open("rb+") as file:
            os.fsync(file.fileno())


@contextmanager
def _working_folder(parent: Path, name: str) -> Iterator[_WorkingFolder]:
    """Yield a folder to work in; after an error or an interrupt, keep an unfinished notebook."""
    parent.mkdir(parents=True, exist_ok=True)
    work = _WorkingFolder(parent, name)
    work.path.mkdir()
    try:
        yield work
    except BaseException as error:
        # A worker of a sweep ends with SystemExit if the command is interrupted.
        stopped = isinstance(error, KeyboardInterrupt | SystemExit)
        ending = "-interrupted" if stopped else "-failed"
        kept = _keep(work, ending)
        if isinstance(error, RunFailed) and kept:
            raise type(error)(f"{error}\n    unfinished run: {kept}") from None
        if isinstance(error, KeyboardInterrupt) and kept:
            raise RunInterrupted(f"unfinished run: {kept}") from error
        raise


def _keep(work: _WorkingFolder, ending: str) -> Path | None:
    """Rename the folder of a run that did not succeed, if there is a notebook in it."""
    with suppress(OSError):
        if any(path.stat().st_size for path in work.path.glob("*.ipynb")):
            kept = work.settle(ending)
            # Only now: a kernel that is still ending does not find the folder under its new name.
            _remove_hidden(kept)
            return kept
    shutil.rmtree(work.path, ignore_errors=True)
    with suppress(OSError):
        work.parent.rmdir()  # fails if there are other runs
    return None


def _remove_hidden(folder: Path) -> None:
    """Remove files that only the run needed: its progress, and half-written files."""
    with suppress(OSError):
        for path in folder.rglob(".*"):
            path.unlink(missing_ok=True)


def _execute(request: Request, folder: Path, steps: Steps, execute: Execute) -> Finished:
    progress, simulation = folder / PROGRESS, folder / SIMULATION
    job = Job(
        request.name,
        request.root / request.name,
        folder / f"{request.stem}.ipynb",
        request.timeout,
        request.given,
        progress,
    )
    environment = kernel_environment(request.root, folder / FIGURES)
    environment |= {FIGURES_FORMATS: FORMATS, KEEP: "1"}
    environment[PROGRESS_FILE] = str(simulation)
    # If values are given, papermill inserts a cell with them.
    total = len(request.notebook.cells) + bool(request.given)
    with steps(f"Running {request.name}", total) as at:

        def tick() -> None:
            if (step := _step(progress, simulation)) is not None:
                at(*step)

        (end,) = execute([job], 1, environment, tick)
    progress.unlink(missing_ok=True)
    simulation.unlink(missing_ok=True)
    return end


def _step(progress: Path, simulation: Path) -> tuple[int, str] | None:
    """Return the cell that runs, and the progress of a simulation in it; None before the first."""
    try:
        place = int(progress.read_text())
    except (OSError, ValueError):
        return None
    step = f"cell {place + 1}"
    with suppress(OSError, ValueError):
        done, total = map(int, simulation.read_text().split("/"))
        step += f", {done / total:.0%} simulated"
    return place, step


def _executed(path: Path, end: Finished) -> NotebookNode:
    """Return the notebook that ran, normalised like a committed one."""
    try:
        executed = normalise(read_notebook(path), foreign={MESSAGE})
    except (OSError, ValueError):
        # No kernel started, or the disk was full.
        if end.failure:
            raise (RunDied if end.died else RunFailed)(f"{end.job.name}: {end.failure}") from None
        raise
    write_atomically(path, serialise(executed, foreign={MESSAGE}))
    return executed


def _write_results(folder: Path, results: Results, tables: Mapping[str, str]) -> None:
    for name, text in result_files(results, tables).items():
        write_atomically(folder / name, text)


def _numbers(figures: Path, tables: Mapping[str, str]) -> dict[str, str]:
    """Return the digest of each file of numbers, by its path in the folder of the run."""
    found = {f"{FIGURES}/{path.name}": file_sha256(path) for path in sorted(figures.glob("*.csv"))}
    plain = {name: text for name, text in tables.items() if name.endswith(NUMBERS)}
    return found | {f"{RESULTS}/{name}": text_sha256(text) for name, text in plain.items()}


def facts(request: Request, manifest: Manifest) -> list[str]:
    """Describe a run, a line for each fact."""
    changed = ", ".join(f"{name} = {as_shown(value)}" for name, value in request.changed.items())
    environment = manifest.environment
    return [
        f"A rerun of {request.name}, {f'with {changed}' if changed else 'at its defaults'}.",
        f"Begun {manifest.started}, {duration(manifest.seconds)}; "
        f"{commit_text(environment.commit, environment.changed)}; "
        f"Python {environment.python} on {environment.machine['system']}.",
    ]
