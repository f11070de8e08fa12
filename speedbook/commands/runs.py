"""``speedbook runs``: list the runs, and delete some of them after a question."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich import box
from rich.filesize import decimal
from rich.table import Table
from rich.text import Text

from speedbook.claims.ledger import read_ledger
from speedbook.claims.rules import Verdict
from speedbook.commands.exit_codes import ExitCode, before_the_work
from speedbook.commands.reporter import Reporter
from speedbook.notebook.find import find_notebook
from speedbook.paths import find_root
from speedbook.run.folder import RUNS
from speedbook.run.listing import RunFolder, delete, may_be_deleted, run_folders
from speedbook.text import counted, duration

#: What the column of changed parameters shows instead of longer words.
SHORT = {"at the defaults": "–", "parameters unknown": "unknown"}


@dataclass(frozen=True)
class Filter:
    """The options of the command line that say which runs are meant."""

    runs: Path | None = None
    notebook: str | None = None
    failed: bool = False


def list_runs(asked: Filter, reporter: Reporter) -> ExitCode:
    """Print a row for each run, and a line for each sweep."""
    with before_the_work():
        root = find_root(Path.cwd())
        folder, found = _chosen(root, asked)
        rows = read_ledger(root)["claims"]
    single = [run for run in found if run.sweep is None]
    if not found:
        reporter.say(f"There are no such runs in {_short(folder)}.")
    if single:
        heads = "Run", "Changed", "Verdicts", "Began (UTC)", "Took", "State", "Size"
        table = Table(*heads, box=box.SIMPLE, pad_edge=False)
        for run in single:
            table.add_row(*map(Text, _cells(run, rows)))
        reporter.table("", table)
        reporter.say(f"{counted(len(single), 'run')}, {_size(single)}.")
    for sweep in dict.fromkeys(run.sweep for run in found if run.sweep):
        own = [run for run in found if run.sweep == sweep]
        states = Counter(run.state for run in own)
        words = ", ".join(f"{number} {state}" for state, number in states.items())
        reporter.say(f"Sweep {_short(sweep)}: {words}; {_size(own)}.")
    return ExitCode.WELL


def clean_runs(asked: Filter, ask: Callable[[str], bool], reporter: Reporter) -> ExitCode:
    """Say what would be deleted, and delete it after a question."""
    with before_the_work():
        root = find_root(Path.cwd())
        folder, found = _chosen(root, asked)
    found = [run for run in found if run.sweep is None]
    chosen = [run for run in found if may_be_deleted(run, folder)]
    left = [run for run in found if run not in chosen]
    if left:
        reporter.say("These are kept, since they may still be at work, or hold files of yours:")
        reporter.say("\n".join(f"  {_short(run.path)} ({run.state})" for run in left))
        reporter.say("Delete by hand those that you no longer need.")
    if not chosen:
        reporter.say(f"There is nothing to delete in {_short(folder)}.")
        return ExitCode.WELL
    reporter.say("To be deleted:")
    for run in chosen:
        reporter.say(f"  {_short(run.path)}  {decimal(run.size)}  {run.state}, {run.in_words}")
    if not ask(f"Delete {counted(len(chosen), 'run')}, {_size(chosen)}?"):
        reporter.say("Nothing was deleted.")
        return ExitCode.WELL
    with before_the_work():
        delete(chosen, folder)
    reporter.say(f"Deleted: {counted(len(chosen), 'run')}, {_size(chosen)}.")
    return ExitCode.WELL


def _chosen(root: Path, asked: Filter) -> tuple[Path, list[RunFolder]]:
    """Return the folder of runs, and the runs that are meant."""
    folder = asked.runs or root / RUNS
    if asked.runs and not folder.is_dir():
        raise ValueError(f"--runs: {folder}: there is no such folder")
    found = run_folders(folder)
    if asked.notebook:
        stem = Path(find_notebook(root, asked.notebook)).stem
        found = [run for run in found if run.notebook == stem]
    return folder, [run for run in found if not asked.failed or run.state != "finished"]


def _cells(run: RunFolder, rows: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    manifest = run.manifest
    return (
        _short(run.path),
        SHORT.get(run.in_words, run.in_words),
        verdicts_text(manifest.results.records, rows) if manifest else "–",
        f"{run.begun:%Y-%m-%d %H:%M}",
        duration(manifest.seconds) if manifest else "–",
        run.state,
        decimal(run.size),
    )


def verdicts_text(
    records: Mapping[str, Mapping[str, Any]], rows: Mapping[str, Mapping[str, Any]]
) -> str:
    """Count the verdicts, and name each verdict that differs from the verdict in the ledger.

    Examples
    --------
    >>> found = {"a": {"verdict": "supported"}, "b": {"verdict": "contradicted"}}
    >>> verdicts_text(found, {"b": {"verdict": "supported"}})
    '1 ✓ supported, b ✗ contradicted (book: ✓ supported)'
    """
    moved = {
        name: str(rows[name]["verdict"])
        for name, record in records.items()
        if name in rows and rows[name]["verdict"] != record["verdict"]
    }
    same = Counter(record["verdict"] for name, record in records.items() if name not in moved)
    parts = [f"{number} {_signed(verdict)}" for verdict, number in same.items()]
    parts += [
        f"{name} {_signed(records[name]['verdict'])} (book: {_signed(verdict)})"
        for name, verdict in moved.items()
    ]
    return ", ".join(parts) or "–"


def _signed(verdict: str) -> str:
    return f"{Verdict(verdict).symbol} {verdict}"


def _size(runs: Sequence[RunFolder]) -> str:
    return decimal(sum(run.size for run in runs))


def _short(path: Path) -> str:
    """Return a path as one would type it here."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative
