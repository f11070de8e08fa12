"""What `make` does before there is anything: it finds a Python, makes the environment, installs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TOOLS = tuple(
    f"tools/{n}" for n in ("alone", "find-python", "install-book", "install-lock", "make-venv")
)

needs_shell = pytest.mark.skipif(shutil.which("sh") is None, reason="there is no sh")


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def find_python(*arguments: str, path: str = os.defpath) -> subprocess.CompletedProcess[str]:
    shell = shutil.which("sh") or "sh"
    return subprocess.run(
        [shell, str(ROOT / "tools" / "find-python"), *arguments],
        capture_output=True,
        text=True,
        # Some Pythons find their library by it.
        env={"PATH": path} | {n: os.environ[n] for n in ["LD_LIBRARY_PATH"] if n in os.environ},
        check=False,
    )


def fake_python(path: Path, *, right_version: bool, has_venv: bool) -> Path:
    """Write a program that starts, and answers the two questions of the script."""
    path.parent.mkdir(exist_ok=True)
    answers = {"version_info": right_version, "ensurepip": has_venv}
    cases = "".join(f"*{word}*) exit {int(not yes)};; " for word, yes in answers.items())
    path.write_text(f'#!/bin/sh\ncase "$2" in "") ;; {cases} *) exit 2;; esac\n')
    path.chmod(0o755)
    return path


def alone(folder: Path, command: str) -> subprocess.Popen[str]:
    script = [str(ROOT / "tools" / "alone"), "lock", "stamp", "sh", "-c", command]
    return subprocess.Popen(
        [shutil.which("sh") or "sh", *script], cwd=folder, text=True, stderr=subprocess.PIPE
    )


@needs_shell
def test_of_two_installations_in_one_folder_the_second_waits_and_has_nothing_to_do(
    tmp_path: Path,
) -> None:
    (tmp_path / "lock").write_text("what to install")
    # It ends when it is told to, so no time is taken for granted.
    work = "echo x >> begun; while ! [ -e go ]; do sleep 0.1; done; cp lock stamp"
    both = [alone(tmp_path, work), alone(tmp_path, work)]
    while all(each.poll() is None for each in both) and not (tmp_path / "begun").is_file():
        time.sleep(0.05)
    (tmp_path / "go").touch()
    ends = [each.communicate(timeout=60) for each in both]
    assert [each.returncode for each in both] == [0, 0], ends
    assert (tmp_path / "begun").read_text() == "x\n"
    assert not list((tmp_path / "_build").iterdir())


@needs_shell
def test_an_installation_that_was_killed_holds_up_nobody(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text("what to install")
    (tmp_path / "_build").mkdir()
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    (tmp_path / "_build" / "venv.pid").write_text(f"{ended.pid}\n")
    again = alone(tmp_path, "cp lock stamp")
    assert again.communicate(timeout=60)[1] == "" and again.returncode == 0
    assert (tmp_path / "stamp").is_file() and not list((tmp_path / "_build").iterdir())


@needs_shell
def test_make_takes_the_python_that_is_named() -> None:
    found = find_python(sys.executable)
    assert (found.returncode, found.stdout, found.stderr) == (0, f"{sys.executable}\n", "")


@needs_shell
def test_make_takes_the_newest_python_that_will_do(tmp_path: Path) -> None:
    folder = tmp_path / "a folder"
    fake_python(folder / "python3.13", right_version=True, has_venv=False)
    fake_python(folder / "python3.12", right_version=True, has_venv=True)
    fake_python(folder / "python3.11", right_version=True, has_venv=True)
    assert find_python(path=str(folder)).stdout == "python3.12\n"
    (folder / "python3.12").unlink()
    assert find_python(path=str(folder)).stdout == "python3.11\n"
    fake_python(folder / "python3.12", right_version=True, has_venv=True)
    fake_python(folder / "python3.13", right_version=True, has_venv=True)
    assert find_python(path=str(folder)).stdout == "python3.13\n"


@needs_shell
@pytest.mark.parametrize(
    ("right_version", "complaint"),
    [(False, "is not Python 3.11, 3.12 or 3.13"), (True, "lacks the venv module")],
)
def test_make_says_in_one_line_which_python_is_missing(
    tmp_path: Path, right_version: bool, complaint: str
) -> None:
    python = fake_python(tmp_path / "my python", right_version=right_version, has_venv=False)
    found = find_python(str(python))
    assert found.returncode == 1
    assert found.stdout == ""
    assert len(found.stderr.splitlines()) == 1
    assert complaint in found.stderr
    assert str(python) in found.stderr


@needs_shell
@pytest.mark.parametrize(
    ("program", "complaint"),
    [
        (None, "no such program"),
        ("echo 'libpython3.12.so.1.0: cannot open shared object' >&2; exit 127", "does not start"),
        (
            "echo 'error while loading shared libraries: libpython3.12.so' >&2; exit 127",
            "does not start: error while loading shared libraries: libpython3.12.so "
            "(set LD_LIBRARY_PATH",
        ),
        ("exit 1", "does not start: it says nothing"),
        ("case $2 in *exit*) exit 1;; print*|*print*) echo 3.9;; esac", "but 3.9"),
    ],
)
def test_make_says_what_is_wrong_with_the_python_that_is_named(tmp_path, program, complaint):
    python = tmp_path / "my python"
    if program:
        python.write_text(f"#!/bin/sh\n{program}\n")
        python.chmod(0o755)
    found = find_python(str(python))
    assert found.returncode == 1
    (line,) = found.stderr.splitlines()
    assert str(python) in line and complaint in line


def test_make_looks_for_several_pythons_as_for_those_of_its_own() -> None:
    assert "no Python 3.11, 3.12 or 3.13 among: a b (" in find_python("a", "b").stderr


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder that has what make reads, and a stand-in for the Python of its environment."""
    folder = tmp_path / "a checkout"
    for name in ("Makefile", "requirements.txt", "speedbook/pyproject.toml", *TOOLS):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    python = folder / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho "$*" >> "$LOG"\n')
    python.chmod(0o755)
    shutil.copy(folder / "requirements.txt", folder / ".venv" / "lock.stamp")
    shutil.copy(folder / "speedbook" / "pyproject.toml", folder / ".venv" / "ready.stamp")
    return folder


def make(folder: Path, *arguments: str, user: int = 1000) -> tuple[int, str, list[str]]:
    """Run make as it were as some user; return the code, the errors, and what Python was asked."""
    programs, log = folder.with_name("programs"), folder.with_name("log")
    programs.mkdir(exist_ok=True)
    (programs / "id").write_text(f"#!/bin/sh\necho {user}\n")
    (programs / "id").chmod(0o755)
    log.write_text("")
    done = subprocess.run(
        # Without a Python nothing is ever installed.
        ["make", "PYTHON=/no/such/python", *arguments],
        cwd=folder,
        # A shell may know the usual places without a PATH in its environment.
        env={
            "PATH": os.pathsep.join([str(programs), os.environ.get("PATH", os.defpath)]),
            "LOG": str(log),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr, log.read_text().splitlines()


needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")


@needs_make
@pytest.mark.slow
def test_jupyterlab_as_root_needs_a_word_of_whoever_starts_it(checkout: Path) -> None:
    code, said, asked = make(checkout, "lab", user=0)
    assert code and asked == []
    assert "another user" in said and "make lab LAB=--allow-root" in said
    assert make(checkout, "lab", "LAB=--allow-root", user=0)[2] == [
        "-m jupyterlab --allow-root notebooks"
    ]
    assert make(checkout, "lab")[2] == ["-m jupyterlab notebooks"]


@needs_make
@pytest.mark.slow
def test_make_opens_a_folder_of_copies(checkout: Path) -> None:
    assert "make lab NOTEBOOKS=runs" in read("README.md")
    assert make(checkout, "lab", "NOTEBOOKS=my runs")[2] == ["-m jupyterlab my runs"]


@needs_make
@pytest.mark.slow
def test_make_packs_and_grades_hand_ins(checkout: Path) -> None:
    assert make(checkout, "student")[2] == ["-m tools.course student"]
    asked = make(checkout, "grade", "DIR=what came in", "GRADE=--seconds 5")[2]
    assert asked == ["-m tools.course grade --seconds 5 what came in"]
    # The empty name is refused there.
    assert make(checkout, "grade")[2] == ["-m tools.course grade "]


@needs_make
@pytest.mark.slow
def test_make_clean_deletes_no_marks_without_a_word(checkout: Path) -> None:
    grading = checkout / "_build" / "class" / "grading"
    grading.mkdir(parents=True)
    code, said, _ = make(checkout, "clean")
    assert code == 2 and "marks that you gave by hand" in said and grading.is_dir()
    code, _, _ = make(checkout, "clean", "GRADING=delete")
    assert code == 0 and not (checkout / "_build").exists()


@needs_make
@pytest.mark.slow
def test_only_another_lock_makes_the_environment_anew(checkout: Path) -> None:
    """A copy, or a container, may give files any dates, and be read-only."""
    for stamp in (checkout / ".venv").glob("*.stamp"):
        os.utime(stamp, (1, 1))
    assert make(checkout, "lab")[2] == ["-m jupyterlab notebooks"]
    for stamp in (checkout / ".venv").glob("*.stamp"):
        os.utime(stamp, (1, 1))
    with (checkout / "speedbook" / "pyproject.toml").open("a") as project:
        project.write("# another\n")
    install, lab = make(checkout, "lab")[2]
    assert install.endswith("--editable ./speedbook") and lab == "-m jupyterlab notebooks"
    with (checkout / "requirements.txt").open("a") as lock:
        lock.write("# another\n")
    os.utime(checkout / ".venv" / "lock.stamp", (1, 1))
    code, said, _ = make(checkout, "lab")
    assert code and "/no/such/python: no such program" in said


@needs_shell
@pytest.mark.slow
def test_python_starts_in_a_folder_with_letters_beyond_ascii(tmp_path: Path) -> None:
    """The note where the book's project is holds none of them, as LC_ALL=C would not read them."""
    folder = tmp_path / "ein Büchlein"
    site = folder / ".venv" / "lib" / "python3.11" / "site-packages"
    python = folder / ".venv" / "bin" / "python"
    for made in (site, python.parent, folder / "speedbook"):
        made.mkdir(parents=True)
    (folder / "speedbook" / "pyproject.toml").write_text("")
    note = site / "_speed_companion_book.pth"
    python.write_text(f'#!/bin/sh\necho "{folder}" > "{note}"\n')
    python.chmod(0o755)
    subprocess.run(
        ["sh", ROOT / "tools" / "install-book", ".venv/bin/python"], cwd=folder, check=True
    )
    code = "import os, site, sys; site.addsitedir(sys.argv[1]); print(os.fsencode(sys.path[-1]))"
    done = subprocess.run(
        [sys.executable, "-I", "-c", code, site],
        env={**os.environ, "LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == f"{os.fsencode(folder)!r}\n", done.stderr


INSTALLER = """#!/bin/sh
echo "$*" >> "$LOG"
case "$*" in
    "-m pip config list") echo "$CONFIG";;
    *" -r /dev/stdin") cat >> "$LOG"; exit "$NO_NETWORK";;
    "-m uv "*) exit "$UV_FAILS";;
esac
"""


def install_lock(folder: Path, **settings: str) -> tuple[int, list[str]]:
    """Run the script with a stand-in for Python, and return what that was asked to do."""
    python, log = folder / "my python", folder / "log"
    python.write_text(INSTALLER)
    python.chmod(0o755)
    done = subprocess.run(
        ["sh", str(ROOT / "tools" / "install-lock"), str(python)],
        cwd=ROOT,
        env={"PATH": os.defpath, "LOG": str(log), "CONFIG": "", "NO_NETWORK": "0", "UV_FAILS": "0"}
        | settings,
        check=False,
    )
    asked = log.read_text().splitlines()
    # Whatever installs, checks the hashes.
    assert all("--require-hashes" in line for line in asked if " install " in line)
    return done.returncode, asked


@needs_shell
@pytest.mark.parametrize("config", ["", "global.extra-index-url='one more'"])
def test_make_installs_with_the_locked_uv(tmp_path: Path, config: str) -> None:
    code, (_, first, *stanza, last) = install_lock(tmp_path, CONFIG=config)
    assert code == 0
    assert first.startswith("-m pip install ") and first.endswith(" -r /dev/stdin")
    assert "\n".join(stanza) in read("requirements.txt")
    assert re.fullmatch(r"uv==\S+ \\( *--hash=sha256:[0-9a-f]{64} \\?)+", "".join(stanza) + " ")
    assert last.startswith("-m uv pip install ") and last.endswith(" -r requirements.txt")
    # What has not been compiled is slow to import, each time.
    assert f"--python {tmp_path / 'my python'} " in last and "--compile-bytecode" in last


@needs_shell
@pytest.mark.parametrize(
    "settings",
    [
        {"UV_FAILS": "1"},
        {"CONFIG": "global.index-url='a mirror'"},
        {"CONFIG": ":env:.no-index='1'"},
    ],
)
def test_make_installs_with_pip_where_uv_fails_or_would_ask_another_index(
    tmp_path: Path, settings: dict[str, str]
) -> None:
    code, asked = install_lock(tmp_path, **settings)
    assert code == 0
    assert asked[-1].startswith("-m pip install ") and asked[-1].endswith(" -r requirements.txt")
    assert any(line.startswith("-m uv ") for line in asked) == ("UV_FAILS" in settings)


@needs_shell
def test_without_an_index_installation_fails_at_once(tmp_path: Path) -> None:
    code, asked = install_lock(tmp_path, NO_NETWORK="1")
    assert code == 1
    assert sum(" install " in line for line in asked) == 1
