"""Checks of single numbers, choices and seeds: see `speedlib.checks`, which offers them."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from speedlib._arrays import shown

__all__ = [
    "MAX_COUNT",
    "check_choice",
    "check_count",
    "check_flag",
    "check_number",
    "check_rng",
    "check_rounds",
    "check_share",
]

#: The largest number of pulls: whole numbers up to here, and halves of them, are exact as floats,
#: so an apportionment can be computed in floats and sum to the number of rounds.
MAX_COUNT = 2**52


def check_count(name: str, value: Any, minimum: int, maximum: int | None = None) -> int:
    """Return a whole number that is at least `minimum`, and at most `maximum` if there is one."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name}: expected a whole number; got {shown(value)}")
    if value < minimum:
        raise ValueError(f"{name}: must be at least {minimum}; got {value}")
    if maximum is not None and value > maximum:
        raise ValueError(f"{name}: must be at most {maximum}; got {value}")
    return int(value)


def check_rounds(value: Any, minimum: int = 1, maximum: int = MAX_COUNT) -> int:
    """Return a number of rounds: whole, as 2e3 is, and not beyond what floats count exactly."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        value = int(value)
    return check_count("rounds", value, minimum, maximum)


def check_number(
    name: str,
    value: Any,
    *,
    above: float = -np.inf,
    below: float = np.inf,
    least: float = -np.inf,
    most: float = np.inf,
) -> float:
    """Return a number above or at `least` and below or at `most`; without limits, any but NaN."""
    number = _float(name, value)
    open_low = number > above or above == -np.inf
    open_high = number < below or below == np.inf
    if not (open_low and open_high and least <= number <= most):
        raise ValueError(f"{name}: must {_rule(above, below, least, most)}; got {shown(value)}")
    return number


def _rule(above: float, below: float, least: float, most: float) -> str:
    if np.isfinite([least, most]).all():
        return f"lie between {least:g} and {most:g}"
    limits = {"at least": least, "above": above, "at most": most, "below": below}
    rules = [f"{how} {limit:g}" for how, limit in limits.items() if np.isfinite(limit)]
    return f"be {' and '.join(rules) or 'a number'}"


def _float(name: str, value: Any) -> float:
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(f"{name}: expected a number; got {shown(value)}")
    number: Any = value
    try:
        return float(number)
    except OverflowError:
        return np.inf if number > 0 else -np.inf


def check_share(name: str, value: Any) -> float:
    """Return a number strictly between 0 and 1."""
    number = _float(name, value)
    if not 0 < number < 1:
        raise ValueError(f"{name}: must lie strictly between 0 and 1; got {shown(value)}")
    return number


def check_flag(name: str, value: Any) -> bool:
    """Return a truth value, and nothing that merely looks like one."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name}: expected True or False; got {shown(value)}")
    return bool(value)


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """Return `value` if it is one of the named choices."""
    if not isinstance(value, str) or value not in choices:
        allowed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name}: must be one of {allowed}; got {shown(value)}")
    return str(value)


def check_rng(rng: Any) -> np.random.Generator:
    """Return a Generator from a Generator, a SeedSequence or a whole-number seed."""
    if isinstance(rng, np.random.Generator):
        return rng
    if isinstance(rng, np.random.SeedSequence):
        return np.random.default_rng(rng)
    if isinstance(rng, int | np.integer) and not isinstance(rng, bool):
        return np.random.default_rng(check_count("rng", rng, 0))
    raise TypeError(
        f"rng: pass a numpy Generator, a SeedSequence or a seed (a whole number); got {shown(rng)}"
    )
