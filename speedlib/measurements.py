"""A user's own table of measurements, read with care: whatever is doubtful is said, not guessed."""

from __future__ import annotations

import csv
import difflib
import io
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from speedbook.press.front_matter import counted
from speedlib.checks import check_choice

#: What separates the entries of a row; "auto" looks for semicolons, then tabs, then commas.
SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t"}
DECIMALS = {"point": ".", "comma": ","}
#: What to do with a row in which something is missing.
MISSING = ("refuse", "drop")
#: Entries that stand for nothing, in small letters.
NOTHING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "-"})

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)
POINT = re.compile(r"[+-]?\d*\.\d+(e[+-]?\d+)?", re.IGNORECASE)
COMMA = re.compile(r"[+-]?\d*,\d+(e[+-]?\d+)?", re.IGNORECASE)
#: The line by which some spreadsheets say what separates the entries.
SEPARATOR_LINE = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)

#: Sizes of numbers whose squares and products stay within double precision.
SMALLEST, LARGEST = 1e-100, 1e100
#: A target that differs from a sum of multiples of the features by this share of its spread has
#: no noise but rounding.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Measurements:
    """A table of numbers.

    Attributes
    ----------
    columns : tuple of str
        Names of the d features.
    target : str
        Name of the target.
    features : ndarray, shape (N, d)
        One row for each sample.
    values : ndarray, shape (N,)
        The target.
    lines : tuple of int
        The line of the file that each sample stands in; the first line is 1.
    notes : tuple of str
        What was assumed and left out, in sentences.
    """

    columns: tuple[str, ...]
    target: str
    features: NDArray[np.float64]
    values: NDArray[np.float64]
    lines: tuple[int, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Sheet:
    """The entries of a file as text, without blank lines and nameless empty columns."""

    path: Path
    header: list[str]
    rows: list[list[str]]
    lines: list[int]
    mark: str

    def column(self, name: str) -> list[str]:
        place = self.header.index(name)
        return [row[place] for row in self.rows]


def read_measurements(
    path: Path,
    target: str,
    *,
    leave_out: Sequence[str] = (),
    separator: str = "auto",
    decimal: str = "auto",
    missing: str = "refuse",
    missing_values: Sequence[str] = (),
    intercept: bool = False,
) -> Measurements:
    """Read a table of features and a target.

    Parameters
    ----------
    path : Path
        A CSV file in UTF-8 whose first line names the columns.
    target : str
        Name of the column that is to be predicted.
    leave_out : sequence of str
        Columns that are no features.
    separator : {"auto", "comma", "semicolon", "tab"}
        What stands between the entries.
    decimal : {"auto", "point", "comma"}
        What stands before the decimals. ``"auto"`` looks at the entries, and refuses a table that
        has both.
    missing : {"refuse", "drop"}
        Whether a missing entry is an error, or its row is left out and counted in the notes.
    missing_values : sequence of str
        Entries that stand for a missing one besides blanks, ``NA`` and the like; for instance -200,
        which -200.0 then does, too.
    intercept : bool
        Whether the model will have an intercept: one feature more for which rows must suffice.

    Returns
    -------
    Measurements

    Raises
    ------
    ValueError
        If the file cannot be read, a column is unknown, an entry is no number or too large or
        small for squares, a column is constant, the target has no noise, or too few rows remain.
        The text names file, column and line, and what to do.
    """
    check_choice("separator", separator, ("auto", *SEPARATORS))
    check_choice("decimal", decimal, ("auto", *DECIMALS))
    check_choice("missing", missing, MISSING)
    text, before = _text(path), 0
    if told := SEPARATOR_LINE.match(text):
        text, before = text[told.end() :], 1
    mark = SEPARATORS.get(separator) or _guess_separator(path, text)
    sheet, notes = _sheet(path, text, mark, before)
    for name in (target, *leave_out):
        _require(sheet, name)
    features = [name for name in sheet.header if name not in {target, *leave_out}]
    if not features:
        raise ValueError(f"{path}: no column is left as a feature beside {target}")
    used = {name: sheet.column(name) for name in (*features, target)}
    point = DECIMALS.get(decimal) or _guess_decimal(path, used)
    nothing = NOTHING | {value.strip().lower() for value in missing_values}
    numbers = {
        name: _numbers(sheet, name, entries, point, nothing) for name, entries in used.items()
    }
    table = np.column_stack(list(numbers.values()))
    complete = _complete(sheet, list(numbers), table, missing, notes)
    X, y = table[complete, :-1], table[complete, -1]
    _check_features(path, features, X, notes, intercept)
    _check_target(path, target, X, y)
    kept = tuple(np.array(sheet.lines)[complete].tolist())
    said = [f"Entries are separated by a {_name(SEPARATORS, mark)}, decimals by a "]
    said[0] += f"{_name(DECIMALS, point)}."
    return Measurements(tuple(features), target, X, y, kept, (*said, *notes))


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
    counts = {mark: first.count(mark) for mark in SEPARATORS.values()}
    # A decimal comma may stand beside semicolons or tabs, but not the other way round.
    best = next((mark for mark in (";", "\t", ",") if counts[mark]), None)
    if best is None:
        raise ValueError(
            f"{path}: the first line must name two columns or more, separated by commas, "
            f"semicolons or tabs; got {first.strip()[:60]!r}"
        )
    return best


def _sheet(path: Path, text: str, mark: str, before: int) -> tuple[_Sheet, list[str]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark, skipinitialspace=True)
    try:
        listed = [(before + reader.line_num, [entry.strip() for entry in row]) for row in reader]
    except csv.Error as error:
        raise ValueError(f"{path}, line {before + reader.line_num}: {error}") from None
    if not listed:
        raise ValueError(f"{path}: is empty")
    (_, header), *body = listed
    if len(header) == 1 and (hint := _separator_hint(header, mark)):
        raise ValueError(f"{path}: the first line has no {_name(SEPARATORS, mark)}; {hint}")
    rows = [(line, row) for line, row in body if any(row)]
    if not rows:
        raise ValueError(f"{path}: has no rows below the header")
    for line, row in rows:
        if len(row) != len(header):
            raise ValueError(
                f"{path}, line {line}: has {_entries(len(row))}, but the first line names "
                f"{len(header)}; an entry that holds the separator must stand in quotation marks"
            )
    notes = []
    if blank := len(body) - len(rows):
        notes.append(f"{counted(blank, 'blank line')} {_was(blank)} skipped.")
    kept = [
        place for place, name in enumerate(header) if name or any(row[place] for _, row in rows)
    ]
    if bare := len(header) - len(kept):
        notes.append(f"{counted(bare, 'column')} without name and entries {_was(bare)} skipped.")
    header = [header[place] for place in kept]
    if not all(header):
        raise ValueError(f"{path}: column {header.index('') + 1} has entries but no name")
    if twice := [name for name, count in Counter(header).items() if count > 1]:
        raise ValueError(f"{path}: two columns have the name {twice[0]!r}")
    return (
        _Sheet(
            path,
            header,
            [[row[place] for place in kept] for _, row in rows],
            [line for line, _ in rows],
            mark,
        ),
        notes,
    )


def _require(sheet: _Sheet, name: str) -> None:
    if name not in sheet.header:
        near = difflib.get_close_matches(name, sheet.header, n=1)
        be = "is" if len(sheet.header) == 1 else "are"
        hint = f"did you mean {near[0]!r}?" if near else f"there {be} {', '.join(sheet.header)}"
        if other := _separator_hint(sheet.header, sheet.mark):
            hint += f"; {other}"
        raise ValueError(f"{sheet.path}: has no column {name!r}; {hint}")


def _separator_hint(header: list[str], mark: str) -> str:
    """Say which other separator the names of the columns hold; nothing where they hold none."""
    counts = {
        name: sum(column.count(other) for column in header)
        for name, other in SEPARATORS.items()
        if other != mark
    }
    best = max(counts, key=lambda name: counts[name])
    return f"did you mean {best!r} as separator, which the names hold?" if counts[best] else ""


def _guess_decimal(path: Path, used: dict[str, list[str]]) -> str:
    found = {".": "", ",": ""}
    for name, entries in used.items():
        for mark, form in ((".", POINT), (",", COMMA)):
            entry = next((entry for entry in entries if form.fullmatch(entry)), "")
            found[mark] = found[mark] or (entry and f"{entry!r} in column {name}")
    if found["."] and found[","]:
        raise ValueError(
            f"{path}: decimals are written in two ways, {found['.']} and {found[',']}; "
            "say which holds with decimal"
        )
    return "," if found[","] else "."


def _numbers(
    sheet: _Sheet, name: str, entries: list[str], point: str, nothing: frozenset[str] | set[str]
) -> NDArray[np.float64]:
    numbers, gaps = np.full(len(entries), np.nan), _as_numbers(nothing, point)
    for place, (line, entry) in enumerate(zip(sheet.lines, entries, strict=True)):
        if entry.lower() in nothing:
            continue
        # Beside a decimal comma a point would be a mark of thousands, and no number for us.
        plain = entry if point == "." else entry.replace(".", "?").replace(",", ".")
        if not NUMBER.fullmatch(plain) or not math.isfinite(float(plain)):
            raise ValueError(
                f"{sheet.path}, line {line}: column {name} holds {entry!r}, which is no number "
                f"with a decimal {_name(DECIMALS, point)}; if it is a column of text, name it in "
                "leave_out; if it stands for a missing value, name it in missing_values"
            )
        number = float(plain)
        if number in gaps:
            continue
        if number and not SMALLEST <= abs(number) <= LARGEST:
            raise ValueError(
                f"{sheet.path}, line {line}: column {name} holds {entry!r}; numbers must lie "
                f"between {SMALLEST:g} and {LARGEST:g} in size: choose another unit"
            )
        numbers[place] = number
    return numbers


def _as_numbers(entries: Iterable[str], point: str) -> frozenset[float]:
    """Return what the entries are as numbers, as far as they are numbers."""
    plain = (entry if point == "." else entry.replace(",", ".") for entry in entries)
    return frozenset(float(entry) for entry in plain if NUMBER.fullmatch(entry))


def _complete(
    sheet: _Sheet, names: list[str], table: NDArray[np.float64], missing: str, notes: list[str]
) -> NDArray[np.bool_]:
    gaps = np.isnan(table)
    complete = ~gaps.any(axis=1)
    where = ", ".join(
        f"{name} ({count})" for name, count in zip(names, gaps.sum(axis=0), strict=True) if count
    )
    if where and missing == "refuse":
        line = sheet.lines[int(np.argmin(complete))]
        raise ValueError(
            f"{sheet.path}: {np.sum(~complete)} of {len(table)} rows lack an entry, the first in "
            f"line {line}; by column: {where}; set missing to 'drop' to leave these rows out, or "
            "name a column that is mostly empty in leave_out"
        )
    if not complete.any():
        raise ValueError(
            f"{sheet.path}: no row is complete; missing by column: {where or 'nothing'}; name a "
            "column that is mostly empty in leave_out"
        )
    if where:
        dropped = int(np.sum(~complete))
        notes.append(f"{dropped} of {len(table)} rows {_was(dropped)} dropped; missing: {where}.")
    return np.asarray(complete)


def _check_target(path: Path, name: str, X: NDArray[np.float64], y: NDArray[np.float64]) -> None:
    if np.ptp(y) <= 1e-12 * np.abs(y).max():
        raise ValueError(
            f"{path}: column {name}, the target, is constant ({y[0]:g}): there is nothing to fit"
        )
    if len(X) <= X.shape[1] + 1:
        return
    scaled = X / np.maximum(np.abs(X).max(axis=0), SMALLEST)
    design = np.column_stack([np.ones(len(X)), scaled])
    rest = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    if np.std(rest) <= ROUNDING * np.std(y):
        raise ValueError(
            f"{path}: column {name}, the target, is a constant plus multiples of the features, up "
            "to rounding: it has no noise, and no design is better than another"
        )


def _check_features(
    path: Path, names: list[str], X: NDArray[np.float64], notes: list[str], intercept: bool
) -> None:
    d = X.shape[1] + intercept
    if len(X) <= d:
        raise ValueError(
            f"{path}: {counted(len(X), 'complete row')} {'is' if len(X) == 1 else 'are'} too few "
            f"for {counted(X.shape[1], 'feature')}{' and an intercept' * intercept}; more rows "
            "than features are needed, and many more to fit variances"
        )
    for name, column in zip(names, X.T, strict=True):
        if np.ptp(column) <= 1e-12 * np.abs(column).max():
            raise ValueError(
                f"{path}: column {name} is constant ({column[0]:g}) and tells nothing; name it in "
                "leave_out, and where the model needs a constant, choose intercept = true"
            )
    scaled = X / np.sqrt(np.mean(X**2, axis=0))
    if (rank := int(np.linalg.matrix_rank(scaled))) < X.shape[1]:
        notes.append(
            f"The {X.shape[1]} features span {counted(rank, 'dimension')} only: some are sums of "
            "others, and leaving these out changes nothing but the time it takes."
        )
    if len(X) < 5 * d * (d + 1) // 2:
        notes.append(
            f"{len(X)} rows are few for the {d * (d + 1) // 2} unknowns of the variances: expect a "
            "rough fit."
        )


def _was(count: int) -> str:
    return "was" if count == 1 else "were"


def _entries(count: int) -> str:
    return "1 entry" if count == 1 else f"{count} entries"


def _name(names: dict[str, str], mark: str) -> str:
    return next(name for name, held in names.items() if held == mark)
