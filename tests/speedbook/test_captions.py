"""Captions of figures in the metadata of cells."""

from __future__ import annotations

import pytest

from speedbook.notebook.captions import caption_problems
from speedbook.notebook.files import normalise, prose, with_outputs
from speedbook.notebook.prose import prose_problems
from speedbook.run.cache import run_key

from .page_sources import drawing, page, shown

LINKED = "[a b](c.ipynb) {ledger}`x.details.y z` $a + b$."


def captioned(caption="It falls. In time.", name="fig-curve"):
    return drawing("curve", caption=caption, name=name)


@pytest.mark.parametrize(
    ("caption", "name", "fault"),
    [
        ("It falls.", "curve", "must be `fig-`"),
        ("It falls.", "fig-Curve", "must be `fig-`"),
        ("It falls.", "", "must be `fig-`"),
        (" ", "fig-a", "must be one paragraph"),
        ("It falls.\n\nIn time.", "fig-a", "must be one paragraph"),
        ("it " * 31 + "falls. In time.", "fig-a", "first sentence of a caption may have 30 words"),
        ("It falls. " + "It does so in time. " * 18, "fig-a", "a caption may have 90 words"),
    ],
)
def test_what_is_wrong_with_a_caption_is_named(caption, name, fault):
    (problem,) = caption_problems(page(captioned(caption, name)))
    assert problem.startswith("cell 3 (draw('curve')): ")
    assert fault in problem


@pytest.mark.parametrize(
    "caption", ["It falls.", "it " * 26 + LINKED, "It falls. " + "In time. " * 42 + LINKED]
)
def test_a_caption_counts_the_words_that_a_reader_sees(caption):
    assert caption_problems(page(captioned(caption))) == []


def test_two_figures_of_a_page_may_not_share_a_name():
    (problem,) = caption_problems(page(captioned(), captioned()))
    assert problem == "cell 4 (draw('curve')): another figure of the page has the name 'fig-curve'"


def test_a_caption_is_for_one_figure():
    cell = captioned()
    cell.outputs.append(shown("other"))
    (problem,) = caption_problems(page(cell))
    assert "the cell shows 2 things: split it" in problem


def test_a_cell_without_a_caption_has_none_to_be_wrong():
    assert caption_problems(page(drawing())) == []


def test_numbers_of_a_caption_are_bound_or_quoted():
    loose = page(captioned("It falls by 0.35."))
    (problem,) = prose_problems("notebooks/claims/a.ipynb", loose)
    assert problem.startswith("cell 3 (draw('curve')): 0.35: bind each number")
    bound = page(captioned("It falls by {ledger}`a.estimate` or {quoted}`0.35`."))
    assert prose_problems("notebooks/claims/a.ipynb", bound) == []


def test_what_a_notebook_says_are_its_markdown_and_its_captions_in_order():
    notebook = page(captioned(), drawing("other"))
    assert [text for _, text in prose(notebook)] == [
        notebook.cells[0].source,
        "It falls. In time.",
    ]


def test_captions_and_tags_outlive_normalising_and_another_run():
    notebook = page(captioned())
    notebook.cells[2].metadata["tags"] = ["hide-input", "lead"]
    kept = dict(notebook.cells[2].metadata)
    assert normalise(notebook).cells[2].metadata == kept
    run = page(drawing("curve"))
    assert with_outputs(notebook, run).cells[2].metadata == kept


def test_a_caption_runs_no_notebook_again():
    assert run_key(page(captioned()), [], "k") == run_key(page(drawing("curve")), [], "k")
