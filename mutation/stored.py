"""What the folder ``mutation/results`` holds, and whether it is still true.

Nothing here needs more than the book does, so that its page can read and judge the results.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from speedbook.claims.agreement import without_remarks
from speedbook.claims.registry import Registry
from speedbook.notebook.files import code, read_notebook
from speedbook.paths import files_below, write_if_changed
from speedbook.run.provenance import digest

#: The modules all of whose mutants are run, and the tests that look at each: those of the module,
#: those of its users, and the examples in its docstrings.
MODULES: dict[str, tuple[str, ...]] = {
    "designs": ("designs", "units"),
    "estimators": ("estimators",),
    "rounding": ("rounding",),
    "exploration": ("exploration",),
}

Record = dict[str, Any]


def tests_of(module: str) -> list[str]:
    """Return the files to run on mutants of a module, by their path from the root."""
    files = [f"tests/speedlib/test_{name}.py" for name in MODULES[module]]
    return [*files, f"speedlib/{module}.py"]


def named_mutants(root: Path) -> list[dict[str, Any]]:
    """Return the entries of ``mutants.yml``."""
    entries = yaml.safe_load((root / "mutation" / "mutants.yml").read_text(encoding="utf-8"))
    return list(entries)


def reasons(root: Path) -> list[dict[str, str]]:
    """Return the entries of ``survivors.yml``: why a mutant is no fault, or is not caught."""
    return list(yaml.safe_load((root / "mutation" / "survivors.yml").read_text(encoding="utf-8")))


def reason(entries: Iterable[Mapping[str, str]], mutant: Mapping[str, Any]) -> str:
    """Return why a mutant survives: an entry fits if all that it names is the mutant's."""
    for entry in entries:
        if all(mutant[key] == entry[key] for key in ("function", "old", "new") if key in entry):
            return entry["reason"]
    return ""


def read(root: Path, name: str) -> Record:
    """Return stored results, empty if there are none."""
    path = root / "mutation" / "results" / f"{name}.json"
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else {}


def write(root: Path, name: str, record: Record, rows: str) -> None:
    """Store results whole, one row a line, so that a difference can be read."""
    lines = ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in record[rows])
    parts = [
        f' "{key}": {json.dumps(value, ensure_ascii=False)}'
        for key, value in record.items()
        if key != rows
    ]
    parts.append(f' "{rows}": [\n{lines}\n ]')
    path = root / "mutation" / "results" / f"{name}.json"
    write_if_changed(path, "{\n" + ",\n".join(parts) + "\n}\n")


def every_depends(root: Path, module: str) -> dict[str, str]:
    """Return digests of what the results of a module depend on, by their names in words."""
    return {
        "speedlib": _library(root),
        "the tests": _tests(root, tests_of(module)),
        "the runner": _files(root, ["mutation/plugin.py", "mutation/listing.py"]),
    }


def named_depends(root: Path, mutant: Mapping[str, Any], registry: Registry) -> dict[str, str]:
    """Return digests of what the result of a named mutant depends on, by their names in words."""
    claims = [registry[name] for name in mutant["claims"]]
    pages = {claim.notebook: code(read_notebook(root / claim.notebook)) for claim in claims}
    rules = {claim.id: claim.model_dump_json(include={"kind", "rule"}) for claim in claims}
    sources = {f"{page} {place}": text for page, c in pages.items() for place, text in enumerate(c)}
    return {
        "speedlib": _library(root),
        "the tests": _tests(root, mutant["tests"]),
        "the claims": digest(rules | sources),
        "the mutant": digest({key: str(value) for key, value in mutant.items() if key != "wrong"}),
    }


def changed(stored: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return what has changed since results were stored."""
    return [name for name, value in now.items() if stored.get(name) != value]


def _library(root: Path) -> str:
    """Digest the library without its remarks, which change nothing that a test could see."""
    files = files_below(root / "speedlib", "speedlib/").items()
    return digest({n: without_remarks(p.read_text("utf-8")) for n, p in files if n[-3:] == ".py"})


def _tests(root: Path, names: Iterable[str]) -> str:
    """Digest the tests named, and what all tests share."""
    shared = [path for path in (root / "tests/speedlib").glob("*.py") if path.stem[:5] != "test_"]
    return _files(root, [*names, "conftest.py", *(f"tests/speedlib/{p.name}" for p in shared)])


def _files(root: Path, names: Iterable[str]) -> str:
    return digest({name: (root / name).read_text(encoding="utf-8") for name in names})
