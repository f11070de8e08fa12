"""The ledger: every claim, what was found, and the verdict, derived from notebook outputs.

``book/ledger.json`` comes from the committed notebooks and holds nothing that changes from run to
run. ``_build/ledger.json`` comes from the notebooks that the build executed. It also says how long
the notebooks ran, at which commit, and with which packages and data.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from speedbook.claims.cards import rounded_record
from speedbook.claims.claim import Claim
from speedbook.claims.registry import Registry
from speedbook.claims.rules import Verdict
from speedbook.intervals import ERROR
from speedbook.notebook.files import claim_records

if TYPE_CHECKING:
    from nbformat import NotebookNode

LEDGER = "book/ledger.json"
CLAIM_PAGES = "notebooks/claims/"
#: Further fields that a row takes from the registry, if the claim has them.
SAID = ("origin", "severity", "reading", "evidence", "proof")
#: The fields that a row takes from the record, in this order; some records have no `runs`.
FOUND = ("estimate", "interval", "level", "replications", "runs", "seed", "details")


class LedgerError(ValueError):
    """Registry and notebooks do not match; ``problems`` holds a sentence for each fault."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


def derive_ledger(registry: Registry, notebooks: Mapping[str, NotebookNode]) -> dict[str, Any]:
    """Derive the ledger, ``{"claims": {id: row}}``, from all notebooks of the book, executed.

    Raises
    ------
    LedgerError
        If registry and records do not match: a claim without a notebook or a record, a notebook of
        ``notebooks/claims`` without a claim, a claim recorded twice or by another notebook, or a
        verdict that no longer follows from the rule. Also if the intervals of a page miss with a
        probability above 1/1000.
    """
    problems = shelf_problems(registry, notebooks)
    records: dict[str, dict[str, Any]] = {}
    for name, notebook in notebooks.items():
        for entry in (record for cell in notebook.cells for record in claim_records(cell)):
            fault = _record_fault(registry, name, entry, records)
            if fault:
                problems.append(f"{name}: {fault}")
            else:
                records[entry["id"]] = entry
    for claim in registry.claims:
        missing = claim.rule is not None and claim.id not in records
        if missing and claim.notebook in notebooks:
            problems.append(f"claim {claim.id}: {claim.notebook} has no valid record of it")
    problems += _level_problems(registry, records)
    if problems:
        raise LedgerError(problems)
    return {"claims": {claim.id: _row(claim, records.get(claim.id)) for claim in registry.claims}}


def shelf_problems(registry: Registry, names: Collection[str]) -> list[str]:
    """Return a sentence for each claim without a notebook, and each claims page without a claim."""
    without_claim = [
        f"{name}: no claim of book/claims.yml names this notebook"
        for name in names
        if name.startswith(CLAIM_PAGES) and not registry.of_notebook(name)
    ]
    without_notebook = [
        f"claim {claim.id}: {claim.notebook} is not a notebook of the book"
        for claim in registry.claims
        if claim.notebook not in names
    ]
    return without_claim + without_notebook


def _level_problems(registry: Registry, records: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the pages whose intervals do not hold together with probability 99.9 %."""
    lacking: dict[str, float] = {}
    for name, entry in records.items():
        page = registry[name].notebook
        lacking[page] = lacking.get(page, 0.0) + 1 - (entry.get("level") or 1.0)
    return [
        f"{page}: the probability that at least one of its intervals misses is up to "
        f"{error:.3g}, and must be at most {ERROR:g}; see speedbook.intervals.family_level"
        for page, error in lacking.items()
        if error > ERROR * (1 + 1e-6)
    ]


def _record_fault(
    registry: Registry, name: str, entry: dict[str, Any], seen: Mapping[str, Any]
) -> str | None:
    try:
        claim = registry[entry["id"]]
        verdict = claim.verdict(*entry["interval"])
    except ValueError as error:
        return str(error)
    if claim.notebook != name:
        return f"records claim {claim.id}, which book/claims.yml gives to {claim.notebook}"
    if claim.id in seen:
        return f"records claim {claim.id} twice"
    if entry.get("verdict") != verdict:
        return (
            f"the record of claim {claim.id} is stale: it says {entry.get('verdict')}, but the "
            f"rule gives {verdict}"
        )
    return None


def _row(claim: Claim, entry: dict[str, Any] | None) -> dict[str, Any]:
    row = {
        "title": claim.title,
        "place": claim.place,
        "statement": claim.statement,
        "notebook": claim.notebook,
        "rule": None if claim.rule is None else str(claim.rule),
    }
    row |= {key: said for key in SAID if (said := getattr(claim, key)) is not None}
    if entry is None:
        return {**row, "verdict": str(Verdict.NOT_TESTABLE)}
    found = {key: entry[key] for key in FOUND if key in entry}
    return {**row, "verdict": entry["verdict"], **found}


def built_ledger(
    ledger: dict[str, Any],
    seconds: Mapping[str, float],
    facts: Mapping[str, Any],
    agreements: Mapping[str, Any],
    full: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the ledger with the facts of one build, which are never committed.

    These facts are the seconds that each notebook ran, and the facts that all rows share
    (`speedbook.run.provenance.build_facts`). For each claim, they also include the agreement of
    fresh seeds (`speedbook.claims.agreement.ledger_agreements`) and the results of the long setting
    (`speedbook.run.full_results.ledger_full`).
    """
    rows = {
        claim: {**row, "seconds": seconds[row["notebook"]]}
        | ({"agreement": agreements[claim]} if claim in agreements else {})
        | ({"full": full[claim]} if claim in full else {})
        for claim, row in ledger["claims"].items()
    }
    return {"claims": rows, "build": dict(facts)}


def ledger_text(ledger: dict[str, Any]) -> str:
    """Return the ledger as the text of its file; claims keep the order of the registry."""
    return json.dumps(ledger, indent=1, ensure_ascii=False) + "\n"


def read_ledger(root: Path) -> dict[str, Any]:
    """Read the ledger of a book or of its staged pages; without a file it has no claims.

    Raises a ValueError if the file is not a ledger.
    """
    path = root / LEDGER
    if not path.is_file():
        return {"claims": {}}
    try:
        ledger: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if not all(isinstance(row, dict) for row in ledger["claims"].values()):
            raise ValueError("a row is not an object")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        cure = "restore it with `git checkout book/ledger.json`, or run `make refresh`"
        raise ValueError(f"{path}: is not a ledger ({error}); {cure}") from None
    return ledger


def lookup(ledger: Mapping[str, dict[str, Any]], address: str) -> str:
    """Return a number or text from a row of the ledger, in the form for prose.

    An address is ``claim.field`` or ``claim.details.key``, with an optional format after a colon,
    as in ``prop-1.details.worst:.2f``. Without a format, estimate and interval are rounded as on
    the card. Raises a ValueError if the claim, field or format does not exist.
    """
    path, _, form = address.partition(":")
    name, *fields = path.strip().split(".")
    row = ledger.get(name)
    if row is None:
        raise ValueError(f"the ledger has no claim {name!r}; it has {', '.join(ledger) or 'none'}")
    value: Any = row
    for field in fields:
        if isinstance(value, list) and field.isdigit() and int(field) < len(value):
            value = value[int(field)]
        elif isinstance(value, dict) and field in value:
            value = value[field]
        else:
            known = ", ".join(value) if isinstance(value, dict) else "no fields"
            raise ValueError(f"{path!r}: no {field!r} in the ledger; known: {known}")
    if form:
        try:
            return format(value, form.strip())
        except (ValueError, TypeError) as error:
            raise ValueError(f"{address!r}: {error}") from None
    if fields in (["estimate"], ["interval"]):
        estimate, interval = rounded_record(row)
        return estimate if fields == ["estimate"] else interval or estimate
    if isinstance(value, dict | list) or value is None:
        raise ValueError(f"{path!r}: name one number or text of it; got {value!r}")
    return f"{value:,}" if isinstance(value, int) else str(value)
