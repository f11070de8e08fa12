"""How often a verdict comes out the same under fresh seeds: ``book/agreement.json``.

It is written by ``speedbook verify --seeds 20 --store`` and by nothing else. Each entry says what
it depends on, so that the ledger can tell when that has changed since.
"""

from __future__ import annotations

import ast
import io
import json
import tokenize
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

from nbformat import NotebookNode
from pydantic import BaseModel, ConfigDict, ValidationError

from speedbook.claims.registry import Claim, Registry
from speedbook.notebook.files import code
from speedbook.paths import files_below, write_if_changed
from speedbook.run.provenance import digest

AGREEMENT = "book/agreement.json"
#: What an agreement depends on, in the words of whoever reads that it has changed.
NOTEBOOK, RULE, LIBRARY = "the notebook", "the claim", "speedlib"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Trial(_Part):
    """What one seed gave."""

    seed: int
    verdict: str
    estimate: float
    interval: tuple[float, float]


class Agreement(_Part):
    """The verdicts of one claim under fresh seeds.

    Attributes
    ----------
    setting : {"defaults", "paper"}
        Whether ``notebooks/paper.yml`` was applied.
    depends : dict
        Digests of notebook, claim and library.
    trials : tuple of Trial
        One for each seed.
    """

    setting: Literal["defaults", "paper"]
    depends: dict[str, str]
    trials: tuple[Trial, ...]

    def count(self, verdict: str) -> int:
        """Return how many seeds gave a verdict."""
        return Counter(trial.verdict for trial in self.trials)[verdict]

    def changed(self, depends: Mapping[str, str]) -> list[str]:
        """Return what has changed since the seeds were tried."""
        return [name for name, now in depends.items() if self.depends.get(name) != now]


class Agreements(_Part):
    """The whole file."""

    claims: dict[str, Agreement] = {}


def dependencies(root: Path, claim: Claim, notebook: NotebookNode) -> dict[str, str]:
    """Return digests of what the verdicts of a claim depend on.

    Data are not among them: the code names their checksums. Nor are remarks in the library, which
    change no number.
    """
    library = files_below(root / "speedlib").items()
    return {
        NOTEBOOK: digest({str(place): source for place, source in enumerate(code(notebook))}),
        RULE: digest({"claim": claim.model_dump_json(include={"kind", "rule", "notebook"})}),
        LIBRARY: digest(
            {n: without_remarks(p.read_text("utf-8")) for n, p in library if p.suffix == ".py"}
        ),
    }


@cache
def without_remarks(source: str) -> str:
    r"""Return Python source without comments, docstrings and blank lines.

    Examples
    --------
    >>> without_remarks('def f():\n    "Halve."\n\n    return 0.5  # not "# 2"\n')
    'def f():\n    return 0.5'

    Notes
    -----
    Remembered: a ledger asks for the same files once for each of its claims.
    """
    remarks = {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and ast.get_docstring(node) is not None
        for line in range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)
    }
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    ends = {token.start[0]: token.start[1] for token in tokens if token.type == tokenize.COMMENT}
    lines = (
        line[: ends.get(number)].rstrip()
        for number, line in enumerate(source.splitlines(), 1)
        if number not in remarks
    )
    return "\n".join(filter(None, lines))


def read_agreements(root: Path) -> dict[str, Agreement]:
    """Read what is stored, by claim; empty where nothing is.

    Raises
    ------
    ValueError
        If the file is not what `store_agreements` writes.
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
    """Write new agreements beside those stored; claims that are no more go, the rest is ordered."""
    kept = {**read_agreements(root), **new}
    entries = {claim.id: kept[claim.id] for claim in registry.claims if claim.id in kept}
    # One line for a seed, so that a difference can be read.
    claims = ",\n".join(_entry(name, agreement) for name, agreement in entries.items())
    write_if_changed(root / AGREEMENT, f'{{"claims": {{\n{claims}\n}}}}\n')


def _entry(name: str, agreement: Agreement) -> str:
    head = agreement.model_dump(exclude={"trials"})
    trials = ",\n".join(f"   {json.dumps(trial.model_dump())}" for trial in agreement.trials)
    inside = json.dumps(head)[1:-1]
    return f' {json.dumps(name)}: {{{inside},\n  "trials": [\n{trials}\n  ]}}'


def ledger_agreements(
    root: Path, registry: Registry, notebooks: Mapping[str, NotebookNode]
) -> dict[str, dict[str, Any]]:
    """Return what a built ledger says of agreement, by claim.

    Returns
    -------
    dict
        Claim to ``{"seeds": …, "verdicts": {verdict: how many}, "setting": …, "changed": [what]}``.
    """
    found = {}
    for name, agreement in read_agreements(root).items():
        claim = next((claim for claim in registry.claims if claim.id == name), None)
        if claim is not None and claim.notebook in notebooks:
            now = dependencies(root, claim, notebooks[claim.notebook])
            found[name] = {
                "seeds": len(agreement.trials),
                "verdicts": dict(Counter(trial.verdict for trial in agreement.trials)),
                "setting": agreement.setting,
                "changed": agreement.changed(now),
            }
    return found


def agreement_text(row: Mapping[str, Any]) -> str:
    """Return the agreement of a row of the built ledger as text; empty where none is stored.

    Examples
    --------
    >>> stored = {"seeds": 20, "verdicts": {"supported": 19}, "setting": "defaults", "changed": []}
    >>> agreement_text({"verdict": "supported", "agreement": stored})
    '19 of 20 fresh seeds agree'
    >>> agreement_text({"verdict": "supported", "agreement": {**stored, "changed": ["speedlib"]}})
    '19 of 20 fresh seeds agree (stale: speedlib has changed since)'
    """
    stored = row.get("agreement")
    if not stored:
        return ""
    text = f"{stored['verdicts'].get(row['verdict'], 0)} of {stored['seeds']} fresh seeds agree"
    changed: Sequence[str] = stored["changed"]
    if not changed:
        return text
    return f"{text} (stale: {', '.join(changed)} {'have' if changed[1:] else 'has'} changed since)"
