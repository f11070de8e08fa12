"""The explorer in class: alone in a window, with the answers hidden, and on a phone."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import pytest

from .explorer_page import PAGE, PRESETS, SETTLED, STATE, TIP, drag, rounded

AXE = Path(__file__).parents[2] / "tools/audit/vendor/axe-core/axe.min.js"
#: All that eyes, fingers and screen readers can find: text, names, values, and the drawn answers.
FOUND = """() => {
  const shown = [...document.body.querySelectorAll('*')].filter((each) =>
    each.checkVisibility({ visibilityProperty: true }) && each.getClientRects().length);
  const own = (each) => [...each.childNodes].filter((node) => node.nodeType === 3)
    .map((node) => node.textContent).join(' ');
  const names = ['aria-label', 'aria-valuetext', 'aria-description', 'title', 'alt'];
  return shown.flatMap((each) => [own(each), ...names.map((name) => each.getAttribute(name) ?? '')])
    .concat(document.querySelector('.sbx [role=status]').textContent)
    .join(' ').replace(/\\s+/g, ' ');
}"""
#: Words that only an answer has.
TOLD = re.compile(
    r"times|best|enough|exit|estimate|Elfving|least|error|regret|looks|worth|never|determine"
    r"|√|Γ|ψ|∞|counterexample|negative|nothing to",
    re.IGNORECASE,
)
DRAWN = (
    ".sbx-hull, .sbx-tangent, .sbx-ray, .sbx-target, .sbx-exit, .sbx-believed, .sbx-possible, "
    ".sbx-chosen, .sbx-regret, .sbx-mark, .sbx-second, .sbx-factor, .sbx-losses, "
    ".sbx[data-tab=design] .sbx-point.sbx-used, .sbx[data-tab=explore] .sbx-fill"
)
BARE = "view=projector"


def drawn_answers(page: Any) -> int:
    return page.locator(DRAWN).locator("visible=true").count()


@pytest.mark.parametrize("tab", ["design", "explore"])
@pytest.mark.parametrize("preset", PRESETS)
def test_hidden_answers_are_told_nowhere(preset: str, tab: str, opened: Any) -> None:
    page = opened(f"preset={preset}&tab={tab}&{BARE}&answers=hidden")
    page.wait_for_timeout(SETTLED)
    page.locator(".sbx-key summary").click()
    said = page.evaluate(FOUND)
    said = said.replace("Predict first, then show them", "")
    assert TOLD.findall(said) == []
    assert drawn_answers(page) == 0
    # Moving, saying and drawing again does not bring them back.
    page.locator(TIP.format(1)).focus()
    page.keyboard.press("Shift+ArrowUp")
    page.wait_for_timeout(SETTLED)
    assert TOLD.findall(page.evaluate(FOUND)) == []
    assert drawn_answers(page) == 0
    # The shares in sight are those of the policy.
    shares = page.evaluate(STATE)["policy"] if tab == "design" else []
    wanted = [f"{share:.0%}" for share in shares]
    found = re.findall(r"(\d+)\s%", page.locator(".sbx").inner_text())
    assert [f"{each}%" for each in found] == wanted
    page.get_by_role("button", name="Show the answers").click()
    page.wait_for_timeout(SETTLED)
    assert TOLD.search(page.evaluate(FOUND)) and drawn_answers(page)
    page.get_by_role("button", name="Hide the answers").click()
    assert TOLD.findall(page.evaluate(FOUND)) == []


def test_the_search_for_answers_sees_them_where_they_are_shown(opened: Any) -> None:
    for tab, preset in itertools.product(("design", "explore"), ("unit-ball", "theorem-1")):
        page = opened(f"preset={preset}&tab={tab}&{BARE}")
        assert len(TOLD.findall(page.evaluate(FOUND))) > 3
        assert drawn_answers(page) > 3


def test_hiding_changes_no_number_and_survives_tabs_examples_and_a_reload(opened: Any) -> None:
    page = opened("preset=unit-ball")
    before, said = page.evaluate(STATE), page.locator(".sbx-panel").inner_text()
    button = page.get_by_role("button", name=re.compile("(Hide|Show) the answers"))
    button.click()
    assert not page.locator("figcaption").is_visible()
    page.locator("[role=tab]").last.click()
    page.locator(".sbx-preset select").select_option("two-looks")
    page.get_by_role("button", name="Reset").click()
    page.wait_for_timeout(SETTLED)
    assert page.evaluate("() => location.hash").endswith("&answers=hidden")
    page.reload()
    page.wait_for_selector(".sbx-plane .sbx-handle")
    assert button.inner_text() == "Show the answers"
    assert page.evaluate(STATE)["tab"] == "explore" and drawn_answers(page) == 0
    page.locator(".sbx-preset select").select_option("unit-ball")
    page.locator("[role=tab]").first.click()
    button.click()
    assert page.locator("figcaption").is_visible()
    page.wait_for_timeout(SETTLED)
    assert "answers" not in page.evaluate("() => location.hash")
    assert page.evaluate(STATE) == before
    assert page.locator(".sbx-panel").inner_text() == said


@pytest.mark.parametrize("said", ["answers=", "answers=no", "view=", "view=full", "answers=HIDDEN"])
def test_other_values_in_an_address_change_nothing(said: str, opened: Any) -> None:
    page = opened(said)
    assert page.get_by_role("button", name="Hide the answers").is_visible()
    assert page.locator(".bd-article h1").first.is_visible()


def test_the_projector_shows_the_explorer_and_nothing_else(opened: Any) -> None:
    page = opened(f"preset=one-hot&{BARE}")
    alone = """() => [...document.body.querySelectorAll('*')].filter((each) => {
      const box = document.querySelector('.sbx');
      return !box.contains(each) && !each.contains(box) && each.getClientRects().length;
    }).map((each) => each.outerHTML.slice(0, 80))"""
    assert page.evaluate(alone) == []
    box = page.locator(".sbx").bounding_box()
    assert box == {"x": 0, "y": 0, "width": 1280, "height": 1000}
    for _ in range(40):
        page.keyboard.press("Tab")
        assert page.evaluate("() => document.activeElement.matches('body, .sbx *')")
    page.keyboard.press("Escape")
    assert page.locator(".bd-article h1").first.is_visible()
    assert page.evaluate("() => document.activeElement.textContent") == "Projector"
    assert "view" not in page.evaluate("() => location.hash")


def test_it_is_left_by_a_button_and_by_an_address(opened: Any) -> None:
    page = opened(f"preset=one-hot&{BARE}")
    page.get_by_role("button", name="Leave", exact=True).click()
    assert page.locator(".bd-article h1").first.is_visible()
    assert page.locator(".sbx-preset select").input_value() == "one-hot"
    for view, bare in ((BARE, True), ("psd=0", False), (BARE, True)):
        page.evaluate("(said) => { location.hash = '#explorer?preset=two-looks&' + said }", view)
        page.wait_for_function(
            """(bare) => SpeedExplorer.all[0].projected === bare
              && SpeedExplorer.all[0].id === 'two-looks'""",
            arg=bare,
        )
        assert page.locator(".bd-article h1").first.is_visible() is not bare


@pytest.mark.parametrize("start", [PAGE, "book/class/session-1.html"])
def test_a_link_opens_it_in_one_second_window_that_follows(start: str, visit: Any) -> None:
    window = visit(viewport={"width": 1280, "height": 900})
    page = window.open(start)
    page.wait_for_selector(".sbx-plane .sbx-handle")
    drag(page, TIP.format(2) + " .sbx-grip", 20, 15)
    page.get_by_role("button", name="Hide the answers").click()
    page.wait_for_timeout(SETTLED)
    with window.context.expect_page() as opening:
        page.get_by_role("link", name="Projector").click()
    second = opening.value
    second.wait_for_selector(".sbx-projected .sbx-handle")
    assert rounded(second.evaluate(STATE)) == rounded(page.evaluate(STATE))
    assert drawn_answers(second) == 0
    page.get_by_role("button", name="Show the answers").click()
    page.get_by_role("button", name="Reset").click()
    page.wait_for_timeout(SETTLED)
    page.get_by_role("link", name="Projector").click()
    second.wait_for_function("() => !SpeedExplorer.all[0].hidden")
    assert second.evaluate(STATE) == page.evaluate(STATE)
    assert len(window.context.pages) == 2
    assert window.faults == []


SIZES = [(1024, 768), (1280, 720), (1920, 1080)]


@pytest.mark.parametrize("tab", ["design", "explore"])
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_on_the_wall_all_is_in_sight_in_large_letters(
    width: int, height: int, tab: str, opened: Any
) -> None:
    for preset in PRESETS:
        window = {"width": width, "height": height}
        page = opened(f"preset={preset}&tab={tab}&explored=0,1,2&{BARE}", viewport=window)
        sizes = page.locator(".sbx").evaluate("(n) => [n.scrollWidth, n.scrollHeight]")
        assert sizes[0] <= width and sizes[1] <= height, preset
        letters = page.evaluate("""() => [...document.querySelectorAll('.sbx-plane text')].map(
          (text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)""")
        assert min(letters) >= 13 * 1.1
        page.context.close()


def test_a_handle_goes_with_the_mouse_however_large_the_picture_is(opened: Any) -> None:
    page = opened(f"preset=theorem-1&{BARE}", viewport={"width": 1920, "height": 1080})
    grip = TIP.format(2) + " .sbx-grip"
    drag(page, grip, 60, 40)
    moved = page.evaluate(STATE)["arrows"][1]
    assert moved[0] / (1 - moved[1]) == pytest.approx(60 / 40, rel=0.05)
    wide = page.locator(".sbx-track").first.bounding_box()["width"]
    drag(page, "[aria-label='The policy’s share of action 1']", wide / 10, 0)
    assert page.evaluate(STATE)["policy"][0] == pytest.approx(0.6, abs=5e-3)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("said", ["tab=design", "tab=explore", "tab=explore&answers=hidden"])
def test_axe_finds_nothing_in_the_bare_view(said: str, scheme: str, opened: Any) -> None:
    page = opened(f"{said}&{BARE}", color_scheme=scheme)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate(
        """() => axe.run({ preload: false }).then(
          (all) => all.violations.map((each) => [each.id, each.nodes[0].html]))"""
    )
    assert found == []


@pytest.mark.parametrize("tab", ["design", "explore"])
@pytest.mark.parametrize("preset", PRESETS)
def test_on_a_phone_the_bars_are_in_sight_with_the_arrows(
    preset: str, tab: str, opened: Any
) -> None:
    page = opened(f"preset={preset}&tab={tab}", viewport={"width": 390, "height": 844})
    plane = page.locator(".sbx-plane").bounding_box()
    result, rows = (page.locator(f".sbx-{name}").bounding_box() for name in ("result", "rows"))
    assert plane["y"] + plane["height"] < result["y"] < rows["y"]
    # Below the bar of the theme.
    assert rows["y"] + rows["height"] - plane["y"] < 844 - 70


def test_on_a_phone_no_table_of_the_page_is_cut(opened: Any) -> None:
    page = opened(viewport={"width": 390, "height": 844})
    cut = page.evaluate("""() => [...document.querySelectorAll('.bd-article table')].filter(
      (table) => table.scrollWidth > table.parentNode.clientWidth + 1 ||
        [...table.querySelectorAll('td')].some((td) => td.getBoundingClientRect().right > 390)
    ).length""")
    assert cut == 0
