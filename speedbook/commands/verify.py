"""``speedbook verify``: compute the verdicts again and compare them with the committed ledger."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from nbformat import NotebookNode
from rich import box
from rich.table import Table
from rich.text import Text

from speedbook.claims.agreement import Agreement, own_trial, store_agreements
from speedbook.claims.cards import rounded_record
from speedbook.claims.claim import Claim
from speedbook.claims.ledger import read_ledger
from speedbook.claims.registry import Registry, load_registry
from speedbook.claims.rules import Verdict
from speedbook.commands.exit_codes import ExitCode, before_the_work
from speedbook.commands.reporter import Reporter
from speedbook.notebook.contract import seed_problems, source_problems
from speedbook.notebook.files import read_notebook
from speedbook.notebook.parameters import Value, notebook_parameters
from speedbook.notebook.values import full_values, read_values
from speedbook.paths import find_root
from speedbook.run.execution import (
    CELL_TIMEOUT,
    FULL_TIMEOUT,
    Finished,
    Job,
    execute_all,
    kernel_environment,
)
from speedbook.run.full_results import read_full_results
from speedbook.run.lock import only_one
from speedbook.run.results import read_results
from speedbook.text import rounded

SEED = "seed"


@dataclass(frozen=True)
class Verification:
    """The options: no names mean all claims, and `seeds = 1` means the notebook's own seed."""

    claims: Sequence[str] = ()
    full: bool = False
    seeds: int = 1
    store: bool = False
    jobs: int = 2


@dataclass
class Task:
    """A notebook, the settings of its runs, and the claims that it must record."""

    name: str
    notebook: NotebookNode
    settings: list[dict[str, Value]]
    claims: list[Claim] = field(default_factory=list)


Records = dict[str, list[dict[str, Any]]]


def verify(options: Verification, reporter: Reporter) -> ExitCode:
    """Check everything, run the notebooks, print the table, and return the exit code."""
    with before_the_work():
        root = find_root(Path.cwd())
    with (
        only_one(root, "speedbook verify --store", reporter.say) if options.store else nullcontext()
    ):
        return _verify(root, options, reporter)


def _verify(root: Path, options: Verification, reporter: Reporter) -> ExitCode:
    with before_the_work():
        registry = load_registry(root)
        committed = read_ledger(root)["claims"]
        claims, tasks = _plan(root, registry, committed, options)
        expected = _expected(root, committed, options)
    records: Records = {claim.id: [] for claim in claims}

    def through(task: Task) -> None:
        """Store the results of a page's seeds, even if other pages fail later."""
        if options.store:
            rows = {c.id: _agreement(c, committed, records[c.id], options) for c in task.claims}
            store_agreements(root, rows, registry)

    failures = _run(root, tasks, options, records, through, reporter)
    reporter.table("", _table(claims, expected, records))
    moved = [
        sentence
        for claim in claims
        for sentence in _moved(claim, expected.get(claim.id), records[claim.id])
    ]
    for sentence in moved:
        reporter.differs(sentence)
    return ExitCode.FAILED if failures else ExitCode.DIFFERS if moved else ExitCode.WELL


def _expected(
    root: Path, committed: Mapping[str, dict[str, Any]], options: Verification
) -> dict[str, dict[str, Any]]:
    """Return the rows to compare with: with the long setting, its stored results if there are."""
    stored = read_full_results(root).records() if options.full else {}
    return {claim: {**row, **stored.get(claim, {})} for claim, row in committed.items()}


def fresh_seeds(seed: int, count: int) -> list[int]:
    """Return independent seeds, derived from one; the first seeds are the same for every length.

    Examples
    --------
    >>> fresh_seeds(7, 3)[:2] == fresh_seeds(7, 2)
    True
    """
    return [int(word) for word in np.random.SeedSequence(seed).generate_state(count)]


def _plan(
    root: Path, registry: Registry, committed: Mapping[str, Any], options: Verification
) -> tuple[list[Claim], list[Task]]:
    """Return the claims to verify and the tasks to run for them, after all checks."""
    if options.store and options.seeds < 2:
        raise ValueError("--store: stores the agreement of fresh seeds; add --seeds 2 or more")
    claims, faults = [], []
    for name in dict.fromkeys(options.claims) or [claim.id for claim in registry.claims]:
        try:
            claims.append(registry[name])
        except ValueError as error:
            faults.append(str(error))
    if options.store:
        faults += [
            f"claim {claim.id}: the committed ledger has another rule for it, or no rule; "
            "run `make refresh`"
            for claim in claims
            if claim.rule and committed.get(claim.id, {}).get("rule") != str(claim.rule)
        ]
    if faults:
        raise ValueError("\n".join(faults))
    tasks: dict[str, Task] = {}
    for claim in claims:
        if claim.rule is not None:
            if claim.notebook not in tasks:
                tasks[claim.notebook] = _task(root, claim.notebook, options)
            tasks[claim.notebook].claims.append(claim)
    return claims, list(tasks.values())


def _task(root: Path, name: str, options: Verification) -> Task:
    notebook = read_notebook(root / name)
    if problems := source_problems(notebook) or seed_problems(notebook):
        raise ValueError("\n".join(f"{name}: {problem}" for problem in problems))
    parameters = notebook_parameters(notebook)
    paper = full_values(root, name).items() if options.full else ()
    given = read_values(parameters, paper)
    if options.seeds == 1:
        return Task(name, notebook, [given])
    own = next(p for p in parameters if p.name == SEED)
    start = given.get(SEED, own.default)
    assert isinstance(start, int)
    seeds = fresh_seeds(start, options.seeds)
    return Task(name, notebook, [{**given, SEED: own.check(seed)} for seed in seeds])


def _run(
    root: Path,
    tasks: Sequence[Task],
    options: Verification,
    records: Records,
    through: Callable[[Task], None],
    reporter: Reporter,
) -> int:
    """Run all tasks, collect the records, and return how many runs failed.

    If all runs of a page succeeded, its records are put in the order of its settings, since runs
    end in any order, and `through` is called.
    """
    failures = 0
    with tempfile.TemporaryDirectory(prefix="speedbook-verify-") as folder:
        jobs = list(_jobs(root, tasks, Path(folder), options))
        if not jobs:
            return 0
        environment = kernel_environment(root, Path(folder) / "figures")
        with reporter.bar("Verifying", len(jobs)) as advance:
            for end in execute_all(jobs, options.jobs, environment):
                # Each job has a name of its own, which begins with the place of the task.
                task = tasks[int(end.job.output.parent.name)]
                if failure := _collect(task, end, records):
                    failures += 1
                    reporter.fail(f"speedbook: {end.job.name}: {failure}")
                advance(f"{end.job.name}: {end.seconds:.1f} s")
                end.job.output.unlink(missing_ok=True)
                if all(len(records[claim.id]) == len(task.settings) for claim in task.claims):
                    _order(task, options, records)
                    through(task)
    return failures


def _order(task: Task, options: Verification, records: Records) -> None:
    if options.seeds > 1:
        order = [given[SEED] for given in task.settings]
        for claim in task.claims:
            records[claim.id].sort(key=lambda record: order.index(record[SEED]))


def _jobs(root: Path, tasks: Sequence[Task], folder: Path, options: Verification) -> Iterator[Job]:
    timeout = FULL_TIMEOUT if options.full else CELL_TIMEOUT
    for place, task in enumerate(tasks):
        for number, given in enumerate(task.settings):
            label = f" with seed {given[SEED]}" if options.seeds > 1 else ""
            output = folder / str(place) / f"{number}.ipynb"
            yield Job(task.name + label, root / task.name, output, timeout, given)


def _collect(task: Task, end: Finished, records: Records) -> str:
    """Add the records of a run to the others; return a text if that is not possible."""
    if end.failure:
        return end.failure
    try:
        found = read_results(read_notebook(end.job.output))[0].records
    except ValueError as error:
        return str(error)
    if missing := [claim.id for claim in task.claims if claim.id not in found]:
        return f"holds no record of {', '.join(missing)}"
    seed = end.job.parameters.get(SEED)
    for claim in task.claims:
        records[claim.id].append({**found[claim.id], SEED: found[claim.id][SEED] or seed})
    return ""


def _agreement(
    claim: Claim,
    committed: Mapping[str, Any],
    found: Sequence[Mapping[str, Any]],
    options: Verification,
) -> Agreement:
    row = committed[claim.id]
    return Agreement(
        setting="full" if options.full else "defaults",
        rule=row["rule"],
        own=own_trial(row),
        trials=tuple(map(own_trial, found)),
    )


def _table(
    claims: Sequence[Claim], committed: Mapping[str, dict[str, Any]], records: Records
) -> Table:
    table = Table("Claim", "Committed", "Recomputed", "Agree", box=box.SIMPLE, pad_edge=False)
    for claim in claims:
        row, found = committed.get(claim.id), records[claim.id]
        agree = sum(record["verdict"] == row["verdict"] for record in found) if row else 0
        count = f"{agree} of {len(found)}" if found else "–"
        cells = claim.id, _said(row) if row else "no row", _recomputed(claim, found), count
        table.add_row(*map(Text, cells))
    return table


def _said(record: Mapping[str, Any]) -> str:
    """Return verdict, estimate and interval."""
    numbers = " ".join(filter(None, rounded_record(dict(record)))) if "estimate" in record else ""
    return f"{_signed(record['verdict'])}\n{numbers}".strip()


def _signed(verdict: str) -> str:
    return f"{Verdict(verdict).symbol} {verdict}"


def _recomputed(claim: Claim, found: Sequence[Mapping[str, Any]]) -> str:
    if claim.rule is None:
        return _signed(Verdict.NOT_TESTABLE)
    if len(found) < 2:
        return _said(found[0]) if found else "failed"
    counts = Counter(record["verdict"] for record in found).most_common()
    estimates = [record["estimate"] for record in found]
    low, high = min(estimates), max(estimates)
    verdicts = ", ".join(f"{_signed(v)}" + (f" ({n})" if counts[1:] else "") for v, n in counts)
    ends = dict.fromkeys(rounded(end, high - low) for end in (low, high))
    return f"{verdicts}\n{' to '.join(ends)}"


def _moved(
    claim: Claim, row: Mapping[str, Any] | None, found: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Say for each verdict that differs from the committed one by how much it does."""
    if row is None:
        return [f"Claim {claim.id}: the committed ledger has no row for it; run `make refresh`."]
    if claim.rule is None:
        verdict = str(Verdict.NOT_TESTABLE)
        if row["verdict"] == verdict:
            return []
        return [f"Claim {claim.id}: {verdict}, committed as {row['verdict']}."]
    return [
        f"Claim {claim.id}{_with_seed(record)}: {_inline(record)}; "
        f"committed: {_inline(row)}. {_by_how_much(claim, record)}"
        for record in found
        if record["verdict"] != row["verdict"]
    ]


def _with_seed(record: Mapping[str, Any]) -> str:
    return "" if record[SEED] is None else f", seed {record[SEED]}"


def _inline(record: Mapping[str, Any]) -> str:
    return _said(record).replace("\n", ", ")


def _by_how_much(claim: Claim, record: Mapping[str, Any]) -> str:
    assert claim.rule is not None
    excess = claim.rule.excess(*record["interval"])
    if excess > 0:
        return f"The interval violates the rule, {claim.rule}, by {excess:.2g}."
    return f"The interval satisfies the rule, {claim.rule}, with {-excess:.2g} to spare."
