"""Links between the cards of claims on a page and their rows of the ledger."""

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
    """Return the anchor of a claim's card."""
    return f"card-{claim.lower()}"


def row_anchor(claim: str) -> str:
    """Return the anchor of a claim's row in the ledger."""
    return f"claim-{claim.lower()}"


def card_targets(cell: NotebookNode) -> list[str]:
    """Return MyST targets for links to the cards that a cell shows."""
    return [f"({card_anchor(entry['id'])})=" for entry in claim_records(cell)]


def link_cards(cell: NotebookNode, name: str) -> None:
    """Link the badge of each card that a cell shows to its row.

    Parameters
    ----------
    cell : NotebookNode
        A cell of the page; it is changed.
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
