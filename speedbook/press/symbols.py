r"""Find the mathematics in a text of the registry, and write it in TeX.

The registry is Unicode, as JupyterLab, the ledger's file, alternative texts and the search show it:
"at most d λ₁(V)/n". A page can show ``d λ₁(V)/n`` as mathematics. `pieces` finds such pieces of
mathematics and writes each in TeX. It leaves words and numbers without a symbol unchanged, and also
every piece that it cannot parse to the end. Letters that are words or names stay, too: "A design",
"Appendix B", "D-optimal", "(b)". If all pieces of a text are joined, the result is the text.

A letter means what `book/notation.md` says: ``c`` is the target direction, ``Σ`` the noise matrix.
If a letter means something else in a claim, the caller says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple


class Piece(NamedTuple):
    """A part of a text, and its TeX if it is mathematics."""

    text: str
    tex: str | None = None


GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "varepsilon", "η": "eta",
    "θ": "btheta", "ι": "iota", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "π": "pi",
    "ρ": "rho", "σ": "sigma", "τ": "tau", "φ": "phi", "ψ": "psi", "ω": "omega",
    "Γ": "Gamma", "Δ": "Delta", "Σ": "bSigma", "Φ": "Phi", "Ω": "Omega",
}  # fmt: skip
#: Letters that the book typesets in a special way.
LETTERS = {letter: f"\\{name}" for letter, name in GREEK.items()} | {
    "V": r"\bV", "R": r"\cR", "c": r"\bc", "w": r"\bw", "x": r"\bx",
}  # fmt: skip
#: Combining marks after a letter: a hat, a tilde.
ACCENTS = {"\u0302": r"\widehat", "\u0303": r"\widetilde"}
HATS = {r"\bSigma": r"\wSigma", r"\sigma": r"\wsigma", r"\btheta": r"\wtheta", r"\bb": r"\wb"}
FUNCTIONS = {
    "log": r"\log", "exp": r"\exp", "max": r"\max", "min": r"\min", "Tr": r"\Tr", "Var": r"\Var",
    "diag": r"\operatorname{diag}", "svec": r"\operatorname{svec}",
}  # fmt: skip
#: Spellings that cannot be translated letter by letter.
LITERALS = {
    "R^{d×d}": r"\R^{d\times d}", "R²": r"\R^2", "xx'": r"\bx\bx^\top", "b(a)": r"\bb(a)",
    "Õ(1/n)": r"\widetilde O(1/n)", "p̂": r"\hat p", "1/4δ": r"1/(4\delta)", "1/nJ": "1/(nJ)",
    "β/4J": r"\beta/(4J)", "log(nJ)/2J²": r"\log(nJ)/(2J^2)",
}  # fmt: skip
#: Pairs of letters that are a product.
PRODUCTS = ("nR", "nN", "nJ", "Ay", "Kk")
RELATIONS = {
    "=": "=", "≤": r"\le", "≥": r"\ge", "<": "<", ">": ">", "⪰": r"\succeq", "≻": r"\succ",
}  # fmt: skip
SIGNS = {"+": "+", "−": "-", "-": "-", "±": r"\pm", "·": r"\cdot", "/": "/"}
BRACKETS = {
    "(": (")", "(", ")"), "[": ("]", "[", "]"), "⟨": ("⟩", r"\langle ", r"\rangle"),
    "⌈": ("⌉", r"\lceil ", r"\rceil"), "⌊": ("⌋", r"\lfloor ", r"\rfloor"),
    "|": ("|", r"\lvert ", r"\rvert"), "‖": ("‖", r"\lVert ", r"\rVert"),
}  # fmt: skip
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
FRACTIONS = {"½": r"\tfrac12", "¼": r"\tfrac14"}

_RAISED = re.compile("[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_LOWERED = re.compile("[₀₁₂₃₄₅₆₇₈₉]+")
_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?…?")
#: A fraction before a factor, "12/5 Γ": in one line, the factor would seem to be a denominator.
_FRACTION = re.compile(r"(\d+)/(\d+|[a-z])(?= (?:[√ρσκψΓ(⌈]|[A-Z]\b))")
_FUNCTION = re.compile(rf"(?:{'|'.join(FUNCTIONS)})(?![A-Za-z])")
_INDEX = re.compile(r"_(max|min|[a-z]{1,2}|[0-9]|π|κ|U)(?![A-Za-z0-9])")
_POWER = re.compile(r"\^([a-z]|\d)(?![A-Za-z0-9])")
_LABEL = re.compile(r"\([a-z]\)")
#: After these, a capital letter or a letter next to a number is part of a name.
_WITHIN = re.compile(r"[-'’.\w]$")
_PLACE = re.compile(r"(?:Appendix|[Pp]art|[Ee]nvironment|MovieLens|Figure) \d*$")
#: Before these, a letter is a part of a word or a phrase: "D-optimal", "D- and A-optimal".
_WORD = re.compile(r"[A-Za-zéö]|-[a-z,\s]|['’](?![s_\s,.;:)]|$)|\.\w")
_SENTENCE = re.compile(r"(?:^|[.:?!] )$")
_ARTICLE = re.compile(r" \w{2}")
#: A run may begin at the start, or after a space, an opening bracket or a quotation mark.
_FREE = ' \n(["“'
#: A longer run may break after a sign or a relation, if both parts are long enough.
LONG, PART = 20, 8


class _Unread(Exception):
    """The text here is not mathematics."""


class _Reader:
    """Reads runs of one text; a run without symbols is only a number or a word."""

    def __init__(self, text: str, letters: Mapping[str, str]) -> None:
        self.text = text
        self.letters = {**LETTERS, **letters}
        self.start = self.at = self.symbols = 0
        #: Places where a run may break: in the text, and in its TeX.
        self.breaks: list[tuple[int, int]] = []

    def run(self, start: int) -> list[Piece]:
        """Return the pieces of the run that begins here; none if there is no run."""
        self.start = self.at = start
        self.symbols, self.breaks = 0, []
        if _LABEL.match(self.text, start) or _LABEL.match(self.text, max(start - 1, 0)):
            return []
        try:
            tex = self._sum(0)
        except _Unread:
            return []
        return self._parts(tex) if self.symbols else []

    def _parts(self, tex: str) -> list[Piece]:
        """Split a long run where it may break; a part that ends in a sign keeps its space."""
        place, mark, found = self.start, 0, []
        if self.at - self.start > LONG:
            for at, length in self.breaks:
                if min(at - place, self.at - at) >= PART:
                    found.append(Piece(self.text[place:at], f"{tex[mark:length].strip()}{{}}"))
                    place, mark = at, length
        return [*found, Piece(self.text[place : self.at], tex[mark:].strip())]

    # The grammar: sums of products of factors ------------------------------------------------

    def _sum(self, depth: int) -> str:
        """Read products joined by signs and relations, up to the first that does not fit."""
        tex = self._sign() + self._product(depth)
        while True:
            back, symbols = self.at, self.symbols
            try:
                joint = self._joint(depth)
                place, length = self.at, len(tex) + len(joint)
                tex += joint + self._sign() + self._product(depth)
            except _Unread:
                self.at, self.symbols = back, symbols
                return tex
            if depth == 0 and joint != "/":
                self.breaks.append((place, length))

    def _sign(self) -> str:
        """Read the sign of a product, if it has one."""
        here = self._here()
        if here in ("−", "-", "±") and not self._next().isspace():
            self.at += 1
            return SIGNS[here]
        return ""

    def _joint(self, depth: int) -> str:
        """Read the sign between two products; within brackets it may be a comma."""
        spaces = self._spaces()
        here = self._here()
        if here in RELATIONS:
            tex = f" {RELATIONS[here]} "
        elif here == "-" and spaces != self._next().isspace():
            raise _Unread  # a hyphen, or the sign of the next number
        elif here in SIGNS and here != "±":
            tex = "/" if here == "/" else f" {SIGNS[here]} "
        elif depth and here == "," and not spaces:
            tex = ", "
        else:
            raise _Unread
        self.at += 1
        self._spaces()
        return tex

    def _product(self, depth: int) -> str:
        """Read adjacent factors, with or without a space between them."""
        tex = self._factor(depth)
        while True:
            back, symbols = self.at, self.symbols
            try:
                factor = self._factor(depth, spaced=self._spaces())
            except _Unread:
                self.at, self.symbols = back, symbols
                return tex
            # Without a space it is hard to see where the bar of a root ends.
            root = re.search(r"\\sqrt\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}$", tex) is not None
            word = re.search(r"\\[A-Za-z]+$", tex) is not None and factor[:1].isalpha()
            tex += (r"\," if root else " " if word else "") + factor

    def _factor(self, depth: int, spaced: bool = False) -> str:
        here = self._here()
        for spelling, tex in LITERALS.items():
            if self._peek(spelling) and self._stands(len(spelling), depth):
                self.at += len(spelling)
                self.symbols += 1
                return self._scripts(tex)
        if found := _FUNCTION.match(self.text, self.at):
            return self._function(found[0], depth)
        if here in FRACTIONS:
            self.at += 1
            return FRACTIONS[here]
        if here == "√":
            return self._root()
        if here in BRACKETS and not (spaced and (here == "|" or _LABEL.match(self.text, self.at))):
            return self._scripts(self._group())
        if found := _FRACTION.match(self.text, self.at):
            self.at = found.end()
            return rf"\tfrac{{{found[1]}}}{{{found[2]}}}"
        if found := _NUMBER.match(self.text, self.at):
            self.at = found.end()
            if spaced and self._here() not in "⁰¹²³⁴⁵⁶⁷⁸⁹":
                raise _Unread
            return self._scripts(found[0].replace(",", "{,}").replace("…", r"\ldots"))
        return self._letter(depth)

    def _function(self, name: str, depth: int) -> str:
        """Read a function and its argument: a bracket, or adjacent factors without spaces."""
        self.at += len(name)
        power = self._scripts("")
        if not self._spaces() and self._here() not in BRACKETS:
            raise _Unread
        bracket = self._here() == "("
        argument = self._factor(depth)
        while not bracket:
            back, symbols = self.at, self.symbols
            try:
                argument += self._factor(depth)
            except _Unread:
                self.at, self.symbols = back, symbols
                break
        return f"{FUNCTIONS[name]}{power}{'' if bracket else ' '}{argument}"

    def _root(self) -> str:
        self.at += 1
        self.symbols += 1
        if self._here() == "(":
            inner = self._group()[1:-1]
        elif found := _NUMBER.match(self.text, self.at):
            self.at, inner = found.end(), found[0]
        else:
            inner = self._letter(1)
        return f"\\sqrt{{{inner}}}"

    def _group(self) -> str:
        """Read brackets and their content."""
        close, left, right = BRACKETS[self._here()]
        self.at += 1
        inner = self._sum(1)
        if self._here() != close:
            raise _Unread
        self.at += 1
        return f"{left}{inner}{right}"

    def _letter(self, depth: int) -> str:
        """Read a letter with its accents, argument and indices."""
        here = self._here()
        if here == "E" and re.match(r"E(?:_π)? [ηεσ]", self.text[self.at :]):
            self.at += 1
            self.symbols += 1
            return rf"\E{self._lowered()}"
        if here == "Σ" and re.match(r"Σ [πp(]", self.text[self.at :]):
            self.at += 2
            self.symbols += 1
            return rf"\sum {self._product(depth)}"
        latin = here.isascii() and here.isalpha()
        if here not in GREEK and not (latin and self._is_symbol(depth)):
            raise _Unread
        if not (tex := self.letters.get(here, here)):
            raise _Unread
        self.at += 1
        self.symbols += 1
        if accent := ACCENTS.get(self._here()):
            self.at += 1
            tex = HATS.get(tex) or f"{accent}{{{tex}}}"
        if self._here() in "'’" and self._next() != "s":
            self.at += 1
            tex += "'"
        return self._scripts(tex + self._argument() + self._lowered())

    def _is_symbol(self, depth: int) -> bool:
        """Return whether a Latin letter is a symbol, and not a word, name or label."""
        here, before = self._here(), self.text[: self.at]
        if not self._stands(1, depth):
            return False
        if here == "A":
            behind = self.text[self.at + 1 :]
            return not (_SENTENCE.search(before) and _ARTICLE.match(behind))
        if here in "aI":
            return depth > 0 or self._next() in (",", "")
        return True

    def _stands(self, length: int, depth: int) -> bool:
        """Return whether these characters are neither part of a word nor the name of a place."""
        end = self.at + length
        here, last = self.text[self.at], self.text[end - 1]
        if not here.isalpha() or not here.isascii():
            return True
        before = self.text[self.at - 1 : self.at]
        if length == 1:
            pairs = (self.text[self.at : end + 1], self.text[self.at - 1 : end])
            if pairs[0] in PRODUCTS:
                end, last = end + 1, self.text[end]
            if pairs[1] in PRODUCTS and self.at > self.start:
                before = ""
        if self.at == self.start and _WITHIN.search(self.text[: self.at]):
            return False
        named = here.isupper() or before.isdigit()
        if named and not re.match("['’_]", self._next()) and _PLACE.search(self.text[: self.at]):
            return False
        if before.isascii() and before.isalpha():
            return False
        return not (last.isascii() and last.isalpha() and _WORD.match(self.text, end)) or (
            depth > 0 and self.text[end : end + 1] == "-"
        )

    def _argument(self) -> str:
        if not self._peek("(a)"):
            return ""
        self.at += 3
        return "(a)"

    def _lowered(self) -> str:
        """Read an index."""
        if found := _LOWERED.match(self.text, self.at):
            self.at = found.end()
            return f"_{found[0].translate(SUBSCRIPTS)}"
        if found := _INDEX.match(self.text, self.at):
            self.at = found.end()
            index = FUNCTIONS.get(found[1]) or LETTERS.get(found[1]) or found[1]
            return f"_{{{index}}}" if len(index) > 1 else f"_{index}"
        return ""

    def _scripts(self, tex: str) -> str:
        """Read powers and what follows them, as in "σ²_max" and "x(a)ᵀ"."""
        power = ""
        if self._here() == "*":
            self.at += 1
            power = "*"
        if found := _RAISED.match(self.text, self.at):
            self.at = found.end()
            power += found[0].translate(SUPERSCRIPTS)
        if self._here() == "ᵀ":
            self.at += 1
            power += r"\top"
        if found := _POWER.match(self.text, self.at):
            self.at = found.end()
            power += found[1]
        elif self._peek("^("):
            self.at += 1
            power += self._group()[1:-1]
        if not power:
            return tex
        self.symbols += 1
        short = len(power) == 1 or power == r"\top"
        return f"{tex}^{power if short else f'{{{power}}}'}{self._lowered()}{self._argument()}"

    # Places -----------------------------------------------------------------------------------

    def _here(self) -> str:
        return self.text[self.at : self.at + 1] or "\n"

    def _next(self) -> str:
        return self.text[self.at + 1 : self.at + 2]

    def _peek(self, what: str) -> bool:
        return self.text.startswith(what, self.at)

    def _spaces(self) -> bool:
        start = self.at
        while self.text[self.at : self.at + 1].isspace():
            self.at += 1
        return self.at > start


def pieces(text: str, letters: Mapping[str, str] | None = None) -> Iterator[Piece]:
    r"""Split a text into words and mathematics; joined, the pieces are the text.

    Parameters
    ----------
    text : str
        A text in Unicode.
    letters : mapping, optional
        The TeX of letters whose meaning here differs from the book's; empty for a name.

    Examples
    --------
    >>> list(pieces("at most d λ₁(V)/n"))
    [Piece(text='at most ', tex=None), Piece(text='d λ₁(V)/n', tex='d\\lambda_1(\\bV)/n')]
    >>> list(pieces("A design of Appendix B needs 2 actions."))
    [Piece(text='A design of Appendix B needs 2 actions.', tex=None)]
    """
    reader = _Reader(text, letters or {})
    at = done = 0
    while at < len(text):
        found = reader.run(at) if at == 0 or text[at - 1] in _FREE else []
        if not found:
            at += 1
            continue
        if done < at:
            yield Piece(text[done:at])
        yield from found
        done = at = reader.at
    if done < len(text):
        yield Piece(text[done:])
