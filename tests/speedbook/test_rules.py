"""Rules: what an interval decides, and by how much it misses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from speedbook.claims.rules import SYMBOLS, VERDICTS, AtLeast, AtMost, Equal, Outcome, Verdict

from .a_claim import claim

numbers = st.floats(-1e6, 1e6)


@pytest.mark.parametrize(
    ("low", "high", "outcome"),
    [
        (0.95, 1.05, Outcome.HOLDS),
        (0.9, 1.1, Outcome.HOLDS),
        (1, 1, Outcome.HOLDS),
        (0.89, 1.0, Outcome.OPEN),
        (1.0, 1.11, Outcome.OPEN),
        (0, 2, Outcome.OPEN),
        (1.1, 1.2, Outcome.OPEN),
        (1.11, 1.2, Outcome.FAILS),
        (0.5, 0.89, Outcome.FAILS),
    ],
)
def test_equal(low, high, outcome):
    assert Equal(kind="equal", value=1, tolerance=0.1).judge(low, high) is outcome


@pytest.mark.parametrize(
    ("low", "high", "most", "least"),
    [
        (0, 1, Outcome.HOLDS, Outcome.OPEN),
        (1, 2, Outcome.OPEN, Outcome.HOLDS),
        (0, 2, Outcome.OPEN, Outcome.OPEN),
        (1, 1, Outcome.HOLDS, Outcome.HOLDS),
        (-2, 0.5, Outcome.HOLDS, Outcome.FAILS),
        (1.5, 2, Outcome.FAILS, Outcome.HOLDS),
    ],
)
def test_one_sided_rules(low, high, most, least):
    assert AtMost(kind="at_most", value=1).judge(low, high) is most
    assert AtLeast(kind="at_least", value=1).judge(low, high) is least


@given(numbers, st.floats(0, 1e3), numbers, numbers)
def test_rules_agree_with_each_other(value, tolerance, one, other):
    low, high = sorted((one, other))
    rules = {"value": value, "tolerance": tolerance}
    equal = Equal(kind="equal", **rules).judge(low, high)
    most = AtMost(kind="at_most", **rules).judge(low, high)
    least = AtLeast(kind="at_least", **rules).judge(low, high)
    mirrored = AtMost(kind="at_most", value=-value, tolerance=tolerance).judge(-high, -low)
    assert least is mirrored
    assert (equal is Outcome.HOLDS) == (most is least is Outcome.HOLDS)
    assert (equal is Outcome.FAILS) == (Outcome.FAILS in (most, least))


@pytest.mark.slow
@given(numbers, st.floats(0, 1e3), numbers, numbers)
def test_excess_is_what_the_tolerance_lacks(value, tolerance, one, other):
    low, high = sorted((one, other))
    for kind, rule in (("equal", Equal), ("at_most", AtMost), ("at_least", AtLeast)):
        excess = rule(kind=kind, value=value, tolerance=tolerance).excess(low, high)
        # A little to both sides of where rounding would decide.
        for change, holds in ((1e-3, True), (-1e-3, False)):
            if tolerance + excess + change >= 0:
                lacking = rule(kind=kind, value=value, tolerance=tolerance + excess + change)
                assert (lacking.judge(low, high) is Outcome.HOLDS) == holds


def test_verdict_follows_from_kind_and_outcome():
    inside, outside, both = (1, 1.01), (2, 2), (0, 2)
    verdicts = {
        kind: [claim(kind=kind).verdict(*interval) for interval in (inside, outside, both)]
        for kind in VERDICTS
    }
    assert verdicts == {
        "decidable": [Verdict.SUPPORTED, Verdict.CONTRADICTED, Verdict.INCONCLUSIVE],
        "asymptotic": [Verdict.CONSISTENT, Verdict.NOT_CONSISTENT, Verdict.INCONCLUSIVE],
        "vacuous": [Verdict.VACUOUS, Verdict.INCONCLUSIVE, Verdict.INCONCLUSIVE],
    }


@pytest.mark.parametrize("kind", ["decidable", "asymptotic"])
@pytest.mark.parametrize("evidence", ["proved", "exact example"])
def test_what_is_proved_or_exact_is_checked_and_not_supported(kind, evidence):
    proof = "proof-prop-1" if evidence == "proved" else None
    said = claim(kind=kind, evidence=evidence, proof=proof)
    assert said.verdict(1, 1) is said.verdict(0.95, 1.05) is Verdict.CHECKED
    assert said.verdict(0, 2) is Verdict.INCONCLUSIVE
    assert said.verdict(2, 2) in (Verdict.CONTRADICTED, Verdict.NOT_CONSISTENT)


@pytest.mark.parametrize("evidence", ["proved", "exact example"])
def test_an_example_that_agrees_with_what_is_false_decides_nothing(evidence):
    proof = "proof-prop-1" if evidence == "proved" else None
    said = claim(severity="statement", evidence=evidence, proof=proof)
    assert said.verdict(1, 1) is Verdict.INCONCLUSIVE
    assert said.verdict(2, 2) is Verdict.CONTRADICTED


@pytest.mark.parametrize("kind", ["decidable", "asymptotic"])
def test_a_measured_number_without_an_interval_supports_nothing(kind):
    assert claim(kind=kind).verdict(1, 1) is Verdict.INCONCLUSIVE
    assert claim(kind=kind).verdict(1, 1.001) in (Verdict.SUPPORTED, Verdict.CONSISTENT)


@pytest.mark.parametrize("kind", ["decidable", "asymptotic"])
def test_a_missed_threshold_of_ours_contradicts_nobody(kind):
    for evidence in ("measured", "exact example"):
        ours = claim(origin="ours", kind=kind, evidence=evidence)
        assert ours.verdict(2, 2.1) is Verdict.THRESHOLD_NOT_MET
    proved = claim(origin="ours", kind=kind, evidence="proved", proof="proof-prop-1")
    assert proved.verdict(2, 2.1) in (Verdict.CONTRADICTED, Verdict.NOT_CONSISTENT)
    assert claim(origin="reading", kind=kind).verdict(2, 2.1) is proved.verdict(2, 2.1)


def test_each_verdict_has_its_own_sign_and_class():
    assert set(SYMBOLS) == set(Verdict)
    assert len({v.symbol for v in Verdict}) == len({v.css_class for v in Verdict}) == 9
    assert Verdict.NOT_CONSISTENT.css_class == "verdict-not-consistent"
