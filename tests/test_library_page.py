"""The page on the library answers with code that runs, and every public name has an example."""

from __future__ import annotations

import doctest
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import speedlib

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "book" / "api.md").read_text(encoding="utf-8")
LINES = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)
EXAMPLES = re.findall(r"^\| [^|]*\? \| (.*?) \| `([^`]*)` \|$", PAGE, re.MULTILINE)


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    found: dict[str, Any] = {}
    assert LINES is not None
    exec(LINES[1], found)
    return found


def test_the_page_has_questions() -> None:
    assert len(EXAMPLES) >= 15


@pytest.mark.parametrize(("functions", "code"), EXAMPLES, ids=[code for _, code in EXAMPLES])
def test_an_example_names_its_function_and_runs(
    functions: str,
    code: str,
    names: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    *_, last = re.findall(r"\{py:(\w+)\}`~?([\w.]+)`", functions)
    if last[0] != "mod":
        assert last[1].rpartition(".")[2] in code
    (tmp_path / "table.csv").write_text(
        "a,outcome\n" + "".join(f"{i},{i * i % 7 + 0.5}\n" for i in range(12))
    )
    (tmp_path / "actions.csv").write_text("action,probability,x,y\nred,0.5,1,0\nblue,0.5,0,1\n")
    monkeypatch.chdir(tmp_path)
    assert eval(code, dict(names)) is not None


@pytest.mark.parametrize("name", sorted(speedlib.__all__))
def test_a_public_name_has_an_example(name: str) -> None:
    text = inspect.getdoc(getattr(speedlib, name)) or ""
    _, heading, section = text.partition("\nExamples\n--------\n")
    assert heading, f"{name}: its docstring has no section Examples"
    # Where `python -m pytest` runs doctests, it runs these.
    assert doctest.DocTestParser().get_examples(section)
