"""Cards of claims on a page, and their rows of the ledger: each leads to the other."""

from __future__ import annotations

import re

from nbformat import NotebookNode

from speedbook.notebook.files import claim_records

#: The page with the ledger, from the root of the book.
LEDGER_PAGE = "book/ledger.html"
#: The badge of a card, as `speedbook.claims.cards.card_html` writes it.
BADGE = re.compile(
    r'(?P<start><p class="claim-card-title"><span class="verdict [^"]*">)(?P<badge>.*?)'
    r"(?P<end></span> <strong>)",
    re.S,
)


def card_anchor(claim: str) -> str:
    """Return the name of the place of a claim's card, as links give it."""
    return f"card-{claim.lower()}"


def row_anchor(claim: str) -> str:
    """Return the name of a claim's row of the ledger, as links give it."""
    return f"claim-{claim.lower()}"


def card_targets(cell: NotebookNode) -> list[str]:
    """Return MyST that makes a place to link to of each card that a cell shows."""
    return [f"({card_anchor(entry['id'])})=" for entry in claim_records(cell)]


def link_cards(cell: NotebookNode, name: str) -> None:
    """Let the badge of each card that a cell shows lead to its row.

    Parameters
    ----------
    cell : NotebookNode
        Of the page; it is changed.
    name : str
        The path of the notebook from the root of the book.
    """
    up = "../" * name.count("/")
    for output in cell.get("outputs", []):
        record = output.get("metadata", {}).get("speedbook", {}).get("claim")
        if record and "text/html" in output.get("data", {}):
            address = f"{up}{LEDGER_PAGE}#{row_anchor(record['id'])}"
            link = rf'\g<start><a class="reference internal" href="{address}">\g<badge></a>\g<end>'
            output.data["text/html"] = BADGE.sub(link, output.data["text/html"])
