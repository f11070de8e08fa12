"""``speedbook compare`` of runs: the pairs, and what is told, on the page too."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_output
from scipy import stats
from typer.testing import CliRunner

from speedbook.claims.registry import load_registry
from speedbook.commands.app import app
from speedbook.notebook.files import code_cells, read_notebook, write_notebook
from speedbook.run.sweep import whole_run

from .a_record import entry
from .helpers import PROP, SPEEDBOOK, start
from .reruns import folders, rerun

PARAMETERS = (
    "seed: int = 3  # of the run [0 ..]\nn: int = 1  # a number [1 .. 99]\n"
    "m: int = 1  # another [1 .. 99]"
)
SOURCE = "from speedbook import record\nrecord('prop-1', n / m, seed=seed)"
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="


def compare(*arguments: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["compare", *map(str, arguments)])
    assert result.exit_code == code, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return " ".join(result.output.split())


class Outputs:
    """Gives each run the record and the picture that its parameters ask for."""

    def __init__(self, book):
        self.book, self.width = book, 0.1

    def __call__(self, job, notebook):
        given = {"seed": 3, "n": 1, "m": 1, **job.parameters}
        self.put(notebook, given["n"] / given["m"] + 0.001 * given["seed"])

    def put(self, notebook, middle):
        claim = load_registry(self.book.root)["prop-1"]
        low, high = middle - self.width, middle + self.width
        found = entry(middle, low, high, 0.999, verdict=str(claim.verdict(low, high)))
        html = (
            '<table class="dataframe"><thead><tr><th>n</th><th>error</th></tr></thead>'
            f"<tr><td>same</td><td>{middle:.2f}</td></tr></table>"
        )
        figure = {"figure": {"name": "line", "digest": f"{middle:.2f}"}}
        code_cells(notebook)[1].outputs = [
            new_output(
                "display_data", {"text/plain": ""}, metadata={"speedbook": {"claim": found}}
            ),
            new_output("display_data", {"text/html": html}),
            new_output(
                "display_data",
                {"image/png": PNG},
                metadata={"image/png": {"alt": "A <line>."}, "speedbook": figure},
            ),
        ]


@pytest.fixture
def outputs(tiny_book, tiny_notebook, no_kernels, monkeypatch):
    tiny_book.notebook(PROP, tiny_notebook(SOURCE, parameters=PARAMETERS))
    book = Outputs(tiny_book)
    committed = read_notebook(tiny_book.root / PROP)
    book.put(committed, 1.003)
    write_notebook(tiny_book.root / PROP, committed)
    no_kernels.fill = book
    monkeypatch.chdir(tiny_book.root)
    return book


def run(**given):
    """Run the notebook with some parameters, and return the folder of the run."""
    before = set(folders_now())
    words = [word for name, value in given.items() for word in ("-p", f"{name}={value}")]
    rerun("prop-1", *words)
    (new,) = set(folders_now()) - before
    return new


def folders_now():
    return folders(Path.cwd(), "prop-1")


def only(root, ending):
    (path,) = (root / "runs" / "comparisons").glob(f"*.{ending}")
    return path


def test_two_runs_within_noise_are_0(tiny_book, outputs):
    said = compare(run(seed=4), run(seed=5))
    assert "seed: 4 → 5" in said
    assert "No record differs beyond noise. No verdict is different." in said
    assert "1.00 [0.90, 1.10]" in said and re.search(r"\+0\.00\d* 0\.0 ", said)
    assert "figure line: same" in said and "table table-01.csv: same" in said


def test_a_difference_beyond_noise_is_1_and_says_how_large(tiny_book, outputs):
    said = compare(a := run(), b := run(n=2), code=1)
    # Half an interval is 0.1, at 99.9 %; two of them make the error of a difference.
    expected = 1 / (np.sqrt(2) * 0.1 / stats.norm.ppf(0.9995))
    assert f"+1.000 {expected:.1f} beyond noise" in said
    assert "1 of 1 record differs beyond noise. 1 verdict is different." in said
    assert "Claim prop-1: ? inconclusive in A, ✗ contradicted in B." in said
    assert "figure line: differs" in said
    assert "table table-01.csv: differs in 1 of 2 cells" in said
    assert "Numbers are different in 1 of 1 figure and 1 of 1 table (1 of their 2 cells)" in said
    assert "limit" not in said and "more than 3.29 standard errors" in said
    found = json.loads(only(tiny_book.root, "json").read_text())
    assert (found["a"], found["b"], found["beyond_noise"]) == (str(a), str(b), True)
    (pair,) = found["pairs"]
    assert pair["parameters"] == {"n": [1, 2]} and pair["shared"] == {"seed": 3, "m": 1}
    assert pair["records"][0]["standard_errors"] == pytest.approx(expected)
    assert found["rule"] == {"family": 0.001, "records": 1, "limit": pytest.approx(3.2905, 1e-4)}


def test_a_verdict_that_moved_within_noise_is_told_and_is_0(tiny_book, outputs):
    run()
    first = run(seed=4)
    outputs.width = 0.04
    said = compare(first, run(seed=5))
    assert "? inconclusive in A, ✓ supported in B." in said
    assert "No record differs beyond noise. 1 verdict is different." in said


def test_a_run_against_the_book(tiny_book, outputs):
    assert "No record differs" in compare(run(seed=4), "book")
    other = run(n=2)
    said = compare("book", other, code=1)
    assert "n: 1 → 2" in said and "+1.000" in said
    said = compare(other, "book", code=1)
    assert "n: 2 → 1" in said and "−1.000" in said
    assert compare("book", run(n=3), "--quiet", code=1).startswith("Claim prop-1:")


def test_the_page_shows_all_and_needs_nothing_else(tiny_book, outputs):
    one, two = run(), run(n=2)
    compare(one, two, code=1)
    page = BeautifulSoup(html := only(tiny_book.root, "html").read_text(), "html.parser")
    assert not re.search(r"<script|@import|url\(|<link(?! rel=\"icon\")", html)
    pictures = page.find_all("img")
    assert [picture["alt"] for picture in pictures] == ["A <line>."] * 2
    assert all(picture["src"].startswith("data:image/png;base64,") for picture in pictures)
    marked = [mark.get_text() for mark in page.select(".shown mark")]
    assert marked == ["1.00", "2.00"]
    assert len(page.select("tr.beyond")) == 1
    assert "beyond noise" in page.select_one(".conclusion").get_text()
    # The same two sides have the same file.
    compare(one, two, code=1)
    assert len(list((tiny_book.root / "runs" / "comparisons").iterdir())) == 2


def test_two_sweeps_are_paired_by_what_varies(tiny_book, outputs, tmp_path):
    """The sweeps differ in the seed; one has a point more, and one a failed run."""
    for name, seed, values in (("one", 4, (1, 2)), ("two", 5, (1, 2, 3))):
        for n in values:
            rerun("prop-1", "-p", f"seed={seed}", "-p", f"n={n}", "--out", tmp_path / name)
    broken = sorted((tmp_path / "one" / "prop-1").iterdir())[0]
    shutil.copytree(broken, broken.with_name(broken.name + "-failed"))
    manifest = broken.with_name(broken.name + "-failed") / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"failure": ""', '"failure": "no"'))
    stopped = broken.with_name(broken.name + "-interrupted")
    stopped.mkdir()
    given = {"metadata": {"papermill": {"parameters": {"n": 7}}}}
    (stopped / "prop-1.ipynb").write_text(json.dumps(given))
    said = compare(tmp_path / "one", tmp_path / "two")
    assert "2 pairs of runs" in said and "seed: 4 → 5" in said
    assert "only in B" in said
    assert re.search(r"-failed \(seed=4(, n=2)?\): left out, since it did not finish", said)
    assert "-interrupted (n=7): left out, since it did not finish" in said
    assert "limit" not in said and "more than 3.48 standard errors" in said
    found = json.loads(only(tiny_book.root, "json").read_text())
    assert sorted(pair["shared"]["n"] for pair in found["pairs"]) == [1, 2]
    page = BeautifulSoup(only(tiny_book.root, "html").read_text(), "html.parser")
    links = [link["href"].removeprefix("#") for link in page.select(".all a")]
    assert links == [head["id"] for head in page.select("h2[id]")] and len(links) == 2
    said = compare(tmp_path / "two", "book", code=1)
    assert "3 pairs of runs" in said


def test_differences_in_the_circumstances_are_told(tiny_book, outputs):
    first = run()
    path = first / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["environment"]["python"] = "3.1.4"
    path.write_text(json.dumps(manifest))
    second = run(seed=4)
    assert "Python is 3.1.4 in A, 3." in compare(first, second)
    assert re.search(r"Python is 3\.\d+\.\d+ in A, 3\.1\.4 in B", compare(second, first))


def test_what_differs_is_told_with_the_report(tiny_book, outputs):
    """Standard error is for what went wrong; with --quiet it has the result too."""
    sides = ["compare", str(run()), str(run(n=2))]
    loud, quiet = CliRunner().invoke(app, sides), CliRunner().invoke(app, [*sides, "--quiet"])
    assert "Claim prop-1:" in loud.stdout and not loud.stderr
    assert "Claim prop-1:" in quiet.stderr and not quiet.stdout


def manifest_with(folder, change):
    place = folder / "manifest.json"
    manifest = json.loads(place.read_text())
    change(manifest)
    place.write_text(json.dumps(manifest))


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (
            lambda m: m["results"]["records"]["prop-1"].update(estimate=9.0),
            "claim prop-1: estimate is 9.0 in manifest.json, 1.003 in prop-1.ipynb",
        ),
        (
            lambda m: m["results"]["records"].clear(),
            "claim prop-1: estimate is None in manifest.json, 1.0",
        ),
        (lambda m: m["results"]["figures"].update(line="0"), "figure line: shows other numbers"),
        (lambda m: m["results"]["tables"].clear(), "table table-01.csv: is not in manifest.json"),
        (lambda m: m["parameters"].update(n=7), "has other parameters than the run"),
        (lambda m: m.update(code="0"), "has other parameters than the run"),
    ],
)
def test_a_manifest_that_was_changed_is_refused(tiny_book, outputs, change, fault):
    first = run()
    manifest_with(first, change)
    said = compare(first, "book", code=2)
    assert fault in said and "was changed after its run" in said
    # Without the notebook, the file of records knows still.
    if "claim" in fault:
        (first / "prop-1.ipynb").unlink()
        assert "records.json hold different records" in compare(first, "book", code=2)


def test_files_that_are_missing_or_changed_are_told(tiny_book, outputs):
    first, second = run(), run(seed=4)
    (first / "prop-1.ipynb").unlink()
    (numbers,) = (second / "results").glob("*-numbers.csv")
    numbers.write_text("mine")
    table = first / "results" / "table-01.csv"
    table.write_text("mine")
    said = compare(first, second)
    assert "A: results/table-01.csv was changed after the run" in said
    assert "A: prop-1.ipynb is missing" in said
    assert f"B: results/{numbers.name} was changed after the run" in said
    numbers.unlink()
    assert f"B: results/{numbers.name} is missing" in compare(first, second)


def test_a_run_whose_table_was_changed_is_not_whole(tiny_book, outputs):
    """So a sweep runs its point again."""
    folder = run()
    assert whole_run(folder, "prop-1")
    (folder / "results" / "table-01.csv").write_text("mine")
    assert whole_run(folder, "prop-1") is None


@pytest.mark.parametrize(
    ("sides", "fault"),
    [
        (("none", "book"), "none: there is no such folder; give the folder of a run"),
        (("book", "book"), "book was given twice"),
        (("book", "full"), "full: there is no book/full.json; `make full` makes it"),
        (("data", "book"), "data: holds no finished run"),
        (("RUN", "full"), "full: book/full.json holds no results of notebooks/claims/prop-1"),
        (("RUN", "FIG"), "only runs of the same notebook can be compared"),
        (("BAD", "book"), "is not a manifest"),
        (("FAILED", "book"), "this run did not finish: cell 2"),
    ],
)
def test_wrong_usage_is_2_and_writes_nothing(tiny_book, outputs, no_kernels, sides, fault):
    places = {"RUN": run(seed=4)}
    bad = shutil.copytree(places["RUN"], tiny_book.root / "bad")
    (bad / "manifest.json").write_text("{}")
    failed = shutil.copytree(places["RUN"], tiny_book.root / "failed")
    text = (failed / "manifest.json").read_text()
    (failed / "manifest.json").write_text(text.replace('"failure": ""', '"failure": "cell 2"'))
    no_kernels.fill = None
    rerun("fig")
    places |= {"BAD": bad, "FAILED": failed, "FIG": folders(tiny_book.root)[0]}
    assert fault in compare(*(places.get(side, side) for side in sides), code=2)
    assert not (tiny_book.root / "runs" / "comparisons").exists()


def test_a_folder_may_be_called_like_a_word(tiny_book, outputs):
    first = run(seed=4)
    (tiny_book.root / "full").symlink_to(first, target_is_directory=True)
    assert "No record differs" in compare("./full", "book")


@pytest.mark.slow
def test_with_real_kernels_from_the_command_line(tiny_book, tiny_notebook):
    tiny_book.notebook(PROP, tiny_notebook(SOURCE, parameters=PARAMETERS))
    for n in (1, 2):
        process = start(tiny_book.root, *SPEEDBOOK, "rerun", "prop-1", "-p", f"n={n}", "--quiet")
        process.communicate(timeout=300)
    places = map(str, folders(tiny_book.root, "prop-1"))
    process = start(tiny_book.root, *SPEEDBOOK, "compare", *places)
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 1, said
    assert "exact: differs" in said


@pytest.mark.slow
def test_the_sweeps_of_the_command_are_compared_and_listed(tiny_book, tiny_notebook):
    tiny_book.notebook(PROP, tiny_notebook(SOURCE, parameters=PARAMETERS))

    def speedbook(*arguments, code=0):
        process = start(tiny_book.root, *SPEEDBOOK, *arguments)
        said, _ = process.communicate(timeout=300)
        assert process.returncode == code, said
        return " ".join(said.split())

    for seed in (4, 5):
        speedbook(
            *("sweep", "prop-1", "-p", "n=1,2", "-p", f"seed={seed}"),
            *("--jobs", "1", "--quiet", "--out", f"runs/sweeps/of-{seed}"),
        )
    said = speedbook("compare", "runs/sweeps/of-4", "runs/sweeps/of-5")
    assert "2 pairs of runs" in said and "seed: 4 → 5" in said
    said = speedbook("runs")
    assert "Sweep runs/sweeps/of-4: 2 finished;" in said
    assert "nothing to delete" in speedbook("runs", "clean", "--yes")
