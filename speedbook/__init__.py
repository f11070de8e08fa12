"""Build the book and keep its evidence; this adds what papermill and Jupyter Book lack.

A notebook needs these names: ``from speedbook import envelope, family_level, figures, half_width,
record``. They are loaded when first used, so the command line starts quickly.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from speedbook import figures
    from speedbook.claims.record import record
    from speedbook.intervals import envelope, family_level, half_width

__all__ = ["envelope", "family_level", "figures", "half_width", "record"]

#: The modules of the functions among them.
_HOMES = {
    "envelope": "speedbook.intervals",
    "family_level": "speedbook.intervals",
    "half_width": "speedbook.intervals",
    "record": "speedbook.claims.record",
}


# It takes effect in a kernel of a rerun only; `speedbook.frames` is light.
import_module("speedbook.frames").keep_numbers()


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in __all__:
        return import_module(f"speedbook.{name}")
    raise AttributeError(f"module 'speedbook' has no attribute {name!r}")
