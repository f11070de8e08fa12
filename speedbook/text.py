"""Numbers and names as text: digits, plurals and hints in messages."""

from __future__ import annotations

import difflib
import math
import re
import unicodedata
from collections.abc import Iterable

#: Replaces a text without visible characters.
NO_TEXT = "(empty)"
#: What Markdown may take for markup, anywhere and at the beginning of a line.
MARKUP = re.compile(r"[*_`<>&|#~{}!\[\]]|^[-+=:%]|^\d(?=\d*[.)])")
#: The beginnings of formulas.
FORMULA = re.compile(r"[$\\]+")


def rounded(number: float, width: float = 0.0) -> str:
    """Write a number with the number of digits that suits an interval of the given width.

    The last digit is the second significant digit of the width. An exact number (width 0) gets four
    significant digits.

    Examples
    --------
    >>> rounded(1.00342, width=0.0213), rounded(0.0509996), rounded(1234567, width=5000)
    ('1.003', '0.051', '1.235e+06')
    """
    if width > 0 and 1e-4 <= max(abs(number), width) < 1e6:
        decimals = max(0, 1 - math.floor(math.log10(width)))
        return f"{number:z.{decimals}f}"
    return f"{number:z.4g}"


def counted(number: int, thing: str) -> str:
    """Write a number with its noun, in the plural unless it is 1.

    Examples
    --------
    >>> counted(1, "claim"), counted(2000, "claim")
    ('1 claim', '2,000 claims')
    """
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


def duration(seconds: float) -> str:
    """Write a length of time in seconds or minutes, rounded.

    Examples
    --------
    >>> duration(0.4), duration(22.2), duration(150)
    ('1 second', '22 seconds', '2.5 minutes')
    """
    if seconds >= 100:
        return f"{seconds / 60:.1f} minutes"
    return counted(max(1, round(seconds)), "second")


#: If fewer names than this are known, a message about an unknown name lists them all.
FEW = 12


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: the nearest names, or all if few.

    Names that begin with the unknown one are nearest.

    Examples
    --------
    >>> nearest("round", ["rounds", "seed"]), nearest("qqq", ["rounds", "seed"]), nearest("q", [])
    ('; nearest: rounds', '; known: rounds, seed', '; none is known')
    >>> nearest("fig1", ["fig1a-unit-ball", "fig1b-movielens", "slopes"])
    '; nearest: fig1a-unit-ball, fig1b-movielens'
    """
    names = list(known)
    longer = [each for each in names if name and each.lower().startswith(name.lower())]
    near = list(dict.fromkeys([*longer, *difflib.get_close_matches(name, names, n=3)]))[:3]
    if near:
        return f"; nearest: {', '.join(near)}"
    if not names:
        return "; none is known"
    return f"; known: {', '.join(names)}" if len(names) < FEW else ""


def visible(text: str) -> str:
    r"""Return a text in one line, without characters that control a terminal or a page.

    Line breaks, tabs and the like become blanks. Other control characters and half surrogate pairs
    become the replacement character. Text without visible characters becomes ``(empty)``.

    Examples
    --------
    >>> visible("two\nlines"), visible("bell\x07"), visible(" ")
    ('two lines', 'bell�', '(empty)')
    """
    if text.isascii() and text.isprintable() and text.strip():
        return text
    kinds = [unicodedata.category(letter) for letter in text]
    if all(kind == "Cf" or letter.isspace() for letter, kind in zip(text, kinds, strict=True)):
        return NO_TEXT
    return "".join(
        " " if letter.isspace() else "\N{REPLACEMENT CHARACTER}" if kind in ("Cc", "Cs") else letter
        for letter, kind in zip(text, kinds, strict=True)
    )


def in_markdown(text: str) -> str:
    """Return Markdown that shows a text literally, within a line or a cell of a table.

    Use it for names that a user has given, such as those of columns and files. Characters with a
    meaning become entities, which no dialect of Markdown reads as markup. Characters that begin
    formulas become code, since MathJax searches the finished page for them but skips code.

    Examples
    --------
    >>> in_markdown("rows of wine"), in_markdown("a*b_c"), in_markdown("US$")
    ('rows of wine', 'a&#42;b&#95;c', 'US`$`')
    """
    escaped = MARKUP.sub(lambda found: f"&#{ord(found[0])};", visible(text).strip())
    return FORMULA.sub(lambda found: f"`{found[0]}`", escaped)
