"""The page of a run, cell by cell: every kind of output and every role is shown as in the book."""

from __future__ import annotations

import html
import io
import json
import re
from base64 import b64encode
from typing import Any

import pytest
from docutils.core import publish_doctree
from docutils.parsers.rst import directives, roles
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from speedbook.notebook.files import read_notebook
from speedbook.notebook.find import notebook_names
from speedbook.notebook.parameters import Parameter, Value, notebook_parameters
from speedbook.press.run_page import MOST, cited_works, page_html

from .helpers import ROOT
from .page_sources import drawing

ROLE = re.compile(r"\{([\w:+-]+)\}`([^`]+)`")
SVG = "<svg xmlns='http://www.w3.org/2000/svg'/>"
ROUNDS = Parameter("rounds", "list[int]", [100, 1000], "budgets")
LEFT_OUT = Parameter("leave_out", "list[str]", [], "columns", or_empty=True)
LOG = Parameter("log_file", "str", "", "a log")
CLAIMS = {"prop-1": {"verdict": "supported", "estimate": 1.5, "interval": [1.5, 1.5]}}
WORKS = {"elfving1952": "Elfving, 1952", "whittle1958": "Whittle, 1958"}
BOX_END = "</table>\n</details>\n</section>"


def page(*cells: Any, values: dict[str, Value] | None = None, **given: Any) -> str:
    """Return the page of a notebook with these cells; text is a cell of Markdown."""
    parameters = (ROUNDS, LEFT_OUT, LOG)
    cells = tuple(new_markdown_cell(c) if isinstance(c, str) else c for c in ("# A page", *cells))
    asked = {p.name: p.default for p in parameters} | (values or {})
    given = {"claims": CLAIMS, "facts": ["A rerun."], "macros": {}, "works": WORKS, **given}
    return page_html(new_notebook(cells=list(cells)), parameters, asked, **given)


def body(*cells: Any, **given: Any) -> str:
    """Return the page below the box of the run."""
    return page(*cells, **given).partition(BOX_END)[2]


def displayed(**data: str) -> str:
    """Return how an output is shown, its kinds given as ``text_html``."""
    data = {"text/plain": "<IPython object>"} | {k.replace("_", "/"): v for k, v in data.items()}
    return body(new_code_cell("f()", outputs=[new_output("display_data", data=data)]))


def words(text: str) -> str:
    """Return what is to be read in a piece of HTML."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", text)).split())


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """Return the pages of all notebooks, as they are committed."""
    works, found = cited_works(ROOT), {}
    for name in notebook_names(ROOT):
        notebook = read_notebook(ROOT / name)
        parameters = notebook_parameters(notebook)
        values = {parameter.name: parameter.default for parameter in parameters}
        folder = (ROOT / name).parent
        text = page_html(notebook, parameters, values, {}, [], {}, works, folder=folder)
        found[name] = text.partition("<body>")[2]
    return found


# The page


def test_a_page_asks_nothing_of_the_network_or_its_neighbours(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    links = "[a](https://example.org/?a=1&b=2) [*b*](b.ipynb#c) [](d.ipynb) [e](#words)"
    pictures = "![a *cat*](https://example.org/cat.png) ![](dog.png)"
    text = page(links, pictures, "## Words\n\nText.", "{nonsense}`x` [^1]\n\n```{nonsense}\n```")
    rest = re.sub(r"<script>.*?</script>", "", text, flags=re.S)
    assert "<script" not in rest
    addresses = [html.unescape(each) for each in re.findall(r'(?:src|href)="([^"]*)"', rest)]
    assert addresses == ["data:,", "https://example.org/?a=1&b=2", "#words"]
    assert 'id="words"' in rest
    assert "b d e" in words(rest) and "a cat dog.png" in words(rest)
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr() == ("", "")


def test_nothing_in_macros_ends_the_script():
    text = page(macros={"x": "</script><b>"})
    script = text.partition("<script>MathJax = ")[2].partition("</script>")[0]
    macros, _ = json.JSONDecoder().raw_decode(script.replace(r"\x3C", "<"))
    assert macros["tex"]["macros"] == {"x": "</script><b>"}
    assert len(script) > 1_000_000


@pytest.mark.slow
def test_what_was_known_for_one_page_is_forgotten_after_it():
    before = roles.role, directives.directive
    page("{ledger}`prop-1.estimate`")
    with pytest.raises(ValueError, match="not a valid Verdict"):
        page("{claim-badge}`x`", claims={"x": {"verdict": "none"}})
    assert (roles.role, directives.directive) == before
    for role in ("ledger", "claim-badge", "quoted"):
        said = io.StringIO()
        publish_doctree(f":{role}:`x`", settings_overrides={"warning_stream": said})
        assert f'Unknown interpreted text role "{role}"' in said.getvalue()


# Cells


def test_parameters_are_hidden_and_code_is_folded_where_a_cell_says_so():
    cells = {"none": [], "a": ["parameters"], "b": ["injected-parameters"], "fold": ["hide-input"]}
    text = body(*(new_code_cell(f"{x} <= 1", metadata={"tags": t}) for x, t in cells.items()))
    assert re.findall(r"<code>(\w+) &lt;= 1", text) == ["none", "fold"]
    (folded,) = re.findall(r"<details><summary>Code</summary>(.*?)</details>", text, re.S)
    assert words(folded) == "fold <= 1"


def test_attachments_are_shown_each_in_its_own_cell():
    cells = [
        new_markdown_cell(f"![{x}](attachment:{y})", attachments={"a b.png": {"image/png": x}})
        for x, y in (("AAAA", "a%20b.png"), ("BBBB", "a%20b.png"))
    ]
    found = re.findall(r'<img alt="(\w+)" src="data:image/png;base64,(\w+)"', body(*cells))
    assert found == [("AAAA", "AAAA"), ("BBBB", "BBBB")]


LINES = "iVBO\nRw0K"


@pytest.mark.parametrize(
    ("source", "attached"),
    [
        *(
            (f"![](attachment:{w})", {"a b.png": {"image/png": "AAAA"}})
            for w in ("a%20b.png", "a b.png")
        ),
        ("![](<attachment:a b.png>)", {"a b.png": {"image/png": "AAAA"}}),
        ("![](attachment:a%281%29.png)", {"a(1).png": {"image/png": "AAAA"}}),
        ("![](attachment:Größe.png)", {"Größe.png": {"image/png": "AAAA"}}),
        ("![](attachment:Gr%C3%B6%C3%9Fe.png)", {"Größe.png": {"image/png": "AAAA"}}),
        ("![](attachment:Gro\u0308ße.png)", {"Gr\u00f6ße.png": {"image/png": "AAAA"}}),
        ("![](attachment:p.svg)", {"p.svg": {"image/svg+xml": SVG}}),
        ("![](attachment:p.svg)", {"p.svg": {"image/svg+xml": b64encode(SVG.encode()).decode()}}),
        ("![](attachment:p.png)", {"p.png": {"image/png": LINES}}),
        ('<img src="attachment:p.svg">', {"p.svg": {"image/svg+xml": SVG}}),
        ("```{figure} attachment:p.jpg\nA word.\n```", {"p.jpg": {"image/jpeg": "AAAA"}}),
        (
            "![](attachment:a.png) ![](attachment:a.png.png) ![](attachment:b.svg)",
            {
                "a.png": {"image/png": "AAAA"},
                "a.png.png": {"image/png": "BBBB"},
                "b.svg": {"image/svg+xml": SVG},
            },
        ),
    ],
)
def test_every_attached_picture_is_shown_whatever_its_kind_and_name(source, attached):
    text = body(new_markdown_cell(source, attachments=attached))
    found = re.findall(r'<img[^>]* src="data:([^;]+);base64,([^"]+)"', text)
    expected = []
    for kind, content in (item for bundle in attached.values() for item in bundle.items()):
        coded = b64encode(content.encode()).decode() if content.startswith("<") else content
        expected.append((kind, coded.replace("\n", "")))
    assert found == expected
    assert "attachment:" not in text


def test_a_picture_that_is_not_attached_leaves_its_words():
    assert words(body(new_markdown_cell("![A word](attachment:gone.png)"))) == "A word"


def test_prose_is_trusted_and_its_formulas_are_left_to_mathjax():
    text = body("<kbd>K</kbd> $a<b$ `$x<y$`\n\n$$c<d$$\n\n\\begin{align}e&<f\\end{align}")
    assert "<kbd>K</kbd>" in text
    assert r"\(a&lt;b\)" in text and "<code>$x&lt;y$</code>" in text
    assert re.search(r"\\begin{(equation\*)}\s*c&lt;d\s*\\end{\1}", text)
    assert r"\[\begin{align}e&amp;&lt;f\end{align}\]" in text


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        (
            "```{admonition} Why $x$\n:class: important\nBecause **so**.\n```",
            r"Why \(x\) Because so.",
        ),
        ("```{note}\nBecause **so**.\n```", "Note Because so."),
        (":::{div} sb-notation\nBecause **so**.\n:::", "Because so."),
        ("```{prf:theorem} Of $x$\n:label: t\nBecause **so**.\n```", r"Of \(x\) Because so."),
        ("```{nonsense}\nBecause **so**.\n```", "nonsense Because so."),
        ("```{bibliography}\n```", "bibliography"),
    ],
)
def test_the_text_of_every_directive_is_shown(source, parts):
    assert words(body(source)) == parts


def test_boxes_keep_their_class_and_a_dropdown_is_folded():
    text = body("```{admonition} Why *so*\n:class: dropdown\nBecause.\n```")
    (folded,) = re.findall(r"<details><summary>(.*?)</details>", text, re.S)
    assert folded.startswith("Why <em>so</em></summary>") and "Because." in folded
    assert re.search(r'class="[^"]*\bsb-notation\b', body(":::{div} sb-notation\nText.\n:::"))
    box = body("```{admonition} A\n:class: important\nText.\n```")
    assert re.search(r'class="[^"]*\bimportant\b', box) and "<details" not in box


# Outputs


@pytest.mark.parametrize(
    ("kind", "content", "part"),
    [
        ("text_html", "<b>bold</b>", "<b>bold</b>"),
        ("text_markdown", "- **bold** text", "<li><strong>bold</strong> text</li>"),
        ("text_markdown", "*see* $a<b$", r"\(a&lt;b\)"),
        ("text_markdown", "| a |\n|---|\n| 1 |", "<td>1</td>"),
        ("text_latex", "$$a<b$$", r"\[a&lt;b\]"),
        ("text_latex", r"\begin{align}a<b\end{align}", r"\begin{align}a&lt;b\end{align}"),
        ("image_png", "abc=\n", "data:image/png;base64,abc="),
        ("image_jpeg", "abc=\n", "data:image/jpeg;base64,abc="),
        ("image_svg+xml", SVG, f"data:image/svg+xml;base64,{b64encode(SVG.encode()).decode()}"),
    ],
)
def test_every_kind_of_output_is_shown_and_not_the_name_of_its_class(kind, content, part):
    found = displayed(**{kind: content})
    assert part in found
    assert "IPython" not in found


def test_a_figure_with_a_caption_is_one_figure_with_a_number_that_links_find():
    said = "It falls by {ledger}`prop-1.estimate`, see {cite}`elfving1952`. In $n$ rounds."
    text = body(
        "As {numref}`fig-b` and {numref}`fig-elsewhere` show.",
        drawing("a", caption="It rises.", name="fig-a"),
        drawing("b", caption=said, name="fig-b"),
        drawing("plain"),
    )
    assert (text.count("<figure"), text.count("<figcaption")) == (3, 2)
    assert 'As <a class="reference external" href="#fig-b">Picture 2</a>' in text
    assert "a picture on another page show." in text
    figure = re.search(r'<figure[^>]*id="fig-b".*?</figure>', text, re.S)[0]
    assert figure.count("<img") == 1
    shown = "Picture 2 It falls by 1.5, see [Elfving, 1952]."
    assert words(figure.partition("<figcaption>")[2]).startswith(shown)


def test_the_lead_picture_stands_below_the_finding_if_the_run_drew_it():
    front = "*In short:* it falls. *You need* nothing."
    first = new_markdown_cell(f"# A page\n\n{front}\n\nMore.")
    drawn = drawing("a", "lead", caption="It rises.", name="fig-a")
    given = {"claims": {}, "facts": [], "macros": {}, "works": {}}
    text = page_html(new_notebook(cells=[first, drawn]), [], {}, **given).partition("<body>")[2]
    places = [text.index(part) for part in ("it falls", "<img", "More.", "draw(")]
    assert places == sorted(places)
    assert text.count("<img") == text.count("Picture 1") == 1
    drawn.outputs = []
    text = page_html(new_notebook(cells=[first, drawn]), [], {}, **given).partition("<body>")[2]
    assert "<img" not in text and text.index("More.") < text.index("draw(")


def test_a_picture_keeps_its_description_and_its_width():
    about = {"image/png": {"alt": 'A "<line>".', "width": 600}}
    output = new_output("display_data", data={"image/png": "abc="}, metadata=about)
    (picture,) = re.findall(r"<img[^>]*>", body(new_code_cell("f()", outputs=[output])))
    assert 'alt="A &quot;&lt;line&gt;&quot;."' in picture and 'width="600"' in picture


def test_an_output_of_plain_text_is_escaped():
    assert "&lt;IPython object&gt;" in displayed()


def test_streams_and_errors_are_shown_without_colours():
    outputs = [
        new_output("stream", name="stdout", text="\x1b[31mred\x1b[0m <1>"),
        new_output("stream", name="stderr", text="careful"),
        new_output("error", traceback=["\x1b[0;31mValueError\x1b[0m", "no <2>"]),
    ]
    text = body(new_code_cell("f()", outputs=outputs))
    shown = dict(re.findall(r'<pre class="[^"]*output (\w+)[^"]*"><code>(.*?)</code>', text, re.S))
    assert shown == {
        "stream": "red &lt;1&gt;",
        "stderr": "careful",
        "traceback": "ValueError\nno &lt;2&gt;",
    }


def test_of_a_long_output_the_page_shows_the_beginning():
    end = "y" * MOST + "end"
    for output in (
        new_output("stream", name="stdout", text=end),
        new_output("error", traceback=[end]),
        new_output("display_data", data={"text/plain": end}),
    ):
        text = body(new_code_cell("f()", outputs=[output]))
        assert "y" * MOST in text and "end" not in text
        assert "… 3 more characters are in the notebook." in text
    for kind in ("text_html", "text_markdown"):
        assert "&lt;IPython object&gt;" in displayed(**{kind: end})


def test_markdown_of_an_output_runs_no_scripts_and_leaves_money_alone():
    found = displayed(
        text_markdown="**<script>x</script>** [y](javascript:z) from $ 5 to $ 6, 5$ and 6$ "
        "![cat](https://example.org/cat.png) [page](a.ipynb) {ledger}`prop-1.estimate`"
    )
    assert "<script" not in found and "<img" not in found and 'href="javascript' not in found
    assert "from $ 5 to $ 6, 5$ and 6$" in found
    assert "page {ledger}prop-1.estimate" in words(found) and "a.ipynb" not in found


# Roles


@pytest.mark.slow
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
        ("{numref}`table-1`", "table-1"),
        ("{eq}`loss`", "loss"),
        ("{math}`a<b`", r"\(a<b\)"),
        ("{sup}`2`", "2"),
        ("{ledger}`prop-1.estimate`", "1.5"),
        ("{ledger}`prop-2.estimate`", "(not computed in this run: prop-2.estimate)"),
        ("{claim-badge}`prop-1`", "✓ supported"),
        ("{claim-badge}`prop-2`", "(no verdict in this run: prop-2)"),
        ("{quoted}`0.35`", "0.35"),
        ("{quoted}`$0.35$`", r"\(0.35\)"),
    ],
)
def test_a_role_is_shown_as_in_the_book(role: str, text: str) -> None:
    assert words(body(role)) == text


def test_works_are_cited_by_authors_and_year(tmp_path):
    works = cited_works(ROOT)
    assert works["elfving1952"] == "Elfving, 1952"
    assert works["kiefer1960"] == "Kiefer and Wolfowitz, 1960"
    assert works["mukherjee2024speed"] == "Mukherjee et al., 2024"
    assert cited_works(tmp_path) == {}


def test_a_link_without_words_has_the_title_of_its_page(tmp_path):
    tmp_path.joinpath("b.md").write_text("(mark)=\n# About *b*\n\n# Not this\n")
    notebook = new_notebook(cells=[new_markdown_cell("# On $c$\n\nText.")])
    tmp_path.joinpath("c.ipynb").write_text(json.dumps(notebook))
    tmp_path.joinpath("d.csv").write_text("# Data\n")
    for link, text in {
        "[](b.md)": "About <em>b</em>",
        "[](b)": "About <em>b</em>",
        "[](c.ipynb)": r'On <span class="math">\(c\)</span>',
        "[](d.csv)": "d",
        "[](e.ipynb)": "e",
        "[own *words*](b.md)": "own <em>words</em>",
    }.items():
        assert f"<p>{text}</p>" in body(link, folder=tmp_path), link


# Our notebooks


@pytest.mark.slow
def test_all_of_our_notebooks_are_shown_without_an_error(pages):
    for name, text in pages.items():
        assert text.count("<h1") == 1, name
        box = text.index('<section class="run mathjax_ignore">')
        assert text.index("<h1") < box < text.index("<h2"), name
        assert "system-message" not in text and "problematic" not in text, name
        assert "&lt;IPython.core.display" not in text, name


@pytest.mark.slow
def test_no_role_and_no_title_of_our_notebooks_is_left_as_it_is_written(pages):
    found, linked, works = set(), 0, cited_works(ROOT)
    for name, text in pages.items():
        for cell in read_notebook(ROOT / name).cells:
            if cell.cell_type == "markdown":
                linked += cell.source.count("[](")
                found |= {match[1] for match in ROLE.finditer(cell.source)}
                for match in ROLE.finditer(cell.source):
                    if match[1].startswith("cite"):
                        assert set(match[2].split(",")) <= set(works), name
        prose = words(re.sub(r"<pre.*?</pre>", "", text, flags=re.S))
        assert "[](" not in prose and "~speed" not in prose, name
        assert not re.search(rf"\{{({'|'.join(found)})\}}", prose), name
    assert {"class", "func", "cite", "ledger", "claim-badge", "quoted"} <= found
    assert linked > 10


# The note


def test_a_page_of_other_parameters_says_what_its_words_were_written_for():
    values: dict[str, Value] = {"rounds": [], "leave_out": ["a, b"], "log_file": "<x>"}
    found = page("Text.", values=values).partition("<body>")[2]
    note = found[found.index('<div class="note"') : found.index("</div>")]
    assert found.index("</h1>") < found.index(note) < found.index("Text.")
    for part in (
        "rounds: 100,1000 → []",
        'leave_out: [] → ["a, b"]',
        "log_file: (empty) → <x>",
        "written for the defaults",
        "are of this run",
    ):
        assert part in words(note), part


def test_a_page_of_the_defaults_has_no_such_note():
    assert 'class="note"' not in page()
