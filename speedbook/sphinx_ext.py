"""What a page of the book takes from the ledger.

- ``{ledger-table}`` (directive): every claim with its verdict, a plain table.
- ``{claim-badge}`` (role): the verdict of one claim, linked to its row in the table.
- ``{ledger}`` (role): a number or text, ``prop-1.estimate`` or ``prop-1.details.worst:.2f``.

The ledger is ``book/ledger.json`` beside the pages: the committed one in a plain checkout, and the
one derived from the notebooks just executed where `speedbook build` stages the book. What is not in
it is an error, and ends a build that takes warnings as errors.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx import addnodes
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

from speedbook.cards import rounded_record
from speedbook.ledger import LEDGER, lookup, read_ledger
from speedbook.rules import Verdict

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

logger = logging.getLogger(__name__)


def _ledger(env: BuildEnvironment) -> dict[str, dict[str, Any]]:
    """Read the ledger, and have the page pressed again when it changes."""
    path = Path(env.srcdir) / LEDGER
    env.note_dependency(str(path))
    return read_ledger(path) if path.is_file() else {}


def _badge(verdict: Verdict, content: nodes.Node) -> nodes.inline:
    return nodes.inline("", "", content, classes=["verdict", verdict.css_class])


def _text(verdict: Verdict) -> nodes.Text:
    return nodes.Text(f"{verdict.symbol} {verdict}")


def _anchor(claim: str) -> str:
    return f"claim-{claim.lower()}"


class LedgerRole(SphinxRole):
    """Put a number or text of the ledger into the prose."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the text; an address without one is reported and shown as it is."""
        try:
            return [nodes.Text(lookup(_ledger(self.env), self.text))], []
        except ValueError as error:
            logger.error("ledger: %s", error, location=self.get_location())
            return [nodes.problematic("", self.text)], []


class BadgeRole(SphinxRole):
    """Show the verdict of a claim."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the badge, linked to the claim's row of the ledger where there is one."""
        row = _ledger(self.env).get(self.text)
        if row is None:
            logger.error(
                "claim-badge: the ledger has no %r", self.text, location=self.get_location()
            )
            return [nodes.problematic("", self.text)], []
        verdict = Verdict(row["verdict"])
        link = addnodes.pending_xref(
            "",
            nodes.inline("", "", _text(verdict)),
            refdomain="std",
            reftype="ref",
            reftarget=_anchor(self.text),
            refexplicit=True,
            refdoc=self.env.docname,
        )
        return [_badge(verdict, link)], []


class LedgerTable(SphinxDirective):
    """List all claims: verdict, claim, what was found, by which rule."""

    HEADS = ("Verdict", "Claim", "Estimate", "Interval", "Rule")
    WIDTHS = (18, 42, 12, 16, 12)

    def run(self) -> list[nodes.Node]:
        """Return the table, each row a target for badges."""
        group = nodes.tgroup("", cols=len(self.HEADS))
        group += [nodes.colspec("", colwidth=width) for width in self.WIDTHS]
        head = nodes.row("", *(self._entry(nodes.Text(text)) for text in self.HEADS))
        body = nodes.tbody("", *(self._row(*item) for item in _ledger(self.env).items()))
        group += [nodes.thead("", head), body]
        return [nodes.table("", group, classes=["ledger-table"])]

    @staticmethod
    def _entry(*content: nodes.Node) -> nodes.entry:
        return nodes.entry("", nodes.paragraph("", "", *content))

    def _row(self, claim: str, row: dict[str, Any]) -> nodes.row:
        anchor = _anchor(claim)
        self.env.domains["std"].note_hyperlink_target(
            anchor, self.env.docname, anchor, row["title"]
        )
        estimate, interval = rounded_record(row) if "estimate" in row else ("", "")
        link = addnodes.pending_xref(
            "",
            nodes.inline("", row["title"]),
            refdomain="std",
            reftype="doc",
            reftarget="/" + row["notebook"].removesuffix(".ipynb"),
            refexplicit=True,
            refwarn=True,
            refdoc=self.env.docname,
        )
        verdict = Verdict(row["verdict"])
        place = nodes.inline("", row["place"], classes=["ledger-place"])
        return nodes.row(
            "",
            self._entry(_badge(verdict, _text(verdict))),
            self._entry(link, nodes.Text(" "), place),
            self._entry(nodes.Text(estimate)),
            self._entry(nodes.Text(interval)),
            self._entry(nodes.Text(row["rule"] or "")),
            ids=[anchor],
        )


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive and the roles."""
    app.add_directive("ledger-table", LedgerTable)
    app.add_role("ledger", LedgerRole())
    app.add_role("claim-badge", BadgeRole())
    return {"parallel_read_safe": True, "parallel_write_safe": True, "version": "1"}
