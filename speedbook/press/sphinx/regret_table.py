"""The directive ``{regret-table}``: all statements on regret, with both readings side by side.

A bound on regret may be meant for one bandit at a time, with a constant that depends on it, or for
all bandits with one constant. The field ``reading`` of a claim says which. Claims whose ids have
the same beginning are about one statement of the paper, and share a row.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, get_args

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from speedbook.claims.claim import Reading
from speedbook.claims.relations import END_OF_NAME, statement_of
from speedbook.claims.rules import Verdict
from speedbook.press.sphinx.tables import (
    WHOSE,
    anchor,
    badge,
    card_link,
    entry,
    muted,
    page_ledger,
    reference,
    table,
)

#: The two readings, in the order of the columns.
READINGS: tuple[str, ...] = get_args(Reading)


class RegretRow(NamedTuple):
    """A statement: the claim that represents it, its name, and its claims by reading."""

    head: str
    label: str
    claims: dict[str, list[str]]


def regret_rows(ledger: Mapping[str, Mapping[str, Any]]) -> list[RegretRow]:
    """Return the statements on regret in the order of the ledger.

    Parameters
    ----------
    ledger : mapping
        The ledger's rows by the ids of claims; those with a ``reading`` are about regret.

    Examples
    --------
    >>> place = {"place": "Theorem 1, Section 4"}
    >>> rows = regret_rows(
    ...     {
    ...         "thm-1": {**place, "reading": "one bandit"},
    ...         "thm-1-uniform": {**place, "reading": "uniform"},
    ...     }
    ... )
    >>> rows[0].label, rows[0].claims
    ('Theorem 1', {'one bandit': ['thm-1'], 'uniform': ['thm-1-uniform']})
    """
    found: dict[str, RegretRow] = {}
    for name, row in ledger.items():
        if "reading" not in row:
            continue
        head = statement_of(name, ledger)
        if head not in found:
            label = _label(ledger[head]["place"])
            found[head] = RegretRow(head, label, {reading: [] for reading in READINGS})
        found[head].claims[row["reading"]].append(name)
    return list(found.values())


def _label(place: str) -> str:
    """Return the name of a statement; for ours, the whole place, which says what it is for."""
    return place if place.startswith("ours") else END_OF_NAME.split(place)[0].strip()


class RegretTable(SphinxDirective):
    """List the statements on regret, with the verdict on each reading."""

    HEADS = ("Statement", "One bandit at a time", "Uniform: one constant for all")

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        ledger = page_ledger(self.env)["claims"]
        rows = [self._row(row, ledger) for row in regret_rows(ledger)]
        return [table(self.HEADS, rows, "regret-table")]

    def _row(self, row: RegretRow, ledger: dict[str, Any]) -> nodes.row:
        name = entry([nodes.Text(f"{row.label} "), muted(row.head)])
        cells = [self._cell(row.claims[reading], ledger) for reading in READINGS]
        return nodes.row("", name, *cells)

    def _cell(self, claims: list[str], ledger: dict[str, Any]) -> nodes.entry:
        """Return a paragraph for each claim, ours last: symbol, title, verdict and origin."""
        cell = nodes.entry("")
        for claim in sorted(claims, key=lambda name: ledger[name]["origin"] == "ours"):
            found = ledger[claim]
            verdict = Verdict(found["verdict"])
            link = reference(self.env, anchor(claim), verdict.symbol, warn=False)
            content = (
                badge(verdict, link),
                nodes.Text(" "),
                card_link(self.env, claim, found, found["title"]),
                nodes.Text(" "),
                muted(f"{verdict} · {WHOSE[found['origin']]} · {claim}"),
            )
            cell += nodes.paragraph("", "", *content)
        return cell
