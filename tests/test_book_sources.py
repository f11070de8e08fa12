"""The committed notebooks, registry and ledger fit together."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest
from scipy.stats import binom

from speedbook.claims.agreement import FLIP_RATE, read_agreements
from speedbook.claims.claim import Severity
from speedbook.claims.ledger import LEDGER, derive_ledger, ledger_text, read_ledger
from speedbook.claims.registry import load_registry
from speedbook.claims.relations import Relations
from speedbook.claims.rules import Verdict
from speedbook.notebook.contract import (
    file_problem,
    output_problems,
    seed_problems,
    source_problems,
    usage_problems,
)
from speedbook.notebook.files import code_cells, read_notebook
from speedbook.notebook.prose import loose_numbers, prose_problems
from speedbook.press.pictures import FOLDER, pictures
from speedbook.press.sphinx.errata import errata
from speedbook.press.template import page_problems
from speedbook.run.execution import CELL_TIMEOUT

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "notebooks").rglob("*.ipynb")
    if ".ipynb_checkpoints" not in path.parts
)


def all_notebooks():
    return {name: read_notebook(ROOT / name) for name in NOTEBOOKS}


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_keeps_the_contract(name):
    notebook = read_notebook(ROOT / name)
    assert source_problems(notebook) + output_problems(notebook, str(ROOT)) == []


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_makes_a_page(name):
    notebook = read_notebook(ROOT / name)
    assert page_problems(notebook) + prose_problems(name, notebook) == []
    assert usage_problems(notebook) == []
    if load_registry(ROOT).of_notebook(name):
        assert seed_problems(notebook) == []


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_is_normalised(name):
    if problem := file_problem(name, (ROOT / name).read_text(encoding="utf-8")):
        pytest.fail(problem, pytrace=False)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_every_picture_tells_its_numbers(name):
    """Without the digest of what is plotted, a changed picture could pass for the old one."""
    for cell in code_cells(read_notebook(ROOT / name)):
        for output in cell.outputs:
            if "image/png" in output.get("data", {}):
                figure = output.metadata.get("speedbook", {}).get("figure", {})
                assert re.fullmatch("[0-9a-f]{64}", figure.get("digest", ""))
                assert output.metadata["image/png"]["alt"].strip()


def test_the_committed_ledger_is_the_derived_one():
    derived = derive_ledger(load_registry(ROOT), all_notebooks())
    assert (ROOT / LEDGER).read_text(encoding="utf-8") == ledger_text(derived)


@pytest.fixture(scope="module")
def relations():
    rows = read_ledger(ROOT)["claims"]
    verdicts = {name: Verdict(row["verdict"]) for name, row in rows.items()}
    return Relations(load_registry(ROOT).claims, verdicts)


def test_what_is_contradicted_has_a_counterexample_and_a_correction_or_a_reason(relations):
    for name, verdict in relations.verdicts.items():
        claim = relations.claims[name]
        if verdict is Verdict.CONTRADICTED:
            assert claim.counterexample, f"{name}: counterexample is missing"
        if relations.fails(name):
            reason = claim.corrected_by or claim.uncorrected
            assert reason, f"{name}: give corrected_by, or say in uncorrected why none is needed"


def test_what_puts_a_claim_right_holds_and_is_no_claim_of_the_paper(relations):
    for name in relations.ours:
        assert not relations.fails(name), name
        assert relations.claims[name].origin == "ours", name


def test_what_fails_of_the_paper_has_a_severity_and_nothing_else_has(relations):
    for name, claim in relations.claims.items():
        failing = relations.fails(name) and claim.origin != "ours"
        assert (claim.severity is not None) == failing, name


def test_no_statement_of_ours_is_among_the_errata(relations):
    listed = [claim for word in get_args(Severity) for claim in errata(relations, word)]
    assert {claim.origin for claim in listed} == {"paper", "reading"}
    assert {claim.id for claim in listed} == {
        name
        for name, claim in relations.claims.items()
        if relations.fails(name) and claim.origin != "ours"
    }
    assert not [
        name
        for name, claim in relations.claims.items()
        if claim.origin == "ours" and relations.fails(name)
    ]


def test_what_is_said_of_regret_says_how_it_is_read(relations):
    for name, claim in relations.claims.items():
        about = re.search("regret", f"{claim.title} {claim.statement}", re.I)
        assert about is None or claim.reading, name


def test_every_proof_stands_in_the_book(relations):
    texts = [cell.source for notebook in all_notebooks().values() for cell in notebook.cells]
    texts += [path.read_text(encoding="utf-8") for path in (ROOT / "book").glob("*.md")]
    labels = re.findall(r"^\((proof-[a-z0-9-]+)\)=$", "\n".join(texts), re.M)
    assert len(labels) == len(set(labels))
    assert {claim.proof for claim in relations.claims.values() if claim.proof} <= set(labels)


def test_nothing_is_supported_by_a_number_without_an_interval():
    rows = read_ledger(ROOT)["claims"]
    for name, row in rows.items():
        if row["verdict"] in (Verdict.SUPPORTED, Verdict.CONSISTENT):
            assert row["interval"][0] < row["interval"][1] and row["level"], name


def test_fresh_seeds_flip_verdicts_as_rarely_as_is_said():
    rows, flips, tried = read_ledger(ROOT)["claims"], 0, 0
    for name, agreement in read_agreements(ROOT).items():
        dissents = len(agreement.trials) - agreement.count(rows[name]["verdict"])
        assert dissents < 2, name
        # A row that no seed can move would dilute the count.
        if any(trial.interval != agreement.own.interval for trial in agreement.trials):
            flips, tried = flips + dissents, tried + len(agreement.trials)
    assert tried > 1000
    assert flips <= binom.ppf(0.999, tried, FLIP_RATE)


def test_counterexamples_and_reasons_hold_no_number_typed_by_hand(relations):
    for name, claim in relations.claims.items():
        for text in (claim.counterexample, claim.uncorrected):
            assert not text or loose_numbers(text) == [], name


def test_the_map_shows_every_theorem_lemma_and_proposition_of_the_paper(relations):
    shown = {name for each in relations.statements().values() for name in each.claims}
    printed = {name for name in relations.claims if re.match("(?:prop|lemma|thm|cor)-", name)}
    assert printed - relations.ours <= shown


@pytest.mark.slow
def test_the_committed_pictures_are_those_of_the_notebooks():
    derived = pictures(ROOT, all_notebooks())
    assert {name: (ROOT / name).read_bytes() for name in derived} == derived
    there = [path for path in (ROOT / FOLDER).glob("*") if path.is_file()]
    committed = {path.relative_to(ROOT).as_posix() for path in there}
    assert committed == set(derived)


def test_a_cell_has_the_same_time_everywhere(pytestconfig):
    """Each tool has a limit of its own, from none at all to half an hour."""
    config = (ROOT / "_config.yml").read_text(encoding="utf-8")
    assert re.findall(r"^\s+timeout: (\d+)$", config, re.M) == [str(CELL_TIMEOUT)]
    assert pytestconfig.option.nbval_cell_timeout == CELL_TIMEOUT
