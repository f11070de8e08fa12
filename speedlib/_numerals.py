"""Numbers as tables write them: the decimal mark, and the mark that may separate thousands.

A mark with exactly three digits after it and one to three before, as in 1.250 or 12,000, may be a
decimal mark or separate thousands. Another entry of the table, such as 1.5, can settle the
question. Otherwise only the author of the table knows.
"""

from __future__ import annotations

import re
from decimal import Decimal

__all__ = [
    "DECIMALS",
    "as_decimal",
    "as_millions",
    "as_share",
    "as_thousands",
    "is_number",
    "with_point",
    "without_thousands",
]

DECIMALS = {"point": ".", "comma": ","}

# ASCII: other digits are numbers to Python, too, but hardly to those who wrote the table.
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)
MARKED = {
    mark: re.compile(rf"[+-]?\d*[{mark}]\d+(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)
    for mark in DECIMALS.values()
}
#: No thousands begin with a zero: 0.125 is a number with decimals.
GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}", re.ASCII)
#: With two marks or more they are thousands, and no number that is read here.
MILLIONS = re.compile(r"[+-]?[1-9]\d{0,2}([.,])\d{3}(\1\d{3})+", re.ASCII)


def is_number(entry: str) -> bool:
    """Return whether an entry is a number with a decimal point or without one."""
    return NUMBER.fullmatch(entry) is not None


def with_point(entry: str, mark: str) -> str:
    """Write a number with a decimal point; next to a decimal comma, a point makes it no number."""
    return entry if mark == "." else entry.replace(".", "?").replace(",", ".")


def as_decimal(entry: str, mark: str) -> bool:
    """Return whether an entry is a number with this mark before its decimals, and nothing else."""
    return (
        mark in entry
        and MARKED[mark].fullmatch(entry) is not None
        and GROUPED.fullmatch(entry) is None
    )


def as_thousands(entry: str, mark: str) -> bool:
    """Return whether the mark in an entry may stand before decimals or after thousands."""
    return mark in entry and GROUPED.fullmatch(entry) is not None


def as_millions(entry: str, mark: str) -> bool:
    """Return whether the mark stands in an entry twice or more, as it does after thousands only."""
    return mark in entry and MILLIONS.fullmatch(entry) is not None


def without_thousands(entry: str, mark: str) -> str | None:
    """Return an entry without its marks of thousands, if these alone keep it from being a number.

    The result is None if the entry may be a number with the other decimal mark: for example 1.250
    in a table with decimal commas.

    Examples
    --------
    >>> without_thousands("2.262,37", ","), without_thousands("2 262.37", ".")
    ('2262,37', '2262.37')
    >>> without_thousands("2.2,37", ",") is None
    True
    """
    other = "," if mark == "." else "."
    if as_thousands(entry, other):
        return None
    bare = re.sub(rf"(?<=\d)[{other}\s'\u2019](?=\d{{3}}(\D|$))", "", entry)
    return bare if bare != entry and is_number(with_point(bare, mark)) else None


def as_share(entry: str, mark: str) -> str | None:
    """Return a percentage as a share, in text; None for other entries.

    Examples
    --------
    >>> as_share("10%", "."), as_share("12,5 %", ","), as_share("ten%", ".")
    ('0.10', '0,125', None)
    """
    plain = with_point(entry.removesuffix("%").rstrip(), mark)
    if not entry.endswith("%") or not is_number(plain) or "e" in plain.lower():
        return None
    return str(Decimal(plain).scaleb(-2)).replace(".", mark)
