"""An estimated value with its standard error, and the intervals around it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from speedlib._arrays import real_array, shown
from speedlib._within import student_quantile
from speedlib.checks import Flags, Floats, check_finite, check_share, frozen

#: The ends of an interval: arrays over replications, or two floats.
Ends = tuple[Floats, Floats] | tuple[float, float]


@dataclass(frozen=True, eq=False)
class ValueEstimate:
    """An estimate of a policy's value; scalars, or arrays over replications.

    Parameters
    ----------
    value : array, shape (...,)
        The estimate of the value, in units of reward.
    standard_error : array, shape (...,)
        Its standard error under the variances used, in units of reward.
    estimable : array of bool, shape (...,)
        Whether the sampled actions determine the value at all. If they do not, `value` comes from a
        generalised inverse and is biased, and `standard_error` is infinite.
    degrees_of_freedom : array, shape (...,), or one number
        Degrees of freedom of Student's law, positive. They are infinite by default, for variances
        that are known or count as known; intervals are then normal. The attribute is a read-only
        array of the shape of `value`.

    Raises
    ------
    TypeError, ValueError
        If `degrees_of_freedom` are not positive numbers, or have another shape than `value`.

    Examples
    --------
    >>> import numpy as np
    >>> estimate = ValueEstimate(np.array(2.0), np.array(0.1), np.array(True))
    >>> [round(end, 3) for end in estimate.interval(0.95)]
    [1.804, 2.196]
    """

    value: Floats
    standard_error: Floats
    estimable: Flags
    degrees_of_freedom: Floats | float = math.inf

    def __post_init__(self) -> None:
        given = real_array("degrees_of_freedom", self.degrees_of_freedom)
        if given.dtype.kind == "b":
            raise TypeError(
                "degrees_of_freedom: expected positive numbers; got truth values: "
                f"{shown(self.degrees_of_freedom)}"
            )
        free = frozen(np.asarray(given, dtype=np.float64))
        if not np.all(free > 0):
            wrong = free[~(free > 0)].ravel()[0]
            raise ValueError(f"degrees_of_freedom: must be positive; got {wrong:g}")
        shape = np.shape(self.value)
        if free.ndim and free.shape != shape:
            raise ValueError(
                f"degrees_of_freedom: expected one number, or shape {shape}; got shape {free.shape}"
            )
        object.__setattr__(self, "degrees_of_freedom", np.broadcast_to(free, shape))

    def __reduce__(self) -> tuple[Any, ...]:
        """Build a copy from its parts, since NumPy forgets that an array is read-only."""
        return type(self), (
            self.value,
            self.standard_error,
            self.estimable,
            self.degrees_of_freedom,
        )

    def interval(self, level: float = 0.95) -> Ends:
        """Return Student's confidence interval of the given level, 0 < level < 1.

        Its ends are two floats, or arrays of shape (...,) over replications.

        The interval holds its level closely if the end of the experiment was fixed beforehand,
        rewards are independent, and their means are linear in the features. It fails if you compute
        it every day and stop when you like the result. It also fails if only a few large, rare
        rewards were seen, such as sales to one customer in a hundred: each action that matters
        needs some dozens of these rewards. The page *Intervals that hold* of the book measures all
        of this.
        """
        return _interval(self.value, self.standard_error, level, self.degrees_of_freedom)

    def __repr__(self) -> str:
        if np.ndim(self.value):
            return f"ValueEstimate({np.size(self.value)} replications)"
        low, high = self.interval()
        return (
            f"ValueEstimate(value={float(self.value):.6g}, "
            f"standard_error={float(self.standard_error):.3g}, "
            f"95% interval=({low:.6g}, {high:.6g}))"
        )


def normal_interval(middle: ArrayLike, error: ArrayLike, level: float) -> Ends:
    """Return the ends of normal intervals of the given level; an error may be infinite.

    The ends are two floats for a single number, and arrays of the shape of `middle` for several.
    """
    return _interval(middle, error, level, math.inf)


def _interval(
    middle: ArrayLike, error: ArrayLike, level: float, degrees_of_freedom: Floats | float
) -> Ends:
    center = check_finite("middle", middle)
    spread = np.asarray(real_array("error", error), dtype=np.float64)
    if not np.all(spread >= 0):
        raise ValueError(f"error: must be at least 0; got {spread[~(spread >= 0)].ravel()[0]:g}")
    if spread.ndim and spread.shape != center.shape:
        raise ValueError(f"error: expected shape {center.shape}; got shape {spread.shape}")
    upper = (1 + check_share("level", level)) / 2
    half = student_quantile(np.asarray(degrees_of_freedom), upper) * spread
    low, high = np.asarray(center - half), np.asarray(center + half)
    return (low, high) if low.ndim else (float(low), float(high))
