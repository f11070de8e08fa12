"""One page of the built book, opened once and looked at in every way: what is found on it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tools.audit.measure import Form, Violation, form, look_at, violations, weight

#: A page of each kind: what takes long is looked at on these alone.
TEMPLATES = {
    "front": "book/preface.html",
    "chapter": "notebooks/ideas/which-actions.html",
    "explorer": "book/explorer.html",
    "figure of the paper": "notebooks/figures/fig1-panels.html",
    "claim": "notebooks/claims/thm-1-rate.html",
    "station": "book/stations/rate.html",
    "ledger": "book/ledger.html",
    "errata": "book/errata.html",
    "map": "book/map.html",
    "library": "book/api/designs.html",
    "your own": "notebooks/beyond/your-own-data.html",
    "glossary": "book/glossary.html",
}

# An unknown macro is not an error to MathJax: it writes the name in red.
FAULTY_FORMULAS = """() => {
  const faulty = [];
  for (const item of window.MathJax?.startup?.document?.math ?? []) {
    item.root.walkTree((node) => {
      const red = node.attributes?.get("mathcolor") === "red";
      if (node.kind === "merror" || red) faulty.push(item.math);
    });
  }
  return faulty;
}"""
TOO_WIDE = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
ALT_TEXTS = "(images) => images.map((image) => image.getAttribute('alt'))"
TEXTS = "(all) => all.map((each) => each.textContent.trim())"
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
  .filter((each) => !(each.ariaLabel || each.title || each.textContent.trim() ||
    each.dataset.bsOriginalTitle || each.querySelector("img[alt]:not([alt='']), svg text")))
  .map((each) => each.outerHTML)"""
# Formulas that are cut, and that the keyboard cannot reach.
CUT_FORMULAS = """() => [...document.querySelectorAll(".bd-article div.math")]
  .filter((box) => [box, ...box.querySelectorAll("mjx-container")]
    .some((each) => each.scrollWidth > each.clientWidth))
  .filter((box) => !box.matches("[tabindex]") && !box.querySelector("[tabindex]"))
  .map((box) => box.textContent)"""
#: Of each column of each table of cells: the sides on which its heads and its values stand.
SIDES = """() => [...document.querySelectorAll("table.dataframe")].flatMap(table => {
  const heads = [...table.tHead.rows].at(-1).cells
  return [...table.tBodies[0].rows].filter(row => row.cells.length === heads.length).flatMap(row =>
    [...row.cells].map((cell, place) =>
      [getComputedStyle(heads[place]).textAlign, getComputedStyle(cell).textAlign]))
})"""
#: Cells of a table that a style hides, so that the others of their row move to wrong columns. A
#: table whose rows are blocks has no columns: it needs neither heads nor dashes.
HIDDEN_CELLS = """() => [...document.querySelectorAll("table.dataframe :is(th, td)")]
  .filter((cell) => cell.closest("table").checkVisibility() && !cell.checkVisibility())
  .filter((cell) => !cell.matches(":is(thead *, td:has(> .sb-none))") ||
    getComputedStyle(cell.closest("table").tBodies[0].rows[0]).display !== "block")
  .map((cell) => cell.outerHTML)"""
#: Whether the table of each frame is wider, and what the frame draws, before and after it scrolls.
FRAMES = """() => [...document.querySelectorAll(".output:has(table.dataframe)")].map(frame => {
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
})"""


@dataclass
class Seen:
    """What is found on a page. Lists hold what is wrong unless they say otherwise."""

    name: str
    #: Addresses of all that the first view loads.
    loaded: list[str]
    weight: int
    form: Form
    titles: int
    formulas: list[str]
    #: The alternative texts of all images, and of those in the text alone.
    images: list[str | None]
    pictures: list[str]
    #: The heads of tables.
    heads: list[str]
    #: By look.
    icons: dict[str, list[str]] = field(default_factory=dict)
    nameless: dict[str, list[str]] = field(default_factory=dict)
    sides: dict[str, list[list[str]]] = field(default_factory=dict)
    hidden_cells: dict[str, list[str]] = field(default_factory=dict)
    violations: dict[str, list[Violation]] = field(default_factory=dict)
    #: On a phone: pixels that the page is too wide, and formulas and frames of tables.
    too_wide: int = 0
    cut: list[str] = field(default_factory=list)
    frames: list[dict[str, Any]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def look_over(window: Any, name: str) -> Seen:
    """Open a page in a window on a light desk, and look at it there, in the dark and on a phone."""
    loaded: list[str] = []
    window.page.on("request", lambda request: loaded.append(request.url))
    page = window.open(name)
    page.wait_for_timeout(300)
    images = page.locator("img").evaluate_all(ALT_TEXTS)
    seen = Seen(
        name=name,
        loaded=list(loaded),
        weight=weight(loaded),
        form=form(page),
        titles=page.locator("h1:visible").count(),
        formulas=page.evaluate(FAULTY_FORMULAS),
        images=images,
        pictures=page.locator("article img").evaluate_all(ALT_TEXTS),
        heads=page.locator("article th").evaluate_all(TEXTS),
    )
    for look in ("light", "dark", "phone"):
        look_at(page, look)
        seen.icons[look] = page.evaluate(BARE_ICONS)
        seen.nameless[look] = page.evaluate(NAMELESS)
        seen.sides[look] = page.evaluate(SIDES)
        seen.hidden_cells[look] = page.evaluate(HIDDEN_CELLS)
        # The rules that take long find on a dark page what they found on the light one.
        rules = {"dark": ["color-contrast"]}.get(look, [])
        if look != "phone" or name in TEMPLATES.values():
            seen.violations[look] = violations(page, look, *rules)
    seen.too_wide = page.evaluate(TOO_WIDE)
    seen.cut = page.evaluate(CUT_FORMULAS)
    seen.frames = page.evaluate(FRAMES)
    seen.faults = list(window.faults)
    return seen
