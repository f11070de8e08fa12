"""The page of a comparison, in a single file that needs no network and no other files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from nbformat import NotebookNode

from speedbook.claims.cards import level_text, rounded_record
from speedbook.claims.rules import Verdict
from speedbook.notebook.values import as_shown
from speedbook.press.single_page import single_page
from speedbook.run.comparison import (
    Comparison,
    Pair,
    RecordPair,
    different_cells,
    grid,
    parameter_changes,
)
from speedbook.run.sides import Member
from speedbook.text import counted, rounded

#: Of more pairs, as between sweeps, only those that differ most have figures and tables.
MOST_PAIRS = 12
#: Wider tables, in letters, stand below each other.
BESIDE = 58

Two = tuple[Any, Any]


def write_page(
    comparison: Comparison,
    members: Sequence[tuple[Member, Member]],
    titles: Mapping[str, str],
) -> str:
    """Write the page of a comparison.

    Parameters
    ----------
    comparison : Comparison
        What was found.
    members : sequence of pairs
        The results of the two runs, for each pair of the comparison.
    titles : mapping
        The title of each claim.
    """
    order = sorted(range(len(members)), key=lambda place: -comparison.pairs[place].worst)
    shown = set(order[:MOST_PAIRS])
    parts = [
        {
            "pair": pair,
            "changes": parameter_changes(pair),
            "shared": [f"{name}: {as_shown(value)}" for name, value in pair.shared.items()],
            "whole": place in shown,
            "figures": list(_figures(pair, *members[place])) if place in shown else [],
            "tables": list(_tables(pair, *members[place])) if place in shown else [],
        }
        for place, pair in enumerate(comparison.pairs)
    ]
    return single_page(
        "compare_page.html",
        it=comparison,
        parts=parts,
        titles=titles,
        conclusion=conclusion(comparison),
        rule=rule_text(comparison),
        most_pairs=MOST_PAIRS,
        badge=_badge,
        found=found_text,
        difference=difference_text,
        size=size_text,
        level=lambda record: level_text(record.get("level")),
    )


def conclusion(comparison: Comparison) -> str:
    """Say in a sentence or two what the comparison found."""
    return f"{_of_records(comparison)} {_of_figures_and_tables(comparison)}".strip()


def _of_records(comparison: Comparison) -> str:
    records = comparison.records
    beyond, moved = (sum(getattr(r, what) for r in records) for what in ("beyond", "moved"))
    if not records:
        return "The two sides have no record in common."
    exact = sum(record.beyond and record.kind != "noise" for record in records)
    differ = f"{beyond} of {counted(len(records), 'record')}"
    verb = "differs" if beyond == 1 else "differ"
    first = f"{differ} {verb} beyond noise." if beyond else "No record differs beyond noise."
    if exact:
        kind = "is" if exact == 1 else "are"
        first = f"{first[:-1]}; {exact} of these {beyond} {kind} computed without noise."
    verb = "verdicts are" if moved > 1 else "verdict is"
    return f"{first} {moved or 'No'} {verb} different."


def _of_figures_and_tables(comparison: Comparison) -> str:
    """Say how many figures and tables differ; nothing judges whether that is noise."""
    parts = []
    for noun in ("figure", "table"):
        states = [
            state for pair in comparison.pairs for state in getattr(pair, f"{noun}s").values()
        ]
        differ = sum(getattr(state, "state", state) != "same" for state in states)
        if differ:
            parts.append(f"{differ} of {counted(len(states), noun)}")
    if not parts:
        return ""
    cells = [table for pair in comparison.pairs for table in pair.tables.values() if table.of]
    text = f"Numbers are different in {' and '.join(parts)}"
    if cells:
        differ, of = (sum(getattr(table, what) for table in cells) for what in ("cells", "of"))
        text += f" ({differ} of their {counted(of, 'cell')})"
    return f"{text}; the comparison does not test whether that is noise."


def rule_text(comparison: Comparison) -> str:
    """Return the rule for noise in words."""
    rule = comparison.rule
    exact = "Exact records differ if their difference is more than rounding (six digits)."
    if not rule.records:
        return exact
    return (
        "A record differs beyond noise if the difference is more than "
        f"{rule.limit:.2f} standard errors. Noise alone makes this happen to "
        f"one or more of the {counted(rule.records, 'record')} "
        f"with an interval in at most {100 * rule.family:g} % of comparisons. The runs are taken "
        f"as independent. {_same_seed(comparison)}{exact}"
    )


def _same_seed(comparison: Comparison) -> str:
    if not any("seed" in pair.shared for pair in comparison.pairs):
        return ""
    return (
        "Runs with the same seed may share random numbers; then the true standard errors are "
        "usually smaller. "
    )


def found_text(record: Mapping[str, Any]) -> str:
    """Return estimate and interval of a record."""
    return " ".join(filter(None, rounded_record(dict(record))))


def difference_text(record: RecordPair) -> str:
    """Return the difference with its sign."""
    text = rounded(record.difference, 2 * record.error)
    return f"+{text}" if float(text) > 0 else text.replace("-", "−", 1)


def size_text(record: RecordPair) -> str:
    """Return the size of a difference: in standard errors, or in words."""
    if record.standard_errors is not None:
        return f"{record.standard_errors:.1f}"
    if record.kind == "draws":
        return "depends on the draws: not tested"
    if record.kind == "bounds":
        return "the bounds do not meet" if record.beyond else "the bounds meet"
    return "exact: differs" if record.beyond else "exact: the same"


def _badge(verdict: str) -> str:
    return f"{Verdict(verdict).symbol} {verdict}"


def _figures(pair: Pair, a: Member, b: Member) -> Iterator[dict[str, Any]]:
    mine, theirs = a.pictures(), b.pictures()
    for name, state in pair.figures.items():
        both = [_picture(pictures.get(name)) for pictures in (mine, theirs)]
        if any(both):
            yield {"name": name, "state": state, "sides": both}


def _picture(output: NotebookNode | None) -> dict[str, Any] | None:
    if output is None or "image/png" not in output.get("data", {}):
        return None
    about = output.metadata.get("image/png", {})
    return {
        "data": output.data["image/png"].strip(),
        "alt": about.get("alt", ""),
        "width": about.get("width"),
    }


def _tables(pair: Pair, a: Member, b: Member) -> Iterator[dict[str, Any]]:
    mine, theirs = a.tables(), b.tables()
    for number, (name, state) in enumerate(pair.tables.items(), 1):
        one, other = (grid(tables.get(name, "")) for tables in (mine, theirs))
        if not (one or other):
            continue
        marks = different_cells(one, other) if one and other else ([], [])
        yield {
            "number": number,
            "state": state,
            "wide": max(map(_width, (one, other))) > BESIDE,
            "sides": [_cells(cells, mark) for cells, mark in zip((one, other), marks, strict=True)],
        }


def _width(cells: Sequence[Sequence[str]]) -> int:
    """Return the width of a table in letters, with some for the space between columns."""
    columns = zip_longest(*cells, fillvalue="")
    return sum(max(map(len, column)) + 3 for column in columns)


def _cells(cells: Sequence[Sequence[str]], marks: Sequence[Sequence[bool]]) -> list[list[Two]]:
    """Return each cell with its mark; the first row is the head."""
    return [
        list(zip_longest(row, mark, fillvalue=False))
        for row, mark in zip_longest(cells, marks, fillvalue=())
    ]
