"""How a check speaks: an AssertionError with one or two plain sentences."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

#: Answers may be rounded to about three digits.
ROUNDING = 2e-3


def require(holds: object, feedback: str) -> None:
    """Raise an AssertionError with the feedback unless the condition holds."""
    if not holds:
        raise AssertionError(feedback)


def array_of(name: str, answer: Any, shape: tuple[int, ...], rows: str = "") -> np.ndarray:
    """Return an answer as finite numbers of a shape, or say what it is instead."""
    require(answer is not None and answer is not ..., f"{name} is still empty.")
    try:
        values = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError):
        raise AssertionError(f"{name} must hold numbers only; got {answer!r}.") from None
    wanted = f"{name} must have the shape {shape}{', ' + rows if rows else ''}"
    require(values.shape == shape, f"{wanted}; yours has the shape {values.shape}.")
    require(np.all(np.isfinite(values)), f"{name} must be finite; got {values}.")
    return values


def number_of(name: str, answer: Any) -> float:
    """Return an answer as one finite number, or say what it is instead."""
    return float(array_of(name, answer, (), "one number"))


def whole_number_of(name: str, answer: Any) -> int:
    """Return an answer as one whole number, or say what it is instead."""
    value = number_of(name, answer)
    require(value == round(value), f"{name} must be a whole number; got {value:g}.")
    return round(value)


def close(answer: Any, value: Any, tolerance: float = ROUNDING) -> bool:
    """Say whether two answers agree up to rounding, compared with the largest entry."""
    answer, value = np.asarray(answer, dtype=float), np.asarray(value, dtype=float)
    if answer.shape != value.shape:
        return False
    return bool(np.all(abs(answer - value) <= tolerance * abs(value).max(initial=1e-12)))


def recognise(
    answer: Any, mistakes: Iterable[tuple[Any, str]], tolerance: float = ROUNDING
) -> None:
    """Raise the feedback of the first common mistake that gives this answer."""
    for value, feedback in mistakes:
        require(not close(answer, value, tolerance), feedback)


def distinct(right: Any, mistakes: Iterable[Any], gap: float = 0.0213) -> bool:
    """Say whether all wrong answers differ from the right one and from each other."""
    values = [np.asarray(value, dtype=float) for value in (right, *mistakes)]
    return not any(
        close(first, second, gap) or close(second, first, gap)
        for place, first in enumerate(values)
        for second in values[:place]
    )


def passed(task: str) -> None:
    """Print that a check has passed."""
    print(f"{task}: passed.")


def symmetric_of(name: str, answer: Any, d: int) -> np.ndarray:
    """Return an answer as a symmetric matrix, or say what it is instead."""
    matrix = array_of(name, answer, (d, d))
    scale = max(abs(matrix).max(), 1e-12)
    require(
        abs(matrix - matrix.T).max() <= ROUNDING * scale,
        f"{name} must be symmetric: the entries off the diagonal must agree; got "
        f"{matrix[0, 1]:g} and {matrix[1, 0]:g}.",
    )
    return np.asarray((matrix + matrix.T) / 2)


def design_of(name: str, answer: Any, actions: int) -> np.ndarray:
    """Return an answer as shares that are not negative and sum to one, or say what it breaks."""
    shares = array_of(name, answer, (actions,), "one share for each action")
    require(
        shares.min() >= -1e-9,
        f"{name}: a share cannot be negative; got {shares.min():.3g}.",
    )
    require(
        abs(shares.sum() - 1) <= ROUNDING,
        f"{name}: shares must sum to 1; yours sum to {shares.sum():.4g}.",
    )
    return np.asarray(np.maximum(shares, 0) / np.maximum(shares, 0).sum())
