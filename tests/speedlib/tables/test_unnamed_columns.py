"""Columns that nobody named are no features."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from speedlib.measurements import read_measurements

from .kinds import KINDS, MEANT, changed, every_kind, read, text


@every_kind
def test_an_index_that_pandas_saved_is_refused(tmp_path: Path, said, kind: str) -> None:
    path = tmp_path / "saved.csv"
    names, *rows = KINDS[kind]
    pd.DataFrame(rows, columns=names).to_csv(path)
    message = said(kind, path.read_text())
    assert "column 1 has entries but no name" in message and "index=False" in message
    # What was saved once more has a name of pandas' own.
    pd.read_csv(path).to_csv(path, index=False)
    message = said(kind, path.read_text())
    assert "column 1, 'Unnamed: 0', has the name" in message and "index=False" in message


@every_kind
def test_row_names_of_r_are_refused(said, kind: str) -> None:
    names, *rows = KINDS[kind]
    content = text([names, *([str(k), *row] for k, row in enumerate(rows, 1))])
    assert f"line 2: has {len(names) + 1} entries" in said(kind, content)
    content = text([["", *names], *([str(k), *row] for k, row in enumerate(rows, 1))])
    assert "row.names = FALSE" in said(kind, content)


@pytest.mark.parametrize("first", [0, 1])
def test_row_names_are_not_taken_for_a_column_where_the_last_one_is_empty(
    tmp_path: Path, said, first: int
) -> None:
    """R's write.table names no column of row names: all others would move by one."""
    rows = [["3", "4", "2"], ["8", "1", "3"], ["5", "9", "7"], ["2", "6", "1"], ["4", "4", "9"]]
    numbered = [[str(k), *row, ""] for k, row in enumerate(rows, first)]
    message = said("measurements", text([["a", "b", "y", "note"], *numbered]))
    assert "line 2: has 5 entries, but the first line names 4" in message
    assert "row.names = FALSE" in message
    # The cures: no row names, or a name for them; or nothing behind the last entry.
    path = tmp_path / "table.csv"
    path.write_text(text([["a", "b", "y", "note"], *([*row, ""] for row in rows)]))
    assert read_measurements(path, "y", leave_out=["note"]).values.tolist() == [2, 3, 7, 1, 9]
    path.write_text(text([["row", "a", "b", "y", "note"], *numbered]))
    table = read_measurements(path, "y", leave_out=["row", "note"])
    assert table.values.tolist() == [2, 3, 7, 1, 9]
    # A separator too many in each row does no harm where the first column counts nothing.
    path.write_text(text([["a", "b", "y"], *([*row, ""] for row in rows)]))
    assert read_measurements(path, "y").values.tolist() == [2, 3, 7, 1, 9]


@every_kind
@pytest.mark.parametrize("last", [True, False])
def test_a_filled_column_without_a_name_is_refused(said, kind: str, last: bool) -> None:
    place = len(KINDS[kind][0]) if last else 1
    rows = changed(kind, lambda row, k: [*row[:place], str(k) if k > 1 else "", *row[place:]])
    message = said(kind, text(rows))
    assert f"column {place + 1} has entries but no name; delete it, or name it" in message
    assert message.startswith(", line")


@every_kind
def test_a_second_column_of_a_kind_is_refused(tmp_path: Path, said, kind: str) -> None:
    meant = MEANT[kind]
    rows = changed(kind, lambda row, k: [*row, meant if not k else str(k**2)])
    first, last = rows[0].index(meant) + 1, len(rows[0])
    message = said(kind, text(rows))
    assert f"two columns have the name {meant!r}, {first} and {last}; rename" in message
    # pandas calls the second one by another name.
    path = tmp_path / "saved.csv"
    path.write_text(text(rows))
    pd.read_csv(path).to_csv(path, index=False)
    assert f"looks like a second {meant!r}" in said(kind, path.read_text())
    if kind != "measurements":
        unseen = f"{meant}\u200b", f"{meant[:2]}\u00ad{meant[2:]}"
        for other in (meant.upper(), meant.title(), f"{meant[:3]} {meant[3:]}", *unseen):
            rows[0][-1] = other
            assert f"column {last}, {other!r}, looks like a second" in said(kind, text(rows))


def test_a_column_that_is_left_out_may_be_called_anything(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("Unnamed: 0,x,y,y.1\n0,1,2,2\n1,5,3,3\n2,2,8,8\n")
    table = read_measurements(path, "y", leave_out=["Unnamed: 0", "y.1"])
    assert table.columns == ("x",)


def test_a_feature_whose_name_has_a_number_is_a_feature(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("x,x.1,Y,y\n1,4,2,3\n2,9,8,4\n3,7,1,9\n5,5,5,5\n")
    assert read_measurements(path, "y").columns == ("x", "x.1", "Y")


def test_notes_in_a_log_do_not_matter(tmp_path: Path) -> None:
    path, plain = tmp_path / "log.csv", tmp_path / "plain.csv"
    plain.write_text(text(KINDS["log"]))
    path.write_text(
        text(changed("log", lambda row, k: ["when", *row] if not k else ["1.1.", *row]))
    )
    assert read("log", path) == read("log", plain)
