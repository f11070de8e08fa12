"""Add to the cards of claims on a page: links to the ledger, and results of the long setting."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from typing import Any

from nbformat import NotebookNode

from speedbook.notebook.files import claim_records
from speedbook.run.full_results import full_text

#: The page with the ledger, from the root of the book.
LEDGER_PAGE = "book/ledger.html"
#: The badge of a card, as `speedbook.claims.cards.card_html` writes it.
BADGE = re.compile(
    r'(?P<start><p class="claim-card-title"><span class="verdict [^"]*">)(?P<badge>.*?)'
    r"(?P<end></span> <strong>)",
    re.S,
)

#: The end of a card's rows.
END = "\n</dl>\n</div>"


def card_anchor(claim: str) -> str:
    """Return the anchor of a claim's card."""
    return f"card-{claim.lower()}"


def row_anchor(claim: str) -> str:
    """Return the anchor (the target of links) of a claim's row in the ledger."""
    return f"claim-{claim.lower()}"


def card_targets(cell: NotebookNode) -> list[str]:
    """Return MyST targets for links to the cards that a cell shows."""
    return [f"({card_anchor(entry['id'])})=" for entry in claim_records(cell)]


def complete_cards(
    cell: NotebookNode, name: str, rows: Mapping[str, Mapping[str, Any]] | None = None
) -> None:
    """Link the badge of each card that a cell shows to its row, and add the long setting's result.

    Parameters
    ----------
    cell : NotebookNode
        A cell of the page, changed in place.
    name : str
        The path of the notebook from the root of the book.
    rows : mapping, optional
        The rows of the built ledger by claim.
    """
    up = "../" * name.count("/")
    for output in cell.get("outputs", []):
        record = output.get("metadata", {}).get("speedbook", {}).get("claim")
        if record and "text/html" in output.get("data", {}):
            address = f"{up}{LEDGER_PAGE}#{row_anchor(record['id'])}"
            link = rf'\g<start><a class="reference internal" href="{address}">\g<badge></a>\g<end>'
            html = BADGE.sub(link, output.data["text/html"])
            if text := full_text((rows or {}).get(record["id"], {}), parameters=True):
                html = html.replace(END, f"\n<dt>Full</dt><dd>{escape(text)}</dd>{END}")
            output.data["text/html"] = html
