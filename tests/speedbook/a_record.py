"""A record of a claim, as a run stores it, that the tests of comparisons vary."""

from __future__ import annotations


def entry(estimate, low, high, level=0.95, id="prop-1", verdict="supported"):
    return {
        "id": id,
        "verdict": verdict,
        "estimate": estimate,
        "interval": [low, high],
        "level": level,
        "replications": None,
        "seed": 3,
        "details": {},
    }
