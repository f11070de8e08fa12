"""The table of statements on regret, from ledgers written by hand."""

from __future__ import annotations

import json
import re

import pytest

from speedbook.press.sphinx.regret_table import regret_rows

from .pressed import press, words


def row(place="Theorem 1, Section 4", reading=None, **changes):
    found = {"place": place, "title": "A title", "verdict": "supported", "origin": "paper"}
    found |= {"notebook": "notebooks/claims/page.ipynb"} | changes
    return found if reading is None else found | {"reading": reading}


LEDGER = {
    "lemma-1": row("Lemma 1"),
    "thm-1-late": row("ours, for Theorem 1", "uniform", title="Too late", origin="ours"),
    "thm-2": row("Theorem 2", "uniform", verdict="contradicted", origin="reading"),
    "thm-1": row(reading="one bandit", title="The rate"),
    "thm-1-uniform": row(reading="uniform", verdict="contradicted", title="One for all"),
    "thm-1-count": row(title="Of no reading"),
    "extra": row("ours, for Algorithm 1", "one bandit", origin="ours"),
}


def test_claims_whose_ids_begin_alike_share_a_row_and_keep_their_order():
    found = [(item.head, item.label, item.claims) for item in regret_rows(LEDGER)]
    both = {"one bandit": ["thm-1"], "uniform": ["thm-1-late", "thm-1-uniform"]}
    assert found == [
        ("thm-1", "Theorem 1", both),
        ("thm-2", "Theorem 2", {"one bandit": [], "uniform": ["thm-2"]}),
        ("extra", "ours, for Algorithm 1", {"one bandit": ["extra"], "uniform": []}),
    ]


def test_every_claim_with_a_reading_has_its_place_and_no_other():
    names = [n for item in regret_rows(LEDGER) for some in item.claims.values() for n in some]
    assert sorted(names) == sorted(name for name, item in LEDGER.items() if "reading" in item)
    assert regret_rows({}) == []


@pytest.mark.slow
def test_the_page_shows_verdicts_side_by_side(tmp_path):
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "ledger.json").write_text(json.dumps({"claims": LEDGER}))
    (tmp_path / "index.md").write_text("# P\n\n```{regret-table}\n```\n")
    pages = tmp_path / "notebooks" / "claims"
    pages.mkdir(parents=True)
    (pages / "page.md").write_text("---\norphan: true\n---\n# Page\n")
    assert press(tmp_path) == ""
    body = re.search("<tbody>.*</tbody>", (tmp_path / "html" / "index.html").read_text(), re.S)[0]
    rows = [re.findall("<td>(.*?)</td>", line, re.S) for line in body.split("</tr>")[:-1]]
    text = [[words(cell) for cell in line] for line in rows]
    assert text[0] == [
        "Theorem 1 thm-1",
        "✓ The rate supported · printed · thm-1",
        "✗ One for all contradicted · printed · thm-1-uniform "
        "✓ Too late supported · ours · thm-1-late",
    ]
    assert text[1] == ["Theorem 2 thm-2", "", "✗ A title contradicted · our reading · thm-2"]
    assert 'href="notebooks/claims/page.html"' in rows[0][1]
