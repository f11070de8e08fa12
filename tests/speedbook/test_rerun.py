"""``speedbook rerun`` through its entry point, with real kernels, and what may go wrong."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from nbformat.v4 import new_markdown_cell
from rich.console import Console
from typer.testing import CliRunner

import speedbook.runs
from speedbook.cli import app
from speedbook.execution import ANSI
from speedbook.manifest import read_manifest
from speedbook.notebooks import code_cells, read_notebook
from speedbook.progress import Reporter
from speedbook.results import Results, table_csv
from speedlib.simulation import PROGRESS_FILE

ROOT = Path(__file__).parents[2]
FIG, PROP = "notebooks/figures/fig.ipynb", "notebooks/claims/prop-1.ipynb"
RICH = (
    "import matplotlib.pyplot as plt\nfrom speedbook import figures\n"
    "fig, ax = plt.subplots(figsize=(2, 2)); _ = ax.plot([1, x])\n"
    "figures.show(fig, name='line', alt='A line to <x>.')",
    "import pandas as pd\npd.DataFrame({'a': [x, 2.5]}, index=pd.Index(['u', 'v, w'], name='i'))",
    "from speedbook import record\nrecord('prop-1', x / 3, seed=seed)",
    "print('x is', x)",
)
PROSE = (
    "## Words\n\nA formula $\\bx < 1$, {ledger}`prop-1.estimate`, {quoted}`0.35`, "
    "[](other.ipynb), [a site](https://example.org).\n\n"
    "```{admonition} Why\n:class: dropdown\nBecause **so**.\n```"
)
LEDGER = {"claims": {"prop-1": {"verdict": "supported", "estimate": 1.0, "interval": [1.0, 1.0]}}}


def rerun(*arguments: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["rerun", *map(str, arguments)])
    assert result.exit_code == code, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert "Traceback (most" not in result.output or code == 3
    return str(result.output)


def folders(root: Path, notebook: str = "fig") -> list[Path]:
    """Return what is in the folder of a notebook's runs, hidden folders too."""
    runs = root / "runs" / notebook
    return sorted(runs.iterdir()) if runs.is_dir() else []


def files_of(root: Path) -> dict[Path, bytes]:
    """Return all files but those of runs."""
    files = [path for path in root.rglob("*") if path.is_file()]
    return {path: path.read_bytes() for path in files if "runs" not in path.parts}


@pytest.fixture(scope="module")
def rich_run(tmp_path_factory, make_tiny_book, tiny_notebook):
    """A book and one run of its claim, from the command line; nothing else changed."""
    book = make_tiny_book(tmp_path_factory.mktemp("rich"))
    parameters = "x: int = 3  # a number [1 .. 9]\nseed: int = 7  # of the run [0 ..]"
    notebook = tiny_notebook(*RICH, parameters=parameters)
    notebook.cells.append(new_markdown_cell(PROSE, id="prose"))
    book.notebook(PROP, notebook)
    book.write("book/ledger.json", json.dumps(LEDGER))
    before = files_of(book.root)
    process = start(book.root, "prop-1", "-p", "x=6")
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 1, said
    assert files_of(book.root) == before
    (folder,) = folders(book.root, "prop-1")
    return book, folder, said


def start(folder: Path, *arguments: str, limit: int | None = None) -> subprocess.Popen[str]:
    """Start the command in a process group of its own, to be interrupted as from a terminal."""

    def small_files() -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    return subprocess.Popen(
        [sys.executable, "-m", "speedbook", "rerun", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        preexec_fn=small_files if limit else None,
    )


# A good run


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
        "results/records.json",
        "results/records.csv",
        "results/table-01.csv",
    }
    assert (folder / "figures/line.pdf").read_bytes().startswith(b"%PDF")
    assert (folder / "figures/line.png").read_bytes().startswith(b"\x89PNG")
    table = (folder / "results/table-01.csv").read_text()
    assert table == 'i,a\nu,6.0\n"v, w",2.5\n'
    assert (folder / "results/records.csv").read_text() == (
        "id,verdict,estimate,low,high,replications,seed\nprop-1,contradicted,2.0,2.0,2.0,,7\n"
    )
    assert f"All of it is in {folder}" in said
    assert folder.joinpath("prop-1.html").as_uri() in said


def test_the_executed_notebook_holds_the_new_values_and_no_state_of_tools(rich_run):
    _, folder, _ = rich_run
    text = (folder / "prop-1.ipynb").read_text()
    assert "papermill" not in text and "start_time" not in text
    cells = code_cells(read_notebook(folder / "prop-1.ipynb"))
    assert "x = 6" in cells[1].source
    assert cells[-1].outputs[0].text == "x is 6\n"


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


def test_a_verdict_that_moved_is_told_and_is_1(rich_run):
    _, _, said = rich_run
    assert "Claim prop-1: contradicted, 2; the committed ledger says supported, 1." in said


def test_the_page_needs_nothing_but_itself(rich_run):
    _, folder, _ = rich_run
    page = (folder / "prop-1.html").read_text()
    scripts = re.findall(r"<script\b.*?</script>", page, re.S)
    rest = re.sub(r"<script\b.*?</script>", "", page, flags=re.S)
    assert len(scripts) == 2 and not any(re.match(r"<script[^>]*\bsrc", part) for part in scripts)
    assert not re.search(r"@import|url\(|<link(?! rel=\"icon\" href=\"data:)|<iframe", rest)
    sources = re.findall(r'<img src="([^"]{5})', rest)
    assert sources == ["data:"]
    assert re.findall(r'href="(?!data:)([^"]*)"', rest) == ["https://example.org"]
    for part in (
        "<h1>A page</h1>\n<section",
        "with x = 6.",
        '<tr class="changed"><td><code>x</code></td><td>6 (default 3)</td>',
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


def test_a_repetition_is_identical_and_touches_nothing(there):
    book, folder = there
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    said = rerun("--from", folder / "manifest.json", "--out", "elsewhere")
    assert "The results are identical: 1 record, 1 figure, 1 table." in said
    assert "The circumstances are the same." in said
    assert {path: path.read_bytes() for path in before} == before
    (again,) = (book.root / "elsewhere" / "prop-1").iterdir()
    assert {path.relative_to(again) for path in again.rglob("*")} == {
        path.relative_to(folder) for path in folder.rglob("*")
    }
    first, second = read_manifest(folder), read_manifest(again)
    assert first.results == second.results
    assert first.parameters == second.parameters


def test_a_repetition_in_another_environment_says_so(there):
    book, folder = there
    old = json.loads((folder / "manifest.json").read_text())
    old["environment"]["packages"]["numpy"] = "0.1"
    old["environment"]["python"] = "3.0.1"
    old["environment"]["machine"]["cores"] = 999
    old["environment"]["data"]["data/gone.csv"] = "abc"
    old["environment"]["commit"] = "f" * 40
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


def test_what_a_manifest_says_must_still_fit(there):
    book, folder = there
    old = json.loads((folder / "manifest.json").read_text())

    def refused(*arguments: object, **changes: object) -> str:
        path = book.write("changed.json", json.dumps({**old, **changes}))
        return rerun("--from", path, *arguments, code=2)

    assert "y: the notebook no longer has this parameter" in refused(parameters={"y": 1})
    assert "x: must be between 1 and 9; got 10" in refused(parameters={"x": 10})
    assert "the book has none of this name; nearest: prop-1" in refused(notebook="prop1")
    assert "it goes with no -p" in refused("-p", "x=2")
    assert "the manifest is of notebooks/claims/prop-1.ipynb, not of fig" in refused("fig")
    assert "is not a manifest: format" in refused(format=2)
    assert "No such file" in rerun("--from", "none.json", code=2)
    assert "name a NOTEBOOK" in rerun(code=2)


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


# What may go wrong


@pytest.fixture
def book(tiny_book, tiny_notebook, monkeypatch):
    """A tiny book to work in, whose figure page can be given other cells."""
    monkeypatch.chdir(tiny_book.root)
    tiny_book.cells = lambda *cells: tiny_book.notebook(FIG, tiny_notebook(*cells))
    return tiny_book


def failed(root: Path, ending: str = "-failed") -> Path:
    """Return the one folder there is, which says that its run did not succeed."""
    (folder,) = folders(root)
    assert folder.name.endswith(ending)
    return folder


def test_a_failing_cell_prints_error_and_place_and_keeps_the_partial_notebook(book):
    book.cells("print('before')", "y = x\nraise RuntimeError('on purpose')", "print('after')")
    said = rerun("fig", "-p", "x=2", code=3)
    assert f"{FIG}: cell 5 (y = x)" in said
    assert "RuntimeError: on purpose" in said
    folder = failed(book.root)
    assert f"as far as it came: {folder}" in said
    cells = code_cells(read_notebook(folder / "fig.ipynb"))
    assert cells[2].outputs[0].text == "before\n"
    assert cells[-1].execution_count is None
    assert "RuntimeError: on purpose" in read_manifest(folder).failure
    assert "on purpose" in (folder / "fig.html").read_text()
    assert not list(folder.glob(".*"))


def test_a_hanging_cell_is_stopped(book):
    book.cells("import time; time.sleep(99)")
    said = rerun("fig", "--cell-timeout", 1, code=3)
    assert "cell 3 (import time; time.sleep(99)) took longer than 1 s" in said
    assert failed(book.root).joinpath("fig.ipynb").is_file()


def test_a_missing_kernel_is_named(book, tmp_path, monkeypatch):
    spec = tmp_path / "jupyter" / "kernels" / "python3" / "kernel.json"
    spec.parent.mkdir(parents=True)
    argv = ["/no/such/program", "{connection_file}"]
    spec.write_text(json.dumps({"argv": argv, "display_name": "P", "language": "python"}))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    said = rerun("fig", code=3)
    assert "the kernel python3 did not start" in said
    assert "/no/such/program" in read_manifest(failed(book.root)).failure


def test_50_mb_of_output_are_kept_but_not_shown(book):
    book.cells("for _ in range(50): print('y' * 1_000_000)", "print('the end')")
    rerun("fig", "--quiet")
    (folder,) = folders(book.root)
    assert (folder / "fig.ipynb").stat().st_size > 50_000_000
    page = (folder / "fig.html").read_text()
    assert len(page) < 4_000_000
    assert "more characters are in the notebook" in page
    assert "the end" in page


def test_quiet_says_nothing_and_a_terminal_is_needed_for_bars(book):
    assert rerun("fig", "--quiet") == ""
    said = rerun("fig")
    assert "\x1b" not in said
    assert len(folders(book.root)) == 2


def test_a_folder_that_is_there_is_never_written_to(book, monkeypatch):
    monkeypatch.setattr(speedbook.runs, "_folder_name", lambda *_: "name")
    for x in (1, 2, 3):
        rerun("fig", "-p", f"x={x}")
    found = folders(book.root)
    assert [folder.name for folder in found] == ["name", "name-2", "name-3"]
    assert [read_manifest(folder).parameters["x"] for folder in found] == [1, 2, 3]


def test_progress_is_told_cell_by_cell(book, monkeypatch):
    told = []

    @contextmanager
    def steps(_, title, total):
        yield lambda place, step: told.append((total, place, step))

    monkeypatch.setattr(Reporter, "steps", steps)
    book.cells(*["import time; time.sleep(0.7)"] * 3)
    rerun("fig", "-p", "x=2")
    # The title, the parameters, the values given, and three more.
    assert {(6, place, f"cell {place + 1}") for place in (3, 4, 5)} <= set(told)
    assert told == sorted(told)


def test_a_terminal_shows_a_bar():
    reporter = Reporter()
    reporter.console = Console(file=io.StringIO(), force_terminal=True, width=90)
    with reporter.steps("Running it", 4) as at:
        at(2, "cell 3")
    shown = ANSI.sub("", reporter.console.file.getvalue())
    assert re.search("Running it.* 2/4 .*cell 3", shown)


def test_two_runs_at_once_do_not_meet(book):
    processes = [start(book.root, "fig", "-p", "x=5") for _ in range(2)]
    for process in processes:
        said, _ = process.communicate(timeout=300)
        assert process.returncode == 0, said
    found = folders(book.root)
    assert len(found) == 2
    for folder in found:
        assert read_manifest(folder).parameters == {"x": 5}
        assert (folder / "fig.html").is_file()


def test_a_full_disk_while_the_results_are_written_is_named(book, monkeypatch):
    def full(path, content):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(speedbook.runs, "write_atomically", full)
    said = rerun("fig", code=3)
    assert "fig.ipynb: No space left on device" in said
    assert "+ 1" in failed(book.root).joinpath("fig.ipynb").read_text()


@pytest.mark.skipif(os.name == "nt", reason="limits of processes")
@pytest.mark.parametrize("size", [20_000, 400_000])
def test_a_file_that_cannot_grow_is_named(book, size):
    # The first limit stops the notebook, the second the page.
    book.cells("print('y' * 30_000)" if size == 20_000 else "print(1)")
    process = start(book.root, "fig", limit=size)
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 3, said
    assert "File too large" in said
    assert "Traceback" not in said
    assert all(folder.name.endswith("-failed") for folder in folders(book.root))


def test_an_unwritable_place_is_named_before_anything_runs(book, monkeypatch):
    book.write("file", "")
    monkeypatch.setattr(speedbook.runs, "execute_all", None)
    assert "file" in (said := rerun("fig", "--out", "file", code=3))
    assert "Not a directory" in said or "File exists" in said


@pytest.mark.skipif(os.name == "nt", reason="permissions")
def test_a_read_only_folder_is_named_before_anything_runs(book, monkeypatch):
    monkeypatch.setattr(speedbook.runs, "execute_all", None)
    folder = book.root / "locked"
    folder.mkdir()
    folder.chmod(0o500)
    # Not even root may write there.
    place = folder if os.geteuid() else Path("/proc/1")
    said = rerun("fig", "--out", place / "runs", code=3)
    assert str(place) in said
    assert re.search("Permission denied|No such file|not permitted", said)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until(condition, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    return bool(condition())


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize(("kill", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_a_killed_run_leaves_no_kernel_and_no_folder_that_looks_whole(book, kill, code):
    pids = book.root / "pids"
    book.cells(
        "print('before')",
        "import os, time; open('../../pids', 'w').write(f'{os.getpid()} {os.getppid()}\\n')\n"
        "time.sleep(99)",
    )
    process = start(book.root, "fig")
    assert wait_until(lambda: pids.is_file() and pids.read_text().endswith("\n"), 120)
    kernel, worker = map(int, pids.read_text().split())
    assert alive(kernel) and alive(worker)
    if kill == signal.SIGINT:
        os.killpg(process.pid, kill)
    else:
        process.send_signal(kill)
    said, _ = process.communicate(timeout=120)
    assert process.returncode == code
    assert wait_until(lambda: not alive(kernel) and not alive(worker), 15)
    assert "Traceback" not in said
    if kill == signal.SIGINT:
        assert "Interrupted" in said
        assert "before" in failed(book.root, "-interrupted").joinpath("fig.ipynb").read_text()
    else:
        hidden = failed(book.root, "-unfinished")
        assert hidden.name.startswith(".")
    # The next run is none the worse for it.
    book.cells("print(x)")
    rerun("fig")
    assert len([path for path in folders(book.root) if (path / "manifest.json").is_file()]) == 1


# Before anything runs


def test_a_notebook_that_breaks_the_contract_does_not_run(book, tiny_notebook):
    book.notebook(FIG, tiny_notebook("print(1)", parameters="x = 3"))
    said = rerun("fig", code=2)
    assert f"{FIG}: cell 2 (x = 3): line 1 must read `name: type = value  # help`" in said
    assert folders(book.root) == []


def test_all_is_checked_before_anything_runs(book, monkeypatch):
    monkeypatch.setattr(speedbook.runs, "execute_all", None)
    said = rerun("fig", "-p", "x=10", code=2)
    assert said == "speedbook: x: must be between 1 and 9; got 10\n"
    assert "nearest: x" in rerun("fig", "-p", "xx=1", code=2)
    assert "nearest: fig" in rerun("figs", code=2)
    assert "paper.yml: No such file" in rerun("fig", "--paper", code=2)
    rerun("fig", "--cell-timeout", 0, code=2)
    assert not (book.root / "runs").exists()


def test_outside_the_book_it_says_where_to_go(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "no _toc.yml in" in rerun("fig", code=2)
    assert "no _toc.yml in" in rerun("fig", "--help", code=2)
    assert "--from MANIFEST" in rerun("--help")


def test_help_shows_the_parameters_of_the_notebook(book):
    said = rerun("fig", "--help")
    assert "-p NAME=VALUE" in said
    assert f"Parameters of {FIG}" in said
    assert re.search(r"x +int +3 +a number; between 1 and 9", said)
    assert "the book has none of this name" in rerun("gif", "--help", code=2)


def test_help_of_a_notebook_loads_nothing_heavy():
    script = (
        "import sys\nfrom speedbook.cli import app\ntry:\n"
        "    app(['rerun', 'fig1a-unit-ball', '--help'])\n"
        "except SystemExit as stop:\n    assert not stop.code\n"
        "print(*sorted(m for m in sys.modules if '.' not in m), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "high_variance" in done.stdout
    heavy = {"numpy", "nbformat", "papermill", "yaml", "matplotlib", "sphinx", "pandas"}
    assert not heavy & set(done.stderr.split())


def test_the_command_that_pages_show_is_understood(monkeypatch):
    import shlex

    import speedbook.rerun
    from speedbook.pages import rerun_command
    from speedbook.shelf import notebook_names, shelf_parameters

    asked = []

    def no_run(request, out, reporter):
        asked.append(request)
        raise speedbook.rerun.RunFailed("not here")

    monkeypatch.setattr(speedbook.rerun, "run", no_run)
    monkeypatch.chdir(ROOT)
    names = notebook_names(ROOT)
    for name in names:
        command = shlex.split(rerun_command(name, shelf_parameters(ROOT, name)))
        assert command[:2] == [".venv/bin/speedbook", "rerun"]
        rerun(*command[2:], code=3)
    assert [request.name for request in asked] == names
    assert all(request.changed for request in asked)


def test_a_step_tells_the_cell_and_how_far_its_simulation_is(tmp_path):
    cell, simulation = tmp_path / "cell", tmp_path / "simulation"
    assert speedbook.runs.PROGRESS_FILE == PROGRESS_FILE
    assert speedbook.runs._step(cell, simulation) is None
    cell.write_text("4")
    assert speedbook.runs._step(cell, simulation) == (4, "cell 5")
    simulation.write_text("12/48")
    assert speedbook.runs._step(cell, simulation) == (4, "cell 5, 25% simulated")
    simulation.write_text("12/")
    assert speedbook.runs._step(cell, simulation) == (4, "cell 5")
