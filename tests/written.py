"""Names that a reader may give to columns, actions and files, and how a page is read back."""

from __future__ import annotations

import unicodedata

import hypothesis.strategies as st
from bs4 import BeautifulSoup

#: Each was markup to something: mathtext, Markdown, HTML, rich, MathJax, a legend.
AWKWARD = (
    "price_$x^{$",
    "$$",
    r"\(x\) \[y\] $$z$$ \begin{align}",
    r"a\$b\\",
    "_hidden",
    "*a* __b__ `c` ~~d~~",
    "a|b\\|c",
    "<b>bold</b> & &amp; <!--",
    "[link](x) ![p](q) <http://x.y>",
    "[red]x[/red] [/] :key:",
    "{} {0} {ledger}`a` 50% %s",
    "# 1. - x",
    "- x",
    "12) x",
    "::: x",
    "中文 עברית العربية 😀",
)

#: Names of any letters, those among them that something may take for markup more often.
names = st.text(
    st.sampled_from("$_*^|\\`<>&[](){}%#~!:-+=. ab1")
    | st.characters(exclude_categories=("Cc", "Cs", "Cf", "Zl", "Zp", "Zs")),
    min_size=1,
    max_size=20,
).filter(lambda name: any(unicodedata.category(letter)[0] in "LNPS" for letter in name))


def said(text: str) -> str:
    """Return a text with its blanks as a browser shows them."""
    return " ".join(text.split())


def not_code(html: str) -> list[str]:
    """Return the pieces of text in which MathJax looks for formulas."""
    page = BeautifulSoup(html, "html.parser")
    for part in page.select("code, pre, script, style, .mathjax_ignore"):
        part.replace_with(BeautifulSoup("<br>", "html.parser"))
    return list(page.strings)


def read(html: str) -> str:
    """Return what is to be read in HTML."""
    return said(BeautifulSoup(html, "html.parser").get_text())
