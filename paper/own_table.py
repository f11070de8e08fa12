"""Helpers of the pages on a user's own tables: unique names, and rows without features."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

#: The most lines that are listed; further ones are counted.
FEW_LINES = 8


def names_beside(names: Iterable[str], taken: Iterable[str]) -> list[str]:
    """Return names for the model's numbers that differ from all columns of the table.

    Examples
    --------
    >>> names_beside(["line", "variance"], ["size", "variance"])
    ['line', 'variance (model)']
    """
    used = set(taken)
    found = []
    for name in names:
        while name in used:
            name += " (model)"
        used.add(name)
        found.append(name)
    return found


def featureless_note(X: ArrayLike, lines: Sequence[int]) -> str:
    """Say in Markdown which rows have only zero features; empty if there is none.

    Parameters
    ----------
    X : array, shape (N, d)
        Features as the model takes them, including an intercept.
    lines : sequence of int, length N
        The line of the file with each row.
    """
    rows = np.flatnonzero(~np.any(np.asarray(X), axis=1))
    if not rows.size:
        return ""
    first = ", ".join(str(lines[row]) for row in rows[:FEW_LINES])
    more = f" and {rows.size - FEW_LINES} more" if rows.size > FEW_LINES else ""
    where = (
        f"Line {first} of the file has"
        if rows.size == 1
        else f"Lines {first}{more} of the file have"
    )
    return (
        f"**{where} only features that are zero.** The model then assumes that the mean there is "
        "0, without any noise. This is right for an option that does nothing at all. For a control "
        "group, or the category that columns of 0 and 1 leave out, choose `intercept = true`."
    )
