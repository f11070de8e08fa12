"""Downloads and citation of the built pages: the files are there, whole, and found by everyone."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import nbformat
import pytest
from bs4 import BeautifulSoup

import speedlib
from tools.audit.measure import violations
from tools.publish.archive import TOP, make_zip

from .conftest import built_pages
from .seen import TOO_WIDE

MENU = ".dropdown-download-buttons"
WIDTHS = {"phone": 390, "small phone": 320}
CLAIM = "notebooks/claims/prop-1-mse.html"
NOTEBOOKS = [name for name in built_pages() if name.startswith("notebooks/")] or [""]
HAND_INS = [name for name in NOTEBOOKS if "/hand-in-" in name] or [""]


def downloads(html: Path, name: str) -> dict[str, Path]:
    """Return the files that the menu of a page offers, by the words of the links."""
    soup = BeautifulSoup((html / name).read_text(encoding="utf-8"), "html.parser")
    links = soup.select(f"{MENU} a[download]")
    page = (html / name).parent
    return {
        " ".join(a.get_text().split()): (page / unquote(str(a["href"]))).resolve() for a in links
    }


@pytest.mark.parametrize("name", HAND_INS)
def test_a_hand_in_offers_no_notebook_since_its_copy_cannot_be_handed_in(
    name: str, html: Path
) -> None:
    assert not any(path.suffix == ".ipynb" for path in downloads(html, name).values())


@pytest.mark.parametrize("name", [name for name in NOTEBOOKS if name not in HAND_INS] or [""])
def test_a_notebook_page_offers_whole_files(name: str, html: Path) -> None:
    files = downloads(html, name)
    assert all(path.is_relative_to(html) and path.is_file() for path in files.values())
    ran, clean = (
        nbformat.read(files[f"Notebook {kind} outputs (.ipynb)"], as_version=4)
        for kind in ("with", "without")
    )
    for notebook in (ran, clean):
        nbformat.validate(notebook)
    assert [(c.cell_type, c.source) for c in ran.cells] == [
        (c.cell_type, c.source) for c in clean.cells
    ]
    cells = [cell for cell in clean.cells if cell.cell_type == "code"]
    assert all(not c.outputs and c.execution_count is None for c in cells)

    # What the notebook shows, read here without the code of the press.
    outputs = [o for c in ran.cells if c.cell_type == "code" for o in c.outputs]
    marks = [o.get("metadata", {}).get("speedbook", {}) for o in outputs]
    figures = {mark["figure"]["name"] for mark in marks if "figure" in mark}
    claims = {mark["claim"]["id"] for mark in marks if "claim" in mark}
    if len(figures) > 1:
        with zipfile.ZipFile(files["Figures (.svg, .png)"]) as packed:
            assert set(packed.namelist()) == {
                f"{f}.{kind}" for f in figures for kind in ("svg", "png")
            }
            assert all(b"<svg" in packed.read(f"{f}.svg")[:2000] for f in figures)
    for figure in figures if len(figures) == 1 else ():
        assert files["Figure (.svg)"].name == f"{figure}.svg"
        assert files["Figure (.png)"].read_bytes().startswith(b"\x89PNG")
    if figures or claims:
        with zipfile.ZipFile(files["Data (.csv, .json)"]) as packed:
            assert {f"figures/{f}.csv" for f in figures} <= set(packed.namelist())
            assert not claims or all(
                f'"{claim}"'.encode() in packed.read("results/records.json") for claim in claims
            )


@pytest.mark.parametrize("name", [name for name in built_pages() if name != "search.html"])
def test_every_page_says_how_to_cite_it(name: str, html: Path) -> None:
    soup = BeautifulSoup((html / name).read_text(encoding="utf-8"), "html.parser")
    box = soup.select_one("details.sb-cite:not([open])")
    assert box is not None
    text, bibtex = (pre.get_text() for pre in box.select("pre"))
    title = soup.select_one("h1")
    assert title is not None
    heading = " ".join(title.get_text().removesuffix("#").split())
    assert heading in " ".join(text.split())
    for reference in (text, bibtex):
        assert re.search(rf"Version {re.escape(speedlib.__version__)}\b", reference)
        assert "SPEED: a reproducible companion" in reference
        assert "Mukherjee" in reference
    assert bibtex.count("@") == 2
    assert soup.select_one(f"{MENU} a[href='#cite-this-page']") is not None


def test_a_server_hands_out_the_files(visit: Any, site: Any) -> None:
    page = visit(site.url, accept_downloads=True).open(CLAIM)
    for text in ("Notebook without outputs", "Data"):
        page.locator(f"{MENU} button").first.click()
        with page.expect_download() as download:
            page.locator(f"{MENU} a:has-text('{text}')").click()
        assert Path(download.value.path()).stat().st_size > 500


@pytest.mark.parametrize("look", ["light", "dark", "phone", "small phone"])
def test_the_menu_and_the_box_open_and_keep_nobody_out(look: str, visit: Any) -> None:
    size = {"width": WIDTHS.get(look, 1440), "height": 844}
    scheme = "dark" if look == "dark" else "light"
    page = visit(viewport=size, color_scheme=scheme).open(CLAIM)
    page.locator(f"{MENU} button").first.focus()
    page.keyboard.press("Enter")
    menu = page.locator(f"{MENU} .dropdown-menu")
    menu.wait_for(state="visible")
    box = menu.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] < size["width"] + 1
    assert violations(page, look) == []
    page.locator(f"{MENU} a[href='#cite-this-page']").click()
    page.wait_for_selector(".sb-cite[open]")
    # What lies below the pointer has the colours of the theme.
    page.mouse.move(0, 0)
    page.wait_for_timeout(500)
    assert page.locator(".sb-cite .copybtn").count() == 2
    assert page.evaluate(TOO_WIDE) <= 0
    assert violations(page, look) == []


def test_paper_has_no_use_for_it(visit: Any) -> None:
    page = visit().open(CLAIM)
    page.evaluate("() => window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert not page.locator(".sb-cite").is_visible()
    assert not page.locator(MENU).first.is_visible()


def test_the_archive_of_the_book_has_the_downloads(html: Path, tmp_path: Path) -> None:
    make_zip(html, out := tmp_path / "book.zip")
    with zipfile.ZipFile(io.BytesIO(out.read_bytes())) as packed:
        names = set(packed.namelist())
    files = downloads(html, CLAIM).values()
    assert {f"{TOP}/{path.relative_to(html).as_posix()}" for path in files} <= names
