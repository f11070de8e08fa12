"""The page of a run, cell by cell: every kind of output and every role is shown as in the book."""

from __future__ import annotations

import html
import re
from base64 import b64encode
from typing import Any

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from speedbook.notebook.files import read_notebook
from speedbook.notebook.find import notebook_names
from speedbook.notebook.parameters import Parameter, Value
from speedbook.press.run_page import page_html
from speedbook.press.run_text import cited_works, output_renderer, prose_renderer, with_titles

from .helpers import ROOT

ROLE = re.compile(r"\{([\w:+-]+)\}`([^`]+)`")
SVG = "<svg xmlns='http://www.w3.org/2000/svg'/>"
ROUNDS = Parameter("rounds", "list[int]", [100, 1000], "budgets")
LEFT_OUT = Parameter("leave_out", "list[str]", [], "columns", or_empty=True)
LOG = Parameter("log_file", "str", "", "a log")


def page(*cells: Any, values: dict[str, Value] | None = None) -> str:
    parameters = (ROUNDS, LEFT_OUT, LOG)
    notebook = new_notebook(cells=[new_markdown_cell("# A page"), *cells])
    asked = {p.name: p.default for p in parameters} | (values or {})
    text = page_html(notebook, parameters, asked, {}, ["A rerun."], {}, {})
    return re.sub(r"<(script|style)\b.*?</\1>", "", text, flags=re.S)


def shown(data: dict[str, str]) -> str:
    output = new_output("display_data", data={**data, "text/plain": "<IPython object>"})
    return page(new_code_cell("f()", outputs=[output])).split("</pre>", 1)[1]


@pytest.mark.parametrize(
    ("kind", "content", "part"),
    [
        ("text/html", "<b>bold</b>", "<b>bold</b>"),
        ("text/markdown", "- **bold** $a<b$", rf"<li><strong>bold</strong> \(a{'&lt;'}b\)</li>"),
        ("text/markdown", "| a |\n|---|\n| 1 |", "<td>1</td>"),
        ("text/latex", "$$a<b$$", r"\[a&lt;b\]"),
        ("text/latex", r"\begin{align}a<b\end{align}", r"\begin{align}a&lt;b\end{align}"),
        ("image/png", "abc=\n", "data:image/png;base64,abc="),
        ("image/jpeg", "abc=\n", "data:image/jpeg;base64,abc="),
        ("image/svg+xml", SVG, f"data:image/svg+xml;base64,{b64encode(SVG.encode()).decode()}"),
    ],
)
def test_every_kind_of_output_is_shown_and_not_the_name_of_its_class(kind, content, part):
    found = shown({kind: content})
    assert part in found
    assert "IPython" not in found


def test_an_output_of_plain_text_is_escaped():
    assert "&lt;IPython object&gt;" in shown({})


def test_markdown_of_an_output_runs_no_scripts_and_leaves_money_alone():
    found = output_renderer()("**<script>x</script>** [y](javascript:z) from $ 5 to $ 6, 5$ and 6$")
    assert "<script" not in found and 'href="javascript' not in found
    assert "from $ 5 to $ 6, 5$ and 6$" in found


def test_no_output_of_our_notebooks_falls_back_to_the_name_of_its_class():
    kinds: set[str] = set()
    for name in notebook_names(ROOT):
        cells = [cell for cell in read_notebook(ROOT / name).cells if cell.cell_type == "code"]
        kinds |= {kind for c in cells for output in c.outputs for kind in output.get("data", {})}
        assert "&lt;IPython.core.display" not in page(*cells), name
    assert kinds >= {"text/html", "text/markdown", "image/png", "text/plain"}


# Roles

CLAIMS = {"prop-1": {"verdict": "supported", "estimate": 1.5, "interval": [1.5, 1.5]}}
WORKS = {"elfving1952": "Elfving, 1952", "whittle1958": "Whittle, 1958"}


@pytest.mark.parametrize(
    ("role", "text"),
    [
        ("{class}`~speedlib.strategies.per_arm.PerArm`", "PerArm"),
        ("{func}`speedlib.designs.pe_loss`", "speedlib.designs.pe_loss"),
        ("{meth}`Rewards.from_log <speedlib.rewards.Rewards.from_log>`", "Rewards.from_log"),
        ("{py:attr}`!x`", "x"),
        ("{cite}`elfving1952,whittle1958`", "[Elfving, 1952; Whittle, 1958]"),
        ("{cite:t}`unknown2000`", "[unknown2000]"),
        ("{doc}`/book/how-to-read`", "how-to-read"),
        ("{doc}`how to read </book/how-to-read>`", "how to read"),
        ("{ref}`the card <card-prop-1>`", "the card"),
        ("{math}`a<b`", r"\(a<b\)"),
        ("{sup}`2`", "2"),
        ("{ledger}`prop-1.estimate`", "1.5"),
        ("{ledger}`prop-2.estimate`", "(not computed in this run: prop-2.estimate)"),
        ("{claim-badge}`prop-1`", "✓ supported"),
        ("{claim-badge}`prop-2`", "(no verdict in this run: prop-2)"),
        ("{quoted}`0.35`", "0.35"),
    ],
)
def test_a_role_is_shown_as_in_the_book(role: str, text: str) -> None:
    found = prose_renderer(CLAIMS, WORKS)(role)
    assert html.unescape(re.sub(r"<[^>]+>", "", found)).strip() == text


def test_no_role_of_our_notebooks_is_left_as_it_is_written():
    works = cited_works(ROOT)
    render = prose_renderer({}, works)
    roles = set()
    for name in notebook_names(ROOT):
        for cell in read_notebook(ROOT / name).cells:
            if cell.cell_type == "markdown":
                roles |= {match[1] for match in ROLE.finditer(cell.source)}
                found = re.sub(r"<pre>.*?</pre>", "", render(cell.source), flags=re.S)
                assert not ROLE.search(found) and "~speed" not in found, name
                for match in ROLE.finditer(cell.source):
                    if match[1].startswith("cite"):
                        assert set(match[2].split(",")) <= set(works), name
    assert {"class", "func", "cite", "ledger", "claim-badge", "quoted"} <= roles


def test_a_link_without_words_has_the_title_of_its_page(tmp_path):
    linked = 0
    for name in notebook_names(ROOT):
        for cell in read_notebook(ROOT / name).cells:
            if cell.cell_type == "markdown":
                linked += cell.source.count("[](")
                assert "[](" not in with_titles(cell.source, (ROOT / name).parent), name
    assert linked > 10
    tmp_path.joinpath("b.md").write_text("(mark)=\n# About *b*\n\n# Not this\n")
    for link in ("[](b.md)", "[](b)"):
        assert with_titles(link, tmp_path).startswith("[About *b*](b")
    for other in ("[](https://example.org)", "[](c.ipynb)", "[own words](b.md)"):
        assert with_titles(other, tmp_path) == other


def test_works_are_cited_by_authors_and_year(tmp_path):
    works = cited_works(ROOT)
    assert works["elfving1952"] == "Elfving, 1952"
    assert works["kiefer1960"] == "Kiefer and Wolfowitz, 1960"
    assert works["mukherjee2024speed"] == "Mukherjee et al., 2024"
    assert cited_works(tmp_path) == {}


# The note


def test_a_page_of_other_parameters_says_what_its_words_were_written_for():
    values: dict[str, Value] = {"rounds": [], "leave_out": ["a, b"], "log_file": "<x>"}
    found = page(new_markdown_cell("Text."), values=values)
    note = found[found.index('<div class="note"') : found.index("</div>")]
    assert found.index("</h1>") < found.index(note) < found.index("Text.")
    text = html.unescape(re.sub(r"<[^>]+>", "", note))
    for part in (
        "rounds: 100,1000 → []",
        'leave_out: [] → ["a, b"]',
        "log_file: (empty) → <x>",
        "written for the defaults",
        "are of this run",
    ):
        assert part in text, part


def test_a_page_of_the_defaults_has_no_such_note():
    assert 'class="note"' not in page()
