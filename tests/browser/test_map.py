"""The map of the claims in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

MAP = "book/map.html"
SIZES = "(box) => [box.scrollWidth, box.clientWidth]"


def whole_map(page: Any) -> Any:
    """Unfold the map of all statements and return it."""
    page.get_by_text("The whole map in one picture").click()
    return page.get_by_role("region", name="Map of the claims")


@pytest.mark.parametrize("width", [380, 1280])
def test_the_picture_scrolls_in_its_own_box_and_leads_on(width: int, visit: Any) -> None:
    page = visit(viewport={"width": width, "height": 844}).open(MAP)
    picture = whole_map(page)
    content, box = picture.evaluate(SIZES)
    assert content > box, "else it need not scroll"
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    picture.locator("a", has_text="thm-1-literal").first.click()
    page.wait_for_url("**/notebooks/claims/thm-1-rate.html#card-thm-1-literal")


def test_every_claim_of_the_picture_leads_to_its_card(visit: Any, html: Path) -> None:
    links = whole_map(visit().open(MAP)).locator("a")
    addresses = links.evaluate_all("(all) => all.map((link) => link.getAttribute('href'))")
    assert len(addresses) > 50
    for address in addresses:
        page, _, card = address.partition("#")
        assert f'id="{card}"' in (html / "book" / page).read_text(encoding="utf-8"), address


def test_ten_boxes_open_with_the_keyboard_and_stand_in_the_address(visit: Any) -> None:
    page = visit(viewport={"width": 1280, "height": 900}).open(MAP)
    boxes, folded = page.locator(".claim-groups a"), page.locator("details.map-box")
    assert boxes.count() == folded.count() == 10
    assert page.locator("details.map-box[open]").count() == 0
    within = "(svg) => svg.getBoundingClientRect().bottom <= window.innerHeight"
    assert page.locator(".claim-groups svg").evaluate(within), "the picture is in the first screen"
    boxes.first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/map.html#map-estimate")
    assert page.locator("details.map-box[open]").count() == 1
    focused = "() => document.activeElement.textContent"
    assert "The estimate and its error" in page.evaluate(focused)
    page.keyboard.press("Enter")
    assert page.locator("details.map-box[open]").count() == 0
    # `page.url` comes after the address.
    assert page.evaluate("() => location.hash") == ""
    page.keyboard.press("Space")
    page.wait_for_function("() => location.hash === '#map-estimate'")
    page.reload()
    opened = page.locator("details.map-box[open]")
    assert opened.count() == 1 and opened.get_by_role("table").is_visible()
    # From box to box.
    opened.get_by_role("link", name="Learning the variances").click()
    page.wait_for_url("**/map.html#map-lemma-1")
    assert page.locator("details.map-box[open]").count() == 2
    page.go_back()
    page.wait_for_url("**/map.html#map-estimate")


def test_on_a_phone_the_boxes_are_a_list_to_touch(visit: Any) -> None:
    size = {"width": 390, "height": 844}
    page = visit(viewport=size, has_touch=True, is_mobile=True).open(MAP)
    assert not page.locator(".claim-groups").is_visible()
    summary = page.locator("details.map-box summary").nth(8)
    assert summary.bounding_box()["height"] >= 44
    summary.tap()
    page.wait_for_url("**/map.html#map-theorem-1")
    assert page.get_by_role("link", name="thm-1-uniform").first.is_visible()
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390


def test_without_scripts_all_is_listed_and_links_open_boxes(visit: Any) -> None:
    window = visit(java_script_enabled=False)
    window.page.goto(f"{window.base}/{MAP}")
    page = window.page
    assert page.locator("details.map-box").count() == 10
    page.locator(".claim-groups a", has_text="The rate of SPEED").click()
    assert page.get_by_text("How fast does the regret fall").last.is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_names_stand_out_from_the_ground(scheme: str, visit: Any) -> None:
    page = visit(color_scheme=scheme).open(MAP)
    fill = "(node) => getComputedStyle(node).fill"
    whole_map(page)
    name = page.locator(".claim-map a text:not([class])").first.evaluate(fill)
    ground = page.locator(".claim-map .box").first.evaluate(fill)

    def light(colour: str) -> int:
        return sum(map(int, colour.removeprefix("rgb(").removesuffix(")").split(",")))

    assert abs(light(name) - light(ground)) > 350, (name, ground)
