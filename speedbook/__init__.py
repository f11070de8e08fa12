"""The press and the evidence: what papermill and Jupyter Book lack.

A notebook needs two names: ``from speedbook import figures, record``. They are loaded when
first used, so that the command line starts at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from speedbook import figures
    from speedbook.claims.record import record

__all__ = ["figures", "record"]


def __getattr__(name: str) -> Any:
    if name == "record":
        return import_module("speedbook.claims.record").record
    if name in __all__:
        return import_module(f"speedbook.{name}")
    raise AttributeError(f"module 'speedbook' has no attribute {name!r}")
