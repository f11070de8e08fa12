"""On a phone no formula is cut off unseen: it fits, or scrolls within its column with a shade."""

from __future__ import annotations

from typing import Any

import pytest

PAGES = [
    "notebooks/claims/oracle-loss.html",
    "notebooks/claims/quoted-tools.html",
    "notebooks/beyond/booked-optimism.html",
    "book/errata.html",
]
# What is done after the page has loaded: sizes, shades and stops of the Tab key.
FITTED = """async () => {
  const marked = document.querySelector("[data-tex]");
  while (marked && document.documentElement.dataset.formulas !== "set")
    await new Promise(requestAnimationFrame);
  for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
}"""
# By formula its letters, its size, the right edges of mathematics and column, and what scrolls it.
FORMULAS = """() => {
  const found = [];
  for (const formula of document.querySelectorAll(".bd-article mjx-container")) {
    // A wide table scrolls as a whole.
    if (!formula.offsetWidth || formula.closest(".pst-scrollable-table-container")) continue;
    let column = formula.parentElement;
    while (getComputedStyle(column).display.startsWith("inline")) column = column.parentElement;
    const scrolls = formula.closest("[data-more]");
    if (scrolls) column = scrolls.parentElement;
    while (getComputedStyle(column).display.startsWith("inline")) column = column.parentElement;
    const style = getComputedStyle(column);
    const end = column.getBoundingClientRect().left + column.clientLeft + column.clientWidth;
    const inner = scrolls ?? formula.querySelector("mjx-math");
    found.push({
      tex: formula.textContent.slice(0, 40),
      size: parseFloat(getComputedStyle(formula).fontSize),
      over: inner.getBoundingClientRect().right
        - Math.min(end - parseFloat(style.paddingRight), innerWidth),
      scrolls: scrolls && {
        more: scrolls.dataset.more,
        overflow: getComputedStyle(scrolls).overflowX,
        shade: getComputedStyle(scrolls).backgroundImage,
        stop: scrolls.tabIndex,
      },
    });
  }
  return found;
}"""
SIZES = """() => [...document.querySelectorAll(".claim-formula")].map((statement) =>
  new Set([...statement.querySelectorAll('mjx-container[display="true"]')]
    .filter((formula) => formula.offsetWidth)
    .map((formula) => getComputedStyle(formula).fontSize)).size)"""
PHONE = {"viewport": {"width": 390, "height": 844}}


def fitted(visit: Any, name: str, **window: Any) -> Any:
    page = visit(**(PHONE | window)).open(name)
    page.evaluate(FITTED)
    return page


@pytest.mark.parametrize("name", PAGES)
def test_a_formula_fits_or_scrolls_with_a_shade(name: str, visit: Any) -> None:
    formulas = fitted(visit, name).evaluate(FORMULAS)
    assert len(formulas) >= 20
    assert [each for each in formulas if each["over"] > 1.5] == []
    cut = [each["scrolls"] for each in formulas if each["scrolls"]]
    for each in cut:
        assert each["more"] == "right"
        assert each["overflow"] == "auto"
        assert each["shade"].startswith("linear-gradient")
        assert each["stop"] == 0
    # The letters of MathJax's font at this size are as high as those of a text of ten pixels.
    assert min(each["size"] for each in formulas) / 1.331 >= 10


def test_the_page_of_the_oracles_loss_has_a_cut_formula(visit: Any) -> None:
    formulas = fitted(visit, PAGES[0]).evaluate(FORMULAS)
    assert any(each["scrolls"] for each in formulas), "else the test above looks at nothing"


def test_the_shade_stands_where_there_is_more(visit: Any) -> None:
    page = fitted(visit, PAGES[0])
    cut = page.locator(".bd-article [data-more=right]").first.element_handle()
    for left, more in ((10, "left right"), (10_000, "left"), (0, "right")):
        cut.evaluate("(box, left) => { box.scrollLeft = left; }", left)
        page.wait_for_function("([box, more]) => box.dataset.more === more", arg=[cut, more])


def test_on_a_desk_formulas_in_the_text_keep_their_size(visit: Any) -> None:
    page = fitted(visit, PAGES[0], viewport={"width": 1440, "height": 900})
    assert page.locator(".bd-article .sb-cut").count() == 0
    changed = """() => [...document.querySelectorAll(".bd-article mjx-container[data-size]")]
      .filter((each) => !each.hasAttribute("display") && each.style.fontSize !== each.dataset.size)
      .length"""
    assert page.evaluate(changed) == 0


def test_the_lines_of_a_statement_have_one_size(visit: Any) -> None:
    sizes = fitted(visit, "book/errata.html").evaluate(SIZES)
    assert max(sizes) == 1
