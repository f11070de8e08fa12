"""The Sphinx extension with which the book is built; it adds these directives and roles.

Directives

- ``{ledger-table}`` and ``{ledger-totals}``: every claim with its verdict, and counts of them, see
  `speedbook.press.sphinx.ledger_table`.
- ``{parameter-form}``: the parameters of the page's notebook, see
  `speedbook.press.sphinx.live_page`.
- ``{regret-table}``: the statements on regret in both readings, see
  `speedbook.press.sphinx.regret_table`.
- ``{errata}`` and ``{errata-summary}``: the claims of the paper that fail, see
  `speedbook.press.sphinx.errata`.
- ``{advice-form}``: which strategy to use, see `speedbook.press.sphinx.advice_form`.
- ``{scoreboard}``: the number of claims by verdict, see `speedbook.press.sphinx.scoreboard`.
- ``{claim-map}`` and ``{claim-foundations}``: which claim rests on which, see
  `speedbook.press.sphinx.claim_map`; ``{claim-groups}``: the same by groups, see
  `speedbook.press.sphinx.map_groups`.
- ``{picture}``: a figure of a notebook on another page, see `speedbook.press.sphinx.picture`.
- ``{explorer}``: arrows, noise and policy that can be moved, see `speedbook.press.sphinx.explorer`.

Roles

- ``{claim-badge}``: the verdict of one claim, linked to its row of the ledger.
- ``{ledger}``: a number or text, ``prop-1.estimate`` or ``prop-1.details.worst:.2f``.
- ``{score}``: a number of claims, as in ``paper fails slip``; see `speedbook.claims.scoreboard`.
- ``{quoted}``: a number that is not ours, or that the set-up fixes; see `speedbook.notebook.prose`.
- ``{explore}``: a link that sets the explorer of its page.

Every notebook becomes a page by the template of `speedbook.press.template`.

The ledger is ``book/ledger.json`` among the sources of the pages. In a plain checkout this is the
committed ledger. In the sources that `speedbook build` stages, it is the ledger derived from the
notebooks just executed. A reference to something that is not in the ledger is an error, which stops
the build.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole
from sphinx.util.index_entries import split_index_msg

from speedbook.claims.ledger import lookup
from speedbook.claims.rules import Verdict
from speedbook.notebook.files import claim_records, to_notebook
from speedbook.press.keys import appearance_key
from speedbook.press.sphinx.advice_form import AdviceForm
from speedbook.press.sphinx.claim_map import (
    ClaimFoundations,
    ClaimMap,
    MapNode,
    skip_map,
    visit_map,
)
from speedbook.press.sphinx.errata import Errata, ErrataSummary
from speedbook.press.sphinx.explorer import setup_explorer
from speedbook.press.sphinx.formulas import setup_formulas
from speedbook.press.sphinx.ledger_table import LedgerTable, LedgerTotals
from speedbook.press.sphinx.live_page import bound, setup_live
from speedbook.press.sphinx.map_groups import ClaimGroups
from speedbook.press.sphinx.page_foot import setup_foot
from speedbook.press.sphinx.page_html import setup_page
from speedbook.press.sphinx.picture import setup_picture
from speedbook.press.sphinx.regret_table import RegretTable
from speedbook.press.sphinx.scoreboard import Scoreboard, ScoreRole
from speedbook.press.sphinx.scripts import add_scripts
from speedbook.press.sphinx.tables import (
    anchor,
    badge,
    page_ledger,
    reference,
)
from speedbook.press.template import as_page

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

logger = logging.getLogger(__name__)

Found = tuple[list[nodes.Node], list[nodes.system_message]]


class LedgerRole(SphinxRole):
    """Put a number or text of the ledger into the prose."""

    def run(self) -> Found:
        """Return the text; an unknown address is reported and shown unchanged."""
        try:
            text = nodes.Text(lookup(page_ledger(self.env)["claims"], self.text))
            return [bound(self.env, "ledger", self.text, text)], []
        except ValueError as error:
            logger.error("ledger: %s", error, location=self.get_location())
            return [nodes.problematic("", self.text)], []


class BadgeRole(SphinxRole):
    """Show the verdict of a claim."""

    def run(self) -> Found:
        """Return the badge, linked to the claim's row of the ledger where there is one."""
        row = page_ledger(self.env)["claims"].get(self.text)
        if row is None:
            logger.error(
                "claim-badge: the ledger has no %r", self.text, location=self.get_location()
            )
            return [nodes.problematic("", self.text)], []
        verdict = Verdict(row["verdict"])
        text = f"{verdict.symbol} {verdict}"
        shown = badge(verdict, reference(self.env, anchor(self.text), text, warn=False))
        return [bound(self.env, "badge", self.text, shown)], []


class QuotedRole(SphinxRole):
    """Show a number or a formula unchanged; the role marks it in the source."""

    def run(self) -> Found:
        """Return the nodes of the text, which is in MyST."""
        found: Found = self.inliner.parse(self.text, self.lineno, self.inliner, nodes.Element())
        return found


def show_as_page(app: Sphinx, docname: str, source: list[str]) -> None:
    """Give a notebook the form of a page while Sphinx reads it; its file stays unchanged."""
    if Path(app.env.doc2path(docname)).suffix != ".ipynb":
        return
    try:
        notebook = to_notebook(json.loads(source[0]))
        # Only a page with cards has to be built again if the ledger changes.
        cards = any(map(claim_records, notebook.cells))
        rows = page_ledger(app.env)["claims"] if cards else {}
        source[0] = json.dumps(as_page(notebook, f"{docname}.ipynb", rows))
    except ValueError as error:
        logger.warning("%s", error, location=docname)


def keep_index_entries(app: Sphinx, env: BuildEnvironment) -> None:
    """Give the search the index entries of all pages.

    Without this function, the search would know only the pages that Sphinx writes in this build.
    After a change of one page, a search would then find no term of the glossary.
    """
    kept = env._search_index_index_entries
    for docname, entries in env.get_domain("index").data["entries"].items():
        found = set()
        for kind, value, target, main, _ in entries:
            found |= {(word, target or "", main) for word in split_index_msg(kind, value)}
        kept[docname] = sorted(found)


def skip_bare_fields(
    app: Sphinx, what: str, name: str, member: object, skip: bool, options: object
) -> bool | None:
    """Leave out the fields of a named tuple unless each has a text of its own.

    Python says of them only ``Alias for field number 0``; the text of the class says what they are.
    """
    bare = (getattr(member, "__doc__", None) or "").startswith("Alias for field number")
    return True if bare else None


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives, the roles and the event handlers."""
    app.add_directive("ledger-table", LedgerTable)
    app.add_directive("ledger-totals", LedgerTotals)
    app.add_directive("regret-table", RegretTable)
    app.add_directive("errata", Errata)
    app.add_directive("errata-summary", ErrataSummary)
    app.add_directive("advice-form", AdviceForm)
    app.add_directive("scoreboard", Scoreboard)
    app.add_directive("claim-map", ClaimMap)
    app.add_directive("claim-groups", ClaimGroups)
    app.add_directive("claim-foundations", ClaimFoundations)
    app.add_node(MapNode, html=(visit_map, None), latex=(skip_map, None), text=(skip_map, None))
    app.add_role("ledger", LedgerRole())
    app.add_role("claim-badge", BadgeRole())
    app.add_role("score", ScoreRole())
    app.add_role("quoted", QuotedRole())
    setup_explorer(app)
    setup_picture(app)
    setup_formulas(app)
    setup_live(app)
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-skip-member", skip_bare_fields)
    app.connect("source-read", show_as_page)
    setup_page(app)
    setup_foot(app)
    app.connect("env-updated", keep_index_entries)
    app.connect("html-page-context", add_scripts)
    return {
        "parallel_read_safe": True,
        "parallel_write_safe": True,
        # If it changes, Sphinx builds every page again.
        "env_version": appearance_key(Path(app.srcdir)),
    }
