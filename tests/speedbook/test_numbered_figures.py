"""Notebooks pressed by Sphinx: figures with captions, numbered through the book."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from nbformat.v4 import new_markdown_cell

from speedbook.notebook.files import KERNELSPEC, LANGUAGE, write_notebook

from .helpers import ROOT
from .page_sources import drawing, page
from .pressed import press, words

pytestmark = pytest.mark.slow

INDEX = """# A book

See {numref}`fig-late` and {ref}`fig-lead`.

```{toctree}
first
second
rerun
```
"""
CAPTION = "It costs {quoted}`0.35`, $x + y$. See [the other](second.ipynb) and {numref}`fig-late`."


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Two notebooks, the first with a lead that is drawn late, in a book of the real settings."""
    root: Path = tmp_path_factory.mktemp("numbered")
    (root / "index.md").write_text(INDEX, encoding="utf-8")
    (root / "book").mkdir()
    (root / "rerun.md").write_text("# Reruns\n\nHow.\n", encoding="utf-8")
    early = drawing("early", "hide-input", caption="Early.", name="fig-early")
    lead = drawing("lead", "hide-input", "lead", caption=CAPTION, name="fig-lead")
    late = drawing("late", caption="Late.", name="fig-late")
    for name, cells in {"first": [early, lead], "second": [late, drawing("bare")]}.items():
        notebook = page(new_markdown_cell("## Why"), *cells, first=f"# {name}\n\n{FRONT}\n\nMore.")
        notebook.metadata = {"kernelspec": dict(KERNELSPEC), "language_info": dict(LANGUAGE)}
        write_notebook(root / f"{name}.ipynb", notebook)
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    kept = ("numfig", "numfig_format", "numfig_secnum_depth")
    warnings = press(
        root,
        extensions=["myst_nb", "sphinx_design", "speedbook.press.sphinx.extension"],
        nb_execution_mode="off",
        myst_enable_extensions=config["parse"]["myst_enable_extensions"],
        **{key: config["sphinx"]["config"][key] for key in kept},
    )
    unrelated = "rerun"
    assert [line for line in warnings.splitlines() if unrelated not in line] == []
    names = ("index", "first", "second")
    return {name: (root / "html" / f"{name}.html").read_text(encoding="utf-8") for name in names}


FRONT = "*In short:* it falls. *You need* nothing."


def figure(page: str, name: str) -> str:
    """Return the figure of a name, which there is once."""
    (found,) = re.findall(rf'<figure[^>]* id="{name}">.*?</figure>', page, re.S)
    return str(found)


def test_the_numbers_run_through_the_book_in_the_order_of_the_pages(pages):
    numbers = [
        number
        for name in ("first", "second")
        for number in re.findall(r'class="caption-number">(.*?) </span>', pages[name])
    ]
    assert numbers == ["Picture 1", "Picture 2", "Picture 3"]
    assert "Picture 1" in figure(pages["first"], "fig-lead"), "as a reader meets it"
    assert "See Picture 3 and It costs 0.35" in words(pages["index"])


def test_the_lead_stands_between_finding_and_text_and_its_code_stays(pages):
    first = pages["first"]
    order = ("sb-finding", "sb-need", 'id="fig-lead"', "More.", 'id="why"', 'id="fig-early"')
    places = [first.index(part) for part in (*order, "tag_lead", "sb-foot")]
    assert places == sorted(places)
    assert first.count("<img alt") == 2


def test_a_caption_is_myst_and_the_picture_keeps_what_it_tells(pages):
    shown = figure(pages["first"], "fig-lead")
    assert "Picture 1 It costs 0.35, \\(x + y\\). See the other and Picture 3." in words(shown)
    assert 'href="second.html"' in shown and 'href="second.html#fig-late"' in shown
    assert 'alt="What lead shows."' in shown
    assert 'class="sb-figure"' in shown and "width: 580px" in shown


def test_a_figure_without_a_caption_has_no_number(pages):
    assert pages["second"].count("<img alt") == 2
    assert pages["second"].count("<figcaption") == 1
