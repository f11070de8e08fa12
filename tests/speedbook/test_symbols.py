"""Mathematics in the words of the registry: what is found, what it becomes, what is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from speedbook.claims.registry import load_registry
from speedbook.press.formulas import load_formulas
from speedbook.press.symbols import pieces

ROOT = Path(__file__).parents[2]
#: Every run that the registry holds, with its TeX, read by eye.
LISTED = Path(__file__).with_name("symbols_of_claims.txt")
FIELDS = ("title", "statement", "constants", "place")


def texts():
    letters = load_formulas(ROOT).letters
    for claim in load_registry(ROOT).claims:
        for field in FIELDS:
            if text := getattr(claim, field):
                yield f"{claim.id} {field}", text, letters.get(claim.id)


def tex(text, letters=None):
    return [piece.tex for piece in pieces(text, letters) if piece.tex is not None]


def test_the_runs_of_all_claims_are_those_that_were_read():
    lines = []
    for place, text, letters in texts():
        found = dict.fromkeys(piece for piece in pieces(text, letters) if piece.tex is not None)
        lines += [f"{place}: {piece.text} → {piece.tex}" for piece in found]
    listed = LISTED.read_text(encoding="utf-8").splitlines()
    new = sorted(set(lines) - set(listed))
    assert lines == listed, f"read these, then renew {LISTED.name} with them: {new}"


def test_the_pieces_of_a_text_are_the_text():
    for place, text, letters in texts():
        assert "".join(piece.text for piece in pieces(text, letters)) == text, place


def test_no_symbol_of_a_claim_is_left_in_its_words():
    # But half as a word, signs of numbers, and the names of files, which have an underscore.
    symbols = set("αβγδεηθικλμνπρστφψωΓΔΣΦΩ√²³⁴⁵⁶⁷⁸⁹⁰¹⁻₀₁₂₃ᵀ⪰≻≤≥=<>^⌈⌊⟨‖\u0302\u0303")
    for place, text, letters in texts():
        left = "".join(piece.text for piece in pieces(text, letters) if piece.tex is None)
        assert not symbols & set(left), (place, left)


def test_what_each_run_becomes_has_balanced_braces_and_is_not_empty():
    for place, text, letters in texts():
        for run in tex(text, letters):
            assert run.strip() and run.count("{") == run.count("}"), (place, run)


@pytest.mark.parametrize(
    "text",
    [
        "A design minimises the trace. A policy takes an action.",
        "Appendix B.1, step (b), part A; see Appendix D (Red Wine Quality)",
        "A-, D- and G-optimal designs in environment E of Figure 1a on MovieLens 1M",
        "the oracle's loss is within 1.5 per cent of 3/4, or −2, at 10,000 rounds",
        "the appendix (file bandit_app1.tex) says i.e. what 95 % means",
        "I read it as follows: one half, ½, of a day",
        "",
    ],
)
def test_words_names_and_numbers_stay(text):
    assert tex(text) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("of order n^(-3/2), say", ["n^{-3/2}"]),
        ("2 C d² σ²_max log(A/δ) / Γ.", [r"2Cd^2\sigma^2_{\max}\log(A/\delta)/\Gamma"]),
        ("the SPEED's R'_n over R_n", [r"\cR'_n", r"\cR_n"]),
        ("SPEED’s R’_n", [r"\cR'_n"]),
        ("x(a)x(a)ᵀ and c cᵀ", [r"\bx(a)\bx(a)^\top", r"\bc\bc^\top"]),
        (
            "with Σ̂ ⪰ 0, every Σ, A Σ p(1 − p)",
            [r"\wSigma \succeq 0", r"\bSigma", r"A\sum p(1 - p)"],
        ),
        ("6/25 ρ² √M n^(-5/4)", [r"\tfrac{6}{25}\rho^2\sqrt{M}\,n^{-5/4}"]),
        ("3·10⁵ of 10 rounds", [r"3 \cdot 10^5"]),
        ("n-d is no difference, n - d is, and n+s-1", ["n - d", "n + s - 1"]),
        ("a δ-PAC policy", [r"\delta"]),
        ("|σ̂²(a) − σ²(a)|", [r"\lvert \wsigma^2(a) - \sigma^2(a)\rvert"]),
        ("log regret over log n", [r"\log n"]),
    ],
)
def test_runs_become_what_they_mean(text, found):
    assert tex(text) == found


def test_a_long_run_may_break_behind_a_sign_and_a_short_one_not():
    long = list(pieces("(n₀ + 6A)/(nN) + 40 √(A log n)/N^(3/2)"))
    assert [piece.text for piece in long] == ["(n₀ + 6A)/(nN) + ", "40 √(A log n)/N^(3/2)"]
    assert long[0].tex == "(n_0 + 6A)/(nN) +{}"
    assert len(list(pieces("n = γ + 1"))) == 1


def test_a_letter_means_what_the_claim_says():
    assert tex("2 V of E", {"V": "V", "E": ""}) == ["2V"]
    assert tex("2 V of E") == [r"2\bV", "E"]
