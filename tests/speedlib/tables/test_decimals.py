"""Which mark stands before the decimals: no thousands are taken for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from speedlib.measurements import read_measurements

from .kinds import NUMBERS, every_kind, read, text, with_numbers

THOUSANDS = ["950", "1.250", "12.000", "800", "1.100"]


def numbers_of(kind: str, path: Path, **choices: Any) -> list[float]:
    found = read(kind, path, **choices)
    if kind == "log":
        return [found[0][1][0]]
    return [row[0] for row in found[1 if kind == "measurements" else 2]]


@every_kind
@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize(("point", "name"), [(".", "point"), (",", "comma")])
def test_thousands_are_not_read_as_decimals(
    tmp_path: Path, said, kind: str, mark: str, point: str, name: str
) -> None:
    content = text(with_numbers(kind, THOUSANDS), mark, point=point)
    message = said(kind, content)
    written = f"1{point}250"
    column = NUMBERS[kind]
    assert message.startswith(f", line 3: column {column} holds {written!r}, which may be 1250 or")
    assert f"choose decimal = {name!r}" in message
    path = tmp_path / "my table.csv"
    expected = [950, 1.25, 12, 800, 1.1]
    if kind == "log":
        expected = [np.mean(expected)]
    assert numbers_of(kind, path, decimal=name) == pytest.approx(expected)
    other = {"point": "comma", "comma": "point"}[name]
    assert "not a number" in said(kind, content, decimal=other)


@every_kind
@pytest.mark.parametrize(
    "sure", ["1.5", "-.25", "0.125", "1.2500", "1000.125", "1.250e1", "01.250"]
)
def test_one_entry_that_can_be_nothing_else_decides(tmp_path: Path, kind: str, sure: str) -> None:
    path = tmp_path / "my table.csv"
    for point in ".,":
        path.write_text(text(with_numbers(kind, [*THOUSANDS, sure]), ";", point=point))
        found = numbers_of(kind, path)
        values = [950, 1.25, 12, 800, 1.1, float(sure)]
        assert found == pytest.approx([np.mean(values)] if kind == "log" else values)


def test_another_column_decides_too_and_one_that_is_left_out_does_not(tmp_path: Path, said) -> None:
    path = tmp_path / "my table.csv"
    content = "x;z;y\n1.250;1.5;2\n950;2;3\n800;1;7\n12.000;3;1\n"
    path.write_text(content)
    assert read_measurements(path, "y").features[:, 0].tolist() == [1.25, 950, 800, 12]
    assert "may be 1250" in said("measurements", content, leave_out=["z"])


def test_what_stands_for_a_gap_decides_nothing(said) -> None:
    content = text([["x", "y"], ["1.250", "1"], ["-9.9", "2"], ["950", "4"], ["12", "3"]], ";")
    choices = {"missing": "drop", "missing_values": ["-9.9"]}
    assert "may be 1250" in said("measurements", content, **choices)


@every_kind
def test_marks_of_thousands_beside_decimals_are_no_numbers(said, kind: str) -> None:
    for entry in ("1.234.567", "1.250,5", "1'250", "1 250", "1\u00a0250", "1_250"):
        message = said(kind, text(with_numbers(kind, ["950", entry, "7,5"]), ";"))
        assert "line 3: column" in message and "without thousands separators" in message


@every_kind
@pytest.mark.parametrize("point", [".", ","])
def test_two_marks_of_thousands_in_one_entry_settle_what_the_mark_is(
    said, kind: str, point: str
) -> None:
    """No choice of decimals would read such a table, so that none is offered."""
    entries = ["1.250", "2.500.000", "800", "-12.000.000"]
    message = said(kind, text(with_numbers(kind, entries), ";", point=point))
    assert f"line 3: column {NUMBERS[kind]} holds" in message
    assert "without thousands separators" in message and "choose decimal" not in message


def test_rows_behind_a_gap_written_as_a_number_are_kept(tmp_path: Path) -> None:
    rows = [f"{k},{k * k}" for k in range(9)]
    rows[2], rows[5] = "-200.0,4", "5,-200"
    path = tmp_path / "gaps.csv"
    path.write_text("x,y\n" + "\n".join(rows) + "\n")
    table = read_measurements(path, "y", missing="drop", missing_values=["-200"])
    assert table.features[:, 0].tolist() == [0, 1, 3, 4, 6, 7, 8]
    assert table.values.tolist() == [0, 1, 9, 16, 36, 49, 64]
    assert table.lines == (2, 3, 5, 6, 8, 9, 10)


@pytest.mark.parametrize("place", range(4))
def test_each_column_may_decide(tmp_path: Path, place: int) -> None:
    """Features, the target and the policy, which comes last."""
    names = ["a", "b", "y", "p"]
    rows = [["1.250", "3", "7", "1"], ["950", "8", "5", "0"], ["12.000", "1", "2", "0"]]
    rows.append(["1", "2", "4", "0"])
    rows[2][place] = "0.0" if names[place] == "p" else "2.5"
    path = tmp_path / "table.csv"
    path.write_text(text([names, *rows], ";"))
    table = read_measurements(path, "y", policy="p")
    assert table.features[0, 0] == 1.25
    path.write_text(text([names, *rows], ";", point=","))
    assert read_measurements(path, "y", policy="p").features.tolist() == table.features.tolist()
