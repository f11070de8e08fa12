"""The public surface of the solvers: what has no underscore says what it offers, and no more."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

import pytest

from speedlib import solvers

PUBLIC = [
    importlib.import_module(f"speedlib.solvers.{found.name}")
    for found in pkgutil.iter_modules(solvers.__path__)
    if not found.name.startswith("_")
]


def test_the_package_offers_what_its_modules_offer() -> None:
    """All but the reference, which `import speedlib` has no need to load."""
    offered = {name for module in PUBLIC for name in module.__all__}
    assert set(solvers.__all__) == offered - {"multiplicative_design"}
    assert all(getattr(solvers, name).__module__.startswith("speedlib") for name in solvers.__all__)


@pytest.mark.parametrize("module", PUBLIC, ids=lambda module: module.__name__)
def test_a_module_offers_what_is_its_own(module: ModuleType) -> None:
    for name in module.__all__:
        assert getattr(module, name).__module__ == module.__name__
        assert getattr(module, name).__doc__


def test_no_function_hides_a_module() -> None:
    """`from speedlib.solvers import elfving` is the module: its function is `elfving_design`."""
    for module in PUBLIC:
        assert vars(solvers).get(module.__name__.rpartition(".")[2], module) is module
