"""Every page of the built book: it opens from the disk, and nothing on it is broken."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from .conftest import built_pages

PHONE = {"width": 390, "height": 844}

# An unknown macro is not an error to MathJax: it writes the name in red.
FAULTY_FORMULAS = """() => {
  const faulty = [];
  for (const item of window.MathJax?.startup?.document?.math ?? []) {
    item.root.walkTree((node) => {
      const red = node.attributes?.get("mathcolor") === "red";
      if (node.kind === "merror" || red) faulty.push(item.math);
    });
  }
  return faulty;
}"""
TOO_WIDE = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
ALT_TEXTS = "(images) => images.map((image) => image.getAttribute('alt'))"

EVERY_PAGE = pytest.mark.parametrize("name", built_pages())


@EVERY_PAGE
def test_page_is_whole_without_the_network(name: str, visit: Any) -> None:
    window = visit()
    page = window.open(name)
    assert page.locator("h1:visible").count() == 1
    assert page.evaluate(FAULTY_FORMULAS) == []
    assert None not in page.locator("img").evaluate_all(ALT_TEXTS)
    for text in page.locator("article img").evaluate_all(ALT_TEXTS):
        # Left alone, the tools put the path of the file.
        assert len(text) > 40 and "_images" not in text, text
    page.set_viewport_size(PHONE)
    assert page.evaluate(TOO_WIDE) <= 0
    assert window.faults == []


def test_every_page_is_served_whole(visit: Any, site: Any) -> None:
    window = visit(site.url)
    for name in built_pages():
        window.open(name)
    assert window.faults == []
    assert site.missing == []


@EVERY_PAGE
def test_page_names_no_foreign_file_to_load(name: str, html: Path) -> None:
    text = (html / name).read_text(encoding="utf-8")
    loads = r"<(?:script|img|iframe|source|link)\b[^>]*?\b(?:src|href)=\"((?:https?:)?//[^\"]+)"
    assert re.findall(loads, text) == []


def test_styles_load_nothing_from_elsewhere(html: Path) -> None:
    for style in (html / "_static").rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        assert re.findall(r"(?:url\(|@import)\s*['\"]?(?:https?:)?//[^)'\"]+", text) == [], style
