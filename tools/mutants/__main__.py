"""Show that the checks can fail: put faults into `speedlib` on purpose, and see what notices them.

The faults of ``faults.yml`` are put into copies of the project, one at a time. For some modules,
which ``pyproject.toml`` names, the program mutmut makes all small changes. It needs a system that
can fork processes. The results are stored in ``results``, and the page *Mutants* of the book shows
them.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Sequence
from contextlib import chdir
from datetime import UTC, datetime
from pathlib import Path

from paper.mutants import CAUGHT, FOLDER, Entry, dependencies, read
from speedbook.paths import find_root, write_if_changed
from speedbook.run.lock import BUSY, Busy, only_one

MISSED, FAILED, INTERRUPTED = 1, 3, 130

#: What a copy of the project leaves out.
IGNORED = shutil.ignore_patterns(".*", "_build", "runs", "__pycache__")
#: Seconds for the tests of a fault, and for its claims; a longer run counts as a failure.
PATIENCE = 900
#: The folder in which mutmut works; all else ignores it, and it survives an interruption.
WORKSHOP = "_build/mutants"
#: Functions that only compose the words of an error, on which no result depends.
COMPLAINTS = ("_complaint", "_cure_of_rounding")
#: The share of a module's changes that must be caught.
WANTED = 0.9


def main() -> int:
    """Run the chosen parts; an error is reported in one line."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.mutants",
        description="Put faults into speedlib on purpose, and store which check notices each.",
        epilog="Exit codes: 0 every fault and nine in ten changes of each module are noticed, 1 "
        "they are not, 2 wrong usage, 3 a run failed, 4 another command is at work in the same "
        "folder, 130 interrupted. Stored results that are still valid are kept, and an "
        "interrupted run is continued.",
    )
    runs = {"faults": run_faults, "changes": run_changes}
    parser.add_argument("what", nargs="?", choices=runs, help="run only these; by default, both")
    parser.add_argument("--anew", action="store_true", help="also run what has valid results")
    asked = parser.parse_args()
    try:
        root = find_root(Path.cwd())
        chosen = [run for name, run in runs.items() if asked.what in (None, name)]
        with only_one(root, "make mutants", print):
            return MISSED if sum([run(root, asked.anew) for run in chosen]) else 0
    except Busy as error:
        print(f"mutants: {error}", file=sys.stderr)
        return BUSY
    except (RuntimeError, ValueError, OSError, subprocess.CalledProcessError) as error:
        print(f"mutants: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("Interrupted: finished results are kept.", file=sys.stderr)
        return INTERRUPTED


def store(root: Path, name: str, results: Entry) -> None:
    """Store all results, one row in each line, so differences are readable."""
    head = json.dumps({**results, "rows": []}, ensure_ascii=False).removesuffix("]}")
    rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in results["rows"])
    write_if_changed(root / FOLDER / name, f"{head}\n{rows}\n]}}\n")


def today() -> str:
    """Return the date."""
    return datetime.now(UTC).date().isoformat()


# Faults with a name.


def run_faults(root: Path, anew: bool) -> int:
    """Run the faults that have no valid results; return how many faults no check notices."""
    rows = {row["name"]: row for row in read(root, "results/faults.json")["rows"]}
    faults = read(root, "faults.yml")
    for fault in faults:
        name, depends = fault["name"], dependencies(root, fault)
        if anew or rows.get(name, {}).get("depends") != depends:
            rows[name] = {"name": name, "date": today(), **trial(root, fault), "depends": depends}
            kept = [rows[each["name"]] for each in faults if each["name"] in rows]
            store(root, "results/faults.json", {"rows": kept})
        red = [rows[name]["test"], *(f"{c}: {s}" for c, s in rows[name]["claims"].items() if s)]
        print(f"{name}: {'; '.join(filter(None, red)) or 'NOT NOTICED'}", flush=True)
    return sum(not row["test"] and not any(row["claims"].values()) for row in rows.values())


def with_fault(root: Path, fault: Entry) -> str:
    """Return the text of a file with its fault.

    Raises
    ------
    ValueError
        If the text to replace does not occur exactly once.
    """
    text: str = (root / fault["file"]).read_text(encoding="utf-8")
    if (count := text.count(fault["old"])) != 1:
        rule = f"its text must occur once in {fault['file']}; it occurs {count} times"
        raise ValueError(f"fault {fault['name']}: {rule}")
    return text.replace(fault["old"], fault["new"])


def trial(root: Path, fault: Entry) -> Entry:
    """Put a fault into a copy; return the first failing test and the changed claims.

    Raises
    ------
    RuntimeError
        If the test also fails without the fault, or a check cannot be run.
    """
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Path(shutil.copytree(root, Path(folder) / "book", ignore=IGNORED))
        (copy / fault["file"]).write_text(with_fault(root, fault), encoding="utf-8")
        test = red_test(copy, fault["tests"])
        claims = red_claims(copy, fault["claims"]) if fault["claims"] else {}
    if "::" in test and red_test(root, [test]):
        raise RuntimeError(f"{test} also fails without the fault {fault['name']}")
    return {"test": test, "claims": claims}


def red_test(folder: Path, tests: Sequence[str]) -> str:
    """Return the first failing test, or an empty text."""
    options = ["-x", "-q", "-rfE", "--tb=no", "-p", "no:cacheprovider"]
    done = _run(folder, ["-m", "pytest", *options, *tests])
    red = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", done.stdout, re.MULTILINE)
    if done.returncode and not red:
        raise RuntimeError(f"pytest ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return red[1] if red else ""


def red_claims(folder: Path, claims: Sequence[str]) -> dict[str, str]:
    """Return the changed result of each claim, or an empty text."""
    done = _run(folder, ["-m", "speedbook", "verify", *claims, "--jobs", "1", "--quiet"])
    if done.returncode not in (0, 1, 3):
        raise RuntimeError(f"verify ended with {done.returncode}: {done.stderr}")
    said = {}
    for claim in claims:
        moved = re.search(rf"^Claim {re.escape(claim)}(?:, seed \d+)?: (.*?);", done.stderr, re.M)
        said[claim] = moved[1] if moved else ""
    if done.returncode == 3:
        stopped = re.search(r"^speedbook: (?:.*\.ipynb: )?(.*)", done.stderr, re.M)
        said[claims[0]] = f"its page stops: {stopped[1] if stopped else ''}"
    return said


def _run(folder: Path, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder, with its packages; a run that does not end counts as failed."""
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH", "")]))
    known = {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, *arguments]
    try:
        return subprocess.run(
            command,
            cwd=folder,
            env=os.environ | known,
            timeout=PATIENCE,
            capture_output=True,
            text=True,
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 3, "FAILED endless", "speedbook: it is endless")


# All small changes.


def run_changes(root: Path, anew: bool) -> int:
    """Run all changes unless their results are valid; return how many modules miss the target."""
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    depends = dependencies(root, settings["tool"]["mutmut"])
    results = read(root, "results/changes.json")
    if anew or results.get("depends") != depends:
        place = root / WORKSHOP / "-".join(depends.values())
        if anew:
            shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(root, place, ignore=IGNORED, dirs_exist_ok=True)
        run_mutmut(place)
        # On a busy machine a change may time out that would survive on an idle one.
        if slow := changes_with(place, "timeout"):
            run_mutmut(place, *slow)
        results = {"date": today(), "depends": depends, "rows": read_changes(place)}
        store(root, "results/changes.json", results)
        shutil.rmtree(root / WORKSHOP)
    total = Counter(row["module"] for row in results["rows"])
    caught = Counter(row["module"] for row in results["rows"] if row["status"] in CAUGHT)
    for module, count in total.items():
        print(f"{module}: {caught[module]} of {count} changes are caught.")
    return sum(caught[module] < WANTED * count for module, count in total.items())


def run_mutmut(place: Path, *names: str) -> None:
    """Put the named changes, or all, into a copy of the project, and run the tests on each."""
    subprocess.run([sys.executable, "-m", "mutmut", "run", *names], cwd=place, check=True)


def changes_with(place: Path, status: str) -> list[str]:
    """Return mutmut's names of the changes with this status."""
    from mutmut.configuration import config
    from mutmut.stats import status_by_exit_code

    with chdir(place):
        metas = [Path(f"mutants/{path}.meta").read_text("utf-8") for path in config().only_mutate]
    codes = {k: v for meta in metas for k, v in json.loads(meta)["exit_code_by_key"].items()}
    return [key for key, code in codes.items() if status_by_exit_code[code] == status]


def read_changes(place: Path) -> list[Entry]:
    """Return mutmut's changes in a folder: the place, the line before and after, and the status.

    Raises
    ------
    RuntimeError
        If a module has no changes, or some have not been tested.
    """
    from mutmut.configuration import config
    from mutmut.mutation.diff_apply import get_diff_for_mutant
    from mutmut.stats import status_by_exit_code
    from mutmut.utils.format_utils import orig_function_and_class_names_from_key

    rows = []
    with chdir(place):
        for path in config().only_mutate:
            codes = json.loads(Path(f"mutants/{path}.meta").read_text("utf-8"))["exit_code_by_key"]
            if not codes or not {None, 2}.isdisjoint(codes.values()):
                raise RuntimeError(f"mutmut has not finished {path}: run again, or with `--anew`")
            for key, code in codes.items():
                names = orig_function_and_class_names_from_key(key)[::-1]
                diff = get_diff_for_mutant(key, path=path).splitlines()[2:]
                row = {"module": Path(path).stem, "function": ".".join(filter(None, names))}
                for side, sign in ("old", "-"), ("new", "+"):
                    row[side] = " ".join(line[1:].strip() for line in diff if line[0] == sign)
                if row["function"] not in COMPLAINTS:
                    rows.append({**row, "status": status_by_exit_code[code]})
    return rows


if __name__ == "__main__":
    sys.exit(main())
