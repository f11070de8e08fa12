"""Ledger, errata and map, as Sphinx presses them from a registry and a ledger."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import pytest
import yaml

from .a_claim import CLAIM
from .pressed import press as press_pages
from .pressed import words

PAGES = {
    "index": "# Book\n\n```{toctree}\nledger\nscore\nmap\nerrata\n```\n",
    "ledger": "# Ledger\n\n```{ledger-totals}\n```\n\n```{ledger-table}\n```\n",
    "score": "# Score\n\n```{scoreboard}\n```\n\nOf them "
    "{score}`paper fails statement` fail, {score}`open` of all are open.\n",
    "map": "# Map\n\n```{claim-map}\n```\n"
    + "".join(
        f"\n## {kind}\n\n```{{claim-foundations}} {kind}\n```\n"
        for kind in ("survives", "falls", "fault", "firm")
    ),
    "errata": "# Errata\n\n```{errata-summary}\n```\n"
    "\n(errata-conclusion)=\n## Conclusions\n\n```{errata} conclusion\n```\n"
    "\n(errata-statement)=\n## Statements\n\n```{errata} statement\n```\n"
    "\n(errata-proof-step)=\n## Steps\n\n```{errata} proof step\n```\n"
    "\n(errata-slip)=\n## Slips\n\n```{errata} slip\n```\n",
}
#: Theorem 1 holds though Lemma 1, on which it rests, does not; Corollary 1 falls with it.
CLAIMS = {
    "step": ("supported", {"place": "Proof of Lemma 1, first line"}),
    "lemma-1": (
        "contradicted",
        {
            "title": "The lemma",
            "place": "Lemma 1, Section 2",
            "severity": "statement",
            "statement": "One < two. Measured: their ratio.",
            "constants": "Read: one number for all bandits",
            "counterexample": "Take $x = 1$: it is {ledger}`lemma-1.details.exact`.",
            "corrected_by": ["lemma-1-corrected"],
            "rests_on": ["step"],
        },
    ),
    "lemma-1-corrected": ("supported", {"title": "The lemma, mended", "origin": "ours"}),
    "thm-1": ("consistent over the measured range", {"rests_on": ["lemma-1"]}),
    "cor-1": (
        "contradicted",
        {"rests_on": ["thm-1"], "uncorrected": "Nobody *needs* it.", "severity": "statement"},
    ),
    "prop-1": ("supported", {"rests_on": ["step"]}),
    "alone": (
        "vacuous",
        {
            "title": "All alone",
            "kind": "vacuous",
            "counterexample": "It is empty.",
            "severity": "proof step",
        },
    ),
    "bar": ("threshold not met", {"title": "Our bar", "origin": "ours"}),
}


def ledger_row(entry, verdict):
    row = {key: entry[key] for key in ("title", "place", "statement", "notebook")}
    found = {"estimate": 2.5, "interval": [2.4, 2.6], "replications": 9, "seed": 1}
    row |= {key: entry[key] for key in ("origin", "severity", "evidence") if key in entry}
    return {**row, "rule": "at most 1", "verdict": verdict, **found, "details": {"exact": "5/2"}}


@pytest.fixture
def press(tmp_path):
    def run(pages=PAGES, absent=(), found=None, groups=None, **changes):
        """Return pages by name and what Sphinx complained about."""
        book = tmp_path / "book"
        book.mkdir()
        entries = [
            {
                **CLAIM,
                "title": f"Of {name}",
                **more,
                **changes.get(name.replace("-", "_"), {}),
                "id": name,
            }
            for name, (_, more) in CLAIMS.items()
        ]
        (book / "claims.yml").write_text(yaml.safe_dump({"claims": entries}))
        if groups is not None:
            (book / "groups.yml").write_text(yaml.safe_dump({"groups": groups}))
        known = [entry for entry in entries if entry["id"] not in absent]
        rows = {e["id"]: ledger_row(e, CLAIMS[e["id"]][0]) for e in known}
        for name, more in (found or {}).items():
            rows[name] |= more
        (book / "ledger.json").write_text(json.dumps({"claims": rows}))
        cards = "\n\n".join(f"(card-{name})=\n## Card of {name}\n\ntext" for name in CLAIMS)
        for name, text in {
            **pages,
            "cards": f"---\norphan: true\n---\n# Cards\n\n{cards}\n",
        }.items():
            (tmp_path / f"{name}.md").write_text(text)
        warnings = press_pages(tmp_path)
        found = {name: (tmp_path / "html" / f"{name}.html").read_text() for name in pages}
        return found, warnings

    return run


def entry(page, name):
    return re.search(rf'<section id="erratum-{name}">.*?</section>', page, re.S)[0]


@pytest.mark.slow
def test_the_ledger_tells_how_numbers_came_about_and_how_fresh_seeds_agree(press):
    agreement = {"seeds": 20, "verdicts": {"supported": 20}, "changed": ["its record"]}
    told = "20 of 20 fresh seeds agree (stale: its record has changed since)"
    unseen = {"replications": None, "seed": None}
    pages, _ = press(
        found={
            "step": {"seed": 7, "seconds": 2.4, "runs": 3},
            "prop-1": {**unseen, "agreement": agreement},
            "alone": {**unseen, "agreement": None},
        }
    )
    rows = re.findall(r'<tr [^>]*id="claim-([\w-]+)"[^>]*>(.*?)</tr>', pages["ledger"], re.S)
    runs = {name: words(row.rpartition("<td>")[2]) for name, row in rows}
    assert runs["step"] == "9 replications in 3 runs, seed 7, 2 seconds"
    assert runs["lemma-1"] == "9 replications, seed 1"
    assert runs["prop-1"] == told
    assert runs["alone"] == ""


@pytest.mark.slow
def test_an_erratum_says_all_that_registry_and_ledger_know(press):
    pages, warnings = press()
    assert warnings == ""
    found = entry(pages["errata"], "lemma-1")
    assert words(found).startswith("The lemma")
    for term, text in [
        ("Printed", "One < two. Lemma 1, Section 2"),
        ("How we read it", "One number for all bandits."),
        ("Verdict", "✗ contradicted page of the claim"),
        ("Found", "2.50 [2.40, 2.60]; the claim says at most 1. Measured: their ratio."),
        ("Counterexample", r"Take \(x = 1\): it is 5/2."),
        ("Corrected", "✓ supported The lemma, mended. One < two. lemma-1-corrected"),
        ("Used by", "≈ thm-1"),
    ]:
        pattern = rf"<dt>{term}(?:<[^>]+>)*</dt><dd>(.*?)</dd>\s*(?:<dt>|</dl>)"
        assert words(re.search(pattern, found, re.S)[1]) == text
    for link in ("ledger.html#claim-lemma-1", "cards.html#card-lemma-1-corrected"):
        assert f'href="{link}"' in found


@pytest.mark.slow
def test_a_correction_of_several_claims_is_printed_once(press):
    pages, warnings = press(alone={"corrected_by": ["lemma-1-corrected"]})
    assert warnings == ""
    assert "The lemma, mended. One < two." in words(entry(pages["errata"], "lemma-1"))
    again = entry(pages["errata"], "alone")
    named = "✓ supported The lemma, mended, shown above under The lemma lemma-1-corrected"
    assert named in words(again) and "mended. One" not in words(again)
    assert 'href="#erratum-lemma-1"' in again


@pytest.mark.slow
def test_the_errata_hold_what_the_paper_says_by_severity_and_nothing_of_ours(press):
    pages, _ = press()
    assert re.findall('<section id="erratum-([^"]+)"', pages["errata"]) == [
        "lemma-1",
        "cor-1",
        "alone",
    ]
    assert "Nobody needs it." in words(entry(pages["errata"], "cor-1"))
    alone = words(entry(pages["errata"], "alone"))
    assert "Found 2.50 [2.40, 2.60]; empty if at most 1." in alone
    assert "Why it says nothing It is empty." in alone
    assert "How we read it" not in alone
    assert words(pages["errata"].split('id="slips"')[1]).split("None.")[0].endswith("Slips¶ ")
    assert "Our bar" in words(pages["ledger"])


@pytest.mark.slow
def test_the_scoreboard_counts_by_verdict_and_by_whose_a_claim_is(press):
    pages, _ = press(prop_1={"origin": "reading"})
    rows = [words(row) for row in re.findall("<tr.*?</tr>", pages["score"], re.S)]
    assert "✗ contradicted 2 0 0" in rows and "✓ supported 1 1 1" in rows
    assert "▽ threshold not met 0 0 1" in rows
    assert "of those that fail: a statement is false or empty 2 0" in rows
    assert "of those that fail: a step of a proof fails 1 0" in rows
    assert rows[-1] == "all 5 1 2"
    assert "Of them 2 fail, 1 of all are open." in words(pages["score"])


@pytest.mark.slow
def test_a_score_of_nothing_known_is_a_fault(press):
    pages = {**PAGES, "score": "# Score\n\n{score}`paper fals`\n"}
    assert "score: no word 'fals'; nearest: fails" in press(pages)[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("origin", "term"), [("paper", "Printed"), ("reading", "Our reading"), ("ours", None)]
)
def test_it_is_said_whose_a_claim_is(press, origin, term):
    severity = None if origin == "ours" else "statement"
    pages, _ = press(lemma_1={"origin": origin, "severity": severity})
    if term is None:
        assert 'id="erratum-lemma-1"' not in pages["errata"]
    else:
        found = entry(pages["errata"], "lemma-1")
        assert re.findall("<dt>(Printed|Our reading)", found) == [term]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("counterexample", "fault"),
    [
        ("It is 0.25.", "claim lemma-1: 0.25: bind each number to the ledger"),
        ("It is {ledger}`lemma-1.details.exakt`.", "no 'exakt' in the ledger"),
    ],
)
def test_a_number_typed_by_hand_or_missing_in_the_ledger_is_a_fault(press, counterexample, fault):
    _, warnings = press(lemma_1={"counterexample": counterexample})
    assert fault in warnings


@pytest.mark.slow
def test_a_kind_or_verdict_that_is_none_is_a_fault(press):
    text = "# P\n\n```{errata} wrong\n```\n\n```{claim-foundations} wrong\n```\n"
    _, warnings = press({"index": text})
    assert "errata: must be one of conclusion, statement, proof step, slip; got" in warnings
    assert "claim-foundations: must be one of survives, falls, " in warnings


def picture(page):
    return ElementTree.fromstring(re.search(r"<svg.*?</svg>", page, re.S)[0])


@pytest.mark.slow
def test_the_map_links_tells_and_shows_without_colour(press):
    pages, _ = press()
    svg = picture(pages["map"])
    rows = {link.get("href"): link for link in svg.iter("a")}
    shown = {"step", "lemma-1", "lemma-1-corrected", "thm-1", "cor-1", "prop-1"}
    assert set(rows) == {f"cards.html#card-{name}" for name in shown}
    row = rows["cards.html#card-lemma-1"]
    assert [text.text for text in row.iter("text")] == ["✗", "lemma-1", "contradicted"]
    assert row.find("title").text == "The lemma: contradicted (Lemma 1, Section 2)"
    assert "verdict-contradicted" in row.get("class")
    arrows = [
        arrow.get("class") for arrow in svg.iter("g") if arrow.get("class") in ("broken", "firm")
    ]
    assert sorted(arrows) == ["broken", "firm", "firm", "firm"]
    labels = [text.text for text in svg.iter("text") if text.get("class") == "quiet"]
    assert {"Lemma 1", "Proof of Lemma 1", "corrected by us"} <= set(labels)
    assert "http" not in ElementTree.tostring(svg, encoding="unicode")


@pytest.mark.slow
def test_the_tables_say_what_the_picture_shows(press):
    pages, _ = press()
    tables = {
        kind: words(re.search(rf'<section id="{kind}">.*?</section>', pages["map"], re.S)[0])
        for kind in ("survives", "falls", "fault", "firm")
    }
    assert "Of thm-1 Section 1 · thm-1 ✗ lemma-1" in tables["survives"]
    assert "Of cor-1 Section 1 · cor-1 ≈ thm-1 and indirectly: ✗ lemma-1" in tables["falls"]
    assert "The lemma Lemma 1, Section 2 · lemma-1 ≈ thm-1 ✓ lemma-1-corrected" in tables["fault"]
    assert "Of prop-1 Section 1 · prop-1 ✓ step" in tables["firm"]
    for kind, others in {"survives": ("cor-1", "prop-1"), "firm": ("thm-1", "cor-1")}.items():
        assert not any(f"· {other}" in tables[kind] for other in others)


@pytest.mark.slow
def test_a_claim_that_the_ledger_does_not_know_yet_is_left_out(press):
    pages, warnings = press(absent=("thm-1", "lemma-1-corrected"))
    assert warnings == ""
    assert "thm-1" not in pages["map"] and "thm-1" not in pages["errata"]
    assert "lemma-1-corrected" not in entry(pages["errata"], "lemma-1")
