"""Two sets of results side by side, and whether their records differ beyond noise.

A record with an interval has a standard error. It is the part of the interval between the record's
estimate and the end nearer to the other estimate, divided by the normal quantile of the interval's
level. Two records differ by ``|a - b| / sqrt(error_a² + error_b²)`` standard errors, as if the runs
were independent. If both records are bounds that hold with certainty, their difference is the gap
between the bounds. Exact records differ if their numbers differ by more than rounding. A record
that depends on random numbers but has no interval is only compared if seed and replications are the
same.

One limit holds for all m compared records that have a standard error (Bonferroni). If the two sides
did not differ, the probability that one or more of the m records exceed the limit would be at most
0.1 %.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from statistics import NormalDist
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from speedbook.claims.agreement import DIGITS
from speedbook.notebook.values import as_shown
from speedbook.run.manifest import SIDE_BY_SIDE
from speedbook.run.sides import Member, Side, matched

#: The probability of one false alarm or more, over all records that are compared.
FAMILY = 0.001
#: Differences below this are rounding, whatever the size of the numbers.
SMALLEST = 1e-12

Kind = Literal["noise", "exact", "bounds", "draws"]
State = Literal["same", "differs", "only in A", "only in B"]
#: The cells of a table; its first row is the head.
Grid = list[list[str]]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RecordPair(_Part):
    """The records of a claim on both sides; ``difference`` is b minus a.

    ``error`` is the standard error of the difference. ``standard_errors`` is the difference divided
    by it, or None without noise. ``gap`` is the size of the difference. If records are intervals
    that hold with certainty, it is the distance between these intervals.
    """

    claim: str
    a: dict[str, Any]
    b: dict[str, Any]
    kind: Kind
    difference: float
    gap: float
    error: float
    standard_errors: float | None
    beyond: bool

    @property
    def moved(self) -> bool:
        """Whether the two verdicts differ."""
        return bool(self.a["verdict"] != self.b["verdict"])


class TableState(_Part):
    """How a table differs: in ``cells`` of its ``of`` cells; None if only digests are kept.

    Neither its head nor a column without a name, which numbers or names the rows, is counted.
    """

    state: State
    cells: int | None = None
    of: int | None = None


class Pair(_Part):
    """Two sets of results of one notebook.

    ``parameters`` holds the parameters that differ, and ``shared`` the parameters that agree.
    """

    notebook: str
    a: str
    b: str
    parameters: dict[str, tuple[Any, Any]]
    shared: dict[str, Any]
    circumstances: tuple[str, ...]
    records: tuple[RecordPair, ...]
    only_in_a: tuple[str, ...]
    only_in_b: tuple[str, ...]
    figures: dict[str, State]
    tables: dict[str, TableState]

    @property
    def moved(self) -> list[RecordPair]:
        """The records whose verdicts differ."""
        return [record for record in self.records if record.moved]

    @property
    def beyond(self) -> list[RecordPair]:
        """The records that differ beyond noise."""
        return [record for record in self.records if record.beyond]

    @property
    def worst(self) -> float:
        """The largest difference in standard errors; infinite if two exact records differ."""
        sizes = (record.standard_errors for record in self.records)
        exact = any(r.beyond and r.standard_errors is None for r in self.records)
        return math.inf if exact else max((s for s in sizes if s is not None), default=0.0)


class Rule(_Part):
    """The rule for noise: a difference above ``limit`` standard errors is beyond noise.

    If nothing differs, at most a share ``family`` of comparisons has a false alarm among its
    ``records``.
    """

    family: float
    records: int
    limit: float


class Comparison(_Part):
    """The whole comparison, as in its JSON file."""

    format: Literal[1] = 1
    a: str
    b: str
    rule: Rule
    beyond_noise: bool
    pairs: tuple[Pair, ...]
    only_in_a: tuple[str, ...]
    only_in_b: tuple[str, ...]
    unfinished: tuple[str, ...]

    @property
    def records(self) -> list[RecordPair]:
        """All pairs of records."""
        return [record for pair in self.pairs for record in pair.records]


def standard_error(record: Mapping[str, Any], towards: float) -> float:
    """Return a record's standard error towards another number; 0 if the record has no noise.

    Examples
    --------
    >>> entry = {"estimate": 1.0, "interval": [0.9, 1.2], "level": 0.95}
    >>> round(standard_error(entry, towards=2.0), 3), round(standard_error(entry, towards=0.0), 3)
    (0.102, 0.051)
    """
    low, high = record["interval"]
    level = record.get("level")
    if level is None or level >= 1 or high <= low:
        return 0.0
    below, above = record["estimate"] - low, high - record["estimate"]
    facing, other = (above, below) if towards > record["estimate"] else (below, above)
    return float((facing if facing > 0 else other) / NormalDist().inv_cdf((1 + level) / 2))


def _bounds(record: Mapping[str, Any]) -> tuple[float, float]:
    """Return what a record says without noise: certain bounds, or the estimate alone."""
    if record.get("level") == 1:
        return record["interval"][0], record["interval"][1]
    return record["estimate"], record["estimate"]


def limit(records: int, family: float = FAMILY) -> float:
    """Return the number of standard errors beyond which a difference is more than noise.

    Examples
    --------
    >>> round(limit(1), 2), round(limit(20), 2)
    (3.29, 4.06)
    """
    return NormalDist().inv_cdf(1 - family / (2 * max(records, 1)))


def compare_records(a: Mapping[str, Any], b: Mapping[str, Any], most: float) -> RecordPair:
    """Compare the records of a claim; noise explains up to `most` standard errors."""
    error = math.hypot(standard_error(a, b["estimate"]), standard_error(b, a["estimate"]))
    (low, high), (least, largest) = _bounds(a), _bounds(b)
    gap = max(0.0, least - high, low - largest)
    size = max(map(abs, (low, high, least, largest)))
    rounding = max(SMALLEST, 10.0**-DIGITS * size)
    certain = low < high or least < largest
    exact: Kind = "exact" if _same_draws(a, b) else "draws"
    kind: Kind = "noise" if error else "bounds" if certain else exact
    return RecordPair(
        claim=a["id"],
        a=dict(a),
        b=dict(b),
        kind=kind,
        difference=b["estimate"] - a["estimate"],
        gap=gap,
        error=error,
        standard_errors=gap / error if error else None,
        beyond=kind != "draws" and gap > max(most * error, rounding),
    )


def _same_draws(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    """Return whether two records, as far as they say, are of the same draws, or of none."""
    return all(a.get(part) == b.get(part) for part in ("seed", "replications"))


def compare(one: Side, other: Side) -> tuple[Comparison, list[tuple[Member, Member]]]:
    """Compare two sides; also return the members of each pair.

    Raises a ValueError if they have no notebook, or no point of a sweep, in common.
    """
    members, only_a, only_b = matched(one, other)
    if not members:
        raise ValueError(_nothing_in_common(one, other))
    count = sum(
        bool(compare_records(a.results.records[c], b.results.records[c], 0).error)
        for a, b in members
        for c in _common(a.results.records, b.results.records)
    )
    rule = Rule(family=FAMILY, records=count, limit=limit(count))
    pairs = tuple(_pair(a, b, rule) for a, b in members)
    comparison = Comparison(
        a=one.name,
        b=other.name,
        rule=rule,
        beyond_noise=any(pair.beyond for pair in pairs),
        pairs=pairs,
        only_in_a=tuple(only_a),
        only_in_b=tuple(only_b),
        unfinished=one.left_out + other.left_out,
    )
    return comparison, members


def _nothing_in_common(one: Side, other: Side) -> str:
    books = [sorted({m.notebook for m in side.members}) for side in (one, other)]
    if set(books[0]) & set(books[1]):
        return f"{one.name} and {other.name}: no point of one is a point of the other"
    of = [", ".join(_stem(name) for name in names) for names in books]
    return (
        f"{one.name} is of {of[0]}, and {other.name} of {of[1]}: only runs of the same notebook "
        "can be compared"
    )


def _stem(name: str) -> str:
    return name.rpartition("/")[2].removesuffix(".ipynb")


def _common(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[str]:
    return [name for name in a if name in b]


def _pair(a: Member, b: Member, rule: Rule) -> Pair:
    mine, theirs = a.results.records, b.results.records
    names = list(dict.fromkeys([*a.parameters, *b.parameters]))
    values = {name: (a.parameters.get(name), b.parameters.get(name)) for name in names}
    return Pair(
        notebook=a.notebook,
        a=a.label,
        b=b.label,
        parameters={name: both for name, both in values.items() if both[0] != both[1]},
        shared={name: both[0] for name, both in values.items() if both[0] == both[1]},
        circumstances=tuple(_circumstances(a, b)),
        records=tuple(
            compare_records(mine[c], theirs[c], rule.limit) for c in _common(mine, theirs)
        ),
        only_in_a=tuple(name for name in mine if name not in theirs),
        only_in_b=tuple(name for name in theirs if name not in mine),
        figures=_states(a.results.figures, b.results.figures),
        tables=_tables(a, b),
    )


def _circumstances(a: Member, b: Member) -> list[str]:
    """Return what differs besides the parameters, a sentence each, and what is missing."""
    found = [
        f"{side}: {note}"
        for side, member in zip("AB", (a, b), strict=True)
        for note in member.notes
    ]
    if a.code != b.code:
        found.append(f"the code of {a.notebook} {SIDE_BY_SIDE.text}")
    if a.environment is None or b.environment is None:
        return found
    return found + a.environment.differences(b.environment, SIDE_BY_SIDE)


def _states(mine: Mapping[str, str], theirs: Mapping[str, str]) -> dict[str, State]:
    found: dict[str, State] = {}
    for name in dict.fromkeys([*mine, *theirs]):
        if name not in theirs:
            found[name] = "only in A"
        elif name not in mine:
            found[name] = "only in B"
        else:
            found[name] = "same" if mine[name] == theirs[name] else "differs"
    return found


def _tables(a: Member, b: Member) -> dict[str, TableState]:
    states = _states(a.results.tables, b.results.tables)
    if "differs" not in states.values() or a.executed is None or b.executed is None:
        return {name: TableState(state=state) for name, state in states.items()}
    mine, theirs, found = a.tables(), b.tables(), {}
    for name, state in states.items():
        if state != "differs":
            found[name] = TableState(state=state)
            continue
        found[name] = TableState(state=state, **_count(grid(mine[name]), grid(theirs[name])))
    return found


def _count(a: Grid, b: Grid) -> dict[str, int]:
    """Count the cells that differ, and all cells; the head and columns without a name are none.

    A cell that only one of the tables has differs.
    """
    marks = different_cells(a, b)
    places = {
        (row, column): mark
        for table, side in zip((a, b), marks, strict=True)
        for row, line in enumerate(side[1:], 1)
        for column, mark in enumerate(line)
        if table[0][column : column + 1] != [""]
    }
    return {"cells": sum(places.values()), "of": len(places)}


def grid(table: str) -> Grid:
    """Return the cells of a CSV."""
    return list(csv.reader(io.StringIO(table)))


def different_cells(
    a: Sequence[Sequence[str]], b: Sequence[Sequence[str]]
) -> tuple[list[list[bool]], list[list[bool]]]:
    """Say for each cell of two tables whether it differs from the same cell of the other table.

    Examples
    --------
    >>> different_cells([["n", "error"], ["1", "2"]], [["n", "error"], ["1", "3"], ["2", "4"]])
    ([[False, False], [False, True]], [[False, False], [False, True], [True, True]])
    """

    def marks(mine: Sequence[Sequence[str]], theirs: Sequence[Sequence[str]]) -> list[list[bool]]:
        rows = list(zip_longest(mine, theirs, fillvalue=()))[: len(mine)]
        return [
            [
                text != (there[place] if place < len(there) else None)
                for place, text in enumerate(row)
            ]
            for row, there in rows
        ]

    return marks(a, b), marks(b, a)


def parameter_changes(pair: Pair) -> list[tuple[str, str, str]]:
    """Return each parameter that differs, as a triple: its name, its value in A, its value in B."""
    return [(name, _shown(a), _shown(b)) for name, (a, b) in pair.parameters.items()]


def _shown(value: Any) -> str:
    return "(no such parameter)" if value is None else as_shown(value)
