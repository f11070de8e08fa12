"""The whole path from notebooks to pages, with real kernels and Jupyter Book, on a tiny book."""

from __future__ import annotations

import json
import re
import shutil

import pytest

import speedbook.press.jupyter_book
from speedbook.notebook.files import code_cells, read_notebook

from .builds import build
from .helpers import FIG, PROP, SPEEDBOOK, edit, start
from .pressed import words

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built_book(tmp_path_factory, make_tiny_book):
    """A book built once; tests that change it copy it."""
    book = make_tiny_book(tmp_path_factory.mktemp("built"))
    before = book.snapshot()
    process = start(book.root, *SPEEDBOOK, "build")
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 0, output
    assert book.snapshot() == before
    assert "_build/html/index.html" in output
    return book.root


@pytest.fixture
def copy_of_built(built_book, tmp_path):
    copy = tmp_path / "copy of the book"
    shutil.copytree(built_book, copy)
    return copy


def test_the_whole_path(built_book):
    below = built_book / "_build"
    assert not list(below.rglob("*.part"))
    assert not (below / "running").exists()
    row = json.loads((below / "ledger.json").read_text())["claims"]["prop-1"]
    assert (row["estimate"], row["interval"], row["seed"]) == (1.001, [0.99, 1.01], 3)
    pages = {
        name: (below / "html" / f"{name}.html").read_text()
        for name in (
            "book/index",
            "book/ledger",
            "notebooks/claims/prop-1",
            "notebooks/figures/fig",
        )
    }
    badge = pages["book/index"].split("It is 1.001: ")[1].split("</p>")[0]
    for part in ('"verdict verdict-supported"', 'href="ledger.html#claim-prop-1"', "✓ supported"):
        assert part in badge
    table = re.search(r'<table class="ledger-table.*?</table>', pages["book/ledger"], re.S)[0]
    for part in (
        'id="claim-prop-1"',
        'href="../notebooks/claims/prop-1.html#card-prop-1"',
        '<span class="verdict verdict-supported">✓ supported</span>',
        ">[0.990, 1.010]<",
        "equal to 1 ± 0.1",
    ):
        assert part in table
    facts = re.search(r'<p class="ledger-build">.*?</p>', pages["book/ledger"], re.S)[0]
    assert "at its defaults: no git; Python 3." in facts
    assert re.search(r"seed 3, \d+ seconds?<", table)
    card = pages["notebooks/claims/prop-1"].split('class="claim-card verdict-supported"')[1]
    assert 'href="../../book/ledger.html#claim-prop-1"' in card.split("</p>")[0]
    assert ">4\n" in pages["notebooks/figures/fig"]


def test_a_page_begins_with_its_finding_and_ends_with_how_to_run_it(built_book):
    html = built_book / "_build" / "html"
    page = (html / "notebooks/claims/prop-1.html").read_text()
    lead, card, foot = (page.index(name) for name in ("sb-finding", "claim-card", "sb-foot"))
    assert lead < card < foot
    assert '<p class="sb-finding">It is a number.</p>' in page
    assert "You need nothing. Reading time: 1 minute." in words(page[lead:card])
    text = words(page[foot : page.index("</details>", foot)])
    for part in (
        "Run this page again",
        ".venv/bin/speedbook rerun prop-1 -p seed=6",
        "It ran in ",
        "1 parameter: ",
        "Parameter Value Meaning seed int of the run at least 0; default 3",
    ):
        assert part in text
    assert "supported" not in text
    assert "# of the run [0 ..]" not in page
    source = read_notebook(html / "_sources/notebooks/claims/prop-1.ipynb")
    assert code_cells(source)[0].source == "seed: int = 3  # of the run [0 ..]"
    assert source.cells[0].source.endswith("*You need* nothing.")


def built_again(root, monkeypatch, code):
    monkeypatch.chdir(root)
    return build(code=code)


def test_a_warning_fails_the_press_each_time_and_keeps_the_old_book(copy_of_built, monkeypatch):
    old = (copy_of_built / "_build/html/book/index.html").read_text()
    edit(copy_of_built / "book/index.md", "prop-1.estimate", "prop-1.estimat")
    for _ in range(2):
        said = built_again(copy_of_built, monkeypatch, 3)
        assert "no 'estimat' in the ledger" in said
        assert "index.md:3" in said
        assert (copy_of_built / "_build/html/book/index.html").read_text() == old


def test_pages_follow_ledger_and_style_and_an_unchanged_book_is_not_pressed(
    copy_of_built, monkeypatch
):
    monkeypatch.chdir(copy_of_built)
    page = copy_of_built / "_build/html/book/index.html"
    notebook = (copy_of_built / PROP).read_text()
    edit(copy_of_built / PROP, "1.001", "1.203")
    edit(copy_of_built / PROP, "(0.99, 1.01)", "(1.2, 1.21)")
    build()
    assert "It is 1.203" in page.read_text()
    assert "✗ contradicted" in page.read_text()
    # Sphinx knew nothing of the copied folder. Now it does, and could overlook the ledger.
    (copy_of_built / PROP).write_text(notebook)
    edit(copy_of_built / "book/_static/style.css", "black", "red")
    style = re.compile(r"style\.css\?[^\s\"]+")
    before = style.findall(page.read_text())
    build()
    assert "It is 1.001" in page.read_text()
    assert "red" in (copy_of_built / "_build/html/_static/style.css").read_text()
    after = style.findall(page.read_text())
    assert before and after and before != after, "a reader's browser would keep the old style"

    # Without this module, which starts Jupyter Book, to press again would be an AttributeError.
    monkeypatch.setattr(speedbook.press.jupyter_book, "subprocess", None)
    build()


def test_a_raising_notebook_names_itself_and_keeps_what_it_did(copy_of_built, monkeypatch):
    edit(copy_of_built / FIG, "print(x + 1)", "y = x; raise RuntimeError('on purpose')")
    said = built_again(copy_of_built, monkeypatch, 3)
    assert f"{FIG}: cell 3 (y = x; raise RuntimeError('on purpose'))" in said
    assert "RuntimeError: on purpose" in said
    assert f"1 of 2 notebooks failed: {FIG}" in said
    partial = copy_of_built / "_build" / "failed" / FIG
    assert "on purpose" in partial.read_text()
