"""What a notebook found, read from its outputs: records, figures and tables.

A table is every data frame that a cell displays, with the digits that it shows; what a notebook
prints as text is in the notebook alone.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import zip_longest
from typing import Any

from nbformat import NotebookNode
from pydantic import BaseModel, ConfigDict

from speedbook.notebook.files import code_cells

#: How pandas marks the HTML of a data frame.
FRAME = 'class="dataframe"'
RECORD_HEAD = ("id", "verdict", "estimate", "low", "high", "replications", "seed")


class Results(BaseModel):
    """All by which two runs are compared.

    Attributes
    ----------
    records : dict
        Each claim's record, the verdict among it.
    figures : dict
        The digest of each figure's plotted numbers, by the figure's name.
    tables : dict
        The SHA-256 of each table's CSV, by the name of its file.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    records: dict[str, dict[str, Any]] = {}
    figures: dict[str, str] = {}
    tables: dict[str, str] = {}

    def differences(self, other: Results) -> list[str]:
        """Say what differs in the other results, a sentence each; empty where nothing does."""
        found = [
            sentence
            for kind, mine, theirs in (
                ("figure", self.figures, other.figures),
                ("table", self.tables, other.tables),
            )
            for name in sorted({*mine, *theirs})
            if (sentence := _difference(f"{kind} {name}", mine.get(name), theirs.get(name)))
        ]
        for name in sorted({*self.records, *other.records}):
            mine, theirs = self.records.get(name, {}), other.records.get(name, {})
            for key in sorted({*mine, *theirs}):
                if mine.get(key) != theirs.get(key):
                    found.append(f"claim {name}: {key} was {mine.get(key)}, is {theirs.get(key)}")
        return found


def _difference(thing: str, before: str | None, now: str | None) -> str:
    if before == now:
        return ""
    if before is None or now is None:
        return f"{thing}: {'is new' if before is None else 'is missing'}"
    return f"{thing}: shows other numbers"


def read_results(notebook: NotebookNode) -> tuple[Results, dict[str, str]]:
    """Read the results from the outputs of a notebook that ran, or of one that failed.

    Parameters
    ----------
    notebook : NotebookNode
        As executed.

    Returns
    -------
    results : Results
        The records with their verdicts, and digests of the rest.
    tables : dict
        The CSV of each table, by the name of its file.
    """
    marks = [output.metadata.get("speedbook", {}) for output in _displays(notebook)]
    records = {mark["claim"]["id"]: mark["claim"] for mark in marks if "claim" in mark}
    figures = {m["figure"]["name"]: m["figure"]["digest"] for m in marks if "figure" in m}
    frames = [
        html
        for output in _displays(notebook)
        if FRAME in (html := output.data.get("text/html", ""))
    ]
    tables = {f"table-{i:02}.csv": table_csv(html) for i, html in enumerate(frames, start=1)}
    digests = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in tables.items()}
    return Results(records=records, figures=figures, tables=digests), tables


def _displays(notebook: NotebookNode) -> Iterator[NotebookNode]:
    for cell in code_cells(notebook):
        yield from (output for output in cell.get("outputs", []) if "data" in output)


def records_csv(results: Results) -> str:
    """Return the records as CSV, without their details."""
    rows = [
        [*map(record.get, RECORD_HEAD[:3]), *record["interval"], *map(record.get, RECORD_HEAD[5:])]
        for record in results.records.values()
    ]
    return _csv([RECORD_HEAD, *rows])


def _csv(rows: Any) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def table_csv(html: str) -> str:
    """Return a table of HTML as CSV; heads of several rows are joined.

    Examples
    --------
    >>> html = "<table><thead><tr><th></th><th>a</th></tr></thead><tr><th>x</th><td>1</td></tr>"
    >>> print(table_csv(html), end="")
    ,a
    x,1
    """
    reader = _TableReader()
    reader.feed(html)
    columns = zip_longest(*reader.heads, fillvalue="")
    head = [" / ".join(dict.fromkeys(filter(None, parts))) for parts in columns]
    return _csv([head, *reader.rows])


class _TableReader(HTMLParser):
    """Reads rows of cells; a cell that spans several rows or columns is repeated."""

    def __init__(self) -> None:
        super().__init__()
        self.heads: list[list[str]] = []
        self.rows: list[list[str]] = []
        self._row: list[str] | None = None
        self._cell: list[str] | None = None
        self._spans = (1, 1)
        self._in_head = False
        #: Column to text and rows still to come, of cells that span several rows.
        self._pending: dict[int, tuple[str, int]] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "thead":
            self._in_head = True
        elif tag == "tr":
            self._row = []
            self._fill()
        elif tag in ("td", "th"):
            given = dict(attrs)
            self._spans = int(given.get("rowspan") or 1), int(given.get("colspan") or 1)
            self._cell = []

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "thead":
            self._in_head = False
        elif tag in ("td", "th") and self._row is not None and self._cell is not None:
            text, (down, across) = " ".join("".join(self._cell).split()), self._spans
            for _ in range(across):
                if down > 1:
                    self._pending[len(self._row)] = text, down - 1
                self._row.append(text)
            self._cell = None
            self._fill()
        elif tag == "tr" and self._row is not None:
            (self.heads if self._in_head else self.rows).append(self._row)
            self._row = None

    def _fill(self) -> None:
        """Put in what cells of earlier rows span."""
        while self._row is not None and len(self._row) in self._pending:
            text, left = self._pending.pop(place := len(self._row))
            if left > 1:
                self._pending[place] = text, left - 1
            self._row.append(text)
