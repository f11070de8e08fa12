"""Explain an estimated saving in a sentence with numbers."""

from __future__ import annotations

from collections.abc import Sequence

from speedlib.savings import ON_POLICY, Saving


def saving_sentence(saving: Saving, rounds: int, ways: Sequence[str] = ON_POLICY) -> str:
    """Say in Markdown, for each way of running the target policy, which needs fewer rounds.

    An interval above the budget shows that the experiment saved rounds. An interval below the
    budget shows that running the target policy itself would have been more precise. An interval
    that contains the budget decides nothing.

    Parameters
    ----------
    saving : Saving
    rounds : int
        The budget n of the experiment.
    ways : sequence of str
        Names of the ways, in the order of the fields of `saving`.
    """
    return "\n".join(
        f"- Against {way}: {_verdict(float(low), float(point), float(high), rounds)}"
        for way, low, point, high in zip(ways, saving.low, saving.rounds, saving.high, strict=True)
    )


def _verdict(low: float, point: float, high: float, rounds: int) -> str:
    if low > rounds:
        return f"**the experiment saves about {1 - rounds / point:.0%} of the rounds.**"
    if high < rounds:
        return (
            f"**the experiment loses: about {point:,.0f} rounds of the target policy itself are as "
            f"precise as these {rounds:,}.**"
        )
    return f"not decided, since the interval contains the budget of {rounds:,} rounds."
