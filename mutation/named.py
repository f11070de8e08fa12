"""The named mutants: tests by the plugin, claims one after the other in a copy of the project."""

from __future__ import annotations

import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mutation import stored
from mutation.forks import ask, changed_function, search_path
from speedbook.claims.registry import load_registry
from speedbook.commands.reporter import Reporter

#: What a copy leaves out. Compiled modules stay: they are good for all files but the mutant's.
IGNORED = shutil.ignore_patterns(".*", "_build", "runs", "results")

#: Seconds for the claims of a mutant, which are red if they take longer.
PATIENCE = 900

Mutant = Mapping[str, Any]


def run(root: Path, names: Sequence[str], jobs: int, anew: bool, reporter: Reporter) -> int:
    """Run the mutants named (all, if none is) that are not stored yet; return how many survive.

    Results are stored after every mutant: an interrupted run goes on where it was.
    """
    registry, mutants = load_registry(root), stored.named_mutants(root)
    order = [mutant["name"] for mutant in mutants]
    if unknown := set(names) - set(order):
        raise ValueError(f"no mutant called {', '.join(sorted(unknown))}; there are {order}")
    for mutant in mutants:
        texts(root, mutant)  # all are checked before any runs
    rows = {row["name"]: row for row in stored.read(root, "named").get("mutants", [])}
    depends = {m["name"]: stored.named_depends(root, m, registry) for m in mutants}
    todo = [
        mutant
        for mutant in mutants
        if (mutant["name"] in names if names else True)
        and (anew or rows.get(mutant["name"], {}).get("depends") != depends[mutant["name"]])
    ]
    reporter.say(f"{len(todo)} of {len(mutants)} named mutants are to be run.")
    tests = _red_tests(root, todo, jobs, reporter)
    _check_green(root, sorted(set(tests.values()) - {"", "endless", "crash"}))
    for name, test in tests.items():
        rows[name] = {"name": name, "test": test, "claims": None}  # not asked yet
    _store(root, order, rows)
    with _copies(root, min(jobs, len(todo))) as copies, reporter.bar("Claims", len(todo)) as bar:
        for asked, row in _all(copies, todo, jobs):
            row["test"] = tests[asked["name"]]
            rows[asked["name"]] = {**row, "depends": depends[asked["name"]]}
            _store(root, order, rows)
            bar(_said(row))
    chosen = [rows[name] for name in (names or order)]
    return sum(not row["test"] and not any(row["claims"].values()) for row in chosen)


def _store(root: Path, order: Sequence[str], rows: Mapping[str, dict[str, Any]]) -> None:
    kept = [rows[name] for name in order if name in rows]
    stored.write(root, "named", {"mutants": kept}, "mutants")


def texts(root: Path, mutant: Mutant) -> tuple[str, str]:
    """Return the text of a file without its mutant and with it.

    Raises
    ------
    ValueError
        If the text to replace does not occur exactly once.
    """
    text = (root / mutant["file"]).read_text(encoding="utf-8")
    if (count := text.count(mutant["old"])) != 1:
        raise ValueError(
            f"mutant {mutant['name']}: its text must occur once in {mutant['file']}; it occurs "
            f"{count} times"
        )
    return text, text.replace(mutant["old"], mutant["new"])


def _red_tests(
    root: Path, mutants: Sequence[Mutant], jobs: int, reporter: Reporter
) -> dict[str, str]:
    """Return for each mutant the test that caught it, or nothing."""
    asked = [
        {"id": mutant["name"], "module": module_of(mutant["file"]), "tests": mutant["tests"]}
        | dict(zip(("function", "source"), changed_function(*texts(root, mutant)), strict=True))
        for mutant in mutants
    ]
    files = sorted({name for mutant in mutants for name in mutant["tests"]})
    found = dict.fromkeys((mutant["name"] for mutant in mutants), "")
    with (
        tempfile.TemporaryDirectory() as folder,
        reporter.steps(f"Tests of {len(asked)} mutants", len(asked)) as advance,
    ):
        for answer in ask(root, asked, files, Path(folder) / "answers.jsonl", jobs):
            if answer["id"] in found:
                found[answer["id"]] = answer.get("test", "")
                if answer["status"] in ("endless", "crash"):
                    found[answer["id"]] = answer["status"]
                advance(sum(map(bool, found.values())), answer["id"])
    return found


def _check_green(root: Path, tests: Sequence[str]) -> None:
    """Run without a mutant what turned red with one: a test that is red anyway proves nothing."""
    if tests:
        done = _run(root, ["-m", "pytest", "-q", "-p", "no:cacheprovider", *tests])
        if done.returncode:
            raise RuntimeError(f"tests fail without a mutant:\n{done.stdout}{done.stderr}")


def module_of(file: str) -> str:
    """Return the name of the module that a file holds."""
    return file.removesuffix(".py").replace("/", ".")


@contextmanager
def _copies(root: Path, count: int) -> Iterator[queue.Queue[Path]]:
    """Copy the project, once for each job."""
    folders: queue.Queue[Path] = queue.Queue()
    with tempfile.TemporaryDirectory(prefix="mutants-") as top:
        for place in range(count):
            folders.put(Path(shutil.copytree(root, Path(top) / str(place), ignore=IGNORED)))
        yield folders


def _all(
    copies: queue.Queue[Path], mutants: Sequence[Mutant], jobs: int
) -> Iterator[tuple[Mutant, dict[str, Any]]]:
    """Yield mutants with their results, as they are done."""

    def one(mutant: Mutant) -> dict[str, Any]:
        copy = copies.get()
        try:
            return trial(copy, mutant)
        finally:
            copies.put(copy)

    with ThreadPoolExecutor(max(1, jobs)) as pool:
        futures = [pool.submit(one, mutant) for mutant in mutants]
        try:
            for mutant, future in zip(mutants, futures, strict=True):
                yield mutant, future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def trial(copy: Path, mutant: Mutant) -> dict[str, Any]:
    """Put a mutant into a copy, ask its claims, and take it out again."""
    path, start = copy / mutant["file"], time.monotonic()
    before, after = texts(copy, mutant)
    path.write_text(after, encoding="utf-8")
    try:
        claims = red_claims(copy, mutant["claims"]) if mutant["claims"] else {}
    finally:
        path.write_text(before, encoding="utf-8")
    return {
        "name": mutant["name"],
        "date": datetime.now(UTC).date().isoformat(),
        "seconds": round(time.monotonic() - start),
        "claims": claims,
    }


def red_claims(copy: Path, claims: Sequence[str]) -> dict[str, str]:
    """Return for each claim what turned red, or nothing."""
    done = _run(copy, ["-m", "speedbook", "verify", *claims, "--jobs", "1", "--quiet"])
    if done.returncode not in (0, 1, 3):
        raise RuntimeError(f"verify ended with {done.returncode}: {done.stderr}")
    said = dict.fromkeys(claims, "")
    for claim in claims:
        moved = re.search(
            rf"^Claim {re.escape(claim)}(?:, seed \d+)?: (.*?);", done.stderr, re.MULTILINE
        )
        said[claim] = moved[1] if moved else ""
    if done.returncode == 3:
        reason = [line for line in done.stderr.splitlines() if line.startswith("speedbook: ")]
        said[claims[0]] = "its page stops: " + _shown(reason[0].split(".ipynb: ")[-1])
    return said


def _shown(text: str) -> str:
    return text if len(text) <= 160 else text[:160] + " …"


def _run(folder: Path, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder, with the packages of that folder."""
    environment = os.environ | {
        "PYTHONPATH": search_path(folder),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        out, error = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)  # upon which it ends its kernels
        process.communicate()
        return subprocess.CompletedProcess(arguments, 3, "", "speedbook: .ipynb: it does not end")
    return subprocess.CompletedProcess(arguments, process.returncode, out, error)


def _said(row: Mapping[str, Any]) -> str:
    claims = ", ".join(name for name, what in row["claims"].items() if what)
    caught = " and ".join(filter(None, [row["test"], claims and f"claim {claims}"]))
    return f"{row['name']}: {caught or 'SURVIVES'} ({row['seconds']} s)"
