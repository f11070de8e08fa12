"""``speedbook build --full`` and its stored results; kernels are real where it says so."""

from __future__ import annotations

import json
import os
import signal
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbformat.v4 import new_output

import speedbook.commands.full
from speedbook.claims.registry import load_registry
from speedbook.commands.full import makespan
from speedbook.notebook.files import code_cells, read_notebook, write_notebook
from speedbook.press.sphinx.ledger_table import _run
from speedbook.run.comparison import compare
from speedbook.run.execution import Finished
from speedbook.run.full_results import (
    FULL_RESULTS,
    contradict,
    full_basis,
    full_sources,
    full_text,
    ledger_full,
    read_full_results,
)
from speedbook.run.sides import read_sides

from .builds import build
from .helpers import FIG, PROP, ROOT, SPEEDBOOK, edit, start

PARAMETERS = "seed: int = 3  # of the run [0 ..]\nn: int = 1  # a number [1 .. 9]"
SOURCE = (
    "from speedbook import record\nrecord('prop-1', 1 + 0.3 / n, (0.9, 1.1 + 0.3 / n), level=1)"
)
FULL = f"{PROP}:\n  n: 9\n{FIG}:\n  x: 5\n"


def put_record(book, path, middle, width=0.02):
    """Write the outputs of a run into a notebook: the record of a claim, or a printed number."""
    notebook = read_notebook(path)
    claim = load_registry(book.root)["prop-1"]
    entry = {
        "id": "prop-1",
        "verdict": str(claim.verdict(middle - width, middle + width)),
        "estimate": middle,
        "interval": [middle - width, middle + width],
        "level": 0.999,
        "replications": None,
        "seed": 3,
        "details": {},
    }
    note = {"speedbook": {"claim": entry}}
    for place, cell in enumerate(code_cells(notebook), start=1):
        cell.execution_count = place
    code_cells(notebook)[1].outputs = [
        new_output("display_data", {"text/plain": ""}, metadata=note)
    ]
    write_notebook(path, notebook)


class Kernels:
    """Stands in for the kernels; ends with an interrupt before the notebook `stop`."""

    def __init__(self, book):
        self.book, self.jobs = book, []
        self.middle, self.stop, self.failing = 1.0, "", ""

    def __call__(self, jobs, workers, environment):
        for job in jobs:
            if job.name == self.stop:
                raise KeyboardInterrupt
            self.jobs.append(job)
            failure = "cell 2: ValueError: no" if job.name == self.failing else ""
            write_notebook(job.output, read_notebook(job.source))
            if job.name == PROP:
                put_record(self.book, job.output, self.middle)
            yield Finished(job, 30.0 if job.name == PROP else 100.0, failure)

    def ran(self):
        """Return what ran since the last call."""
        names, self.jobs = [job.name for job in self.jobs], []
        return names


@pytest.fixture
def book(tiny_book, tiny_notebook, monkeypatch):
    tiny_book.notebook(PROP, tiny_notebook(SOURCE, parameters=PARAMETERS))
    put_record(tiny_book, tiny_book.root / PROP, 1.02, width=0.05)
    tiny_book.write("notebooks/full.yml", FULL)
    monkeypatch.chdir(tiny_book.root)
    return tiny_book


@pytest.fixture
def kernels(book, monkeypatch):
    kernels = Kernels(book)
    monkeypatch.setattr(speedbook.commands.full, "execute_all", kernels)
    monkeypatch.setattr(speedbook.commands.full, "lint", lambda root, job: "")
    return kernels


def test_the_long_parameters_reach_the_notebooks_and_the_results_are_stored(book, kernels):
    before = book.snapshot()
    said = build("--full")
    assert {job.name: job.parameters for job in kernels.jobs} == {PROP: {"n": 9}, FIG: {"x": 5}}
    stored = read_full_results(book.root)
    run = stored.notebooks[PROP]
    assert stored.records()["prop-1"]["estimate"] == 1.0
    assert run.basis.parameters == {"n": 9} and run.seconds == 30
    assert run.basis.own["prop-1"].estimate == 1.02
    assert stored.environments[run.environment].packages
    assert "2 notebooks with a long setting: 0 with valid results, 2 to run." in said
    after = book.snapshot()
    assert after.pop(FULL_RESULTS) and after == before


def test_valid_results_are_kept_and_an_interrupted_run_continues(book, kernels):
    kernels.stop = FIG
    build("--full", code=130)
    assert kernels.ran() == [PROP] and list(read_full_results(book.root).notebooks) == [PROP]
    kernels.stop = ""
    assert "1 with valid results, 1 to run" in build("--full")
    assert kernels.ran() == [FIG]
    assert "2 with valid results, 0 to run" in build("--full")
    assert not kernels.ran()


def test_the_cache_serves_when_the_stored_results_are_gone(book, kernels):
    build("--full")
    first = (book.root / FULL_RESULTS).read_text()
    (book.root / FULL_RESULTS).unlink()
    kernels.ran()
    build("--full")
    assert not kernels.ran() and (book.root / FULL_RESULTS).read_text() == first


def other_record(book):
    """Change the library such that the notebook records something else."""
    edit(book.root / "speedlib/__init__.py", "1", "2")
    put_record(book, book.root / PROP, 1.01)


@pytest.mark.parametrize(
    ("change", "again"),
    [
        (lambda book: edit(book.root / "speedlib/__init__.py", "1", "2"), []),
        (lambda book: edit(book.root / "book/index.md", "It is", "That is"), []),
        (lambda book: edit(book.root / PROP, "# A page", "# Another page"), []),
        (lambda book: edit(book.root / "notebooks/full.yml", "n: 9", "n: 8"), [PROP]),
        (lambda book: edit(book.root / "book/claims.yml", "0.1", "0.2"), [PROP]),
        (lambda book: other_record(book), [PROP]),
    ],
)
def test_only_what_was_recorded_makes_results_stale(book, kernels, change, again):
    build("--full")
    kernels.ran()
    change(book)
    build("--full")
    assert kernels.ran() == again


def test_the_longest_goes_first_and_the_time_is_told_beforehand(book, kernels):
    build("--full")
    kernels.ran()
    edit(book.root / "notebooks/full.yml", "n: 9", "n: 8")
    edit(book.root / "notebooks/full.yml", "x: 5", "x: 6")
    assert "Expected: about 2.2 minutes" in build("--full", "--jobs", "1")
    assert kernels.ran() == [FIG, PROP]


def test_a_contradiction_is_1_and_a_decision_is_none(book, kernels):
    kernels.middle = 2.0
    assert "Claim prop-1: contradicted with the long setting, supported" in build("--full", code=1)
    put_record(book, book.root / PROP, 1.1)
    said = build("--full")
    assert "contradicted with the long setting, inconclusive at the defaults." in said


def test_a_failure_is_3_and_the_others_are_stored(book, kernels):
    kernels.failing = FIG
    assert f"without new results: {FIG}" in build("--full", code=3)
    assert list(read_full_results(book.root).notebooks) == [PROP]
    assert (book.root / "_build" / "full" / "failed" / FIG).is_file()


def test_results_without_a_long_setting_go(book, kernels):
    build("--full")
    book.write("notebooks/full.yml", f"{PROP}:\n  n: 9\n")
    build("--full")
    assert list(read_full_results(book.root).notebooks) == [PROP]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (f"{PROP}:\n  m: 9\n", "m: the notebook has no such parameter"),
        (f"{PROP}:\n  n: 10\n", "n: must be between 1 and 9; got 10"),
        ("notebooks/claims/none.ipynb:\n  n: 1\n", "none.ipynb: there is no such notebook"),
    ],
)
def test_a_fault_in_the_long_setting_is_2(book, kernels, text, fault):
    book.write("notebooks/full.yml", text)
    assert fault in build("--full", code=2)
    assert not kernels.jobs and not (book.root / FULL_RESULTS).exists()


def test_a_damaged_file_is_named_and_not_replaced(book, kernels):
    book.write(FULL_RESULTS, '{"notebooks": 3}')
    assert "book/full.json: notebooks:" in build("--full", code=2)
    assert (book.root / FULL_RESULTS).read_text() == '{"notebooks": 3}'
    assert "give one at a time" in build("--full", "--refresh", code=2)


def test_the_ledger_gets_the_long_results_and_what_is_stale(book, kernels):
    registry = load_registry(book.root)

    def row():
        executed = {PROP: read_notebook(book.root / PROP)}
        return ledger_full(book.root, registry, executed).get("prop-1", {})

    assert row() == {}
    build("--full")
    found = row()
    assert (found["verdict"], found["parameters"], found["changed"]) == ("supported", {"n": 9}, [])
    assert full_text({"full": found}) == "supported, 1.000 [0.980, 1.020]"
    shown = _run({"full": found})[-1]
    assert shown.astext() == "full: supported, 1.000 [0.980, 1.020]"
    put_record(book, book.root / PROP, 1.01)
    edit(book.root / "notebooks/full.yml", "n: 9", "n: 8")
    assert row()["changed"] == ["the parameters", "the default record"]
    assert full_text({}) == ""


@given(st.lists(st.floats(0, 1e4), max_size=30), st.integers(1, 5))
def test_the_expected_time_is_between_its_bounds(seconds, workers):
    found, total = makespan(seconds, workers), sum(seconds)
    longest = max(seconds, default=0)
    assert max(total / workers, longest) <= found * (1 + 1e-9) + 1e-9
    assert found <= (total / workers + longest) * (1 + 1e-9) + 1e-9


@pytest.mark.slow
def test_with_real_kernels_a_killed_run_continues(book):
    """The first notebook ends at once; the second is killed with everything that runs it."""
    edit(book.root / FIG, "print(x + 1)", "import time; time.sleep(60 * (x == 5))")
    process = start(book.root, *SPEEDBOOK, "build", "--full", "--jobs", "1")
    deadline = time.monotonic() + 120
    while not (book.root / FULL_RESULTS).exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    entry = json.loads((book.root / FULL_RESULTS).read_text())["notebooks"]
    assert list(entry) == [PROP]
    edit(book.root / "notebooks/full.yml", "x: 5", "x: 6")
    said = build("--full")
    assert "1 with valid results, 1 to run." in said
    stored = read_full_results(book.root).records()["prop-1"]
    assert stored["interval"] == [0.9, pytest.approx(1.1 + 0.3 / 9)]


# The stored results of this book


def stored_with_basis():
    registry, stored = load_registry(ROOT), read_full_results(ROOT)
    for name, (notebook, values) in full_sources(ROOT).items():
        if name in stored.notebooks:
            yield name, stored.notebooks[name], full_basis(registry, name, notebook, values)


def test_no_stored_verdict_contradicts_one_at_the_defaults():
    against = [
        f"{claim}: {entry['verdict']}, at the defaults {now.own[claim].verdict}"
        for _, run, now in stored_with_basis()
        for claim, entry in run.results.records.items()
        if claim in now.own and contradict(now.own[claim].verdict, entry["verdict"])
    ]
    assert not against


def test_the_stored_results_have_the_parameters_and_rules_of_today():
    registry = load_registry(ROOT)
    for name, run, now in stored_with_basis():
        assert run.basis.parameters == now.parameters, name
        assert run.basis.rules == now.rules, name
        for claim, entry in run.results.records.items():
            assert entry["verdict"] == registry[claim].verdict(*entry["interval"]), claim


def test_every_notebook_with_a_long_setting_has_stored_results():
    assert set(read_full_results(ROOT).notebooks) == set(full_sources(ROOT))


def test_the_two_settings_agree_within_noise():
    comparison, _ = compare(*read_sides(ROOT, ("full", "book")))
    far = {r.claim: r.standard_errors for r in comparison.records if r.error and r.beyond}
    assert not far
