"""The results of ``make mutants`` on faults put into ``speedlib``, and their validity."""

from __future__ import annotations

import ast
import hashlib
import io
import json
import re
import tokenize
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path("tools/mutants")
#: What mutmut says of a change that some check noticed; one that never ends, or takes its process
#: with it, is noticed by its runner.
CAUGHT = ("killed", "timeout", "segfault")

#: What displays a picture in a notebook, and the modules that draw.
PICTURES = frozenset({"figures", "show_environment"})
#: How layout that counts is written, and after what a statement has ended already.
MARKS = {"INDENT": "INDENT", "DEDENT": "DEDENT", "NEWLINE": ";"}
ENDED: tuple[list[str], ...] = ([], [";"], ["INDENT"], ["DEDENT"])
#: Three words in a row.
SENTENCE = re.compile(r"[A-Za-z]{2,},? [a-z]+,? [a-z]+")
DRAWING = ("matplotlib", "seaborn", "paper.plots")

Entry = dict[str, Any]


def read(root: Path, name: str) -> Any:
    """Return the content of a file of the folder: results, the list of faults, or the reasons."""
    path = root / FOLDER / name
    if path.suffix == ".yml":
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {"rows": []}


def find_reason(reasons: Iterable[Entry], change: Entry) -> str:
    """Return why no test notices a change; an empty text if that is not known."""
    fitting = (e for e in reasons if e["function"] == change["function"])
    return next((str(e["reason"]) for e in fitting if change["new"] in e["new"]), "")


def changed(depends: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Say in words which dependencies of the results have changed since they were stored."""
    return [name for name, digest in now.items() if depends.get(name) != digest]


def dependencies(root: Path, asked: Entry) -> dict[str, str]:
    """Return a digest of each dependency of the results, by name.

    Parameters
    ----------
    root : Path
        The top folder of the book.
    asked : dict
        A fault of ``faults.yml``, or the settings of mutmut.
    """
    tests = asked.get("tests") or asked["pytest_add_cli_args_test_selection"]
    around = [root / "conftest.py", *sorted((root / "tests/speedlib").glob("*.py"))]
    files = [*(root / name for name in tests), *(p for p in around if p.name[:5] != "test_")]
    library = _loaded(root, "speedlib", set())
    registry = _registry((root / "book/claims.yml").read_text(encoding="utf-8"))
    claims = [registry[name] for name in asked.get("claims", ())]
    return {
        "speedlib": _digest(without_words(path.read_text("utf-8")) for path in sorted(library)),
        "the tests": _digest(without_words(path.read_text("utf-8")) for path in files),
        "the claims": _digest([c["rule"], _code(root / c["notebook"])] for c in claims),
        "the faults": _digest([{key: asked[key] for key in asked if key != "wrong"}]),
    }


def _loaded(root: Path, module: str, found: set[Path]) -> set[Path]:
    """Return the files of the library that a module needs, directly or through others."""
    place = root / module.replace(".", "/")
    path = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    if path.is_file() and path not in found:
        found.add(path)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("speedlib"):
                for name in (node.module, *(f"{node.module}.{each.name}" for each in node.names)):
                    _loaded(root, str(name), found)
    return found


@cache
def _registry(claims: str) -> dict[str, Entry]:
    return {claim["id"]: claim for claim in yaml.safe_load(claims)["claims"]}


def _code(notebook: Path) -> list[str]:
    """Return the code on which a notebook's verdicts depend, without comments and pictures.

    A cell that displays a picture does not count, unless a later cell needs a name from it, or it
    draws random numbers that later cells would get.
    """
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    kept: list[str] = []
    needed: set[str] = set()
    for cell in reversed([c for c in cells if c["cell_type"] == "code"]):
        tree = ast.parse("".join(cell["source"]))
        tree.body = [each for each in tree.body if not _is_for_pictures(each)]
        loads, binds = _names(tree)
        if loads & PICTURES and not (binds & needed or any("rng" in name for name in loads)):
            continue
        needed |= loads
        kept.append(without_words(ast.unparse(tree)))
    return kept[::-1]


def _is_for_pictures(statement: ast.stmt) -> bool:
    """Say whether a statement imports what draws."""
    if isinstance(statement, ast.ImportFrom):
        return str(statement.module).startswith(DRAWING)
    if isinstance(statement, ast.Import):
        return all(each.name.startswith(DRAWING) for each in statement.names)
    return False


def _names(tree: ast.Module) -> tuple[set[str], set[str]]:
    """Return the names that a cell takes from before, and those that it binds."""
    loads: set[str] = set()
    binds: set[str] = set()
    for statement in tree.body:
        inner = {each.arg for each in ast.walk(statement) if isinstance(each, ast.arg)}
        fresh: set[str] = set()
        for node in ast.walk(statement):
            if isinstance(node, ast.For | ast.comprehension):
                inner |= {each.id for each in ast.walk(node.target) if isinstance(each, ast.Name)}
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                fresh.add(node.name)
            elif isinstance(node, ast.alias):
                fresh.add((node.asname or node.name).split(".")[0])
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                fresh.add(node.id)
        read = {
            node.id
            for node in ast.walk(statement)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        }
        loads |= read - inner - binds
        binds |= fresh
    return loads, binds


@cache
def without_words(source: str) -> str:
    r"""Return Python source without comments, docstrings, sentences and layout.

    A sentence is a string with three words in a row: what a program says, such as the words of an
    error or a label. No result depends on it.

    Examples
    --------
    >>> without_words('def f(x):\n    "Halve."\n\n    raise E("This is too large.")  # Why.\n')
    'def f ( x ) : ; INDENT raise E ( … ) ; DEDENT'
    """
    docstrings = {
        (node.lineno, node.col_offset)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str)
    }
    tokens = (text for place, text in _strings_and_tokens(source) if place not in docstrings)
    kept: list[str] = []
    for quoted, texts in groupby(tokens, lambda text: text.endswith(("'", '"'))):
        if quoted:
            said = " ".join(texts)
            kept.append("…" if SENTENCE.search(said) else said)
            continue
        for text in texts:
            if text in (")", "]", "}") and kept[-1:] == [","]:
                kept.pop()
            if text != ";" or kept[-1:] not in ENDED:
                kept.append(text)
    return " ".join(kept).removesuffix(" ;")


def _strings_and_tokens(source: str) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield the tokens of a source that count, each formatted string as one, on any Python."""
    lines = source.splitlines(keepends=True)
    depth, begun = 0, (0, 0)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        kind = tokenize.tok_name[token.type]
        if kind.endswith("STRING_START"):
            begun, depth = (begun if depth else token.start), depth + 1
        elif kind.endswith("STRING_END"):
            depth -= 1
            if not depth:
                yield begun, _between(lines, begun, token.end)
        elif depth or kind in ("COMMENT", "NL", "ENDMARKER"):
            continue
        else:
            yield token.start, MARKS.get(kind, token.string)


def _between(lines: Sequence[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    """Return the source from one place to another."""
    (first, begin), (last, stop) = start, end
    if first == last:
        return lines[first - 1][begin:stop]
    between = "".join(lines[first : last - 1])
    return lines[first - 1][begin:] + between + lines[last - 1][:stop]


def _digest(parts: Iterable[Any]) -> str:
    return hashlib.sha256(json.dumps(list(parts), sort_keys=True).encode()).hexdigest()[:12]
