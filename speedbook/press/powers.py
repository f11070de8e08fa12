"""Raise the powers in the tables of a page.

A notebook writes the name of a column in plain text, ``regret · n^1.5``, since JupyterLab and CSV
files show it, too. A page shows the exponent as one. The signs of the power stay in the text,
unseen: they are copied with it.
"""

from __future__ import annotations

import re

#: The class of signs that the style sheet hides.
SIGN = "sb-sign"
FRACTIONS = {"½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4"}

_TABLE = re.compile(r'<table [^>]*class="[^"]*\bdataframe\b.*?</table>', re.DOTALL)
_CELL_TEXT = re.compile(r"(?P<tag><t[hd]\b[^>]*>)(?P<text>[^<]*\^[^<]*)")
#: The base is a symbol, a number or a bracket, so a name such as ``sales^2`` stays as it is.
_POWER = re.compile(
    r"(?<=[\d)\]]|(?<![^\W\d])[^\W\d_])\^"
    rf"(?:\((?P<bracket>[^()^]+)\)|"
    rf"(?P<plain>[-−]?\d+(?:\.\d+)?|[{''.join(FRACTIONS)}]|[^\W\d_](?!\w)))"
)
#: As in ``0.5*n^0.5``, a rule that the library reads.
_TIMES = re.compile(r"(?<=\d)\*(?=[^\W\d_]\^)")


def raised(html: str) -> str:
    """Return HTML in which the powers in data frames are raised.

    Examples
    --------
    >>> print(raised('<table class="dataframe"><td>n^1.5</td></table>'))
    <table class="dataframe"><td>n<span class="sb-sign">^</span><sup>1.5</sup></td></table>
    """
    return _TABLE.sub(lambda table: _CELL_TEXT.sub(_cell, table[0]), html)


def _cell(cell: re.Match[str]) -> str:
    return cell["tag"] + _POWER.sub(_power, _TIMES.sub("·", cell["text"]))


def _power(found: re.Match[str]) -> str:
    opened, closed = ("^(", f'<span class="{SIGN}">)</span>') if found["bracket"] else ("^", "")
    # A fraction in one letter would be too small to read.
    exponent = found["bracket"] or FRACTIONS.get(found["plain"], found["plain"])
    return f'<span class="{SIGN}">{opened}</span><sup>{exponent.replace("-", "−")}</sup>{closed}'
