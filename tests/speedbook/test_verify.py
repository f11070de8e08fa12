"""``speedbook verify`` through its entry point; kernels are real where it says so."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
import yaml
from nbformat.v4 import new_output
from typer.testing import CliRunner

import speedbook.commands.verify
from speedbook.claims.agreement import (
    Agreement,
    Trial,
    agreement_text,
    ledger_agreements,
    read_agreements,
    store_agreements,
)
from speedbook.claims.ledger import read_ledger
from speedbook.claims.registry import load_registry
from speedbook.commands.app import app
from speedbook.notebook.files import code_cells, read_notebook, write_notebook
from speedbook.run.execution import Finished
from speedbook.run.full_results import Basis, FullResults, FullRun, store_full_results
from speedbook.run.manifest import read_environment
from speedbook.run.results import Results

from .helpers import FIG, edit

ROOT = Path(__file__).parents[2]
PROP = "notebooks/claims/prop-1.ipynb"
OTHER = {
    "id": "open",
    "kind": "untestable",
    "rule": None,
    "evidence": None,
    "title": "An open question",
}


def verify(*arguments: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["verify", *map(str, arguments)])
    assert result.exit_code == code, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    # That of a notebook is told, ours never.
    assert "Traceback" not in result.output or code == 3
    return " ".join(result.output.split())


def commit(book, **changes):
    """Write the ledger that the book would have committed."""
    row = {"verdict": "supported", "estimate": 1.001, "interval": [0.99, 1.01], "seed": 3}
    row["rule"] = "equal to 1 ± 0.1"
    rows = {"prop-1": {**row, **changes}, "open": {"verdict": "not testable"}}
    book.write("book/ledger.json", json.dumps({"claims": rows}))


class Kernels:
    """Stands in for the kernels: records what `estimate` says for the parameters of a job."""

    def __init__(self, claim):
        self.claim = claim
        self.jobs = []
        self.estimate = lambda parameters: 1.001
        self.failure = ""
        self.fails = ""
        self.records = True

    def __call__(self, jobs, workers, environment):
        self.jobs += jobs
        # Not in order, as a pool may finish them.
        for job in reversed(jobs):
            failure = self.failure if self.fails in job.name else ""
            if not failure:
                middle = self.estimate(job.parameters)
                entry = {
                    "id": job.source.stem,
                    "verdict": str(self.claim.verdict(middle - 0.02, middle + 0.02)),
                    "estimate": middle,
                    "interval": [middle - 0.02, middle + 0.02],
                    "replications": None,
                    "seed": job.parameters.get("seed", 3),
                    "details": {},
                }
                notebook = read_notebook(job.source)
                note = {"speedbook": {"claim": entry}}
                output = new_output("display_data", {"text/plain": ""}, metadata=note)
                code_cells(notebook)[1].outputs = [output] * self.records
                write_notebook(job.output, notebook)
            yield Finished(job, 0.1, failure)

    @property
    def seeds(self):
        return [job.parameters.get("seed") for job in self.jobs]


@pytest.fixture
def book(tiny_book, monkeypatch):
    registry = tiny_book.root / "book" / "claims.yml"
    (claim,) = yaml.safe_load(registry.read_text())["claims"]
    tiny_book.claims([claim, {**claim, **OTHER}])
    commit(tiny_book)
    monkeypatch.chdir(tiny_book.root)
    return tiny_book


@pytest.fixture
def kernels(book, monkeypatch):
    kernels = Kernels(load_registry(book.root)["prop-1"])
    monkeypatch.setattr(speedbook.commands.verify, "execute_all", kernels)
    return kernels


@pytest.mark.slow
def test_with_real_kernels_nothing_in_the_book_is_touched(book):
    before = book.snapshot()
    said = verify()
    assert "prop-1 ✓ supported ✓ supported 1 of 1 1.001 [0.990, 1.010]" in said
    assert "open – not testable – not testable –" in said
    assert book.snapshot() == before
    assert [path.name for path in (book.root / "_build").iterdir()] == ["kernels"]


@pytest.mark.slow
def test_with_real_kernels_the_seed_reaches_the_notebook(book, tiny_notebook):
    source = (
        "from speedbook import record\nfound = seed / 2**32\n"
        "record('prop-1', found, (found, found + 1e-9), level=1, seed=seed)"
    )
    parameters = "seed: int = 3  # of the run [0 ..]"
    book.notebook(PROP, tiny_notebook(source, parameters=parameters))
    said = verify("prop-1", "--seeds", 2, code=1)
    for seed in np.random.SeedSequence(3).generate_state(2):
        verdict = "supported" if 0.9 <= seed / 2**32 else "contradicted"
        assert (f"seed {seed}: ✗" in said) == (verdict == "contradicted")


def test_one_seed_is_the_notebooks_own_and_more_are_fresh(kernels):
    verify()
    assert kernels.seeds == [None]
    verify("--seeds", 3)
    fresh = kernels.seeds[1:]
    assert len(set(fresh)) == 3 and 3 not in fresh
    assert fresh == [int(word) for word in np.random.SeedSequence(3).generate_state(3)]
    assert all(0 <= seed < 2**32 and type(seed) is int for seed in fresh)


def test_a_notebook_runs_once_for_all_its_claims_and_not_for_the_untestable(kernels):
    verify("prop-1", "prop-1", "open")
    assert len(kernels.jobs) == 1
    assert "open – not testable – not testable –" in verify("open")
    assert len(kernels.jobs) == 1


@pytest.mark.parametrize(
    ("estimate", "told"),
    [
        (1.1, "? inconclusive, 1.100 [1.080, 1.120]; committed: ✓ supported, 1.001 [0.990, 1.010]. "
         "The interval violates the rule, equal to 1 ± 0.1, by 0.02."),
        (1.5, "✗ contradicted, 1.500 [1.480, 1.520]; committed: ✓ supported, 1.001 [0.990, 1.010]. "
         "The interval violates the rule, equal to 1 ± 0.1, by 0.42."),
    ],
)  # fmt: skip
def test_a_moved_verdict_is_1_and_says_by_how_much(kernels, estimate, told):
    kernels.estimate = lambda _: estimate
    assert f"Claim prop-1, seed 3: {told}" in verify(code=1)
    assert told in verify("--quiet", code=1)


def test_a_verdict_better_than_the_committed_one_has_moved_too(book, kernels):
    commit(book, verdict="contradicted", estimate=2.0, interval=[1.9, 2.1])
    assert "satisfies the rule, equal to 1 ± 0.1, with 0.079 to spare." in verify(code=1)


def test_one_seed_of_many_that_differs_is_counted_and_named(kernels):
    odd = np.random.SeedSequence(3).generate_state(5)[2]
    kernels.estimate = lambda given: 1.5 if given["seed"] == odd else 1.001
    said = verify("--seeds", 5, code=1)
    assert "4 of 5" in said
    assert "✓ supported (4), ✗ contradicted (1)" in said
    assert said.count("Claim prop-1, seed") == 1
    assert f"Claim prop-1, seed {odd}: ✗ contradicted" in said


def test_other_numbers_with_the_same_verdict_are_no_difference(kernels):
    kernels.estimate = lambda _: 1.05
    assert "1.050 [1.030, 1.070]" in verify()


def test_quiet_tells_of_differences_only(kernels):
    assert verify("--quiet") == ""


def test_a_claim_without_a_committed_row_has_moved(book, kernels):
    (book.root / "book" / "ledger.json").unlink()
    assert "Claim prop-1: the committed ledger has no row for it" in verify(code=1)


def test_an_untestable_claim_that_had_a_verdict_has_moved(book, kernels):
    rows = {"open": {"verdict": "supported", "estimate": 1, "interval": [1, 1]}}
    book.write("book/ledger.json", json.dumps({"claims": rows}))
    assert "Claim open: not testable, committed as supported." in verify("open", code=1)


def test_the_full_setting_is_applied(book, kernels, tiny_notebook):
    parameters = "seed: int = 3  # of the run [0 ..]\nn: int = 1  # a number [1 .. 9]"
    source = "from speedbook import record\nrecord('prop-1', n, seed=seed)"
    book.notebook(PROP, tiny_notebook(source, parameters=parameters))
    book.write("notebooks/full.yml", f"{PROP}:\n  n: 7\n")
    verify("--full")
    verify("--full", "--seeds", 2)
    verify()
    full, one, two, plain = kernels.jobs
    assert full.parameters == {"n": 7} and plain.parameters == {}
    assert one.parameters["n"] == two.parameters["n"] == 7
    assert full.timeout > plain.timeout


def test_the_full_setting_is_compared_with_its_stored_results(book, kernels, tiny_notebook):
    book.write("notebooks/full.yml", f"{FIG}:\n  x: 5\n")
    assert "1.001 [0.990, 1.010]" in verify("--full")
    environment = read_environment(book.root)
    record = {"id": "prop-1", "verdict": "contradicted", "estimate": 2, "interval": [1.9, 2.1]}
    run = FullRun(
        basis=Basis(parameters={}, rules={}, own={}, shown=""),
        key="",
        code="",
        environment="here",
        started="",
        seconds=1,
        results=Results(records={"prop-1": record}),
    )
    store_full_results(book.root, FullResults().with_run(PROP, run, environment))
    told = "✓ supported, 1.001 [0.981, 1.021]; committed: ✗ contradicted, 2.00 [1.90, 2.10]"
    assert told in verify("--full", code=1)
    assert "1.001 [0.990, 1.010]" in verify()


# Wrong usage: nothing runs


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["prop1"], "has no claim 'prop1'; nearest: prop-1"),
        (["prop1", "opn"], "has no claim 'opn'; nearest: open"),
        (["--store"], "--store: stores the agreement of fresh seeds; add --seeds 2 or more"),
        (["--seeds", "0"], "--seeds"),
        (["--seeds", "x"], "--seeds"),
    ],
)
def test_wrong_usage_is_2(kernels, arguments, fault):
    assert fault in verify(*arguments, code=2)
    assert not kernels.jobs


def test_outside_a_book_it_is_2(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "no _toc.yml in" in verify(code=2)


def test_a_claim_notebook_without_a_seed_is_2(book, kernels, tiny_notebook):
    book.notebook(PROP, tiny_notebook("print(x)"))
    assert f"{PROP}: a notebook that tests a claim needs a parameter" in verify(code=2)
    (book.root / PROP).unlink()
    assert "prop-1.ipynb" in verify(code=2)
    assert not kernels.jobs


# What may go wrong in a run


def test_a_failing_notebook_is_3_and_names_its_cell(kernels):
    kernels.failure = "cell 3 (1 / (seed - 3))\n    ZeroDivisionError: division by zero"
    said = verify(code=3)
    assert f"{PROP}: cell 3 (1 / (seed - 3))" in said
    assert "ZeroDivisionError" in said
    assert "prop-1 ✓ supported failed –" in said


def test_a_run_without_a_record_is_3(kernels):
    kernels.records = False
    assert f"{PROP}: holds no record of prop-1" in verify(code=3)


def test_nothing_is_stored_where_a_run_failed(book, kernels):
    kernels.failure = "cell 3 failed"
    verify("--seeds", 2, "--store", code=3)
    assert not (book.root / "book" / "agreement.json").exists()


@pytest.mark.parametrize("failing", ["prop-1", "prop-2"])
def test_what_other_pages_gave_is_stored_where_one_failed(book, kernels, failing):
    registry = yaml.safe_load((book.root / "book" / "claims.yml").read_text())["claims"]
    other = "notebooks/claims/prop-2.ipynb"
    book.notebook(other, read_notebook(book.root / PROP))
    book.claims([*registry, {**registry[0], "id": "prop-2", "notebook": other}])
    rows = read_ledger(book.root)["claims"]
    book.write("book/ledger.json", json.dumps({"claims": {**rows, "prop-2": rows["prop-1"]}}))
    # One of two seeds is enough to leave a page out.
    odd = np.random.SeedSequence(3).generate_state(2)[1]
    kernels.failure, kernels.fails = "cell 3 failed", f"{failing}.ipynb with seed {odd}"
    verify("--seeds", 2, "--store", code=3)
    assert list(read_agreements(book.root)) == [{"prop-1": "prop-2", "prop-2": "prop-1"}[failing]]


def test_a_folder_that_cannot_be_written_is_3(book, kernels, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device", "somewhere")

    monkeypatch.setattr(os, "replace", full)
    assert "somewhere: No space left on device" in verify("--seeds", 2, "--store", code=3)
    assert not (book.root / "book" / "agreement.json").exists()
    assert not list(book.root.rglob("*.part"))


# Agreement


def stored(book):
    return ledger_agreements(book.root, read_ledger(book.root)["claims"])["prop-1"]


def test_agreement_is_stored_and_told(book, kernels):
    verify("--seeds", 4, "--store")
    trials = read_agreements(book.root)["prop-1"].trials
    assert [trial.seed for trial in trials] == kernels.seeds
    expected = {"seeds": 4, "verdicts": {"supported": 4}, "setting": "defaults", "changed": []}
    assert stored(book) == expected
    row = {"verdict": "supported", "agreement": stored(book)}
    assert agreement_text(row) == "4 of 4 fresh seeds agree"
    # The ledger's verdict decides, whatever it was then.
    assert agreement_text({**row, "verdict": "inconclusive"}).startswith("0 of 4 fresh seeds")
    before = (book.root / "book" / "agreement.json").read_text()
    assert before.count('"seed"') == 5 and len(before.splitlines()) == 9
    verify("--seeds", 4, "--store")
    assert (book.root / "book" / "agreement.json").read_text() == before


def test_seeds_that_do_not_agree_are_stored_too(book, kernels):
    odd = np.random.SeedSequence(3).generate_state(4)[1]
    kernels.estimate = lambda given: 1.5 if given["seed"] == odd else 1.001
    verify("--seeds", 4, "--store", code=1)
    row = {"verdict": "supported", "agreement": stored(book)}
    assert agreement_text(row) == "3 of 4 fresh seeds agree; contradicted: 1"


@pytest.mark.parametrize(
    ("now", "changed"),
    [
        ({"rule": "equal to 1 ± 0.2"}, ["the rule"]),
        ({"verdict": "inconclusive"}, ["its record"]),
        ({"estimate": 1.0011}, ["its record"]),
        ({"interval": [0.99, 1.011]}, ["its record"]),
        ({"seed": 4}, ["its record"]),
        ({"rule": "at least 1", "seed": 4}, ["the rule", "its record"]),
        ({"estimate": 1.0010000001}, []),
        ({"title": "In other words", "details": {"n": 1}}, []),
    ],
)
def test_what_has_changed_since_is_told(book, kernels, now, changed):
    verify("--seeds", 2, "--store")
    commit(book, **now)
    assert stored(book)["changed"] == changed
    told = agreement_text({"verdict": "supported", "agreement": stored(book)})
    assert ("stale" in told) == bool(changed)


@pytest.mark.parametrize("name", ["speedlib/__init__.py", PROP, "data/set.csv"])
def test_lines_of_code_and_data_make_no_agreement_stale(book, kernels, name):
    verify("--seeds", 2, "--store")
    edit(book.root / name, "1", "2")
    assert stored(book)["changed"] == []


def test_agreement_with_a_rule_that_no_ledger_has_is_not_stored(book, kernels):
    edit(book.root / "book/claims.yml", "tolerance: 0.1", "tolerance: 0.2")
    said = verify("--seeds", 2, "--store", code=2)
    assert "claim prop-1: the committed ledger has another rule for it, or no rule" in said
    assert not kernels.jobs


def test_all_that_changed_is_in_one_sentence():
    changed = ["the rule", "its record"]
    agreement = {"seeds": 20, "verdicts": {"supported": 20}, "changed": changed}
    assert agreement_text({"verdict": "supported", "agreement": agreement}) == (
        "20 of 20 fresh seeds agree (stale: the rule, its record have changed since)"
    )
    assert agreement_text({"verdict": "supported"}) == ""
    assert agreement_text({"verdict": "supported", "agreement": None}) == ""


def test_others_are_kept_and_those_that_are_no_more_go(book):
    registry = load_registry(book.root)
    trial = Trial(seed=1, verdict="supported", estimate=1.0, interval=(0.9, 1.1))
    entry = Agreement(setting="full", rule="equal to 1", own=trial, trials=(trial,))
    store_agreements(book.root, {"open": entry, "gone": entry}, registry)
    assert read_agreements(book.root) == {"open": entry}
    store_agreements(book.root, {"prop-1": entry}, registry)
    assert list(read_agreements(book.root)) == ["prop-1", "open"]


@pytest.mark.parametrize("text", ["", "[]", '{"claims": {"a": {}}}', '{"claims": {}, "x": 1}'])
def test_a_file_that_is_no_agreement_is_named(book, text):
    book.write("book/agreement.json", text)
    with pytest.raises(ValueError, match=r"^book/agreement\.json: "):
        read_agreements(book.root)


def test_no_row_of_the_committed_ledger_lacks_twenty_fresh_seeds():
    registry, rows = load_registry(ROOT), read_ledger(ROOT)["claims"]
    agreements = read_agreements(ROOT)
    assert list(agreements) == [claim.id for claim in registry.claims if claim.rule]
    for name, agreement in agreements.items():
        assert agreement.changed(rows[name]) == [], name
        seeds = [trial.seed for trial in agreement.trials]
        assert len(seeds) == len(set(seeds)) >= 20
        for trial in agreement.trials:
            assert registry[name].verdict(*trial.interval) == trial.verdict
