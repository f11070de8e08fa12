"""Display the mathematics in the texts of claims as formulas on the pages.

The registry writes mathematics in Unicode, "at most d λ₁(V)/n". This form stays in notebooks, in
the ledger's file and in the HTML: for the search, and for readers without scripts. The HTML also
has the same formulas in TeX. The script ``formulas.js`` makes MathJax display them:

- the symbols in every title, statement and place of a claim, on cards and elsewhere;
- on cards and in the errata, the formula of the claim as a display.

The ledger's table has too many symbols for MathJax, and its filter searches the text of the cells.
There powers and indices are raised and lowered, and their signs stay in the text, unseen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from html import escape, unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging

from speedbook.claims.registry import REGISTRY, load_registry
from speedbook.press.formulas import (
    FORMULAS,
    Formulas,
    file_problems,
    formula_parts,
    load_formulas,
    split_statement,
)
from speedbook.press.powers import SIGN
from speedbook.press.symbols import pieces

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment
    from sphinx.writers.html5 import HTML5Translator

    from speedbook.claims.claim import Claim

logger = logging.getLogger(__name__)

SCRIPT = "formulas.js"
#: Texts that stay unchanged: code and mathematics.
KEPT = (nodes.literal, nodes.literal_block, nodes.math, nodes.math_block, nodes.raw)
#: The table without TeX.
PLAIN_TABLE = "ledger-table"
#: What joins the parts of a line, such as a place and how a claim is read.
JOINTS = re.compile(r"( · )")
STRAIGHT = str.maketrans("’‘“”", "''\"\"")

#: A power or an index as `pieces` reads them, with its signs.
_SCRIPT = re.compile(
    r"(?P<power>\^\(|\^\{|\^(?=[a-z\d](?![A-Za-z\d])))|"
    r"_(?=(?:max|min|[a-z]{1,2}|\d|[πκU])(?![A-Za-z\d]))"
)
_END = {"^(": re.compile(r"(?:[^()]|\([^()]*\))*(?=\))"), "^{": re.compile(r"[^{}]*(?=\})")}
_NAME = re.compile(r"max|min|[a-z]{1,2}|\d|[πκU]")

_CARD = re.compile(r'<div class="claim-card .*?</div>', re.S)
_CARD_ID = re.compile(r"<code>([A-Za-z0-9-]+)</code>")
_CARD_TEXT = re.compile(
    r"(?P<before><strong>|<dt>(?P<row>Claim|Constants|Place)</dt><dd>)"
    r"(?P<text>[^<]*)(?P<behind></strong>|</dd>)"
)


class Symbols(nodes.inline):  # type: ignore[misc]
    """A node with symbols: its text is in Unicode, and an attribute has their TeX."""


class Formula(nodes.General, nodes.Element):  # type: ignore[misc]
    """The node of a claim's formula; it has no text, since the words next to it say the same."""


class Said(NamedTuple):
    """The texts of the claims; knows to which claim a text belongs and what its letters mean."""

    claims: Mapping[str, str]
    letters: Mapping[str, Mapping[str, str]]

    def letters_of(self, text: str) -> Mapping[str, str] | None:
        """Return what the letters of a claim's text mean, or None for any other text."""
        claim = self.claims.get(_plain(text))
        return None if claim is None else self.letters.get(claim, {})


def _plain(text: str) -> str:
    """Return a text as it is compared: without curled apostrophes and the final full stop."""
    return " ".join(text.translate(STRAIGHT).split()).strip(". ")


def said(claims: Iterable[Claim], formulas: Formulas) -> Said:
    """Return all texts of claims that hold symbols."""
    found: dict[str, str] = {}
    for claim in claims:
        constants = (claim.constants or "").removeprefix("Read: ")
        texts = (claim.title, claim.place, claim.statement, *split_statement(claim.statement))
        for text in (*texts, constants, constants[:1].upper() + constants[1:]):
            if any(piece.tex for piece in pieces(text, formulas.letters.get(claim.id))):
                found.setdefault(_plain(text), claim.id)
    return Said(found, formulas.letters)


def symbols_html(text: str, letters: Mapping[str, str] | None = None) -> str:
    r"""Return a text as HTML in which each symbol carries its TeX.

    Examples
    --------
    >>> print(symbols_html("of order √n"))
    of order <span data-tex="\sqrt{n}">√n</span>
    """
    return "".join(
        escape(piece.text)
        if piece.tex is None
        else f'<span data-tex="{escape(piece.tex)}">{escape(piece.text)}</span>'
        for piece in pieces(text, letters)
    )


def formula_html(tex: str) -> str:
    """Return the element of a displayed formula, which stays hidden until MathJax has set it."""
    parts = (f'<div class="math" data-tex="{escape(part)}"></div>' for part in formula_parts(tex))
    return f'<div class="claim-formula" hidden>{"".join(parts)}</div>'


def card_with_formulas(html: str, formulas: Formulas) -> str:
    """Return the card of a claim with its formula and with the TeX of its symbols.

    HTML that is not a card is returned unchanged.
    """
    return _CARD.sub(lambda card: _enriched(card[0], formulas), html)


def _enriched(card: str, formulas: Formulas) -> str:
    if (name := _CARD_ID.search(card)) is None:
        return card
    tex, letters = formulas.formulas.get(name[1]), formulas.letters.get(name[1])

    def row(found: re.Match[str]) -> str:
        text = unescape(found["text"])
        if found["row"] == "Claim" and tex:
            says, measured = (symbols_html(part, letters) for part in split_statement(text))
            shown = f"{says}{formula_html(tex)}{measured}"
        else:
            shown = symbols_html(text, letters)
        return f"{found['before']}{shown}{found['behind']}"

    return _CARD_TEXT.sub(row, card)


def formula_display(env: BuildEnvironment, claim: str) -> Formula | None:
    """Return the formula of a claim as a node for directives, or None."""
    formulas: Formulas = env.app.speedbook_said[1]  # type: ignore[attr-defined]
    tex = formulas.formulas.get(claim)
    return Formula("", tex=tex) if tex else None


class SetSymbols(SphinxPostTransform):
    """Mark the symbols on the pages, once links have their texts."""

    default_priority = 400
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        """Mark symbols in the texts of claims and on cards, and have MathJax loaded."""
        texts, formulas = self.app.speedbook_said  # type: ignore[attr-defined]
        for text in list(self.document.findall(nodes.Text)):
            if marked := _marked(text, texts):
                text.parent.replace(text, marked)
        found = next(self.document.findall(lambda n: isinstance(n, Symbols | Formula)), None)
        for raw in list(self.document.findall(nodes.raw)):
            if "html" in raw["format"].split() and "claim-card" in raw.astext():
                enriched = card_with_formulas(raw.astext(), formulas)
                raw.parent.replace(raw, nodes.raw("", enriched, **raw.attributes))
                found = found or ("data-tex" in enriched)
        if found:
            self.env.get_domain("math").data["has_equations"][self.env.docname] = True
            self.document["symbols"] = True


def _marked(text: nodes.Text, texts: Said) -> list[nodes.Node]:
    """Return the nodes that replace a text; none if it stays unchanged."""
    if not JOINTS.search(text) and texts.letters_of(text) is None:
        return []
    above = list(_parents(text))
    if any(isinstance(parent, KEPT) for parent in above):
        return []
    plain = any(PLAIN_TABLE in parent.get("classes", ()) for parent in above)
    found: list[nodes.Node] = []
    for part in JOINTS.split(text):
        letters = texts.letters_of(part)
        if letters is None:
            found.append(nodes.Text(part))
            continue
        for piece in pieces(part, letters):
            if piece.tex is None:
                found.append(nodes.Text(piece.text))
            elif plain:
                found += with_scripts(piece.text)
            else:
                found.append(Symbols("", "", nodes.Text(piece.text), tex=piece.tex))
    return found if any(isinstance(node, nodes.Element) for node in found) else []


def with_scripts(text: str) -> list[nodes.Node]:
    """Return symbols with powers raised and indices lowered; the text of the nodes is the text.

    Examples
    --------
    >>> [node.astext() for node in with_scripts("d² n^(-3/2)")]
    ['d² n', '^(', '-3/2', ')']
    >>> [node.tagname for node in with_scripts("λ_d(V)")]
    ['#text', 'inline', 'subscript', '#text']
    """
    found: list[nodes.Node] = []
    done = 0
    for sign in _SCRIPT.finditer(text):
        inner = _END.get(sign[0], _NAME).match(text, sign.end())
        if inner is None or sign.start() < done:
            continue
        kind = nodes.superscript if sign["power"] else nodes.subscript
        found += [nodes.Text(text[done : sign.start()])] if done < sign.start() else []
        found += [nodes.inline("", sign[0], classes=[SIGN]), kind("", inner[0])]
        done = inner.end()
        if sign[0] in _END:
            found.append(nodes.inline("", text[done], classes=[SIGN]))
            done += 1
    return [*found, nodes.Text(text[done:])] if done < len(text) else found


def _parents(node: nodes.Node) -> Iterator[nodes.Element]:
    while (parent := node.parent) is not None:
        yield parent
        node = parent


def visit_symbols(translator: HTML5Translator, node: Symbols) -> None:
    """Write the symbols with their TeX."""
    translator.body.append(f'<span data-tex="{escape(node["tex"])}">')


def depart_symbols(translator: HTML5Translator, node: Symbols) -> None:
    """End the symbols."""
    translator.body.append("</span>")


def visit_formula(translator: HTML5Translator, node: Formula) -> None:
    """Write the element of the formula."""
    translator.body.append(formula_html(node["tex"]))
    raise nodes.SkipNode


def pass_by(translator: Any, node: nodes.Element) -> None:
    """Leave the text unchanged outside HTML."""


def read_texts(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Read and check the formulas, once for a build."""
    root = Path(app.srcdir)
    claims = load_registry(root).claims if (root / REGISTRY).is_file() else ()
    try:
        formulas = load_formulas(root)
    except ValueError as error:
        logger.error("%s", error)
        formulas = Formulas()
    mathjax: Mapping[str, Any] = app.config.mathjax3_config or {}
    macros = mathjax.get("tex", {}).get("macros", {})
    for problem in file_problems(formulas, [claim.id for claim in claims], macros):
        logger.error("%s", problem)
    app.speedbook_said = said(claims, formulas), formulas  # type: ignore[attr-defined]


def note_formulas(app: Sphinx, docname: str, source: list[str]) -> None:
    """Make Sphinx build a page again when the formulas change."""
    if (path := Path(app.srcdir) / FORMULAS).is_file():
        app.env.note_dependency(str(path))


def add_script(app: Sphinx, page: str, template: str, context: Any, doctree: Any) -> None:
    """Load the script only on the pages that have symbols."""
    if doctree is not None and doctree.get("symbols"):
        app.add_js_file(SCRIPT, loading_method="defer")


def setup_formulas(app: Sphinx) -> None:
    """Register the nodes and the event handlers."""
    passed = (pass_by, pass_by)
    app.add_node(Symbols, html=(visit_symbols, depart_symbols), latex=passed, text=passed)
    app.add_node(Formula, html=(visit_formula, None), latex=passed, text=passed)
    app.add_post_transform(SetSymbols)
    app.connect("env-before-read-docs", read_texts)
    app.connect("source-read", note_formulas)
    app.connect("html-page-context", add_script)
