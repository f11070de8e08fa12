"""Running notebooks with papermill, a few at a time, each in a kernel of its own."""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from speedbook.notebook.files import KERNEL, cell_name, code_cells, read_notebook
from speedbook.paths import FULL, file_fault
from speedbook.run.kernels import own_settings, put_into
from speedbook.run.loopback import require_loopback
from speedbook.run.workers import each

#: Seconds that one cell may take, here and wherever else notebooks are run (nbval, Jupyter Book).
CELL_TIMEOUT = 300
#: The same with the setting `full`, for long unattended runs.
FULL_TIMEOUT = 3600
START_TIMEOUT = 60
#: Kernels that start at the same time may compete for a port. A start is repeated, a run never.
START_ATTEMPTS = 3
#: Kernels are local; their advice about encryption would hide what matters.
KERNEL_ARGUMENTS = ["--log-level=ERROR"]
ERROR_LINES = 8
#: The variables from which libraries of linear algebra read their number of threads.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
#: The folder for the files of figures, and their formats; `speedbook.figures` reads both.
FIGURES_DIR, FIGURES_FORMATS = "SPEEDBOOK_FIGURES_DIR", "SPEEDBOOK_FIGURES_FORMATS"
#: Colours of terminals.
ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


@dataclass(frozen=True)
class Job:
    """A notebook to run. The notebook is only read; the executed copy is written to ``output``.

    Messages use ``name``. ``parameters``, which are already checked, replace the notebook's own.
    The number of the cell that runs, counted from 0, is written to the file ``progress``. With
    ``figures``, the files of figures go into this folder, whatever the environment says.
    """

    name: str
    source: Path
    output: Path
    timeout: int = CELL_TIMEOUT
    parameters: Mapping[str, Any] = field(default_factory=dict)
    progress: Path | None = None
    figures: Path | None = None


@dataclass(frozen=True)
class Finished:
    """The outcome of a run; ``failure`` says in which cell it failed and why, or is empty.

    ``died`` is true if the kernel, or the process that ran it, was killed.
    """

    job: Job
    seconds: float
    failure: str = ""
    died: bool = False


def execute_all(
    jobs: Sequence[Job],
    workers: int,
    environment: dict[str, str],
    tick: Callable[[], None] | None = None,
) -> Generator[Finished, None, None]:
    """Run notebooks, a few at a time, and yield each as it ends.

    The kernels get these variables in addition to the variables of this process. `tick` is called
    regularly while notebooks run. An interrupt stops the workers and their kernels before it
    reaches the caller. Raises an OSError, before anything runs, if kernels cannot be reached.
    """
    require_loopback()
    for job, end in each(execute, jobs, workers, environment, tick):
        yield end or Finished(job, 0.0, "the process that ran it was killed", died=True)


def execute_here(
    jobs: Sequence[Job], _: int, environment: dict[str, str], __: object = None
) -> Iterator[Finished]:
    """Run notebooks one after another from this process, whose variables it changes.

    A worker calls this function in place of `execute_all`.
    """
    put_into(os.environ, environment)
    yield from map(execute, jobs)


def execute(job: Job) -> Finished:
    """Run one notebook; a failure is a result, and the output keeps the unfinished notebook."""
    job.output.parent.mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()
    failure, died = "", False
    for attempt in range(1, START_ATTEMPTS + 1):
        job.output.unlink(missing_ok=True)
        try:
            failure, died, again = _attempt(job)
        except OSError as error:  # there is no place for a temporary file
            failure, again = _describe(error, None, job.timeout, job.output), False
        if not again or attempt == START_ATTEMPTS:
            break
    return Finished(job, round(time.perf_counter() - started, 1), failure, died)


def _attempt(job: Job) -> tuple[str, bool, bool]:
    """Return how a run failed, whether its kernel died, and whether to start it once more."""
    with tempfile.TemporaryFile() as said:
        try:
            _papermill(job, said)
        except Exception as error:
            begun = _last_begun_cell(job.output)
            failure, died = _describe(error, begun, job.timeout, job.output), _died(error)
            if begun is None or died:
                said.seek(0)
                words = said.read().decode(errors="replace").splitlines()[-ERROR_LINES:]
                failure = "\n    ".join([failure, *words])
            return failure, died, begun is None and _may_start_next_time(error)
    return "", False, False


def _kernels_that_write_to(said: IO[bytes], figures: Path | None) -> type:
    """Return a manager of kernels whose own messages go to a file, and their figures to a folder.

    Starts are repeated: a user needs to see why one failed only if the last one does.
    """
    from jupyter_client.manager import AsyncKernelManager

    class Kernels(AsyncKernelManager):
        async def start_kernel(self, **how: Any) -> None:  # type: ignore[override]
            variables = {**how.pop("env", os.environ)}
            if figures is not None:
                variables[FIGURES_DIR] = str(figures)
            await super().start_kernel(**how, env=variables, stderr=said)

    return Kernels


def _papermill(job: Job, said: IO[bytes]) -> None:
    import papermill

    papermill.execute_notebook(
        # papermill takes paths for templates.
        str(job.source).replace("{", "{{").replace("}", "}}"),
        str(job.output).replace("{", "{{").replace("}", "}}"),
        parameters=dict(job.parameters),
        kernel_name=KERNEL,
        progress_bar=False,
        start_timeout=START_TIMEOUT,
        execution_timeout=job.timeout,
        shutdown_kernel="immediate",
        extra_arguments=KERNEL_ARGUMENTS,
        kernel_manager_class=_kernels_that_write_to(said, job.figures),
        on_cell_start=_note_cell(job.progress),
        resources={"metadata": {"path": str(job.source.parent)}},
    )


def _note_cell(progress: Path | None) -> Callable[..., None] | None:
    if progress is None:
        return None

    def note(cell_index: int, **_: Any) -> None:
        # If there is no room for this, there is none for the notebook either, which will say so.
        with suppress(OSError):
            progress.write_text(str(cell_index))

    return note


def _last_begun_cell(output: Path) -> str | None:
    """Return the name of the last cell that was begun, or None if no kernel started."""
    if not output.is_file():
        return None
    try:
        notebook = read_notebook(output)
    except ValueError:
        # The disk is full, or the output was too large for a file.
        return "a cell whose outputs could not be written"
    # papermill inserts its error messages as cells of their own.
    notebook.cells = [cell for cell in notebook.cells if "papermill" in cell.metadata]
    begun = [cell for cell in notebook.cells if cell.metadata.papermill.get("start_time")]
    return cell_name(notebook, begun[-1]) if begun else None


def _last_words(output: Path) -> str:
    """Return the last text on stderr: an unknown magic is reported only there."""
    try:
        cells = code_cells(read_notebook(output))
    except (OSError, ValueError):
        return ""
    outputs = [each for cell in cells for each in cell.get("outputs", [])]
    return "".join(each.text for each in outputs[-1:] if each.get("name") == "stderr")


def _may_start_next_time(error: Exception) -> bool:
    from jupyter_client.kernelspec import NoSuchKernel

    return not isinstance(error, NoSuchKernel | OSError)


def _died(error: Exception) -> bool:
    from nbclient.exceptions import DeadKernelError

    return isinstance(error, DeadKernelError)


def _describe(error: Exception, cell: str | None, timeout: int, output: Path) -> str:
    from nbclient.exceptions import CellTimeoutError, DeadKernelError
    from papermill.exceptions import PapermillExecutionError

    if cell is None and isinstance(error, OSError) and error.errno in FULL:
        return file_fault(error, output)
    if cell is None:
        return f"the kernel {KERNEL} did not start: {error}"
    if isinstance(error, PapermillExecutionError):
        text = "\n".join(error.traceback) or _last_words(output) or f"{error.ename}: {error.evalue}"
        lines = ANSI.sub("", text).strip().splitlines()[-ERROR_LINES:]
        return f"{cell}\n" + "\n".join(f"    {line}" for line in lines)
    if isinstance(error, CellTimeoutError):
        return f"{cell} took longer than {timeout} s"
    if isinstance(error, DeadKernelError):
        return f"{cell}: the kernel died (out of memory?)"
    if isinstance(error, OSError):
        return f"{cell}: {file_fault(error, output)}"
    return f"{cell}: {type(error).__name__}: {error}"


def kernel_environment(root: Path, figures: Path) -> dict[str, str]:
    """Return the variables for kernels: where our packages are, and where vector figures go.

    The packages come from the book's own folder, whose sources the cache checks, even if other
    versions are installed. Our settings replace the user's settings; an empty text means that a
    variable is removed.
    """
    # Kernels that run in parallel, each with many threads for small products, would wait for one
    # another.
    threads = {name: os.environ.get(name, "1") for name in THREADS}
    paths = [str(root), str(Path(__file__).resolve().parents[2])]
    # A worker has them in its own path already.
    paths += os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return {
        **own_settings(root),
        **threads,
        "PYTHONPATH": os.pathsep.join(dict.fromkeys(path for path in paths if path)),
        FIGURES_DIR: str(figures),
        # Silences the debugger's advice on the terminal that starts a kernel.
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }
