"""Using the book: mathematics, search, the dark page, downloads, printing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest

FIGURE = "notebooks/figures/fig1a-unit-ball"
NOTEBOOK_LINK = ".dropdown-download-buttons a:has-text('Notebook with outputs')"
COLOURS = """(selector) => {
  const style = getComputedStyle(document.querySelector(selector));
  return [style.color, style.backgroundColor, style.filter];
}"""
# Contrast of each badge's letters with all the layers behind them (WCAG 2, 1.4.3).
BADGE_CONTRAST = """() => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
  const paint = (colour) => {
    canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    const rgb = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map((v) => v / 255)
      .map((v) => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * rgb[0] + .7152 * rgb[1] + .0722 * rgb[2];
  };
  return [...document.querySelectorAll("article .verdict")].map((badge) => {
    const layers = [];
    for (let e = badge; e; e = e.parentElement) layers.unshift(getComputedStyle(e).backgroundColor);
    let ground; for (const layer of layers) ground = paint(layer);
    const ink = paint(getComputedStyle(badge).color);
    return (Math.max(ink, ground) + .05) / (Math.min(ink, ground) + .05);
  });
}"""


def test_mathematics_is_typeset(visit: Any) -> None:
    page = visit().open("book/problem.html")
    assert page.locator("mjx-container").count() > 20
    assert page.locator("mjx-container[display='true']").count() == 3


def test_the_first_page_leads_to_the_preface(visit: Any) -> None:
    window = visit()
    # The page leaves at once: nothing on it may be waited for.
    window.page.goto(f"{window.base}/index.html", wait_until="commit")
    window.page.wait_for_url("**/book/preface.html")


@pytest.mark.parametrize("served", [False, True], ids=["from disk", "served"])
def test_search_finds_a_word(served: bool, visit: Any, site: Any, html: Path) -> None:
    window = visit(site.url if served else html.as_uri())
    page = window.open("search.html?q=Elfving")
    # Results are listed one by one.
    page.locator("#search-results li a", has_text="put to the test").first.wait_for()
    assert window.faults == []


@pytest.mark.parametrize("width", [390, 1280])
def test_there_is_one_way_to_search(width: int, visit: Any) -> None:
    page = visit(viewport={"width": width, "height": 844}).open("book/preface.html")
    buttons = page.locator(".search-button__button:visible")
    assert buttons.count() == 1
    buttons.click()
    assert page.locator("#pst-search-dialog input:visible").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_follows_the_reader_and_can_be_switched(scheme: str, visit: Any) -> None:
    window = visit(color_scheme=scheme)
    page = window.open(f"{FIGURE}.html")
    assert page.evaluate("() => document.documentElement.dataset.theme") == scheme
    page.locator(".theme-switch-button:visible").first.click()
    other = {"light": "dark", "dark": "light"}[scheme]
    assert page.evaluate("() => document.documentElement.dataset.theme") == other
    # A file is a process of its own, and what another one stores reaches it a moment later.
    page = window.open("book/notation.html")
    page.wait_for_function("(mode) => localStorage.getItem('mode') === mode", arg=other)
    page.reload()
    assert page.evaluate("() => document.documentElement.dataset.theme") == other
    assert window.faults == []


def test_figures_have_no_glaring_frame_in_the_dark(visit: Any) -> None:
    page = visit(color_scheme="dark").open(f"{FIGURE}.html")
    _, ground, filters = page.evaluate(COLOURS, "article img.sb-figure")
    assert ground == "rgba(0, 0, 0, 0)"
    assert "invert(1)" in filters


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", ["book/how-to-read.html", "notebooks/claims/prop-1-mse.html"])
def test_verdicts_are_legible(scheme: str, page: str, visit: Any) -> None:
    contrasts = visit(color_scheme=scheme).open(page).evaluate(BADGE_CONTRAST)
    assert contrasts
    assert min(contrasts) >= 4.5


def test_the_download_is_the_executed_notebook(visit: Any, site: Any, tmp_path: Path) -> None:
    page = visit(site.url, accept_downloads=True).open(f"{FIGURE}.html")
    page.locator(".dropdown-download-buttons button").first.click()
    with page.expect_download() as download:
        page.locator(NOTEBOOK_LINK).click()
    assert download.value.suggested_filename == "fig1a-unit-ball.ipynb"
    download.value.save_as(tmp_path / "page.ipynb")
    check_executed(tmp_path / "page.ipynb")


def test_from_disk_the_download_leads_to_the_executed_notebook(visit: Any, html: Path) -> None:
    link = visit().open(f"{FIGURE}.html").locator(NOTEBOOK_LINK).evaluate("(link) => link.href")
    assert link.startswith(html.as_uri())
    check_executed(html / link.removeprefix(f"{html.as_uri()}/"))


def check_executed(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in code)
    assert any("image/png" in output.get("data", {}) for cell in code for output in cell.outputs)


def test_paper_shows_the_light_page_unfolded(visit: Any) -> None:
    page = visit(color_scheme="dark").open("notebooks/claims/prop-1-mse.html")

    def state() -> tuple[str, int]:
        folded = page.locator("article :is(details:not([open]), .toggle-hidden)").count()
        return page.evaluate("() => document.documentElement.dataset.theme"), folded

    before = state()
    assert before[0] == "dark" and before[1] > 0
    page.evaluate("() => window.dispatchEvent(new Event('beforeprint'))")
    assert state() == ("light", 0)
    page.evaluate("() => window.dispatchEvent(new Event('afterprint'))")
    assert state() == before
