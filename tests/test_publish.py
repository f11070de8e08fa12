"""The book as one file: the archive opens from disk, and links of the PDF lead to its sheets."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from pypdf import PdfReader

from tools.audit.__main__ import PROGRAMS
from tools.publish.archive import TOP, make_zip
from tools.publish.pages import anchors, destination, reading_order, solutions
from tools.publish.pdf import TITLE, make_pdf

ROOT = Path(__file__).parents[1]
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8">
<title>{title} — A book</title><style>@page {{ margin: 2cm }}
.new {{ break-before: page }} @media print {{ nav {{ display: none }} }}</style></head><body>
<nav class="bd-links"><a class="reference internal" href="#">First</a>
<p class="caption">A part</p><ul><li><a class="reference internal" href="{up}sub/second.html">Second
page</a><ul><li><a class="reference internal" href="{up}third.html">Third</a></li></ul></li></ul>
</nav><article>{body}</article></body></html>"""
BODIES = {
    "first.html": '<h1>First</h1><a href="sub/second.html#far">far</a> '
    '<a href="https://example.org/">out</a> <a href="gone.html">gone</a>',
    "sub/second.html": "<h1>Second</h1><h2 class='new'>Near</h2><h2 class='new' id='far'>Far</h2>"
    '<svg width="9" height="9"><a href="#answer"><text y="9">x</text></a></svg>'
    '<div class="solution" id="answer"><p>The answer is forty-two.</p><a href="#far">far</a></div>',
    "third.html": '<h1>Third</h1><a href="first.html">back</a>'
    '<h2 class="new" id="there">There</h2><h2 class="new">Link</h2><a href="#there">there</a>'
    '<div class="solution"><p>Say <a href="sub/second.html">friend</a>.</p></div>',
}
needs_browser = pytest.mark.skipif(
    not any(map(shutil.which, PROGRAMS)), reason="there is no Chromium"
)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A book of three pages, whose first page is not called index."""
    html = tmp_path / "a book"
    (html / "sub").mkdir(parents=True)
    (html / "index.html").write_text('<meta http-equiv="refresh" content="0; url=first.html">')
    for name, body in BODIES.items():
        up = "../" * name.count("/")
        title = body.partition("</h1>")[0].removeprefix("<h1>")
        (html / name).write_text(PAGE.format(title=title, up=up, body=body), encoding="utf-8")
    return html


def test_pages_are_in_the_order_of_the_contents(book: Path) -> None:
    pages = reading_order(book)
    assert [(page.name, page.title, page.level, page.part) for page in pages] == [
        ("first.html", "First", 1, ""),
        ("sub/second.html", "Second page", 1, "A part"),
        ("third.html", "Third", 2, "A part"),
    ]
    assert anchors(book, pages) == {"sub/second.html": {"far", "answer"}, "third.html": {"there"}}


def test_solutions_name_their_targets_wherever_they_stand(book: Path) -> None:
    second, third = solutions(book, reading_order(book))
    assert (second.page.name, second.anchors) == ("sub/second.html", {"answer"})
    assert f'href="{(book / "sub" / "second.html").as_uri()}#far"' in second.body
    assert f'href="{(book / "sub" / "second.html").as_uri()}"' in third.body


def test_addresses_lead_to_pages_of_this_book_only(book: Path) -> None:
    assert destination((book / "third.html").as_uri() + "#a%20b", book) == ("third.html", "a b")
    assert destination(book.parent.as_uri() + "/other.html", book) is None
    assert destination("https://example.org/third.html", book) is None


def test_an_archive_holds_every_file_and_is_the_same_each_time(book: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "book.zip"
    assert make_zip(book, out) == 5
    with zipfile.ZipFile(out) as archive:
        assert archive.testzip() is None
        archive.extractall(tmp_path / "unpacked")
    for name in BODIES:
        assert (tmp_path / "unpacked" / TOP / name).read_bytes() == (book / name).read_bytes()
    first = out.read_bytes()
    make_zip(book, out)
    assert out.read_bytes() == first
    assert [path.name for path in out.parent.iterdir()] == ["book.zip"]


def test_without_a_book_nothing_is_written(tmp_path: Path) -> None:
    out = tmp_path / "out" / "book.zip"
    command = [sys.executable, "-m", "tools.publish", "zip", "--html", str(tmp_path), "--out"]
    done = subprocess.run([*command, str(out)], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == f"publish: there is no book in {tmp_path}: `make book` builds it\n"
    assert not out.exists()


@needs_browser
@pytest.mark.slow
def test_links_of_the_document_lead_to_its_own_sheets(book: Path, tmp_path: Path) -> None:
    out, seen = tmp_path / "book.pdf", []
    assert make_pdf(book, out, "Version 1", lambda *step: seen.append(step[:2])) == 10
    assert seen == [(0, 3), (1, 3), (2, 3), (3, 3)]
    reader = PdfReader(out)
    texts = [sheet.extract_text() for sheet in reader.pages]
    # Title, contents, one page, three, three, and all solutions on one.
    assert [number for number, text in enumerate(texts) if "forty-two" in text] == [9]
    assert [number for number, text in enumerate(texts) if "friend" in text] == [9]
    assert all(text.split()[-1] == str(number + 1) for number, text in enumerate(texts))
    assert outline(reader, reader.outline) == [
        ("Contents", 0, []),
        ("First", 2, []),
        ("A part", 3, [("Second page", 3, [("Third", 6, [])])]),
        ("Solutions", 9, [("Second page", 9, []), ("Third", 9, [])]),
    ]
    # First, to the anchor on another page; Third, back and to its own anchor.
    assert targets(reader, 2) == [5, "https://example.org/"]
    assert targets(reader, 6) == [2]
    assert targets(reader, 8) == [7]
    assert targets(reader, 1) == [2, 3, 6, 9, 9]
    # An exercise and its solution lead to each other.
    assert targets(reader, 5) == [9]
    assert targets(reader, 9) == [5, 3]
    assert b"file:" not in out.read_bytes()


@needs_browser
@pytest.mark.slow
def test_the_document_is_small_and_says_what_it_is(book: Path, tmp_path: Path) -> None:
    # The same picture on two pages, of noise, which no compression makes small.
    noise = np.random.default_rng(20240501).integers(256, size=(300, 300), dtype=np.uint8)
    Image.fromarray(noise).save(book / "noise.png")
    for name in ("first.html", "third.html"):
        page = (book / name).read_text(encoding="utf-8")
        shown = page.replace("</article>", '<img src="noise.png"></article>')
        (book / name).write_text(shown, encoding="utf-8")
    out = tmp_path / "book.pdf"
    make_pdf(book, out, "Version 1", lambda *_: None)
    reader = PdfReader(out)
    pictures = [image.indirect_reference for sheet in reader.pages for image in sheet.images]
    assert len(pictures) == 2
    assert len(set(pictures)) == 1
    for sheet in reader.pages:
        # Compressed, but for the number, a line.
        texts = [each.get_object() for each in sheet.get("/Contents", [])]
        assert all("/Filter" in each or len(each.get_data()) < 80 for each in texts)
    for sheet in reader.pages:  # A4, which the browser rounds to its own pixels
        assert [float(side) for side in sheet.mediabox[2:]] == pytest.approx([595, 842], abs=1.5)
    root = reader.root_object
    assert reader.metadata is not None
    assert (reader.metadata.title, reader.metadata.subject) == (TITLE, "Version 1")
    assert (root["/Lang"], root["/PageMode"]) == ("en-GB", "/UseOutlines")
    assert root["/ViewerPreferences"]["/DisplayDocTitle"]
    # A link leads somewhere else, and has a size to be pressed.
    for sheet in reader.pages:
        for reference in sheet.get("/Annots", []):
            left, low, right, high = map(float, reference.get_object()["/Rect"])
            assert max(right - left, high - low) > 2


def outline(reader: PdfReader, items: list) -> list:  # type: ignore[type-arg]
    """Return title, number of the sheet and what is below, of each bookmark."""
    found: list[tuple[str, int | None, list]] = []  # type: ignore[type-arg]
    for item in items:
        if isinstance(item, list):
            found[-1][2].extend(outline(reader, item))
        else:
            found.append((item.title, reader.get_destination_page_number(item), []))
    return found


def targets(reader: PdfReader, number: int) -> list[int | str]:
    """Return the sheets and addresses to which the links of a sheet lead."""
    sheets = [sheet.indirect_reference for sheet in reader.pages]
    found: list[int | str] = []
    for reference in reader.pages[number].get("/Annots", []):
        note = reference.get_object()
        found.append(sheets.index(note["/Dest"][0]) if "/Dest" in note else note["/A"]["/URI"])
    return found


@needs_browser
@pytest.mark.slow
def test_a_browser_that_fails_is_named(book: Path, tmp_path: Path) -> None:
    page = (book / "third.html").read_text(encoding="utf-8")
    (book / "third.html").write_text(page.replace("article>", "div>"), encoding="utf-8")
    out = tmp_path / "book.pdf"
    with pytest.raises(RuntimeError, match="the browser failed: "):
        make_pdf(book, out, "Version 1", lambda *_: None)
    assert not out.exists()
