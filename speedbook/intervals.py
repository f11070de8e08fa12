"""Intervals of level 99.9 %, on which the verdicts rest."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: Normal quantile of intervals of level 99.9 %, to two decimals.
QUANTILE = 3.29


def half_width(standard_error: ArrayLike) -> NDArray[np.float64]:
    """Return half the length of the normal interval of level 99.9 %: 3.29 standard errors.

    Parameters
    ----------
    standard_error : array-like, shape (...,)
        Of estimates that are close to normal.

    Returns
    -------
    array, shape (...,)
    """
    return QUANTILE * np.asarray(standard_error, dtype=float)


def envelope(estimates: ArrayLike, halves: ArrayLike) -> tuple[float, float]:
    r"""Return the shortest interval that holds the intervals of all estimates.

    If a rule holds for the ends of :math:`[\min_i (e_i - h_i),\, \max_i (e_i + h_i)]`, it holds for
    every single interval :math:`[e_i - h_i,\, e_i + h_i]`.

    Parameters
    ----------
    estimates : array-like, shape (k,)
        The estimates e, at least one.
    halves : array-like, shape (k,) or ()
        Half the length h of each interval, at least 0; 0 for exact values.

    Returns
    -------
    tuple of float
        Its ends.

    Raises
    ------
    ValueError
        If there is no estimate, a number is missing, or a half is negative.

    Examples
    --------
    >>> envelope([1.0, 1.5], [0.5, 0.25])
    (0.5, 1.75)
    """
    middle, half = np.broadcast_arrays(np.asarray(estimates, float), np.asarray(halves, float))
    if middle.size == 0:
        raise ValueError("estimates: an envelope needs at least one; got none")
    if np.isnan(middle).any() or np.isnan(half).any():
        raise ValueError(f"estimates, halves: must be numbers; got {estimates!r} and {halves!r}")
    if (half < 0).any():
        raise ValueError(f"halves: must be at least 0; got {half.min():g}")
    return float((middle - half).min()), float((middle + half).max())
