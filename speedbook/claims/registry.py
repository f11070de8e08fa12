"""The registry of claims, and `record`, by which a notebook reports what it found."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from speedbook.claims.cards import card_html, card_text
from speedbook.claims.relations import nearest, relation_problems
from speedbook.claims.rules import VERDICTS, Kind, Outcome, Rule, Verdict
from speedbook.paths import find_root

REGISTRY = "book/claims.yml"
#: Safe, and in C where libyaml is there: a notebook reads the registry once for every record.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
#: Records keep this many digits, so that two machines that differ in the last bits write the same.
RECORD_DIGITS = 10


class Claim(BaseModel):
    """One entry of ``book/claims.yml``.

    The last four fields are for the errata and the map, and have no part in the verdict.
    ``counterexample`` and ``uncorrected``, which says why no corrected statement is needed, are
    MyST; `speedbook.claims.relations` says what the other two mean.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    id: str = Field(pattern=r"^[A-Za-z][A-Za-z0-9]*(-[A-Za-z0-9]+)*$")
    title: str = Field(min_length=1)
    place: str = Field(min_length=1)
    statement: str = Field(min_length=1)
    notebook: str = Field(pattern=r"^notebooks/[^\\]+\.ipynb$")
    kind: Kind
    rule: Rule | None = None
    constants: str | None = None
    counterexample: str | None = Field(default=None, min_length=1)
    corrected_by: tuple[str, ...] = ()
    uncorrected: str | None = Field(default=None, min_length=1)
    rests_on: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _rule_fits_kind(self) -> Claim:
        if (self.rule is None) != (self.kind == "untestable"):
            raise ValueError("every claim has a rule, but one of kind untestable has none")
        return self

    @model_validator(mode="after")
    def _corrected_or_not(self) -> Claim:
        if self.corrected_by and self.uncorrected:
            raise ValueError("a claim has corrected_by, or uncorrected with a reason, not both")
        return self

    def verdict(self, low: float, high: float) -> Verdict:
        """Return what follows from an interval for the quantity that the rule is about.

        Raises
        ------
        ValueError
            If the claim has no rule.
        """
        if self.rule is None:
            raise ValueError(f"id: claim {self.id!r} is untestable and has no rule")
        outcome: Outcome = self.rule.judge(low, high)
        return VERDICTS[self.kind].get(outcome, Verdict.INCONCLUSIVE)


class Registry(BaseModel):
    """All claims, in the order of the ledger."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    claims: tuple[Claim, ...]

    @model_validator(mode="after")
    def _ids_are_unique(self) -> Registry:
        # In lower case, as ids are anchors of the ledger page.
        ids = [claim.id.lower() for claim in self.claims]
        if twice := sorted({name for name in ids if ids.count(name) > 1}):
            raise ValueError(f"claims given twice: {', '.join(twice)}")
        return self

    @model_validator(mode="after")
    def _relations_hold(self) -> Registry:
        if problems := relation_problems(self.claims):
            raise ValueError("; ".join(problems))
        return self

    @cached_property
    def _by_id(self) -> Mapping[str, Claim]:
        return MappingProxyType({claim.id: claim for claim in self.claims})

    def __getitem__(self, name: str) -> Claim:
        """Return a claim by its id; an unknown one is a ValueError that names the nearest."""
        if name not in self._by_id:
            raise ValueError(f"id: {REGISTRY} has no claim {name!r}{nearest(name, self._by_id)}")
        return self._by_id[name]

    def of_notebook(self, notebook: str) -> list[Claim]:
        """Return the claims that a notebook puts to the test."""
        return [claim for claim in self.claims if claim.notebook == notebook]


def load_registry(root: Path) -> Registry:
    """Read and check ``book/claims.yml``.

    Raises
    ------
    ValueError
        If the file is missing, not YAML or breaks the schema; the text names each fault's place.
    """
    path = root / REGISTRY
    try:
        return _registry(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(f"{REGISTRY} is missing in {root}") from None
    except yaml.YAMLError as error:
        raise ValueError(f"{REGISTRY} is not YAML: {error}") from None
    except ValidationError as error:
        faults = (f"{'.'.join(map(str, e['loc'])) or 'file'}: {e['msg']}" for e in error.errors())
        raise ValueError(f"{REGISTRY}: " + "; ".join(faults)) from None


@lru_cache(maxsize=1)
def _registry(text: str) -> Registry:
    """Parse a registry; remembered, as a notebook asks for the same one with each record."""
    return Registry.model_validate(yaml.load(text, LOADER))


def record(
    id: str,
    estimate: float,
    interval: tuple[float, float] | None = None,
    *,
    replications: int | None = None,
    runs: int | None = None,
    seed: int | None = None,
    details: Mapping[str, Any] | None = None,
) -> None:
    """Report what a notebook found about a claim: display a card with the verdict.

    The registry's rule decides the verdict. The card shows rounded numbers; the full record goes
    into the metadata of the display, from which the ledger is derived.

    Parameters
    ----------
    id : str
        The claim's id in ``book/claims.yml``.
    estimate : float
        The quantity that the rule is about.
    interval : pair of float, optional
        Lower and upper end for it; by default the quantity is exact.
    replications : int, optional
        How many independent replications the estimate rests on, those of all runs together.
    runs : int, optional
        Into how many equal, independent runs the replications are divided, where the interval comes
        from the spread between these and not from the single replications.
    seed : int, optional
        The seed of the run.
    details : mapping, optional
        Further numbers, texts or lists for the ledger and the prose.

    Raises
    ------
    ValueError
        If the id is unknown, a number is not finite, the interval is reversed, or the replications
        cannot be divided into so many equal runs.
    TypeError
        If a detail is not a number, a text, a list or a mapping of such.
    """
    claim = load_registry(find_root())[id]
    middle = _finite("estimate", estimate)
    ends = [_finite("interval", end) for end in interval or (middle, middle)]
    if ends[0] > ends[1]:
        raise ValueError(f"interval: must run from low to high; got {ends}")
    entry = {
        "id": id,
        "estimate": middle,
        "interval": ends,
        "replications": None if replications is None else int(replications),
        "seed": None if seed is None else int(seed),
        **_divided(replications, runs),
        "details": {str(key): _plain(key, value) for key, value in (details or {}).items()},
    }
    verdict = claim.verdict(*ends)
    _display(card_html(claim, entry, verdict), card_text(claim, entry, verdict), entry)


def _divided(replications: int | None, runs: int | None) -> dict[str, int]:
    """Return the number of runs for the record, which is silent of it where nobody asks."""
    if runs is None:
        return {}
    if replications is None or runs < 1 or replications % runs:
        raise ValueError(
            f"runs: must divide the number of replications, {replications}; got {runs}"
        )
    return {"runs": int(runs)}


def _finite(name: str, value: float) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{name}: must be finite; got {number}")
    return float(f"{number:.{RECORD_DIGITS}g}")


def _plain(name: str, value: Any) -> Any:
    """Turn numpy scalars and arrays, tuples and mappings into what JSON can hold."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _plain(name, item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(name, item) for item in value]
    if isinstance(value, float):
        return _finite(f"details[{name!r}]", value)
    if value is None or isinstance(value, str | int):
        return value
    raise TypeError(f"details[{name!r}]: cannot record a {type(value).__name__}")


def _display(html: str, text: str, entry: dict[str, Any]) -> None:
    from IPython import get_ipython
    from IPython.display import display

    if get_ipython() is None:
        print(text)
        return
    display(  # type: ignore[no-untyped-call]
        {"text/html": html, "text/plain": text},
        raw=True,
        metadata={"speedbook": {"claim": entry}},
    )
