"""The form that says what to use: its data, its table, its evidence, and where its script goes."""

from __future__ import annotations

import json
import re

import pytest

from speedbook.claims.registry import load_registry
from speedbook.paths import find_root
from speedbook.press.sphinx.advice_form import LIBRARY, answer, capitalised

from .pressed import press, words

WORDS = json.loads((LIBRARY / "advice_words.json").read_text(encoding="utf-8"))
TABLE = json.loads((LIBRARY / "advice.json").read_text(encoding="utf-8"))
REASONS = [each for told in WORDS["strategies"].values() for each in told["reasons"]]


def test_every_reason_rests_on_a_claim_and_a_page_of_the_book():
    root = find_root()
    known = {claim.id for claim in load_registry(root).claims}
    for reason in REASONS:
        assert reason["claims"] and set(reason["claims"]) <= known
        assert (root / f"{reason['page']}.ipynb").is_file()
    assert (root / f"{WORDS['page']}.ipynb").is_file()


def test_the_table_says_what_is_advised_first_and_its_range():
    cell = TABLE["cells"]["40,2,3000"]
    low, _, high = cell["strategies"]["neyman"][0]
    assert cell["order"][0] == "neyman"
    assert answer(cell, WORDS) == f"adaptive Neyman allocation: {low:.2f} to {high:.2f}"
    assert answer({"order": []}, WORDS) == "run the policy"
    assert capitalised("SPEED, printed") == "SPEED, printed"
    assert capitalised("run the policy") == "Run the policy"


@pytest.fixture(scope="module")
def pressed(tmp_path_factory):
    """Press a page with the form and one without, and a stub of every page that it links to."""
    root = tmp_path_factory.mktemp("form")
    row = {"title": "T", "verdict": "supported", "origin": "ours", "place": "ours"}
    claims = {name: row for reason in REASONS for name in reason["claims"]}
    (root / "book").mkdir()
    (root / "book" / "ledger.json").write_text(json.dumps({"claims": claims}))
    (root / "index.md").write_text("# P\n\n```{advice-form}\n```\n")
    (root / "other.md").write_text("---\norphan: true\n---\n# Other\n")
    for reason in REASONS:
        page = root / f"{reason['page']}.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text("---\norphan: true\n---\n# Page\n")
    assert press(root) == ""
    return root / "html"


@pytest.mark.slow
def test_the_page_carries_the_library_s_answers_whole(pressed):
    text = (pressed / "index.html").read_text()
    (data,) = re.findall('<script type="application/json">(.*?)</script>', text, re.S)
    assert json.loads(data) == {"table": TABLE, "words": WORDS}


@pytest.mark.slow
def test_only_pages_with_a_form_load_its_script(pressed):
    assert "advice.js" in (pressed / "index.html").read_text()
    assert "advice.js" not in (pressed / "other.html").read_text()


@pytest.mark.slow
def test_without_scripts_there_are_a_table_and_the_evidence(pressed):
    text = (pressed / "index.html").read_text()
    rows = re.findall("<tr.*?</tr>", re.search("<tbody>.*</tbody>", text, re.S)[0], re.S)
    assert len(rows) == len(TABLE["dimensions"]) * len(TABLE["multiples"])
    assert words(rows[0]).startswith("A = 2, d = 2")
    parts = re.findall(r'<div class="advice-evidence advice-for-([\w-]+)', text)
    assert parts == list(WORDS["strategies"])
    for reason in REASONS:
        assert f'href="{reason["page"]}.html"' in text
    assert text.count("✓ supported") == sum(len(reason["claims"]) for reason in REASONS)
