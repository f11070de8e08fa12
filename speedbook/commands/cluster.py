"""The points of a sweep on a Dask cluster whose workers share this computer's folders.

A worker of Dask may be a thread, or a process that must not start processes by multiprocessing. So
each point runs in a program of its own, `speedbook.commands.point`.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Generator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from uuid import uuid4

from speedbook.commands.point import ATTEMPTS, Outcome, Task
from speedbook.run.folder import at_defaults
from speedbook.run.kernels import put_into
from speedbook.run.sweep import Code, read_code

#: Seconds to wait for the scheduler.
PATIENCE = 10


class Unfit(Exception):
    """There is no cluster, or it cannot run these points; the text has a line for each fault."""


def each_on_cluster(
    address: str,
    tasks: Sequence[Task],
    code: Code,
    environment: dict[str, str],
    say: Callable[[str], None],
) -> Generator[tuple[Task, Outcome | None], None, None]:
    """Run points on a cluster; yield each with its outcome, None if it killed its workers.

    If a worker is lost, Dask itself gives the worker's point to another worker, a few times.

    Raises
    ------
    Unfit
        If no scheduler is at the address, the scheduler has no workers, or a worker sees another
        folder or other code than this process.
    """
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError:
        raise Unfit("--scheduler: needs Dask: pip install distributed") from None
    try:
        client = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise Unfit(
            f"--scheduler: there is no Dask scheduler at {address}: {error or 'no answer'}; start "
            "one with `dask scheduler`, and workers with `dask worker ADDRESS`"
        ) from None
    with client, client.as_current():
        say(f"{_check_workers(client, tasks[0], code)} at {address}.")
        futures = {
            client.submit(run_in_program, task, environment, pure=False, key=f"{uuid4()}"): task
            for task in tasks
        }
        try:
            for future in distributed.as_completed(list(futures)):
                try:
                    yield futures[future], future.result()
                except distributed.KilledWorker:
                    yield futures[future], None
        finally:
            client.cancel(list(futures))


def _check_workers(client: Any, task: Task, code: Code) -> str:
    """Return how many workers there are, all of which have this code and this folder."""
    token = f".{uuid4()}"
    path = Path(task.out) / token
    path.touch()
    try:
        answers = client.run(
            facts_of_worker, task.root, task.notebook, str(path), on_error="return"
        )
    finally:
        path.unlink()
    if not answers:
        raise Unfit("--scheduler: the cluster has no workers: start one, `dask worker ADDRESS`")
    faults = []
    for worker, answer in answers.items():
        if isinstance(answer, BaseException):
            faults.append(f"{worker}: {type(answer).__name__}: {answer}")
        elif not answer[0]:
            faults.append(f"{worker}: does not see the folder {task.out}; it must be shared")
        elif found := code.differences(Code(**answer[1])):
            faults.append(f"{worker}: differs in {', '.join(found)}")
    if faults:
        raise Unfit("\n".join(f"--scheduler: the worker {fault}" for fault in faults))
    threads = sum(client.nthreads().values())
    return f"{len(answers)} worker{'s' * (len(answers) != 1)} with room for {threads} at a time"


def facts_of_worker(root: str, notebook: str, token: str) -> tuple[bool, dict[str, Any]]:
    """Return whether a worker sees a file, and the digest of the code that the worker would run."""
    return Path(token).exists(), read_code(at_defaults(Path(root), notebook)).model_dump()


def run_in_program(task: Task, environment: dict[str, str]) -> Outcome:
    """Run a point in a program of its own, again if the program is killed."""
    variables = dict(os.environ)
    put_into(variables, environment)
    for _ in range(ATTEMPTS):
        program = subprocess.Popen(
            [sys.executable, "-m", "speedbook.commands.point"],
            env=variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert program.stdin and program.stdout
        with program:
            try:
                program.stdin.write(json.dumps(asdict(task)) + "\n")
                program.stdin.flush()
                answer = program.stdout.read()
            except BrokenPipeError:
                answer = ""
        if answer:
            found = json.loads(answer)
            if "error" in found:
                raise OSError(*found["error"][:2], found["error"][2])
            return Outcome(**found)
    return Outcome("", 0.0, f"the program that ran it was killed {ATTEMPTS} times")
