"""Columns of numbers from text, and all their faults in one message."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from speedlib._numerals import DECIMALS, is_number, with_point, without_thousands
from speedlib._table_text import name_of
from speedlib.checks import LARGEST, SMALLEST, Floats

PLAIN = "write numbers as -1.5, 2000 or 2e-3, without units and without marks of thousands"


class Faults:
    """What is wrong with the columns of a file, gathered so that one message says it all.

    Whoever corrects a table learns of every column at once, not of one a run.

    Parameters
    ----------
    path : Path
        The file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._found: dict[str, list[str]] = {}

    def __bool__(self) -> bool:
        """Return whether there are any."""
        return bool(self._found)

    def add(self, found: str, cure: str) -> None:
        """Add a fault: what was found, as it follows the file's name, and what follows it.

        Faults with one cure share it.
        """
        self._found.setdefault(cure, []).append(found)

    def refuse(self) -> None:
        """Raise a ValueError with all faults, if there are any."""
        if not self._found:
            return
        sentences: list[str] = []
        for cure, (first, *others) in self._found.items():
            also = "".join(f" and {other.lstrip(',: ')}" for other in others)
            begin = f" Also {first.lstrip(',: ')}" if sentences else first
            sentences.append(f"{begin}{also}{cure}")
        raise ValueError(f"{self.path}{'.'.join(sentences)}")


def column_of_numbers(
    name: str,
    lines: Sequence[int],
    entries: Sequence[str],
    point: str,
    nothing: frozenset[str],
    hint: str,
    faults: Faults,
) -> Floats:
    """Return the numbers of a column; nan for entries that stand for nothing, in small letters.

    The first entry that is no number is added to the faults; from there on all are nan.
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
        if not math.isfinite(number) or (number and not SMALLEST <= abs(number) <= LARGEST):
            cure = PLAIN + hint if entry else f"write a number{hint}"
            if bare := without_thousands(entry, point):
                cure = f"write {bare}, without marks of thousands"
            wrong = f", which is no number with a decimal {name_of(DECIMALS, point)}; {cure}"
            if math.isfinite(number):
                sizes = f"between {SMALLEST:g} and {LARGEST:g} in size"
                wrong = f"; numbers must lie {sizes}: choose another unit"
            faults.add(f", line {line}: column {name} holds {entry!r}", wrong)
            break
        numbers[place] = number
    return numbers
