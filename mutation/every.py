"""All small changes of some modules: what mutmut can make, run against their tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mutation import stored
from mutation.forks import CAUGHT, ask, read_answers
from mutation.listing import Mutant, list_mutants
from speedbook.commands.reporter import Reporter

#: Share of mutants that has to be caught.
WANTED = 0.9

#: Where a run that was interrupted goes on from.
UNFINISHED = "_build/mutation"


def run(root: Path, names: Sequence[str], jobs: int, anew: bool, reporter: Reporter) -> int:
    """Run the modules named (all, if none is) whose results are not true any more.

    Returns
    -------
    int
        How many of these modules have less than nine in ten of their mutants caught.
    """
    if unknown := set(names) - set(stored.MODULES):
        raise ValueError(f"no module {', '.join(sorted(unknown))}; there are {[*stored.MODULES]}")
    missed = 0
    for name in names or stored.MODULES:
        known, depends = stored.read(root, name), stored.every_depends(root, name)
        if anew or known.get("depends") != depends:
            known = _run(root, name, depends, known, jobs, reporter)
            stored.write(root, name, known, "mutants")
        caught = sum(row["status"] in CAUGHT for row in known["mutants"])
        reporter.say(f"{name}: {caught} of {len(known['mutants'])} mutants are caught.")
        missed += caught < WANTED * len(known["mutants"])
    return missed


def _run(
    root: Path,
    name: str,
    depends: dict[str, str],
    before: stored.Record,
    jobs: int,
    reporter: Reporter,
) -> stored.Record:
    """Run all mutants of a module."""
    mutants, left_out = list_mutants(root, name)
    answers = root / UNFINISHED / f"{name}.{'-'.join(depends.values())}.jsonl"
    answers.parent.mkdir(parents=True, exist_ok=True)
    done = read_answers(answers)
    todo = [mutant for mutant in mutants if mutant.id not in done]
    hints = _hints(before)
    asked = [{**asdict(m), "hint": hints.get((m.line, m.function, m.old, m.new), "")} for m in todo]
    shown = {m.id: f"{name}, line {m.line}: {m.old} -> {m.new}" for m in mutants}
    place = 0
    with reporter.steps(f"{len(todo)} mutants of {name}", len(todo)) as advance:
        for answer in ask(root, asked, stored.tests_of(name), answers, jobs):
            place += answer["status"] != "traced"
            advance(place, "tests one by one" if answer["status"] == "traced" else "")
            if answer["status"] in ("survived", "untested"):
                reporter.say(f"  survives: {shown[answer['id']]}")
    done = read_answers(answers)
    rows = [_row(mutant, done[mutant.id]) for mutant in mutants]
    left_out["the same code"] = sum(row["status"] == "same" for row in rows)
    answers.unlink()
    return {
        "module": f"speedlib/{name}.py",
        "tool": f"mutmut {version('mutmut')}",
        "date": datetime.now(UTC).date().isoformat(),
        "depends": depends,
        "left_out": left_out,
        "mutants": [row for row in rows if row["status"] != "same"],
    }


def _row(mutant: Mutant, answer: dict[str, Any]) -> dict[str, Any]:
    place = {key: getattr(mutant, key) for key in ("line", "function", "old", "new")}
    return place | {key: answer[key] for key in ("status", "test") if key in answer}


def _hints(before: stored.Record) -> dict[tuple[Any, ...], str]:
    """Return by which test a mutant was caught the last time: it is asked first."""
    rows = before.get("mutants", [])
    return {(r["line"], r["function"], r["old"], r["new"]): r["test"] for r in rows if "test" in r}
