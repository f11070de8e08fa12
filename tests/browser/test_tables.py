"""Tables of cells: columns stand below their heads, and a frame shows that it holds more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

FRAMES = ".cell_output .output:has(table.dataframe)"
#: Of each column of each table: the sides on which its heads and its values stand.
SIDES = """() => [...document.querySelectorAll("table.dataframe")].flatMap(table => {
  const heads = [...table.tHead.rows].at(-1).cells
  return [...table.tBodies[0].rows].filter(row => row.cells.length === heads.length).flatMap(row =>
    [...row.cells].map((cell, place) =>
      [getComputedStyle(heads[place]).textAlign, getComputedStyle(cell).textAlign]))
})"""
#: Whether a frame's table is wider, and what the frame draws, before and after it is scrolled.
SCROLLED = """frame => {
  const names = frame.querySelector("tbody th"), style = getComputedStyle(frame)
  frame.scrollLeft = frame.scrollWidth
  return {
    wide: frame.scrollWidth > frame.clientWidth + 1,
    shadows: (style.backgroundImage.match(/gradient/g) || []).length,
    attached: style.backgroundAttachment,
    moved: names ? Math.abs(names.getBoundingClientRect().left - frame.getBoundingClientRect().left)
      : 0,
    several: frame.querySelector("tbody th + th") !== null,
    filled: [...frame.querySelectorAll("tr")].some(row =>
      /^rgb\\(/.test(getComputedStyle(row).backgroundColor)),
  }
}"""


def pages_with_tables(html: Path) -> list[str]:
    return [
        path.relative_to(html).as_posix()
        for path in sorted((html / "notebooks").rglob("*.html"))
        if 'class="dataframe"' in path.read_text(encoding="utf-8")
    ]


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1280, "dark")])
def test_columns_stand_below_their_heads_and_a_frame_shows_that_it_holds_more(
    width: int, scheme: str, visit: Any, html: Path
) -> None:
    window = visit(viewport={"width": width, "height": 900}, color_scheme=scheme)
    wide = 0
    for name in pages_with_tables(html):
        page = window.open(name)
        assert all(head == value for head, value in page.evaluate(SIDES)), name
        for frame in page.query_selector_all(FRAMES):
            found = frame.evaluate(SCROLLED)
            assert found["shadows"] == 4, name
            assert found["attached"] == "local, local, scroll, scroll"
            assert not found["filled"], f"{name}: rows hide the shadow"
            if found["wide"]:
                wide += 1
                assert found["several"] or found["moved"] < 2, name
    assert wide
