"""A solver's error about its points, reworded for a user who passed features."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["points_are_features"]


@contextmanager
def points_are_features() -> Iterator[None]:
    """Let an error that begins with the points begin with the features, which they come from."""
    try:
        yield
    except ValueError as error:
        name, separator, rule = str(error).partition(": ")
        if not separator or not name.startswith("points"):
            raise
        raise ValueError(f"features: {rule}") from None
