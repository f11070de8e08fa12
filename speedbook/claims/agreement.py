"""The agreement of verdicts under fresh seeds: ``book/agreement.json``.

Only ``speedbook verify --seeds 20 --store`` writes it. Each entry holds the rule that decided, and
what the notebook recorded at its own seed. As long as both are unchanged, the agreement is valid,
whatever lines of code have changed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from speedbook.claims.registry import Registry
from speedbook.paths import write_if_changed

AGREEMENT = "book/agreement.json"
#: How often noise alone may flip a verdict, according to the registry's comment on its rules.
FLIP_RATE = 0.001
#: Digits that two machines agree on.
DIGITS = 6


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Trial(_Part):
    """The result of one seed."""

    seed: int | None
    verdict: str
    estimate: float
    interval: tuple[float, float]


class Agreement(_Part):
    """The verdicts of one claim under fresh seeds, one trial per seed, and the rule that decided.

    ``own`` is what the committed notebook recorded at its own seed.
    """

    setting: Literal["defaults", "full"]
    rule: str
    own: Trial
    trials: tuple[Trial, ...]

    def count(self, verdict: str) -> int:
        """Return the number of seeds with a verdict."""
        return Counter(trial.verdict for trial in self.trials)[verdict]

    def changed(self, row: Mapping[str, Any]) -> list[str]:
        """Return what has changed in the ledger's row since the seeds ran."""
        own = own_trial(row)
        parts = {"the rule": self.rule == row["rule"], "its record": _alike(self.own, own)}
        return [name for name, same in parts.items() if not same]


class Agreements(_Part):
    """The whole file."""

    claims: dict[str, Agreement] = {}


def own_trial(row: Mapping[str, Any]) -> Trial:
    """Return the trial of the notebook's own seed, from a row of the ledger."""
    return Trial(**{key: row[key] for key in Trial.model_fields})


def _alike(one: Trial, other: Trial) -> bool:
    """Compare two trials, except for the last digits, in which machines may differ."""

    def essence(trial: Trial) -> list[object]:
        numbers = (trial.estimate, *trial.interval)
        return [trial.seed, trial.verdict, *(f"{number:.{DIGITS}g}" for number in numbers)]

    return essence(one) == essence(other)


def read_agreements(root: Path) -> dict[str, Agreement]:
    """Read the stored agreements by claim; empty if there is no file.

    Raises a ValueError if the file is not what `store_agreements` writes.
    """
    path = root / AGREEMENT
    if not path.is_file():
        return {}
    try:
        return Agreements.model_validate_json(path.read_bytes()).claims
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "file"
        raise ValueError(f"{AGREEMENT}: {place}: {first['msg']}") from None


def store_agreements(root: Path, new: Mapping[str, Agreement], registry: Registry) -> None:
    """Add new agreements to the stored ones, in order, and remove those of deleted claims."""
    kept = {**read_agreements(root), **new}
    entries = {claim.id: kept[claim.id] for claim in registry.claims if claim.id in kept}
    # One line for each seed, so differences are readable.
    claims = ",\n".join(_entry(name, agreement) for name, agreement in entries.items())
    write_if_changed(root / AGREEMENT, f'{{"claims": {{\n{claims}\n}}}}\n')


def _entry(name: str, agreement: Agreement) -> str:
    head = agreement.model_dump(exclude={"trials"})
    trials = ",\n".join(f"   {json.dumps(trial.model_dump())}" for trial in agreement.trials)
    inside = json.dumps(head)[1:-1]
    return f' {json.dumps(name)}: {{{inside},\n  "trials": [\n{trials}\n  ]}}'


def ledger_agreements(root: Path, rows: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the agreements for a built ledger, by claim.

    Each is ``{"seeds": …, "verdicts": {verdict: count}, "setting": …, "changed": [what]}``.
    """
    return {
        name: {
            "seeds": len(agreement.trials),
            "verdicts": dict(Counter(trial.verdict for trial in agreement.trials)),
            "setting": agreement.setting,
            "changed": agreement.changed(rows[name]),
        }
        for name, agreement in read_agreements(root).items()
        if "estimate" in rows.get(name, {})
    }


def agreement_text(row: Mapping[str, Any]) -> str:
    """Return the agreement of a row of the built ledger as text; empty if none is stored.

    Examples
    --------
    >>> stored = {"seeds": 20, "verdicts": {"supported": 19}, "setting": "defaults", "changed": []}
    >>> agreement_text({"verdict": "supported", "agreement": stored})
    '19 of 20 fresh seeds agree'
    >>> stored["verdicts"]["inconclusive"] = 1
    >>> agreement_text({"verdict": "supported", "agreement": stored})
    '19 of 20 fresh seeds agree; inconclusive: 1'
    >>> agreement_text({"verdict": "supported", "agreement": {**stored, "changed": ["the rule"]}})
    '19 of 20 fresh seeds agree; inconclusive: 1 (stale: the rule has changed since)'
    """
    stored = row.get("agreement")
    if not stored:
        return ""
    text = f"{stored['verdicts'].get(row['verdict'], 0)} of {stored['seeds']} fresh seeds agree"
    others = [f"{word}: {n}" for word, n in stored["verdicts"].items() if word != row["verdict"]]
    text = "; ".join([text, *others])
    changed: Sequence[str] = stored["changed"]
    if not changed:
        return text
    return f"{text} (stale: {', '.join(changed)} {'have' if changed[1:] else 'has'} changed since)"
