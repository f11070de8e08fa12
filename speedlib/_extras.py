"""Packages that only some functions need: what to say where one is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def needed_by(what: str, extra: str) -> Iterator[None]:
    """Import what `what` needs; where it is missing, name the extra that brings it."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        raise ImportError(
            f"{what} needs {package}, which is not installed: "
            f"pip install 'speed-companion[{extra}]'"
        ) from None
