"""What the press takes from a page and mends on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from speedbook.press.sphinx.page_html import mended, unused_files, without_unused_scripts

HEAD = """<link href="../_static/custom.css" rel="stylesheet" />
<script defer src="../_static/scripts/fontawesome.js?digest=55"></script>
<script src="../_static/book.js?v=1"></script>
<script src="../_static/searchtools.js"></script>
<script src="../_static/language_data.js"></script>
<script src="searchindex.js"></script>
"""
LIGHT = """<link href="../_static/custom.css" rel="stylesheet" />
<script src="../_static/book.js?v=1"></script>
"""

BADGE = '<span class="verdict verdict-checked">'
GAP = "<th></th>"
NONE = '<span class="sb-none">–</span>'
FORMULA = r'<span class="math notranslate nohighlight">\(x\)</span>'


def test_a_page_loads_neither_icons_nor_the_index_of_the_search() -> None:
    assert without_unused_scripts(HEAD) == LIGHT


def test_the_page_of_the_search_keeps_its_index() -> None:
    left = without_unused_scripts(HEAD, searches=True)
    assert left.count("<script") == 4
    assert "fontawesome" not in left


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (
            '<th class="head"></th><th class="head"><p>a</p></th>',
            '<td class="head"></td><th class="head"><p>a</p></th>',
        ),
        ("<thead><tr><th>a</th></tr></thead>", None),
        ('<th colspan="2"> </th>', '<td colspan="2"></td>'),
        (
            '<button class="btn search-button-field x" title="Search" aria-label="Search" id="b">',
            '<button class="btn search-button-field x" title="Search" id="b">',
        ),
        # The button of a phone shows a glass alone.
        ('<button class="btn search-button" aria-label="Search">', None),
        (
            '<a class="current reference internal" href="#">A <em>b</em></a><details><summary>',
            '<a class="current reference internal" href="#">A <em>b</em></a><details>'
            '<summary aria-label="Pages below A b">',
        ),
        # A dropdown of the text says itself what it holds.
        ("<details><summary>Proof</summary>", None),
        ('<pre>&lt;th&gt;&lt;/th&gt; role="list"</pre>', None),
        # The names of rows: long ones have room, equations and numbers are whole.
        ("<th>d = 3</th>", "<th>d\u00a0=\u00a03</th>"),
        ("<th>1,000,000</th>", '<th class="sb-number">1,000,000</th>'),
        ('<th rowspan="2">10,000.5</th>', '<th class="sb-number" rowspan="2">10,000.5</th>'),
        ("<th>1,000</th>", None),
        ("<th>ordinary least squares</th>", '<th class="sb-name">ordinary least squares</th>'),
        ('<th class="head">ordinary least squares</th>', None),
        (
            '<h2>speedlib.own_table<a class="headerlink">',
            '<h2>speedlib.<wbr>own<wbr>_table<a class="headerlink">',
        ),
        ("<h2>Act 1. Results</h2>", None),
        # A number stays with its error, an interval in one piece; between the two a line may end.
        ("<td>1.000 ± 0.002</td>", "<td>1.000\u00a0±\u00a00.002</td>"),
        ("<td>1.5 [-0.4, 1.6]</td>", "<td>1.5 [-0.4,\u00a01.6]</td>"),
        ("<td>noise ± 1, in 2 rounds (n = 1,000)</td>", None),
        ("<p>1.000 ± 0.002</p>", None),
        (
            f"<p>({FORMULA}), then {FORMULA} is</p>",
            f'<p><span class="sb-whole">({FORMULA}),</span> then {FORMULA} is</p>',
        ),
        # A badge with its verdict alone gets the name of its claim.
        (
            f'{BADGE}<a class="reference internal" href="ledger.html#claim-prop-1">'
            '<span class="std std-ref">∎ checked</span></a></span>',
            f'{BADGE}<a class="reference internal" href="ledger.html#claim-prop-1" '
            'data-claim="prop-1"><span class="std std-ref">∎\u00a0checked</span></a></span>',
        ),
        (
            f'{BADGE}<a class="reference internal" href="#claim-prop-1">'
            '<span class="std std-ref">∎\u00a0prop-1</span></a></span>',
            None,
        ),
        # A data frame whose index has a name has one row of heads.
        (
            f"<thead><tr>{GAP}<th>a</th><th>b</th></tr> <tr><th>n</th>{GAP}{GAP}</tr></thead>",
            "<thead><tr><th>n</th><th>a</th><th>b</th></tr> </thead>",
        ),
        (
            f"<thead><tr>{GAP}{GAP}<th>a</th></tr><tr><th>m</th><th>n</th>{GAP}</tr></thead>",
            "<thead><tr><th>m</th><th>n</th><th>a</th></tr></thead>",
        ),
        (
            f"<thead><tr>{GAP}<th colspan=2>x</th></tr><tr>{GAP}<th>a</th><th>b</th></tr>"
            f"<tr><th>n</th>{GAP}{GAP}</tr></thead>",
            "<thead><tr><td></td><th colspan=2>x</th></tr>"
            "<tr><th>n</th><th>a</th><th>b</th></tr></thead>",
        ),
        # Every number of a data frame is a power of ten, within a sentence of a cell, too.
        (
            '<table class="dataframe"><td>from 4e-07 on</td></table>',
            '<table class="dataframe"><td>from 4<span class="sb-sign">e</span>'
            '<span class="sb-ten sb-times"></span><sup>−7</sup> on</td></table>',
        ),
        # A phone keeps a vector on a line, and gives a sentence some words on each.
        ("<td>0.5; −1; 2</td>", '<td class="sb-vector">0.5; −1; 2</td>'),
        ("<td>(1, −1)</td>", '<td class="sb-vector">(1, −1)</td>'),
        (
            f"<td>{'drawn at random ' * 3}</td>",
            f'<td class="sb-words">{"drawn at random " * 3}</td>',
        ),
        # Several vectors are a list.
        (f"<td>{'0.5; −1; ' * 6}2</td>", f'<td class="sb-words">{"0.5; −1; " * 6}2</td>'),
        # A cell without anything has a dash; the corner of a table has none.
        (
            "<thead><tr><th></th></tr></thead><tbody><tr><td></td></tr></tbody>",
            f"<thead><tr><td></td></tr></thead><tbody><tr><td>{NONE}</td></tr></tbody>",
        ),
        (
            '<tbody><tr><td class="text-left"><p></p>\n</td></tr></tbody>',
            f'<tbody><tr><td class="text-left">{NONE}</td></tr></tbody>',
        ),
        (
            "<p>4e-07</p>",
            '<p><span class="sb-whole">4<span class="sb-sign">e</span>'
            '<span class="sb-ten sb-times"></span><sup>−7</sup></span></p>',
        ),
        # A fraction in a title stays whole.
        ("<h1>Known: 1/√Γ<a", '<h1>Known: <span class="sb-whole">1/√Γ</span><a'),
        # Two levels of columns, and columns that have a name, need both rows.
        (
            "<thead><tr><th>k</th><th>a</th></tr><tr><th>n</th><th>b</th></tr></thead>",
            None,
        ),
    ],
)
def test_what_has_no_name_gets_one_and_all_else_stays(page: str, expected: str | None) -> None:
    assert mended(page) == (page if expected is None else expected)
    assert mended(mended(page)) == mended(page)


def test_only_what_a_page_may_load_stays_on_the_disk(tmp_path: Path) -> None:
    kept = [
        "book.js",
        "scripts/bootstrap.js",
        "mathjax/startup.js",
        "mathjax/input/tex.js",
        "mathjax/input/tex/extensions/boldsymbol.js",
        "mathjax/output/chtml/fonts/woff-v2/MathJax_Zero.woff",
    ]
    gone = [
        "scripts/bootstrap.js.map",
        "scripts/fontawesome.js",
        "vendor/fontawesome/webfonts/fa-solid-900.woff2",
        "mathjax/tex-chtml.js",
        "mathjax/sre/mathmaps/de.json",
    ]
    for name in [*kept, *gone]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert unused_files(tmp_path) == {tmp_path / name for name in gone}
