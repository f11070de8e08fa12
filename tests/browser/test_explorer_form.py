"""The form of the explorer: without scripts, on paper, narrow, dark, at half height."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from .conftest import HTML
from .explorer_page import EIGHT, PAGE, PRESETS, SETTLED, STATE, TIP, drag, rounded


def test_without_scripts_the_picture_stands(visit: Any) -> None:
    # Here scripts that a page asks to load ahead count as failed.
    page = visit(java_script_enabled=False).page
    page.goto((HTML / PAGE).as_uri())
    assert page.locator(".sb-explorer img").is_visible()
    assert page.locator(".sbx").count() == 0


def test_on_paper_the_picture_stands(opened: Any) -> None:
    page = opened("preset=unit-ball")
    picture = page.locator(".sb-explorer img")
    assert not picture.is_visible()
    page.emulate_media(media="print")
    assert picture.is_visible()
    assert not page.locator(".sbx").is_visible()


@pytest.mark.parametrize("tab", ["design", "explore"])
@pytest.mark.parametrize("width", [320, 390, 768])
def test_a_narrow_page_holds_it(width: int, tab: str, opened: Any) -> None:
    query = f"preset=unit-ball&tab={tab}&{EIGHT}"
    page = opened(query, viewport={"width": width, "height": 844})
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    cut = page.evaluate("""() => [...document.querySelectorAll('.sbx svg')].flatMap((svg) => {
      const box = svg.getBoundingClientRect();
      return [...svg.querySelectorAll('text')].filter((text) => {
        const each = text.getBoundingClientRect();
        return each.width && (each.left < box.left - 1 || each.right > box.right + 1 ||
          each.top < box.top - 1 || each.bottom > box.bottom + 1);
      }).map((text) => text.textContent);
    })""")
    assert cut == []


@pytest.mark.parametrize("tab", ["design", "explore"])
@pytest.mark.parametrize("preset", PRESETS)
def test_words_in_the_plane_do_not_lie_on_each_other(preset: str, tab: str, opened: Any) -> None:
    page = opened(f"preset={preset}&tab={tab}")
    pairs = page.evaluate("""() => {
      const words = [...document.querySelectorAll('.sbx-word')];
      const boxes = words.map((word) => word.getBoundingClientRect());
      const found = [];
      boxes.forEach((a, i) => boxes.slice(i + 1).forEach((b, j) => {
        const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (wide > 3 && high > 3) found.push([words[i].textContent, words[i + 1 + j].textContent]);
      }));
      return found;
    }""")
    assert pairs == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_lines_and_words_stand_out_from_the_ground(scheme: str, opened: Any) -> None:
    page = opened("preset=unit-ball", color_scheme=scheme)

    def light(selector: str, what: str) -> float:
        style = "(node, what) => getComputedStyle(node)[what]"
        colour = page.locator(selector).first.evaluate(style, what)
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))

    ground = light("body", "backgroundColor")
    assert (ground > 0.5) == (scheme == "light")
    # WCAG: 4.5 for words, 3 for what must be seen to understand a picture.
    least = {
        (".sbx-arrow", "stroke"): 3,
        (".sbx-target", "stroke"): 3,
        (".sbx-hull", "stroke"): 3,
        (".sbx-tangent", "stroke"): 3,
        (".sbx-says", "color"): 4.5,
        (".sbx-losses", "color"): 4.5,
        (".sbx-word", "fill"): 4.5,
    }
    for (selector, what), wanted in least.items():
        high, low = sorted([light(selector, what), ground], reverse=True)
        assert (high + 0.05) / (low + 0.05) >= wanted, selector


def test_at_half_height_it_fits_a_first_page(visit: Any, html: Path) -> None:
    window = visit(viewport={"width": 1280, "height": 900})
    text = (html / PAGE).read_text(encoding="utf-8")
    half = text.replace('data-height="full"', 'data-height="half"')
    assert half != text
    window.page.route(
        f"**/{PAGE}*", lambda route: route.fulfill(body=half, content_type="text/html")
    )
    page = window.open(PAGE)
    page.wait_for_selector(".sbx-plane .sbx-handle")
    assert page.locator(".sbx").bounding_box()["height"] <= 470
    drag(page, TIP.format(2) + " .sbx-grip", 30, 20)
    page.wait_for_timeout(SETTLED)
    state = page.evaluate(STATE)
    window.page.unroute(f"**/{PAGE}*")
    page.get_by_role("link", name="Full size").click()
    page.wait_for_url("**/book/explorer.html#explorer?*")
    page.reload()
    page.wait_for_selector(".sbx-tabs")
    assert rounded(page.evaluate(STATE)) == rounded(state)
    assert window.faults == []


def test_pages_without_it_load_none_of_it(html: Path) -> None:
    assert "explorer/explorer.js" in (html / PAGE).read_text(encoding="utf-8")
    for name in ("book/how-to-read.html", "book/ledger.html"):
        text = (html / name).read_text(encoding="utf-8")
        assert not re.search(r"_static/(?:explorer|vendor/d3)/", text)


def test_of_two_on_a_page_a_link_sets_the_one_it_names(visit: Any, html: Path) -> None:
    window = visit(viewport={"width": 1280, "height": 1000})
    second = (
        '<figure id="fig-two"><div class="sb-explorer" data-preset="one-hot" '
        'data-tab="explore" data-height="half"></div></figure></article>'
    )
    text = (html / PAGE).read_text(encoding="utf-8")
    both = text.replace("</article>", second, 1)
    assert both != text
    window.page.route(
        f"**/{PAGE}*", lambda route: route.fulfill(body=both, content_type="text/html")
    )
    page = window.open(f"{PAGE}#fig-two?preset=two-looks&explored=1,2")
    page.wait_for_selector("#fig-two .sbx-plane .sbx-handle")
    states = "() => SpeedExplorer.all.map((each) => [each.id, each.state.tab, each.state.explored])"
    first = ["unit-ball", "design", [0, 4]]
    assert page.evaluate(states) == [first, ["two-looks", "explore", [1, 2]]]
    page.locator("#fig-two input[aria-label='Explore action 1']").check()
    page.wait_for_timeout(SETTLED)
    address = page.evaluate("() => location.hash")
    assert address == "#fig-two?preset=two-looks&tab=explore&explored=0,1,2"
    page.evaluate("() => { location.hash = '#explorer?preset=loud-arrow&tab=design' }")
    page.wait_for_function("() => SpeedExplorer.all[0].id === 'loud-arrow'")
    assert page.evaluate(states)[1] == ["two-looks", "explore", [0, 1, 2]]
    assert window.faults == []
