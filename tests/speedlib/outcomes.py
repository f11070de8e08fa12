"""What comes of a call with one argument replaced: a result, or a complaint that names it."""

from __future__ import annotations

import dataclasses
import re
import warnings
from typing import Any, NamedTuple

import numpy as np

from speedlib import DesignWarning

from .doors import DOORS, MEASUREMENTS


def parts_of(result: Any) -> list[Any]:
    """Return all arrays and values that a result consists of."""
    if dataclasses.is_dataclass(result) and not isinstance(result, type):
        return parts_of([getattr(result, each.name) for each in dataclasses.fields(result)])
    if isinstance(result, dict):
        return parts_of(list(result.values()))
    if isinstance(result, tuple | list):
        return [part for each in result for part in parts_of(each)]
    return [result]


def has_nan(result: Any) -> bool:
    floats = [np.asarray(part) for part in parts_of(result)]
    return any(part.dtype.kind == "f" and np.isnan(part).any() for part in floats)


def same(one: Any, other: Any) -> bool:
    pairs = list(zip(parts_of(one), parts_of(other), strict=True))
    return all(np.array_equal(np.asarray(a), np.asarray(b)) for a, b in pairs)


#: What is named as the field of a class that it is, or by what must be as many.
NAMED_LIKE = {
    ("exploration_length", "rule"): "exploration_rounds",
    ("standard_noise", "law"): "noise",
    ("quantile_slope", "x"): "samples",  # one of these for each of those
    ("check_exploration_length", "rule"): "exploration_rounds",
    ("read_actions", "path"): "nonsense",  # the file by its name
    ("read_measurements", "path"): "nonsense",
    ("read_measurements", "target"): "column",  # the file, and which column it lacks
    ("read_measurements", "policy"): "column",
}


class Outcome(NamedTuple):
    """A result, or the complaint that came in its place."""

    result: Any = None
    complaint: str = ""


def outcome(where: tuple[str, str], value: Any, *, also: bool = False) -> Outcome:
    """Call a door with one argument replaced; with `also`, another argument may be named."""
    door, argument = DOORS[where[0]], where[1]
    arguments = {**door.arguments, argument: value}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", DesignWarning)  # says what it should
        try:
            result = door.call(**arguments)
        except (TypeError, ValueError) as error:
            head = str(error).removeprefix(f"{MEASUREMENTS}: has no ").split(": ", 1)[0]
            names = {argument, NAMED_LIKE.get(where, argument)}
            names |= set(door.arguments) if also else set()
            # A sum, or a product, of what was passed is named as such.
            assert names & set(re.findall(r"\w+", head)), f"unnamed: {error}"
            assert len(str(error)) < 400, f"too long: {error}"
            return Outcome(complaint=str(error))
    assert not has_nan(result), "the result holds a NaN"
    return Outcome(result)
