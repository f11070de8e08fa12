"""The whole book as one PDF: pages as a browser prints them, with bookmarks and links.

Chromium prints one page of the book at a time and marks the places of the anchors, and finally all
solutions as one page. pypdf joins the parts and makes the links lead to these places.
"""

from __future__ import annotations

import functools
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from pypdf import PageObject, PdfReader, PdfWriter
from pypdf.generic import (
    ArrayObject,
    DecodedStreamObject,
    DictionaryObject,
    Fit,
    FloatObject,
    IndirectObject,
    NameObject,
    NullObject,
    TextStringObject,
)

from speedbook.paths import write_atomically
from tools.audit.__main__ import a_browser
from tools.publish.pages import (
    SOLUTION,
    Page,
    Solutions,
    anchors,
    destination,
    reading_order,
    solutions,
)

#: Added to the address of a page: Chromium leaves out links of a page to itself if their target
#: is not in it, as when solutions have moved.
ELSEWHERE = "?paper"
#: The anchor by which the contents name the solutions of a page.
SOLVED_HERE = "all-solutions"
#: Waits until formulas and pictures are there, and marks the anchors: Chromium notes the place of
#: an anchor only if the same page links to it.
READY = """async (anchors) => {
  // What the book says twice stands in it once.
  document.documentElement.dataset.wholeBook = "";
  await window.MathJax?.startup?.promise;
  // The scripts of the page may have asked for more formulas: these come first.
  await window.MathJax?.typesetPromise?.([]);
  await document.fonts.ready;
  await Promise.all([...document.images].map((each) => {
    each.loading = "eager";
    return each.decode().catch(() => {});
  }));
  const marks = document.createElement("div");
  marks.style.cssText = "position: absolute; top: 0; font-size: 1px; line-height: 1";
  for (const anchor of anchors) {
    if (!document.getElementById(anchor)) continue;
    const mark = document.createElement("a");
    mark.href = `#${encodeURIComponent(anchor)}`;
    mark.style.cssText = "display: inline-block; width: 1px; height: 1px";
    marks.append(mark);
  }
  document.querySelector("article").append(marks);
  // What these links name stands elsewhere now.
  for (const link of document.querySelectorAll('article a[href^="#"]')) {
    if (document.getElementById(decodeURIComponent(link.hash.slice(1)))) continue;
    link.href = location.href.split(/[?#]/)[0] + link.hash;
  }
  // The document has contents of its own.
  document.querySelector("#jb-print-toc")?.remove();
}"""
#: Takes what a selector finds out of a page.
REMOVE = "(selector) => document.querySelectorAll(selector).forEach((each) => each.remove())"
#: Replaces what a page says by all solutions, each group with its title and its anchor.
SOLUTIONS = """async ([title, groups]) => {
  const article = document.querySelector("article");
  await window.MathJax?.startup?.promise;
  await window.MathJax?.typesetPromise?.([]);
  article.replaceChildren();
  const add = (name, words) => {
    const heading = document.createElement(name);
    heading.textContent = words;
    article.append(heading);
    return heading;
  };
  add("h1", title);
  // On paper the theme displays a title of its own.
  document.querySelectorAll("h1").forEach((each) => { each.textContent = title; });
  for (const [id, words, body] of groups) {
    add("h2", words).id = id;
    article.insertAdjacentHTML("beforeend", body);
  }
  await window.MathJax?.typesetPromise?.([article]);
}"""
TITLE = "SPEED: a reproducible companion"
AUTHOR = "The SPEED companion authors"
SOLVED = "Solutions"
#: A link smaller than this many points only marks an anchor.
MARK = 2
#: A4 without the margins of print.css, in pixels.
PAPER = {"width": 673, "height": 987}
COVER = """<!doctype html><html lang="en-GB"><meta charset="utf-8"><title>{title}</title><style>
@page {{ size: A4; margin: 18mm 16mm; }}
body {{ font: 10.5pt/1.45 system-ui, sans-serif; margin: 0; }}
h1 {{ font-size: 26pt; margin: 60mm 0 4mm; }}
header {{ break-after: page; }}
h2 {{ font-size: 12pt; margin: 5mm 0 1mm; break-after: avoid; }}
a {{ display: flex; gap: 2mm; color: inherit; text-decoration: none; }}
a span {{ flex: 1; border-bottom: 1px dotted #999; margin-bottom: .3em; }}
</style><article><header><h1>{title}</h1><p>{about}</p></header>{lines}</article></html>"""


#: The number of a sheet, from 0 on, and a height on it (None: the top).
Place = tuple[int, float | None]


@dataclass(frozen=True)
class Part:
    """The printed sheets of one page of the book, or of the solutions of all pages."""

    page: Page
    printed: bytes
    solved: Sequence[Solutions] = ()

    @functools.cached_property
    def reader(self) -> PdfReader:
        """The part, to be read."""
        return PdfReader(io.BytesIO(self.printed))

    @functools.cached_property
    def own(self) -> dict[str, Place]:
        """The places of the anchors in this part, from its first sheet on."""
        found: dict[str, Place] = {}
        for key, where in self.reader.named_destinations.items():
            number = self.reader.get_destination_page_number(where)
            if number is not None:
                found[unquote(str(key).lstrip("/"))] = (number, _height(where.top))
        return found

    @property
    def group(self) -> str:
        """The bookmark and the heading below which it stands."""
        return SOLVED if self.solved else self.page.part

    @property
    def entries(self) -> list[tuple[Page, str, Place]]:
        """What contents and bookmarks list: pages, anchors and places from the first sheet on."""
        if not self.solved:
            return [(self.page, "", (0, None))]
        return [
            (each.page, SOLVED_HERE, self.own.get(solved_id(number), (0, None)))
            for number, each in enumerate(self.solved)
        ]


def solved_id(number: int) -> str:
    """Return the anchor of a group of solutions on their common page."""
    return f"{SOLVED_HERE}-{number}"


def make_pdf(html: Path, out: Path, about: str, tell: Callable[[int, int, str], None]) -> int:
    """Write the book as a PDF; return the number of its sheets.

    Parameters
    ----------
    html : Path
        The built book.
    out : Path
        The file; it appears only when it is whole.
    about : str
        The line below the title: the version and the commit.
    tell : callable
        Called with three values: how many pages are printed, how many there are, and a title.

    Raises
    ------
    RuntimeError
        If there is no book or no browser.
    """
    html = html.resolve()
    pages = reading_order(html)
    with a_browser() as browser:
        window = browser.new_page(viewport=PAPER, color_scheme="light")
        # The page fits its formulas to the column that it sees.
        window.emulate_media(media="print")
        parts = list(printed_parts(window, html, pages, tell))

        window.goto("about:blank")

        def front(first: int) -> bytes:
            window.set_content(contents(parts, html, about, first))
            return window.pdf(prefer_css_page_size=True, print_background=True)

        # The length of the contents does not depend on the numbers in them.
        length = len(PdfReader(io.BytesIO(front(0))).pages)
        cover = Part(Page("", "Contents", 1, ""), front(length))
    writer = join([cover, *parts], html)
    writer.add_metadata({"/Title": TITLE, "/Subject": about, "/Author": AUTHOR})
    whole = io.BytesIO()
    writer.write(whole)
    write_atomically(out, whole.getvalue())
    return len(writer.pages)


def printed_parts(
    window: Any, html: Path, pages: Sequence[Page], tell: Callable[[int, int, str], None]
) -> Iterator[Part]:
    """Print each page of the book without its folded solutions, and then all solutions."""
    wanted = anchors(html, pages)
    for number, page in enumerate(pages):
        tell(number, len(pages), page.title)
        window.goto((html / page.name).as_uri() + ELSEWHERE, wait_until="load")
        window.evaluate(REMOVE, SOLUTION)
        window.evaluate(READY, sorted(wanted.get(page.name, ())))
        yield Part(page, window.pdf(prefer_css_page_size=True, print_background=True))
    tell(len(pages), len(pages), SOLVED)
    if solved := solutions(html, pages):
        groups = [
            (solved_id(number), each.page.title, each.body) for number, each in enumerate(solved)
        ]
        marked = {id for id, _, _ in groups}.union(
            *(each.anchors & wanted.get(each.page.name, set()) for each in solved)
        )
        # The first of the pages lends its styles.
        window.goto((html / solved[0].page.name).as_uri() + ELSEWHERE, wait_until="load")
        window.evaluate(SOLUTIONS, [SOLVED, groups])
        window.evaluate(READY, sorted(marked))
        printed = window.pdf(prefer_css_page_size=True, print_background=True)
        yield Part(Page("", SOLVED, 1, ""), printed, solved)


def contents(parts: Sequence[Part], html: Path, about: str, first: int) -> str:
    """Return the title and the contents as a page; its links lead to pages of the book."""
    lines, chapter = [], None
    for part in parts:
        if part.group != chapter:
            lines.append(f"<h2>{escape(part.group)}</h2>" if part.group else "")
            chapter = part.group
        for page, anchor, (sheet, _) in part.entries:
            address = escape((html / page.name).as_uri() + f"#{anchor}" * bool(anchor))
            indent = 0 if part.solved else 5 * (page.level - 1)
            lines.append(
                f'<a href="{address}" style="margin-left: {indent}mm">{escape(page.title)}'
                f"<span></span>{first + sheet + 1}</a>"
            )
        first += len(part.reader.pages)
    return COVER.format(title=escape(TITLE), about=escape(about), lines="".join(lines))


def join(parts: Sequence[Part], html: Path) -> PdfWriter:
    """Return one document with bookmarks, numbers and links that lead to its own sheets."""
    writer = PdfWriter()
    places: dict[tuple[str, str], Place] = {}
    owners: list[tuple[str, dict[str, Place]]] = []
    above: list[Any] = []
    chapter = ""
    for part in parts:
        first = len(writer.pages)
        own = {key: (first + number, top) for key, (number, top) in part.own.items()}
        places |= {(part.page.name, key): place for key, place in own.items()}
        for each in part.solved:
            places |= {(each.page.name, key): own[key] for key in each.anchors & own.keys()}
        for sheet in part.reader.pages:
            writer.add_page(sheet)
            owners.append((part.page.name, own))
        if part.group != chapter:
            above = [_bookmark(writer, part.group, (first, None), None)] if part.group else []
            chapter = part.group
        for page, anchor, (number, top) in part.entries:
            place = (first + number, top)
            places[page.name, anchor] = place
            del above[bool(part.group) + (0 if part.solved else page.level - 1) :]
            above.append(_bookmark(writer, page.title, place, above[-1] if above else None))
    marks = SheetNumbers(writer)
    for number, sheet in enumerate(writer.pages):
        name, own = owners[number]
        redirect(writer, sheet, html, name, own, places)
        marks.put(sheet, number + 1)
    # A reader shows the title and the bookmarks, and a reading voice speaks the right language.
    writer.root_object[NameObject("/Lang")] = TextStringObject("en-GB")
    writer.page_mode = "/UseOutlines"
    writer.create_viewer_preferences().display_doctitle = True
    # Pages of the book share fonts and pictures. What refers to equal things is equal only when
    # these are one: a picture to its colours, a font to its letters.
    left = None
    while left != (left := sum(each is not None for each in writer._objects)):
        writer.compress_identical_objects(remove_duplicates=True, remove_unreferenced=True)
    return writer


def _bookmark(writer: PdfWriter, title: str, place: Place, parent: Any) -> Any:
    number, top = place
    return writer.add_outline_item(
        title=title,
        page_number=number,
        parent=parent,
        fit=Fit.fit() if top is None else Fit.xyz(top=top),
        is_open=False,
    )


def redirect(
    writer: PdfWriter,
    sheet: PageObject,
    html: Path,
    name: str,
    own: Mapping[str, Place],
    places: Mapping[tuple[str, str], Place],
) -> None:
    """Make the links of a sheet lead to sheets of this document if their targets are in it."""
    kept = ArrayObject()
    for reference in sheet.get("/Annots", ArrayObject()):
        note = reference.get_object()
        left, low, right, high = map(float, note["/Rect"])
        if max(right - left, high - low) < MARK:
            continue
        action = note.get("/A", DictionaryObject()).get_object()
        place: Place | None = None
        inside = False
        if "/Dest" in note or action.get("/S") == "/GoTo":
            named = note.get("/Dest", action.get("/D"))
            inside = True
            if isinstance(named, str):
                key = unquote(named.lstrip("/"))
                place = own.get(key) or places.get((name, key))
        elif "/URI" in action:
            target = destination(str(action["/URI"]), html)
            if target is not None:
                inside = True
                place = places.get(target) or places.get((target[0], ""))
        if place is not None:
            number, top = place
            note.pop("/A", None)
            note[NameObject("/Dest")] = ArrayObject(
                [
                    writer.pages[number].indirect_reference,
                    NameObject("/XYZ"),
                    NullObject(),
                    NullObject() if top is None else FloatObject(top),
                    NullObject(),
                ]
            )
        if place is not None or not inside:
            kept.append(reference)
    sheet[NameObject("/Annots")] = kept


class SheetNumbers:
    """Puts the numbers of the sheets below their text; what Chromium wrote stays as it is."""

    def __init__(self, writer: PdfWriter) -> None:
        self.writer = writer
        font = {"/Type": "/Font", "/Subtype": "/Type1", "/BaseFont": "/Helvetica"}
        self.font = writer._add_object(
            DictionaryObject({NameObject(key): NameObject(name) for key, name in font.items()})
        )
        # The number must not inherit the scale of the text.
        self.before = self._stream("q")

    def put(self, sheet: PageObject, number: int) -> None:
        """Put a number on a sheet."""
        middle = float(sheet.mediabox.width) / 2 - 2.2 * len(str(number))
        after = self._stream(f"Q BT /Number 8 Tf {middle:.1f} 24 Td ({number}) Tj ET")
        text = sheet.raw_get("/Contents")
        parts = text if isinstance(text, ArrayObject) else [text]
        sheet[NameObject("/Contents")] = ArrayObject([self.before, *parts, after])
        # Sheets may share what they use.
        resources = DictionaryObject(sheet["/Resources"].get_object())
        fonts = DictionaryObject(resources.get("/Font", DictionaryObject()).get_object())
        fonts[NameObject("/Number")] = self.font
        resources[NameObject("/Font")] = fonts
        sheet[NameObject("/Resources")] = resources

    def _stream(self, text: str) -> IndirectObject:
        stream = DecodedStreamObject()
        stream.set_data(text.encode())
        return self.writer._add_object(stream)


def _height(top: Any) -> float | None:
    return None if isinstance(top, NullObject) or top is None else float(top)
