"""The card of a verdict in a notebook, and a record's numbers as text."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any

from speedbook.claims.rules import Verdict
from speedbook.text import rounded

if TYPE_CHECKING:
    from speedbook.claims.claim import Claim


#: The origin of a claim, in words.
ORIGINS = {
    "paper": "the paper's own words",
    "reading": "our reading of the paper, which leaves something open",
    "ours": "this book",
}
#: The reading of a statement on regret, in words.
READINGS = {
    "one bandit": "one bandit at a time: constants may depend on it",
    "uniform": "uniformly: one constant for all bandits",
}


def rounded_record(entry: dict[str, Any]) -> tuple[str, str]:
    """Return the estimate and the interval of a record as texts; exact ones have no interval.

    Usually the width of the interval decides how many digits are shown. If the ends are positive
    and more than a factor of ten apart, each number gets two significant digits instead.

    Examples
    --------
    >>> rounded_record({"estimate": 0.4764, "interval": [1.7e-5, 13520.6]})
    ('0.48', '[1.7e-05, 13521]')
    """
    low, high = entry["interval"]
    width = high - low
    if 0 < low < high / 10:
        estimate, *ends = (rounded(each, abs(each)) for each in (entry["estimate"], low, high))
        return estimate, f"[{', '.join(ends)}]"
    estimate = rounded(entry["estimate"], width)
    return estimate, f"[{rounded(low, width)}, {rounded(high, width)}]" if width else ""


def _rows(claim: Claim, entry: dict[str, Any]) -> list[tuple[str, str]]:
    estimate, interval = rounded_record(entry)
    rows: list[tuple[str, str | None]] = [
        ("Claim", claim.statement),
        ("Constants", claim.constants),
        ("Reading", READINGS.get(claim.reading or "")),
        ("Place", claim.place),
        ("Origin", ORIGINS[claim.origin]),
        ("Evidence", claim.evidence),
        ("Rule", f"{claim.rule}"),
        ("Found", f"{estimate} {interval}".strip()),
        ("Interval", level_text(entry.get("level"))),
    ]
    if entry["replications"] is not None:
        rows.append(("Replications", replications_text(entry)))
    if entry["seed"] is not None:
        rows.append(("Seed", f"{entry['seed']}"))
    return [(name, text) for name, text in rows if text]


def level_text(level: float | None) -> str:
    """Write the probability with which an interval covers; empty if there is none.

    Examples
    --------
    >>> level_text(0.99995), level_text(0.999), level_text(1.0), level_text(None)
    ('99.995 %', '99.9 %', 'certain bounds', '')
    """
    if level is None:
        return ""
    return "certain bounds" if level == 1 else f"{100 * level:.6g} %"


def replications_text(entry: Mapping[str, Any]) -> str:
    """Write the number of replications of a record and, if it is known, of runs.

    Examples
    --------
    >>> replications_text({"replications": 2000})
    '2,000'
    >>> replications_text({"replications": 240, "runs": 6})
    '240, in 6 runs of 40'
    """
    total, runs = entry["replications"], entry.get("runs")
    if runs is None:
        return f"{total:,}"
    if runs == 1:
        return f"{total:,}, in 1 run"
    return f"{total:,}, in {runs:,} runs of {total // runs:,}"


def badge_html(verdict: Verdict) -> str:
    """Return symbol and word of a verdict; the style sheet adds the colour."""
    return (
        f'<span class="verdict {verdict.css_class}">'
        f'<span class="verdict-symbol" aria-hidden="true">{verdict.symbol}</span> {verdict}</span>'
    )


def card_html(claim: Claim, entry: dict[str, Any]) -> str:
    """Return the card as HTML, without colours, so it is readable on light and dark pages."""
    verdict = Verdict(entry["verdict"])
    rows = "\n".join(
        f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in _rows(claim, entry)
    )
    return (
        f'<div class="claim-card {verdict.css_class}">\n'
        f'<p class="claim-card-title">{badge_html(verdict)} '
        f"<strong>{escape(claim.title)}</strong> <code>{claim.id}</code></p>\n"
        f"<dl>\n{rows}\n</dl>\n</div>"
    )


def card_text(claim: Claim, entry: dict[str, Any]) -> str:
    """Return the card as plain text."""
    verdict = Verdict(entry["verdict"])
    rows = "\n".join(f"  {name}: {text}" for name, text in _rows(claim, entry))
    return f"{verdict.symbol} {verdict}: {claim.title} ({claim.id})\n{rows}"
