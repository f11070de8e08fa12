"""The formulas of the claims: the file, cards, and pages that show them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from speedbook.claims.cards import card_html
from speedbook.claims.claim import Claim
from speedbook.claims.registry import load_registry
from speedbook.press.formulas import (
    FORMULAS,
    Formulas,
    file_problems,
    formula_problems,
    load_formulas,
    split_statement,
)
from speedbook.press.powers import SIGN
from speedbook.press.sphinx.formulas import card_with_formulas, said, symbols_html, with_scripts
from speedbook.press.symbols import pieces
from speedbook.run.cache import run_key, shared_key

from .a_claim import CLAIM
from .pressed import press

ROOT = Path(__file__).parents[2]
CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
MACROS = CONFIG["sphinx"]["config"]["mathjax3_config"]["tex"]["macros"]


def test_every_formula_of_the_book_is_balanced_and_uses_known_commands():
    claims = load_registry(ROOT).claims
    assert file_problems(load_formulas(ROOT), [claim.id for claim in claims], MACROS) == []


#: Claims of the paper that are no formula: of novelty, counts, and comparisons of curves.
WORDS = re.compile(r"pe-is-new|pe-differs|fig-|inconsistent-wines|first-|wan-g-optimal")


def test_every_claim_of_the_paper_that_is_a_formula_has_one():
    formulas = load_formulas(ROOT).formulas
    claims = [claim for claim in load_registry(ROOT).claims if claim.origin != "ours"]
    assert [c.id for c in claims if c.id not in formulas and not WORDS.match(c.id)] == []


@pytest.mark.parametrize(
    ("tex", "problem"),
    [
        ("", "empty"),
        ("  ", "empty"),
        (r"\frac{1}{n", "a brace is not closed"),
        ("n}", "a brace is not opened"),
        ("}n{", "a brace is not opened"),
        ("$n$", "a dollar"),
        (r"\colour{red}", r"unknown: \colour"),
        (r"\left( n", r"as many \left as \right"),
        (r"\begin{aligned}n", "aligned is not ended"),
        (r"\begin{aligned}n\end{cases}", r"\end{cases}"),
        (r"\begin{table}n\end{table}", r"\begin{table}"),
    ],
)
def test_what_is_wrong_with_a_formula_is_said(tex, problem):
    assert problem in formula_problems(tex, MACROS)


def test_what_is_right_is_not_complained_of():
    right = r"\{\bc\}\;\begin{cases}a&\text{if }\wSigma\succeq0\\b\end{cases}\,\left(n\right)"
    assert formula_problems(right, MACROS) == []


def test_formulas_of_no_claim_are_complained_of():
    formulas = Formulas(formulas={"prop-9": "n"}, letters={"prop-8": {"E": ""}})
    problems = file_problems(formulas, ["prop-1"], MACROS)
    assert len(problems) == 2 and all("the registry has no claim" in each for each in problems)


@pytest.mark.parametrize("text", ["formulas: [", "formulas: {a: [1]}", "formula: {}"])
def test_a_file_that_is_none_is_a_value_error_with_its_name(tmp_path, text):
    assert load_formulas(tmp_path) == Formulas()
    (tmp_path / "book").mkdir()
    (tmp_path / FORMULAS).write_text(text)
    with pytest.raises(ValueError, match=FORMULAS):
        load_formulas(tmp_path)


def a_card(**changes):
    entry = {"verdict": "supported", "estimate": 1.0, "interval": [0.9, 1.1], "seed": 1}
    return card_html(Claim(**{**CLAIM, **changes}), {**entry, "level": 0.999, "replications": 9})


def test_a_card_gets_its_formula_between_what_it_says_and_what_was_measured():
    card = a_card(statement="It is < √n. Measured: n.")
    shown = card_with_formulas(card, Formulas(formulas={CLAIM["id"]: r"a<\sqrt n"}))
    assert (
        '<dd>It is &lt; <span data-tex="\\sqrt{n}">√n</span>.'
        '<div class="claim-formula" hidden><div class="math" data-tex="a&lt;\\sqrt n"></div></div>'
        'Measured: <span data-tex="n">n</span>.</dd>'
    ) in shown


def test_but_for_the_marks_a_card_says_what_the_notebook_stores():
    for claim in load_registry(ROOT).claims:
        card = a_card(
            **claim.model_dump(include={"id", "title", "statement", "constants", "place"})
        )
        shown = card_with_formulas(card, load_formulas(ROOT))
        part = r'<div class="math" data-tex="[^"]*"></div>'
        formula = rf'<div class="claim-formula" hidden>({part})+</div>'
        plain = re.sub(r'<span data-tex="[^"]*">([^<]*)</span>', r"\1", shown)
        gap = re.sub(formula, "" if not split_statement(claim.statement)[1] else " ", plain)
        assert gap == card, claim.id
        assert ("claim-formula" in shown) == (claim.id in load_formulas(ROOT).formulas)


def test_what_is_no_card_stays():
    html = '<div class="other"><strong>√n</strong></div>'
    assert card_with_formulas(html, Formulas()) == html


def test_symbols_are_marked_in_escaped_html():
    assert symbols_html("n < γ & co") == '<span data-tex="n &lt; \\gamma">n &lt; γ</span> &amp; co'


def test_a_text_is_known_with_curled_apostrophes_and_without_its_stop():
    claim = Claim(**{**CLAIM, "statement": "The oracle's √n."})
    texts = said([claim], Formulas(letters={claim.id: {"n": r"\nu"}}))
    assert texts.letters_of("The oracle’s √n") == {"n": r"\nu"}
    assert texts.letters_of("Another √n") is None
    assert said([Claim(**{**CLAIM, "title": "Words", "place": "Here"})], Formulas()).claims == {}


def test_formulas_are_no_part_of_what_a_notebook_ran_with(tiny_book, tiny_notebook):
    claims = load_registry(tiny_book.root).claims

    def key():
        return run_key(tiny_notebook("1"), claims, shared_key(tiny_book.root))

    before = key()
    tiny_book.write(FORMULAS, "formulas: {prop-1: n}\n")
    assert key() == before


PAGES = {
    "index": "# Book\n\n```{toctree}\nerrata\nledger\nprose\ncards\n```\n",
    "errata": "# Errata\n\n```{errata} statement\n```\n",
    "ledger": "# Ledger\n\n```{ledger-table}\n```\n",
    "prose": "# Prose\n\nIt says {ledger}`lemma-1.title`, and √n, and `√n`.\n",
    "cards": "---\norphan: true\n---\n# Cards\n\n(card-lemma-1)=\n## Card\n\n"
    "```{raw} html\n%s\n```\n",
}


@pytest.fixture
def pressed(tmp_path):
    def run(formulas="formulas: {lemma-1: '\\sqrt n<1'}\n", **changes):
        entry = {
            **CLAIM,
            "id": "lemma-1",
            "title": "It's of order √n",
            "place": "Lemma 1, on Γ",
            "statement": "The c of √n is γ. Measured: n.",
            "counterexample": "None.",
            "severity": "statement",
            **changes,
        }
        entry.setdefault("uncorrected", "Nobody needs it.")
        row = {key: entry[key] for key in ("title", "place", "statement", "notebook", "origin")}
        row |= {"rule": "at most 1", "verdict": "contradicted", "estimate": 2.5}
        row |= {"interval": [2.4, 2.6], "replications": 9, "seed": 1, "evidence": "measured"}
        (tmp_path / "book").mkdir(exist_ok=True)
        (tmp_path / "book" / "claims.yml").write_text(yaml.safe_dump({"claims": [entry]}))
        (tmp_path / "book" / "ledger.json").write_text(json.dumps({"claims": {"lemma-1": row}}))
        (tmp_path / FORMULAS).write_text(formulas)
        card = a_card(**{k: entry[k] for k in ("id", "title", "place", "statement")})
        for name, text in PAGES.items():
            (tmp_path / f"{name}.md").write_text(text.replace("%s", card))
        complaints = press(tmp_path)
        return {n: (tmp_path / "html" / f"{n}.html").read_text() for n in PAGES}, complaints

    return run


@pytest.mark.slow
def test_pages_show_symbols_and_formulas_and_the_ledger_its_unicode(pressed, tmp_path):
    pages, complaints = pressed()
    assert complaints == ""
    errata = pages["errata"]
    assert '<div class="math" data-tex="\\sqrt n&lt;1"></div></div>' in errata
    assert '<span data-tex="\\gamma">γ</span>' in errata
    assert '<span data-tex="\\Gamma">Γ</span>' in errata, "the place too"
    assert 'order <span data-tex="\\sqrt{n}">√n</span></h2>' in errata.replace("<a ", "</h2><a ")
    assert pages["prose"].count("data-tex") == 1, "what a claim says, and not what else is there"
    assert "data-tex" not in pages["ledger"] and "√n" in pages["ledger"]
    assert pages["cards"].count("claim-formula") == 1
    for name in ("errata", "prose", "cards"):
        assert "mathjax" in pages[name].lower() and "formulas.js" in pages[name], name
    assert "formulas.js" not in pages["ledger"] + pages["index"]
    index = (tmp_path / "html" / "searchindex.js").read_text()
    assert "sqrt" not in index and "frac" not in index


@pytest.mark.slow
def test_a_letter_that_means_something_else_here_is_set_so(pressed):
    pages, _ = pressed("letters: {lemma-1: {c: c}}\n")
    assert '<span data-tex="c">c</span>' in pages["errata"]
    assert "claim-formula" not in pages["errata"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("formulas", "complaint"),
    [
        ("formulas: {lemma-1: '\\wrong'}", r"lemma-1: unknown: \\wrong"),
        ("formulas: {lemma-9: n}", "no claim 'lemma-9'"),
        ("formulas: [", "book/formulas.yml"),
    ],
)
def test_a_formula_that_cannot_be_set_is_reported(pressed, formulas, complaint):
    _, complaints = pressed(formulas)
    assert re.search(complaint, complaints)


def shown(text: str) -> str:
    """Return what a reader of the ledger sees of symbols, with powers and indices in brackets."""
    marks = {"superscript": "⟨{}⟩", "subscript": "[{}]"}
    return "".join(
        marks.get(getattr(node, "tagname", ""), "{}").format(node.astext())
        for node in with_scripts(text)
        if not (node.tagname == "inline" and SIGN in node["classes"])
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n^(-3/2)", "n⟨-3/2⟩"),
        ("n^(-1-Kk-o(1))", "n⟨-1-Kk-o(1)⟩"),
        ("nR'_n", "nR'[n]"),
        ("λ_d(V)", "λ[d](V)"),
        ("R^{d×d}", "R⟨d×d⟩"),
        ("σ²_max/σ²_min", "σ²[max]/σ²[min]"),
        ("2^d", "2⟨d⟩"),
        ("√n", "√n"),
        ("n^(", "n^("),
    ],
)
def test_the_ledger_raises_powers_and_lowers_indices(text: str, expected: str) -> None:
    assert shown(text) == expected
    assert "".join(node.astext() for node in with_scripts(text)) == text


def test_no_sign_of_a_power_or_an_index_is_left_in_the_ledger() -> None:
    letters = load_formulas(ROOT).letters
    symbols = [
        piece.text
        for claim in load_registry(ROOT).claims
        for text in (claim.title, claim.place, claim.statement)
        for piece in pieces(text, letters.get(claim.id))
        if piece.tex
    ]
    assert len(symbols) > 100
    assert [text for text in symbols if re.search(r"[_^]", shown(text))] == []
