"""The project's own files: lock, licences, citation, make, and which way imports point."""

from __future__ import annotations

import ast
import functools
import hashlib
import json
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
GROUPS = tomllib.loads((ROOT / "speedbook/pyproject.toml").read_text(encoding="utf-8"))[
    "dependency-groups"
]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
PAGES = ("README.md", "CONTRIBUTING.md", "data/LICENCES.md")
TOOLS = tuple(f"tools/{n}" for n in ("find-python", "install-book", "install-lock", "make-venv"))


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def requirements(project: dict, *extras: str) -> list[Requirement]:
    """Return what a project asks for: the base, and the extras named."""
    listed = [project["dependencies"], *(project["optional-dependencies"][e] for e in extras)]
    return [Requirement(line) for part in listed for line in part]


# The locks: of all, and of what students need.

LOCKS = ("requirements.txt", "tools/course/requirements.txt")


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_holds_pinned_packages_and_hashes_and_nothing_else(lock: str) -> None:
    # In particular no options and no addresses, so that everyone's own package index serves.
    pin = re.compile(r"[a-z0-9.-]+==[^\s;]+( ; [^\\]+)? \\")
    digest = re.compile(r"    --hash=sha256:[0-9a-f]{64}( \\)?")
    expects_hash = False
    for line in read(lock).splitlines():
        if expects_hash:
            assert digest.fullmatch(line), line
        else:
            assert pin.fullmatch(line) or line.lstrip().startswith("#"), line
        expects_hash = line.endswith("\\")
    assert not expects_hash


def locked(lock: str = "requirements.txt") -> list[tuple[str, str]]:
    return re.findall(r"^([a-z0-9.-]+)==([^\s;]+)", read(lock), re.MULTILINE)


def test_the_lock_has_one_version_of_each_package() -> None:
    assert [
        name for name, count in Counter(name for name, _ in locked()).items() if count > 1
    ] == []


def test_students_get_a_small_part_of_the_same_versions() -> None:
    everything, few = dict(locked()), dict(locked(LOCKS[1]))
    assert few.items() <= everything.items()
    assert len(few) < len(everything) / 2
    wanted = [Requirement(line) for line in GROUPS["student"]]
    for each in wanted:
        assert each.specifier.contains(few[canonicalize_name(each.name)])
    # All that the book allows is allowed to students, and no more.
    known = {str(each) for each in requirements(BOOK, *BOOK["optional-dependencies"])}
    assert {str(each) for each in wanted} <= known
    # What the library needs comes along.
    assert {wanted.name for wanted in requirements(LIBRARY)} <= few.keys()


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
    "name",
    [
        *("pyproject.toml", "speedbook/pyproject.toml", "Makefile", ".ci/run", *TOOLS),
        *("tools/course/requirements.txt", "tools/course/START.md"),
    ],
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
        ("paper", BOOK, ("book", "teach")),
        ("speedbook", BOOK, ("book",)),
        ("tools", BOOK, ("book", "test", "teach", "publish", "mutation")),
        ("tests", BOOK, ("book", "test", "teach", "publish")),
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


def test_workflows_follow_their_schema_and_name_targets_that_exist() -> None:
    workflows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    assert [path.stem for path in workflows] == ["publish", "test"]
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema"]
    done = subprocess.run(
        [*command, "vendor.github-workflows", *map(str, workflows)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
    targets = set(re.findall(r"^([a-z-]+):", read("Makefile"), flags=re.M))
    for path in workflows:
        for line in re.findall(r"run: .*\bmake ([a-z ]+)", path.read_text()):
            assert set(line.split()) <= targets
    windows = re.search(r"```powershell\n(.*?)```", read("README.md"), flags=re.S)
    assert windows is not None
    tested = (ROOT / ".github" / "workflows" / "test.yml").read_text()
    for line in windows[1].splitlines()[1:]:
        assert line.partition("#")[0].strip() in tested


def workflow(name: str) -> dict:
    return yaml.safe_load(read(f".github/workflows/{name}.yml"))["jobs"]


def test_every_system_is_tested_with_every_python_of_the_readme() -> None:
    jobs = workflow("test")
    assert {"run": ".ci/run"} in jobs["linux"]["steps"]
    matrix = jobs["two-commands"]["strategy"]["matrix"]
    assert matrix == {
        "os": ["macos-latest", "windows-latest"],
        "python": ["3.11", "3.12", "3.13"],
    }
    assert "Python 3.11, 3.12 or 3.13" in read("README.md")


@pytest.mark.skipif(not all(map(shutil.which, ("bash", "awk", "grep"))), reason="no shell")
def test_a_release_has_the_notes_of_its_own_version(tmp_path: Path) -> None:
    (step,) = (s for s in workflow("publish")["release"]["steps"] if s.get("name") == "notes")

    def notes(tag: str) -> str | None:
        environment = os.environ | {"GITHUB_REF_NAME": tag, "RUNNER_TEMP": str(tmp_path)}
        command = ["bash", "-e", "-c", step["run"]]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True)
        return None if done.returncode else (tmp_path / "notes.md").read_text(encoding="utf-8")

    ours = notes(f"v{speedlib.__version__}")
    assert ours and ours.strip() in read("CHANGELOG.md") and "\n## " not in ours
    assert notes("v9.9.9") is notes(f"v{speedlib.__version__}.1") is None


def test_zenodo_is_given_what_the_citation_says() -> None:
    ours, citation = json.loads(read(".zenodo.json")), yaml.safe_load(read("CITATION.cff"))
    assert ours["title"] == citation["title"]
    assert ours["keywords"] == citation["keywords"]
    assert ours["creators"] == [{"name": each["name"]} for each in citation["authors"]]
    assert [each["identifier"] for each in ours["related_identifiers"]] == [
        each["value"] for each in citation["references"][0]["identifiers"]
    ]


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
    newest = re.findall(r"^## (\d\S*) – (\S+)$", read("CHANGELOG.md"), re.MULTILINE)[0]
    assert newest == (speedlib.__version__, str(citation["date-released"]))
    command = [sys.executable, "-m", "check_jsonschema", "CITATION.cff"]
    schema = ["--builtin-schema", "vendor.citation-file-format"]
    done = subprocess.run([*command, *schema], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
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


def test_the_readme_has_one_screen_for_each_reader() -> None:
    text = read("README.md")
    assert max(map(len, text.splitlines())) <= 125
    screens = dict(part.split("\n", 1) for part in text.split("\n## ")[1:])
    for name in ("Read it", "Rerun it", "Use it"):
        assert len(screens[name].splitlines()) <= 48, name


@pytest.mark.parametrize("page", PAGES)
def test_links_to_files_lead_somewhere(page: str) -> None:
    links = re.findall(r"\]\(([^)#]+)\)", read(page))
    local = [link for link in links if "://" not in link]
    missing = [link for link in local if not (ROOT / page).parent.joinpath(link).exists()]
    assert missing == []
