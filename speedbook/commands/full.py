"""``speedbook build --full``: run notebooks with the long setting, and store the results as data.

The results of each notebook are stored as soon as the notebook has run. So a command that was
interrupted continues with the next notebook. A notebook whose stored results are valid is not run
again.
"""

from __future__ import annotations

import heapq
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from speedbook.claims.registry import Registry, load_registry
from speedbook.commands.build import keep_partial, lint
from speedbook.commands.exit_codes import ExitCode, before_the_work
from speedbook.commands.reporter import Reporter
from speedbook.notebook.files import normalise, read_notebook
from speedbook.notebook.parameters import Value
from speedbook.run.cache import Cache, Run, page_key, run_key, shared_key
from speedbook.run.execution import FULL_TIMEOUT, Finished, Job, execute_all, kernel_environment
from speedbook.run.failures import Failures
from speedbook.run.full_results import (
    FULL_RESULTS,
    Basis,
    FullResults,
    FullRun,
    contradict,
    environment_name,
    full_basis,
    full_sources,
    read_full_results,
    store_full_results,
)
from speedbook.run.lock import only_one
from speedbook.run.manifest import Environment, code_digest, read_environment
from speedbook.run.results import read_results
from speedbook.text import counted, duration


@dataclass(frozen=True)
class Task:
    """A notebook, its parameters in the long setting, and the basis of its results."""

    name: str
    notebook: NotebookNode
    given: Mapping[str, Value]
    basis: Basis
    key: str


class _Store:
    """The stored results, which are written after each notebook."""

    def __init__(self, root: Path, tasks: Sequence[Task]) -> None:
        self.root, self.names = root, [task.name for task in tasks]
        self.results = read_full_results(root)
        self.save(self.results)

    def save(self, results: FullResults) -> None:
        """Store results, without those of notebooks that no longer have a long setting."""
        self.results = results.only(self.names)
        if self.results.notebooks:
            store_full_results(self.root, self.results)

    def add(self, task: Task, run: Run) -> None:
        """Store the results of a notebook that has run."""
        environment = Environment.model_validate(run.facts["environment"])
        entry = FullRun(
            basis=task.basis,
            key=task.key,
            code=code_digest(task.notebook),
            environment=environment_name(environment),
            started=run.facts["started"],
            seconds=run.seconds,
            results=read_results(run.notebook)[0],
        )
        self.save(self.results.with_run(task.name, entry, environment))

    def seconds(self, tasks: Iterable[Task]) -> dict[str, float]:
        """Return how long the last runs took, stale ones among them."""
        stored = self.results.notebooks
        return {t.name: stored[t.name].seconds for t in tasks if t.name in stored}


def build_full(root: Path, workers: int, reporter: Reporter) -> ExitCode:
    """Run the notebooks of ``notebooks/full.yml`` whose results are missing or stale."""
    with only_one(root, "speedbook build --full", reporter.say):
        with before_the_work():
            registry = load_registry(root)
            tasks = _tasks(root, registry)
            store = _Store(root, tasks)
        failed = _run_missing(root, tasks, store, workers, reporter)
        return _conclude(tasks, store, failed, reporter)


def _tasks(root: Path, registry: Registry) -> list[Task]:
    shared = shared_key(root)
    return [
        Task(
            name,
            notebook,
            given,
            full_basis(registry, name, notebook, given),
            run_key(notebook, registry.of_notebook(name), page_key(root, name, shared), given),
        )
        for name, (notebook, given) in full_sources(root).items()
    ]


def _run_missing(
    root: Path, tasks: Sequence[Task], store: _Store, workers: int, reporter: Reporter
) -> list[str]:
    """Run what has no valid results, store the results, and return what failed."""
    cache = Cache(root / "_build" / "full" / "cache")
    missing = []
    for task in tasks:
        stored = store.results.notebooks.get(task.name)
        if stored and not stored.basis.changed(task.basis):
            continue
        if (run := cache.get(task.name, task.key)) and run.facts:
            store.add(task, run)
        else:
            missing.append(task)
    reporter.say(
        f"{counted(len(tasks), 'notebook')} with a long setting: {len(tasks) - len(missing)} with "
        f"valid results, {len(missing)} to run."
    )
    if not missing:
        return []
    before = store.seconds(missing)
    # The longest first, so that none is left alone at the end.
    missing.sort(key=lambda task: -before.get(task.name, float("inf")))
    reporter.say(_expected(missing, before, workers))
    return _run(root, missing, cache, store, workers, reporter)


def _expected(missing: Sequence[Task], before: Mapping[str, float], workers: int) -> str:
    known = [before[task.name] for task in missing if task.name in before]
    if not known:
        return "How long this takes is not known: no results are stored. The aim is an hour."
    text = f"Expected: about {duration(makespan(known, workers))}, by the times of earlier runs"
    unknown = len(missing) - len(known)
    return f"{text}; {counted(unknown, 'notebook')} without one." if unknown else f"{text}."


def makespan(seconds: Iterable[float], workers: int) -> float:
    """Return the time that some workers need if each free worker takes the next task.

    Examples
    --------
    >>> makespan([3, 2, 2], workers=2)
    4.0
    """
    ends = [0.0] * max(workers, 1)
    for length in seconds:
        heapq.heapreplace(ends, ends[0] + length)
    return max(ends)


def _run(
    root: Path,
    missing: Sequence[Task],
    cache: Cache,
    store: _Store,
    workers: int,
    reporter: Reporter,
) -> list[str]:
    running, tasks = root / "_build" / "full" / "running", {task.name: task for task in missing}
    jobs = [Job(t.name, root / t.name, running / t.name, FULL_TIMEOUT, t.given) for t in missing]
    environment = read_environment(root).model_dump()
    variables = kernel_environment(root, root / "_build" / "full" / "figures")
    before, left = store.seconds(missing), list(missing)
    failed, known = list[str](), Failures()
    begun = time.monotonic()
    try:
        with (
            reporter.bar("Running the long setting", len(jobs)) as advance,
            closing(execute_all(jobs, workers, variables)) as ends,
        ):
            for end in ends:
                name = end.job.name
                left.remove(tasks[name])
                failure = end.failure or lint(root, end.job) or _lacking(tasks[name], end)
                if failure:
                    failed.append(name)
                    reporter.fail(keep_partial(root / "_build" / "full", end.job, failure))
                    if known.enough(failure):
                        reporter.fail("speedbook: stopped: the same failure again and again")
                        failed += [task.name for task in left]
                        break
                else:
                    run = _finished(end, environment)
                    cache.put(name, tasks[name].key, run)
                    store.add(tasks[name], run)
                advance(f"{name}: {end.seconds:.1f} s{_to_go(left, before, workers)}")
    finally:
        shutil.rmtree(running, ignore_errors=True)
    reporter.say(f"This took {duration(time.monotonic() - begun)}.")
    return failed


def _lacking(task: Task, end: Finished) -> str:
    """Say which claims of the notebook the run did not record."""
    found = read_results(read_notebook(end.job.output))[0].records
    missing = [claim for claim in task.basis.rules if claim not in found]
    return f"holds no record of {', '.join(missing)}" if missing else ""


def _finished(end: Finished, environment: Mapping[str, Any]) -> Run:
    started = datetime.fromtimestamp(time.time() - end.seconds, UTC)
    facts = {"started": f"{started:%Y-%m-%d %H:%M:%S} UTC", "environment": environment}
    return Run(normalise(read_notebook(end.job.output)), end.seconds, facts)


def _to_go(left: Sequence[Task], before: Mapping[str, float], workers: int) -> str:
    known = [before[task.name] for task in left if task.name in before]
    return f"; about {duration(makespan(known, workers))} to go" if known else ""


def _conclude(
    tasks: Sequence[Task], store: _Store, failed: Sequence[str], reporter: Reporter
) -> ExitCode:
    """Report the verdicts that differ from those at the defaults, and return the exit code."""
    records, against = store.results.records(), 0
    for task in tasks:
        for claim, own in task.basis.own.items():
            found = records.get(claim)
            if found is None or found["verdict"] == own.verdict:
                continue
            text = f"Claim {claim}: {found['verdict']} with the long setting, {own.verdict} at the "
            if contradict(own.verdict, found["verdict"]):
                against += 1
                reporter.fail(f"{text}defaults. They contradict each other.")
            else:
                reporter.say(f"{text}defaults.")
    total = sum(run.seconds for run in store.results.notebooks.values())
    reporter.say(
        f"{FULL_RESULTS} holds the results of {counted(len(store.results.notebooks), 'notebook')}, "
        f"which took {duration(total)} in all."
    )
    if failed:
        reporter.fail(f"speedbook: without new results: {', '.join(failed)}")
        return ExitCode.FAILED
    return ExitCode.DIFFERS if against else ExitCode.WELL
