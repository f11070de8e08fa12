"""The joined table of a sweep: all results of its points, one number or text in each row.

The columns are the number of the point, the parameters that the points set, and `COLUMNS`:

========= ==========================================================================================
kind      ``record`` for a claim's record, ``figure`` for plotted numbers, ``parameter`` for the
          parameters at their defaults, ``run`` for status, time, folder and failure
name      the claim, the figure or the parameter; empty for a run
row       of a figure: the line of its CSV, counted from 1; one mark is one row
axes      of a figure: the number of the axes, from 0
drawn     of a figure: what is drawn, such as ``line``, ``bar`` or ``points``
series    of a figure: the label in the legend
item      of a figure: the number of the point within its line
field     of a record: verdict, estimate, low, high, level, replications, runs, seed and its details
          (``details.name``); of a figure: x, y, x end, y end, value, x name, y name
number    the value, if it is a number
text      the value, if it is not
========= ==========================================================================================

If a parameter has the name of one of these columns, or the name ``point``, an underscore is added
to its name.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from speedbook.notebook.parameters import Value
from speedbook.run.listing import FIGURES
from speedbook.run.sweep import Point, SweepResults

POINT = "point"
COLUMNS = ("kind", "name", "row", "axes", "drawn", "series", "item", "field", "number", "text")
#: Columns of a figure's CSV that become fields, and those that say which mark it is.
FIELDS = ("x", "y", "x end", "y end", "value", "x name", "y name")
MARKS = {"axes": "axes", "drawn": "kind", "series": "label", "item": "point"}
FINISHED, FAILED, MISSING = "finished", "failed", "not run"

Row = dict[str, Any]


def column(parameter: str) -> str:
    """Return the name of a parameter's column."""
    return f"{parameter}_" if parameter in (POINT, *COLUMNS) else parameter


def cell(value: Value) -> str:
    """Write a parameter's value in a cell; a list is JSON."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else str(value)


def joined_table(results: SweepResults) -> Iterator[str]:
    """Yield the joined table as CSV, a piece for each point."""
    sweep = results.sweep
    names = list(dict.fromkeys(name for values in sweep.plan.points for name in values))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([POINT, *map(column, names), *COLUMNS])
    yield text.getvalue()
    for point in sweep.points:
        values = point.request.values
        start = [point.number, *(cell(values[name]) for name in names)]
        text.seek(0)
        text.truncate()
        for row in _rows(results, point, names):
            writer.writerow([*start, *(row.get(name, "") for name in COLUMNS)])
        yield text.getvalue()


def _rows(results: SweepResults, point: Point, names: list[str]) -> Iterator[Row]:
    run, failure = results.finished.get(point.number), results.failures.get(point.number, "")
    about: Row = {"kind": "run"}
    status = FINISHED if run else FAILED if failure else MISSING
    yield about | _valued("status", status)
    if failure:
        yield about | _valued("failure", failure)
    if run:
        folder, manifest = run
        yield about | _valued("seconds", manifest.seconds)
        yield about | _valued("folder", folder.relative_to(results.sweep.folder).as_posix())
    for name, value in point.request.values.items():
        if name not in names:
            whole = cell(value) if isinstance(value, bool | list) else value
            yield {"kind": "parameter", "name": name} | _valued("value", whole)
    if run:
        for claim, record in manifest.results.records.items():
            for field, value in _fields(record):
                yield {"kind": "record", "name": claim} | _valued(field, value)
        for path in manifest.numbers:
            if path.startswith(f"{FIGURES}/"):
                yield from _plotted(folder / path)


def _fields(record: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield each number and text of a record, with a name."""
    low, high = record["interval"]
    for name, value in record.items():
        if name == "interval":
            yield from (("low", low), ("high", high))
        elif name != "id":
            yield from _leaves(name, value)


def _leaves(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(f"{name}.{key}", inner)
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _leaves(f"{name}.{place}", inner)
    elif value is not None:
        yield name, value


def _valued(field: str, value: Any) -> Row:
    numeric = isinstance(value, int | float) and not isinstance(value, bool)
    return {"field": field, "number" if numeric else "text": value}


def _plotted(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        for number, mark in enumerate(csv.DictReader(file), 1):
            about = {name: mark[its] for name, its in MARKS.items()}
            about |= {"kind": "figure", "name": path.stem, "row": number}
            for field in FIELDS:
                if text := mark[field]:
                    # The text of the number, with all its digits.
                    named = field.endswith(" name")
                    yield about | {"field": field, "text" if named else "number": text}
