r"""Rates: the slope of one logarithm over another, with its standard error.

The logarithm of an error of order :math:`n^{-p}` is a line of slope :math:`-p` over :math:`\log n`.
The least-squares slope through points :math:`(x_i, y_i)` is the sum of :math:`w_i y_i` with
:math:`w_i = (x_i - \bar x) / \sum_j (x_j - \bar x)^2`, so if the points have independent errors,
the variance of the slope is the sum of :math:`w_i^2 \operatorname{Var} y_i`. The points may come
from simulations with different numbers of replications.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from speedlib._arrays import shown
from speedlib.checks import (
    Floats,
    check_finite,
    check_not_negative,
    check_rng,
    check_share,
    check_sizes,
    check_vector,
)

__all__ = ["FittedSlope", "Slope", "fitted_slope", "log_slope", "quantile_slope", "slope_weights"]

#: Resamples behind a bootstrap interval.
RESAMPLES = 4000


class Slope(NamedTuple):
    """A slope of logarithms with the ends of its interval.

    Examples
    --------
    >>> Slope(-1.5, -1.6, -1.4).low
    -1.6
    """

    estimate: float
    low: float
    high: float


class FittedSlope(NamedTuple):
    """A least-squares slope with its standard error; arrays if several lines were fitted.

    Examples
    --------
    >>> found = log_slope([10, 100], [1.0, 0.1])
    >>> round(float(found.estimate), 6), float(found.standard_error)
    (-1.0, 0.0)
    """

    estimate: Floats
    standard_error: Floats


def slope_weights(x: ArrayLike) -> Floats:
    r"""Return the weights w for which the sum of :math:`w_i y_i` is the slope of y over x.

    Parameters
    ----------
    x : array-like, shape (k,)
        At least two different numbers.

    Returns
    -------
    array, shape (k,)
        They sum to 0.

    Raises
    ------
    ValueError
        If the numbers are not finite, not of moderate size, or fewer than two differ.

    Examples
    --------
    >>> import numpy as np
    >>> weights = slope_weights([0, 1, 2])
    >>> weights.tolist(), float(weights @ np.array([1, 3, 5]))
    ([-0.5, 0.0, 0.5], 2.0)
    """
    points = check_sizes("x", check_finite("x", x))
    if points.ndim != 1 or np.unique(points).size < 2:
        raise ValueError(f"x: a slope needs two different numbers; got {points.tolist()}")
    distance = points - points[0]  # exact where points are close, as their mean is not
    distance = distance - distance.mean()
    return np.asarray(distance / (distance**2).sum())


def fitted_slope(x: ArrayLike, y: ArrayLike, standard_error: ArrayLike = 0.0) -> FittedSlope:
    r"""Fit a line by least squares; return its slope and the standard error of the slope.

    Parameters
    ----------
    x : array-like, shape (k,)
        At least two different numbers.
    y : array-like, shape (..., k)
        The points of one line, or of several.
    standard_error : array-like, shape (..., k), optional
        Standard errors of the points, which are independent; 0 for exact points.

    Returns
    -------
    FittedSlope
        Fields of shape (...,).

    Raises
    ------
    ValueError
        If an argument breaks its rule, or the shapes do not fit.

    Examples
    --------
    >>> slope, error = fitted_slope([0, 1, 2], [1.0, 3.0, 5.0], 0.1)
    >>> round(float(slope), 6), round(float(error), 6)
    (2.0, 0.070711)
    """
    weights = slope_weights(x)
    points = check_sizes("y", check_finite("y", y))
    if points.shape[-1:] != weights.shape:
        raise ValueError(f"y: expected shape (..., {weights.size}); got shape {points.shape}")
    error = _errors_of(points, standard_error)
    return FittedSlope(
        np.asarray(points @ weights), np.asarray(np.sqrt(((weights * error) ** 2).sum(axis=-1)))
    )


def log_slope(x: ArrayLike, y: ArrayLike, standard_error: ArrayLike = 0.0) -> FittedSlope:
    r"""Fit :math:`\log y` over :math:`\log x`; return the slope and its standard error.

    Parameters
    ----------
    x : array-like, shape (k,)
        Positive numbers, such as budgets; at least two must differ.
    y : array-like, shape (..., k)
        Positive numbers, such as the regrets at these budgets.
    standard_error : array-like, shape (..., k), optional
        Standard errors of y, whose errors are independent. To first order, the standard error of
        :math:`\log y` is the standard error of y divided by y.

    Returns
    -------
    FittedSlope
        Fields of shape (...,).

    Raises
    ------
    ValueError
        If a number is not positive, fewer than two of x differ, or the shapes do not fit.

    Examples
    --------
    >>> slope, error = log_slope([10, 100, 1000], [1.0, 0.1, 0.01], [0.01, 0.001, 0.0001])
    >>> round(float(slope), 6), round(float(error), 6)
    (-1.0, 0.003071)
    """
    places, points = _positive("x", check_vector("x", x)), _positive("y", y)
    if points.shape[-1:] != places.shape[-1:]:
        raise ValueError(f"y: expected shape (..., {places.size}); got shape {points.shape}")
    relative = _errors_of(points, standard_error) / points
    return fitted_slope(np.log(places), np.log(points), relative)


def quantile_slope(
    x: ArrayLike,
    samples: Sequence[ArrayLike],
    share: float,
    *,
    rng: np.random.Generator | int,
    level: float = 0.999,
) -> Slope:
    r"""Fit the logarithm of a quantile over :math:`\log x`.

    Parameters
    ----------
    x : array-like, shape (k,)
        Positive numbers, such as lengths of exploration; at least two must differ.
    samples : sequence of k array-likes, shape (m,) each
        Positive numbers, such as errors in independent explorations of each length.
    share : float
        The level of the quantile, strictly between 0 and 1.
    rng : numpy.random.Generator or int
        Source of the resamples.
    level : float
        Level of the interval.

    Returns
    -------
    Slope
        The slope with a percentile interval of the bootstrap, which resamples each sample
        separately.

    Raises
    ------
    TypeError, ValueError
        If an argument breaks its rule, there is not one sample for each of x, or one is empty.

    Notes
    -----
    No resample is drawn in full. The quantile of a resample is an order statistic of the sample,
    and the rank of this order statistic is binomial. So the only cost is sorting each sample once.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> samples = [np.abs(rng.standard_normal(400)) / n for n in (10, 100, 1000)]
    >>> slope = quantile_slope([10, 100, 1000], samples, 0.9, rng=2)
    >>> slope.low < -1 < slope.high
    True
    """
    share = check_share("share", share)
    tail, rng = (1 - check_share("level", level)) / 2, check_rng(rng)
    places = _positive("x", check_vector("x", x))
    if not isinstance(samples, Iterable) or isinstance(samples, str):
        raise TypeError(f"samples: expected a sequence of samples; got {shown(samples)}")
    ordered = [np.sort(_sample(sample, place)) for place, sample in enumerate(samples)]
    if len(ordered) != places.size:
        raise ValueError(
            f"samples: expected one for each of the {places.size} entries of x; got {len(ordered)}"
        )
    resampled = [
        sample[np.minimum(rng.binomial(sample.size, share, RESAMPLES), sample.size - 1)]
        for sample in ordered
    ]
    found = log_slope(x, [np.quantile(sample, share) for sample in ordered]).estimate
    again = log_slope(x, np.column_stack(resampled)).estimate
    low, high = np.quantile(again, [tail, 1 - tail])
    return Slope(float(found), float(low), float(high))


def _sample(sample: ArrayLike, place: int) -> Floats:
    """Return one of the samples as positive numbers, shape (m,)."""
    name = f"samples[{place}]"
    array = _positive(name, sample)
    if np.ndim(sample) != 1 or not array.size:
        raise ValueError(
            f"{name}: expected a list of one number or more; got shape {np.shape(sample)}"
        )
    return array


def _errors_of(points: Floats, standard_error: ArrayLike) -> Floats:
    """Return standard errors in the shape of the points."""
    error = check_sizes("standard_error", check_not_negative("standard_error", standard_error))
    try:
        return np.broadcast_to(error, points.shape)
    except ValueError:
        raise ValueError(
            f"standard_error: expected one number, or shape {points.shape} as that of y; "
            f"got shape {np.shape(standard_error)}"
        ) from None


def _positive(name: str, values: ArrayLike) -> Floats:
    array = check_sizes(name, check_finite(name, values))
    if np.any(array <= 0):
        raise ValueError(f"{name}: must be greater than 0 to have a logarithm; got {array.min():g}")
    return array
