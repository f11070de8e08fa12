"""What the press keeps on one line: marks at formulas and badges, numbers, options."""

from __future__ import annotations

import pytest

from speedbook.press.sphinx.page_html import mended

UNITS = {
    "a formula": r'<span class="math notranslate nohighlight">\(\kappa\)</span>',
    "symbols of a claim": '<span data-tex="\\kappa &gt; 0">κ &gt; 0</span>',
    "a badge": (
        '<span class="verdict verdict-checked"><a class="reference internal" href="l.html">'
        '<span class="std std-ref">∎\u00a0checked</span></a></span>'
    ),
    "a badge of a card": (
        '<span class="verdict verdict-checked"><a href="l.html">'
        '<span class="verdict-symbol" aria-hidden="true">∎</span>\u00a0checked</a></span>'
    ),
    "a badge on the page of a notebook": (
        '<span data-badge="prop-1"><span class="verdict verdict-consistent">'
        '<a class="reference internal" href="l.html"><span class="std std-ref">'
        "≈\u00a0consistent over the measured range</span></a></span></span>"
    ),
    "a badge without a link": '<span class="verdict verdict-vacuous">∅\u00a0vacuous</span>',
}


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
@pytest.mark.parametrize(
    ("before", "behind"),
    [("", ","), ("", "."), ("", ")."), ("(", ""), ("“", ""), ("“", "”;"), ("", "-th"), ("", ". ∎")],
)
def test_marks_stay_with_what_they_belong_to(unit: str, before: str, behind: str) -> None:
    page = f"<p>so {before}{unit}{behind} is</p>"
    behind = behind.replace(" ∎", "\u00a0∎")
    expected = f'<p>so <span class="sb-whole">{before}{unit}{behind}</span> is</p>'
    assert mended(page) == expected
    assert mended(expected) == expected


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
def test_a_line_may_break_where_there_is_a_space(unit: str) -> None:
    page = f"<p>so {unit} and {unit}</p>"
    assert mended(page) == page


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<p>all is tried. ∎</p>", "<p>all is tried.\u00a0∎</p>"),
        ("<p>∎ stands for checked</p>", None),
        (
            '<p><span class="verdict verdict-checked">∎ checked</span></p>',
            '<p><span class="verdict verdict-checked">∎\u00a0checked</span></p>',
        ),
        (
            "<td><p>at most 1 + 1e-09</p></td>",
            '<td><p>at most 1 + <span class="sb-whole"><span class="sb-sign">1e</span>'
            '<span class="sb-ten"></span><sup>−9</sup></span></p></td>',
        ),
        (
            "<td><code>a</code> 1.17 [0.98, 1.35], -3.294e+04</td>",
            "<td><code>a</code> 1.17 [0.98,\u00a01.35], "
            '<span class="sb-whole">-3.294<span class="sb-sign">e+</span>'
            '<span class="sb-ten sb-times"></span><sup>4</sup></span></td>',
        ),
        ("<th>floor 10 %</th>", "<th>floor 10\u00a0%</th>"),
        ("<td>0.43–1.29</td>", '<td><span class="sb-whole">0.43–1.29</span></td>'),
        ("<td>1a–2, rows 3 – 4</td>", None),
        (
            '<code><span class="pre">speedlib.estimation_cost()</span></code>',
            '<code><span class="pre">speedlib.<wbr>estimation_<wbr>cost()</span></code>',
        ),
        ('<code><span class="pre">read_log(0.5)</span></code>', None),
        # What somebody types stays, as one piece.
        ("<td>write 2e-3</td>", '<td>write <span class="sb-whole">2e-3</span></td>'),
        # Names, attributes and what is no cell stay.
        ('<td title="at least 1e-09"><b>v1.2e-3x</b> prop-1e-2</td>', None),
        ("<pre>at most 1e-09</pre>", None),
        (
            '<code><span class="pre">rerun</span> <span class="pre">--full</span></code>',
            '<code><span class="pre">rerun</span> <span class="pre sb-whole">--full</span></code>',
        ),
        ('<code><span class="pre">--a-long-option-breaks</span></code>', None),
    ],
)
def test_numbers_options_and_signs_do_not_break(page: str, expected: str | None) -> None:
    assert mended(page) == (page if expected is None else expected)
    assert mended(mended(page)) == mended(page)
