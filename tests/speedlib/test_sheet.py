"""The reader of all tables: measurements, actions and logs are read with the same care."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

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


@pytest.fixture
def said(tmp_path: Path) -> Callable[..., str]:
    """Read a table that is refused; return what is said, with the name of its file alone."""

    def refusal(kind: str, content: str | bytes, **choices: Any) -> str:
        path = tmp_path / "my table.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.raises(ValueError) as refused:
            read(kind, path, **choices)
        assert str(refused.value).startswith(str(path))
        return str(refused.value).removeprefix(str(path))

    return refusal


# What is read


@every_kind
@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_the_same_table_in_every_dialect(
    tmp_path: Path, kind: str, mark: str, encoding: str
) -> None:
    plain, other = tmp_path / "plain.csv", tmp_path / "other.csv"
    plain.write_text(text(KINDS[kind]))
    for point, end in itertools.product([".", ","], ["\n", "\r\n", "\r"]):
        other.write_bytes(text(KINDS[kind], mark, end, point).encode(encoding))
        assert read(kind, other) == read(kind, plain)


@every_kind
@pytest.mark.parametrize(
    "line", ["sep={}", '"sep={}"', "  sep={}", "sep = {}  ", "SEP={}", "sep={0}{0}{0}", '"sep={}" ']
)
@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_a_line_that_says_the_separator_wins_over_what_the_names_hold(
    tmp_path: Path, kind: str, line: str, mark: str
) -> None:
    """A feature or a note is called after another separator, which a guess would take."""
    name = "a;b\tc" if mark == "," else "a,b;c\td".replace(mark, " ")
    rows = changed(kind, lambda row, place: [*row, name if not place else str(place**2)])
    path, bare = tmp_path / "table.csv", tmp_path / "bare.csv"
    path.write_text(line.format(mark) + "\n" + text(rows, mark))
    bare.write_text(text(rows, mark))
    separator = {",": "comma", ";": "semicolon", "\t": "tab"}[mark]
    expected = read(kind, bare, separator=separator)
    found = read(kind, path)
    if kind != "log":  # lines of the file
        assert [line + 1 for line in expected.pop()] == list(found.pop())
    assert found == expected


@every_kind
def test_separators_in_quotation_marks_are_no_separators(tmp_path: Path, kind: str) -> None:
    rows = changed(kind, lambda row, place: [*row, "a; b" if not place else str(place**2)])
    path, plain = tmp_path / "table.csv", tmp_path / "plain.csv"
    path.write_text(text(rows).replace("a; b", '"a; b"'))
    rows[0][-1] = "a b"
    plain.write_text(text(rows))
    assert str(read(kind, path)) == str(read(kind, plain)).replace("a b", "a; b")


@every_kind
def test_blanks_around_quotation_marks_are_none_of_the_entry(tmp_path: Path, kind: str) -> None:
    path, plain = tmp_path / "table.csv", tmp_path / "plain.csv"
    plain.write_text(text(KINDS[kind]))
    path.write_text(
        "\n".join(" , ".join(f'"{entry}"' for entry in row) + " " for row in KINDS[kind])
    )
    assert read(kind, path) == read(kind, plain)


@every_kind
@pytest.mark.parametrize("where", ["all", "names", "rows", "some rows", "blank lines"])
def test_separators_at_the_end_and_blank_lines_do_no_harm(
    tmp_path: Path, kind: str, where: str
) -> None:
    """Excel leaves separators at the ends of some rows and not of others."""
    path, plain = tmp_path / "table.csv", tmp_path / "plain.csv"
    plain.write_text(text(KINDS[kind]))
    names, *rows = text(KINDS[kind]).splitlines()
    longer = {
        "all": [f"{line},," for line in (names, *rows)],
        "names": [f"{names},", *rows],
        "rows": [names, *(f"{row}," for row in rows)],
        "some rows": [names, f"{rows[0]},,", *rows[1:]],
        "blank lines": [names, *rows, ",,,", "", " "],
    }
    path.write_text("\n".join(longer[where]))
    assert read(kind, path) == read(kind, plain)


@every_kind
def test_blank_lines_above_the_names_are_skipped(tmp_path: Path, kind: str) -> None:
    path, plain = tmp_path / "table.csv", tmp_path / "plain.csv"
    plain.write_text(text(KINDS[kind]))
    path.write_text("\n;;\n" + text(KINDS[kind], ";"))
    expected, found = read(kind, plain), read(kind, path)
    if kind != "log":
        assert [line + 2 for line in expected.pop()] == list(found.pop())
    assert found == expected


def test_a_row_over_several_lines_is_named_by_its_first(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text('action,"size\nin cm",probability\n"red\nand\nblue",1,.5\ngreen,big,.5\n')
    with pytest.raises(ValueError, match="line 6: column size\nin cm holds 'big'"):
        read_actions(path)
    path.write_text(path.read_text().replace("big", "2"))
    actions = read_actions(path)
    assert actions.names == ("red\nand\nblue", "green")
    assert actions.lines == (3, 6)


def test_accents_are_equal_however_they_are_encoded(tmp_path: Path) -> None:
    composed, split = "Größe é", unicodedata.normalize("NFD", "Größe é")
    assert composed != split
    path, log = tmp_path / "table.csv", tmp_path / "log.csv"
    path.write_text(f"action,{split},probability\n{split},1,1\n")
    log.write_text(f"phase,action,reward\n1,{composed},3.5\n")
    actions = read_actions(path)
    assert actions.columns == actions.names == (composed,)
    (rewards,) = read_log(log, actions)
    assert rewards.means.tolist() == [3.5]
    path.write_text(f"{split},x,y\nRome,1,2\nOslo,4,3\nBern,7,7\n")
    for name in (split, composed):
        assert read_measurements(path, "y", leave_out=[name]).columns == ("x",)
    path.write_text(f"x,{split}\n1,2\n4,3\n7,7\n")
    for name in (split, composed):
        assert read_measurements(path, name).target == composed


# Decimals and thousands

THOUSANDS = ["950", "1.250", "12.000", "800", "1.100"]


def with_numbers(kind: str, entries: list[str]) -> list[list[str]]:
    """Return a table of a kind whose numbers are these."""
    if kind == "measurements":
        return [["x", "y"], *([entry, str(k * k)] for k, entry in enumerate(entries, 3))]
    if kind == "actions":
        shares = [0] * (len(entries) - 1) + [1]
        rows = zip(entries, shares, strict=True)
        return [["action", "x", "probability"], *([f"a{x}", x, str(p)] for x, p in rows)]
    return [["phase", "action", "reward"], *(["1", "red", entry] for entry in entries)]


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
    assert "no number" in said(kind, content, decimal=other)


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
        assert "line 3: column" in message and "without marks of thousands" in message


@every_kind
@pytest.mark.parametrize("point", [".", ","])
def test_two_marks_of_thousands_in_one_entry_settle_what_the_mark_is(
    said, kind: str, point: str
) -> None:
    """No choice of decimals would read such a table, so that none is offered."""
    entries = ["1.250", "2.500.000", "800", "-12.000.000"]
    message = said(kind, text(with_numbers(kind, entries), ";", point=point))
    assert f"line 3: column {NUMBERS[kind]} holds" in message
    assert "without marks of thousands" in message and "choose decimal" not in message


# What nobody named


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


# What is refused


@every_kind
def test_numbers_of_python_alone_are_none(said, kind: str) -> None:
    for entry in ("1_0", "0x1", "infinity", "inf", "١٢", "\u22125", "5%", "1e400", "1e99"):
        message = said(kind, text(with_numbers(kind, ["2.5", entry])))
        assert message.startswith(f", line 3: column {NUMBERS[kind]} holds {entry!r}")


@every_kind
@pytest.mark.parametrize(
    ("name", "encoding", "message"),
    [
        ("café", "latin-1", r", line 3: is not in UTF-8 \(byte \d+\); save"),
        ("x", "utf-16-le", r", line 1: holds a null character, .*; save"),
        ("café", "utf-16-le", r", line 1: holds a null character, .*; save"),
        ("café", "utf-16-be", r", line 1: holds a null character, .*; save"),
        ("x", "utf-32", r": is in UTF-32; save"),
        ("café\u0085", "utf-8", r", line 3: holds the control character '\\x85', .*; remove it"),
    ],
)
def test_other_encodings_are_refused_by_line(
    said, kind: str, name: str, encoding: str, message: str
) -> None:
    rows = changed(kind, lambda row, k: [*row, ("note", "1", name)[min(k, 2)]])
    assert re.match(message + ".* CSV UTF-8", said(kind, text(rows).encode(encoding)))


def test_half_a_character_of_utf_16_is_refused_by_line(said) -> None:
    content = text(KINDS["log"]).encode("utf-16") + b"\x00\xd8"
    assert said("log", content).startswith(", line 4: is not in UTF-16 (byte ")


@every_kind
def test_a_control_character_is_refused_by_line(said, kind: str) -> None:
    content = text(KINDS[kind]) + "\x1a"
    line = len(KINDS[kind]) + 1
    assert said(kind, content).startswith(f", line {line}: holds the control character '\\x1a'")


@every_kind
def test_quotation_marks_that_do_not_match_are_refused(said, kind: str) -> None:
    lines = text(KINDS[kind]).splitlines()
    for wrong in (f'"{lines[2]}', lines[2].replace(",", '","', 1), f'"1"{lines[2]}'):
        message = said(kind, "\n".join([lines[0], lines[1], wrong, *lines[3:]]))
        assert message.startswith(", line 3: ") and "quotation mark" in message


@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("between", [0, 1, 3])
@pytest.mark.parametrize("place", [0, 1, 3])
def test_rows_between_two_quotation_marks_are_not_swallowed(
    tmp_path: Path, said, mark: str, between: int, place: int
) -> None:
    # Inches, say: the mark of the second row is closed by that of a later one.
    rows = [["note", "x", "y", "remark"], *(["", str(k), str(k * k % 7), ""] for k in range(9))]
    order = [*rows[0]]
    order[place], order[0] = order[0], order[place]
    wrong = [list(row) for row in rows]
    for row in (wrong[2], wrong[3 + between]):
        row[0] = '"'
    lines = [
        mark.join(dict(zip(rows[0], row, strict=True))[name] for name in order) for row in wrong
    ]
    choices = {"leave_out": ["note", "remark"], "decimal": "point"}
    message = said("measurements", "\n".join(lines), **choices)
    assert message.startswith(
        f", line 3: column {place + 1} holds an entry over {between + 2} lines"
    )
    assert "quotation mark" in message
    right = "\n".join(lines).replace('"', '""""')
    (tmp_path / "right.csv").write_text(right)
    assert len(read("measurements", tmp_path / "right.csv", **choices)[2]) == 9


def test_rewards_between_two_quotation_marks_are_not_swallowed(said) -> None:
    log = 'phase,action,reward,note\n1,red,1,"wet\n1,red,9,\n1,blue,8,"\n1,blue,2,dry\n'
    assert said("log", log).startswith(", line 2: column 4 holds an entry over 3 lines")


def test_entries_over_several_lines_are_read(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(
        'phase,action,reward,note\n1,red,1,"cold, wet,\nand windy"\n1,blue,2,"a\nb\n"\n'
    )
    assert read("log", path) == [[[1, 1], [1.0, 2.0]]]


@every_kind
def test_entries_beyond_the_limit_of_csv_are_named_so(said, kind: str) -> None:
    rows = KINDS[kind]
    content = text([[*row, "note" if row is rows[0] else "x" * 140_000] for row in rows])
    message = said(kind, content, **({"leave_out": ["note"]} if kind == "measurements" else {}))
    assert message.startswith(", line 2: ") and "more than 131,072 characters" in message


@every_kind
@pytest.mark.parametrize(
    ("begin", "what"),
    [
        (b"PK\x03\x04\x14\x00\x06\x00", "an Excel workbook, or another ZIP archive"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Excel workbook of the old kind"),
        (gzip.compress(b"x,y\n1,2\n"), "a file that gzip packed"),
    ],
    ids=["xlsx", "xls", "gz"],
)
def test_files_of_other_programs_are_named(said, kind: str, begin: bytes, what: str) -> None:
    message = said(kind, begin)
    assert message.startswith(f": is {what}") and "save the table as CSV UTF-8" in message


@every_kind
def test_a_folder_and_what_is_no_path_are_refused(tmp_path: Path, kind: str) -> None:
    with pytest.raises(ValueError, match=r": cannot be read: Is a directory; give the path"):
        read(kind, tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match=r": cannot be read: Not a directory; give the path"):
        read_measurements(tmp_path / "file" / "table.csv", "y")
    with pytest.raises(ValueError, match=r"path: must be the path of a CSV file; got None"):
        read_measurements(None, "y")


@every_kind
def test_the_named_separator_and_the_line_that_names_one_must_agree(said, kind: str) -> None:
    content = "sep=;\n" + text(KINDS[kind], ";")
    message = said(kind, content, separator="comma")
    assert message.startswith(", line 1: says that a semicolon separates")
    assert "'|' separates the entries; save" in said(kind, "sep=|\n" + text(KINDS[kind], "|"))


@every_kind
def test_a_choice_that_is_none_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text(KINDS[kind]))
    for name in ("separator", "decimal"):
        with pytest.raises(ValueError, match=f"^{name}:"):
            read(kind, path, **{name: "dot"})


def test_what_is_left_out_is_a_list_without_the_target(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text(KINDS["measurements"]))
    with pytest.raises(ValueError, match=r"leave_out: must be a list, as \['x'\]; got 'x'"):
        read_measurements(path, "y", leave_out="x")
    with pytest.raises(ValueError, match=r"missing_values: must be a list, as \['-9'\]"):
        read_measurements(path, "y", missing_values="-9")
    with pytest.raises(ValueError, match="leave_out: holds 'y', which is the target; take it out"):
        read_measurements(path, "y", leave_out=["y"])
    with pytest.raises(ValueError, match=r"'town'; .*named by leave_out; \[\] leaves nothing out"):
        read_measurements(path, "y", leave_out=["town"])


# Any table

NAMES = st.text(
    st.characters(exclude_categories=("Cc", "Cs"), include_characters="\n"), min_size=1, max_size=8
).filter(lambda name: name.strip())


def taken(name: str) -> str:
    return unicodedata.normalize("NFC", name).strip()


DIALECTS = st.fixed_dictionaries(
    {
        "delimiter": st.sampled_from(",;\t"),
        "lineterminator": st.sampled_from(["\n", "\r\n", "\r"]),
        "quoting": st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    }
)


@pytest.mark.slow
@given(
    names=st.lists(NAMES, min_size=1, max_size=4, unique_by=taken),
    columns=st.lists(NAMES, min_size=1, max_size=3, unique_by=taken),
    dialect=DIALECTS,
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    digits=st.integers(0, 5),
    point=st.sampled_from(["point", "comma"]),
    declared=st.booleans(),
    trailing=st.booleans(),
    told=st.booleans(),
    seed=st.integers(0, 1000),
)
@example(
    names=['";', ' "a" ,"'],
    columns=['"; "'],
    dialect={"delimiter": ",", "lineterminator": "\n", "quoting": csv.QUOTE_MINIMAL},
    encoding="utf-8",
    digits=3,
    point="point",
    declared=False,
    trailing=False,
    told=True,
    seed=1,
)
def test_any_table_is_read_back_or_refused(
    tmp_path_factory,
    names,
    columns,
    dialect,
    encoding,
    digits,
    point,
    declared,
    trailing,
    told,
    seed,
) -> None:
    """Where separator and decimals are named, it is read; else it may be refused, never misread."""
    reserved = ("action", "probability", "phase", "reward")
    assume(
        not any(word in "".join(name.casefold().split()) for word in reserved for name in columns)
    )
    rng = np.random.default_rng(seed)
    features = np.round(rng.normal(size=(len(names), len(columns))) * 10 ** rng.integers(4), digits)
    policy = np.full(len(names), 1 / len(names))
    mark = {"point": ".", "comma": ","}[point]

    def written(number: float) -> str:
        return f"{number:.{digits}f}".replace(".", mark)

    def save(path: Path, rows: list[list[str]]) -> None:
        file = io.StringIO(newline="")
        if declared:
            file.write(f"sep={dialect['delimiter']}{dialect['lineterminator']}")
        csv.writer(file, **dialect).writerows([*row, ""] if trailing else row for row in rows)
        path.write_bytes(file.getvalue().encode(encoding))

    folder = tmp_path_factory.mktemp("any")
    table, log, measured = (folder / f"{name}.csv" for name in ("actions", "log", "measured"))
    shares = [repr(float(share)).replace(".", mark) for share in policy]
    rows = [
        [name, *map(written, row), share]
        for name, row, share in zip(names, features, shares, strict=True)
    ]
    save(table, [["action", *columns, "probability"], *rows])
    rewards = np.round(rng.normal(size=len(names)), 4)
    rounds = [
        ["1", name, repr(float(r)).replace(".", mark)]
        for name, r in zip(names, rewards, strict=True)
    ]
    save(log, [["phase", "action", "reward"], *rounds])
    X = np.round(rng.normal(size=(9, len(columns))) * 10 ** rng.integers(4), digits + 1)
    y = np.round(rng.normal(size=9), 6)
    numbers = [
        [repr(float(value)).replace(".", mark) for value in row] for row in np.column_stack([X, y])
    ]
    save(measured, [[*columns, "reward"], *numbers])
    separator = {",": "comma", ";": "semicolon", "\t": "tab"}[dialect["delimiter"]]
    choices = {"separator": "auto" if declared else separator, "decimal": point} if told else {}
    try:
        actions = read_actions(table, **choices)
        (phase,) = read_log(log, actions, **choices)
        measurements = read_measurements(measured, "reward", **choices)
    except ValueError as error:
        assert not told, error
        assert "line" in str(error) or "column" in str(error)
        return
    assert actions.names == tuple(map(taken, names))
    assert actions.columns == measurements.columns == tuple(map(taken, columns))
    assert actions.features.tolist() == features.tolist()
    assert actions.policy.tolist() == policy.tolist()
    assert phase.means.tolist() == rewards.tolist()
    assert measurements.features.tolist() == X.tolist()
    assert measurements.values.tolist() == y.tolist()
