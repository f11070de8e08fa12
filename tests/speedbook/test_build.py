"""The press: refresh, staging and pressing of a tiny book.

Most tests put a quick stand-in in the place of the kernels; those of real kernels and of Jupyter
Book share one book that was built once.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from nbformat.v4 import new_output
from typer.testing import CliRunner

import speedbook.build
import speedbook.cache
import speedbook.press
from speedbook.cli import app
from speedbook.execution import Finished
from speedbook.ledger import ledger_text
from speedbook.notebooks import code_cells, read_notebook, serialise, write_notebook

from .helpers import FIG, PROP, ROOT, alive, edit, wait_until

# Building, with a stand-in for the kernels


class Kernels:
    """Gives every notebook the outputs it would have, and says which it ran."""

    def __init__(self, executed: Path) -> None:
        self.executed = executed
        self.ran: list[str] = []
        self.text = ""
        self.picture: tuple[bytes, str] | None = None

    def __call__(self, jobs, workers, environment):
        for job in jobs:
            self.ran.append(job.name)
            notebook = read_notebook(self.executed / job.name)
            for cell, new in zip(
                code_cells(notebook), code_cells(read_notebook(job.source)), strict=True
            ):
                cell.source = new.source
            if self.text and job.name == FIG:
                code_cells(notebook)[1].outputs[0].text = self.text
            if self.picture and job.name == FIG:
                pixels, digest = self.picture
                note = {"figure": {"name": "fig", "digest": digest}}
                picture = new_output(
                    "display_data",
                    {"image/png": base64.b64encode(pixels).decode()},
                    metadata={"speedbook": note},
                )
                code_cells(notebook)[1].outputs = [picture]
            write_notebook(job.output, notebook)
            yield Finished(job, 1.0)


@pytest.fixture
def kernels(tiny_book, built_book, monkeypatch):
    kernels = Kernels(built_book / "_build" / "executed")
    monkeypatch.setattr(speedbook.build, "execute_all", kernels)
    page = tiny_book.root / "_build" / "html" / "index.html"
    monkeypatch.setattr(speedbook.build, "press", lambda *_: page)
    monkeypatch.chdir(tiny_book.root)
    return kernels


def build(*arguments, code=0):
    result = CliRunner().invoke(app, ["build", *arguments])
    assert result.exit_code == code, result.output
    return " ".join(result.output.split())


def states(book):
    status = json.loads((book.root / "_build" / "status.json").read_text())
    return {row["notebook"]: (row["state"], row["seconds"]) for row in status["notebooks"]}


def test_a_second_build_executes_nothing(tiny_book, kernels):
    before = tiny_book.snapshot()
    assert "2 executed, 0 unchanged" in build()
    assert states(tiny_book) == {FIG: ("executed", 1.0), PROP: ("executed", 1.0)}
    assert "0 executed, 2 unchanged" in build()
    assert states(tiny_book) == {FIG: ("cached", 1.0), PROP: ("cached", 1.0)}
    assert kernels.ran == [FIG, PROP]
    assert tiny_book.snapshot() == before


def test_one_changed_line_of_speedlib_executes_all_again(tiny_book, kernels):
    build()
    edit(tiny_book.root / "speedlib/__init__.py", "ANSWER = 1", "ANSWER = 2")
    build()
    assert kernels.ran == [FIG, PROP, FIG, PROP]
    edit(tiny_book.root / "speedlib/__init__.py", "ANSWER = 2", "ANSWER = 1")
    build()
    assert kernels.ran == [FIG, PROP, FIG, PROP], "going back costs nothing"


def test_only_the_changed_notebook_is_executed_and_prose_is_not_code(tiny_book, kernels):
    build()
    edit(tiny_book.root / FIG, "x + 1", "x + 2")
    edit(tiny_book.root / PROP, "# A page", "# Another title")
    build()
    assert kernels.ran == [FIG, PROP, FIG]
    executed = read_notebook(tiny_book.root / "_build" / "executed" / PROP)
    assert executed.cells[0].source.startswith("# Another title\n")
    assert executed.cells[2].outputs


def test_a_removed_notebook_leaves_no_copy(tiny_book, kernels):
    build()
    tiny_book.toc("notebooks/claims/prop-1", "book/ledger")
    build()
    assert not (tiny_book.root / "_build" / "executed" / FIG).exists()
    assert not (tiny_book.root / "_build" / "stage" / FIG).exists()


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
    assert "nothing, all was up to date" in build("--refresh")
    assert {name: (tiny_book.root / name).stat().st_mtime_ns for name in first} == times


def test_a_build_only_says_that_committed_outputs_differ(tiny_book, kernels):
    build("--refresh")
    assert "Committed outputs differ" not in build()
    before = tiny_book.snapshot()
    kernels.text = "5\n"
    shutil.rmtree(tiny_book.root / "_build")
    assert f"Committed outputs differ from this run; `make refresh` renews them: {FIG}" in build()
    assert tiny_book.snapshot() == before
    assert f"Refreshed: {FIG}." in build("--refresh")


def test_refresh_ignores_pixels_but_not_plotted_numbers(tiny_book, kernels):
    def refresh(pixels, digest):
        kernels.picture = pixels, digest
        shutil.rmtree(tiny_book.root / "_build", ignore_errors=True)
        build("--refresh")
        return (tiny_book.root / FIG).read_text()

    first = refresh(b"fonts of one machine", "numbers")
    assert refresh(b"fonts of another", "numbers") == first
    assert refresh(b"fonts of another", "other numbers") != first


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


@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        (
            "two parameters cells",
            f"{FIG}: exactly one code cell must be tagged `parameters`; got 2",
        ),
        ("no parameters cell", f"{FIG}: exactly one code cell must be tagged `parameters`; got 0"),
        ("no front paragraph", f"{FIG}: its first cell must have one paragraph `*You will see*"),
        ("loose number", f"{FIG}: cell 1 (# A page): 0.5: bind each number to the ledger"),
        ("unread parameter", f"{FIG}: parameter x: no cell below reads it, or one replaces it"),
        ("no seed", f"{PROP}: a notebook that tests a claim needs a parameter `seed: int`"),
        ("narrow seed", f"{PROP}: seed: must be between 0 and 99; got 4294967295"),
        ("broken agreement", "book/agreement.json: file: Invalid JSON"),
        ("not a notebook", "fig.ipynb: is not a notebook"),
        ("missing page", "_toc.yml names notebooks/figures/gone, and there is no such page"),
        ("broken toc", "_toc.yml is not YAML"),
        ("no registry", "book/claims.yml is missing"),
        ("claim without notebook", f"claim prop-1: {PROP} is not a notebook of the book"),
        ("notebook without claim", f"{PROP}: no claim of book/claims.yml names this notebook"),
        ("claim without rule", "every claim has a rule"),
        ("claim without record", f"claim prop-2: {PROP} holds no valid record of it"),
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
    assert "as far as it came: _build/failed/notebooks/figures/fig.ipynb" in said
    assert states(tiny_book)[FIG] == ("failed", None)


def test_an_unwritable_folder_is_named(tiny_book, kernels):
    tiny_book.write("_build", "a file where the folder should be")
    assert "_build: File exists" in build(code=3)


def test_a_full_disk_is_named_and_leaves_no_part(tiny_book, kernels, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device", "somewhere")

    monkeypatch.setattr(os, "replace", full)
    assert "somewhere: No space left on device" in build(code=3)
    assert not list(tiny_book.root.rglob("*.part"))


def test_an_interrupt_is_130(kernels, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(speedbook.build, "press", interrupt)
    assert "Interrupted" in build(code=130)


def test_wrong_usage_is_2(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "no _toc.yml in" in build(code=2)
    build("--jobs", "0", code=2)
    build("--no-such-option", code=2)
    result = CliRunner().invoke(app, ["bild"])
    assert result.exit_code == 2
    assert "No such command 'bild'" in result.output


def test_help_loads_nothing_heavy():
    script = (
        "import sys\nfrom speedbook.cli import app\ntry:\n    app(['--help'])\n"
        "except SystemExit as stop:\n    assert not stop.code\n"
        "print(*sorted(m for m in sys.modules if '.' not in m), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "Exit codes" in done.stdout
    heavy = {"numpy", "nbformat", "papermill", "pydantic", "yaml", "matplotlib", "sphinx"}
    assert not heavy & set(done.stderr.split())


# The whole path, with kernels and Jupyter Book


def run_cli(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    return subprocess.Popen(
        [sys.executable, "-m", "speedbook", "build", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        # A process group of its own, to be interrupted as from a terminal.
        start_new_session=True,
    )


@pytest.fixture(scope="module")
def built_book(tmp_path_factory, make_tiny_book):
    """A book built once; tests that change it copy it."""
    book = make_tiny_book(tmp_path_factory.mktemp("built"))
    before = book.snapshot()
    process = run_cli(book.root)
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 0, output
    assert book.snapshot() == before
    assert "_build/html/index.html" in output
    return book.root


@pytest.fixture
def copy_of_built(built_book, tmp_path):
    copy = tmp_path / "copy of the book"
    shutil.copytree(built_book, copy)
    return copy


def test_the_whole_path(built_book):
    below = built_book / "_build"
    assert not list(below.rglob("*.part"))
    assert not (below / "running").exists()
    row = json.loads((below / "ledger.json").read_text())["claims"]["prop-1"]
    assert (row["estimate"], row["interval"], row["seed"]) == (1.001, [0.99, 1.01], 3)
    pages = {
        name: (below / "html" / f"{name}.html").read_text()
        for name in (
            "book/index",
            "book/ledger",
            "notebooks/claims/prop-1",
            "notebooks/figures/fig",
        )
    }
    badge = pages["book/index"].split("It is 1.001: ")[1].split("</p>")[0]
    for part in ('"verdict verdict-supported"', 'href="ledger.html#claim-prop-1"', "✓ supported"):
        assert part in badge
    table = re.search(r'<table class="ledger-table.*?</table>', pages["book/ledger"], re.S)[0]
    for part in (
        'id="claim-prop-1"',
        'href="../notebooks/claims/prop-1.html#card-prop-1"',
        '<span class="verdict verdict-supported">✓ supported</span>',
        ">[0.990, 1.010]<",
        "equal to 1 ± 0.1",
    ):
        assert part in table
    facts = re.search(r'<p class="ledger-build">.*?</p>', pages["book/ledger"], re.S)[0]
    assert "at its defaults: no git; Python 3." in facts
    assert re.search(r"seed 3, \d+ seconds?<", table)
    assert 'class="claim-card verdict-supported"' in pages["notebooks/claims/prop-1"]
    assert ">4\n" in pages["notebooks/figures/fig"]


def test_a_page_begins_with_its_box_and_hides_the_parameters_cell(built_book):
    html = built_book / "_build" / "html"
    page = (html / "notebooks/claims/prop-1.html").read_text()
    box = re.search(r'<div class="sb-front .*?</details>', page, re.S)[0]
    text = " ".join(re.sub("<[^>]+>", " ", re.sub("</?span[^>]*>", "", box)).split())
    for part in (
        "You will see a number. You need nothing. Verdicts ✓ supported The tiny claim Time",
        " to read; it ran in ",
        ".venv/bin/speedbook rerun prop-1 -p seed=6",
        "1 parameter: ",
        "Parameter Default Meaning seed int 3 of the run at least 0",
    ):
        assert part in text
    assert 'href="../../book/ledger.html#claim-prop-1"' in box
    assert "# of the run [0 ..]" not in page
    source = read_notebook(html / "_sources/notebooks/claims/prop-1.ipynb")
    assert code_cells(source)[0].source == "seed: int = 3  # of the run [0 ..]"
    assert source.cells[0].source.endswith("*You need* nothing.")


def built_again(root, monkeypatch, code):
    monkeypatch.chdir(root)
    return build(code=code)


def test_a_warning_fails_the_press_each_time_and_keeps_the_old_book(copy_of_built, monkeypatch):
    old = (copy_of_built / "_build/html/book/index.html").read_text()
    edit(copy_of_built / "book/index.md", "prop-1.estimate", "prop-1.estimat")
    for _ in range(2):
        said = built_again(copy_of_built, monkeypatch, 3)
        assert "no 'estimat' in the ledger" in said
        assert "index.md:3" in said
        assert (copy_of_built / "_build/html/book/index.html").read_text() == old


def test_pages_follow_the_ledger_and_an_unchanged_book_is_not_pressed(copy_of_built, monkeypatch):
    monkeypatch.chdir(copy_of_built)
    page = copy_of_built / "_build/html/book/index.html"
    notebook = (copy_of_built / PROP).read_text()
    edit(copy_of_built / PROP, "1.001", "1.203")
    edit(copy_of_built / PROP, "(0.99, 1.01)", "(1.2, 1.21)")
    build()
    assert "It is 1.203" in page.read_text()
    assert "✗ contradicted" in page.read_text()
    # Sphinx knew nothing of the copied folder. Now it does, and could overlook the ledger.
    (copy_of_built / PROP).write_text(notebook)
    build()
    assert "It is 1.001" in page.read_text()

    def pressed(*_):
        raise AssertionError("pressed again")

    monkeypatch.setattr(speedbook.press, "_run", pressed)
    build()


def test_a_changed_style_is_on_every_page(copy_of_built, monkeypatch):
    monkeypatch.chdir(copy_of_built)
    page = copy_of_built / "_build/html/book/index.html"
    links = []
    # Sphinx knows nothing of the copied folder, and presses all of it the first time.
    for old, new in (("black", "red"), ("red", "blue")):
        edit(copy_of_built / "book/_static/style.css", old, new)
        build()
        assert new in (copy_of_built / "_build/html/_static/style.css").read_text()
        links += re.findall(r"style\.css\?[^\s\"]+", page.read_text())
    assert len(set(links)) == 2, "a reader's browser would keep the old style"


def test_a_raising_notebook_names_itself_and_keeps_what_it_did(copy_of_built, monkeypatch):
    edit(copy_of_built / FIG, "print(x + 1)", "y = x; raise RuntimeError('on purpose')")
    said = built_again(copy_of_built, monkeypatch, 3)
    assert f"{FIG}: cell 3 (y = x; raise RuntimeError('on purpose'))" in said
    assert "RuntimeError: on purpose" in said
    assert f"1 of 2 notebooks failed: {FIG}" in said
    partial = copy_of_built / "_build" / "failed" / FIG
    assert "on purpose" in partial.read_text()


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize(
    ("kill", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -9)]
)
def test_an_interrupt_stops_kernels_and_leaves_nothing_half_written(copy_of_built, kill, code):
    hang = "import os, time; open('../../pids', 'w').write(f'{os.getpid()} {os.getppid()}\\\\n'); "
    edit(copy_of_built / FIG, "print(x + 1)", hang + "time.sleep(99 + x)")
    # The other notebook ends soon, and leaves an idle worker.
    edit(copy_of_built / PROP, "1.001", "1.002")
    committed = {p: p.read_bytes() for p in copy_of_built.glob("[bn]*/**/*") if p.is_file()}
    pids = copy_of_built / "pids"
    process = run_cli(copy_of_built)
    assert wait_until(lambda: pids.is_file() and pids.read_text().endswith("\n"), 120)
    assert wait_until(
        lambda: len(list((copy_of_built / "_build/cache" / PROP).iterdir())) == 2, 120
    )
    kernel, worker = map(int, pids.read_text().split())
    assert alive(kernel) and alive(worker)
    if kill == signal.SIGINT:
        os.killpg(process.pid, kill)
    else:  # only the program itself
        process.send_signal(kill)
    output, _ = process.communicate(timeout=120)
    assert process.returncode == code
    assert wait_until(lambda: not alive(kernel) and not alive(worker), 15)
    assert not list(copy_of_built.rglob("*.part"))
    assert {path: path.read_bytes() for path in committed} == committed
    if code == 130:
        assert "Traceback" not in output
        assert not (copy_of_built / "_build" / "running").exists()
