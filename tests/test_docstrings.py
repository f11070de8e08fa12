"""The sections of docstrings: what the pages of the library make of them."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = "speedlib", "paper", "speedbook", "tools", "benchmarks"
DEFINED = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module
SECTION = re.compile(
    r"^(?:Raises|Returns|Yields|Warns|Parameters|Attributes)\n-+\n((?:.*\n?)*?)"
    r"(?=^\w[\w ]*\n-+$|\Z)",
    re.MULTILINE,
)


def glued(docstring: str) -> list[str]:
    """Return the terms that hold their description: it must stand on the lines below, indented."""
    lines = [line for section in SECTION.findall(docstring) for line in section.splitlines()]
    terms = [line for line in lines if line and not line.startswith(" ")]
    return [term for term in terms if re.search(r"^(?!.* : ).*(?: (?:If|For|The|An?) |\.$)", term)]


@pytest.mark.parametrize("package", PACKAGES)
def test_the_terms_of_a_section_stand_alone(package: str) -> None:
    found, seen = [], 0
    for path in sorted((ROOT / package).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, DEFINED) and (text := ast.get_docstring(node)):
                seen += 1
                found += [f"{path.relative_to(ROOT)}: {term}" for term in glued(text)]
    assert found == [] and seen > 20


def test_a_glued_term_is_found() -> None:
    fine = "Do it.\n\nRaises\n------\nValueError\n    If not.\n\nNotes\n-----\nA sentence. If so."
    assert glued(fine) == []
    wrong = fine.replace("ValueError\n    If", "ValueError If")
    assert glued(wrong) == ["ValueError If not."]
