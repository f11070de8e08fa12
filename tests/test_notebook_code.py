"""The code of the notebooks: public names only, evidence in sight, drawing and reporting folded.

That it fits the column of a page is a rule of ruff: see `notebooks/ruff.toml`.
"""

from __future__ import annotations

import ast
import importlib
from functools import cache
from pathlib import Path

import pytest

from speedbook.notebook.files import code_cells, read_notebook

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "notebooks").rglob("*.ipynb")
    if ".ipynb_checkpoints" not in path.parts
)
#: What a page folds: calls that draw or report, and decide nothing.
FOLDED = {"figures.show", "record"}

every_notebook = pytest.mark.parametrize("name", NOTEBOOKS)


@cache
def cells(name: str) -> list[tuple[ast.Module, bool]]:
    """Return the code of each cell, and whether the page folds it."""
    return [
        (ast.parse(cell.source), "hide-input" in cell.metadata.get("tags", []))
        for cell in code_cells(read_notebook(ROOT / name))
    ]


def hidden_names(module: ast.Module) -> list[str]:
    """Return what is imported from our rooms although it is not public."""
    found = []
    for node in ast.walk(module):
        if not isinstance(node, ast.ImportFrom) or node.module is None:
            continue
        if node.module.split(".")[0] not in ("speedlib", "paper", "speedbook"):
            continue
        home = importlib.import_module(node.module)
        private = any(part.startswith("_") for part in node.module.split("."))
        for name in (alias.name for alias in node.names):
            unlisted = node.module.startswith("speedlib") and name not in home.__all__
            if private or unlisted or name.startswith("_"):
                found.append(f"{node.module}.{name}")
    return found


@every_notebook
def test_a_notebook_imports_what_is_public(name):
    assert [hidden for module, _ in cells(name) for hidden in hidden_names(module)] == []


def test_hidden_names_are_found():
    source = """
from speedlib.solvers import _frame
from speedlib.estimators import combine, least_squares
from paper._plots import x
"""
    module = ast.parse(source.rsplit("from paper", 1)[0])
    assert hidden_names(module) == ["speedlib.solvers._frame", "speedlib.estimators.combine"]


def calls(module: ast.Module) -> set[str]:
    """Return the functions that the code calls outside its own definitions."""
    return {ast.unparse(node.func) for node in ast.walk(module) if isinstance(node, ast.Call)}


@every_notebook
def test_drawing_and_reporting_are_folded(name):
    shown = [sorted(calls(module) & FOLDED) for module, folded in cells(name) if not folded]
    assert [found for found in shown if found] == []


@every_notebook
def test_a_result_is_thrown_away_in_the_last_line_only(name):
    """What a cell ends with is displayed; nothing else need be kept from display."""
    for module, _ in cells(name):
        for node in ast.walk(module):
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_":
                assert node is module.body[-1], ast.unparse(node)


@every_notebook
def test_no_notebook_has_an_interval_or_a_slope_of_its_own(name):
    """They are `speedbook.half_width`, `speedbook.envelope` and `speedlib.slopes`."""
    for module, _ in cells(name):
        defined = {node.name for node in ast.walk(module) if isinstance(node, ast.FunctionDef)}
        numbers = {node.value for node in ast.walk(module) if isinstance(node, ast.Constant)}
        assert not defined & {"slope", "envelope", "half_width"}
        assert 3.29 not in numbers
