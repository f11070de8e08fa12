"""The results of a notebook, read from its outputs: records, figures and tables.

A table is a data frame that a cell displays. It is stored once as shown and once with all digits
and one number in each cell. Printed text is not stored; it is in the notebook.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterator, Mapping
from itertools import count, product
from typing import Any

from bs4 import BeautifulSoup
from nbformat import NotebookNode
from pydantic import BaseModel, ConfigDict

from speedbook.frames import plain_csv
from speedbook.notebook.files import code_cells

#: The mark of pandas in the HTML of a data frame.
FRAME = re.compile(r'class="dataframe[ "]')
#: The end of the names of files with all digits.
NUMBERS = "-numbers.csv"
RECORD_HEAD = ("id", "verdict", "estimate", "low", "high", "level", "replications", "seed")


class Results(BaseModel):
    """The parts of a run's results that `speedbook compare` compares.

    They are the record of each claim, with its verdict; the digest of each figure's plotted
    numbers, by the figure's name; and the SHA-256 of each table's CSV, by the name of its file.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    records: dict[str, dict[str, Any]] = {}
    figures: dict[str, str] = {}
    tables: dict[str, str] = {}

    def differences(
        self,
        other: Results,
        words: str = "was {}, is {}",
        alone: tuple[str, str] = ("is missing", "is new"),
    ) -> list[str]:
        """Return how the other results differ from these, a sentence for each difference.

        ``alone`` are the words for what only these results have, and what only the others have.
        """
        found = _changes("figure", self.figures, other.figures, alone)
        found += _changes("table", self.tables, other.tables, alone)
        for name in sorted({*self.records, *other.records}):
            mine, theirs = self.records.get(name, {}), other.records.get(name, {})
            for key in sorted({*mine, *theirs}):
                if mine.get(key) != theirs.get(key):
                    values = words.format(mine.get(key), theirs.get(key))
                    found.append(f"claim {name}: {key} {values}")
        return found


def _changes(
    kind: str, before: dict[str, str], now: dict[str, str], alone: tuple[str, str]
) -> list[str]:
    words = {name: "shows other numbers" for name in before if before[name] != now.get(name)}
    words |= dict.fromkeys(before.keys() - now.keys(), alone[0])
    words |= dict.fromkeys(now.keys() - before.keys(), alone[1])
    return [f"{kind} {name}: {words[name]}" for name in sorted(words)]


def read_results(notebook: NotebookNode) -> tuple[Results, dict[str, str]]:
    """Read the results from the outputs of a notebook that ran, even if it failed.

    The second value holds the CSV of each table, as shown and with all digits, by the names of the
    files. Runs are compared only by the tables as shown, since last digits differ between machines.
    """
    marks = [output.metadata.get("speedbook", {}) for output in _displays(notebook)]
    records = {mark["claim"]["id"]: mark["claim"] for mark in marks if "claim" in mark}
    figures = {m["figure"]["name"]: m["figure"]["digest"] for m in marks if "figure" in m}
    frames = [o for o in _displays(notebook) if FRAME.search(o.data.get("text/html", ""))]
    shown = [table_csv(frame.data["text/html"]) for frame in frames]
    tables = {f"table-{i:02}.csv": text for i, text in enumerate(shown, start=1)}
    digests = {name: text_sha256(text) for name, text in tables.items()}
    for (name, text), frame in zip(list(tables.items()), frames, strict=True):
        kept = frame.metadata.get("speedbook", {}).get("table")
        tables[name.replace(".csv", NUMBERS)] = kept or _numbers_as_shown(text)
    return Results(records=records, figures=figures, tables=digests), tables


def _numbers_as_shown(table: str) -> str:
    heads, *rows = csv.reader(io.StringIO(table))
    return plain_csv(heads, list(zip(*rows, strict=True)) or [()] * len(heads))


def text_sha256(text: str) -> str:
    """Return the SHA-256 of a text as it is in a file."""
    return hashlib.sha256(text.encode()).hexdigest()


def _displays(notebook: NotebookNode) -> Iterator[NotebookNode]:
    for cell in code_cells(notebook):
        yield from (output for output in cell.get("outputs", []) if "data" in output)


def result_files(results: Results, tables: Mapping[str, str]) -> dict[str, str]:
    """Return the files of results by name: the records as JSON and as CSV, and the tables."""
    if not results.records:
        return dict(tables)
    records = json.dumps(results.records, indent=1, ensure_ascii=False) + "\n"
    return {"records.json": records, "records.csv": records_csv(results), **tables}


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
    """Return a table of HTML as CSV; if the header has several rows, they are joined to one.

    A cell that spans several rows or columns is repeated.

    Examples
    --------
    >>> html = "<table><thead><tr><th></th><th>a</th></tr></thead><tr><th>x</th><td>1</td></tr>"
    >>> print(table_csv(html), end="")
    ,a
    x,1
    """
    lines = BeautifulSoup(html, "html.parser").find_all("tr")
    texts: dict[tuple[int, int], str] = {}
    for row, line in enumerate(lines):
        for cell in line.find_all(["td", "th"]):
            column = next(place for place in count() if (row, place) not in texts)
            down, across = (range(int(str(cell.get(way, "1")))) for way in ("rowspan", "colspan"))
            for below, beside in product(down, across):
                texts[row + below, column + beside] = " ".join(cell.get_text().split())
    columns = range(max((column + 1 for _, column in texts), default=0))
    rows = [[texts.get((row, column), "") for column in columns] for row in range(len(lines))]
    heads = sum(line.find_parent("thead") is not None for line in lines)
    parts = zip(*rows[:heads], strict=True)
    head = [" / ".join(dict.fromkeys(filter(None, part))) for part in parts]
    return _csv([head, *rows[heads:]])
