"""One claim: a statement of the paper or of this book, and the rule that decides it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from speedbook.claims.rules import VERDICTS, Kind, Outcome, Rule, Verdict

#: paper: the paper's own words. reading: its words, with something filled in that it leaves open.
#: ours: a statement, a correction or a threshold of this book.
Origin = Literal["paper", "reading", "ours"]
#: How much of the paper fails with a claim, the most first.
Severity = Literal["conclusion", "statement", "proof step", "slip"]
#: Whether a statement on regret is about one bandit at a time, or about all with one constant.
Reading = Literal["one bandit", "uniform"]
#: The basis of the verdict: a complete proof, whose code is checked; an example in exact
#: arithmetic or with certified bounds; or only random draws and numerics.
Evidence = Literal["proved", "exact example", "measured"]

#: Verdicts of a statement that is false, or whose numbers disagree with it.
AGAINST = frozenset({Verdict.CONTRADICTED, Verdict.NOT_CONSISTENT})


class Claim(BaseModel):
    """One entry of ``book/claims.yml``.

    ``proof`` is the label of the claim's proof in the book. The last four fields are used in the
    errata and the map, and do not affect the verdict. ``counterexample`` and ``uncorrected``, which
    says why no corrected statement is needed, are MyST; `speedbook.claims.relations` explains the
    other two.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    id: str = Field(pattern=r"^[A-Za-z][A-Za-z0-9]*(-[A-Za-z0-9]+)*$")
    title: str = Field(min_length=1)
    place: str = Field(min_length=1)
    statement: str = Field(min_length=1)
    notebook: str = Field(pattern=r"^notebooks/[^\\]+\.ipynb$")
    origin: Origin
    severity: Severity | None = None
    reading: Reading | None = None
    kind: Kind
    rule: Rule | None = None
    evidence: Evidence | None = None
    proof: str | None = Field(default=None, pattern=r"^proof(-[a-z0-9]+)+$")
    constants: str | None = None
    counterexample: str | None = Field(default=None, min_length=1)
    corrected_by: tuple[str, ...] = ()
    uncorrected: str | None = Field(default=None, min_length=1)
    rests_on: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _rule_fits_kind(self) -> Claim:
        if (self.rule is None) != (self.kind == "untestable"):
            raise ValueError(
                "rule: a claim must have one, unless its kind is untestable: then it must have none"
            )
        return self

    @model_validator(mode="after")
    def _evidence_fits_kind(self) -> Claim:
        if (self.evidence is None) != (self.kind == "untestable"):
            raise ValueError("evidence: a claim must have it, and one of kind untestable must not")
        if (self.evidence == "proved") != (self.proof is not None):
            raise ValueError("proof: must be given if the evidence is proved, and only then")
        return self

    @model_validator(mode="after")
    def _severity_fits_origin(self) -> Claim:
        if self.origin == "ours" and self.severity:
            raise ValueError(
                "severity: only a claim of the paper may have one; this claim has the origin ours"
            )
        return self

    @model_validator(mode="after")
    def _corrected_or_not(self) -> Claim:
        if self.corrected_by and self.uncorrected:
            raise ValueError("corrected_by, uncorrected: give one of them, not both")
        return self

    def verdict(self, low: float, high: float) -> Verdict:
        """Return the verdict, given an interval for the quantity of the claim's rule.

        A statement that is proved, or shown by an exact example, is *checked* if code and rule
        agree. Two results decide nothing: a measured number without an interval, and an example
        that agrees with a statement which we hold to be false. A missed threshold of ours
        contradicts nobody. Raises a ValueError if the claim has no rule.
        """
        if self.rule is None:
            raise ValueError(f"id: claim {self.id!r} is untestable and has no rule")
        outcome: Outcome = self.rule.judge(low, high)
        verdict = VERDICTS[self.kind].get(outcome, Verdict.INCONCLUSIVE)
        if verdict in AGAINST:
            missed = self.origin == "ours" and self.evidence != "proved"
            return Verdict.THRESHOLD_NOT_MET if missed else verdict
        if outcome is not Outcome.HOLDS or verdict is Verdict.VACUOUS:
            return verdict
        if self.evidence != "measured":
            return Verdict.INCONCLUSIVE if self.severity else Verdict.CHECKED
        return verdict if low < high else Verdict.INCONCLUSIVE
