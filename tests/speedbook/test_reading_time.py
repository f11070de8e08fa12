"""How long a page takes to read."""

from __future__ import annotations

from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from speedbook.press.reading_time import reading_minutes

from .page_sources import page


def test_reading_takes_words_and_displays_in_view():
    words = "word " * 195
    text = page(new_markdown_cell(words), first="# Title")
    assert reading_minutes(text) == 1
    hidden = new_code_cell("word " * 999, metadata={"tags": ["hide-input"]})
    assert reading_minutes(page(new_markdown_cell(words), hidden, first="# Title")) == 1
    shown = new_code_cell("word " * 200)
    assert reading_minutes(page(new_markdown_cell(words), shown, first="# Title")) == 2
    formula = new_markdown_cell(words + "\n\n$$x = y$$\n")
    assert reading_minutes(page(formula, first="# Title")) == 2
    figure = new_code_cell("f", outputs=[new_output("display_data", {"image/png": ""})])
    assert reading_minutes(page(new_markdown_cell(words), figure, first="# Title")) == 2
    printed = new_code_cell("f", outputs=[new_output("stream", text="1\n")])
    assert reading_minutes(page(new_markdown_cell(words), printed, first="# Title")) == 1


def test_folded_solutions_are_not_read():
    start = "```{solution-start} ex-a\n:class: dropdown\n```\n\n"
    end = "```{solution-end}\n```\n\n"
    long = "word " * 150
    cells = [new_markdown_cell(f"{long}\n\n{start}{long}"), new_code_cell(long)]
    within = page(*cells, new_markdown_cell(long + "\n\n" + end), first="# Title")
    assert reading_minutes(within) == 1
    after = page(*cells, new_markdown_cell(end + long), first="# Title")
    assert reading_minutes(after) == 2
    twice = page(*cells, new_markdown_cell(end + start + long + "\n\n" + end), first="# Title")
    assert reading_minutes(twice) == 1
    assert reading_minutes(page(*cells, first="# Title")) == 1
