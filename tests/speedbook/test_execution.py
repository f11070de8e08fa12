"""Running notebooks: one kernel each, failures that name cell and cause."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from speedbook.notebook.files import code_cells, read_notebook, write_notebook
from speedbook.run.execution import Finished, Job, execute, execute_all, kernel_environment

from .helpers import ROOT

pytestmark = pytest.mark.slow


@pytest.fixture
def run(tmp_path, tiny_notebook, monkeypatch):
    """Run a tiny notebook with real kernels, in this process."""
    for name, value in kernel_environment(ROOT, tmp_path / "figures").items():
        if value:
            monkeypatch.setenv(name, value)
        else:
            monkeypatch.delenv(name, raising=False)

    def runner(*cells: str, timeout: int = 60, figures: Path | None = None) -> Finished:
        source, output = tmp_path / "with {braces}" / "n.ipynb", tmp_path / "out {0}" / "n.ipynb"
        source.parent.mkdir(exist_ok=True)
        write_notebook(source, tiny_notebook(*cells))
        progress = tmp_path / "progress"
        return execute(Job("n.ipynb", source, output, timeout, progress=progress, figures=figures))

    return runner


def test_a_notebook_runs_in_its_own_folder_and_finds_the_packages(run):
    end = run(
        "import os, speedbook; print(os.path.basename(os.getcwd()), x)",
        "print(open('../progress').read())",
    )
    assert end.failure == ""
    cells = code_cells(read_notebook(end.job.output))
    assert cells[1].outputs[0].text == "with {braces} 3\n"
    assert cells[2].outputs[0].text == "3\n", "the file tells which cell runs, counted from 0"
    assert not code_cells(read_notebook(end.job.source))[1].outputs


@pytest.mark.parametrize("own", ["own folder", None])
def test_a_run_may_have_a_folder_of_its_own_for_figures(own, run, tmp_path):
    folder = own and tmp_path / own
    end = run("import os; print(os.environ['SPEEDBOOK_FIGURES_DIR'])", figures=folder)
    printed = code_cells(read_notebook(end.job.output))[1].outputs[0].text
    assert Path(printed.strip()) == (folder or tmp_path / "figures")


def test_a_raising_cell_is_named_with_the_last_lines_of_the_error(run):
    end = run("def f():\n    raise ValueError('no good')", "y = 1\nf()", "print('later')")
    assert end.failure.startswith("cell 4 (y = 1)\n")
    assert end.failure.endswith("ValueError: no good")
    assert "\x1b" not in end.failure
    assert len(end.failure.splitlines()) <= 9
    partial = read_notebook(end.job.output)
    assert code_cells(partial)[-1].execution_count is None


def test_an_unknown_magic_is_named(run):
    """IPython tells of it on stderr alone."""
    end = run("%no_such_magic 3", "print('later')")
    assert end.failure.startswith("cell 3 (%no_such_magic 3)\n")
    assert "`%no_such_magic` not found" in end.failure


def test_a_cell_that_hangs_is_stopped_and_named(run):
    end = run("import time; time.sleep(60)", timeout=1)
    assert end.failure == "cell 3 (import time; time.sleep(60)) took longer than 1 s"


def test_a_dying_kernel_is_named(run):
    end = run("import os; os._exit(1)")
    assert end.failure.startswith("cell 3 (import os; os._exit(1)): the kernel died")


def kernel_spec(folder: Path, monkeypatch: pytest.MonkeyPatch, *argv: str) -> None:
    spec = folder / "kernels" / "python3" / "kernel.json"
    spec.parent.mkdir(parents=True)
    spec.write_text(json.dumps({"argv": argv, "display_name": "P", "language": "python"}))
    monkeypatch.setenv("JUPYTER_PATH", str(folder))


def test_a_missing_kernel_is_named(run, tmp_path, monkeypatch):
    kernel_spec(tmp_path / "jupyter", monkeypatch, "/no/such/program", "{connection_file}")
    end = run("print(1)")
    assert end.failure.startswith("the kernel python3 did not start")
    assert "/no/such/program" in end.failure


STARTER = """
import pathlib, sys
tries = pathlib.Path(sys.argv[1])
count = len(tries.read_text()) if tries.exists() else 0
tries.write_text("x" * (count + 1))
if count < int(sys.argv[2]):
    sys.exit("this port is taken")
from ipykernel.kernelapp import launch_new_instance
launch_new_instance(argv=["-f", sys.argv[3]])
"""


@pytest.mark.parametrize(("bad_starts", "tries"), [(1, 2), (99, 3)])
def test_only_the_start_of_a_kernel_is_repeated(
    run, tmp_path, monkeypatch, capfd, bad_starts, tries
):
    program, log = tmp_path / "starter.py", tmp_path / "tries"
    program.write_text(STARTER)
    argv = [sys.executable, str(program), str(log), str(bad_starts), "{connection_file}"]
    kernel_spec(tmp_path / "jupyter", monkeypatch, *argv)
    end = run("1 / 0")
    # A run that failed is not repeated: the good start is the last.
    assert log.read_text() == "x" * tries
    expected = "cell 3 (1 / 0)" if tries == 2 else "the kernel python3 did not start"
    assert end.failure.startswith(expected)
    # Words of a failed start are told if the last one fails, and never on the terminal.
    assert ("this port is taken" in end.failure) == (tries == 3)
    assert "port" not in "".join(capfd.readouterr())


def test_a_killed_worker_fails_its_notebooks_and_no_more(tmp_path, monkeypatch, tiny_notebook):
    source = tmp_path / "n.ipynb"
    write_notebook(
        source, tiny_notebook("import os, signal; os.kill(os.getppid(), signal.SIGKILL)")
    )
    environment = kernel_environment(ROOT, tmp_path / "figures")
    (end,) = execute_all([Job("n.ipynb", source, tmp_path / "out.ipynb")], 1, environment)
    assert end.failure == "the process that ran it was killed"


def test_kernels_compute_on_one_thread_unless_told_otherwise(tmp_path, monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    environment = kernel_environment(ROOT, tmp_path)
    assert environment["OMP_NUM_THREADS"] == "1"
    assert environment["OPENBLAS_NUM_THREADS"] == "3"
