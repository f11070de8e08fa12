"""The ledger as a page: the number of claims by verdict, and a row for each claim, by groups.

Directives

- ``{ledger-totals}``: counts by verdict and origin; each number links to its rows.
- ``{ledger-table}``: all claims and, after a build, where the results come from.

``book/_static/ledger.js`` adds search, filters and order. The script reads the origin of a claim
from the class of the claim's row, and the verdict from the row's first cell. It folds the groups of
the table; each group is one body (``tbody``) of the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from speedbook.claims.agreement import agreement_text
from speedbook.claims.cards import level_text, rounded_record
from speedbook.claims.rules import Verdict
from speedbook.claims.scoreboard import score
from speedbook.press.sphinx.claim_map import page_relations
from speedbook.press.sphinx.groups import Group, page_groups, tally
from speedbook.press.sphinx.scoreboard import COLUMNS as BY_ORIGIN
from speedbook.press.sphinx.statements import says
from speedbook.press.sphinx.tables import (
    WHOSE,
    Content,
    anchor,
    badge,
    card_link,
    entry,
    muted,
    page_ledger,
    table,
)
from speedbook.run.full_results import full_text
from speedbook.run.provenance import commit_text
from speedbook.text import counted, duration

if TYPE_CHECKING:
    from speedbook.claims.relations import Relations

#: The columns of the totals: the head, the origins that it counts, and the name of its filter.
COLUMNS = {
    BY_ORIGIN["paper"]: ("paper", "words"),
    BY_ORIGIN["reading"]: ("reading", "readings"),
    BY_ORIGIN["ours"]: ("ours", "ours"),
    "All": ("", ""),
}
TABLE = "ledger-table"


def filtered(verdict: str = "", whose: str = "") -> str:
    """Return the address on the page that shows only the rows with a verdict or an origin.

    Examples
    --------
    >>> filtered("not testable", "words")
    '#ledger?verdict=not-testable&whose=words'
    """
    parts = {"verdict": verdict.replace(" ", "-"), "whose": whose}
    return "#ledger?" + "&".join(f"{key}={value}" for key, value in parts.items() if value)


class LedgerTotals(SphinxDirective):
    """Count the claims by verdict and origin."""

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        relations = page_relations(self.env)
        rows = [
            self._row([badge(verdict)], relations, verdict)
            for verdict in Verdict
            if score(relations, verdict.replace(" ", "-"))
        ]
        rows.append(self._row([nodes.Text("all")], relations, ""))
        return [table(("Verdict", *COLUMNS), rows, "ledger-totals")]

    @staticmethod
    def _row(head: Content, relations: Relations, verdict: str) -> nodes.row:
        cells = [entry(head)]
        for column, (origin, whose) in COLUMNS.items():
            count = score(relations, f"{origin} {verdict.replace(' ', '-')}")
            name = f"{verdict or 'all'}, {column}: {count}"
            link = (
                f'<a class="reference internal" href="{escape(filtered(verdict, whose))}" '
                f'aria-label="{escape(name)}">{count}</a>'
            )
            cells.append(entry([nodes.raw("", link, format="html")] if count else []))
        return nodes.row("", *cells)


class LedgerTable(SphinxDirective):
    """List all claims and, after a build, where the results come from."""

    HEADS = ("Verdict", "Claim", "Found", "Rule", "Run")

    def run(self) -> list[nodes.Node]:
        """Return the table, whose rows are targets of the badges, and the facts of the build."""
        ledger, relations = page_ledger(self.env), page_relations(self.env)
        rows = ledger["claims"]
        groups = page_groups(self.env, relations.claims.values())
        known = {name for _, names in groups for name in names}
        # Claims that are missing in the registry, for example while it is being edited.
        others = [name for name in rows if name not in known]
        found = table(self.HEADS, (), TABLE)
        columns = found.children[0]
        assert isinstance(columns, nodes.tgroup)
        columns.pop()
        for group, names in [*groups, *([(None, others)] if others else [])]:
            body = nodes.tbody("", ids=[f"ledger-{group.id}"] if group else [])
            body += [self._head(group, names, relations)] if group else []
            body += [self._row(name, rows[name], relations) for name in names]
            columns += body
        if "build" not in ledger:
            return [found]
        return [found, nodes.paragraph("", _facts(ledger["build"]), classes=["ledger-build"])]

    def _head(self, group: Group, names: Sequence[str], relations: Relations) -> nodes.row:
        head = nodes.raw(
            "",
            f'<h2>{escape(group.title)}</h2><p><span class="ledger-place">{escape(group.place)}'
            f"</span> {escape(tally(relations, names))}</p>",
            format="html",
        )
        return nodes.row(
            "", nodes.entry("", head, morecols=len(self.HEADS) - 1), classes=["ledger-head"]
        )

    def _row(self, claim: str, row: dict[str, Any], relations: Relations) -> nodes.row:
        name = anchor(claim)
        self.env.domains["std"].note_hyperlink_target(name, self.env.docname, name, row["title"])
        cells: list[Content] = [
            [badge(Verdict(row["verdict"]))],
            [
                card_link(self.env, claim, row, row["title"]),
                nodes.Text(" "),
                muted(" · ".join([row["place"], *_kind(row), claim])),
            ],
            _found(row),
            [nodes.Text(row["rule"])] if row["rule"] else [],
            _run(row),
        ]
        found = nodes.row("", *map(entry, cells), ids=[name], classes=[f"of-{row['origin']}"])
        if claim in relations.claims:
            said = nodes.paragraph("", "", *says(relations.claims[claim]))
            folded = '<details class="ledger-says"><summary>What it says</summary>'
            found.children[1] += [
                nodes.raw("", folded, format="html"),
                said,
                nodes.raw("", "</details>", format="html"),
            ]
        return found


def _kind(row: dict[str, Any]) -> list[str]:
    """Return the origin of a claim, the reading of a statement on regret, and the evidence."""
    read = f"read: {row['reading']}" if "reading" in row else ""
    return [text for text in (WHOSE[row["origin"]], read, row.get("evidence", "")) if text]


def _found(row: dict[str, Any]) -> Content:
    if "estimate" not in row:
        return []
    estimate, interval = rounded_record(row)
    found = [nodes.Text(f"{estimate} "), nodes.inline("", interval, classes=["sb-interval"])]
    level = level_text(row.get("level"))
    return [*found, nodes.Text(" "), muted(level)] if interval and level else found


def _run(row: dict[str, Any]) -> Content:
    """Return replications and seed and, after a build, time, agreement and the long setting."""
    facts = []
    if row.get("replications") is not None:
        facts.append(counted(row["replications"], "replication"))
    if row.get("runs") is not None:
        facts[-1] += f" in {counted(row['runs'], 'run')}"
    if row.get("seed") is not None:
        facts.append(f"seed {row['seed']}")
    if "seconds" in row:
        facts.append(duration(row["seconds"]))
    parts: list[nodes.Node] = [nodes.Text(", ".join(facts))] if facts else []
    if agreement := agreement_text(row):
        parts += [nodes.Text(" "), muted(agreement)]
    if full := full_text(row):
        parts += [nodes.Text(" "), muted(f"full: {full}")]
    return parts


def _facts(build: dict[str, Any]) -> str:
    word = "" if build["commit"] is None else "commit "
    commit = word + commit_text(build["commit"], build["changed"])
    return (
        f"This build ran every notebook at its {build['profile']}: {commit}; "
        f"Python {build['python']}, environment {build['environment']}; data {build['data']}."
    )
