"""The formulas of the claims: MathJax sets all, on cards and in the errata, light and dark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from speedbook.claims.registry import load_registry
from speedbook.press.formulas import load_formulas
from speedbook.press.symbols import pieces

ROOT = Path(__file__).parents[2]
CARDS = "notebooks/claims/lemma-1-variances.html"
WAIT = "() => document.documentElement.dataset.formulas === 'set'"
# What MathJax says of a list of formulas that it cannot read.
ERRORS = """async (formulas) => {
  const wrong = [];
  for (const [name, tex, display] of formulas) {
    const set = await MathJax.tex2chtmlPromise(tex, {display});
    const error = set.querySelector("mjx-merror, [data-mjx-error]");
    if (error) wrong.push([name, tex, error.getAttribute("data-mjx-error") ?? error.textContent]);
  }
  return wrong;
}"""
# Marked symbols and formulas that hold no typeset mathematics, or an error.
UNSET = """() => [...document.querySelectorAll("[data-tex]")]
  .filter((each) => !each.querySelector("mjx-container") || each.querySelector("mjx-merror"))
  .map((each) => each.dataset.tex)"""
# How far the contents of the page stand over its right edge.
OVER = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


def set_page(window: Any, name: str) -> Any:
    page = window.open(name)
    page.wait_for_function(WAIT)
    return page


def all_formulas() -> list[tuple[str, str, bool]]:
    formulas = load_formulas(ROOT)
    found = [(name, tex, True) for name, tex in formulas.formulas.items()]
    for claim in load_registry(ROOT).claims:
        for text in (claim.title, claim.statement, claim.constants, claim.place):
            runs = pieces(text or "", formulas.letters.get(claim.id))
            found += [(claim.id, run.tex, False) for run in runs if run.tex is not None]
    return list(dict.fromkeys(found))


def test_mathjax_reads_every_formula_and_every_symbol(visit: Any) -> None:
    page = set_page(visit(), CARDS)
    assert page.evaluate(ERRORS, [["wrong", r"\frac{1", True]]), "else it would find nothing"
    assert page.evaluate(ERRORS, [list(each) for each in all_formulas()]) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1440])
@pytest.mark.parametrize(
    "name", [CARDS, "book/errata.html", "notebooks/claims/lower-bound-proof.html"]
)
def test_symbols_and_formulas_are_set_and_fit(
    name: str, width: int, scheme: str, visit: Any
) -> None:
    window = visit(viewport={"width": width, "height": 844}, color_scheme=scheme)
    page = set_page(window, name)
    assert page.locator("[data-tex] mjx-container").count() >= 20
    assert page.evaluate(UNSET) == []
    assert page.locator(".claim-formula:visible").count() >= 5
    assert page.evaluate(OVER) <= 0
    assert window.faults == []


def test_a_card_says_its_words_then_its_formula_then_what_was_measured(visit: Any) -> None:
    page = set_page(visit(), CARDS)
    card = page.locator(".claim-card").first
    parts = card.locator("dd").first.evaluate(
        "(dd) => [...dd.childNodes].map((each) => each.className || each.textContent.trim())"
    )
    place = parts.index("claim-formula")
    # The full stop stays with the formula before it.
    assert parts[0] == "After" and parts[place - 1] == "sb-whole"
    assert parts[place + 1].startswith("Measured, in the unit ball")
    ink, text = (
        card.locator(where).first.evaluate("(each) => getComputedStyle(each).color")
        for where in (".claim-formula mjx-container", "dd")
    )
    assert ink == text


def test_without_scripts_the_words_keep_their_unicode(visit: Any) -> None:
    page = visit(java_script_enabled=False).page
    page.goto(f"{visit().base}/{CARDS}")
    card = page.locator(".claim-card").first
    assert "known to 2 C d² σ²_max log(A/δ) / Γ, with" in card.inner_text()
    assert "\\" not in card.inner_text()
    assert not card.locator(".claim-formula").is_visible()


def test_the_index_of_the_search_holds_no_tex_of_cards(html: Path) -> None:
    index = (html / "searchindex.js").read_text(encoding="utf-8")
    known = json.loads(index.removeprefix("Search.setIndex(").rstrip().removesuffix(")"))
    page = known["docnames"].index("book/errata")
    words = {word for word, pages in known["terms"].items() if page in _listed(pages)}
    # What formulas of the errata hold, and no other text of that page; and what its titles hold.
    assert not {"iff", "gather"} & words and "σ²_max" in words


def _listed(pages: Any) -> list[int]:
    return pages if isinstance(pages, list) else [pages]


def test_the_ledger_stays_in_unicode_and_loads_no_mathjax(visit: Any) -> None:
    page = visit().open("book/ledger.html")
    assert page.locator("table.ledger-table [data-tex]").count() == 0
    assert page.evaluate("() => typeof MathJax") == "undefined"
