"""Numbers in the text of figure and claim pages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from speedbook.notebook.prose import loose_numbers, prose_problems


@pytest.mark.parametrize(
    "text",
    [
        "It is 0.35.",
        "It is (0.35), -0.35 or [0.35, 0.35].",
        "*0.35*, **0.35** and 0.35%",
        "# A title of 0.35",
        "- an item of 0.35",
        "> a quotation of 0.35",
        "| a |\n|---|\n| 0.35 |",
        "A [link of 0.35](http://a.org/b)",
        "A formula $x = 0.35$",
        "$$\nx = 0.35\n$$",
        "\\begin{align}\nx = 0.35\n\\end{align}",
        "{math}`x = 0.35`",
        "```{math}\nx = 0.35\n```",
        "```{note}\nIt is 0.35.\n```",
        "````{admonition} Title\n:class: dropdown\n\nIt is $0.35$.\n````",
        "```{admonition} A title of 0.35\nText.\n```",
        ":::{note}\nIt is 0.35.\n:::",
        "````{note}\n```{tip}\n0.35\n```\n````",
        "<b>0.35</b>",
        "<p>\n0.35\n</p>",
    ],
)
def test_a_loose_number_is_found(text):
    assert set(loose_numbers(text)) == {"0.35"}


@pytest.mark.parametrize(
    ("text", "number"),
    [("1e-3", "1e-3"), ("about 2.5e6 of", "2.5e6"), ("10_000.5", "10_000.5"), ("3E5!", "3E5")],
)
def test_a_number_is_shown_as_written(text, number):
    assert loose_numbers(text) == [number]


@pytest.mark.parametrize(
    "text",
    [
        "{quoted}`0.35` and {quoted}`$x = 0.35$`",
        "{ledger}`prop-1.estimate:.2f` and {ledger}`x.details.0.5`",
        "`0.35` and ``x = 0.35``",
        "Theorem 1, Section 4.2; Section 10.35",
        "```python\nx = 0.35\n```",
        "```\nx = 0.35\n```",
        "    x = 0.35",
        "```{code-block} python\nx = 0.35\n```",
        "````{note}\n```python\nx = 0.35\n```\n````",
        "A [link](http://a.org/0.35)",
        "<http://a.org/?x=0.35>",
        "{func}`a.b0.35` {cite}`jim0.35`",
        "% a comment",
        "12 rows, 1 %, 20 000 rounds, 10^4, 1,599 wines, x2, d = 3.",
        "version 1.2.3, v0.35, section A.3 and x0.35",
    ],
)
def test_what_is_bound_quoted_code_or_no_decimal_is_free(text):
    assert loose_numbers(text) == []


@given(st.text(alphabet="ab 01.`$*_{}[]()#:-\n|<>\\", max_size=60))
def test_no_text_is_too_much(text):
    assert isinstance(loose_numbers(text), list)


@given(st.integers(0, 99), st.integers(0, 99))
def test_every_decimal_is_found_between_words(whole, part):
    number = f"{whole}.{part}"
    assert loose_numbers(f"It is {number}, {{quoted}}`{number}` or `{number}`.") == [number]


def test_a_problem_names_cell_and_numbers_on_ruled_pages():
    cells = [new_markdown_cell("# T"), new_code_cell("x = 0.5"), new_markdown_cell("It: 0.5, 0.7.")]
    notebook = new_notebook(cells=cells)
    for folder in ("figures", "claims"):
        (problem,) = prose_problems(f"notebooks/{folder}/a.ipynb", notebook)
        assert problem.startswith("cell 3 (It: 0.5, 0.7.): 0.5, 0.7: bind each number")
    assert prose_problems("notebooks/beyond/a.ipynb", notebook) == []
