"""The stored results of the long setting, ``full``: ``book/full.json``.

Only ``speedbook build --full`` writes it. For each notebook in ``notebooks/full.yml`` it holds the
results and their origin: parameters, time, the digest of all that they depend on, the commit, the
packages and the machine. It also holds what the notebook recorded at its defaults at that time. The
results are valid as long as this record, the parameters and the rules are unchanged, even if code
or prose has changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from nbformat import NotebookNode
from pydantic import BaseModel, ConfigDict, ValidationError

from speedbook.claims.agreement import DIGITS, Trial, own_trial
from speedbook.claims.cards import rounded_record
from speedbook.claims.registry import Registry
from speedbook.claims.rules import Verdict
from speedbook.notebook.contract import source_problems
from speedbook.notebook.files import read_notebook
from speedbook.notebook.parameters import Value, notebook_parameters
from speedbook.notebook.values import as_shown, full_notebooks, full_values, read_values
from speedbook.paths import write_if_changed
from speedbook.run.manifest import Environment
from speedbook.run.provenance import digest
from speedbook.run.results import Results, read_results

FULL_RESULTS = "book/full.json"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Basis(_Part):
    """The basis on which stored results are judged to be valid.

    ``parameters`` holds the values in ``notebooks/full.yml``, and ``rules`` the rules of the
    notebook's claims. ``own`` is what the committed notebook records at its defaults; for a
    notebook without claims, ``shown`` is a digest of its figures and tables instead.
    """

    parameters: dict[str, Value]
    rules: dict[str, str]
    own: dict[str, Trial]
    shown: str

    def changed(self, now: Basis, claim: str | None = None) -> list[str]:
        """Return what differs now, for one claim or for the whole notebook."""
        claims = {*self.rules, *now.rules} if claim is None else {claim}
        parts = {
            "the parameters": self.parameters == now.parameters,
            "the rule": all(self.rules.get(c) == now.rules.get(c) for c in claims),
            "the default record": all(
                _essence(self.own.get(c)) == _essence(now.own.get(c)) for c in claims
            ),
            "its figures or tables at the defaults": self.shown == now.shown,
        }
        return [name for name, same in parts.items() if not same]


class FullRun(_Part):
    """The long run of one notebook.

    ``key`` is the digest of all that its outputs depend on, `speedbook.run.cache.run_key`, ``code``
    that of the notebook's code. ``environment`` names an entry of the file. ``started`` is in
    coordinated universal time, ``seconds`` the length of the run.
    """

    basis: Basis
    key: str
    code: str
    environment: str
    started: str
    seconds: float
    results: Results


class FullResults(_Part):
    """The whole file: runs by notebook, and the environments in which they were made."""

    format: Literal[1] = 1
    environments: dict[str, Environment] = {}
    notebooks: dict[str, FullRun] = {}

    def records(self) -> dict[str, dict[str, Any]]:
        """Return all records by claim."""
        runs = self.notebooks.values()
        return {claim: entry for run in runs for claim, entry in run.results.records.items()}

    def with_run(self, name: str, run: FullRun, environment: Environment) -> FullResults:
        """Return the results with a new run, which replaces the notebook's former run."""
        return self._of({**self.notebooks, name: run}, {run.environment: environment})

    def only(self, names: Iterable[str]) -> FullResults:
        """Return the results of the given notebooks, in their order."""
        return self._of({n: self.notebooks[n] for n in names if n in self.notebooks}, {})

    def _of(self, runs: dict[str, FullRun], new: dict[str, Environment]) -> FullResults:
        known, used = {**self.environments, **new}, {run.environment for run in runs.values()}
        kept = {name: known[name] for name in sorted(used)}
        return FullResults(environments=kept, notebooks=runs)


def _essence(trial: Trial | None) -> list[object] | None:
    """Return a trial without the last digits, in which machines differ."""
    if trial is None:
        return None
    numbers = (f"{number:.{DIGITS}g}" for number in (trial.estimate, *trial.interval))
    return [trial.seed, trial.verdict, *numbers]


def environment_name(environment: Environment) -> str:
    """Return a short name for an environment; equal environments get the same name."""
    return digest({"environment": environment.model_dump_json()})


def full_basis(
    registry: Registry, name: str, notebook: NotebookNode, parameters: Mapping[str, Value]
) -> Basis:
    """Return the current basis of a notebook's long run, from its committed outputs."""
    committed, _ = read_results(notebook)
    rules = {c.id: str(c.rule) for c in registry.of_notebook(name) if c.rule is not None}
    shown = {f"figure {key}": val for key, val in committed.figures.items()}
    shown |= {f"table {key}": val for key, val in committed.tables.items()}
    records = committed.records
    return Basis(
        parameters=dict(parameters),
        rules=rules,
        own={claim: own_trial(records[claim]) for claim in rules if claim in records},
        shown="" if rules else digest(shown),
    )


def full_sources(root: Path) -> dict[str, tuple[NotebookNode, dict[str, Value]]]:
    """Return each notebook of ``notebooks/full.yml`` with its checked parameters there.

    Raises a ValueError that names every fault.
    """
    found, faults = {}, []
    for name in full_notebooks(root):
        try:
            notebook = read_notebook(root / name)
            if problems := source_problems(notebook):
                raise ValueError("\n".join(f"{name}: {problem}" for problem in problems))
            values = full_values(root, name).items()
            found[name] = notebook, read_values(notebook_parameters(notebook), values)
        except OSError:
            faults.append(f"notebooks/full.yml: {name}: there is no such notebook")
        except ValueError as error:
            faults.append(str(error))
    if faults:
        raise ValueError("\n".join(faults))
    return found


def read_full_results(root: Path) -> FullResults:
    """Read the stored results; empty if there is no file.

    Raises a ValueError if the file is not what `store_full_results` writes.
    """
    path = root / FULL_RESULTS
    if not path.is_file():
        return FullResults()
    try:
        return FullResults.model_validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "file"
        raise ValueError(f"{FULL_RESULTS}: {place}: {first['msg']}") from None


def store_full_results(root: Path, results: FullResults) -> None:
    """Write the results if they have changed."""
    write_if_changed(root / FULL_RESULTS, results.model_dump_json(indent=1) + "\n")


def contradict(one: str, other: str) -> bool:
    """Return whether two verdicts on a claim contradict each other.

    An inconclusive one contradicts none.

    Examples
    --------
    >>> contradict("supported", "contradicted"), contradict("inconclusive", "supported")
    (True, False)
    """
    return one != other and Verdict.INCONCLUSIVE not in (one, other)


def ledger_full(
    root: Path, registry: Registry, executed: Mapping[str, NotebookNode]
) -> dict[str, Any]:
    """Return the stored results for a built ledger, by claim, given the notebooks at the defaults.

    Each result is a record with the ``parameters``, ``seconds`` and ``commit`` of the run, and with
    what has ``changed`` since the run.
    """
    stored = read_full_results(root)
    if not stored.notebooks:
        return {}
    sources, rows = full_sources(root), {}
    for name, run in stored.notebooks.items():
        if name not in sources or name not in executed:
            continue
        now = full_basis(registry, name, executed[name], sources[name][1])
        for claim, entry in run.results.records.items():
            if claim in now.rules:
                rows[claim] = {
                    **{key: entry[key] for key in Trial.model_fields},
                    "level": entry.get("level"),
                    "replications": entry.get("replications"),
                    "parameters": run.basis.parameters,
                    "seconds": run.seconds,
                    "commit": stored.environments[run.environment].commit,
                    "changed": run.basis.changed(now, claim),
                }
    return rows


def full_text(row: Mapping[str, Any], parameters: bool = False) -> str:
    """Return the long run's result for a row of the built ledger; empty if none is stored.

    It may name the parameters of the long setting.

    Examples
    --------
    >>> found = {"verdict": "supported", "estimate": 1.0, "interval": [0.99, 1.01]}
    >>> stored = {**found, "parameters": {"n": 9}, "changed": []}
    >>> full_text({"verdict": "inconclusive", "full": stored})
    'supported, 1.000 [0.990, 1.010]'
    >>> full_text({"verdict": "supported", "full": {**stored, "changed": ["the rule"]}}, True)
    'supported, 1.000 [0.990, 1.010], with the parameter n = 9 (stale: the rule has changed since)'
    """
    stored = row.get("full")
    if not stored:
        return ""
    text = f"{stored['verdict']}, {' '.join(filter(None, rounded_record(stored)))}"
    if parameters:
        # A record counts all its replications; a parameter may be those of a point.
        given = [f"{name} = {as_shown(value)}" for name, value in stored["parameters"].items()]
        text += f", with the parameter{'s' if given[1:] else ''} {', '.join(given)}"
    changed = stored["changed"]
    if not changed:
        return text
    return f"{text} (stale: {', '.join(changed)} {'have' if changed[1:] else 'has'} changed since)"
