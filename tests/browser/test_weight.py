"""Light pages: what the first view loads, and whether icons, names and wide formulas are there."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any

import pytest

from .conftest import built_pages

#: Bytes, gzipped, that the first view of a page may load.
LIMIT = 1_000_000
EVERY_PAGE = pytest.mark.parametrize("name", built_pages())

# Icons that have no shape, or whose shape has no size, among those that are shown.
BARE_ICONS = """() => [...document.querySelectorAll("[class*='fa-'], .admonition-title")]
  .filter((icon) => icon.checkVisibility({visibilityProperty: true}))
  .map((icon) => [icon, icon.matches(".admonition-title") ? "::after" : "::before"])
  .map(([icon, place]) => [icon, getComputedStyle(icon, place)])
  .filter(([icon, style]) => style.content !== "none")
  .filter(([icon, style]) => !style.maskImage.startsWith("url") || parseFloat(style.width) < 8)
  .map(([icon]) => icon.outerHTML)"""
# What can be pressed or unfolded, and says nothing to those who do not see it.
NAMELESS = """() => [...document.querySelectorAll("button, summary, a[href]")]
  .filter((each) => each.checkVisibility({visibilityProperty: true}))
  .filter((each) => !each.closest("[aria-hidden='true']"))
  .filter((each) => !(each.ariaLabel || each.title || each.innerText.trim() ||
    each.dataset.bsOriginalTitle || each.querySelector("img[alt]:not([alt='']), svg text")))
  .map((each) => each.outerHTML)"""
# Formulas that are cut, and that the keyboard cannot reach.
CUT_FORMULAS = """() => [...document.querySelectorAll(".bd-article div.math")]
  .filter((box) => [box, ...box.querySelectorAll("mjx-container")]
    .some((each) => each.scrollWidth > each.clientWidth))
  .filter((box) => !box.matches("[tabindex]") && !box.querySelector("[tabindex]"))
  .map((box) => box.textContent)"""


@EVERY_PAGE
def test_the_first_view_is_light(name: str, visit: Any, site: Any) -> None:
    window = visit(site.url, viewport={"width": 1440, "height": 900})
    loaded: dict[str, int] = {}
    window.page.on("requestfinished", lambda r: loaded.update({r.url: _gzipped(r)}))
    window.open(name)
    window.page.wait_for_load_state("networkidle")
    assert any(url.endswith(name) for url in loaded), "else nothing was measured"
    assert sum(loaded.values()) <= LIMIT, sorted(loaded.items(), key=lambda item: -item[1])[:8]
    # The page of the search alone needs the search's index.
    unwanted = r"fontawesome|fa-solid" + "|searchindex" * (name != "search.html")
    assert not [url for url in loaded if re.search(unwanted, url)]


def _gzipped(request: Any) -> int:
    return len(gzip.compress(request.response().body(), 6))


def test_no_page_names_the_script_of_icons(html: Path) -> None:
    for path in html.rglob("*.html"):
        assert "fontawesome.js" not in path.read_text(encoding="utf-8"), path
    assert not list(html.rglob("fontawesome*.*")), "nor is it on the disk"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize(
    "name", ["book/preface.html", "book/api.html", "notebooks/claims/prop-1-mse.html"]
)
def test_icons_are_drawn_and_controls_have_names(
    name: str, width: int, scheme: str, visit: Any
) -> None:
    window = visit(viewport={"width": width, "height": 844}, color_scheme=scheme)
    page = window.open(name)
    assert page.locator("[class*='fa-']:visible").count() >= 3
    assert page.evaluate(BARE_ICONS) == []
    assert page.evaluate(NAMELESS) == []
    assert window.faults == []


@EVERY_PAGE
def test_every_icon_of_a_page_has_a_shape(name: str, html: Path) -> None:
    shapes = (html / "_static" / "icons.css").read_text(encoding="utf-8")
    text = (html / name).read_text(encoding="utf-8")
    used = set(re.findall(r"class=\"[^\"]*?\bfa[s-][^\"]*?\b(fa-(?!solid|lg)[a-z-]+)", text))
    assert {icon for icon in used if f".{icon} {{ --icon:" not in shapes} == set()


@EVERY_PAGE
def test_tables_have_no_nameless_heads_and_formulas_can_be_reached(name: str, visit: Any) -> None:
    page = visit(viewport={"width": 390, "height": 844}).open(name)
    heads = page.locator("article th").evaluate_all(
        "(all) => all.map((th) => th.textContent.trim())"
    )
    assert all(heads)
    page.wait_for_timeout(100)
    assert page.evaluate(CUT_FORMULAS) == []
