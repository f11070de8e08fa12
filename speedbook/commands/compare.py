"""``speedbook compare``: two runs, two sweeps, or a run and the book, side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from speedbook.claims.cards import level_text
from speedbook.claims.registry import load_registry
from speedbook.claims.rules import Verdict
from speedbook.commands.exit_codes import ExitCode, before_the_work
from speedbook.commands.reporter import Reporter
from speedbook.paths import find_root, write_atomically
from speedbook.run.comparison import Comparison, Pair, RecordPair, compare, parameter_changes
from speedbook.run.folder import RUNS
from speedbook.run.provenance import digest
from speedbook.run.sides import read_sides
from speedbook.text import counted

#: Where comparisons are, below the folder of runs.
COMPARISONS = "comparisons"
#: How many lines of one kind are printed; the page has all.
PRINTED = 12


@dataclass(frozen=True)
class Asked:
    """The command line."""

    a: str
    b: str
    out: Path | None = None


def compare_runs(asked: Asked, reporter: Reporter) -> ExitCode:
    """Compare, print what differs, write page and JSON, and return the exit code."""
    # The import takes a second.
    from speedbook.press.compare_page import conclusion, rule_text, write_page

    with reporter.busy("Comparing"):
        with before_the_work():
            root = find_root(Path.cwd())
            titles = {claim.id: claim.title for claim in load_registry(root).claims}
            comparison, members = compare(*read_sides(root, (asked.a, asked.b)))
        page = write_page(comparison, members, titles)
    reporter.say(f"A: {asked.a}\nB: {asked.b}")
    _say_pairs(comparison, reporter)
    say = reporter.differs if comparison.beyond_noise else reporter.say
    say(conclusion(comparison))
    reporter.say(rule_text(comparison))
    folder = (asked.out or root / RUNS / COMPARISONS).resolve()
    name = _name(comparison, asked)
    html, numbers = (folder / f"{name}.{ending}" for ending in ("html", "json"))
    write_atomically(html, page)
    write_atomically(numbers, comparison.model_dump_json(indent=1) + "\n")
    reporter.say(f"The same as JSON: {numbers}\nThe page: {html.as_uri()}")
    return ExitCode.DIFFERS if comparison.beyond_noise else ExitCode.WELL


def _name(comparison: Comparison, asked: Asked) -> str:
    """Name the files: the same two sides have the same name, so the new page replaces the old."""
    stems = {Path(pair.notebook).stem for pair in comparison.pairs}
    stem = stems.pop() if len(stems) == 1 else "notebooks"
    sides = {"a": str(Path(asked.a).resolve()), "b": str(Path(asked.b).resolve())}
    return f"{stem}-{digest(sides)[:8]}"


def _say_pairs(comparison: Comparison, reporter: Reporter) -> None:
    for label, names in (
        ("only in A", comparison.only_in_a),
        ("only in B", comparison.only_in_b),
        ("left out, since it did not finish", comparison.unfinished),
    ):
        _say_lines([f"{name}: {label}" for name in names], reporter)
    if len(comparison.pairs) == 1:
        _say_one(comparison.pairs[0], reporter)
        return
    worst = sorted(comparison.pairs, key=lambda pair: -pair.worst)
    reporter.say(f"{counted(len(worst), 'pair')} of runs; those that differ most:")
    table = Table("A", "B", "Changed", "Largest", "Verdicts", box=box.SIMPLE, pad_edge=False)
    for pair in worst[:PRINTED]:
        changed = ", ".join(_changes(pair)) or "–"
        largest = "exact" if math.isinf(pair.worst) else f"{pair.worst:.1f}"
        moved = ", ".join(f"{r.claim}: {_moved(r)}" for r in pair.moved) or "the same"
        table.add_row(*map(Text, (pair.a, pair.b, changed, largest, moved)))
    reporter.table("", table)


def _say_one(pair: Pair, reporter: Reporter) -> None:
    reporter.say("Parameters that differ:" if pair.parameters else "All parameters are the same.")
    _say_lines([f"  {line}" for line in _changes(pair)], reporter)
    if pair.circumstances:
        reporter.say("Circumstances that differ:")
        _say_lines([f"  {line}" for line in pair.circumstances], reporter)
    if pair.records:
        reporter.table("", _records(pair))
    for record in pair.moved:
        reporter.differs(f"Claim {record.claim}: {_moved(record)}.")
    for side, names in (("A", pair.only_in_a), ("B", pair.only_in_b)):
        _say_lines([f"Claim {name}: recorded only in {side}." for name in names], reporter)
    figures = [f"figure {name}: {state}" for name, state in pair.figures.items()]
    tables = [
        f"table {name}: {state.state}"
        + (f" in {state.cells} of {state.of} cells" if state.cells is not None else "")
        for name, state in pair.tables.items()
    ]
    _say_lines([*figures, *tables], reporter)


def _changes(pair: Pair) -> list[str]:
    return [f"{name}: {one} → {other}" for name, one, other in parameter_changes(pair)]


def _records(pair: Pair) -> Table:
    from speedbook.press.compare_page import difference_text, found_text, size_text

    heads = "Claim", "A", "B", "B − A", "Standard errors"
    table = Table(*heads, box=box.SIMPLE, pad_edge=False)
    for record in pair.records:
        sides = (_with_level(found_text(side), side) for side in (record.a, record.b))
        mark = " beyond noise" if record.beyond and record.standard_errors is not None else ""
        cells = record.claim, *sides, difference_text(record), size_text(record) + mark
        table.add_row(*map(Text, cells))
    return table


def _with_level(found: str, record: Mapping[str, Any]) -> str:
    level = level_text(record.get("level"))
    return f"{found} ({level})" if level else found


def _moved(record: RecordPair) -> str:
    a, b = (Verdict(side["verdict"]) for side in (record.a, record.b))
    return f"{a.symbol} {a} in A, {b.symbol} {b} in B"


def _say_lines(lines: list[str], reporter: Reporter) -> None:
    for line in lines[:PRINTED]:
        reporter.say(line)
    if (more := len(lines) - PRINTED) > 0:
        reporter.say(f"  … and {more} more; the page has all")
