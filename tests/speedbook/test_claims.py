"""The registry, its rules, the card, and the ledger derived from it."""

from __future__ import annotations

import copy
import itertools
import json

import nbformat
import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import speedbook
from speedbook.cards import card_html, card_text, rounded
from speedbook.claims import Claim, Registry, load_registry, record
from speedbook.ledger import LedgerError, derive_ledger, ledger_text, lookup, read_ledger
from speedbook.rules import SYMBOLS, VERDICTS, AtLeast, AtMost, Equal, Outcome, Verdict

CLAIM = {
    "id": "prop-1",
    "title": "The first claim",
    "place": "Section 1",
    "statement": "One < two.",
    "notebook": "notebooks/claims/prop-1.ipynb",
    "kind": "decidable",
    "rule": {"kind": "equal", "value": 1, "tolerance": 0.1},
}
numbers = st.floats(-1e6, 1e6)


def claim(**changes):
    return Claim.model_validate({**CLAIM, **changes})


# Rules


@pytest.mark.parametrize(
    ("low", "high", "outcome"),
    [
        (0.95, 1.05, Outcome.HOLDS),
        (0.9, 1.1, Outcome.HOLDS),
        (1, 1, Outcome.HOLDS),
        (0.89, 1.0, Outcome.OPEN),
        (1.0, 1.11, Outcome.OPEN),
        (0, 2, Outcome.OPEN),
        (1.1, 1.2, Outcome.OPEN),
        (1.11, 1.2, Outcome.FAILS),
        (0.5, 0.89, Outcome.FAILS),
    ],
)
def test_equal(low, high, outcome):
    assert Equal(kind="equal", value=1, tolerance=0.1).judge(low, high) is outcome


@pytest.mark.parametrize(
    ("low", "high", "most", "least"),
    [
        (0, 1, Outcome.HOLDS, Outcome.OPEN),
        (1, 2, Outcome.OPEN, Outcome.HOLDS),
        (0, 2, Outcome.OPEN, Outcome.OPEN),
        (1, 1, Outcome.HOLDS, Outcome.HOLDS),
        (-2, 0.5, Outcome.HOLDS, Outcome.FAILS),
        (1.5, 2, Outcome.FAILS, Outcome.HOLDS),
    ],
)
def test_one_sided_rules(low, high, most, least):
    assert AtMost(kind="at_most", value=1).judge(low, high) is most
    assert AtLeast(kind="at_least", value=1).judge(low, high) is least


@given(numbers, st.floats(0, 1e3), numbers, numbers)
def test_rules_agree_with_each_other(value, tolerance, one, other):
    low, high = sorted((one, other))
    rules = {"value": value, "tolerance": tolerance}
    equal = Equal(kind="equal", **rules).judge(low, high)
    most = AtMost(kind="at_most", **rules).judge(low, high)
    least = AtLeast(kind="at_least", **rules).judge(low, high)
    mirrored = AtMost(kind="at_most", value=-value, tolerance=tolerance).judge(-high, -low)
    assert least is mirrored
    assert (equal is Outcome.HOLDS) == (most is least is Outcome.HOLDS)
    assert (equal is Outcome.FAILS) == (Outcome.FAILS in (most, least))


@given(numbers, st.floats(0, 1e3), numbers, numbers)
def test_excess_is_what_the_tolerance_lacks(value, tolerance, one, other):
    low, high = sorted((one, other))
    for kind, rule in (("equal", Equal), ("at_most", AtMost), ("at_least", AtLeast)):
        excess = rule(kind=kind, value=value, tolerance=tolerance).excess(low, high)
        # A little to both sides of where rounding would decide.
        for change, holds in ((1e-3, True), (-1e-3, False)):
            if tolerance + excess + change >= 0:
                lacking = rule(kind=kind, value=value, tolerance=tolerance + excess + change)
                assert (lacking.judge(low, high) is Outcome.HOLDS) == holds


def test_verdict_follows_from_kind_and_outcome():
    inside, outside, both = (1, 1), (2, 2), (0, 2)
    verdicts = {
        kind: [claim(kind=kind).verdict(*interval) for interval in (inside, outside, both)]
        for kind in VERDICTS
    }
    assert verdicts == {
        "decidable": [Verdict.SUPPORTED, Verdict.CONTRADICTED, Verdict.INCONCLUSIVE],
        "asymptotic": [Verdict.CONSISTENT, Verdict.NOT_CONSISTENT, Verdict.INCONCLUSIVE],
        "vacuous": [Verdict.VACUOUS, Verdict.INCONCLUSIVE, Verdict.INCONCLUSIVE],
    }


def test_each_verdict_has_its_own_sign_and_class():
    assert set(SYMBOLS) == set(Verdict)
    assert len({v.symbol for v in Verdict}) == len({v.css_class for v in Verdict}) == 7
    assert Verdict.NOT_CONSISTENT.css_class == "verdict-not-consistent"


# Registry


def write_registry(root, *claims):
    (root / "book").mkdir(parents=True, exist_ok=True)
    (root / "_toc.yml").touch()
    (root / "book" / "claims.yml").write_text(yaml.safe_dump({"claims": claims}))


def test_a_registry_is_read(tmp_path):
    write_registry(tmp_path, CLAIM, {**CLAIM, "id": "thm-2", "notebook": "notebooks/a/b.ipynb"})
    registry = load_registry(tmp_path)
    assert registry["prop-1"].rule == Equal(kind="equal", value=1, tolerance=0.1)
    assert [c.id for c in registry.of_notebook("notebooks/a/b.ipynb")] == ["thm-2"]


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"id": "prop 1"}, "claims.0.id: String should match"),
        ({"title": " "}, "claims.0.title"),
        ({"notebook": "prop-1.ipynb"}, "claims.0.notebook"),
        ({"kind": "proved"}, "claims.0.kind"),
        ({"rule": None}, "every claim has a rule"),
        ({"kind": "untestable"}, "has none"),
        ({"rule": {"kind": "near", "value": 1}}, "claims.0.rule"),
        ({"rule": {"kind": "equal"}}, "value: Field required"),
        ({"rule": {"kind": "equal", "value": 1, "tolerance": -1}}, "tolerance"),
        ({"rule": {"kind": "equal", "value": ".nan"}}, "value"),
        ({"rule": {"kind": "equal", "value": 1, "tol": 1}}, "tol: Extra inputs"),
        ({"verdict": "supported"}, "claims.0.verdict: Extra inputs"),
    ],
)
def test_each_fault_of_an_entry_is_named(tmp_path, changes, fault):
    write_registry(tmp_path, {**CLAIM, **changes})
    with pytest.raises(ValueError, match=r"^book/claims\.yml: ") as error:
        load_registry(tmp_path)
    assert fault in str(error.value)


def test_a_claim_given_twice_is_named(tmp_path):
    write_registry(tmp_path, CLAIM, {**CLAIM, "id": "Prop-1"})
    with pytest.raises(ValueError, match="claims given twice: prop-1"):
        load_registry(tmp_path)


def test_missing_or_broken_file_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"book/claims\.yml is missing"):
        load_registry(tmp_path)
    write_registry(tmp_path)
    for text, fault in [("a: [", "is not YAML"), ("", "book/claims.yml: file"), ("[]", "file")]:
        (tmp_path / "book" / "claims.yml").write_text(text)
        with pytest.raises(ValueError, match=fault):
            load_registry(tmp_path)


def test_numerals_in_yaml_are_numbers(tmp_path):
    write_registry(tmp_path)
    rule = "{kind: equal, value: 1e-3, tolerance: 1e-4}"
    entry = json.dumps({k: v for k, v in CLAIM.items() if k != "rule"})[:-1] + f", rule: {rule}}}"
    (tmp_path / "book" / "claims.yml").write_text(f"claims: [{entry}]")
    assert load_registry(tmp_path)["prop-1"].rule.value == 1e-3


# Recording


@pytest.fixture
def notebook_folder(tmp_path, monkeypatch):
    write_registry(tmp_path, CLAIM, {**CLAIM, "id": "open", "kind": "untestable", "rule": None})
    folder = tmp_path / "notebooks" / "claims"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def displays(notebook_folder, monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.get_ipython", lambda: object())
    monkeypatch.setattr(
        "IPython.display.display",
        lambda data, raw, metadata: shown.append((data, metadata["speedbook"]["claim"])),
    )
    return shown


def test_a_record_is_a_card_and_metadata(displays):
    details = {"z": np.float64(1 / 3), "all": np.arange(2), "by": {"floor": (1, True, None)}}
    record("prop-1", np.float64(1), (0.99, 1 + 1e-14), replications=500, seed=7, details=details)
    ((data, entry),) = displays
    assert entry == {
        "id": "prop-1",
        "estimate": 1.0,
        "interval": [0.99, 1.0],
        "replications": 500,
        "seed": 7,
        "details": {"z": 0.3333333333, "all": [0, 1], "by": {"floor": [1, True, None]}},
    }
    json.dumps(entry)
    assert "✓</span> supported" in data["text/html"]
    assert "One &lt; two." in data["text/html"]
    assert data["text/plain"].startswith("✓ supported: The first claim (prop-1)\n")
    assert "Found: 1.000 [0.990, 1.000]" in data["text/plain"]


def test_the_registry_decides(displays, notebook_folder):
    record("prop-1", 2)
    write_registry(notebook_folder.parents[1], {**CLAIM, "rule": {"kind": "at_least", "value": 2}})
    record("prop-1", 2)
    assert [data["text/plain"][0] for data, _ in displays] == ["✗", "✓"]


def test_last_bits_do_not_change_the_record(displays):
    record("prop-1", 0.3, (0.1 + 0.2, 1.0), details={"z": 0.1 + 0.2})
    record("prop-1", 0.3, (0.3, 1.0), details={"z": 0.3})
    assert displays[0] == displays[1]


def test_outside_a_notebook_the_card_is_printed(notebook_folder, capsys):
    speedbook.record("prop-1", 1)
    assert capsys.readouterr().out.startswith("✓ supported")


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (("prop1", 1), "no claim 'prop1'; nearest: prop-1"),
        (("xyzzy", 1), "no claim 'xyzzy'$"),
        (("open", 1), "claim 'open' is untestable and has no rule"),
        (("prop-1", float("nan")), "estimate: must be finite"),
        (("prop-1", 1, (0, float("inf"))), "interval: must be finite"),
        (("prop-1", 1, (2, 0)), "interval: must run from low to high"),
    ],
)
def test_a_wrong_record_says_why(displays, arguments, fault):
    with pytest.raises(ValueError, match=fault):
        record(*arguments)
    assert not displays


def test_details_must_be_plain(displays):
    with pytest.raises(TypeError, match=r"details\['f'\]: cannot record a builtin_function"):
        record("prop-1", 1, details={"f": print})
    with pytest.raises(ValueError, match=r"details\['f'\]: must be finite"):
        record("prop-1", 1, details={"f": [float("nan")]})


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
    base = {"id": "prop-1", "replications": None, "seed": None, "details": {}}
    return {**base, "estimate": estimate, "interval": [low, high], **more}


def test_a_card_has_no_colour_of_its_own_and_escapes_text():
    card = card_html(claim(title="<b>"), entry(), Verdict.SUPPORTED)
    assert "style" not in card and "color" not in card
    assert "&lt;b&gt;" in card and "<b>" not in card


def test_a_card_tells_constants_replications_and_seed():
    found = entry(replications=12345, seed=7)
    text = card_text(claim(constants="uniform"), found, Verdict.SUPPORTED)
    for line in ("Constants: uniform", "Replications: 12,345", "Seed: 7"):
        assert line in text


# Ledger


def claim_page(*entries, registry=None):
    registry = registry or Registry(claims=(claim(),))
    outputs = []
    for item in entries:
        found = registry[item["id"]]
        text = card_text(found, item, found.verdict(*item["interval"]))
        data = {"text/plain": text}
        metadata = {"speedbook": {"claim": item}}
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
                "verdict": "supported",
                "estimate": 1.0,
                "interval": [0.99, 1.01],
                "replications": None,
                "seed": 7,
                "details": {},
            }
        }
    }


def test_an_untestable_claim_needs_no_record():
    open_claim = claim(id="open", kind="untestable", rule=None)
    registry = Registry(claims=(claim(), open_claim))
    ledger = derive_ledger(registry, {PAGE: claim_page(entry())})
    assert ledger["claims"]["open"]["verdict"] == "not testable"
    assert ledger["claims"]["open"]["rule"] is None


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
        f"claim prop-1: {PAGE} holds no valid record of it"
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
    rules = Registry(claims=(claim(),))
    without = Registry(claims=(claim(kind="untestable", rule=None),))
    (found,) = problems(without, {PAGE: claim_page(entry(), registry=rules)})
    assert found == f"{PAGE}: id: claim 'prop-1' is untestable and has no rule"


def test_a_forged_or_outdated_card_is_named():
    page = claim_page(entry())
    stricter = claim(rule={"kind": "equal", "value": 1, "tolerance": 0.001})
    stale = f"{PAGE}: the card of claim prop-1 is stale: by the registry it is inconclusive"
    assert stale in problems(Registry(claims=(stricter,)), {PAGE: page})
    forged = copy.deepcopy(page)
    text = forged.cells[1].outputs[0].data["text/plain"]
    forged.cells[1].outputs[0].data["text/plain"] = text.replace("supported", "contradicted")
    assert "is stale" in problems(Registry(claims=(claim(),)), {PAGE: forged})[0]


def test_rows_keep_the_order_of_the_registry(tmp_path):
    names = ["b", "a", "c"]
    registry = Registry(claims=tuple(claim(id=name) for name in names))
    texts = set()
    for order in itertools.permutations(names):
        page = claim_page(*(entry(id=name) for name in order), registry=registry)
        texts.add(ledger_text(derive_ledger(registry, {PAGE: page})))
    (text,) = texts
    (tmp_path / "ledger.json").write_text(text)
    assert list(read_ledger(tmp_path / "ledger.json")) == names
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
        ("prop-1.estimat", "no 'estimat' in the ledger; there is title"),
        ("prop-1.details.best", "no 'best' in the ledger; there is worst, all, note"),
        ("prop-1.details.all.2", "no '2'"),
        ("prop-1.estimate.x", "there is no fields"),
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
