"""How pages are cited: the references agree with CITATION.cff and with the bibliography."""

from __future__ import annotations

import re

import pytest
import yaml
from pybtex.database import parse_file, parse_string

import speedlib
from speedbook.press.citation import page_reference, paper_reference, read_citation
from speedbook.press.sphinx.page_foot import citation_box, filled

from .helpers import ROOT

PAGE, TITLE = "notebooks/claims/prop-1-mse", "95 % & more: Elfving’s é_1"
BUILD = {"commit": "0123456789abcdef" * 2, "changed": False, "year": 2031}
ABOUT = read_citation(ROOT)


def test_a_page_is_cited_with_title_book_version_commit_and_year():
    text, bibtex = page_reference(ABOUT, PAGE, TITLE, BUILD)
    assert text == (
        f"The SPEED companion authors. {TITLE}. In {ABOUT['title']}, 2031. "
        f"Version {speedlib.__version__}, commit 0123456789ab."
    )
    ((key, entry),) = parse_string(bibtex, "bibtex").entries.items()
    assert (key, entry.type) == ("speed-companion-claims-prop-1-mse", "misc")
    assert entry.fields["year"] == "2031"
    assert entry.fields["howpublished"] == f"In {{{ABOUT['title']}}}"
    assert entry.fields["title"] == r"{95 \% \& more: Elfving’s é\_1}", "as LaTeX needs it"
    assert entry.fields["note"] == f"Version {speedlib.__version__}, commit 0123456789ab"


def test_changes_are_told_and_without_git_there_is_neither_commit_nor_year():
    text, _ = page_reference(ABOUT, PAGE, TITLE, {**BUILD, "changed": True})
    assert text.endswith("commit 0123456789ab with uncommitted changes.")
    none = {"commit": None, "changed": None, "year": None}
    unreleased = {name: value for name, value in ABOUT.items() if name != "date-released"}
    text, bibtex = page_reference(unreleased, PAGE, TITLE, none)
    assert text.endswith(f"{ABOUT['title']}. Version {speedlib.__version__}.")
    assert "year" not in bibtex
    released = {**ABOUT, "date-released": yaml.safe_load("2032-05-01")}
    assert 'year = "2032"' in page_reference(released, PAGE, TITLE, none).bibtex


def test_the_paper_is_cited_as_in_the_bibliography():
    text, bibtex = paper_reference(ABOUT)
    known = parse_file(str(ROOT / "book" / "references.bib")).entries["mukherjee2024speed"]
    ((key, entry),) = parse_string(bibtex, "bibtex").entries.items()
    assert (key, entry.type, entry.persons) == (known.key, known.type, known.persons)

    def plain(fields):
        return {name: re.sub("[{}]", "", value) for name, value in fields.items()}

    assert plain(entry.fields) == plain(known.fields)
    assert text.startswith("Subhojyoti Mukherjee, Qiaomin Xie, Josiah P. Hanna, and Robert Nowak. ")


def test_a_file_that_cannot_be_cited_from_is_named(tmp_path):
    assert read_citation(tmp_path) is None
    for content in ("title: A\nauthors: []\n", "- a", "title: [\n"):
        (tmp_path / "CITATION.cff").write_text(content)
        with pytest.raises(ValueError, match=r"CITATION\.cff: cannot be cited from"):
            read_citation(tmp_path)


def test_the_box_replaces_an_older_one_and_keeps_what_is_around():
    page = "<p>a</p><!-- citation --><!-- end of citation --><p>b</p>"
    old, new = (
        citation_box(page_reference(ABOUT, PAGE, r"<b> \1", {**BUILD, "year": year}))
        for year in (2031, 2032)
    )
    once = filled(page, new)
    assert filled(filled(page, old), new) == once
    assert once.startswith("<p>a</p>") and once.endswith("<p>b</p>")
    assert r"&lt;b&gt; \1" in once and "2031" not in once
    assert filled("<p>no place</p>", new) == "<p>no place</p>"
