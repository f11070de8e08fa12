"""Groups of claims, totals of the ledger, summary of the errata, boxes of the map."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from pydantic import ValidationError

from speedbook.claims.registry import load_registry
from speedbook.press.sphinx.groups import Group, group_of, grouped, load_groups
from speedbook.press.sphinx.map_groups import group_uses, groups_svg
from speedbook.press.sphinx.scoreboard import COLUMNS
from speedbook.press.sphinx.statements import split_statement

from .pressed import press as press_pages
from .pressed import words
from .test_errata_map import PAGES, press  # noqa: F401  (a fixture)

ROOT = Path(__file__).parents[2]
#: Lemma 1 and what it rests on; what is built on it; the rest by its notebook.
GROUPS = [
    {
        "id": "steps",
        "title": "Steps & lemma",
        "place": "Lemma 1",
        "asks": "Is it so?",
        "claims": ["step", "lemma-1"],
    },
    {
        "id": "results",
        "title": "Results",
        "place": "Theorem 1",
        "asks": "What follows?",
        "claims": ["thm-1", "cor-1", "prop-1"],
    },
    {
        "id": "rest",
        "title": "The rest",
        "place": "ours",
        "asks": "What else?",
        "notebooks": ["notebooks/claims/prop-1.ipynb"],
    },
]


def test_every_claim_belongs_to_a_group_and_every_entry_of_the_groups_holds_one() -> None:
    groups, claims = load_groups(ROOT), load_registry(ROOT).claims
    found = grouped(groups, claims)
    assert None not in found, f"book/groups.yml: no group contains {found.get(None)}"
    assert all(found.values())
    names = [claim.id for claim in claims]
    for group in groups:
        for head in group.claims:
            assert any(name == head or name.startswith(f"{head}-") for name in names), head
        for notebook in group.notebooks:
            assert (ROOT / notebook).is_file()
    heads = [head for group in groups for head in group.claims]
    notebooks = [notebook for group in groups for notebook in group.notebooks]
    assert len(set(heads)) == len(heads) and len(set(notebooks)) == len(notebooks)


def test_the_longest_id_decides_and_the_notebook_takes_the_rest() -> None:
    def group(name: str, *claims: str, notebooks: tuple[str, ...] = ()) -> Group:
        more = {"title": name, "place": name, "asks": name}
        return Group(id=name, claims=claims, notebooks=notebooks, **more)

    groups = [group("a", "thm-1"), group("b", "thm-1-d"), group("c", notebooks=("n",))]
    assert [group_of(groups, name, "n") for name in ("thm-1", "thm-1-d-x", "thm-1-da", "x")] == [
        "a",
        "b",
        "a",
        "c",
    ]
    assert group_of(groups, "thm-10", "other") is None


def test_a_group_that_says_nothing_is_refused() -> None:
    with pytest.raises(ValidationError, match="title"):
        Group(id="a", title="", place="b", asks="c")


def test_what_is_measured_is_no_part_of_what_is_said() -> None:
    assert split_statement("A. Measured: b.") == ("A.", "Measured: b.")


@pytest.mark.slow
def test_the_ledger_counts_and_each_count_leads_to_its_rows(press) -> None:  # noqa: F811
    page = press(prop_1={"origin": "reading"})[0]["ledger"]
    totals = re.search(r'<table class="[^"]*ledger-totals.*?</table>', page, re.S)[0]
    rows = [words(row) for row in re.findall("<tr.*?</tr>", totals, re.S)]
    assert rows[0] == "Verdict The paper’s words As we read it Ours All"
    assert rows[1:] == [
        "✓ supported 1 1 1 3",
        "✗ contradicted 2 2",
        "∅ vacuous 1 1",
        "≈ consistent over the measured range 1 1",
        "▽ threshold not met 1 1",
        "all 5 1 2 8",
    ]
    links = dict(re.findall(r'href="(#ledger[^"]*)" aria-label="([^"]*)"', totals))
    assert links["#ledger?verdict=supported&amp;whose=readings"] == "supported, As we read it: 1"
    assert "#ledger?whose=ours" in links and "#ledger?verdict=vacuous" in links


@pytest.mark.slow
def test_the_ledger_stands_in_groups_with_their_tallies(press) -> None:  # noqa: F811
    pages, warnings = press(groups=GROUPS)
    assert warnings == ""
    bodies = re.findall(r'<tbody id="([^"]*)">(.*?)</tbody>', pages["ledger"], re.S)
    assert [name for name, _ in bodies] == ["ledger-steps", "ledger-results", "ledger-rest"]
    held = {name: re.findall('id="claim-([^"]*)"', body) for name, body in bodies}
    assert held["ledger-steps"] == ["step", "lemma-1", "lemma-1-corrected"]
    assert held["ledger-rest"] == ["alone", "bar"]
    told = [words(re.search(r"<tr.*?</tr>", body, re.S)[0]) for _, body in bodies]
    assert told[0] == "Steps & lemmaLemma 1 the paper’s 2: 1 holds, 1 fails · ours 1"
    assert told[1].endswith("the paper’s 3: 2 hold, 1 fails")
    row = re.search(r'<tr class="([^"]*)" id="claim-lemma-1">.*?</tr>', pages["ledger"], re.S)
    assert "of-paper" in row[1]
    assert "What it saysOne < two." in words(row[0])


@pytest.mark.slow
def test_a_group_of_ours_alone_says_so_once(press) -> None:  # noqa: F811
    alone = {"id": "own", "title": "Own", "place": "ours", "asks": "?", "claims": ["bar"]}
    page = press(groups=[*GROUPS, alone])[0]["ledger"]
    body = re.search('<tbody id="ledger-own">.*?</tr>', page, re.S)[0]
    assert words(body) == "Ownours 1 claim"


def test_no_two_neighbouring_heads_begin_with_the_same_word() -> None:
    """In narrow columns the first words of the heads are read along the line."""
    first = [head.split()[0].lower().rstrip("s") for head in (*COLUMNS.values(), "All")]
    assert all(one != other for one, other in pairwise(first)), first


@pytest.mark.slow
def test_a_claim_without_a_group_is_a_fault_and_is_shown(press) -> None:  # noqa: F811
    pages, warnings = press(groups=GROUPS[:2])
    assert "book/groups.yml: no group contains alone, bar" in warnings
    assert 'id="claim-bar"' in pages["ledger"]


@pytest.mark.slow
def test_the_errata_begin_with_a_summary_of_the_gravest(press) -> None:  # noqa: F811
    pages, _ = press(thm_1={"severity": "conclusion"})
    top = pages["errata"].split('id="conclusions"')[0]
    counts = re.search(r'<ul class="errata-counts.*?</ul>', top, re.S)[0]
    assert words(counts) == (
        "0 readings of a conclusion fail 2 statements are false or empty "
        "1 step of a proof fails 0 slips"
    )
    assert 'href="#errata-proof-step"' in counts
    gravest = re.search(r'<ul class="errata-gravest.*?</ul>', top, re.S)[0]
    lines = [words(line) for line in re.findall("<li>.*?</li>", gravest, re.S)]
    assert lines == [
        "✗ Lemma 1: The lemma contradicted, corrected",
        "✗ Section 1: Of cor-1 contradicted, not corrected",
    ]
    assert 'href="#erratum-lemma-1"' in gravest


@pytest.mark.slow
def test_the_map_begins_with_boxes_and_lists_what_they_hold(press) -> None:  # noqa: F811
    text = "# Map\n\n```{claim-groups}\n```\n"
    pages, warnings = press({**PAGES, "map": text}, groups=GROUPS)
    assert warnings == ""
    page = pages["map"]
    svg = re.search(r'<div class="claim-groups">\s*<figure.*?</figure>', page, re.S)[0]
    # Nothing rests on a claim of the third group.
    assert re.findall('href="#map-([^"]*)"', svg) == ["steps", "results"]
    assert "1 of the 1 arrows are broken" in words(svg)
    assert svg.count('class="broken"') == 1 and 'class="firm"' not in svg
    boxes = re.findall(r'<details class="map-box">.*?</details>', page, re.S)
    assert len(boxes) == 2
    assert words(boxes[0]).startswith("Steps & lemma Lemma 1 the paper’s 2: 1 holds, 1 fails")
    assert (
        'id="map-steps"' in boxes[0]
        and 'Used by: <a class="reference internal" href="#map-results"' in boxes[0]
    )
    assert "Uses: Steps & lemma" in words(boxes[1])
    pictured = re.findall(r"<svg.*?</svg>", boxes[0], re.S)
    assert "lemma-1-corrected" in pictured[0] and "cor-1" not in pictured[0]
    assert "Of cor-1 Section 1 · cor-1 ≈ thm-1" in words(boxes[1])


def test_the_book_s_map_has_ten_boxes_and_no_circle() -> None:
    from speedbook.claims.ledger import read_ledger
    from speedbook.claims.relations import Relations
    from speedbook.claims.rules import Verdict

    claims, rows = load_registry(ROOT).claims, read_ledger(ROOT)["claims"]
    known = [claim for claim in claims if claim.id in rows]
    relations = Relations(known, {c.id: Verdict(rows[c.id]["verdict"]) for c in known})
    groups = load_groups(ROOT)
    names = {name: group for group, held in grouped(groups, known).items() for name in held}
    uses = group_uses(relations, {name: group for name, group in names.items() if group})
    linked = {group for pair in uses for group in pair}
    assert len(linked) == 10
    boxes = {group.id: group for group in groups if group.id in linked}
    # A circle would be an error of the layout.
    svg = groups_svg(boxes, dict.fromkeys(boxes, ""), uses, relations)
    assert svg.count("<a ") == 10


@pytest.mark.slow
def test_the_fields_of_a_named_tuple_are_on_a_page_only_with_a_text(tmp_path: Path) -> None:
    shown = "```{eval-rst}\n.. automodule:: speedlib.slopes\n   :members:\n```\n"
    (tmp_path / "index.md").write_text(f"# Slopes\n\n{shown}")
    (tmp_path / "book").mkdir()
    press_pages(tmp_path)
    page = (tmp_path / "html" / "index.html").read_text()
    assert 'id="speedlib.slopes.Slope"' in page
    assert "Alias for field" not in page and "speedlib.slopes.Slope.low" not in page
    assert not re.search(r"<dd>\s*</dd>", page)
