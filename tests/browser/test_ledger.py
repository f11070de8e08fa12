"""The ledger in a browser: sorted, filtered, linked both ways, and whole without scripts."""

from __future__ import annotations

import re
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
WHOSE = {"b": "paper", "a": "reading", "d": "paper", "c": "ours"}


def row(name: str) -> str:
    cells = "".join(f"<td>{text}</td>" for text in ROWS[name])
    return f'<tr id="{name}" class="of-{WHOSE[name]}">{cells}</tr>'


def small_page(bodies: str) -> str:
    head = "".join(f"<th>{text}</th>" for text in HEADS)
    return (
        f'<meta charset="utf-8"><script src="{SCRIPT.as_uri()}"></script>'
        f'<table class="ledger-table"><thead><tr>{head}</tr></thead>{bodies}</table>'
    )


@pytest.fixture
def small(visit: Any, tmp_path: Path) -> Any:
    """Open a ledger of four rows with the book's script and nothing else."""
    (tmp_path / "small.html").write_text(small_page(f"<tbody>{''.join(map(row, ROWS))}</tbody>"))
    window = visit("file://")
    yield window.open(str(tmp_path / "small.html"))
    assert window.faults == []


@pytest.fixture
def groups(visit: Any, tmp_path: Path) -> Any:
    """Open one of two groups, whose second row says what its title does not."""
    bodies = "".join(
        f'<tbody id="ledger-{name}"><tr class="ledger-head"><td colspan="5"><h2>{name}</h2></td>'
        f"</tr>{''.join(map(row, rows))}</tbody>"
        for name, rows in {"first": "ba", "second": "dc"}.items()
    )
    says = "<details><summary>What it says</summary><p>hidden words</p></details>"
    page = small_page(bodies).replace("Alpha, Theorem 1", f"<p>Alpha, Theorem 1</p>{says}")
    (tmp_path / "groups.html").write_text(page)
    window = visit("file://")
    yield window.open(str(tmp_path / "groups.html"))
    assert window.faults == []


def shown(page: Any) -> str:
    ids = "(rows) => rows.filter((row) => row.offsetParent).map((row) => row.id).join('')"
    return page.locator("table.ledger-table tbody tr").evaluate_all(ids)


def hash_of(page: Any) -> str:
    """Return what of the address the page sets itself; `page.url` comes a moment later."""
    return str(page.evaluate("() => location.hash"))


def choose(page: Any, verdict: str) -> None:
    page.get_by_role("button", name=verdict).click()


def sort(page: Any, head: str) -> str | None:
    page.get_by_role("button", name=re.compile(f"^{head}")).click()
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
        ('"theorem 1"', "", "a"),
        ("“Theorem 1” alpha", "", "a"),
        ('"1 theorem"', "", ""),
        ('"theorem', "", "ba"),
        ("alpha theorem", "", "a"),
        ("", "✓ supported", "bc"),
        ("lemma", "✓ supported", "c"),
        ("alpha", "✓ supported", ""),
        ("  ", "– not testable", "d"),
    ],
)
def test_words_phrases_and_verdicts_filter(words: str, verdict: str, rows: str, small: Any) -> None:
    small.get_by_role("searchbox").fill(words)
    if verdict:
        choose(small, verdict)
    assert shown(small) == rows
    assert small.get_by_role("status").inner_text() == f"{len(rows)} of 4 claims"


def test_verdicts_add_up_and_go_again(small: Any) -> None:
    choose(small, "supported")
    choose(small, "contradicted")
    assert shown(small) == "bac"
    choose(small, "supported")
    assert shown(small) == "a"
    pressed = small.locator("[aria-pressed=true]").all_inner_texts()
    assert [text.split()[1] for text in pressed] == ["contradicted"]


@pytest.mark.parametrize(
    ("whose", "rows"),
    [
        ("The paper’s", "bad"),
        ("its words", "bd"),
        ("our readings", "a"),
        ("Ours", "c"),
        ("All", "badc"),
    ],
)
def test_the_switch_shows_the_paper_s_claims_or_ours(whose: str, rows: str, small: Any) -> None:
    small.get_by_label(whose).check()
    assert shown(small) == rows


def test_what_is_filtered_stays_so_when_sorted(small: Any) -> None:
    small.get_by_role("searchbox").fill("theorem")
    sort(small, "Claim")
    assert shown(small) == "ab"


def test_what_is_chosen_stands_in_the_address_and_comes_back(small: Any) -> None:
    small.get_by_role("searchbox").fill('"theorem 1" alpha')
    choose(small, "contradicted")
    small.get_by_label("The paper’s").check()
    sort(small, "Claim")
    assert hash_of(small) == (
        "#ledger?q=%22theorem+1%22+alpha&verdict=contradicted&whose=paper&sort=claim"
    )
    small.reload()
    assert shown(small) == "a"
    assert small.get_by_role("searchbox").input_value() == '"theorem 1" alpha'
    assert small.get_by_label("The paper’s").is_checked()
    small.get_by_role("button", name="Show all claims").click()
    assert hash_of(small) == "" and shown(small) == "badc"


def test_the_back_button_takes_choices_back_one_by_one(small: Any) -> None:
    choose(small, "supported")
    small.get_by_role("searchbox").press_sequentially("lemma")
    assert shown(small) == "c"
    small.go_back()  # all of the word at once
    assert shown(small) == "bc" and small.get_by_role("searchbox").input_value() == ""
    small.go_back()
    assert shown(small) == "badc" and hash_of(small) == ""
    small.go_forward()
    assert shown(small) == "bc"


def test_an_address_that_means_nothing_shows_all(small: Any) -> None:
    small.goto(small.url + "#ledger?verdict=wrong&whose=nobody&sort=colour")
    assert shown(small) == "badc"


def test_groups_unfold_one_by_one_and_all_at_once(groups: Any) -> None:
    style = groups.add_style_tag(content=".ledger-folded tr:not(.ledger-head) { display: none }")
    assert style is not None and shown(groups) == ""
    first = groups.get_by_role("button", name="first")
    assert first.get_attribute("aria-expanded") == "false"
    first.focus()
    groups.keyboard.press("Enter")
    assert shown(groups) == "ba" and first.get_attribute("aria-expanded") == "true"
    groups.get_by_role("button", name="Unfold all groups").click()
    assert shown(groups) == "badc"
    groups.get_by_role("button", name="Fold all groups").click()
    assert shown(groups) == ""
    # A search unfolds what it finds and leaves out the other groups.
    groups.get_by_role("searchbox").fill("gamma")
    assert shown(groups) == "c"
    assert not first.is_visible()


def test_a_statement_unfolds_where_it_alone_holds_the_words(groups: Any) -> None:
    search, says = groups.get_by_role("searchbox"), groups.locator("details")
    search.fill("hidden")
    assert shown(groups) == "a" and says.get_attribute("open") is not None
    search.fill("alpha")
    assert shown(groups) == "a" and says.get_attribute("open") is None


def test_a_link_to_a_row_unfolds_its_group(groups: Any) -> None:
    groups.add_style_tag(content=".ledger-folded tr:not(.ledger-head) { display: none }")
    groups.evaluate("() => { location.hash = '#c'; }")
    groups.wait_for_function("() => document.getElementById('c').offsetParent")
    assert shown(groups) == "dc"


@pytest.mark.parametrize("width", [390, 1280])
def test_the_book_s_ledger_can_be_sorted_and_filtered(width: int, visit: Any) -> None:
    page = visit(viewport={"width": width, "height": 844}).open(LEDGER)
    rows = page.locator("table.ledger-table tbody tr:not(.ledger-head)")
    first = rows.evaluate_all("(rows) => rows.map((row) => row.id)")
    assert rows.filter(visible=True).count() == 0, "the groups are folded at first"
    sort(page, "Claim")
    group = page.locator("#ledger-theorem-1 td:nth-child(2) > p > a").all_inner_texts()
    assert len(group) > 20
    initials = [title[0].casefold() for title in group]
    assert initials == sorted(initials)
    page.get_by_role("button", name="Show all claims").click()
    texts = rows.evaluate_all("(rows) => rows.map((row) => row.textContent.toLowerCase())")
    count = sum("unbiased" in text for text in texts)
    assert 0 < count < len(first)
    page.get_by_role("searchbox", name="Search", exact=True).last.fill("unbiased")
    assert rows.filter(visible=True).count() == count
    status = page.locator(".ledger-controls").get_by_role("status")
    assert status.inner_text() == f"{count} of {len(first)} claims"


@pytest.mark.parametrize("width", [390, 700, 1000, 1199, 1200, 1920])
def test_the_ledger_fits_every_window(width: int, visit: Any) -> None:
    page = visit(viewport={"width": width, "height": 844}).open(LEDGER)
    page.get_by_role("button", name="Unfold all groups").click()
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    table = page.locator("table.ledger-table")
    within = "(table) => table.scrollWidth <= table.parentElement.clientWidth"
    assert table.evaluate(within)


@pytest.mark.parametrize("width", [390, 1280])
def test_the_ledger_is_whole_without_scripts(width: int, visit: Any) -> None:
    window = visit(viewport={"width": width, "height": 844}, java_script_enabled=False)
    window.page.goto(f"{window.base}/{LEDGER}")
    rows = window.page.locator("table.ledger-table tbody tr:not(.ledger-head)")
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


def test_the_totals_agree_with_the_rows_that_they_lead_to(visit: Any) -> None:
    page = visit().open(LEDGER)
    links = page.locator(".ledger-totals a")
    rows = page.locator("table.ledger-table tbody tr:not(.ledger-head)")
    assert links.count() > 15
    for link in links.all():
        link.click()
        page.wait_for_function("() => location.hash.startsWith('#ledger?')")
        told = f"{link.inner_text()} of {rows.count()} claims"
        if link.get_attribute("href") == "#ledger?":
            continue
        assert page.locator(".ledger-count").inner_text() == told, link.get_attribute("href")


def test_all_of_the_ledger_can_be_chosen_with_the_keyboard(visit: Any) -> None:
    page = visit().open(LEDGER)
    page.locator("#ledger-search").focus()
    page.keyboard.type('"at least"')
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.textContent") == "Show all claims"
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("() => document.activeElement.value") == "paper"
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert "whose=paper" in hash_of(page) and "verdict=" in hash_of(page)
    ring = "() => getComputedStyle(document.activeElement).outlineStyle"
    assert page.evaluate(ring) == "solid"


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
