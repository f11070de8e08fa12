"""A rerun: what its folder holds, and whether a repetition is the same."""

from __future__ import annotations

import csv
import hashlib
import json
import re

import pytest
from nbformat.v4 import new_markdown_cell

from speedbook.notebook.files import code_cells, read_notebook
from speedbook.run.manifest import read_manifest
from speedbook.run.results import Results, table_csv

from .conftest import CLAIM
from .helpers import PROP, SPEEDBOOK, start
from .reruns import files_of, folders, rerun

RICH = (
    "import matplotlib.pyplot as plt\nfrom speedbook import figures\n"
    "fig, ax = plt.subplots(figsize=(2, 2)); _ = ax.plot([1, x])\n"
    "figures.show(fig, name='line', alt='A line to <x>.')",
    "import pandas as pd\npd.DataFrame({'a': [x, 1 / 3], 'b': ['1.568 ± 0.113', '2']}, "
    "index=pd.Index(['u', 'v, w'], name='i'))",
    "from speedbook import record\nrecord('prop-1', x / 3, seed=seed)",
    "print('x is', x)",
)
PROSE = (
    "## Words\n\nA formula $\\bx < 1$, {ledger}`prop-1.estimate`, {quoted}`0.35`, "
    "[](other.ipynb), [a site](https://example.org).\n\n"
    "```{admonition} Why\n:class: dropdown\nBecause **so**.\n```"
)
LEDGER = {"claims": {"prop-1": {"verdict": "checked", "estimate": 1.0, "interval": [1.0, 1.0]}}}


@pytest.fixture(scope="module")
def rich_run(tmp_path_factory, make_tiny_book, tiny_notebook):
    """A book and one run of its claim, from the command line; nothing else changed."""
    book = make_tiny_book(tmp_path_factory.mktemp("rich"))
    parameters = "x: int = 3  # a number [1 .. 9]\nseed: int = 7  # of the run [0 ..]"
    notebook = tiny_notebook(*RICH, parameters=parameters)
    notebook.cells.append(new_markdown_cell(PROSE, id="prose"))
    book.notebook(PROP, notebook)
    book.claims([{**CLAIM, "evidence": "exact example"}])
    book.write("book/ledger.json", json.dumps(LEDGER))
    before = files_of(book.root)
    process = start(book.root, *SPEEDBOOK, "rerun", "prop-1", "-p", "x=6")
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 1, said
    assert files_of(book.root) == before
    (folder,) = folders(book.root, "prop-1")
    return book, folder, said


# A good run


@pytest.mark.slow
def test_the_folder_holds_all_of_it(rich_run):
    _, folder, said = rich_run
    assert re.fullmatch(r"\d{8}T\d{6}Z-[0-9a-f]{8}", folder.name)
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert files == {
        "prop-1.ipynb",
        "prop-1.html",
        "manifest.json",
        "figures/line.svg",
        "figures/line.pdf",
        "figures/line.png",
        "figures/line.csv",
        "results/records.json",
        "results/records.csv",
        "results/table-01.csv",
        "results/table-01-numbers.csv",
    }
    assert (folder / "figures/line.pdf").read_bytes().startswith(b"%PDF")
    assert (folder / "figures/line.png").read_bytes().startswith(b"\x89PNG")
    table = (folder / "results/table-01.csv").read_text()
    assert table == 'i,a,b\nu,6.000000,1.568 ± 0.113\n"v, w",0.333333,2\n'
    assert (folder / "results/records.csv").read_text() == (
        "id,verdict,estimate,low,high,level,replications,seed\nprop-1,contradicted,2.0,2.0,2.0,,,7\n"
    )
    assert f"The results are in {folder}" in said
    assert "\x1b" not in said
    assert folder.joinpath("prop-1.html").as_uri() in said


@pytest.mark.slow
def test_the_executed_notebook_holds_the_new_values_and_no_state_of_tools(rich_run):
    _, folder, _ = rich_run
    text = (folder / "prop-1.ipynb").read_text()
    assert "papermill" not in text and "start_time" not in text
    cells = code_cells(read_notebook(folder / "prop-1.ipynb"))
    assert "x = 6" in cells[1].source
    assert cells[-1].outputs[0].text == "x is 6\n"


@pytest.mark.slow
def test_the_manifest_says_what_the_run_was(rich_run):
    book, folder, _ = rich_run
    manifest = read_manifest(folder)
    assert (manifest.notebook, manifest.setting, manifest.failure) == (PROP, "defaults", "")
    assert (manifest.parameters, manifest.changed, manifest.seed) == (
        {"x": 6, "seed": 7},
        ("x",),
        7,
    )
    environment = manifest.environment
    assert (environment.commit, environment.changed, environment.lock) == (None, None, None)
    assert set(environment.data) == {"data/set.csv"}
    assert "numpy" in environment.packages
    assert manifest.results.records["prop-1"]["verdict"] == "contradicted"
    assert set(manifest.results.figures) == {"line"}
    assert set(manifest.results.tables) == {"table-01.csv"}
    assert str(book.root) not in (folder / "manifest.json").read_text()


@pytest.mark.slow
def test_tables_and_figures_are_also_plain_numbers_with_all_their_digits(rich_run):
    _, folder, _ = rich_run
    with (folder / "results/table-01-numbers.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["i"] for row in rows] == ["u", "v, w"]
    assert [float(row["a"]) for row in rows] == [6.0, 1 / 3]
    assert [(row["b"], row["b ±"]) for row in rows] == [("1.568", "0.113"), ("2", "")]
    with (folder / "figures/line.csv").open(newline="") as file:
        drawn = [(float(row["x"]), float(row["y"])) for row in csv.DictReader(file)]
    assert drawn == [(0.0, 1.0), (1.0, 6.0)]
    assert read_manifest(folder).numbers == {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in ("figures/line.csv", "results/table-01-numbers.csv")
    }


@pytest.mark.slow
def test_a_verdict_that_moved_is_told_and_is_1(rich_run):
    _, _, said = rich_run
    assert "Claim prop-1: contradicted, 2; the committed ledger says checked, 1." in said
    assert "A verdict is not the book's, so the exit code is 1; the run is complete." in said


@pytest.mark.slow
def test_the_page_needs_nothing_but_itself(rich_run):
    _, folder, _ = rich_run
    page = (folder / "prop-1.html").read_text()
    scripts = re.findall(r"<script\b.*?</script>", page, re.S)
    rest = re.sub(r"<script\b.*?</script>", "", page, flags=re.S)
    assert len(scripts) == 1 and not any(re.match(r"<script[^>]*\bsrc", part) for part in scripts)
    assert not re.search(r"@import|url\(|<link(?! rel=\"icon\" href=\"data:)|<iframe", rest)
    sources = re.findall(r'<img src="([^"]{5})', rest)
    assert sources == ["data:"]
    links = re.findall(r'href="(?!data:)([^"]*)"', rest)
    assert links == [*read_manifest(folder).numbers, "https://example.org"]
    # They lead to what is beside the page.
    assert all((folder / link).is_file() for link in links[:-1])
    assert rest.index("A page</h1>") < rest.index("with x = 6.") < rest.index("Words</h2>")
    for part in (
        '<tr class="changed"><td><code>x</code></td>\n<td>6 (default 3)</td>',
        'alt="A line to &lt;x&gt;."',
        r"\(\bx &lt; 1\)",
        # The number of this run, and not of the committed ledger.
        "formula",
        ", 2, 0.35, other,",
        "<summary>Why</summary>",
        "<strong>so</strong>",
        'class="claim-card verdict-contradicted"',
        "x is 6",
    ):
        assert part in rest, part
    assert "# a number [1 .. 9]" not in rest


# Repeating a run


@pytest.fixture
def there(rich_run, monkeypatch):
    book, folder, _ = rich_run
    monkeypatch.chdir(book.root)
    return book, folder


@pytest.mark.slow
def test_a_repetition_is_identical_and_touches_nothing(there):
    book, folder = there
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    # Also by a manifest from before there were files of plain numbers.
    old = json.loads((folder / "manifest.json").read_text())
    del old["numbers"], old["files"]
    said = rerun("--from", book.write("earlier.json", json.dumps(old)), "--out", "elsewhere")
    assert "The results are identical: 1 record, 1 figure, 1 table." in said
    assert "The circumstances are the same." in said, said
    assert {path: path.read_bytes() for path in before} == before
    (again,) = (book.root / "elsewhere" / "prop-1").iterdir()
    assert {path.relative_to(again) for path in again.rglob("*")} == {
        path.relative_to(folder) for path in folder.rglob("*")
    }
    first, second = read_manifest(folder), read_manifest(again)
    assert first.results == second.results
    assert first.parameters == second.parameters


@pytest.mark.slow
def test_a_repetition_in_another_environment_says_so(there, no_kernels):
    book, folder = there
    executed = read_notebook(folder / "prop-1.ipynb")
    no_kernels.fill = lambda _, notebook: notebook.update(executed)
    old = json.loads((folder / "manifest.json").read_text())
    old["environment"]["packages"]["numpy"] = "0.1"
    old["environment"]["python"] = "3.0.1"
    old["environment"]["machine"]["cores"] = 999
    old["environment"]["data"]["data/gone.csv"] = "abc"
    old["environment"]["commit"] = "f" * 40
    old["environment"]["changed"] = False
    old["environment"]["sources"] = "other"
    old["code"] = "other"
    old["results"]["figures"]["line"] = "other"
    old["results"]["tables"] = {}
    old["results"]["records"]["prop-1"]["estimate"] = 7
    path = book.write("old.json", json.dumps(old))
    said = rerun("--from", path, code=1)
    for part in (
        "The results differ:",
        "figure line: shows other numbers",
        "table table-01.csv: is new",
        "claim prop-1: estimate was 7, is 2.0",
        "The circumstances differ:",
        "package numpy was 0.1, is ",
        "Python was 3.0.1, is ",
        "the machine's cores was 999, is ",
        "data file data/gone.csv was abc, is missing",
        "the commit was ffffffffffff, is none (no git)",
        "the code of speedlib or speedbook has changed",
        f"the code of {PROP} has changed",
    ):
        assert part in said, part
    assert "identical" not in said


@pytest.mark.slow
def test_what_a_manifest_says_must_still_fit(there):
    book, folder = there
    old = json.loads((folder / "manifest.json").read_text())

    def refused(*arguments: object, **changes: object) -> str:
        path = book.write("changed.json", json.dumps({**old, **changes}))
        return rerun("--from", path, *arguments, code=2)

    assert "y: the notebook no longer has this parameter" in refused(parameters={"y": 1})
    assert "x: must be between 1 and 9; got 10" in refused(parameters={"x": 10})
    assert "the book has none of this name; nearest: prop-1" in refused(notebook="prop1")
    assert "cannot be combined with -p" in refused("-p", "x=2")
    assert "the manifest is for notebooks/claims/prop-1.ipynb, not for fig" in refused("fig")
    assert "is not a manifest: format" in refused(format=2)
    assert "No such file" in rerun("--from", "none.json", code=2)
    said = rerun(code=2)
    assert "give a NOTEBOOK" in said
    assert re.search(r"the book has:\n  claims: prop-1\n  figures: fig$", said.strip())


def test_results_are_compared_in_all_their_parts():
    record = {"estimate": 1.0, "verdict": "supported"}
    one = Results(records={"c": record}, figures={"f": "1"}, tables={"t": "1"})
    assert one.differences(one) == []
    for change in ({"records": {}}, {"figures": {"f": "2"}}, {"tables": {"t": "1", "u": "2"}}):
        other = one.model_copy(update=change)
        assert one.differences(other) and other.differences(one)


def test_a_table_of_many_levels_becomes_rows_and_columns():
    import pandas as pd

    frame = pd.DataFrame(
        [[1, 2], [3, 4], [5, 6]],
        index=pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)], names=["k", "l"]),
        columns=pd.MultiIndex.from_tuples([("m", "p"), ("m", "q")]),
    )
    assert table_csv(frame.to_html()) == "k,l,m / p,m / q\na,1,1,2\na,2,3,4\nb,1,5,6\n"


def test_a_file_that_a_parameter_names_belongs_to_the_circumstances(
    tiny_book, tiny_notebook, no_kernels, monkeypatch
):
    line = 'log_file: str = ""  # log of rewards\nothers: list[str] = []  # files [or empty]\n'
    tiny_book.notebook(
        "notebooks/figures/logs.ipynb", tiny_notebook("print(log_file, others)", parameters=line)
    )
    monkeypatch.chdir(tiny_book.root)
    tiny_book.write("log.csv", "phase,action,reward\n")
    tiny_book.write("other.csv", "a\n")
    rerun("logs", "-p", "log_file=log.csv", "-p", "others=other.csv,none.csv,\0")
    (folder,) = (tiny_book.root / "runs" / "logs").iterdir()
    assert set(read_manifest(folder).files) == {"log.csv", "other.csv"}
    assert "The circumstances are the same." in rerun("--from", folder)
    tiny_book.write("log.csv", "phase,action,reward\n1,A,0.5\n")
    said = rerun("--from", folder)
    assert "The circumstances differ:" in said
    assert "file log.csv was " in said
    assert "file other.csv" not in said
    # A file that one of the runs did not find is a difference, too.
    tiny_book.write("none.csv", "a\n")
    (tiny_book.root / "other.csv").unlink()
    said = rerun("--from", folder)
    assert "file none.csv was missing, is " in said
    assert re.search(r"file other.csv was \w+, is missing", said)
