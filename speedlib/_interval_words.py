"""Intervals written with the digits that they leave."""

from __future__ import annotations

import numpy as np

__all__ = ["with_ends", "with_half_width"]


def with_half_width(mean: float, half: float) -> str:
    """Write a mean and half the width of its interval, with the digits that this width leaves.

    Examples
    --------
    >>> with_half_width(2.1234, 0.0321), with_half_width(212.3, 80.1), with_half_width(1.0, 0.0)
    ('2.12 ± 0.03', '212 ± 80', '1.000 ± 0.000')
    """
    decimals = _decimals(half)
    return f"{mean:.{decimals}f} ± {half:.{decimals}f}"


def with_ends(mean: float, low: float, high: float) -> str:
    """Write a mean and the ends of its interval, with the digits that its width leaves.

    Examples
    --------
    >>> with_ends(2.1234, 2.0912, 2.1561), with_ends(212.3, 97.0, 464.6), with_ends(1.0, 1.0, 1.0)
    ('2.12 [2.09, 2.16]', '212 [97, 465]', '1.000 [1.000, 1.000]')
    >>> with_ends(1.5, 0.4, 5.6)
    '1.5 [0.4, 5.6]'

    An interval of more than a factor of a thousand does not determine anything.

    >>> with_ends(0.79, 1e-4, 9.1e13)
    '0.79, not determined'
    """
    if high > 1000 * low:
        return f"{mean:.2g}, not determined"
    decimals = _decimals(min(mean - low, low))
    return f"{mean:.{decimals}f} [{low:.{decimals}f}, {high:.{decimals}f}]"


def _decimals(half: float) -> int:
    return min(max(-int(np.floor(np.log10(half))), 0), 3) if half > 0 else 3
