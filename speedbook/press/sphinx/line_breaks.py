"""Keep on one line, in the HTML of a page, what belongs together.

A browser breaks a line on either side of a formula or a badge, since it takes them for pictures,
and after a hyphen. So a line could begin with the comma after a formula and end with the bracket
before it, and ``1e-09`` or ``--full`` could break in two. The class ``sb-whole`` forbids this.
Numbers and their errors get spaces that do not break.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from speedbook.claims.rules import SYMBOLS

_FORMULA = r'<span class="math notranslate nohighlight">(?:(?!</span>).)*</span>'
_SYMBOLS = r"<span data-tex=[^>]*>[^<]*</span>"
_BADGE = (
    r'<span class="verdict [^"]*">(?:<a [^>]*>)?(?:<span[^>]*>[^<]*</span>)?[^<]*(?:</a>)?</span>'
)
#: On the page of a notebook, a badge is marked for `speedbook live`.
_BOUND = rf'<span data-badge="[^"]*">{_BADGE}</span>'
#: A formula or a badge with the marks before and behind it: "(", ",", "-th", the end of a proof.
_MARKED = re.compile(
    r'(?P<done><span class="sb-whole">)?(?P<before>[(\[“‘]*)'
    rf"(?:{_FORMULA}|{_SYMBOLS}|{_BOUND}|{_BADGE})"
    r"(?P<behind>(?:-[a-z]+)?[,.;:!?)\]’”]*(?:\s∎)?)",
    re.DOTALL,
)
_CELL = re.compile(r"<(?P<kind>t[dh])\b[^>]*>.*?</(?P=kind)>", re.DOTALL)
_WORDS = re.compile(r"(?<=>)[^<]+(?=<)")
_APART = re.compile(r"(?<=\d) (±) (?=\d)|(?<=\d,) (?=[−-]?[\d.]+\])|(?<=\d) (?=%)")
_RANGE = re.compile(r"(?<![\w.])\d[\d.,]*–\d[\d.,]*(?![\w])")
_POWER_OF_TEN = re.compile(r"(?<![\w.−-])[−-]?\d+(?:\.\d+)?e[-+]\d+(?!\w)")


def _with_marks(found: re.Match[str]) -> str:
    """Keep the marks before and behind a formula with it."""
    if found["done"] or not (found["before"] or found["behind"]):
        return found[0]
    return f'<span class="sb-whole">{found[0]}</span>'


def _whole_numbers(words: re.Match[str]) -> str:
    """Keep in one piece: number and error or per cent, interval, range and power of ten."""
    text = _APART.sub(lambda each: f"\u00a0{each[1]}\u00a0" if each[1] else "\u00a0", words[0])
    if words.string.endswith('<span class="sb-whole">', 0, words.start()):
        return text
    text = _RANGE.sub(r'<span class="sb-whole">\g<0></span>', text)
    return _POWER_OF_TEN.sub(r'<span class="sb-whole">\g<0></span>', text)


def _whole_cell(cell: re.Match[str]) -> str:
    return _WORDS.sub(_whole_numbers, cell[0])


#: Patterns and their replacements, as those of `page_html.RULES`.
LINE_BREAKS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (_MARKED, _with_marks),
    # The sign that ends a proof does not stand alone on the last line.
    (re.compile(r"(?<=[^>\s])\s∎(?=[\s<])"), "\u00a0∎"),
    # A matrix stays with the zero that it is compared with.
    (re.compile(r"(?<=[Σ̂]) ⪰ 0\b"), "\u00a0⪰\u00a00"),
    # Nor does a root leave its fraction, in a title.
    (re.compile(r"(<h[1-4]>[^<]*)(\d/√\w)"), r'\1<span class="sb-whole">\2</span>'),
    # The sign of a verdict stays with its word.
    (
        re.compile(
            rf'(<span class="verdict [^"]*">(?:<[^>]+>)*[{"".join(SYMBOLS.values())}](?:</span>)?) '
        ),
        "\\1\u00a0",
    ),
    # A column that is too narrow breaks words, not numbers.
    (_CELL, _whole_cell),
    # A long name in code breaks at its underscores and dots.
    (
        re.compile(r'(?<=<span class="pre">)[^<]{17,}(?=</span>)'),
        lambda name: re.sub(r"(?<=\w[_.])(?=[^\W\d_])", "<wbr>", name[0]),
    ),
    # Nor options and short names: `--full`, `n-max`.
    (
        re.compile(r'<span class="pre">(?=[^<]*-)([^<]{1,16})</span>'),
        r'<span class="pre sb-whole">\1</span>',
    ),
)
