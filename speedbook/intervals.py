"""Intervals for verdicts: a single interval, or all of a page together, has level 99.9 %."""

from __future__ import annotations

import reprlib
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: The largest probability that some interval behind the verdicts of a page misses its number.
ERROR = 0.001


def family_level(among: int, count: int = 1) -> float:
    """Return the level of one interval, or of several, of the intervals of a page.

    If each of `among` intervals misses its number with probability at most 0.001 / `among`, all of
    them hold with probability at least 99.9 % (Bonferroni), and `count` of them with probability at
    least 1 - 0.001 `count` / `among`.

    Parameters
    ----------
    among : int
        The number of intervals behind the verdicts of the page, at least 1.
    count : int
        How many of these intervals the level is for, 1 to `among`: usually the intervals of one
        record.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If `among` or `count` is out of its range.

    Examples
    --------
    >>> family_level(1), round(family_level(20), 6), round(family_level(20, 4), 6)
    (0.999, 0.99995, 0.9998)
    """
    if among < 1:
        raise ValueError(f"among: must be at least 1; got {among}")
    if not 1 <= count <= among:
        raise ValueError(f"count: must be 1 to among = {among}; got {count}")
    return 1 - ERROR * count / among


def half_width(standard_error: ArrayLike, among: int = 1) -> NDArray[np.float64]:
    """Return half the length of the normal interval of level 99.9 %: 3.29 standard errors for one.

    Parameters
    ----------
    standard_error : array-like, shape (...,)
        Standard errors of nearly normal estimates, at least 0; infinite if nothing is known about
        an estimate.
    among : int
        The number of intervals that hold together with probability 99.9 %; see `family_level`.

    Returns
    -------
    array, shape (...,)

    Raises
    ------
    TypeError, ValueError
        If an entry is missing, negative or not a number, or `among` is below 1.
    """
    quantile = NormalDist().inv_cdf((1 + family_level(among)) / 2)
    return quantile * _not_negative("standard_error", _numbers("standard_error", standard_error))


def envelope(estimates: ArrayLike, halves: ArrayLike) -> tuple[float, float]:
    r"""Return the shortest interval that holds the intervals of all estimates.

    If a rule holds for the ends of :math:`[\min_i (e_i - h_i),\, \max_i (e_i + h_i)]`, it holds for
    every single interval :math:`[e_i - h_i,\, e_i + h_i]`.

    Parameters
    ----------
    estimates : array-like, shape (...,)
        The estimates e, at least one.
    halves : array-like, shape (...,) or ()
        Half the length of each interval, h, at least 0; 0 if the value is exact. One number serves
        all.

    Returns
    -------
    tuple of float
        Its ends.

    Raises
    ------
    TypeError, ValueError
        If there is no estimate, a half length is negative, the shapes differ, or an entry is
        not a finite number.

    Examples
    --------
    >>> envelope([1.0, 1.5], [0.5, 0.25])
    (0.5, 1.75)
    """
    middle, half = _numbers("estimates", estimates), _numbers("halves", halves)
    for name, array in (("estimates", middle), ("halves", half)):
        if np.isinf(array).any():
            raise ValueError(f"{name}: must be finite; got {reprlib.repr(array.tolist())}")
    if middle.size == 0:
        raise ValueError("estimates: an envelope needs at least one; got none")
    if half.shape not in ((), middle.shape):
        raise ValueError(
            f"halves: expected one number, or one for each of the estimates, shape {middle.shape}; "
            f"got shape {half.shape}"
        )
    half = _not_negative("halves", half)
    return float((middle - half).min()), float((middle + half).max())


def _numbers(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return an array of numbers, none of them missing; infinite ones are allowed."""
    rule = f"{name}: expected a number, or an array of them"
    try:
        array = np.asarray(values)
    except ValueError as error:  # rows of unequal lengths
        raise TypeError(f"{rule}; {error}") from error
    if array.dtype.kind not in "iuf" and array.size:
        raise TypeError(f"{rule}; got {reprlib.repr(values)}")
    if np.ma.is_masked(values) or np.isnan(array).any():
        raise ValueError(f"{name}: no number may be missing; got {reprlib.repr(values)}")
    return array.astype(float)


def _not_negative(name: str, array: NDArray[np.float64]) -> NDArray[np.float64]:
    if (array < 0).any():
        raise ValueError(f"{name}: must be at least 0; got {array.min():g}")
    return array
