"""Read columns of numbers from text, and report all their faults in one short message."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from speedlib._numerals import DECIMALS, as_share, is_number, with_point, without_thousands
from speedlib._table_text import MOST, counted, cut, name_of
from speedlib._tolerances import PROBABILITY_TOLERANCE
from speedlib.checks import LARGEST, SMALLEST, Floats

PLAIN = "write numbers as -1.5, 2000 or 2e-3, without units and without thousands separators"


@dataclass(frozen=True)
class Cures:
    """Cures for entries that are no number; a cure depends on what the column means.

    Attributes
    ----------
    text : str
        What follows the rule for numbers, for an entry of another kind.
    size : str
        Cure for a number that is too large or too small.
    shares : bool
        Whether the column holds probabilities, so 10% is 0.10.
    """

    text: str = ""
    size: str = (
        f"numbers must lie between {SMALLEST:g} and {LARGEST:g} in size: choose another unit"
    )
    shares: bool = False


#: Of columns that may have any unit.
AMOUNTS = Cures()
#: Cure for a probability that is too large or too small: it has no unit.
SHARES = f"probabilities are 0 or lie between {SMALLEST:g} and 1: write 0, or such a number"


@dataclass(frozen=True)
class _Fault:
    line: float
    column: str
    found: str
    cure: str


class Faults:
    """What is wrong with the columns of a file, gathered for one message.

    So a user who corrects a table sees every faulty column together, not one in each run.

    Parameters
    ----------
    path : Path
        The file.

    Attributes
    ----------
    columns : set of str
        The columns with a fault. Nothing else is certain about these columns.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.columns: set[str] = set()
        self._found: list[_Fault] = []

    def __bool__(self) -> bool:
        """Return whether there are any."""
        return bool(self._found)

    def add(self, column: str, found: str, cure: str, line: int | None = None) -> None:
        """Add a fault: its column, what was found, what follows that, and its line if it has one.

        Faults with one cure share it.
        """
        self.columns.add(column)
        place = "" if line is None else f"line {line}: "
        self._found.append(_Fault(line or math.inf, column, place + found, cure))

    def refuse(self) -> None:
        """Raise a ValueError if there are any faults, with about ten and the number of the others.

        Faults with the same cure are listed together, in the order of their lines. The cures are
        ordered by the first line of their faults; faults without a line come last. If there are at
        most ten cures, each is named, and only then are second faults added.
        """
        if not self._found:
            return
        groups: dict[str, list[_Fault]] = {}
        for fault in sorted(self._found, key=lambda fault: fault.line):
            groups.setdefault(fault.cure, []).append(fault)
        named = list(groups.items())[:MOST]
        free = MOST - len(named)
        sentences: list[str] = []
        for cure, faults in named:
            shown, rest = faults[: 1 + free], faults[1 + free :]
            free -= len(shown) - 1
            parts = [fault.found for fault in shown]
            if more := len({fault.column for fault in rest}):
                parts.append(counted(more, "more column"))
            sentences.append(_in_a_row(parts) + cure)
        hidden = {fault.column for cure in list(groups)[MOST:] for fault in groups[cure]}
        if hidden:
            sentences.append(f"{counted(len(hidden), 'more column')} cannot be used as they are")
        first = ", " if sentences[0].startswith("line ") else ": "
        raise ValueError(f"{self.path}{first}{'. Also '.join(sentences)}")


def _in_a_row(parts: Sequence[str]) -> str:
    """Join parts by commas, unless they end with one, and the last by a word."""
    *others, last = parts
    text = "".join(part + (" " if part.endswith(",") else ", ") for part in others[:-1])
    return f"{text}{others[-1]} and {last}" if others else last


def column_of_numbers(
    name: str,
    lines: Sequence[int],
    entries: Sequence[str],
    point: str,
    nothing: frozenset[str],
    cures: Cures,
    faults: Faults,
) -> Floats:
    """Return the numbers of a column; nan for entries that stand for nothing, in small letters.

    The first entry that is no number is added to the faults. Every such entry becomes nan, too.
    """
    gaps = {float(plain) for word in nothing if is_number(plain := with_point(word, point))}
    numbers = np.full(len(entries), np.nan)
    for place, (line, entry) in enumerate(zip(lines, entries, strict=True)):
        if entry.lower() in nothing:
            continue
        plain = with_point(entry, point)
        number = float(plain) if is_number(plain) else math.nan
        if number in gaps:
            continue
        if math.isfinite(number) and (not number or SMALLEST <= abs(number) <= LARGEST):
            numbers[place] = number
        elif name not in faults.columns:
            found = f"column {cut(name)} holds {cut(entry)!r}"
            faults.add(name, found, _cure(entry, number, point, cures), line)
    return numbers


def _cure(entry: str, number: float, point: str, cures: Cures) -> str:
    """Return what follows an entry that cannot be used."""
    if math.isfinite(number):
        return f"; {cures.size}"
    cure = PLAIN + cures.text if entry else f"write a number{cures.text}"
    if bare := without_thousands(entry, point):
        cure = f"write {cut(bare)}, without thousands separators"
    elif cures.shares and (share := as_share(entry, point)):
        cure = f"write {cut(share)}, without the percent sign"
    return f", which is not a number with a decimal {name_of(DECIMALS, point)}; {cure}"


def find_negative(
    name: str, lines: Sequence[int], shares: Floats, faults: Faults, cure: str
) -> bool:
    """Add the first probability below 0 by more than rounding; return whether there is one.

    Entries that are nan do not matter.
    """
    size = np.abs(shares[~np.isnan(shares)]).max(initial=0.0)
    wrong = np.flatnonzero(shares < -PROBABILITY_TOLERANCE * size)
    if wrong.size:
        found = f"column {cut(name)} holds {shares[wrong[0]]:g}"
        rule = f"; probabilities must be at least 0{cure}"
        faults.add(name, found, rule, int(lines[wrong[0]]))
    return bool(wrong.size)
