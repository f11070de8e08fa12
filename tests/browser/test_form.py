"""One page of each kind: what has the focus is seen, windows of every width hold it, and paper."""

from __future__ import annotations

from typing import Any

import pytest

from tools.audit.measure import form

from .seen import TEMPLATES, TOO_WIDE

# What can be reached by keyboard and looks the same whether it has the focus or not. A mark may
# stand on what is within, or on what a style adds.
UNMARKED = """() => {
  const look = (each) => [each, ...each.querySelectorAll("*")].slice(0, 40).flatMap((part) =>
    [null, "::before", "::after"].map((place) => {
      const style = getComputedStyle(part, place);
      return [style.outlineStyle === "none" ? "" : style.outlineWidth + style.outlineColor,
        style.boxShadow, style.borderColor, style.stroke, style.strokeWidth].join();
    })).join(";");
  const reached = "a[href], button, input, select, textarea, summary, [tabindex='0']";
  return [...document.querySelectorAll(reached)]
    .filter((each) => each.checkVisibility({visibilityProperty: true}) && !each.disabled)
    .filter((each) => {
      const before = look(each);
      each.focus({focusVisible: true, preventScroll: true});
      const reachable = document.activeElement === each;
      const same = look(each) === before;
      each.blur();
      return reachable && same;
    }).map((each) => each.outerHTML.slice(0, 120));
}"""
# What paper has no use for, and frames around nothing.
ON_PAPER = """() => {
  const shown = (each) => each.checkVisibility() && each.getBoundingClientRect().height > 0;
  // The heads of the ledger, which sort or unfold it, are words, and so are those of dropdowns.
  const all = (selector) => [...document.querySelectorAll(selector)];
  const useless = all(`.bd-sidebar-primary, .bd-sidebar-secondary, .bd-header-article button,
    article :is(summary:not(.sd-summary-title, .map-box > *), input, select), .prev-next-footer,
    article table.sb-parameters,
    article button:not(th *, .ledger-fold)`).filter(shown);
  const frames = all("article :is(details, .admonition, .cell_input, pre, figure)").filter(shown)
    .filter((each) => !each.innerText.trim() && !each.querySelector("img, svg"));
  const folded = all("article :is(details:not(.hide, [open]), .toggle-hidden)")
    .filter((each) => !each.querySelector("table.sb-parameters"));
  const cut = all("article :is(pre, .output)").filter(shown)
    .filter((each) => /auto|scroll/.test(getComputedStyle(each).overflowX))
    .filter((each) => each.scrollWidth > each.clientWidth + 2);
  return [...useless, ...frames, ...folded, ...cut].map((each) => each.outerHTML.slice(0, 120));
}"""
OF_EACH_KIND = pytest.mark.parametrize("kind", TEMPLATES)


@OF_EACH_KIND
def test_what_has_the_focus_is_seen(kind: str, visit: Any) -> None:
    page = visit(viewport={"width": 1440, "height": 900}).open(TEMPLATES[kind])
    page.wait_for_timeout(300)
    assert page.evaluate(UNMARKED) == []


@OF_EACH_KIND
def test_a_window_of_any_width_holds_the_page(kind: str, visit: Any) -> None:
    page = visit(viewport={"width": 1440, "height": 900}).open(TEMPLATES[kind])
    for width in (1200, 1024, 768, 390, 320):
        page.set_viewport_size({"width": width, "height": 900})
        # Formulas are fitted to the new width when the browser reports it.
        page.wait_for_function(f"() => ({TOO_WIDE})() <= 0")
        if (found := form(page).line) and width >= 1024:
            assert 50 <= found[0] and found[1] <= 75, (width, found)


@OF_EACH_KIND
def test_paper_has_what_is_read_and_nothing_else(kind: str, visit: Any) -> None:
    page = visit(viewport={"width": 800, "height": 1100}).open(TEMPLATES[kind])
    page.emulate_media(media="print")
    page.evaluate("() => window.dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(ON_PAPER) == []
