"""The named mutants: one at a time in a copy of the project, tests and claims until one is red."""

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
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mutation import stored
from speedbook.claims import load_registry
from speedbook.progress import Reporter

#: What a copy leaves out.
IGNORED = shutil.ignore_patterns(".*", "_build", "runs", "__pycache__", "results")

#: Seconds for tests and for claims; a mutant that takes longer counts as endless, which is red.
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
        mutated(root, mutant)  # all are checked before any runs
    rows = {row["name"]: row for row in stored.read(root, "named").get("mutants", [])}
    depends = {m["name"]: stored.named_depends(root, m, registry) for m in mutants}
    todo = [
        mutant
        for mutant in mutants
        if (mutant["name"] in names if names else True)
        and (anew or rows.get(mutant["name"], {}).get("depends") != depends[mutant["name"]])
    ]
    reporter.say(f"{len(todo)} of {len(mutants)} named mutants are to be run.")
    with _copies(root, min(jobs, len(todo))) as copies, reporter.bar("Mutants", len(todo)) as bar:
        for mutant, row in _all(copies, todo, jobs):
            rows[mutant["name"]] = {**row, "depends": depends[mutant["name"]]}
            kept = [rows[name] for name in order if name in rows]
            stored.write(root, "named", {"mutants": kept}, "mutants")
            bar(_said(row))
    chosen = [rows[name] for name in (names or order)]
    return sum(not row["test"] and not any(row["claims"].values()) for row in chosen)


def mutated(root: Path, mutant: Mutant) -> str:
    """Return the text of a file with its mutant.

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
    return text.replace(mutant["old"], mutant["new"])


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
    """Put a mutant into a copy, run tests and claims, and take it out again."""
    path = copy / mutant["file"]
    text, start = path.read_text(encoding="utf-8"), time.monotonic()
    path.write_text(mutated(copy, mutant), encoding="utf-8")
    try:
        test = _first_red_test(copy, mutant["tests"]) if mutant["tests"] else ""
        claims = _red_claims(copy, mutant["claims"]) if mutant["claims"] else {}
    finally:
        path.write_text(text, encoding="utf-8")
    return {
        "name": mutant["name"],
        "date": datetime.now(UTC).date().isoformat(),
        "seconds": round(time.monotonic() - start),
        "test": test,
        "claims": claims,
    }


def _first_red_test(copy: Path, tests: Sequence[str]) -> str:
    """Return the test that fails first, or nothing."""
    options = ["-x", "-q", "-rfE", "-p", "no:cacheprovider"]
    done = _run(copy, ["-m", "pytest", *options, *tests])
    if done.returncode == 0:
        return ""
    found = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", done.stdout, re.MULTILINE)
    if done.returncode not in (1, 2) or found is None:
        raise RuntimeError(f"pytest ended with {done.returncode}: {done.stdout}{done.stderr}")
    return found[1]


def _red_claims(copy: Path, claims: Sequence[str]) -> dict[str, str]:
    """Return for each claim what turned red, or nothing."""
    done = _run(copy, ["-m", "speedbook", "verify", *claims, "--jobs", "1", "--quiet"])
    if done.returncode not in (0, 1, 3):
        raise RuntimeError(f"verify ended with {done.returncode}: {done.stderr}")
    said = dict.fromkeys(claims, "")
    for claim in claims:
        moved = re.search(rf"^Claim {re.escape(claim)}[,:] ?(.*?);", done.stderr, re.MULTILINE)
        said[claim] = moved[1] if moved else ""
    if done.returncode == 3:
        reason = [line for line in done.stderr.splitlines() if line.startswith("speedbook: ")]
        said[claims[0]] = "its page stops: " + _shown(reason[0].split(".ipynb: ")[-1])
    return said


def _shown(text: str) -> str:
    return text if len(text) <= 160 else text[:160] + " …"


def _run(copy: Path, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run Python in a copy, with the packages of the copy; end it with all that it started."""
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(copy), os.environ.get("PYTHONPATH", "")]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=copy,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, error = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(arguments, 1, "FAILED endless\n", "Claim : endless;")
    finally:
        if process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return subprocess.CompletedProcess(arguments, process.returncode, out, error)


def _said(row: Mapping[str, Any]) -> str:
    claims = ", ".join(name for name, what in row["claims"].items() if what)
    caught = " and ".join(filter(None, [row["test"], claims and f"claim {claims}"]))
    return f"{row['name']}: {caught or 'SURVIVES'} ({row['seconds']} s)"
