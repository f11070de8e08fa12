"""What a claim says, as ledger and errata show it."""

from __future__ import annotations

from docutils import nodes

from speedbook.claims.claim import Claim
from speedbook.press.formulas import split_statement


def says(claim: Claim) -> list[nodes.Node]:
    """Return what a claim says, without what was measured, to stand within a paragraph."""
    return [nodes.Text(split_statement(claim.statement)[0])]


def measured(claim: Claim) -> str:
    """Return what was measured for a claim; empty where that is not said apart."""
    return split_statement(claim.statement)[1]
