"""Finding one's way: the sidebar, the stations, the glossary and the search."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

SIDEBAR = ".bd-sidebar-primary a:visible"
ADDRESSES = "(links) => links.map((link) => link.href)"
PHONE = {"width": 390, "height": 844}
STATIONS = ["designs", "noise", "rate", "lower-bounds", "steps"]
FIRST_HITS = {
    "Elfving": "notebooks/beyond/elfving-geometry.html",
    "floor": "book/glossary.html#term-floor",
    "what should I use": "notebooks/ideas/what-to-use.html",
    "which strategy should I use": "notebooks/beyond/which-strategy.html",
    "explorer": "book/explorer.html",
    "confidence interval": "notebooks/beyond/coverage.html",
    "install": "book/rerun.html",
    "Theorem 1": "notebooks/claims/thm-1-rate.html",
    "Proposition 4": "notebooks/claims/kiefer-wolfowitz.html",
    "optimal_design": "book/api/designs.html#speedlib.designs.optimal_design",
}


@pytest.mark.parametrize(
    ("path", "most"),
    [
        ("book/preface.html", 25),
        ("book/how-to-read.html", 25),
        ("book/class/guide.html", 30),
        ("book/class/session-3.html", 35),
        ("book/class/hand-out-7.html", 40),
        *((f"book/stations/{station}.html", 40) for station in STATIONS),
        ("notebooks/claims/prop-1-mse.html", 40),
        ("notebooks/figures/increasing-dimension.html", 40),
        ("notebooks/beyond/which-strategy.html", 40),
    ],
)
def test_the_sidebar_shows_few_links(path: str, most: int, visit: Any) -> None:
    page = visit(viewport={"width": 1400, "height": 900}).open(path)
    assert 15 <= page.locator(SIDEBAR).count() <= most
    # What is open is the branch that leads to this page.
    assert page.locator(".bd-sidebar-primary li:not(.current) > details[open]").count() == 0


def test_a_branch_of_the_sidebar_opens_by_keyboard(visit: Any) -> None:
    page = visit(viewport={"width": 1400, "height": 900}).open("book/preface.html")
    link = "a[href$='claims/structure.html']"
    page.locator(f".bd-sidebar-primary details:has({link}) > summary").focus()
    deep = page.locator(f".bd-sidebar-primary {link}")
    assert not deep.is_visible()
    page.keyboard.press("Enter")
    deep.wait_for(state="visible")


def test_on_a_phone_the_sidebar_is_a_drawer(visit: Any) -> None:
    page = visit(viewport=PHONE).open("book/preface.html")
    assert page.locator(SIDEBAR).count() == 0
    page.locator(".primary-toggle:visible").first.click()
    page.locator(
        ".bd-links a[href$='stations/rate.html']:visible, dialog a:visible"
    ).first.wait_for()


def test_the_sidebar_has_every_page(visit: Any, html: Path) -> None:
    page = visit().open("book/preface.html")
    hrefs = page.locator(".bd-sidebar-primary a").evaluate_all(
        "(links) => links.map((l) => l.href)"
    )
    found = {href.split("#")[0].removeprefix(f"{html.as_uri()}/") for href in hrefs}
    pages = {path.relative_to(html).as_posix() for path in html.rglob("*.html")}
    apart = re.compile(r"_|index\.html|search\.html|genindex\.html|.*-modindex\.html")
    assert {name for name in pages if not apart.match(name)} <= found


@pytest.mark.parametrize("station", STATIONS)
def test_a_box_is_a_title_that_leads_on_a_sentence_and_a_verdict(station: str, visit: Any) -> None:
    page = visit().open(f"book/stations/{station}.html")
    boxes = page.locator("article .sd-card")
    assert 0 < boxes.count() <= 10
    for box in boxes.all():
        assert box.locator(".sd-card-title a").count() == 1
        assert box.locator(".sd-card-footer .verdict").count() >= 1


@pytest.mark.parametrize("served", [False, True], ids=["from disk", "served"])
@pytest.mark.parametrize("words", FIRST_HITS)
def test_search_leads_where_one_expects(
    words: str, served: bool, visit: Any, site: Any, html: Path
) -> None:
    window = visit(site.url if served else html.as_uri())
    page = window.open(f"search.html?q={words}")
    first = page.locator("#search-results li a").first
    first.wait_for()
    path, anchor = first.evaluate("(link) => [link.pathname, link.hash]")
    wanted, _, target = FIRST_HITS[words].partition("#")
    assert path.endswith(f"/{wanted}")
    assert not target or anchor == f"#{target}"
    assert window.faults == []


def test_search_names_the_term_that_it_found(visit: Any) -> None:
    page = visit().open("search.html?q=near-tie")
    first = page.locator("#search-results li a").first
    first.wait_for()
    assert first.inner_text() == "Glossary: near-tie"


def test_search_shows_pages_before_what_is_in_the_library(visit: Any) -> None:
    page = visit().open("search.html?q=design")
    # Results are listed one by one; the last line says how many there are.
    page.locator("#search-results .search-summary", has_text=re.compile(r"\d")).wait_for()
    hits = page.locator("#search-results li a").evaluate_all(ADDRESSES)
    library = ["/book/api" in hit for hit in hits]
    assert True in library and False in library
    assert library == sorted(library)


def test_a_term_leads_to_its_line_of_the_glossary(visit: Any) -> None:
    window = visit()
    page = window.open("book/stations/rate.html")
    page.locator("article a:has-text('near-ties')").first.click()
    page.wait_for_url("**/book/glossary.html#term-near-tie")
    assert page.locator("#term-near-tie").is_visible()
    assert window.faults == []
