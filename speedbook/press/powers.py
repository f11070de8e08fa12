"""Set the powers and indices in the tables of a page as mathematics, and powers of ten everywhere.

A notebook writes the name of a column in plain text, ``regret · n^1.5`` or ``λ_d``, and large
numbers as ``2.6e+05``, since JupyterLab and CSV files show them, too. A page raises the exponent
and lowers the index. The signs ``^``, ``_`` and ``e`` stay in the text, unseen, and the style sheet
writes the ten: so the text of a number remains that number.
"""

from __future__ import annotations

import re

#: The class of signs that the style sheet hides.
SIGN = "sb-sign"
#: The classes of the ten that the style sheet writes, without and with a factor before it.
TEN, TIMES_TEN = "sb-ten", "sb-ten sb-times"
FRACTIONS = {"½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4"}

#: A data frame in HTML.
DATA_FRAME = re.compile(r'<table [^>]*class="[^"]*\bdataframe\b.*?</table>', re.DOTALL)
#: The beginning of a cell, up to its first tag, if it may hold a power or an index.
_CELL_TEXT = re.compile(
    r"(?P<tag><t[hd]\b[^>]*>)(?P<text>[^<]*(?:\^|\de[-+]\d|[α-ωΑ-Ω][_²⁴])[^<]*)"
)
#: The base is a symbol, a number or a bracket, so a name such as ``sales^2`` stays as it is.
_POWER = (
    r"(?<=[\d)\]]|(?<![^\W\d])[^\W\d_])\^"
    rf"(?:\((?P<bracket>[^()^]+)\)|"
    rf"(?P<plain>[-−]?\d+(?:\.\d+)?|[{''.join(FRACTIONS)}]|[^\W\d_](?!\w)))"
)
_OF_TEN = r"(?<![\w.])(?P<factor>\d+(?:\.\d+)?)e(?P<way>[-+])0*(?P<ten>\d+)(?!\w)"
#: Only of Greek letters: a name such as ``n_1`` may be anybody's.
_INDEX = r"(?<=[α-ωΑ-Ω])_(?P<index>[^\W_])(?!\w)|(?<=[α-ωΑ-Ω][²⁴])(?P<extreme>max|min)(?!\w)"
_MARK = re.compile(f"{_POWER}|{_OF_TEN}|{_INDEX}")
#: As a program writes them, with two digits at least: who types ``2e-3`` means the letters.
_PRINTED = re.compile(
    r"(?P<sign>(?<![\w.−-])[−-])?" + _OF_TEN.replace("0*(?P<ten>", r"(?=\d\d)0*(?P<ten>")
)
#: The pieces of a page: what stays as it is, and words.
PIECES = re.compile(
    r"(?P<kept><(?P<tag>pre|code|script|style|textarea|option|svg)\b.*?</(?P=tag)>"
    r"|<span class=\"math .*?</span>|<[^>]*>)|[^<]+",
    re.DOTALL,
)
#: As in ``0.5*n^0.5``, a rule that the library reads.
_TIMES = re.compile(r"(?<=\d)\*(?=[^\W\d_]\^)")


def raised(table: re.Match[str]) -> str:
    """Return a data frame, as `DATA_FRAME` finds it, with raised powers and lowered indices.

    Examples
    --------
    >>> print(DATA_FRAME.sub(raised, '<table class="dataframe"><td>n^1.5</td></table>'))
    <table class="dataframe"><td>n<span class="sb-sign">^</span><sup>1.5</sup></td></table>
    >>> print(DATA_FRAME.sub(raised, '<table class="dataframe"><td>λ_d</td></table>'))
    <table class="dataframe"><td>λ<span class="sb-sign">_</span><sub>d</sub></td></table>
    """
    return _CELL_TEXT.sub(_cell, table[0])


def with_powers_of_ten(piece: re.Match[str]) -> str:
    """Return a piece of a page, as `PIECES` finds it, with the powers of ten that a program wrote.

    Examples
    --------
    >>> print(PIECES.sub(with_powers_of_ten, '<p id="at-1e-09">1e-09 <code>1e-09</code></p>'))
    <p id="at-1e-09"><span class="sb-whole"><span class="sb-sign">1e</span>\
<span class="sb-ten"></span><sup>−9</sup></span> <code>1e-09</code></p>
    """
    if piece["kept"]:
        return piece[0]
    return _PRINTED.sub(_whole, piece[0])


def _whole(found: re.Match[str]) -> str:
    return f'<span class="sb-whole">{found["sign"] or ""}{_of_ten(found)}</span>'


def _cell(cell: re.Match[str]) -> str:
    return cell["tag"] + _MARK.sub(_mark, _TIMES.sub("·", cell["text"]))


def _mark(found: re.Match[str]) -> str:
    if found["factor"]:
        return _of_ten(found)
    if found["extreme"]:
        return f"<sub>{found['extreme']}</sub>"
    if found["index"]:
        return f"{_hidden('_')}<sub>{found['index']}</sub>"
    opened, closed = ("^(", _hidden(")")) if found["bracket"] else ("^", "")
    # A fraction in one letter would be too small to read.
    exponent = found["bracket"] or FRACTIONS.get(found["plain"], found["plain"])
    return f"{_hidden(opened)}<sup>{exponent.replace('-', '−')}</sup>{closed}"


def _of_ten(found: re.Match[str]) -> str:
    """Return a number as a power of ten; its text is still that number."""
    factor, minus = found["factor"], "−" if found["way"] == "-" else ""
    if found["ten"] == "0":
        return factor + _hidden("e+0")
    alone = factor == "1"
    seen = "" if alone else factor
    before = _hidden(("1" if alone else "") + "e" + ("" if minus else "+"))
    ten = TEN if alone else TIMES_TEN
    return f'{seen}{before}<span class="{ten}"></span><sup>{minus}{found["ten"]}</sup>'


def _hidden(sign: str) -> str:
    return f'<span class="{SIGN}">{sign}</span>'
