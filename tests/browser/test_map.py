"""The map of the claims in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

MAP = "book/map.html"
SIZES = "(box) => [box.scrollWidth, box.clientWidth]"


@pytest.mark.parametrize("width", [380, 1280])
def test_the_picture_scrolls_in_its_own_box_and_leads_on(width: int, visit: Any) -> None:
    page = visit(viewport={"width": width, "height": 844}).open(MAP)
    content, box = page.locator(".claim-map").evaluate(SIZES)
    assert content > box, "else it need not scroll"
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    page.locator(".claim-map a", has_text="thm-1-literal").first.click()
    page.wait_for_url("**/notebooks/claims/thm-1-rate.html#card-thm-1-literal")


def test_every_claim_of_the_picture_leads_to_its_card(visit: Any, html: Path) -> None:
    links = visit().open(MAP).locator(".claim-map a")
    addresses = links.evaluate_all("(all) => all.map((link) => link.getAttribute('href'))")
    assert len(addresses) > 50
    for address in addresses:
        page, _, card = address.partition("#")
        assert f'id="{card}"' in (html / "book" / page).read_text(encoding="utf-8"), address


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_names_stand_out_from_the_ground(scheme: str, visit: Any) -> None:
    page = visit(color_scheme=scheme).open(MAP)
    fill = "(node) => getComputedStyle(node).fill"
    name = page.locator(".claim-map a text:not([class])").first.evaluate(fill)
    ground = page.locator(".claim-map .box").first.evaluate(fill)

    def light(colour: str) -> int:
        return sum(map(int, colour.removeprefix("rgb(").removesuffix(")").split(",")))

    assert abs(light(name) - light(ground)) > 350, (name, ground)
