"""Powers and indices in the tables of a page; names of a user's columns stay as they are."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pandas as pd
import pytest

from speedbook.notebook.files import code_cells, read_notebook
from speedbook.press import powers
from speedbook.press.run_page import _table_html

ROOT = Path(__file__).parents[2]


def raised(html: str) -> str:
    return powers.DATA_FRAME.sub(powers.raised, html)


def table(text: str) -> str:
    """Return a table as pandas writes it, with a text as head, as label and in a cell."""
    return pd.DataFrame({text: [text]}, index=[text]).to_html()


def seen(html: str) -> list[str]:
    """Return the texts of the cells that are seen, a raised part between braces."""
    shown = re.sub(r'<span class="sb-sign">[^<]*</span>', "", html)
    shown = shown.replace('<span class="sb-ten"></span>', "10")
    shown = shown.replace('<span class="sb-ten sb-times"></span>', "·10")
    shown = re.sub(r"<sup>([^<]*)</sup>", r"{\1}", shown)
    shown = re.sub(r"<sub>([^<]*)</sub>", r"[\1]", shown)
    return [unescape(text) for text in re.findall(r"<t[hd]>([^<]+)</t[hd]>", shown)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("regret · n^1.5 / S²", "regret · n{1.5} / S²"),
        ("log(n) n^(-3/2)", "log(n) n{−3/2}"),
        ("SPEED, n^⅔ rounds", "SPEED, n{2/3} rounds"),
        ("its Γ / (n √A)^(2/3)", "its Γ / (n √A){2/3}"),
        ("e^(2J²)/J", "e{2J²}/J"),
        ("2^d put in for J", "2{d} put in for J"),
        ("aimed, 0.7*n^0.5", "aimed, 0.7·n{0.5}"),
        ("n^2 and Γ^-1", "n{2} and Γ{−1}"),
        ("n = 1e+06", "n = 10{6}"),
        ("4.69e-07 ± 3e-08", "4.69·10{−7} ± 3·10{−8}"),
        ("0e+00", "0"),
        ("1e+12, -2.5e+05", "10{12}, -2.5·10{5}"),
        ("λ_d of the sum, Tr M ≥ λ_d(V)", "λ[d] of the sum, Tr M ≥ λ[d](V)"),
        ("loss / (A σ²max)", "loss / (A σ²[max])"),
        ("σ⁴min", "σ⁴[min]"),
        # Not mathematics: numbers without a power, and codes.
        ("1e6", None),
        ("x1e+06", None),
        ("v1.2e-3a", None),
        ("λ_dmax", None),
        ("n_1", None),
        ("σ²maximal", None),
        # Not mathematics: names, and signs without a base or an exponent.
        ("sales^2", None),
        ("my_n^2", None),
        ("a ^ b", None),
        ("^2", None),
        ("x^name", None),
        ("<b>n^2", "<b>n{2}"),
    ],
)
def test_a_power_is_raised_and_nothing_else(text: str, expected: str | None) -> None:
    html = raised(table(text))
    assert seen(html) == [expected or text] * 3
    # What is copied has the signs.
    copied = re.findall(r"<t[hd]>(.+?)</t[hd]>", re.sub("</?(?:span|su[bp])[^>]*>", "", html))
    plain = text
    if expected:
        plain = re.sub(r"(?<=e[-+])0+(?=\d)", "", text.replace("0.7*n", "0.7·n"))
        for sign, seen_sign in {"⅔": "2/3", "^-": "^−", "(-": "(−", "e-": "e−"}.items():
            plain = plain.replace(sign, seen_sign)
    assert [unescape(each) for each in copied] == [plain] * 3
    assert raised(html) == html


def test_only_data_frames_are_changed() -> None:
    for html in ("<table class='docutils'><td>n^2</td></table>", "<pre>n^2</pre>", "<p>n^2</p>"):
        assert raised(html) == html


def test_the_page_of_a_run_raises_them_too_and_keeps_formulas_out() -> None:
    html = _table_html(table("n^2"))
    assert "<sup>2</sup>" in html and 'class="mathjax_ignore dataframe"' in html


def test_no_table_of_our_notebooks_shows_the_sign_of_a_power() -> None:
    left, found = [], 0
    for path in sorted((ROOT / "notebooks").rglob("*.ipynb")):
        if ".ipynb_checkpoints" in path.parts:
            continue
        for cell in code_cells(read_notebook(path)):
            for output in cell.outputs:
                html = output.get("data", {}).get("text/html", "")
                if 'class="dataframe"' in html:
                    mended = raised(html)
                    found += mended.count("<sup>")
                    left += [
                        (path.name, t) for t in seen(mended) if re.search(r"\^|\de[-+]\d|σ.m", t)
                    ]
    assert found > 20
    assert left == []
