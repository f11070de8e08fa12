"""What the first cell of a notebook says of its page."""

from __future__ import annotations

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from speedbook.press.front_matter import LONGEST, first_cell, front_problems

from .page_sources import FRONT, page

NONE = "must have one paragraph `*In short:* … *You need* …`; it has 0"


@pytest.mark.parametrize(
    ("first", "fault"),
    [
        (FRONT, "begin with the title"),
        ("## Title\n\n" + FRONT, "begin with the title"),
        ("# Title", NONE),
        ("# Title\n\n*In short:* it.", NONE),
        ("# Title\n\n*You need* it. *In short:* it.", NONE),
        ("# Title\n\nWell: *In short:* it. *You need* it.", NONE),
        (f"# Title\n\n{FRONT}\n\n{FRONT}", "it has 2"),
        (f"# Title\n\n{FRONT} *Reading* takes an hour.", "must not say how long"),
        (f"# Title\n\n{FRONT} Ten minutes; *running* takes two.", "must not say how long"),
        ("# T\n\n*In short:* it is so. It is not. *You need* it.", "one sentence"),
        ("# T\n\n*In short:* it is so *You need* it.", "one sentence that ends with a full stop"),
        (f"# T\n\n*In short:* {'it ' * 45}is. *You need* it.", "45 words; it has 46"),
        ("# T\n\n*In short:* {claim-badge}`a` holds. *You need* it.", "without a badge"),
    ],
)
def test_what_a_page_lacks_is_named(first, fault):
    (problem,) = front_problems(page(first=first))
    assert fault in problem


def test_a_notebook_that_begins_with_code_or_nothing_has_no_title():
    for notebook in (new_notebook(), new_notebook(cells=[new_code_cell("# Title")])):
        assert "begin with the title" in front_problems(notebook)[0]


@pytest.mark.parametrize(
    "finding",
    [
        "it " * (LONGEST - 1) + "is.",
        # A number of the ledger, a formula and a link are as long as what a reader sees.
        "it " * (LONGEST - 4) + "is {ledger}`a.details.b c:.2f` $x = 1 + 2. + 3$ [so](a.ipynb).",
        "with {quoted}`0.5` of n rounds, e.g. a tenth (or so), SPEED is *best*.",
        "is it worth it?",
    ],
)
def test_a_sentence_of_45_words_that_a_reader_sees_is_a_finding(finding):
    assert front_problems(page(first=f"# T\n\n*In short:* {finding} *You need* nothing.")) == []


def test_the_finding_leads_the_page_and_what_one_needs_stands_below():
    head, rest = first_cell(page().cells[0], "5 minutes")
    assert head.split("\n\n") == [
        "# Title",
        "{.sb-finding}\nThe answer to `all`.",
        "{.sb-need}\n*You need* [that](that.ipynb). *Reading time:* 5 minutes.",
    ]
    assert rest == "More."


@pytest.mark.parametrize(
    ("place", "names"),
    [
        ("Proposition 2, Appendix A.4; used for Theorem 1.", ["Proposition 2"]),
        ("Algorithm 1 and Equation (5), Section 4.1.", ["Algorithm 1", "Equation (5)"]),
        ("Figure 1a (Figure 1, top left); Section 5.", ["Figure 1a"]),
        ("the choice of Γ in Algorithm 1.", []),
    ],
)
def test_what_the_paper_calls_it_stands_small_below_the_title_and_can_be_searched(place, names):
    first = new_markdown_cell(f"# Title\n\n*In the paper:* {place}\n\n{FRONT}")
    blocks = first_cell(first, "1 minute").head.split("\n\n")
    entries = [f"```{{index}} ! {name}\n```" for name in names]
    assert blocks[: len(names) + 2] == [
        "# Title",
        *entries,
        f"{{.sb-place}}\n*In the paper:* {place}",
    ]
