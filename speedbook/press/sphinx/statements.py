"""What a claim says, as ledger and errata show it."""

from __future__ import annotations

from docutils import nodes

from speedbook.claims.claim import Claim

#: Where the statement of a claim ends, and what was measured begins.
MEASURED = "Measured"


def split_statement(statement: str) -> tuple[str, str]:
    """Return what a claim says, and what was measured.

    Examples
    --------
    >>> split_statement("One is two. Measured, by counting: one.")
    ('One is two.', 'Measured, by counting: one.')
    >>> split_statement("One is two.")
    ('One is two.', '')
    """
    says, _, measured = statement.partition(f" {MEASURED}")
    return says, f"{MEASURED}{measured}" if measured else ""


def says(claim: Claim) -> list[nodes.Node]:
    """Return what a claim says, without what was measured, to stand within a paragraph."""
    return [nodes.Text(split_statement(claim.statement)[0])]


def measured(claim: Claim) -> str:
    """Return what was measured for a claim; empty where that is not said apart."""
    return split_statement(claim.statement)[1]
