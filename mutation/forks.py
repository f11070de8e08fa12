"""Mutants of functions, asked of the pytest plugin: `mutation.plugin` says how they are run."""

from __future__ import annotations

import ast
import json
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

#: What the plugin says of a mutant that some check noticed. One that never ends, or takes the
#: process with it, is noticed by whoever waits.
CAUGHT = ("caught", "endless", "crash")


def ask(
    root: Path, mutants: Sequence[Mapping[str, Any]], tests: Sequence[str], answers: Path, jobs: int
) -> Iterator[dict[str, Any]]:
    """Run pytest with the plugin, and yield its answers as they come.

    Parameters
    ----------
    root : Path
        The project.
    mutants : sequence of dict
        With ``id``, ``module``, ``function``, ``source`` (of the whole function); ``hint``, the
        test to ask first, and ``tests``, the files to look at, are optional.
    tests : sequence of str
        Files of tests.
    answers : Path
        Where the plugin writes, one answer a line; what is there already stays.
    jobs : int
        Mutants at a time.
    """
    if not mutants:
        return
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / "mutants.json"
        listed.write_text(json.dumps(list(mutants)), encoding="utf-8")
        options = ["-q", "-s", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "mutation.plugin"]
        options += ["--mutants", str(listed), "--answers", str(answers), "--forks", str(jobs)]
        read = answers.stat().st_size if answers.is_file() else 0
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", *options, *tests],
            cwd=root,
            env=os.environ | {"PYTHONPATH": search_path(root)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            while process.poll() is None:
                time.sleep(0.5)
                yield from (fresh := _fresh(answers, read))
                read += sum(answer.pop("bytes") for answer in fresh)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            said, _ = process.communicate()
        yield from _fresh(answers, read)
        if process.returncode not in (0, 5):
            raise RuntimeError(f"pytest ended with {process.returncode}:\n{said}")


def search_path(root: Path) -> str:
    """Return where Python is to look first: in the project itself."""
    return os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH", "")]))


def _fresh(answers: Path, start: int) -> list[dict[str, Any]]:
    """Return the whole lines behind a place in a file."""
    if not answers.is_file():
        return []
    with answers.open("rb") as file:
        file.seek(start)
        lines = [line for line in file.read().splitlines(keepends=True) if line.endswith(b"\n")]
    return [{**json.loads(line), "bytes": len(line)} for line in lines]


def read_answers(path: Path) -> dict[str, dict[str, Any]]:
    """Return what is known of each mutant; a line that was half-written when all ended is not."""
    found = {}
    for line in path.read_text("utf-8").splitlines() if path.is_file() else ():
        try:
            answer = json.loads(line)
        except json.JSONDecodeError:
            continue
        if answer["status"] != "traced":
            found[answer["id"]] = answer
    return found


def changed_function(before: str, after: str) -> tuple[str, str]:
    """Return name and source of the one function or method in which two texts differ.

    Raises
    ------
    ValueError
        If they differ elsewhere, or nowhere.

    Examples
    --------
    >>> changed_function("def f(x):\\n    return x", "def f(x):\\n    return -x")
    ('f', 'def f(x):\\n    return -x')
    """
    old, new = _functions(before), _functions(after)
    names = [name for name in new if new[name] != old.get(name)]
    if len(names) != 1 or old.keys() != new.keys():
        raise ValueError(f"a change must be within one function; it is within {names}")
    return names[0], new[names[0]]


def _functions(text: str) -> dict[str, str]:
    """Return the source of functions and methods by the name that Python gives them."""
    found = {}
    for node in ast.parse(text).body:
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        prefix = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
        for function in inner:
            if isinstance(function, ast.FunctionDef):
                source = ast.get_source_segment(text, function, padded=True) or ""
                found[prefix + function.name] = textwrap.dedent(source)
    return found
