"""The registry of claims, and what a notebook records."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import yaml
from pydantic import ValidationError

import speedbook
from speedbook.claims.record import record
from speedbook.claims.registry import load_registry
from speedbook.claims.rules import Equal
from speedbook.paths import find_root

from .a_claim import CLAIM

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
        ({"origin": "theirs"}, "claims.0.origin"),
        ({"severity": "grave"}, "claims.0.severity"),
        (
            {"severity": "slip", "origin": "ours"},
            "severity: only a claim of the paper may have one",
        ),
        ({"reading": "both"}, "claims.0.reading"),
        ({"evidence": None}, "evidence: a claim must have it"),
        ({"evidence": "proved"}, "proof: must be given if the evidence is proved"),
        ({"proof": "proof-prop-1"}, "proof: must be given if the evidence is proved"),
        ({"evidence": "proved", "proof": "Section 3"}, "claims.0.proof"),
        ({"rule": None}, "rule: a claim must have one"),
        ({"kind": "untestable"}, "unless its kind is untestable: then it must have none"),
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
    untestable = {**CLAIM, "id": "open", "kind": "untestable", "rule": None, "evidence": None}
    write_registry(tmp_path, CLAIM, untestable)
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
    ends = (0.99, 1 + 1e-14)
    record("prop-1", np.float64(1), ends, level=0.999, replications=500, seed=7, details=details)
    ((data, entry),) = displays
    assert entry == {
        "id": "prop-1",
        "verdict": "supported",
        "estimate": 1.0,
        "interval": [0.99, 1.0],
        "level": 0.999,
        "replications": 500,
        "seed": 7,
        "details": {"z": 0.3333333333, "all": [0, 1], "by": {"floor": [1, True, None]}},
    }
    json.dumps(entry)
    assert "✓</span> supported" in data["text/html"]
    assert "One &lt; two." in data["text/html"]
    assert data["text/plain"].startswith("✓ supported: The first claim (prop-1)\n")
    assert "Found: 1.000 [0.990, 1.000]\n  Interval: 99.9 %" in data["text/plain"]


def test_a_record_says_of_how_many_runs_it_is(displays):
    record("prop-1", 1.0, replications=240, runs=6)
    record("prop-1", 1.0, replications=240)
    (divided, entry), (whole, without) = displays
    assert (entry["replications"], entry["runs"]) == (240, 6)
    assert "Replications: 240, in 6 runs of 40" in divided["text/plain"]
    assert "runs" not in without and "Replications: 240\n" in whole["text/plain"] + "\n"


@pytest.mark.parametrize(("replications", "runs"), [(240, 7), (240, 0), (None, 6), (240, -6)])
def test_runs_must_divide_the_replications(replications, runs, displays):
    with pytest.raises(ValueError, match=f"runs: must divide .*{replications}; got {runs}"):
        record("prop-1", 1.0, replications=replications, runs=runs)


def test_the_registry_decides(displays, notebook_folder):
    record("prop-1", 2, (2, 3), level=0.999)
    write_registry(notebook_folder.parents[1], {**CLAIM, "rule": {"kind": "at_least", "value": 2}})
    record("prop-1", 2, (2, 3), level=0.999)
    assert [data["text/plain"][0] for data, _ in displays] == ["✗", "✓"]


def test_last_bits_do_not_change_the_record(displays):
    record("prop-1", 0.3, (0.1 + 0.2, 1.0), level=1, details={"z": 0.1 + 0.2})
    record("prop-1", 0.3, (0.3, 1.0), level=1, details={"z": 0.3})
    assert displays[0] == displays[1]


def test_outside_a_notebook_the_card_is_printed(notebook_folder, capsys):
    speedbook.record("prop-1", 1, (0.95, 1.05), level=0.999)
    assert capsys.readouterr().out.startswith("✓ supported")


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (("prop1", 1), "no claim 'prop1'; nearest: prop-1"),
        (("xyzzy", 1), "no claim 'xyzzy'; known: prop-1, open"),
        (("open", 1), "claim 'open' is untestable and has no rule"),
        (("prop-1", float("nan")), "estimate: must be finite"),
        (("prop-1", 1, (0, float("inf"))), "interval: must be finite"),
        (("prop-1", 1, (2, 0)), "interval: must run from low to high"),
        (("prop-1", 1, (0, 2)), "level: an interval of positive width needs"),
        (("prop-1", 1, (0, 2), 0), "level: must be above 0 and at most 1; got 0"),
        (("prop-1", 1, (0, 2), 99.9), "level: must be above 0 and at most 1; got 99.9"),
    ],
)
def test_a_wrong_record_says_why(displays, arguments, fault):
    with pytest.raises(ValueError, match=fault):
        record(*arguments[:3], level=arguments[3] if arguments[3:] else None)
    assert not displays


def test_details_must_be_plain(displays):
    with pytest.raises(TypeError, match=r"details\['f'\]: cannot record a builtin_function"):
        record("prop-1", 1, details={"f": print})
    with pytest.raises(ValueError, match=r"details\['f'\]: must be finite"):
        record("prop-1", 1, details={"f": [float("nan")]})


def test_nobody_can_change_the_registry_for_the_next_who_asks() -> None:
    registry = load_registry(find_root())
    with pytest.raises(ValidationError, match="frozen"):
        registry.claims = registry.claims[:1]
    with pytest.raises(TypeError):
        registry.claims[0] = registry.claims[1]
    with pytest.raises(ValidationError, match="frozen"):
        registry["prop-1"].title = "Another"
    assert len(load_registry(find_root()).claims) > 100


def test_the_name_of_a_page_leads_to_its_claims() -> None:
    registry = load_registry(find_root(Path(__file__)))
    own = [claim.id for claim in registry.of_notebook("notebooks/claims/prop-1-mse.ipynb")]
    with pytest.raises(ValueError, match=f"the page of this name tests {', '.join(own)}$"):
        registry["prop-1-mse"]
