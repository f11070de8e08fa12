"""The style sheets are whole: a brace that is missing takes the rules behind it with it."""

from __future__ import annotations

import re
from itertools import accumulate
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHEETS = sorted(
    path
    for folder in ("book", "speedbook", "notebooks", "tools")
    for path in (ROOT / folder).rglob("*.css")
    if "vendor" not in path.parts
)
_SILENT = re.compile(r"/\*.*?\*/|\"(?:[^\"\\\\]|\\\\.)*\"|'(?:[^'\\\\]|\\\\.)*'", re.DOTALL)


def depths(sheet: str) -> list[int]:
    """Return the number of open braces behind each brace, without comments and strings."""
    return list(accumulate(1 if c == "{" else -1 for c in _SILENT.sub("", sheet) if c in "{}"))


def is_whole(sheet: str) -> bool:
    found = depths(sheet)
    # A rule within a rule of the media is deepest: more is a brace that was forgotten.
    return not found or (min(found) >= 0 and found[-1] == 0 and max(found) <= 2)


def test_there_are_style_sheets() -> None:
    assert {"custom.css", "pages.css", "print.css", "explorer.css"} <= {p.name for p in SHEETS}


@pytest.mark.parametrize("path", SHEETS, ids=lambda path: path.name)
def test_the_braces_of_a_style_sheet_balance(path: Path) -> None:
    assert is_whole(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "sheet",
    [
        "@media print { a { b: c }",
        "a { b: c } }",
        "@media print { a { b: c } @media x { d { e: f } } }",
    ],
)
def test_a_missing_brace_is_seen(sheet: str) -> None:
    assert not is_whole(sheet)


def test_comments_and_strings_may_have_braces() -> None:
    assert is_whole('/* { */ a::after { content: "}"; }')
