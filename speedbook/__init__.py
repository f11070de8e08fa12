"""The press and the evidence: what papermill and Jupyter Book lack.

A notebook needs three names: ``from speedbook import record, figures, datasets``. They are loaded
when first used, so that the command line starts at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from speedbook import datasets, figures
    from speedbook.claims import record

__all__ = ["datasets", "figures", "record"]


def __getattr__(name: str) -> Any:
    if name == "record":
        return import_module("speedbook.claims").record
    if name in __all__:
        return import_module(f"speedbook.{name}")
    raise AttributeError(f"module 'speedbook' has no attribute {name!r}")
