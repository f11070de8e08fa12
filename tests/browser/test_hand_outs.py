"""Hand-outs on paper: one page of A4 each, with picture, finding and room to write."""

from __future__ import annotations

import re
from typing import Any

import pytest

#: Points of PostScript: 210 by 297 millimetres.
A4 = (595, 842)


@pytest.mark.parametrize("number", range(1, 8))
def test_a_hand_out_fits_one_page_of_a4(number: int, visit: Any) -> None:
    page = visit().open(f"book/class/hand-out-{number}.html")
    pdf = page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == 1
    (box,) = re.findall(rb"/MediaBox\s*\[0 0 ([\d.]+) ([\d.]+)\]", pdf)
    assert tuple(round(float(side)) for side in box) == A4


@pytest.mark.parametrize("number", range(1, 8))
def test_only_paper_has_lines_for_a_name_and_a_date(number: int, visit: Any) -> None:
    page = visit().open(f"book/class/hand-out-{number}.html")
    lines = page.locator("article .sb-signature p")
    assert lines.all_text_contents() == ["Name", "Date"]
    assert not any(line.is_visible() for line in lines.all())


@pytest.mark.parametrize("number", range(1, 8))
def test_a_hand_out_on_paper_has_a_picture_a_finding_and_room_to_write(
    number: int, visit: Any
) -> None:
    page = visit().open(f"book/class/hand-out-{number}.html")
    # A page of A4 without its margins, in pixels of CSS.
    page.set_viewport_size({"width": 688, "height": 1032})
    page.emulate_media(media="print")
    image = page.locator("article .sb-picture img")
    assert image.evaluate("(img) => img.complete && img.naturalWidth > 0")
    assert image.bounding_box()["width"] > 250
    for line, width in zip(page.locator("article .sb-signature p").all(), (350, 100), strict=True):
        assert line.is_visible() and line.bounding_box()["width"] > width
    assert page.locator("article .sb-finding").inner_text().endswith(".")
    rooms = page.locator("article .sb-write").all()
    assert len(rooms) == 2
    for room in rooms:
        assert room.bounding_box()["height"] > 120
