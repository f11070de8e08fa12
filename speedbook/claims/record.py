"""`record`, by which a notebook reports its result for a claim."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from speedbook.claims.cards import card_html, card_text
from speedbook.claims.registry import load_registry
from speedbook.paths import find_root

#: Records keep this number of digits, so machines that differ in the last bits write the same.
RECORD_DIGITS = 10


def record(
    id: str,
    estimate: float,
    interval: tuple[float, float] | None = None,
    *,
    level: float | None = None,
    replications: int | None = None,
    runs: int | None = None,
    seed: int | None = None,
    details: Mapping[str, Any] | None = None,
) -> None:
    """Report the result for a claim: display a card with the verdict.

    The registry's rule decides the verdict. The card shows rounded numbers. The metadata of the
    display hold the full record with its verdict; the ledger is derived from them.

    Parameters
    ----------
    id : str
        The claim's id in ``book/claims.yml``.
    estimate : float
        The quantity that the rule is about.
    interval : pair of float, optional
        The lower and the upper end of the interval; without them the quantity is exact.
    level : float, optional
        The probability with which the interval covers the quantity, above 0; 1 for certain bounds.
        An interval of positive width needs a level. The sum of 1 - level over the records of one
        page must be at most 0.001; see `speedbook.intervals.family_level`.
    replications : int, optional
        Number of independent replications behind the estimate, over all runs.
    runs : int, optional
        Number of equal, independent runs into which the replications are divided, if the interval
        comes from the spread between runs and not from the single replications.
    seed : int, optional
        The seed of the run.
    details : mapping, optional
        Further numbers, texts or lists for the ledger and the prose.

    Raises
    ------
    ValueError
        If the id is unknown, a number is not finite, the interval is reversed, the level is missing
        or not a probability, or `runs` does not divide the replications.
    TypeError
        If a detail is not a number, a text, or a list or mapping of numbers and texts.
    """
    claim = load_registry(find_root())[id]
    middle = _finite("estimate", estimate)
    ends = [_finite("interval", end) for end in interval or (middle, middle)]
    if ends[0] > ends[1]:
        raise ValueError(f"interval: must run from low to high; got {ends}")
    entry = {
        "id": id,
        "verdict": str(claim.verdict(*ends)),
        "estimate": middle,
        "interval": ends,
        "level": _level(level, ends),
        "replications": None if replications is None else int(replications),
        "seed": None if seed is None else int(seed),
        **_divided(replications, runs),
        "details": {str(key): _plain(key, value) for key, value in (details or {}).items()},
    }
    _display(card_html(claim, entry), card_text(claim, entry), entry)


def _divided(replications: int | None, runs: int | None) -> dict[str, int]:
    """Return the entry for the number of runs; empty if it is not given."""
    if runs is None:
        return {}
    if replications is None or runs < 1 or replications % runs:
        raise ValueError(
            f"runs: must divide the number of replications, {replications}; got {runs}"
        )
    return {"runs": int(runs)}


def _level(level: float | None, ends: list[float]) -> float | None:
    if level is None:
        if ends[0] < ends[1]:
            raise ValueError(
                "level: an interval of positive width needs its probability of coverage, or 1 for "
                "certain bounds; got None"
            )
        return None
    if not 0 < level <= 1:
        raise ValueError(f"level: must be above 0 and at most 1; got {level}")
    return _finite("level", level)


def _finite(name: str, value: float) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{name}: must be finite; got {number}")
    return float(f"{number:.{RECORD_DIGITS}g}")


def _plain(name: str, value: Any) -> Any:
    """Turn numpy scalars and arrays, tuples and mappings into JSON values."""
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
