"""The numbers of the scoreboard, counted from registry and ledger.

A count is defined by words, as in ``paper+reading fails proof-step``; a claim is counted if it fits
each word. These are words:

- an origin: ``paper``, ``reading``, ``ours``, or several with + between them;
- ``holds``, ``fails``, or ``open`` (neither of the two);
- a verdict or a severity, with hyphens in place of blanks.

Without words, all claims count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

from speedbook.claims.claim import Claim, Origin, Severity
from speedbook.claims.relations import Relations
from speedbook.claims.rules import Verdict
from speedbook.text import nearest

#: Verdicts of claims that hold.
HOLDING = frozenset({Verdict.CHECKED, Verdict.SUPPORTED, Verdict.CONSISTENT})

Filter = Callable[[Claim, Verdict], bool]


def _hyphens(word: str) -> str:
    return word.replace(" ", "-")


def _of_origin(origin: str) -> Filter:
    return lambda claim, verdict: claim.origin == origin


def _of_severity(severity: str) -> Filter:
    return lambda claim, verdict: claim.severity == severity


def _with_verdict(word: Verdict) -> Filter:
    return lambda claim, verdict: verdict is word


def _filters(relations: Relations) -> dict[str, Filter]:
    return {
        "holds": lambda claim, verdict: verdict in HOLDING,
        "fails": lambda claim, verdict: relations.fails(claim.id),
        "open": lambda claim, verdict: verdict not in HOLDING and not relations.fails(claim.id),
        **{origin: _of_origin(origin) for origin in get_args(Origin)},
        **{_hyphens(word): _of_severity(word) for word in get_args(Severity)},
        **{_hyphens(word): _with_verdict(word) for word in Verdict},
    }


def score(relations: Relations, words: str = "") -> int:
    """Count the claims that fit all words; an unknown word raises a ValueError.

    A claim fits words with + between them if it fits one of them.
    """
    filters = _filters(relations)
    groups = [word.split("+") for word in words.split()]
    for name in (name for group in groups for name in group):
        if name not in filters:
            raise ValueError(f"score: no word {name!r}{nearest(name, filters)}")
    return sum(
        all(any(filters[name](claim, relations.verdicts[claim.id]) for name in g) for g in groups)
        for claim in relations.claims.values()
    )
