"""Functions that make parts of the tables on the book's pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx import addnodes

from speedbook.claims.ledger import LEDGER, read_ledger
from speedbook.claims.rules import Verdict
from speedbook.press.cards import card_anchor, row_anchor

if TYPE_CHECKING:
    from sphinx.environment import BuildEnvironment

Content = Sequence[nodes.Node]

#: The origin of a claim, in a row of a table.
WHOSE = {"paper": "printed", "reading": "our reading", "ours": "ours"}


def page_ledger(env: BuildEnvironment) -> dict[str, Any]:
    """Read the ledger of the pages, and have the page built again when it changes."""
    env.note_dependency(str(Path(env.srcdir) / LEDGER))
    return read_ledger(Path(env.srcdir))


#: The name of a claim's row, as links use it.
anchor = row_anchor


def badge(verdict: Verdict, link: nodes.Node | None = None) -> nodes.inline:
    """Return a badge with the symbol and word of a verdict; a link, if given, replaces the text."""
    content = nodes.Text(f"{verdict.symbol} {verdict}") if link is None else link
    return nodes.inline("", "", content, classes=["verdict", verdict.css_class])


def table(heads: Sequence[str], rows: Iterable[nodes.row], name: str) -> nodes.table:
    """Return a table whose columns are as wide as they need to be."""
    group = nodes.tgroup("", cols=len(heads))
    group += [nodes.colspec("", colwidth=1) for _ in heads]
    head = nodes.row("", *(entry([nodes.Text(text)]) for text in heads))
    group += [nodes.thead("", head), nodes.tbody("", *rows)]
    return nodes.table("", group, classes=[name, "sb-table"])


def entry(content: Content) -> nodes.entry:
    """Return a cell of one paragraph, or an empty cell if there is no content."""
    return nodes.entry("", nodes.paragraph("", "", *content)) if content else nodes.entry()


def muted(text: str) -> nodes.inline:
    """Return a separate line in a quiet colour."""
    return nodes.inline("", text, classes=["sb-muted"])


def reference(
    env: BuildEnvironment, target: str, text: str, kind: str = "ref", warn: bool = True
) -> nodes.Node:
    """Return a link to a target, or with kind ``doc`` to a page; Sphinx warns if it is missing."""
    return addnodes.pending_xref(
        "",
        nodes.inline("", text),
        refdomain="std",
        reftype=kind,
        reftarget=target,
        refexplicit=True,
        refwarn=warn,
        refdoc=env.docname,
    )


def card_link(env: BuildEnvironment, claim: str, row: dict[str, Any], text: str) -> nodes.Node:
    """Link to the card of a claim, or to its page if there is no card."""
    if "estimate" in row:
        return reference(env, card_anchor(claim), text)
    return reference(env, "/" + row["notebook"].removesuffix(".ipynb"), text, "doc")
