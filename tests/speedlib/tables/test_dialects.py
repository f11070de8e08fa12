"""Tables in every dialect hold the same."""

from __future__ import annotations

import itertools
import unicodedata
from pathlib import Path

import pytest

from speedlib.live import read_actions, read_log
from speedlib.measurements import read_measurements

from .kinds import KINDS, changed, every_kind, read, text


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
