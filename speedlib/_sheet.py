"""Tables of one's own, read from CSV files: every fault is said with its file, line and column."""

from __future__ import annotations

import csv
import difflib
import io
import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from speedlib.checks import LARGEST, SMALLEST, Floats

AnyPath = str | os.PathLike[str]

#: What separates the entries of a row.
SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t"}
DECIMALS = {"point": ".", "comma": ","}

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)
POINT = re.compile(r"[+-]?\d*\.\d+(e[+-]?\d+)?", re.IGNORECASE)
COMMA = re.compile(r"[+-]?\d*,\d+(e[+-]?\d+)?", re.IGNORECASE)
#: The line by which some spreadsheets say what separates the entries.
SEPARATOR_LINE = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)


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
        The line of the file that each row stands in; the first line is 1.
    mark : str
        What separates the entries.
    notes : list of str
        What was left out, in sentences.
    """

    path: Path
    header: list[str]
    rows: list[list[str]]
    lines: list[int]
    mark: str
    notes: list[str]

    def column(self, name: str) -> list[str]:
        """Return the entries of a column."""
        place = self.header.index(name)
        return [row[place] for row in self.rows]

    def require(self, names: Iterable[str]) -> None:
        """Refuse a file that lacks one of the columns."""
        for name in names:
            if name not in self.header:
                be = "is" if len(self.header) == 1 else "are"
                near = did_you_mean(name, self.header) or f"there {be} {', '.join(self.header)}"
                other = _separator_hint(self.header, self.mark)
                hint = f"{near}; {other}" if other else near
                raise ValueError(f"{self.path}: has no column {name!r}; {hint}")

    def decimal(self, names: Iterable[str], hint: str = "") -> str:
        """Return what stands before the decimals in these columns, a point or a comma."""
        found = {".": "", ",": ""}
        for name in names:
            for mark, form in ((".", POINT), (",", COMMA)):
                entry = next((entry for entry in self.column(name) if form.fullmatch(entry)), "")
                found[mark] = found[mark] or (entry and f"{entry!r} in column {name}")
        if found["."] and found[","]:
            ways = f"{found['.']} and {found[',']}"
            raise ValueError(f"{self.path}: decimals are written in two ways, {ways}{hint}")
        return "," if found[","] else "."

    def numbers(self, name: str, point: str, nothing: Iterable[str] = (), hint: str = "") -> Floats:
        """Return a column of numbers; nan for entries that stand for nothing, in small letters."""
        words = frozenset(nothing)
        gaps = {float(plain) for word in words if NUMBER.fullmatch(plain := _plain(word, point))}
        entries = self.column(name)
        numbers = np.full(len(entries), np.nan)
        for place, (line, entry) in enumerate(zip(self.lines, entries, strict=True)):
            if entry.lower() in words:
                continue
            plain = _plain(entry, point)
            number = float(plain) if NUMBER.fullmatch(plain) else math.nan
            if number in gaps:
                continue
            if not math.isfinite(number) or (number and not SMALLEST <= abs(number) <= LARGEST):
                wrong = f", which is no number with a decimal {name_of(DECIMALS, point)}{hint}"
                if math.isfinite(number):
                    sizes = f"between {SMALLEST:g} and {LARGEST:g} in size"
                    wrong = f"; numbers must lie {sizes}: choose another unit"
                raise ValueError(f"{self.path}, line {line}: column {name} holds {entry!r}{wrong}")
            numbers[place] = number
        return numbers


def read_sheet(path: AnyPath, separator: str = "auto") -> Sheet:
    """Read a CSV file in UTF-8 whose first line names the columns.

    Parameters
    ----------
    path : path
    separator : {"auto", "comma", "semicolon", "tab"}
        What stands between the entries; ``"auto"`` looks at the first line for semicolons, then
        tabs, then commas.

    Raises
    ------
    ValueError
        If the file cannot be read, rows differ in length, or names are missing or repeat.
    """
    path = Path(path)
    text, before = _text(path), 0
    if told := SEPARATOR_LINE.match(text):
        text, before = text[told.end() :], 1
    mark = SEPARATORS.get(separator) or _guess_separator(path, text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark, skipinitialspace=True)
    try:
        listed = [(before + reader.line_num, [entry.strip() for entry in row]) for row in reader]
    except csv.Error as error:
        raise ValueError(f"{path}, line {before + reader.line_num}: {error}") from None
    if not listed:
        raise ValueError(f"{path}: is empty")
    (_, header), *body = listed
    if len(header) == 1 and (hint := _separator_hint(header, mark)):
        raise ValueError(f"{path}: the first line has no {name_of(SEPARATORS, mark)}; {hint}")
    rows = [(line, row) for line, row in body if any(row)]
    for line, row in rows:
        if len(row) != len(header):
            raise ValueError(
                f"{path}, line {line}: has {len(row)} {'entry' if len(row) == 1 else 'entries'}, "
                f"but the first line names {len(header)}; an entry that holds the separator must "
                "stand in quotation marks"
            )
    notes = []
    if blank := len(body) - len(rows):
        notes.append(f"{counted(blank, 'blank line')} {was(blank)} skipped.")
    kept = [
        place for place, name in enumerate(header) if name or any(row[place] for _, row in rows)
    ]
    if bare := len(header) - len(kept):
        notes.append(f"{counted(bare, 'column')} without name and entries {was(bare)} skipped.")
    header = [header[place] for place in kept]
    if not all(header):
        raise ValueError(f"{path}: column {header.index('') + 1} has entries but no name")
    if twice := [name for name, count in Counter(header).items() if count > 1]:
        raise ValueError(f"{path}: two columns have the name {twice[0]!r}")
    entries = [[row[place] for place in kept] for _, row in rows]
    return Sheet(path, header, entries, [line for line, _ in rows], mark, notes)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ValueError(f"{path}: there is no such file") from None
    except OSError as error:
        raise ValueError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path}: is not in UTF-8 (byte {error.start + 1}); save it as CSV UTF-8"
        ) from None


def _guess_separator(path: Path, text: str) -> str:
    if not text.strip():
        raise ValueError(f"{path}: is empty")
    first = text.split("\n", 1)[0]
    # A decimal comma may stand beside semicolons or tabs, but not the other way round.
    best = next((mark for mark in (";", "\t", ",") if mark in first), None)
    if best is None:
        raise ValueError(
            f"{path}: the first line must name two columns or more, separated by commas, "
            f"semicolons or tabs; got {first.strip()[:60]!r}"
        )
    return best


def _separator_hint(header: list[str], mark: str) -> str:
    """Say which other separator the names of the columns hold; nothing where they hold none."""
    counts = {
        name: sum(column.count(other) for column in header)
        for name, other in SEPARATORS.items()
        if other != mark
    }
    best = max(counts, key=lambda name: counts[name])
    return f"did you mean {best!r} as separator, which the names hold?" if counts[best] else ""


def _plain(entry: str, point: str) -> str:
    """Write a number with a decimal point; beside a decimal comma, a point makes it none."""
    return entry if point == "." else entry.replace(".", "?").replace(",", ".")


def did_you_mean(name: str, names: Sequence[str]) -> str:
    """Ask for the name that is most like one; nothing where none is."""
    near = difflib.get_close_matches(name, names, n=1)
    return f"did you mean {near[0]!r}?" if near else ""


def counted(number: int, thing: str) -> str:
    """Write a number of things.

    Examples
    --------
    >>> counted(1, "row"), counted(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


def was(count: int) -> str:
    """Return the verb for a number of things."""
    return "was" if count == 1 else "were"


def name_of(names: dict[str, str], mark: str) -> str:
    """Return the name of a mark."""
    return next(name for name, held in names.items() if held == mark)
