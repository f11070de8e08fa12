"""``speedbook sweep``: a notebook at many points, on several processes or a cluster."""

from __future__ import annotations

import json
import math
from collections.abc import Generator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from speedbook.claims.ledger import read_ledger
from speedbook.commands.cluster import Unfit, each_on_cluster
from speedbook.commands.exit_codes import CommandError, ExitCode, before_the_work
from speedbook.commands.point import ATTEMPTS, Outcome, Task, run_point
from speedbook.commands.reporter import Reporter
from speedbook.notebook.choices import grid, read_choices, read_points
from speedbook.notebook.find import find_notebook, notebook_names, shelf
from speedbook.notebook.parameters import Value
from speedbook.notebook.values import full_values, read_assignments, read_file, read_values
from speedbook.paths import find_root, write_atomically
from speedbook.run.execution import CELL_TIMEOUT, FULL_TIMEOUT, kernel_environment
from speedbook.run.folder import RUNS, at_defaults
from speedbook.run.joined import joined_table
from speedbook.run.listing import FIGURES, RunFolder, delete, may_be_deleted, run_folders
from speedbook.run.lock import only_one
from speedbook.run.loopback import require_loopback
from speedbook.run.manifest import read_manifest
from speedbook.run.sweep import (
    SWEEPS,
    Finished,
    Point,
    Sweep,
    SweepResults,
    new_plan,
    read_code,
    read_plan,
    usual_folder,
)
from speedbook.run.workers import each
from speedbook.text import counted, duration

LOCK = ".lock"
#: Processes, if neither a number nor a cluster is given.
PROCESSES = 2
#: The most points that a dry run lists, and the number of earlier runs that give the time.
LISTED, RECENT = 50, 9


@dataclass(frozen=True)
class Options:
    """The arguments and options of the command line."""

    notebook: str | None
    assignments: Sequence[str] = ()
    points: Path | None = None
    params: Path | None = None
    full: bool = False
    jobs: int | None = None
    scheduler: str | None = None
    out: Path | None = None
    resume: Path | None = None
    recompute: bool = False
    timeout: int | None = None
    dry_run: bool = False


def sweep(options: Options, reporter: Reporter) -> ExitCode:
    """Check everything, run the points that are not finished, and write table and page."""
    with before_the_work():
        root = find_root(Path.cwd())
        read_ledger(root)  # the pages of the runs need it
        if options.jobs and options.scheduler:
            raise ValueError("--jobs and --scheduler: give one of them")
        require_loopback()
        made = _resumed(root, options) if options.resume else _planned(root, options)
        made = _by_the_same_code(made, options)
    if options.dry_run:
        _list(made, options, reporter)
        return ExitCode.WELL
    with only_one(made.folder, "speedbook sweep", reporter.say, LOCK):
        made.write()
        if not options.scheduler:
            made.sweep_up()
        return _run(made, options, reporter)


def _planned(root: Path, options: Options) -> Sweep:
    """Return the sweep of the command line; every value is checked, and all faults are named."""
    if options.notebook is None:
        raise ValueError(
            "give a NOTEBOOK, or continue a sweep with --resume DIR; " + shelf(notebook_names(root))
        )
    base = at_defaults(root, find_notebook(root, options.notebook))
    shared = list(full_values(root, base.name).items()) if options.full else []
    shared += read_file(options.params).items() if options.params else []
    faults: list[str] = []
    fixed: dict[str, Value] = {}
    choices: dict[str, list[Value]] = {}
    rows: list[dict[str, Value]] = [{}]
    # One after the other, so that the faults of all three are named at once.
    try:
        fixed = read_values(base.parameters, shared)
    except ValueError as error:
        faults.append(str(error))
    try:
        choices = read_choices(base.parameters, read_assignments(options.assignments))
    except ValueError as error:
        faults.append(str(error))
    try:
        rows = read_points(base.parameters, options.points) if options.points else rows
    except ValueError as error:
        faults.append(str(error))
    if faults:
        raise ValueError("\n".join(faults))
    if not choices and not options.points:
        raise ValueError("give values with -p NAME=VALUES, or points with --points FILE")
    request = replace(
        base,
        setting="full" if options.full else "defaults",
        timeout=options.timeout or (FULL_TIMEOUT if options.full else CELL_TIMEOUT),
    )
    plan = new_plan(request, [{**fixed, **values} for values in grid(choices, rows)])
    return Sweep(options.out or usual_folder(root / RUNS, plan), plan, request)


def _resumed(root: Path, options: Options) -> Sweep:
    """Return the sweep of a folder."""
    assert options.resume is not None
    given = (options.assignments, options.points, options.params, options.full, options.out)
    if options.notebook or any(given):
        raise ValueError(
            "--resume continues a sweep unchanged: it cannot be combined with NOTEBOOK, -p, "
            "--points, --params, --full or --out"
        )
    plan = read_plan(options.resume)
    if plan is None:
        raise ValueError(f"--resume: {options.resume} is not the folder of a sweep")
    base = at_defaults(root, find_notebook(root, plan.notebook))
    timeout = options.timeout or plan.cell_timeout
    request = replace(base, setting=plan.setting, timeout=timeout)
    known = {parameter.name: parameter for parameter in base.parameters}
    if gone := sorted({name for values in plan.points for name in values if name not in known}):
        raise ValueError(
            f"--resume: the notebook no longer has these parameters: {', '.join(gone)}"
        )
    points = [{n: known[n].check(value) for n, value in values.items()} for values in plan.points]
    now = new_plan(request, points)
    return Sweep(options.resume, now, request)


def _by_the_same_code(made: Sweep, options: Options) -> Sweep:
    """Refuse to mix points of two versions of the code in one folder, unless all are recomputed."""
    earlier = read_plan(made.folder)
    if earlier is None:
        return made
    if earlier.notebook != made.plan.notebook:
        raise ValueError(
            f"{made.folder}: holds a sweep of {earlier.notebook}; choose another folder with --out"
        )
    if options.recompute:
        return replace(made, plan=made.plan.model_copy(update={"since": _now()}))
    if changed := earlier.code.differences(made.plan.code):
        raise ValueError(
            f"{made.folder}: its points were computed before a change of {', '.join(changed)}, and "
            "two versions must not be mixed in one table: begin a new sweep with --out DIR, or "
            "compute all points again with --recompute"
        )
    return replace(made, plan=made.plan.model_copy(update={"since": earlier.since}))


def _now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _list(made: Sweep, options: Options, reporter: Reporter) -> None:
    """Say which points there are and how long they will take."""
    finished = made.finished()
    for point in made.points[:LISTED]:
        mark = "  (finished)" if point.number in finished else ""
        reporter.say(f"  {point.number}  {made.label(point)}{mark}")
    if (more := len(made.points) - LISTED) > 0:
        reporter.say(f"  … and {counted(more, 'point')} more")
    reporter.say(_summary(made, options, finished))
    reporter.say(f"The folder: {made.folder}")


def _summary(made: Sweep, options: Options, finished: Finished) -> str:
    """Say how many points there are to run, and how long that will take."""
    left = len(made.points) - len(finished)
    kept = f", of which {len(finished):,} are finished" if finished else ""
    text = f"{counted(len(made.points), 'point')} of {made.plan.notebook}{kept}"
    if not left:
        return f"{text}."
    seconds = expected_seconds(made, finished)
    if seconds is None:
        return f"{text}; how long a point takes is unknown, since the notebook has not run here."
    if options.scheduler:
        return f"{text}; about {_length(left * seconds)} of computing, shared by the cluster."
    jobs = min(options.jobs or PROCESSES, left)
    rounds = math.ceil(left / jobs)
    processes = "1 process" if jobs == 1 else f"{jobs} processes"
    known = "finished points" if finished else "earlier runs"
    others = "" if finished else ", perhaps with other parameters"
    return (
        f"{text}; about {_length(rounds * seconds)} on {processes}, judging by {known} of "
        f"{duration(seconds)}{others}."
    )


def _length(seconds: float) -> str:
    return duration(seconds) if seconds < 7200 else f"{seconds / 3600:.1f} hours"


def expected_seconds(made: Sweep, finished: Finished) -> float | None:
    """Return how long a point may take, by this sweep's points, else by reruns, else by a build."""
    if finished:
        return median(manifest.seconds for _, manifest in finished.values())
    root, stem = made.base.root, made.base.stem
    seconds = []
    runs = [*(root / RUNS).glob(f"{stem}/[0-9]*"), *(root / RUNS).glob(f"{SWEEPS}/*/{stem}/[0-9]*")]
    for folder in sorted(runs, key=lambda folder: folder.name)[-RECENT:]:
        with suppress(ValueError):
            manifest = read_manifest(folder)
            seconds += [] if manifest.failure else [manifest.seconds]
    if seconds:
        return median(seconds)
    for path in sorted(
        (root / "_build" / "cache" / made.base.name).glob("*.json"),
        key=lambda path: path.stat().st_mtime,
        reverse=True,
    ):
        with suppress(OSError, ValueError, KeyError, TypeError):
            return float(json.loads(path.read_text(encoding="utf-8"))["seconds"])
    return None


def _run(made: Sweep, options: Options, reporter: Reporter) -> ExitCode:
    """Run the points that are not finished; write table and page, whatever failed."""
    finished = made.finished()
    reporter.say(_summary(made, options, finished))
    points = {point.number: point for point in made.points if point.number not in finished}
    failures: dict[int, str] = {}
    if points:
        tasks = [_task(made, point) for point in points.values()]
        with (
            reporter.bar(f"Sweeping {made.plan.notebook}", len(tasks), time_left=True) as advance,
            closing(_outcomes(made, tasks, options, reporter)) as outcomes,
        ):
            for task, outcome in outcomes:
                label = made.label(points[task.number])
                if outcome is None:
                    outcome = Outcome(
                        "", 0.0, f"the process that ran it was killed {ATTEMPTS} times"
                    )
                if outcome.failure:
                    failures[task.number] = outcome.failure
                    advance(f"{label}: failed")
                else:
                    advance(f"{label}: {duration(outcome.seconds)}")
    finished = made.finished()
    for number in points.keys() - finished.keys() - failures.keys():
        failures[number] = "the code, the data or a file changed while the sweep ran"
    for number, failure in sorted(failures.items()):
        reporter.fail(f"{made.label(points[number])}: {failure}")
    return _report(SweepResults(made, finished, failures), reporter)


def _task(made: Sweep, point: Point) -> Task:
    base = point.request
    root, out = str(base.root.resolve()), str(made.folder.resolve())
    values = dict(base.given)
    return Task(point.number, root, base.name, values, base.setting, base.timeout, out)


def _outcomes(
    made: Sweep, tasks: Sequence[Task], options: Options, reporter: Reporter
) -> Generator[tuple[Task, Outcome | None], None, None]:
    environment = kernel_environment(made.base.root, made.folder / FIGURES)
    if not options.scheduler:
        jobs = options.jobs or PROCESSES
        yield from each(run_point, tasks, jobs, environment, attempts=ATTEMPTS)
        return
    try:
        yield from each_on_cluster(
            options.scheduler, tasks, made.plan.code, environment, reporter.say
        )
    except Unfit as error:
        raise CommandError(ExitCode.USAGE, str(error)) from None


def _report(results: SweepResults, reporter: Reporter) -> ExitCode:
    # The import takes two seconds, in which wrong values can be refused.
    from speedbook.press.sweep_page import TABLE, write_sweep_page

    made, failures = results.sweep, results.failures
    if changed := read_code(at_defaults(made.base.root, made.base.name)).differences(
        made.plan.code
    ):
        reporter.fail(f"While the sweep ran, {', '.join(changed)} changed.")
    with reporter.busy("Writing the table and the page …"):
        write_atomically(made.folder / TABLE, joined_table(results))
        page = write_sweep_page(results)
    if len(results.finished) == len(made.points):
        delete(_superseded(made), made.folder)
    if failures:
        reporter.fail(
            f"{counted(len(failures), 'point')} of {len(made.points):,} failed; the same command "
            "tries them again and keeps the finished ones."
        )
    reporter.say(f"The table: {made.folder / TABLE}\nThe page: {page.resolve().as_uri()}")
    return ExitCode.FAILED if failures else ExitCode.WELL


def _superseded(made: Sweep) -> list[RunFolder]:
    """Return what a stopped command left of points of the sweep, which have been run since."""
    points = [dict(point.request.given) for point in made.points]
    return [
        run
        for run in run_folders(made.folder / made.base.stem)
        if run.state == "interrupted" and run.changed in points and may_be_deleted(run, made.folder)
    ]
