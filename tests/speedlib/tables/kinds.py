"""A table of each kind that is read: measurements, actions, and a log."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from speedlib.live import read_actions, read_log
from speedlib.measurements import read_measurements

#: Rows of each kind of table, the names of the columns first; all have a feature or a reward x.
KINDS = {
    "measurements": [
        ["x", "y"],
        ["1.5", "2"],
        ["2.5", "3.5"],
        ["-4", "7"],
        ["3", "1"],
    ],
    "actions": [["action", "x", "probability"], ["red", "1.5", "0.5"], ["blue", "-4", ".5"]],
    "log": [["phase", "action", "reward"], ["1", "red", "2.5"], ["1", "blue", "-4"]],
}
#: The column of numbers with which a fault is made, and that whose second one is a fault.
NUMBERS = {"measurements": "x", "actions": "x", "log": "reward"}
MEANT = {"measurements": "y", "actions": "probability", "log": "reward"}

every_kind = pytest.mark.parametrize("kind", KINDS)


def read(kind: str, path: Path, **choices: Any) -> list[object]:
    """Read a table of some kind; return what is in it as plain values."""
    if kind == "measurements":
        table = read_measurements(path, "y", **choices)
        return [table.columns, table.features.tolist(), table.values.tolist(), table.lines]
    if kind == "actions":
        actions = read_actions(path, **choices)
        return [
            actions.names,
            actions.columns,
            actions.features.tolist(),
            actions.policy.tolist(),
            actions.lines,
        ]
    example = path.with_name("the actions.csv")
    example.write_text("\n".join(",".join(row) for row in KINDS["actions"]))
    log = read_log(path, read_actions(example), **choices)
    return [[phase.counts.tolist(), phase.means.tolist()] for phase in log]


def text(rows: list[list[str]], mark: str = ",", end: str = "\n", point: str = ".") -> str:
    rows = [rows[0], *([entry.replace(".", point) for entry in row] for row in rows[1:])]
    file = io.StringIO()
    csv.writer(file, delimiter=mark, lineterminator=end).writerows(rows)
    return file.getvalue()


def changed(kind: str, change: Callable[[list[str], int], list[str]]) -> list[list[str]]:
    """Return the rows of a kind with each changed by a function of itself and of its number."""
    return [change(list(row), place) for place, row in enumerate(KINDS[kind])]


def with_numbers(kind: str, entries: list[str]) -> list[list[str]]:
    """Return a table of a kind whose numbers are these."""
    if kind == "measurements":
        return [["x", "y"], *([entry, str(k * k)] for k, entry in enumerate(entries, 3))]
    if kind == "actions":
        shares = [0] * (len(entries) - 1) + [1]
        rows = zip(entries, shares, strict=True)
        return [["action", "x", "probability"], *([f"a{x}", x, str(p)] for x, p in rows)]
    return [["phase", "action", "reward"], *(["1", "red", entry] for entry in entries)]
