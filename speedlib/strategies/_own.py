"""Checks of what the methods of a user's own strategies return."""

from __future__ import annotations

from typing import Any

import numpy as np

from speedlib._arrays import real_array, shown
from speedlib.checks import Flags, Floats, check_finite


def check_own(
    strategy: str, method: str, design: Any, shape: tuple[int, ...], each: str = "share"
) -> Floats:
    """Return what a method of a strategy returned if it is designs of this shape.

    Any numbers of this shape count as designs here; `each` is the word for one number in messages.

    Raises
    ------
    TypeError, ValueError
        If the result does not consist of finite numbers, or has another shape. The message names
        strategy and method.
    """
    name = f"{strategy}.{method}"
    found = check_finite(name, design)
    if np.shape(design) != shape:
        rows = f"one {each} per action"
        if len(shape) > 1:
            rows = f"one row of {each}s for each row of variances"
        raise ValueError(
            f"{name}: must return {rows}, shape {shape}; it returned shape {np.shape(design)}"
        )
    # As it came: a row that all share stays one.
    return design if isinstance(design, np.ndarray) and design.dtype == np.float64 else found


def check_determined(strategy: str, answer: Any, shape: tuple[int, ...]) -> tuple[Flags, str]:
    """Return what `determined` of a strategy returned if it is truth values and a text.

    Raises
    ------
    TypeError, ValueError
        If the result is no such pair, or the truth values have another shape. The message names
        strategy and method.
    """
    name = f"{strategy}.determined"
    pair = isinstance(answer, tuple | list) and len(answer) == 2
    if not pair or not isinstance(answer[1], str):
        raise TypeError(
            f"{name}: must return a pair, truth values of shape {shape} and a text; "
            f"it returned {shown(answer)}"
        )
    flags = real_array(name, answer[0])
    if flags.dtype.kind != "b":
        raise TypeError(f"{name}: must return truth values; it returned {shown(answer[0])}")
    if flags.shape != shape:
        raise ValueError(
            f"{name}: must return one truth value per action, shape {shape}; "
            f"it returned shape {flags.shape}"
        )
    return flags, answer[1]
