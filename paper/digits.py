"""Write numbers of any unit as text; their spread decides the digits, and none is shown as zero."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    import pandas as pd

#: Spreads between these are written without powers of ten.
PLAIN = (1e-4, 1e6)
#: Digits of a measured number, and of one that is far smaller than others.
MEASURED, TINY = 6, 2


def to_spread(numbers: Iterable[float], spread: float, digits: int = 3) -> list[str]:
    """Write numbers such that their spread has the given number of significant digits.

    Parameters
    ----------
    numbers : iterable of float
    spread : float
        The spread of the numbers, in their unit; greater than 0.
    digits : int
        Significant digits of the spread.

    Examples
    --------
    >>> to_spread([90.3172, 85.0], 3.21), to_spread([90.3172e-6, 85e-6], 3.21e-6)
    (['90.32', '85.00'], ['9.032e-05', '8.500e-05'])
    >>> to_spread([0.5, 1e-9, 0.0], 0.3)
    ['0.500', '1e-09', '0.000']
    """
    decimals = digits - 1 - int(f"{spread:.{digits - 1}e}".partition("e")[2])
    plain = PLAIN[0] <= spread < PLAIN[1]
    return [_written(float(number), decimals, plain) for number in numbers]


def to_decimals(numbers: Iterable[float], decimals: int) -> list[str]:
    """Write numbers with fixed decimals; a number that would be shown as zero gets more digits.

    Examples
    --------
    >>> to_decimals([0.1274, 0.00001234, 0.0], 3)
    ['0.127', '1.2e-05', '0.000']
    """
    return [_written(float(number), decimals, plain=True) for number in numbers]


def as_measured(numbers: Iterable[float]) -> list[str]:
    """Write numbers with up to six digits each and, if possible, with equal decimals.

    Examples
    --------
    >>> as_measured([8.66, 9.5, 10]), as_measured([8.66e-6, 9.5e-6, 0])
    (['8.66', '9.50', '10.00'], ['8.66e-06', '9.5e-06', '0'])
    """
    short = [f"{number:.{MEASURED}g}" for number in numbers]
    decimals = max((len(text.partition(".")[2]) for text in short), default=0)
    if decimals > MEASURED or any("e" in text for text in short):
        return short
    return [f"{float(text):.{max(1, decimals)}f}" for text in short]


def _written(number: float, decimals: int, plain: bool) -> str:
    # Decimal, so the unit has no effect: 0.125e-6 is rounded as 0.125 is.
    rounded = Decimal(repr(number)).quantize(Decimal(1).scaleb(-decimals))
    if number and not rounded:
        return f"{number:.{TINY}g}"
    if plain:
        return f"{rounded:.{max(0, decimals)}f}"
    return f"{float(rounded):.{max(0, rounded.adjusted() + decimals)}e}" if number else "0"


def summary(numbers: ArrayLike, names: Iterable[str]) -> pd.DataFrame:
    """Return count, mean, standard deviation and range of columns, each with its own digits.

    Parameters
    ----------
    numbers : array, shape (N, d)
        No column is constant.
    names : iterable of str
        Names of the d columns.
    """
    import pandas as pd

    columns: dict[str, Mapping[str, str]] = {}
    for name, column in zip(names, np.asarray(numbers, dtype=float).T, strict=True):
        found = {
            "mean": column.mean(),
            "std": column.std(ddof=1),
            "min": column.min(),
            "max": column.max(),
        }
        texts = to_spread(found.values(), found["std"])
        columns[name] = {"count": f"{len(column)}", **dict(zip(found, texts, strict=True))}
    return pd.DataFrame(columns)
