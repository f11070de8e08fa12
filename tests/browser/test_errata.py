"""The errata in a browser: one screen says how much falls, and leads down."""

from __future__ import annotations

from typing import Any

ERRATA = "book/errata.html"


def test_the_summary_is_one_screen_and_every_line_leads_down(visit: Any) -> None:
    page = visit(viewport={"width": 1280, "height": 900}).open(ERRATA)
    gravest = page.locator(".errata-gravest")
    bottom = gravest.last.evaluate("(list) => list.getBoundingClientRect().bottom")
    assert 0 < bottom < 900
    counts = page.locator(".errata-counts a")
    sections = {"conclusion": 0, "statement": 1, "step": 2, "slip": 3}
    assert counts.count() == len(sections)
    told = [int(text.split()[0]) for text in counts.all_inner_texts()]
    assert gravest.locator("li").count() == told[0] + told[1]
    entries = page.locator("section[id^=erratum-]").count()
    assert entries == sum(told)
    for link in [*counts.all(), *gravest.get_by_role("link").all()]:
        target = (link.get_attribute("href") or "").removeprefix("#")
        assert page.locator(f'[id="{target}"]').count() == 1, target
    gravest.get_by_role("link").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/errata.html#erratum-thm-2")
