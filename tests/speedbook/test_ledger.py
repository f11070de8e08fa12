"""Cards and ledger: what is shown and kept of a record."""

from __future__ import annotations

import itertools

import nbformat
import pytest

from speedbook.claims.cards import card_html, card_text
from speedbook.claims.ledger import LedgerError, derive_ledger, ledger_text, lookup, read_ledger
from speedbook.claims.registry import Registry
from speedbook.text import rounded

from .a_claim import CLAIM, claim

# Cards


@pytest.mark.parametrize(
    ("number", "width", "text"),
    [
        (1.00342, 0.0213, "1.003"),
        (1.00342, 2.13, "1.0"),
        (1234.5, 300, "1234"),
        (-0.0001, 0.2, "0.00"),
        (0.05099957, 0, "0.051"),
        (2, 0, "2"),
        (1.5e-9, 1e-10, "1.5e-09"),
        (1234567, 1000, "1.235e+06"),
    ],
)
def test_rounding(number, width, text):
    assert rounded(number, width) == text


def entry(estimate=1.0, low=0.99, high=1.01, **more):
    base = {
        "id": "prop-1",
        "verdict": "supported",
        "level": 0.999,
        "replications": None,
        "seed": None,
        "details": {},
    }
    return {**base, "estimate": estimate, "interval": [low, high], **more}


def test_a_card_has_no_colour_of_its_own_and_escapes_text():
    card = card_html(claim(title="<b>"), entry())
    assert "style" not in card and "color" not in card
    assert "&lt;b&gt;" in card and "<b>" not in card


def test_a_card_tells_constants_replications_and_seed():
    found = entry(replications=12345, seed=7)
    text = card_text(claim(constants="uniform"), found)
    for line in ("Constants: uniform", "Replications: 12,345", "Seed: 7"):
        assert line in text


# Ledger


def claim_page(*entries):
    outputs = []
    for item in entries:
        metadata = {"speedbook": {"claim": item}}
        data = {"text/plain": card_text(claim(), item)}
        outputs.append(nbformat.v4.new_output("display_data", data, metadata=metadata))
    cell = nbformat.v4.new_code_cell("record()", outputs=outputs)
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# A"), cell])


PAGE = CLAIM["notebook"]


def test_a_row_is_derived():
    ledger = derive_ledger(Registry(claims=(claim(),)), {PAGE: claim_page(entry(seed=7))})
    assert ledger == {
        "claims": {
            "prop-1": {
                "title": "The first claim",
                "place": "Section 1",
                "statement": "One < two.",
                "notebook": PAGE,
                "rule": "equal to 1 ± 0.1",
                "origin": "paper",
                "evidence": "measured",
                "verdict": "supported",
                "estimate": 1.0,
                "interval": [0.99, 1.01],
                "level": 0.999,
                "replications": None,
                "seed": 7,
                "details": {},
            }
        }
    }


def test_a_row_has_the_number_of_runs_where_the_record_says_it():
    page = claim_page(entry(replications=240, runs=6))
    row = derive_ledger(Registry(claims=(claim(),)), {PAGE: page})["claims"]["prop-1"]
    assert (row["replications"], row["runs"]) == (240, 6)


def test_an_untestable_claim_needs_no_record():
    open_claim = claim(id="open", kind="untestable", rule=None, evidence=None)
    registry = Registry(claims=(claim(), open_claim))
    ledger = derive_ledger(registry, {PAGE: claim_page(entry())})
    assert ledger["claims"]["open"]["verdict"] == "not testable"
    assert ledger["claims"]["open"]["rule"] is None


def test_a_row_says_how_a_claim_is_read_and_where_it_is_proved():
    said = {"origin": "reading", "severity": "slip", "reading": "uniform"}
    proved = claim(**said, evidence="proved", proof="proof-prop-1")
    page = claim_page(entry(2.0, 1.9, 2.1, verdict="contradicted"))
    row = derive_ledger(Registry(claims=(proved,)), {PAGE: page})["claims"]["prop-1"]
    assert {**said, "evidence": "proved", "proof": "proof-prop-1"}.items() <= row.items()


@pytest.mark.parametrize("levels", [(0.999, 0.9999), (0.998, 1.0)])
def test_the_intervals_of_a_page_hold_together(levels):
    two = Registry(claims=(claim(), claim(id="prop-2")))
    entries = [entry(id=f"prop-{i + 1}", level=level) for i, level in enumerate(levels)]
    (problem,) = problems(two, {PAGE: claim_page(*entries)})
    assert problem.startswith(
        f"{PAGE}: the probability that at least one of its intervals misses is up to 0.00"
    )
    fine = [{**each, "level": 0.9995} for each in entries]
    assert len(derive_ledger(two, {PAGE: claim_page(*fine)})["claims"]) == 2


def problems(registry, notebooks):
    with pytest.raises(LedgerError) as error:
        derive_ledger(registry, notebooks)
    return error.value.problems


def test_what_does_not_fit_together_is_named():
    one = Registry(claims=(claim(),))
    page = claim_page(entry())
    other = "notebooks/claims/other.ipynb"
    assert problems(one, {}) == [f"claim prop-1: {PAGE} is not a notebook of the book"]
    assert problems(one, {PAGE: claim_page()}) == [
        f"claim prop-1: {PAGE} has no valid record of it"
    ]
    assert problems(one, {PAGE: page, other: claim_page()}) == [
        f"{other}: no claim of book/claims.yml names this notebook"
    ]
    assert problems(one, {PAGE: page, "notebooks/figures/f.ipynb": page}) == [
        f"notebooks/figures/f.ipynb: records claim prop-1, which book/claims.yml gives to {PAGE}"
    ]
    assert problems(one, {PAGE: claim_page(entry(), entry())}) == [
        f"{PAGE}: records claim prop-1 twice"
    ]
    unknown = claim_page(entry())
    unknown.cells[1].outputs[0].metadata.speedbook.claim["id"] = "prop-2"
    found = problems(one, {PAGE: unknown})
    assert "no claim 'prop-2'; nearest: prop-1" in found[0]


def test_a_record_of_a_claim_without_rule_is_named():
    without = Registry(claims=(claim(kind="untestable", rule=None, evidence=None),))
    (found,) = problems(without, {PAGE: claim_page(entry())})
    assert found == f"{PAGE}: id: claim 'prop-1' is untestable and has no rule"


def test_a_forged_or_outdated_verdict_is_named():
    page = claim_page(entry())
    stricter = claim(rule={"kind": "equal", "value": 1, "tolerance": 0.001})
    stale = (
        f"{PAGE}: the record of claim prop-1 is stale: it says supported, but the rule gives "
        "inconclusive"
    )
    assert stale in problems(Registry(claims=(stricter,)), {PAGE: page})
    for forged in ("contradicted", "no verdict", None):
        page.cells[1].outputs[0].metadata.speedbook.claim["verdict"] = forged
        found = problems(Registry(claims=(claim(),)), {PAGE: page})
        assert f"it says {forged}, but the rule gives supported" in found[0]
    del page.cells[1].outputs[0].metadata.speedbook.claim["verdict"]
    assert "it says None" in problems(Registry(claims=(claim(),)), {PAGE: page})[0]


def test_another_word_on_a_card_makes_nothing_stale():
    page = claim_page(entry())
    page.cells[1].outputs[0].data["text/plain"] = "The same in other words."
    row = derive_ledger(Registry(claims=(claim(title="Another"),)), {PAGE: page})["claims"][
        "prop-1"
    ]
    assert (row["title"], row["verdict"]) == ("Another", "supported")


def test_rows_keep_the_order_of_the_registry(tmp_path):
    names = ["b", "a", "c"]
    registry = Registry(claims=tuple(claim(id=name) for name in names))
    texts = set()
    for order in itertools.permutations(names):
        page = claim_page(*(entry(id=name, level=1) for name in order))
        texts.add(ledger_text(derive_ledger(registry, {PAGE: page})))
    (text,) = texts
    assert read_ledger(tmp_path) == {"claims": {}}
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "ledger.json").write_text(text)
    assert list(read_ledger(tmp_path)["claims"]) == names
    assert text.endswith("}\n")


@pytest.fixture
def rows():
    details = {"worst": 1.23456, "all": [3, 4], "note": "fine"}
    page = claim_page(entry(1.0034, replications=12345, details=details))
    return derive_ledger(Registry(claims=(claim(),)), {PAGE: page})["claims"]


@pytest.mark.parametrize(
    ("address", "text"),
    [
        ("prop-1.estimate", "1.003"),
        ("prop-1.estimate:.1f", "1.0"),
        ("prop-1.interval", "[0.990, 1.010]"),
        ("prop-1.interval.0", "0.99"),
        ("prop-1.replications", "12,345"),
        ("prop-1.verdict", "supported"),
        ("prop-1.details.worst", "1.23456"),
        ("prop-1.details.worst : .2f", "1.23"),
        ("prop-1.details.all.1", "4"),
        ("prop-1.details.note", "fine"),
    ],
)
def test_prose_finds_numbers(rows, address, text):
    assert lookup(rows, address) == text


@pytest.mark.parametrize(
    ("address", "fault"),
    [
        ("prop-9.estimate", "no claim 'prop-9'; it has prop-1"),
        ("prop-1.estimat", "no 'estimat' in the ledger; known: title"),
        ("prop-1.details.best", "no 'best' in the ledger; known: worst, all, note"),
        ("prop-1.details.all.2", "no '2'"),
        ("prop-1.estimate.x", "known: no fields"),
        ("prop-1.details", "name one number"),
        ("prop-1", "name one number"),
        ("prop-1.seed", "name one number"),
        ("prop-1.details.note:.2f", "Unknown format code"),
        ("", "no claim ''"),
    ],
)
def test_a_missing_number_is_an_error(rows, address, fault):
    with pytest.raises(ValueError, match=fault):
        lookup(rows, address)
