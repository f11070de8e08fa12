"""What kernels find around them: nothing of the user's, and a place of their own to write."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from nbformat.v4 import new_output

from speedbook.notebook.files import code_cells, read_notebook, write_notebook
from speedbook.run import kernels
from speedbook.run.cache import shared_key
from speedbook.run.execution import Job, execute_all, kernel_environment

from .helpers import ROOT, SPEEDBOOK

#: Places for settings of the user, what a notebook would show of one, and what it has to show. The
#: last two go before the file at home, and the last before all others.
SETTINGS = {
    "IPython startup file": ("import pandas; pandas.get_option('display.precision')", "6"),
    "matplotlibrc at home": ("import matplotlib; matplotlib.rcParams['text.usetex']", "False"),
    "MPLBACKEND": ("matplotlib.get_backend()", "'module://matplotlib_inline.backend_inline'"),
    "PYTHONSTARTUP": ("'started' in globals()", "False"),
    "PYTHONOPTIMIZE": ("__debug__", "True"),
    "JUPYTER_PATH": ("import os; 'OTHER_KERNEL' in os.environ", "False"),
    "COLUMNS": ("import shutil; shutil.get_terminal_size().columns", "80"),
    "MATPLOTLIBRC": ("import matplotlib; matplotlib.rcParams['lines.linewidth']", "1.5"),
    "matplotlibrc here": ("import matplotlib; matplotlib.rcParams['font.size']", "10.0"),
}


def users_settings(home: Path) -> dict[str, str]:
    """Put settings into a home folder; return the variables that name more of them."""
    files = {
        ".ipython/profile_default/startup/00.py": "import pandas\n"
        "pandas.options.display.precision = 2",
        ".config/matplotlib/matplotlibrc": "text.usetex: True",
        "other/matplotlibrc": "lines.linewidth: 7",
        "start.py": "started = True",
        "jupyter/kernels/python3/kernel.json": json.dumps(
            {
                "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
                "display_name": "Another",
                "language": "python",
                "env": {"OTHER_KERNEL": "1"},
            }
        ),
    }
    for name, text in files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    return {
        "HOME": str(home),
        "MPLBACKEND": "svg",
        "PYTHONSTARTUP": str(home / "start.py"),
        "PYTHONOPTIMIZE": "1",
        "JUPYTER_PATH": str(home / "jupyter"),
        "COLUMNS": "40",
    }


@pytest.fixture(scope="module")
def shown(tmp_path_factory, tiny_notebook):
    """What notebooks show of each setting, where it is the first of its kind."""
    folder = tmp_path_factory.mktemp("settings")
    groups = list(SETTINGS)[:-2], ["MATPLOTLIBRC"], ["matplotlibrc here"]
    jobs = []
    for place, names in enumerate(groups):
        source = folder / "book" / str(place) / "n.ipynb"
        write_notebook(source, tiny_notebook(*(SETTINGS[n][0].replace("; ", "\n") for n in names)))
        jobs.append(Job(str(place), source, folder / f"{place}.ipynb"))
    (jobs[2].source.parent / "matplotlibrc").write_text("font.size: 33")
    home, ends = folder / "home", []
    with pytest.MonkeyPatch.context() as patch:
        for name, value in users_settings(home).items():
            patch.setenv(name, value)
        for name in ("IPYTHONDIR", "MPLCONFIGDIR", "MATPLOTLIBRC", "XDG_CONFIG_HOME", "LINES"):
            patch.delenv(name, raising=False)
        for some in (jobs[:1], jobs[1:]):
            ends += execute_all(some, 2, kernel_environment(folder / "book", folder / "figures"))
            patch.setenv("MATPLOTLIBRC", str(home / "other" / "matplotlibrc"))
    assert [end.failure for end in ends if end.failure] == []
    return {
        name: cell.outputs
        for job, names in zip(jobs, groups, strict=True)
        for name, cell in zip(names, code_cells(read_notebook(job.output))[1:], strict=True)
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_of_the_user_changes_no_output(shown, name):
    (output,) = shown[name]
    assert output.data["text/plain"] == SETTINGS[name][1]


@pytest.mark.slow
def test_a_home_that_cannot_be_written_is_not_told_in_a_notebook(
    tmp_path, monkeypatch, tiny_notebook
):
    """Nobody can make a folder below a file, not even root."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HOME", str(tmp_path / "file" / "home"))
    for name in ("IPYTHONDIR", "MPLCONFIGDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    source = tmp_path / "book" / "n.ipynb"
    write_notebook(source, tiny_notebook("import matplotlib.pyplot as plt\nprint(x)"))
    environment = kernel_environment(tmp_path / "book", tmp_path / "figures")
    (end,) = execute_all([Job("n", source, tmp_path / "out.ipynb")], 1, environment)
    assert end.failure == ""
    (output,) = code_cells(read_notebook(end.job.output))[1].outputs
    assert (output.name, output.text) == ("stdout", "3\n")


@pytest.mark.slow
def test_notebooks_are_compared_without_the_users_settings_and_saved_ones_are_named(
    tmp_path, tiny_notebook
):
    book, home = tmp_path / "book", tmp_path / "home"
    for name, source in (("good", "'pandas' in globals()"), ("saved", "x")):
        notebook = tiny_notebook(source)
        for count, cell in enumerate(code_cells(notebook), start=1):
            cell.execution_count = count
        code_cells(notebook)[1].outputs = [
            new_output("execute_result", {"text/plain": "False"}, execution_count=2)
        ]
        write_notebook(book / f"{name}.ipynb", notebook)
    saved = book / "saved.ipynb"
    saved.write_text(saved.read_text().replace('": "', '":"'))
    shutil.copy(ROOT / "conftest.py", book)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--nbval", "-p", "no:cacheprovider"],
        cwd=book,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | users_settings(home),
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout + done.stderr
    assert "1 failed, 3 passed" in said, said
    assert "\nsaved.ipynb: the file differs from what `make refresh` writes" in said
    assert "\ngood.ipynb" not in said.rpartition("notebooks that differ")[2]


#: Runs a program as somebody whom no list of users knows: reads everything, and writes nothing.
NOBODY = (
    *("setpriv", "--reuid=54321", "--regid=54321", "--clear-groups"),
    *("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"),
)


def unprivileged() -> tuple[str, ...]:
    """Return what to put before a program so that permissions bind it, or skip the test."""
    if not hasattr(os, "geteuid"):
        pytest.skip("needs the permissions of Unix")
    if os.geteuid() != 0:
        return ()
    if not shutil.which("setpriv"):
        pytest.skip("root can become nobody in particular only with setpriv")
    if subprocess.run([*NOBODY, sys.executable, "-c", ""], capture_output=True).returncode:
        pytest.skip("root may not become another user here")
    return NOBODY


@pytest.fixture
def public_folder():
    """A folder that everybody may enter, unlike those that pytest makes."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    for path in folder.rglob("*"):
        if path.is_dir():
            path.chmod(0o755)
    shutil.rmtree(folder)


@pytest.mark.slow
def test_a_container_builds_the_book(make_tiny_book, tiny_notebook, public_folder):
    """Somebody without a home, a source that is read-only, a strict umask, and plain C."""
    before = unprivileged()
    book = make_tiny_book(public_folder / "ein Büchlein")
    book.notebook(
        "notebooks/figures/fig.ipynb", tiny_notebook("import matplotlib.pyplot\nprint(x)")
    )
    build = book.root / "_build"
    build.mkdir()
    if before:
        os.chown(build, 54321, 54321)
    for path in (book.root, *book.root.rglob("*")):
        if path != build:
            path.chmod(path.stat().st_mode & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))
    gone = {"HOME", "IPYTHONDIR", "MPLCONFIGDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"}
    environment = {name: text for name, text in os.environ.items() if name not in gone}
    if not before:
        environment["HOME"] = str(book.root / "absent")
    done = subprocess.run(
        [*before, sys.executable, *SPEEDBOOK, "build"],
        cwd=book.root,
        env={**environment, "PYTHONPATH": str(ROOT), "LC_ALL": "C"},
        capture_output=True,
        umask=0o077,
        check=False,
    )
    assert done.returncode == 0, (done.stdout + done.stderr).decode(errors="replace")
    assert (build / "html" / "index.html").is_file()
    assert not (book.root / "~").exists()


def test_fonts_and_settings_are_kept_in_the_book_or_else_for_the_process(tmp_path):
    kept = kernels.own_settings(tmp_path)["MPLCONFIGDIR"]
    assert Path(kept).parent == tmp_path / "_build" / "kernels"
    (tmp_path / "file").write_text("")
    other = kernels.own_settings(tmp_path / "file")["MPLCONFIGDIR"]
    assert Path(other).is_dir() and kept != other
    assert kernels.own_settings(tmp_path / "file")["MPLCONFIGDIR"] == other


def test_what_says_where_python_and_its_libraries_are_stays(tmp_path, monkeypatch):
    given = {"LD_LIBRARY_PATH": "/a", "PYTHONPYCACHEPREFIX": "/b", "PYTHONHOME": "/c"}
    dropped = (
        *("PYTHONSTARTUP", "MPLBACKEND", "JUPYTER_CONFIG_PATH", "COLUMNS", "OPENBLAS_L2_SIZE"),
        *("SPEEDBOOK_FIGURES_FORMATS", "SPEEDBOOK_KEEP_NUMBERS", "SPEEDLIB_PROGRESS_FILE"),
    )
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    for name in dropped:
        monkeypatch.setenv(name, "/d")
    variables = dict(os.environ)
    kernels.put_into(variables, kernel_environment(tmp_path, tmp_path / "figures"))
    assert {name: variables.get(name) for name in given} == given
    assert not variables.keys() & set(dropped)


def test_no_package_of_the_user_goes_before_those_of_the_lock(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONUSERBASE", str(tmp_path / "user"))
    settings = kernels.own_settings(tmp_path)
    assert (settings["PYTHONNOUSERSITE"], settings["PYTHONUSERBASE"]) == ("1", "")


def test_where_there_is_no_home_one_can_be_written(tmp_path, monkeypatch):
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    home = Path(kernels.own_settings(tmp_path)["HOME"])
    assert home.is_dir() and home.is_relative_to(tmp_path)
    monkeypatch.undo()
    assert "HOME" not in kernels.own_settings(tmp_path)


def test_no_setting_of_the_user_runs_a_notebook_again(tiny_book, tmp_path, monkeypatch):
    before = shared_key(tiny_book.root)
    for name, value in users_settings(tmp_path / "home").items():
        monkeypatch.setenv(name, value)
    kernels.own_settings(tiny_book.root)
    assert shared_key(tiny_book.root) == before


@pytest.mark.parametrize(
    ("found", "not_found", "expected"),
    [
        (
            ["X86_V3", "X86_V4", "AVX512_ICL"],
            ["AVX512_SPR"],
            {
                "OPENBLAS_CORETYPE": "Haswell",
                "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
            },
        ),
        (
            ["X86_V3"],
            ["X86_V4"],
            {"OPENBLAS_CORETYPE": "Haswell", "NPY_DISABLE_CPU_FEATURES": "X86_V4"},
        ),
        ([], ["X86_V3", "X86_V4"], {}),
        (["NEON"], ["SVE"], {}),
    ],
)
def test_every_processor_does_what_most_can_do(tmp_path, monkeypatch, found, not_found, expected):
    extensions = {"SIMD Extensions": {"found": found, "not found": not_found}}
    monkeypatch.setattr(kernels.np, "show_config", lambda mode: extensions)
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Prescott")
    own = kernels.own_settings(tmp_path)
    chosen = {name: own.get(name, "") for name in ("OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES")}
    assert {name: value for name, value in chosen.items() if value} == expected


@pytest.mark.slow
def test_numpy_takes_what_is_set_for_the_processor(tmp_path):
    """By the names of this numpy, and without a word on stderr that would count as a notebook's."""
    variables = dict(os.environ)
    kernels.put_into(variables, kernels.own_settings(tmp_path))
    code = "import numpy; print(numpy.show_config(mode='dicts')['SIMD Extensions']['found'])"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], env=variables, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    if "NPY_DISABLE_CPU_FEATURES" in variables:
        assert done.stdout.strip() == f"['{kernels.AVX2}']"
