"""Relations between claims: which claim rests on which, and which one corrects another.

``rests_on`` names the claims that the paper's proof of a claim uses. ``corrected_by`` names our own
statements about a claim. They correct it, sharpen it, or prove it if its printed proof fails.
Claims whose ids have the same beginning, like ``thm-1`` and ``thm-1-uniform``, are about one
statement of the paper.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, NamedTuple

from speedbook.claims.rules import Verdict
from speedbook.text import nearest

if TYPE_CHECKING:
    from speedbook.claims.claim import Claim

#: Verdicts of claims on which nothing can rest, as they are printed.
FAILING = frozenset({Verdict.CONTRADICTED, Verdict.VACUOUS, Verdict.NOT_CONSISTENT})
#: The end of a statement's name in the place of a claim.
END_OF_NAME = re.compile(r"[,;:(]| of the appendix")


def relation_problems(claims: Sequence[Claim]) -> list[str]:
    """Return a sentence for each relation that names an unknown claim, and for each circle."""
    known = [claim.id for claim in claims]
    problems = []
    for claim in claims:
        for field in ("corrected_by", "rests_on"):
            names: tuple[str, ...] = getattr(claim, field)
            for name in dict.fromkeys(names):
                if fault := _fault(claim.id, name, names.count(name), known):
                    problems.append(f"claim {claim.id}: {field}: {fault}")
    return problems or _circles(claims, known)


def _fault(claim: str, name: str, count: int, known: Sequence[str]) -> str:
    if name not in known:
        return f"no claim is called {name!r}{nearest(name, known)}"
    if name == claim:
        return "a claim cannot name itself"
    return f"names {name} {count} times" if count > 1 else ""


def _circles(claims: Sequence[Claim], known: Sequence[str]) -> list[str]:
    by_claim = {claim.id: set(claim.rests_on) for claim in claims}
    by_statement: dict[str, set[str]] = {}
    for name, below in by_claim.items():
        head = statement_of(name, known)
        others = {statement_of(other, known) for other in below} - {head}
        by_statement.setdefault(head, set()).update(others)
    rule = "must form no circle (claims whose ids have the same beginning count as one)"
    for graph in (by_claim, by_statement):
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            return [f"rests_on: {rule}; got {' → '.join(reversed(error.args[1]))}"]
    return []


def statement_of(name: str, known: Iterable[str]) -> str:
    """Return the claim that represents a statement: the shortest known id with which an id begins.

    Examples
    --------
    >>> statement_of("thm-1-uniform", ["thm-1", "thm-1-uniform", "thm-10"])
    'thm-1'
    """
    heads = [head for head in known if head == name or name.startswith(f"{head}-")]
    return min(heads, key=len, default=name)


class Statement(NamedTuple):
    """A statement of the paper: the claims about it, and our own claims that correct it."""

    head: str
    label: str
    claims: tuple[str, ...]
    ours: tuple[str, ...]


class Relations:
    """The claims of a ledger, in the order of the registry, with their verdicts and relations."""

    def __init__(self, claims: Sequence[Claim], verdicts: Mapping[str, Verdict]) -> None:
        self.claims = {claim.id: claim for claim in claims}
        self.verdicts = verdicts

    def fails(self, name: str) -> bool:
        """Return whether a claim fails, so nothing can rest on it as it is printed."""
        return self.verdicts[name] in FAILING

    def below(self, name: str) -> list[str]:
        """Return all claims on which a claim rests, directly or indirectly, the nearest first."""
        found: list[str] = []
        layer = [name]
        while layer:
            names = dict.fromkeys(other for each in layer for other in self.claims[each].rests_on)
            layer = [other for other in names if other not in found]
            found += layer
        return found

    def broken(self, name: str) -> list[str]:
        """Return the failing claims on which a claim rests, the nearest first."""
        return [other for other in self.below(name) if self.fails(other)]

    def above(self, name: str) -> list[str]:
        """Return the claims that rest on a claim directly."""
        return [claim.id for claim in self.claims.values() if name in claim.rests_on]

    @cached_property
    def ours(self) -> frozenset[str]:
        """The claims that correct another one."""
        return frozenset(name for claim in self.claims.values() for name in claim.corrected_by)

    @cached_property
    def edges(self) -> dict[tuple[str, str], list[str]]:
        """For each pair of statements, the claims of the first on which the second rests."""
        found: dict[tuple[str, str], list[str]] = {}
        for claim in self.claims.values():
            for name in claim.rests_on:
                pair = statement_of(name, self.claims), statement_of(claim.id, self.claims)
                if pair[0] != pair[1]:
                    found.setdefault(pair, []).append(name)
        return found

    def statements(self) -> dict[str, Statement]:
        """Return the statements that rest on others or are used by them, by their claims."""
        linked = {head for pair in self.edges for head in pair}
        members: dict[str, list[str]] = {}
        for name in self.claims:
            if (head := statement_of(name, self.claims)) in linked:
                members.setdefault(head, []).append(name)
        return {head: self._statement(head, names) for head, names in members.items()}

    def _statement(self, head: str, names: Sequence[str]) -> Statement:
        printed = tuple(name for name in names if name not in self.ours)
        ours = dict.fromkeys(other for name in printed for other in self.claims[name].corrected_by)
        label = END_OF_NAME.split(self.claims[head].place)[0].strip()
        return Statement(head, label, printed, tuple(ours))
