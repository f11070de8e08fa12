"""A claim that the tests of rules, registry and ledger vary."""

from __future__ import annotations

from speedbook.claims.claim import Claim

CLAIM = {
    "id": "prop-1",
    "title": "The first claim",
    "place": "Section 1",
    "statement": "One < two.",
    "notebook": "notebooks/claims/prop-1.ipynb",
    "origin": "paper",
    "kind": "decidable",
    "evidence": "measured",
    "rule": {"kind": "equal", "value": 1, "tolerance": 0.1},
}


def claim(**changes):
    return Claim.model_validate({**CLAIM, **changes})
