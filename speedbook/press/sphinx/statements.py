"""The statement of a claim, in the form that ledger and errata show."""

from __future__ import annotations

from docutils import nodes

from speedbook.claims.claim import Claim
from speedbook.press.formulas import split_statement


def says(claim: Claim) -> list[nodes.Node]:
    """Return the statement of a claim without the measurement, as part of a paragraph."""
    return [nodes.Text(split_statement(claim.statement)[0])]


def measured(claim: Claim) -> str:
    """Return the sentence on what was measured for a claim; empty if there is none."""
    return split_statement(claim.statement)[1]
