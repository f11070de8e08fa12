"""Numbers and names as text: with the digits, the plural and the hint that a reader wants."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable


def rounded(number: float, width: float = 0.0) -> str:
    """Write a number with the digits that an interval of the given width warrants.

    Two significant digits of the width decide; an exact number (width 0) gets four of its own.

    Examples
    --------
    >>> rounded(1.00342, width=0.0213), rounded(0.0509996), rounded(1234567, width=5000)
    ('1.003', '0.051', '1.235e+06')
    """
    if width > 0 and 1e-4 <= max(abs(number), width) < 1e6:
        decimals = max(0, 1 - math.floor(math.log10(width)))
        return f"{number:z.{decimals}f}"
    return f"{number:z.4g}"


def counted(number: int, thing: str) -> str:
    """Write a number of things.

    Examples
    --------
    >>> counted(1, "claim"), counted(2000, "claim")
    ('1 claim', '2,000 claims')
    """
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


def duration(seconds: float) -> str:
    """Write a length of time with as many digits as a reader wants.

    Examples
    --------
    >>> duration(0.4), duration(22.2), duration(150)
    ('1 second', '22 seconds', '2.5 minutes')
    """
    if seconds >= 100:
        return f"{seconds / 60:.1f} minutes"
    return counted(max(1, round(seconds)), "second")


#: Where fewer names than these are known, a message about an unknown one can list them all.
FEW = 12


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: the nearest ones, or all if they are few.

    Examples
    --------
    >>> nearest("round", ["rounds", "seed"]), nearest("qqq", ["rounds", "seed"]), nearest("q", [])
    ('; nearest: rounds', '; there is rounds, seed', '; there is none')
    """
    names = list(known)
    if near := difflib.get_close_matches(name, names, n=3):
        return f"; nearest: {', '.join(near)}"
    return f"; there is {', '.join(names) or 'none'}" if len(names) < FEW else ""
