"""What is no table of its kind is refused, with its line and the cure."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from speedlib.measurements import read_measurements

from .kinds import KINDS, NUMBERS, changed, every_kind, read, text, with_numbers


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
    with pytest.raises(ValueError, match=r"'town'; .*leave_out names it; pass \[\]"):
        read_measurements(path, "y", leave_out=["town"])
