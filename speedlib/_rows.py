"""What many files do with the rows of a matrix: bring them to unit length, take them in blocks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from speedlib._tolerances import ROWS_AT_ONCE
from speedlib.checks import Floats

__all__ = ["blocks", "unit_rows"]


def blocks(n: int) -> Iterator[slice]:
    """Yield slices that cover n rows, each few enough for it and a product to stay in the cache."""
    for first in range(0, n, ROWS_AT_ONCE):
        yield slice(first, first + ROWS_AT_ONCE)


def unit_rows(rows: Floats) -> Floats:
    """Return rows divided by their lengths; a row of zeros stays."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1.0))
