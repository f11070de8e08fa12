"""One point of a sweep, in the process that is to run it.

``python -m speedbook.commands.point`` runs one point in a process of its own, for a Dask worker: it
reads the task as JSON in the first line of its input and writes the outcome, and it ends when its
input ends.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from speedbook.commands.rerun import page_of_run
from speedbook.run.execution import execute_here
from speedbook.run.folder import RunDied, RunFailed, at_defaults, run
from speedbook.run.manifest import Setting
from speedbook.run.workers import quieten

#: How many times a point is begun whose kernel or process is killed.
ATTEMPTS = 2


@dataclass(frozen=True)
class Task:
    """A point to run; paths are texts, so the task can be sent to another machine as JSON."""

    number: int
    root: str
    notebook: str
    values: Mapping[str, Any]
    setting: Setting
    timeout: int
    out: str


@dataclass(frozen=True)
class Outcome:
    """The outcome of a point: its run folder, or why it failed."""

    folder: str
    seconds: float
    failure: str = ""


def run_point(task: Task) -> Outcome:
    """Run a point, and write its own run folder; a failure of the notebook is an outcome, too.

    Raises an OSError if a file cannot be written, since the next point would then fail for the same
    reason.
    """
    failure = ""
    for _ in range(ATTEMPTS):
        try:
            # Read each time, so the manifest has the digest of the code that runs.
            request = replace(
                at_defaults(Path(task.root), task.notebook),
                given=task.values,
                setting=task.setting,
                timeout=task.timeout,
            )
            folder, manifest = run(request, Path(task.out), page_of_run, _silent, execute_here)
            return Outcome(str(folder), manifest.seconds)
        except RunDied as error:
            failure = f"{error}\n    (the second attempt; the first one ended in the same way)"
        except (RunFailed, ValueError) as error:
            return Outcome("", 0.0, str(error))
    return Outcome("", 0.0, failure)


def _silent(title: str, total: int) -> Any:
    return nullcontext(lambda place, step: None)


def _main() -> None:
    task = Task(**json.loads(sys.stdin.readline()))
    quieten()

    def die_with_parent() -> None:
        sys.stdin.read()
        os._exit(1)

    threading.Thread(target=die_with_parent, daemon=True).start()
    # Nothing that a library prints may get between.
    answer, sys.stdout = sys.stdout, sys.stderr
    try:
        outcome = asdict(run_point(task))
    except OSError as error:
        outcome = {"error": [error.errno, error.strerror, error.filename]}
    print(json.dumps(outcome), file=answer, flush=True)
    # The thread still waits for the end of the input, and a usual exit would wait for it.
    os._exit(0)


if __name__ == "__main__":
    _main()
