"""Designs of strategies of one's own, checked where they come in."""

from __future__ import annotations

from typing import Any

import numpy as np

from speedlib.checks import Floats, check_finite


def check_own(strategy: str, method: str, design: Any, shape: tuple[int, ...]) -> Floats:
    """Return what a method of a strategy returned if it is designs of this shape.

    Raises
    ------
    TypeError, ValueError
        If it does not consist of finite numbers, or has another shape; strategy and method are
        named.
    """
    name = f"{strategy}.{method}"
    found = check_finite(name, design)
    if np.shape(design) != shape:
        rows = "one design for each row of variances" if len(shape) > 1 else "one share per action"
        raise ValueError(
            f"{name}: must return {rows}, shape {shape}; it returned shape {np.shape(design)}"
        )
    # As it came: a row that all share stays one.
    return design if isinstance(design, np.ndarray) and design.dtype == np.float64 else found
