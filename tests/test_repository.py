"""The project's own files: lock, licences, citation, make, and which way imports point."""

from __future__ import annotations

import ast
import functools
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from pybtex.database import parse_file

import speedlib

ROOT = Path(__file__).resolve().parents[1]
LIBRARY, BOOK = (
    tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for folder in ("", "speedbook")
)
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
PAGES = ("README.md", "CONTRIBUTING.md", "data/LICENCES.md")
TOOLS = tuple(f"tools/{n}" for n in ("find-python", "install-book", "install-lock", "make-venv"))

needs_shell = pytest.mark.skipif(shutil.which("sh") is None, reason="there is no sh")


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def requirements(project: dict, *extras: str) -> list[Requirement]:
    """Return what a project asks for: the base, and the extras named."""
    listed = [project["dependencies"], *(project["optional-dependencies"][e] for e in extras)]
    return [Requirement(line) for part in listed for line in part]


# The lock.


def test_the_lock_holds_pinned_packages_and_hashes_and_nothing_else() -> None:
    # In particular no options and no addresses, so that everyone's own package index serves.
    pin = re.compile(r"[a-z0-9.-]+==[^\s;]+( ; [^\\]+)? \\")
    digest = re.compile(r"    --hash=sha256:[0-9a-f]{64}( \\)?")
    expects_hash = False
    for line in read("requirements.txt").splitlines():
        if expects_hash:
            assert digest.fullmatch(line), line
        else:
            assert pin.fullmatch(line) or line.lstrip().startswith("#"), line
        expects_hash = line.endswith("\\")
    assert not expects_hash


def locked() -> list[tuple[str, str]]:
    return re.findall(r"^([a-z0-9.-]+)==([^\s;]+)", read("requirements.txt"), re.MULTILINE)


def test_the_lock_has_one_version_of_each_package() -> None:
    assert [
        name for name, count in Counter(name for name, _ in locked()).items() if count > 1
    ] == []


@pytest.mark.parametrize("project", [LIBRARY, BOOK], ids=lambda project: project["name"])
def test_the_lock_satisfies_both_projects(project: dict) -> None:
    versions = {canonicalize_name(name): version for name, version in locked()}
    for wanted in requirements(project, *project["optional-dependencies"]):
        name = canonicalize_name(wanted.name)
        assert name in versions, f"{name} is not in requirements.txt: make lock"
        assert wanted.specifier.contains(versions[name]), (
            f"{wanted}, but {versions[name]} is locked"
        )


@pytest.mark.parametrize(
    "name", ["pyproject.toml", "speedbook/pyproject.toml", "Makefile", ".ci/run", *TOOLS]
)
def test_installation_names_no_server(name: str) -> None:
    assert "://" not in read(name)


# Two projects.


def test_the_library_is_published_with_numpy_and_scipy_alone() -> None:
    assert {wanted.name for wanted in requirements(LIBRARY)} == {"numpy", "scipy"}
    assert LIBRARY["requires-python"] == ">=3.11"
    assert not {"scripts", "gui-scripts", "entry-points"} & LIBRARY.keys()
    assert "Private :: Do Not Upload" in BOOK["classifiers"]


def test_the_book_asks_for_all_that_the_library_can_use() -> None:
    wanted = {str(each) for each in requirements(BOOK, "test")}
    used = {str(each) for each in requirements(LIBRARY, "simulation", "tables")}
    assert used <= wanted


# Which way imports point.


def imports(path: Path) -> Iterator[tuple[str, bool]]:
    """Yield each absolutely imported top-level module of a file, and whether inside a function."""

    def visit(node: ast.AST, inside: bool) -> Iterator[tuple[str, bool]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                yield from ((alias.name.split(".")[0], inside) for alias in child.names)
            elif isinstance(child, ast.ImportFrom) and child.module and not child.level:
                yield child.module.split(".")[0], inside
            elif not _is_type_checking(child):
                yield from visit(child, inside or isinstance(child, ast.FunctionDef))

    return visit(ast.parse(path.read_text(encoding="utf-8")), False)


def _is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def foreign_imports(folder: str) -> set[tuple[str, bool]]:
    known = {*sys.stdlib_module_names, folder}
    found = {each for path in (ROOT / folder).rglob("*.py") for each in imports(path)}
    return {(module, inside) for module, inside in found if module not in known}


def test_speedlib_needs_numpy_and_scipy_and_the_rest_only_when_asked() -> None:
    found = foreign_imports("speedlib")
    assert {module for module, inside in found if not inside} == {"numpy", "scipy"}
    asked = {"joblib", "pandas", "rich", "threadpoolctl"}
    assert {module for module, inside in found if inside} <= {"numpy", "scipy"} | asked


@functools.cache
def installed_packages() -> Mapping[str, list[str]]:
    """Return by module which packages provide it; to ask takes a second."""
    return packages_distributions()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "project", "extras"),
    [
        ("speedlib", LIBRARY, ("simulation", "tables")),
        ("paper", BOOK, ("book",)),
        ("speedbook", BOOK, ("book",)),
        ("tools", BOOK, ("book", "test", "mutation")),
        ("tests", BOOK, ("book", "test")),
    ],
)
def test_every_import_is_declared(folder: str, project: dict, extras: tuple[str, ...]) -> None:
    declared = {canonicalize_name(wanted.name) for wanted in requirements(project, *extras)}
    providers = installed_packages()
    ours = {"speedlib", "paper", "speedbook", "tools"} | {
        path.stem for path in (ROOT / folder).rglob("*.py")
    }
    for module, _ in foreign_imports(folder):
        names = {canonicalize_name(name) for name in providers.get(module, [module])}
        assert module in ours or names & declared, f"{folder} imports {module}: declare {names}"


def test_modules_are_short_enough_to_hold_one_idea() -> None:
    sources = [
        path for name in ("speedlib", "paper", "speedbook") for path in (ROOT / name).rglob("*.py")
    ]
    lengths = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in sources}
    assert {name: lines for name, lines in lengths.items() if lines > 450} == {}


# Licences, data and citation.


def test_the_licences_are_those_that_the_metadata_name() -> None:
    assert LIBRARY["license"] == "BSD-3-Clause"
    assert BOOK["license"] == "BSD-3-Clause AND CC-BY-4.0"
    assert read("LICENSE").startswith("BSD 3-Clause License\n")
    assert "SPDX: CC-BY-4.0" in read("LICENSE-CC-BY-4.0")
    assert yaml.safe_load(read("CITATION.cff"))["license"] == ["BSD-3-Clause", "CC-BY-4.0"]
    assert LIBRARY["license-files"] == ["LICENSE"]


def test_every_data_file_has_its_checksum_and_its_licence() -> None:
    sums = dict(reversed(line.split("  ")) for line in read("data/SHA256SUMS").splitlines())
    about = {"SHA256SUMS", "LICENCES.md"}
    data = {path for path in (ROOT / "data").iterdir() if path.is_file() and path.suffix != ".py"}
    assert {path.name for path in data} - about == set(sums)
    for name, digest in sums.items():
        assert hashlib.sha256((ROOT / "data" / name).read_bytes()).hexdigest() == digest
        assert f"## `{name}`" in read("data/LICENCES.md")


def test_the_citation_names_this_version_and_the_paper_of_the_bibliography() -> None:
    citation = yaml.safe_load(read("CITATION.cff"))
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    assert citation["version"] == speedlib.__version__
    (paper,) = citation["references"]
    entry = parse_file(str(ROOT / "book" / "references.bib")).entries["mukherjee2024speed"]
    assert paper["title"] == re.sub("[{}]", "", entry.fields["title"])
    assert str(paper["year"]) == entry.fields["year"]
    assert [author["family-names"] for author in paper["authors"]] == [
        " ".join(person.last_names) for person in entry.persons["author"]
    ]


# What a newcomer meets.


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):.*  ## \S", MAKEFILE, re.MULTILINE))


def test_every_make_target_says_what_it_is_for() -> None:
    (phony,) = re.findall(r"^\.PHONY: (.+)$", MAKEFILE, re.MULTILINE)
    assert set(phony.split()) == make_targets()


def test_the_pages_name_only_targets_that_exist() -> None:
    pages = [ROOT / name for name in PAGES] + sorted((ROOT / "book").glob("*.md"))
    for page in pages:
        text = page.read_text(encoding="utf-8")
        named = set(re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE))
        assert named <= make_targets(), page.name


@pytest.mark.parametrize("page", PAGES)
def test_links_to_files_lead_somewhere(page: str) -> None:
    links = re.findall(r"\]\(([^)#]+)\)", read(page))
    local = [link for link in links if "://" not in link]
    missing = [link for link in local if not (ROOT / page).parent.joinpath(link).exists()]
    assert missing == []


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
        env={"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "LOG": str(log)},
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
