"""From a notebook to the page that the book shows."""

from __future__ import annotations

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from speedbook.claims.cards import card_html
from speedbook.notebook.files import code_cells, serialise
from speedbook.press.template import as_page, page_problems, published

from .a_claim import claim
from .page_sources import FRONT, drawing, page

NAME = "notebooks/a/b.ipynb"


def lead(name="curve"):
    return drawing(name, "hide-input", "lead", caption="It falls. In time.", name=f"fig-{name}")


def test_a_page_goes_from_finding_to_picture_to_text_to_foot():
    notebook = page(new_markdown_cell("## Why"), lead())
    before = serialise(notebook)
    assert page_problems(notebook) == []
    shown = as_page(notebook, NAME)
    assert serialise(notebook) == before, "the notebook itself stays"
    top, picture, rest, _, why, code, foot = shown.cells
    assert top.source.startswith("# Title\n\n{.sb-finding}\nThe answer")
    assert picture.metadata == {
        "tags": ["remove-input", "run-lead-picture"],
        "mystnb": {"figure": {"caption": "It falls. In time.", "name": "fig-curve"}},
    }
    assert picture.outputs == notebook.cells[3].outputs
    assert (rest.source, why.source) == ("More.", "## Why")
    assert code.source == "draw('curve')"
    assert code.outputs == []
    assert code.metadata == {"tags": ["hide-input", "lead", f"run-{code.id}"]}
    assert foot.source.startswith(":::::{div} sb-foot")


def test_a_page_without_a_lead_has_its_figures_where_they_are():
    shown = as_page(page(drawing()), NAME)
    assert [len(cell.outputs) for cell in code_cells(shown)] == [0, 1]


def test_what_else_the_cell_of_the_lead_showed_stays():
    cell = lead()
    cell.outputs.append(new_output("stream", text="done"))
    _, picture, _, _, code, _ = as_page(page(cell), NAME).cells
    assert [each.output_type for each in picture.outputs] == ["display_data"]
    assert [each.output_type for each in code.outputs] == ["stream"]


@pytest.mark.parametrize(
    ("cells", "fault"),
    [
        ([lead("a"), lead("b")], r"one cell may have the tag `lead`.*cell 3 .*, cell 4"),
        ([new_code_cell("x", metadata={"tags": ["lead"]})], "must show one figure; it shows 0"),
    ],
)
def test_a_page_has_one_lead_and_it_is_a_figure(cells, fault):
    with pytest.raises(ValueError, match=fault):
        as_page(page(*cells), NAME)


def test_attachments_of_the_first_cell_are_kept_on_both_sides_of_the_picture():
    notebook = page(lead())
    notebook.cells[0].attachments = {"a.png": {"image/png": "AAAA"}}
    top, _, rest, *_ = as_page(notebook, NAME).cells
    assert top.attachments == rest.attachments == notebook.cells[0].attachments


def test_a_notebook_with_problems_is_no_page():
    with pytest.raises(ValueError, match="its first cell"):
        as_page(page(first="# Title"), NAME)
    with pytest.raises(ValueError, match="one paragraph"):
        as_page(page(drawing("a", caption="", name="fig-a")), NAME)


def test_cells_of_parameters_are_not_shown():
    injected = new_code_cell("n = 4", metadata={"tags": ["injected-parameters"]})
    cells = code_cells(as_page(page(injected, new_code_cell("n")), "b.ipynb"))
    assert ["remove-cell" in cell.metadata.get("tags", []) for cell in cells] == [True, True, False]


def test_a_place_to_link_to_stands_before_each_card():
    mark = {"speedbook": {"claim": {"id": "Prop-1"}}}
    output = new_output("display_data", {"text/plain": "card"}, metadata=mark)
    cell = new_code_cell("record()", outputs=[output])
    before, shown, _ = as_page(page(cell, first=f"# T\n\n{FRONT}"), "b.ipynb").cells[-3:]
    assert (before.cell_type, before.source) == ("markdown", "(card-prop-1)=")
    assert shown.source == "record()"


def test_the_badge_of_a_card_leads_to_its_row_of_the_ledger():
    mark = {"speedbook": {"claim": {"id": "Prop-1"}}}
    entry = {"estimate": 1.0, "interval": [0.9, 1.1], "level": 0.999, "verdict": "supported"}
    html = card_html(claim(id="Prop-1"), {**entry, "replications": None, "seed": None})
    output = new_output("display_data", {"text/html": html}, metadata=mark)
    shown = as_page(page(new_code_cell("record()", outputs=[output])), NAME).cells[-2]
    linked = shown.outputs[0].data["text/html"]
    link = '<a class="reference internal" href="../../book/ledger.html#claim-prop-1">'
    assert linked.count(link) == linked.count("<a ") == 1
    assert linked.replace(link, "").replace("</a>", "") == html


def test_answers_to_the_tasks_of_a_class_are_not_published():
    def of_class(source, **about):
        return new_code_cell(source, metadata={"nbgrader": about})

    answer, test = of_class("answer = 1", solution=True), of_class("assert answer", grade=True)
    given = of_class("print(1)", solution=False, grade=False, locked=True)
    notebook = page(answer, given, test)
    kept = published(notebook)
    assert [cell.source for cell in kept.cells[2:]] == ["print(1)"]
    assert len(notebook.cells) == 5 and published(kept) == kept


def test_a_card_shows_the_result_of_the_long_setting_and_no_other():
    entry = {"estimate": 1.0, "interval": [0.9, 1.1], "level": 0.999, "verdict": "supported"}
    html = card_html(claim(id="Prop-1"), {**entry, "replications": None, "seed": None})
    mark = {"speedbook": {"claim": {"id": "Prop-1"}}}
    output = new_output("display_data", {"text/html": html}, metadata=mark)
    notebook = page(new_code_cell("record()", outputs=[output]))
    stored = {**entry, "interval": [0.99, 1.01], "parameters": {"n": 9}, "changed": []}

    def card(rows):
        return as_page(notebook, NAME, rows).cells[-2].outputs[0].data["text/html"]

    full = "\n<dt>Full</dt><dd>supported, 1.000 [0.990, 1.010], with the parameter n = 9</dd>"
    assert card({"Prop-1": {"full": stored}}).count(full) == 1
    assert card({"Prop-1": {"full": stored}}).replace(full, "") == card({}) == card(None)
