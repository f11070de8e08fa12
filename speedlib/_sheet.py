"""The reader of a user's own tables: measurements, actions and logs.

Each error names its file, line, column and cure. Doubtful entries are refused.
"""

from __future__ import annotations

import csv
import difflib
import io
import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from speedlib._arrays import shown
from speedlib._columns import AMOUNTS, PLAIN, Cures, Faults, column_of_numbers
from speedlib._numerals import DECIMALS, as_decimal, as_millions, as_thousands
from speedlib._table_text import (
    LINE_END,
    MOST,
    SEPARATORS,
    counted,
    cut,
    listed,
    name_of,
    read_text,
    separator_of,
    tidy_quotes,
    was,
)
from speedlib.checks import Floats, check_choice

AnyPath = str | os.PathLike[str]

#: How pandas names a column that had no name in the file.
UNNAMED = re.compile(r"Unnamed: \d+(_level_\d+)?(\.\d+)?")
#: What pandas puts behind a name that it reads for the second time.
AGAIN = re.compile(r"\.\d+$")
INDEX = (
    "to save a table without its index, use to_csv(..., index=False) in pandas or row.names = "
    "FALSE in R"
)


@dataclass(frozen=True)
class Sheet:
    """The entries of a file as text, without blank lines and nameless empty columns.

    Attributes
    ----------
    path : Path
    header : list of str
        Names of the columns, all different.
    rows : list of list of str
    lines : list of int
        The line of the file in which each row begins; the first line is 1.
    top : int
        The line in which the names stand.
    mark : str
        What separates the entries.
    notes : list of str
        What was left out, in sentences.
    """

    path: Path
    header: list[str]
    rows: list[list[str]]
    lines: list[int]
    top: int
    mark: str
    notes: list[str]

    def column(self, name: str) -> list[str]:
        """Return the entries of a column."""
        place = self.header.index(name)
        return [row[place] for row in self.rows]

    def require(self, names: Iterable[str], cure: str = "", *, fixed: bool = False) -> None:
        """Refuse a file that lacks some of the columns; they are named.

        If the names are fixed, the message proposes to rename a column with a similar name.
        """
        lacking = [name for name in names if name not in self.header]
        if not lacking:
            return
        be = "is" if len(self.header) == 1 else "are"
        near = [did_you_mean(name, self.header, fixed=fixed) for name in lacking[:MOST]]
        there = "; ".join(filter(None, near)) or f"there {be} {listed(self.header)}"
        other = _separator_hint(self.header, self.mark)
        said = "; ".join(part for part in (there, other, cure) if part).replace("?;", "?")
        called = " and no column ".join(repr(cut(name)) for name in lacking[:MOST])
        more = f" and {len(lacking) - MOST:,} more" if len(lacking) > MOST else ""
        raise ValueError(f"{self.path}: has no column {called}{more}; {said}")

    def refuse_strays(
        self, meant: Iterable[str], left: Iterable[str] = (), cure: str = "", *, any_case: bool
    ) -> None:
        """Refuse columns that nobody named: an index, or a second copy of a named column.

        Parameters
        ----------
        meant : iterable of str
            Columns with a meaning. A second copy is recognised by the name that pandas gives to
            copies.
        left : iterable of str
            Columns that do not matter.
        cure : str
            A further cure, besides deleting or renaming the column.
        any_case : bool
            Whether a second copy may also differ in case and blanks.
        """
        meant, left = tuple(meant), frozenset(left)
        keys = {_key(name): name for name in meant if any_case}
        faults = Faults(self.path)
        for place, name in enumerate(self.header):
            if name in left or name in meant:
                continue
            where = f"column {place + 1}, {cut(name)!r},"
            if UNNAMED.fullmatch(name):
                said = f"has the name that pandas gives nameless columns; delete or rename it{cure}"
                faults.add(name, where, f" {said}; {INDEX}", self.top)
                continue
            plain = AGAIN.sub("", name)
            first = plain if plain in meant else keys.get(_key(plain))
            if first is not None:
                said = f"looks like a second {cut(first)!r}; delete or rename it{cure}"
                faults.add(name, where, f" {said}", self.top)
        faults.refuse()

    def decimal(self, names: Iterable[str], decimal: str, nothing: Iterable[str] = ()) -> str:
        """Return the decimal mark of these columns, a point or a comma.

        With ``"auto"``, a single entry that can be read in only one way decides for the whole
        table, since one program wrote the table. Entries that may have marks of thousands do not
        decide. If there are no others, the table is refused.

        Parameters
        ----------
        names : iterable of str
        decimal : {"auto", "point", "comma"}
        nothing : iterable of str
            Entries that stand for nothing, in small letters.
        """
        if decimal != "auto":
            return DECIMALS[decimal]
        names, words = tuple(names), frozenset(nothing)
        sure = {}
        for mark in DECIMALS.values():
            if found := self._first(names, mark, words, as_decimal):
                sure[mark] = found
        if len(sure) > 1:
            ways = " and ".join(
                f"{cut(entry)!r} in column {cut(name)} (line {line})"
                for line, name, entry in sorted(sure.values(), key=lambda found: found[0])
            )
            raise ValueError(
                f"{self.path}: decimals are written in two ways, {ways}; write them in one way, or "
                "say which holds: decimal = 'point' or 'comma'"
            )
        if sure:
            return next(iter(sure))
        for kind, mark in DECIMALS.items():
            if found := self._first(names, mark, words, as_millions):
                line, name, entry = found
                raise ValueError(
                    f"{self.path}, line {line}: column {cut(name)} holds {cut(entry)!r}; {PLAIN}"
                )
            if found := self._first(names, mark, words, as_thousands):
                line, name, entry = found
                raise ValueError(
                    f"{self.path}, line {line}: column {cut(name)} holds {entry!r}, which may be "
                    f"{entry.replace(mark, '')} or {float(entry.replace(mark, '.')):g}, and no "
                    f"entry of the table decides; choose decimal = {kind!r} if decimals follow "
                    f"the {kind}, else write thousands without it"
                )
        return "."

    def _first(
        self,
        names: Sequence[str],
        mark: str,
        nothing: frozenset[str],
        form: Callable[[str, str], bool],
    ) -> tuple[int, str, str] | None:
        """Return the first entry that has the mark in this form, after its line and its column."""
        for name in names:
            for line, entry in zip(self.lines, self.column(name), strict=True):
                if form(entry, mark) and entry.lower() not in nothing:
                    return line, name, entry
        return None

    def numbers(
        self,
        names: Iterable[str],
        point: str,
        faults: Faults,
        nothing: Iterable[str] = (),
        cures: Cures = AMOUNTS,
    ) -> list[Floats]:
        """Return columns of numbers; nan for entries that stand for nothing, in small letters.

        If a column holds something else, the first such entry is added to the faults.
        """
        words = frozenset(nothing)
        return [
            column_of_numbers(name, self.lines, self.column(name), point, words, cures, faults)
            for name in names
        ]


def read_sheet(path: AnyPath, separator: str = "auto") -> Sheet:
    """Read a CSV file whose first line names the columns.

    Names and entries lose the blanks around them and are brought to the composed form of Unicode
    (NFC). So an accent is the same however it was typed.

    Parameters
    ----------
    path : path
        The file, in UTF-8 or in UTF-16 with a byte-order mark.
    separator : {"auto", "comma", "semicolon", "tab"}
        What separates the entries. ``"auto"`` takes the mark that a first line such as ``sep=;``
        names. Without such a line, it looks among the names of the columns for semicolons, then
        tabs, then commas.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file cannot be read, rows differ in length, or names are missing or repeat.
    """
    check_choice("separator", separator, ("auto", *SEPARATORS))
    if not isinstance(path, (str, os.PathLike)):
        raise ValueError(f"path: must be the path of a CSV file; got {shown(path)}")
    path = Path(path)
    text = read_text(path)
    mark, begin = separator_of(path, text, separator)
    table = list(_rows(path, text[begin:], mark, 2 if begin else 1))
    filled = [(line, row) for line, row in table if any(row)]
    if not filled:
        raise ValueError(f"{path}: is empty; its first line must name the columns")
    (top, header), *body = filled
    notes = []
    if blank := len(table) - len(filled):
        notes.append(f"{counted(blank, 'blank line')} {was(blank)} skipped.")
    if len(header) == 1 and (hint := _separator_hint(header, mark)):
        raise ValueError(f"{path}: the first line has no {name_of(SEPARATORS, mark)}; {hint}")
    width = len(header)
    while width and not header[width - 1]:
        width -= 1
    _refuse_row_names(path, body, header, mark)
    for line, row in body:
        _check_length(path, line, row, header, width, mark)
    kept = [
        place
        for place, name in enumerate(header[:width])
        if name or any(row[place] for _, row in body)
    ]
    if bare := max(len(row) for _, row in filled) - len(kept):
        notes.append(f"{counted(bare, 'column')} without name and entries {was(bare)} skipped.")
    names = [header[place] for place in kept]
    for place, name in zip(kept, names, strict=True):
        if not name:
            raise _nameless(path, place, top)
        if (first := header.index(name)) < place:
            raise ValueError(
                f"{path}, line {top}: two columns have the name {cut(name)!r}, {first + 1} and "
                f"{place + 1}; rename or delete one (an accent is the same however encoded)"
            )
    entries = [[row[place] for place in kept] for _, row in body]
    return Sheet(path, names, entries, [line for line, _ in body], top, mark, notes)


def no_such_file(path: AnyPath) -> ValueError:
    """Return what to say of a file that is missing."""
    path = Path(path)
    start = "" if path.is_absolute() else f", which is relative to {Path.cwd()}"
    return ValueError(f"{path}: there is no such file; check the path{start}")


def _rows(path: Path, text: str, mark: str, line: int) -> Iterator[tuple[int, list[str]]]:
    """Yield each row with the line in which it begins."""
    composed = text.isascii()
    file = io.StringIO(tidy_quotes(text, mark), newline="")
    reader = csv.reader(file, delimiter=mark, skipinitialspace=True, strict=True)
    before = line
    try:
        for row in reader:
            _check_lines(path, line, row, mark)
            # Only now: what NFC makes of some characters would separate entries.
            nfc = row if composed else [unicodedata.normalize("NFC", entry) for entry in row]
            yield line, [entry.strip() for entry in nfc]
            line = before + reader.line_num
    except csv.Error as error:
        if "field limit" in str(error):
            raise ValueError(
                f"{path}, line {line}: the row that begins here has an entry of more than "
                f"{csv.field_size_limit():,} characters; close the quotation mark before it if "
                "that is open, else shorten the entry or delete its column"
            ) from None
        raise ValueError(
            f"{path}, line {line}: the row that begins here cannot be read ({error}); close each "
            "quotation mark that is open, and double those within an entry"
        ) from None


def _check_lines(path: Path, line: int, row: list[str], mark: str) -> None:
    """Refuse an entry that spans several lines and holds whole rows.

    If the quotation mark of one row is closed only in a later row, the rows between are part of the
    entry. The entry then has as many separators per line as a row has.
    """
    for place, entry in enumerate(row):
        ends = len(LINE_END.findall(entry)) if len(row) > 1 else 0
        if ends and entry.count(mark) >= ends * (len(row) - 1):
            raise ValueError(
                f"{path}, line {line}: column {place + 1} holds an entry over {ends + 1} lines "
                "that looks like rows of the table, as after a quotation mark that was not "
                "closed; close or delete that mark, or write the entry on one line"
            )


def _check_length(
    path: Path, line: int, row: list[str], header: list[str], width: int, mark: str
) -> None:
    """Refuse a row that does not fit the names; empty entries beyond the names are ignored."""
    beyond = next((place for place in range(width, len(row)) if row[place]), None)
    if beyond is not None and beyond < len(header):
        raise _nameless(path, beyond, line)
    if beyond is None and len(row) >= width:
        return
    separator = name_of(SEPARATORS, mark)
    other = _separator_hint(header, mark)
    raise ValueError(
        f"{path}, line {line}: has {len(row)} {'entry' if len(row) == 1 else 'entries'}, "
        f"but the first line names {width}; an entry that holds the separator, a {separator}, must "
        f"be in quotation marks, and each column needs a name{'; ' * bool(other)}{other}"
    )


def _refuse_row_names(
    path: Path, body: list[tuple[int, list[str]]], header: list[str], mark: str
) -> None:
    """Refuse rows that begin with their number and are one entry longer than the names.

    If the last entry of every row is empty, such rows could be read with each column one place off.
    """
    if not body or any(len(row) != len(header) + 1 or row[-1] for _, row in body):
        return
    firsts = [row[0] for _, row in body]
    if any(firsts == [str(k) for k in range(begin, begin + len(body))] for begin in (0, 1)):
        raise ValueError(
            f"{path}, line {body[0][0]}: has {len(header) + 1} entries, but the first line names "
            f"{len(header)}, and the rows begin with their numbers; name each column, or write the "
            f"table without row names (in R: row.names = FALSE); if all have names, delete the "
            f"{name_of(SEPARATORS, mark)} at the end of each row"
        )


def _nameless(path: Path, place: int, line: int) -> ValueError:
    return ValueError(
        f"{path}, line {line}: column {place + 1} has entries but no name; delete it, or name it "
        f"in the first line, and leave it out of the features if it only counts the rows; {INDEX}"
    )


def _separator_hint(texts: Iterable[str], mark: str) -> str:
    """Say which other separator some texts hold; nothing where they hold none."""
    texts = list(texts)
    counts = {
        name: sum(text.count(other) for text in texts)
        for name, other in SEPARATORS.items()
        if other != mark
    }
    best = max(counts, key=lambda name: counts[name])
    return f"did you mean {best!r} as separator? The names contain it" if counts[best] else ""


def _key(name: str) -> str:
    """Return a key that is equal for names with only case, blanks or unseen marks different."""
    seen = (c for c in unicodedata.normalize("NFKC", name) if unicodedata.category(c) != "Cf")
    return "".join("".join(seen).casefold().split())


def did_you_mean(name: str, names: Sequence[str], *, fixed: bool = False) -> str:
    """Propose the most similar name, or a renaming if names are fixed; else return no text."""
    same = [other for other in names if _key(other) == _key(name)]
    near = same or difflib.get_close_matches(name, names, n=1)
    if not near:
        return ""
    return f"rename {cut(near[0])!r} to {name!r}" if fixed else f"did you mean {cut(near[0])!r}?"


def composed(names: Iterable[object]) -> tuple[str, ...]:
    """Return a caller's text in the form in which the reader takes entries of the file."""
    return tuple(unicodedata.normalize("NFC", str(name)).strip() for name in names)
