"""What a build executes, refreshes and refuses, with a stand-in in the place of the kernels."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
from unittest.mock import patch

import pytest
from nbformat.v4 import new_output
from typer.testing import CliRunner

import speedbook.commands.build
import speedbook.press.jupyter_book
import speedbook.run.cache
from speedbook import record
from speedbook.claims.ledger import ledger_text
from speedbook.commands.app import app
from speedbook.notebook.files import code_cells, read_notebook, serialise, write_notebook
from speedbook.run.execution import Finished

from .builds import build
from .helpers import FIG, PROP, ROOT, edit

PIXELS = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


class Kernels:
    """Gives every notebook the outputs it would have, and says which it ran."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.text = "4\n"
        self.picture: tuple[bytes, str] | None = None
        self.failures: dict[str, str] = {}
        self.files: dict[str, str] = {}

    def __call__(self, jobs, workers, environment):
        for job in jobs:
            self.ran.append(job.name)
            notebook = read_notebook(job.source)
            for count, cell in enumerate(code_cells(notebook), start=1):
                cell.execution_count = count
            code_cells(notebook)[1].outputs = [self.output(job.name)]
            write_notebook(job.output, notebook)
            for name, text in self.files.items():
                job.figures.mkdir(parents=True, exist_ok=True)
                (job.figures / name).write_text(f"{text} of {job.name}")
            yield Finished(job, 1.0, self.failures.get(job.name, ""))

    def output(self, name):
        if name == PROP:
            with patch("IPython.get_ipython"), patch("IPython.display.display") as display:
                record("prop-1", 1.001, (0.99, 1.01), level=0.999, seed=3)
            data, metadata = display.call_args.args[0], display.call_args.kwargs["metadata"]
            return new_output("display_data", data, metadata=metadata)
        if self.picture:
            pixels, digest = self.picture
            return new_output(
                "display_data",
                {"image/png": base64.b64encode(pixels).decode()},
                metadata={"speedbook": {"figure": {"name": "fig", "digest": digest}}},
            )
        return new_output("stream", text=self.text)


@pytest.fixture
def kernels(tiny_book, monkeypatch):
    kernels = Kernels()
    monkeypatch.setattr(speedbook.commands.build, "execute_all", kernels)
    page = tiny_book.root / "_build" / "html" / "index.html"
    monkeypatch.setattr(speedbook.commands.build, "press", lambda *_: page)
    monkeypatch.chdir(tiny_book.root)
    return kernels


def states(book):
    status = json.loads((book.root / "_build" / "status.json").read_text())
    return {row["notebook"]: (row["state"], row["seconds"]) for row in status["notebooks"]}


@pytest.mark.slow
def test_a_second_build_executes_nothing(tiny_book, kernels):
    before = tiny_book.snapshot()
    assert "2 executed, 0 unchanged" in build()
    assert states(tiny_book) == {FIG: ("executed", 1.0), PROP: ("executed", 1.0)}
    assert "0 executed, 2 unchanged" in build()
    assert states(tiny_book) == {FIG: ("cached", 1.0), PROP: ("cached", 1.0)}
    assert kernels.ran == [FIG, PROP]
    assert tiny_book.snapshot() == before


@pytest.mark.slow
def test_one_changed_line_of_speedlib_executes_all_again(tiny_book, kernels):
    build()
    edit(tiny_book.root / "speedlib/__init__.py", "ANSWER = 1", "ANSWER = 2")
    build()
    assert kernels.ran == [FIG, PROP, FIG, PROP]
    edit(tiny_book.root / "speedlib/__init__.py", "ANSWER = 2", "ANSWER = 1")
    build()
    assert kernels.ran == [FIG, PROP, FIG, PROP], "going back costs nothing"


@pytest.mark.slow
def test_only_the_changed_notebook_is_executed_and_prose_is_not_code(tiny_book, kernels):
    build()
    edit(tiny_book.root / FIG, "x + 1", "x + 2")
    edit(tiny_book.root / PROP, "# A page", "# Another title")
    build()
    assert kernels.ran == [FIG, PROP, FIG]
    executed = read_notebook(tiny_book.root / "_build" / "executed" / PROP)
    assert executed.cells[0].source.startswith("# Another title\n")
    assert executed.cells[2].outputs


def test_pages_offer_the_figures_of_their_own_run(tiny_book, kernels):
    kernels.picture = PIXELS, "0" * 64
    kernels.files = {"fig.svg": "curve"}
    build()
    offered = tiny_book.root / "_build" / "stage" / "book" / "_extra" / "downloads"
    # The other page wrote a file of the same name.
    assert (offered / "figures" / "fig" / "fig.svg").read_text() == f"curve of {FIG}"
    assert (offered / "figures" / "fig" / "fig.png").read_bytes() == PIXELS
    assert (offered / "claims" / "prop-1" / "prop-1-data.zip").is_file()
    kernels.files = {}
    edit(tiny_book.root / FIG, "# A page", "# Another title")
    build()
    assert kernels.ran == [FIG, PROP], "and the figures are those of the run that was kept"
    assert (offered / "figures" / "fig" / "fig.svg").read_text() == f"curve of {FIG}"


def test_a_run_that_was_kept_without_its_figures_is_repeated(tiny_book, kernels):
    build()
    for path in (tiny_book.root / "_build" / "cache" / FIG).iterdir():
        kept = json.loads(path.read_text())
        assert kept.pop("files") == {}
        path.write_text(json.dumps(kept))
    build()
    assert kernels.ran == [FIG, PROP, FIG]


def test_a_removed_notebook_leaves_no_copy(tiny_book, kernels):
    build()
    tiny_book.toc("notebooks/claims/prop-1", "book/ledger")
    build()
    assert not (tiny_book.root / "_build" / "executed" / FIG).exists()
    assert not (tiny_book.root / "_build" / "stage" / FIG).exists()


@pytest.mark.slow
def test_refresh_writes_notebooks_and_ledger_once(tiny_book, kernels):
    assert f"Refreshed: {FIG}, {PROP}, book/ledger.json." in build("--refresh")
    first = tiny_book.snapshot()
    for name in (FIG, PROP):
        notebook = read_notebook(tiny_book.root / name)
        assert first[name] == serialise(notebook)
        assert all(cell.execution_count for cell in code_cells(notebook))
    derived = json.loads((tiny_book.root / "_build" / "ledger.json").read_text())
    assert derived.pop("build")["profile"] == "defaults"
    assert derived["claims"]["prop-1"].pop("seconds") == 1.0
    assert first["book/ledger.json"] == ledger_text(derived)
    times = {name: (tiny_book.root / name).stat().st_mtime_ns for name in first}
    assert "nothing, everything was up to date" in build("--refresh")
    assert {name: (tiny_book.root / name).stat().st_mtime_ns for name in first} == times


@pytest.mark.slow
def test_a_build_only_says_that_committed_outputs_differ(tiny_book, kernels):
    build("--refresh")
    assert "Committed outputs differ" not in build()
    before = tiny_book.snapshot()
    kernels.text = "5\n"
    shutil.rmtree(tiny_book.root / "_build")
    assert f"Committed outputs differ from this run; `make refresh` renews them: {FIG}" in build()
    assert tiny_book.snapshot() == before
    assert f"Refreshed: {FIG}." in build("--refresh")


@pytest.mark.slow
def test_refresh_ignores_pixels_but_not_plotted_numbers(tiny_book, kernels):
    def refresh(pixels, digest):
        kernels.picture = pixels, digest
        shutil.rmtree(tiny_book.root / "_build", ignore_errors=True)
        build("--refresh")
        return (tiny_book.root / FIG).read_text()

    first = refresh(b"fonts of one machine", "numbers")
    assert refresh(b"fonts of another", "numbers") == first
    assert refresh(b"fonts of another", "other numbers") != first


@pytest.mark.slow
def test_a_page_shows_the_picture_of_the_notebook(tiny_book, kernels):
    kernels.picture = b"pixels", "numbers"
    edit(tiny_book.root / "book/index.md", "# Tiny", "# Tiny\n\n![](_static/figures/fig.png)")
    name = "book/_static/figures/fig.png"
    build()
    assert (tiny_book.root / "_build" / "stage" / name).read_bytes() == b"pixels"
    assert not (tiny_book.root / name).exists()
    assert name in build("--refresh")
    assert (tiny_book.root / name).read_bytes() == b"pixels"
    edit(tiny_book.root / "book/index.md", "figures/fig.png", "figures/gone.png")
    assert "book/index.md shows the figure 'gone', which no notebook displays" in build(code=3)


@pytest.mark.slow
def test_refresh_normalises_what_an_editor_left(tiny_book, kernels):
    build("--refresh")
    clean = tiny_book.snapshot()
    notebook = json.loads(clean[FIG])
    notebook["cells"][1]["metadata"]["execution"] = {"iopub.execute_input": "2024-01-01"}
    tiny_book.write(FIG, json.dumps(notebook))
    assert f"Refreshed: {FIG}." in build("--refresh")
    assert tiny_book.snapshot() == clean


def test_quiet_says_nothing(tiny_book, kernels):
    assert build("--quiet") == ""


def test_off_a_terminal_there_are_no_bars(tiny_book, kernels):
    assert "\x1b" not in build()


def change(book, kind):
    if kind == "two parameters cells":
        edit(
            book.root / FIG,
            '"cell-2",\n   "metadata": {}',
            '"cell-2",\n   "metadata": {"tags": ["parameters"]}',
        )
    elif kind == "no parameters cell":
        edit(book.root / FIG, '"parameters"', '"other"')
    elif kind == "no front paragraph":
        edit(book.root / FIG, "*You need*", "You need")
    elif kind == "loose number":
        edit(book.root / FIG, "a number.", "a number. It is 0.5.")
    elif kind == "unread parameter":
        edit(book.root / FIG, "print(x + 1)", "x = 1; print(x)")
    elif kind == "no seed":
        edit(book.root / PROP, "seed: int", "x: int")
        edit(book.root / PROP, "seed=seed", "seed=x")
    elif kind == "narrow seed":
        edit(book.root / PROP, "[0 ..]", "[0 .. 99]")
    elif kind == "broken agreement":
        book.write("book/agreement.json", "{}}")
    elif kind == "not a notebook":
        book.write(FIG, "{")
    elif kind == "missing page":
        book.toc("notebooks/figures/fig", "notebooks/figures/gone")
    elif kind == "broken toc":
        book.write("_toc.yml", "a: [")
    elif kind == "no registry":
        (book.root / "book" / "claims.yml").unlink()
    elif kind == "claim without notebook":
        book.toc("notebooks/figures/fig")
    elif kind == "notebook without claim":
        book.claims([])
    elif kind == "claim without rule":
        edit(book.root / "book/claims.yml", "kind: decidable", "kind: untestable")
    elif kind == "claim without record":
        text = (book.root / "book/claims.yml").read_text()
        entry = text.split("\n", 1)[1].replace("id: prop-1", "id: prop-2")
        book.write("book/claims.yml", text + entry)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        (
            "two parameters cells",
            f"{FIG}: exactly one code cell must be tagged `parameters`; got 2",
        ),
        ("no parameters cell", f"{FIG}: exactly one code cell must be tagged `parameters`; got 0"),
        ("no front paragraph", f"{FIG}: its first cell must have one paragraph `*In short:*"),
        ("loose number", f"{FIG}: cell 1 (# A page): 0.5: bind each number to the ledger"),
        ("unread parameter", f"{FIG}: parameter x: no cell below reads it, or a cell replaces it"),
        ("no seed", f"{PROP}: a notebook that tests a claim needs a parameter `seed: int`"),
        ("narrow seed", f"{PROP}: seed: must be between 0 and 99; got 4294967295"),
        ("broken agreement", "book/agreement.json: file: Invalid JSON"),
        ("not a notebook", "fig.ipynb: is not a notebook"),
        ("missing page", "_toc.yml names notebooks/figures/gone, but there is no such page"),
        ("broken toc", "_toc.yml is not YAML"),
        ("no registry", "book/claims.yml is missing"),
        ("claim without notebook", f"claim prop-1: {PROP} is not a notebook of the book"),
        ("notebook without claim", f"{PROP}: no claim of book/claims.yml names this notebook"),
        ("claim without rule", "rule: a claim must have one"),
        ("claim without record", f"claim prop-2: {PROP} has no valid record of it"),
    ],
)
def test_what_breaks_the_contract_fails_the_build(tiny_book, kernels, kind, fault):
    change(tiny_book, kind)
    assert fault in build(code=3)


@pytest.mark.parametrize("kind", ["claim without notebook", "notebook without claim"])
def test_a_registry_that_does_not_fit_the_shelf_stops_before_anything_runs(
    tiny_book, kernels, kind
):
    change(tiny_book, kind)
    build(code=3)
    assert kernels.ran == []


def test_outputs_that_break_the_contract_fail_the_build(tiny_book, kernels):
    kernels.text = "saved /home/me/f.png\n"
    said = build(code=3)
    assert f"{FIG}: cell 3 (print(x + 1)) names a local path: /home/me" in said
    assert "unfinished notebook: _build/failed/notebooks/figures/fig.ipynb" in said
    assert states(tiny_book)[FIG] == ("failed", None)


def five_figures(book, tiny_notebook):
    """Give a book five pages with figures, and return their names."""
    pages = [f"notebooks/figures/fig{number}" for number in range(5)]
    for page in pages:
        book.notebook(f"{page}.ipynb", tiny_notebook("print(x + 1)"))
    book.toc(*pages, "notebooks/claims/prop-1", "book/ledger")
    return [f"{page}.ipynb" for page in pages]


TRACEBACK = """cell {0} (plot({0}))
    File ~/speedlib/designs.py:{0}, in design(x)
    ----> {0} raise ValueError
    ValueError: no solver named 'a{0}'"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("failure", "cause"),
    [
        (TRACEBACK, "ValueError: no solver named 'a2'"),
        ("cell {} (plot(x)) wrote to stderr: no font {}", "wrote to stderr: no font 2"),
        ("the kernel python3 did not start: no port {}", "the kernel python3 did not start: no"),
        (
            "cell {0} (f(x))\n    ----> {0} assert ok\n    AssertionError:",
            "AssertionError at assert",
        ),
        ("cell {} (f(x)) took longer than 300 s", "took longer than 300 s"),
    ],
)
def test_the_same_failure_in_three_notebooks_ends_the_build(
    tiny_book, tiny_notebook, kernels, failure, cause
):
    names = five_figures(tiny_book, tiny_notebook)
    kernels.failures = {n: failure.format(i, i) for i, n in enumerate([*names[:1], *names[2:]])}
    said = build(code=3)
    assert kernels.ran == names[:4]
    assert f"speedbook: stopped after the same failure in 3 notebooks: {cause}" in said
    assert "Not run: 2 notebooks." in said
    found = states(tiny_book)
    assert [found[name][0] for name in names] == ["failed", "executed", *["failed"] * 2, "not run"]
    kernels.failures, kernels.ran = {}, []
    assert "5 executed, 1 unchanged" in build()


def test_unlike_failures_end_no_build(tiny_book, tiny_notebook, kernels):
    names = five_figures(tiny_book, tiny_notebook)
    errors = ["ValueError: a", "KeyError: 'a'", "ValueError: b", "TypeError: a", "ValueError: a"]
    kernels.failures = {
        name: f"cell 3 (f(x))\n    ----> 1 f(x)\n    {error}"
        for name, error in zip(names, errors, strict=True)
    }
    said = build(code=3)
    assert kernels.ran == [*names, PROP]
    assert "5 of 6 notebooks failed" in said and "stopped" not in said


def test_nothing_is_said_of_an_end_that_was_no_early_one(tiny_book, tiny_notebook, kernels):
    names = five_figures(tiny_book, tiny_notebook)
    kernels.failures = {name: "the kernel died" for name in [*names[3:], PROP]}
    assert "stopped" not in build(code=3)


def test_an_unwritable_folder_is_named(tiny_book, kernels):
    tiny_book.write("_build", "a file where the folder should be")
    assert "_build: File exists" in build(code=3)


def test_a_full_disk_is_named_and_leaves_no_part(tiny_book, kernels, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device", "somewhere")

    monkeypatch.setattr(os, "replace", full)
    assert "somewhere: No space left on device" in build(code=3)
    assert not list(tiny_book.root.rglob("*.part"))


def test_wrong_usage_is_2(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "no _toc.yml in" in build(code=2)
    build("--jobs", "0", code=2)
    build("--no-such-option", code=2)
    result = CliRunner().invoke(app, ["bild"])
    assert result.exit_code == 2
    assert "No such command 'bild'" in result.output


@pytest.mark.slow
def test_help_loads_nothing_heavy():
    script = (
        "import sys\nfrom speedbook.commands.app import app\ntry:\n    app(['--help'])\n"
        "except SystemExit as stop:\n    assert not stop.code\n"
        "print(*sorted(m for m in sys.modules if '.' not in m), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "Exit codes" in done.stdout
    heavy = {"numpy", "nbformat", "papermill", "pydantic", "yaml", "matplotlib", "sphinx"}
    assert not heavy & set(done.stderr.split())
