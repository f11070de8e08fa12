"""Rules, and the verdicts that follow from them.

A rule is written before the run. It compares an interval with the claim, and the kind of the claim
turns the outcome into a verdict. A notebook states neither rule nor verdict. To add a kind of rule,
write a small class here and add its name to `Rule`.
"""

from __future__ import annotations

import math
from enum import Enum, StrEnum
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, NonNegativeFloat


class Outcome(Enum):
    """The outcome of a rule."""

    HOLDS = "holds"
    FAILS = "fails"
    OPEN = "open"


class Verdict(StrEnum):
    """The verdict of the book on a claim."""

    CHECKED = "checked"
    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    VACUOUS = "vacuous"
    CONSISTENT = "consistent over the measured range"
    NOT_CONSISTENT = "not consistent over the measured range"
    THRESHOLD_NOT_MET = "threshold not met"
    INCONCLUSIVE = "inconclusive"
    NOT_TESTABLE = "not testable"

    @property
    def symbol(self) -> str:
        """The sign for the verdict."""
        return SYMBOLS[self]

    @property
    def css_class(self) -> str:
        """The CSS class of the verdict's badge and card, such as ``verdict-supported``."""
        return "verdict-" + self.name.lower().replace("_", "-")


SYMBOLS = {
    Verdict.CHECKED: "∎",
    Verdict.SUPPORTED: "✓",
    Verdict.CONTRADICTED: "✗",
    Verdict.VACUOUS: "∅",
    Verdict.CONSISTENT: "≈",
    Verdict.NOT_CONSISTENT: "≉",
    Verdict.THRESHOLD_NOT_MET: "▽",
    Verdict.INCONCLUSIVE: "?",
    Verdict.NOT_TESTABLE: "–",
}

#: decidable: the statistic decides. asymptotic: numbers can only agree with it over a range.
#: vacuous: the rule tests whether the claim says nothing. untestable: no rule, no numbers.
Kind = Literal["decidable", "asymptotic", "vacuous", "untestable"]

VERDICTS: dict[str, dict[Outcome, Verdict]] = {
    "decidable": {Outcome.HOLDS: Verdict.SUPPORTED, Outcome.FAILS: Verdict.CONTRADICTED},
    "asymptotic": {Outcome.HOLDS: Verdict.CONSISTENT, Outcome.FAILS: Verdict.NOT_CONSISTENT},
    "vacuous": {Outcome.HOLDS: Verdict.VACUOUS},
}


class _Rule(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    value: FiniteFloat
    tolerance: NonNegativeFloat = 0.0
    #: The words of the rule, and on which sides of the value the tolerance lies: + is above it.
    relation: ClassVar[str]
    sides: ClassVar[str]

    def __str__(self) -> str:
        slack = f" {self.sides} {self.tolerance:g}" if self.tolerance else ""
        return f"{self.relation} {self.value:g}{slack}"

    @property
    def limits(self) -> tuple[float, float]:
        """The smallest and the largest value that the rule allows."""
        least = -math.inf if self.sides == "+" else self.value - self.tolerance
        most = math.inf if self.sides == "−" else self.value + self.tolerance
        return least, most

    def judge(self, low: float, high: float) -> Outcome:
        """Hold if the whole interval is within the limits, and fail if all of it is outside."""
        least, most = self.limits
        if least <= low and high <= most:
            return Outcome.HOLDS
        return Outcome.FAILS if high < least or most < low else Outcome.OPEN

    def excess(self, low: float, high: float) -> float:
        """Return how far the interval exceeds the limits; if it does not, minus the distance."""
        least, most = self.limits
        return max(least - low, high - most)


class Equal(_Rule):
    """The quantity is the value, up to the tolerance."""

    kind: Literal["equal"]
    relation, sides = "equal to", "±"


class AtMost(_Rule):
    """The quantity is no larger than the value, up to the tolerance."""

    kind: Literal["at_most"]
    relation, sides = "at most", "+"


class AtLeast(_Rule):
    """The quantity is no smaller than the value, up to the tolerance."""

    kind: Literal["at_least"]
    relation, sides = "at least", "−"


Rule = Annotated[Equal | AtMost | AtLeast, Field(discriminator="kind")]
