"""A picture of a notebook on another page: what is shown, said and refused."""

from __future__ import annotations

import re

import pytest
from nbformat.v4 import writes

from speedbook.notebook.files import png_bytes
from speedbook.press.sphinx.picture import drawn_figure, split_finding

from .page_sources import drawing, page
from .pressed import press, words

CAPTION = "The *first* is {quoted}`0.5`. A dot is $x$."
NOTEBOOK = page(
    drawing("curve", name="fig-curve", caption=CAPTION), drawing("other", name="fig-other")
)


@pytest.fixture
def built(tmp_path):
    """Build a page that shows pictures; return its HTML and what Sphinx complained about."""

    def run(text, builder="html"):
        (tmp_path / "ideas").mkdir()
        (tmp_path / "ideas" / "drawn.ipynb").write_text(writes(NOTEBOOK))
        (tmp_path / "part").mkdir()
        (tmp_path / "index.md").write_text("# B\n\n```{toctree}\npart/page\n```\n")
        (tmp_path / "part" / "page.md").write_text(f"# P\n\n{text}\n")
        complaints = press(tmp_path, builder, numfig=True)
        ending = {"html": "html", "text": "txt", "latex": "tex"}[builder]
        files = {path.stem: path for path in (tmp_path / builder).rglob(f"*.{ending}")}
        return files, complaints

    return run


@pytest.mark.slow
def test_the_picture_is_the_one_that_the_notebook_drew(built, tmp_path):
    files, complaints = built("```{picture} ideas/drawn#fig-curve\n```")
    assert complaints == ""
    figure = re.search(r"<figure.*?</figure>", files["page"].read_text(), re.S)[0]
    assert 'alt="What curve shows."' in figure and "580px" in figure
    assert "<em>first</em>" in figure and words(figure) == r"The first is 0.5. A dot is \(x\)."
    source = re.search(r'src="([^"]+)"', figure)[1]
    shown = (files["page"].parent / source).read_bytes()
    (output,) = NOTEBOOK.cells[2].outputs
    assert shown == png_bytes(output.data["image/png"])


@pytest.mark.slow
def test_a_finding_stands_above_its_picture_and_no_number_below(built):
    files, complaints = built("```{picture} ideas/drawn#fig-curve\n:finding:\n```")
    assert complaints == ""
    text = files["page"].read_text()
    above = re.search(r'<p class="sb-finding">(.*?)</p>\s*<figure', text, re.S)
    assert words(above[1]) == "The first is 0.5."
    below = re.search(r"<figcaption[^>]*>(.*?)</figcaption>", text, re.S)[1]
    assert words(below) == r"A dot is \(x\)."
    assert "caption-number" not in below


@pytest.mark.slow
@pytest.mark.parametrize("builder", ["text", "latex"])
def test_other_formats_have_the_words(built, builder):
    files, complaints = built("```{picture} ideas/drawn#fig-curve\n```", builder)
    assert complaints == ""
    assert any("A dot is" in path.read_text() for path in files.values())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("argument", "complaint"),
    [
        ("ideas/drawn", "expected NOTEBOOK#FIGURE"),
        ("ideas/drawn#fig-none", "figure must be one of fig-curve, fig-other"),
        ("ideas/none#fig-curve", "No such file"),
    ],
)
def test_what_is_not_there_is_reported(built, argument, complaint):
    _, complaints = built(f"```{{picture}} {argument}\n```")
    assert complaint in complaints


def test_a_figure_that_was_never_drawn_is_refused():
    notebook = page(drawing(name="fig-curve", caption=CAPTION))
    notebook.cells[2].outputs = []
    with pytest.raises(ValueError, match="no output; run the notebook"):
        drawn_figure(notebook, "fig-curve")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("A. B. C.", ("A.", "B. C.")),
        ("It is $1. X$ here. Then B.", ("It is $1. X$ here.", "Then B.")),
        ("As e.g. This one. B.", ("As e.g. This one.", "B.")),
        ("Only one.", ("Only one.", "")),
    ],
)
def test_a_caption_is_split_after_its_first_sentence(text, parts):
    assert split_finding(text) == parts
