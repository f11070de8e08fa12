"""Sums of products as if computed in twice the working precision.

Where features of widely different length meet, the terms of a sum may be many orders of magnitude
larger than their sum, and a certificate must not depend on the rounding errors of this sum.

The algorithm is Dot2 of T. Ogita, S. M. Rump and S. Oishi, "Accurate sum and dot product", SIAM
J. Sci. Comput. 26 (2005).
"""

from __future__ import annotations

import numpy as np

from speedlib.checks import Floats

__all__ = ["accurate_product"]

#: Splits a float into two halves of 26 bits, whose products are exact.
SPLITTER = 2.0**27 + 1.0


def accurate_product(rows: Floats, vector: Floats) -> Floats:
    """Return ``rows @ vector`` for rows of shape (..., m)."""
    products, lost = _product(rows, vector)
    total, error = products[..., 0], lost.sum(axis=-1)
    for column in range(1, vector.size):
        term = products[..., column]
        rounded = total + term
        part = rounded - total
        error = error + ((total - (rounded - part)) + (term - part))
        total = rounded
    return np.asarray(total + error)


def _product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return the rounded product and what rounding lost."""
    (high_a, low_a), (high_b, low_b) = _split(a), _split(b)
    product = a * b
    return product, low_a * low_b - (
        ((product - high_a * high_b) - low_a * high_b) - high_a * low_b
    )


def _split(a: Floats) -> tuple[Floats, Floats]:
    scaled = SPLITTER * a
    high = scaled - (scaled - a)
    return high, a - high
