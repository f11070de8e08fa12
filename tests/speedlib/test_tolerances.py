"""One table of tolerances: nothing as small stands elsewhere, and nothing in it is idle."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from speedlib import _tolerances

FOLDER = Path(_tolerances.__file__).parent
MODULES = [path for path in FOLDER.rglob("*.py") if path.name != "_tolerances.py"]
NAMES = [name for name in vars(_tolerances) if name.isupper()]

#: Small numbers that are none: the least size that is let in, and half of a digit that is shown.
OTHERS = {("checks.py", 1e-60), ("designs.py", 5e-10)}


def small_numbers(path: Path) -> set[tuple[str, float]]:
    """Numbers in the code of a file (not in its text) that can only be a tolerance."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    numbers = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, float)
    }
    return {(path.name, number) for number in numbers if 0 < number <= 1e-6}


def test_small_numbers_stand_in_the_table_alone() -> None:
    found = set().union(*(small_numbers(path) for path in MODULES))
    assert found == OTHERS


def test_rounding_is_measured_in_one_unit() -> None:
    """No file asks for the precision of floats itself."""
    assert [path.name for path in MODULES if "float).eps" in path.read_text(encoding="utf-8")] == []


@pytest.mark.parametrize("name", NAMES)
def test_each_is_used_and_has_its_reason(name: str) -> None:
    users = [path for path in MODULES if re.search(rf"\b{name}\b", path.read_text("utf-8"))]
    assert users
    before = (FOLDER / "_tolerances.py").read_text(encoding="utf-8").split(f"\n{name}", 1)[0]
    assert before.splitlines()[-1].startswith("#: ")
