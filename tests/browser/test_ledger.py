"""The ledger in a browser: sorted, filtered, linked both ways, and whole without scripts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "book" / "_static" / "ledger.js"
LEDGER, CLAIM = "book/ledger.html", "notebooks/claims/prop-1-mse.html"
HEADS = ("Verdict", "Claim", "Found", "Rule", "Run")
ROWS = {
    "b": ("✓ supported", "Beta, Theorem 2", "1.50 [1.4, 1.6]", "at least 1", "9,000 replications"),
    "a": ("✗ contradicted", "Alpha, Theorem 1", "-0.20", "equal to 0", "80 replications"),
    "d": ("– not testable", "Delta, Section 4", "", "", ""),
    "c": ("✓ supported", "Gamma, Lemma 1", "1e-05 [0, 1]", "at most 2", "100,000 replications"),
}


@pytest.fixture
def small(visit: Any, tmp_path: Path) -> Any:
    """Open a ledger of four rows with the book's script and nothing else."""
    body = "".join(
        f'<tr id="{name}">{"".join(f"<td>{text}</td>" for text in cells)}</tr>'
        for name, cells in ROWS.items()
    )
    head = "".join(f"<th>{text}</th>" for text in HEADS)
    (tmp_path / "small.html").write_text(
        f'<meta charset="utf-8"><script src="{SCRIPT.as_uri()}"></script>'
        f'<table class="ledger-table"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    )
    window = visit("file://")
    yield window.open(str(tmp_path / "small.html"))
    assert window.faults == []


def shown(page: Any) -> str:
    ids = "(rows) => rows.filter((row) => !row.hidden).map((row) => row.id).join('')"
    return page.locator("table.ledger-table tbody tr").evaluate_all(ids)


def sort(page: Any, head: str) -> str | None:
    page.get_by_role("button", name=head).click()
    return page.locator("th", has_text=head).get_attribute("aria-sort")


@pytest.mark.parametrize(
    ("head", "upwards", "downwards"),
    [
        ("Verdict", "dbca", "abcd"),
        ("Claim", "abdc", "cdba"),
        ("Found", "acbd", "bcad"),
        ("Rule", "bcad", "acbd"),
        ("Run", "abcd", "cbad"),
    ],
)
def test_a_head_sorts_up_and_down_and_gives_the_first_order_back(
    head: str, upwards: str, downwards: str, small: Any
) -> None:
    assert (sort(small, head), shown(small)) == ("ascending", upwards)
    assert (sort(small, head), shown(small)) == ("descending", downwards)
    assert (sort(small, head), shown(small)) == (None, "badc")


def test_one_head_sorts_at_a_time(small: Any) -> None:
    sort(small, "Claim")
    sort(small, "Found")
    assert small.locator("[aria-sort]").all_inner_texts() == ["Found"]
    assert shown(small) == "acbd"


@pytest.mark.parametrize(
    ("words", "verdict", "rows"),
    [
        ("", "", "badc"),
        ("theorem", "", "ba"),
        ("1 THEOREM", "", "ba"),
        ("alpha theorem", "", "a"),
        ("", "✓ supported", "bc"),
        ("lemma", "✓ supported", "c"),
        ("alpha", "✓ supported", ""),
        ("  ", "– not testable", "d"),
    ],
)
def test_words_and_verdict_filter(words: str, verdict: str, rows: str, small: Any) -> None:
    small.get_by_role("searchbox").fill(words)
    small.get_by_role("combobox").select_option(verdict)
    assert shown(small) == rows
    assert small.get_by_role("status").inner_text() == f"{len(rows)} of 4 claims"


def test_what_is_filtered_stays_so_when_sorted(small: Any) -> None:
    small.get_by_role("searchbox").fill("theorem")
    sort(small, "Claim")
    assert shown(small) == "ab"


@pytest.mark.parametrize("width", [390, 1280])
def test_the_book_s_ledger_can_be_sorted_and_filtered(width: int, visit: Any) -> None:
    page = visit(viewport={"width": width, "height": 844}).open(LEDGER)
    rows = page.locator("table.ledger-table tbody tr")
    first = rows.evaluate_all("(rows) => rows.map((row) => row.id)")
    sort(page, "Claim")
    initials = [
        title[0].casefold() for title in rows.locator("td:nth-child(2) a").all_inner_texts()
    ]
    assert initials == sorted(initials)
    texts = rows.evaluate_all("(rows) => rows.map((row) => row.textContent.toLowerCase())")
    count = sum("unbiased" in text for text in texts)
    assert 0 < count < len(first)
    page.get_by_role("searchbox", name="Filter").fill("unbiased")
    assert rows.filter(visible=True).count() == count
    status = page.locator(".ledger-controls").get_by_role("status")
    assert status.inner_text() == f"{count} of {len(first)} claims"


@pytest.mark.parametrize("width", [390, 700, 1000, 1199, 1200, 1920])
def test_the_ledger_fits_every_window(width: int, visit: Any) -> None:
    page = visit(viewport={"width": width, "height": 844}).open(LEDGER)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    table = page.locator("table.ledger-table")
    within = "(table) => table.scrollWidth <= table.parentElement.clientWidth"
    assert table.evaluate(within)


@pytest.mark.parametrize("width", [390, 1280])
def test_the_ledger_is_whole_without_scripts(width: int, visit: Any) -> None:
    window = visit(viewport={"width": width, "height": 844}, java_script_enabled=False)
    window.page.goto(f"{window.base}/{LEDGER}")
    rows = window.page.locator("table.ledger-table tbody tr")
    assert rows.count() > 1
    assert rows.filter(visible=True).count() == rows.count()
    assert window.page.locator(".ledger-controls, .ledger-sort").count() == 0
    verdicts = rows.locator("td:first-child").all_inner_texts()
    # Sign and word, so that nothing rests on colour.
    assert all(len(text.split(maxsplit=1)) == 2 for text in verdicts)


def test_a_claim_and_its_row_lead_to_each_other(visit: Any) -> None:
    page = visit().open(CLAIM)
    page.locator(".claim-card .verdict a").first.click()
    page.wait_for_url("**/book/ledger.html#claim-prop-1")
    ground = "(row) => getComputedStyle(row).backgroundColor"
    row, other = page.locator("#claim-prop-1"), page.locator("#claim-unbiased")
    assert row.evaluate(ground) != other.evaluate(ground), "the row that was meant stands out"
    row.get_by_role("link").click()
    page.wait_for_url(f"**/{CLAIM}#card-prop-1")
    card = page.locator(".claim-card").first
    assert "Proposition 1" in card.inner_text()
    top = page.evaluate("(box) => box.getBoundingClientRect().top", card.element_handle())
    assert 0 <= top < page.evaluate("() => window.innerHeight"), "the card is in view"


def test_the_ledger_tells_of_its_build_and_comes_as_data(visit: Any, site: Any) -> None:
    page = visit(site.url, accept_downloads=True).open(LEDGER)
    assert "Python 3" in page.locator(".ledger-build").inner_text()
    with page.expect_download() as download:
        page.get_by_role("link", name="ledger.json").click()
    assert '"prop-1"' in Path(download.value.path()).read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [390, 1280])
def test_the_parameters_unfold_within_the_page(width: int, visit: Any) -> None:
    page = visit(viewport={"width": width, "height": 844}).open(CLAIM)
    table = page.locator(".sb-foot table.sb-parameters")
    assert not table.is_visible()
    page.locator(".sb-foot summary").click()
    assert table.is_visible()
    assert "replications" in table.inner_text()
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    assert page.locator("article .tag_parameters").count() == 0
