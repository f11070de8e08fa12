"""One claim: what the paper says, or what we say instead, and the rule that decides it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, model_validator

from speedbook.claims.rules import VERDICTS, Kind, Outcome, Rule, Verdict


class Claim(BaseModel):
    """One entry of ``book/claims.yml``.

    The last four fields are for the errata and the map, and have no part in the verdict.
    ``counterexample`` and ``uncorrected``, which says why no corrected statement is needed, are
    MyST; `speedbook.claims.relations` says what the other two mean.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    id: str = Field(pattern=r"^[A-Za-z][A-Za-z0-9]*(-[A-Za-z0-9]+)*$")
    title: str = Field(min_length=1)
    place: str = Field(min_length=1)
    statement: str = Field(min_length=1)
    notebook: str = Field(pattern=r"^notebooks/[^\\]+\.ipynb$")
    kind: Kind
    rule: Rule | None = None
    constants: str | None = None
    counterexample: str | None = Field(default=None, min_length=1)
    corrected_by: tuple[str, ...] = ()
    uncorrected: str | None = Field(default=None, min_length=1)
    rests_on: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _rule_fits_kind(self) -> Claim:
        if (self.rule is None) != (self.kind == "untestable"):
            raise ValueError("every claim has a rule, but one of kind untestable has none")
        return self

    @model_validator(mode="after")
    def _corrected_or_not(self) -> Claim:
        if self.corrected_by and self.uncorrected:
            raise ValueError("a claim has corrected_by, or uncorrected with a reason, not both")
        return self

    def verdict(self, low: float, high: float) -> Verdict:
        """Return what follows from an interval for the quantity that the rule is about.

        A claim without a rule is a ValueError.
        """
        if self.rule is None:
            raise ValueError(f"id: claim {self.id!r} is untestable and has no rule")
        outcome: Outcome = self.rule.judge(low, high)
        return VERDICTS[self.kind].get(outcome, Verdict.INCONCLUSIVE)
