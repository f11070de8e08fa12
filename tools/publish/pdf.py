"""The whole book as one PDF: pages as a browser prints them, with bookmarks and links.

Chromium prints one page of the book at a time and marks the places of the anchors. pypdf joins the
parts and makes the links lead to these places.
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
    FloatObject,
    NameObject,
    NullObject,
)

from speedbook.paths import write_atomically
from tools.audit.__main__ import a_browser
from tools.publish.pages import Page, anchors, destination, reading_order

#: The anchor by which the contents name the solutions of a page.
SOLUTION = "#all-solutions"
#: Waits until formulas and pictures are there, and marks the anchors: Chromium notes the place of
#: an anchor only if the same page links to it.
READY = """async (anchors) => {
  await window.MathJax?.startup?.promise;
  await document.fonts.ready;
  await Promise.all([...document.images].map((each) => {
    each.loading = "eager";
    return each.decode().catch(() => {});
  }));
  const marks = document.createElement("div");
  marks.style.cssText = "position: absolute; top: 0; font-size: 1px; opacity: 0.01";
  for (const anchor of anchors) {
    if (!document.getElementById(anchor)) continue;
    const mark = document.createElement("a");
    mark.href = `#${encodeURIComponent(anchor)}`;
    mark.textContent = ".";
    mark.style.textDecoration = "none";
    marks.append(mark);
  }
  document.querySelector("article").append(marks);
  // The document has contents of its own.
  document.querySelector("#jb-print-toc")?.remove();
}"""
#: Takes the folded solutions out of a page, or leaves nothing but them; returns their number.
SOLUTIONS = """(only) => {
  const article = document.querySelector("article");
  const found = [...article.querySelectorAll(".solution")];
  if (!only) {
    found.forEach((each) => each.remove());
  } else if (found.length) {
    const heading = document.createElement("h1");
    heading.textContent = only;
    article.replaceChildren(heading, ...found);
  }
  return found.length;
}"""
TITLE = "SPEED: a reproducible companion"
SOLVED = "Solutions"
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


@dataclass(frozen=True)
class Part:
    """The printed sheets of one page of the book, or of the page's solutions."""

    page: Page
    printed: bytes
    solutions: bool = False

    @property
    def title(self) -> str:
        """What bookmarks and contents call it."""
        return self.page.title

    @functools.cached_property
    def reader(self) -> PdfReader:
        """The part, to be read."""
        return PdfReader(io.BytesIO(self.printed))


#: The number of a sheet, from 0 on, and a height on it (None: the top).
Place = tuple[int, float | None]


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

        def front(first: int) -> bytes:
            window.set_content(contents(parts, html, about, first))
            return window.pdf(prefer_css_page_size=True, print_background=True)

        # The length of the contents does not depend on the numbers in them.
        length = len(PdfReader(io.BytesIO(front(0))).pages)
        cover = Part(Page("", "Contents", 1, ""), front(length))
    writer = join([cover, *parts], html)
    writer.add_metadata({"/Title": TITLE, "/Subject": about})
    whole = io.BytesIO()
    writer.write(whole)
    write_atomically(out, whole.getvalue())
    return len(writer.pages)


def printed_parts(
    window: Any, html: Path, pages: Sequence[Page], tell: Callable[[int, int, str], None]
) -> Iterator[Part]:
    """Print each page of the book without its folded solutions, and then all solutions."""
    wanted, solved = anchors(html, pages), []
    for number, page in enumerate(pages):
        tell(number, len(pages), page.title)
        for solutions in (False, True):
            window.goto((html / page.name).as_uri(), wait_until="load")
            window.evaluate(READY, sorted(wanted.get(page.name, ())))
            count = window.evaluate(SOLUTIONS, page.title if solutions else None)
            printed = window.pdf(prefer_css_page_size=True, print_background=True)
            if not solutions:
                yield Part(page, printed)
            else:
                solved.append(Part(page, printed, solutions=True))
            if not count:
                break
    tell(len(pages), len(pages), SOLVED)
    yield from solved


def contents(parts: Sequence[Part], html: Path, about: str, first: int) -> str:
    """Return the title and the contents as a page; its links lead to pages of the book."""
    lines, chapter = [], None
    for part in parts:
        name = SOLVED if part.solutions else part.page.part
        if name != chapter:
            lines.append(f"<h2>{escape(name)}</h2>" if name else "")
            chapter = name
        address = escape((html / part.page.name).as_uri() + SOLUTION * part.solutions)
        indent = 0 if part.solutions else 5 * (part.page.level - 1)
        lines.append(
            f'<a href="{address}" style="margin-left: {indent}mm">{escape(part.title)}'
            f"<span></span>{first + 1}</a>"
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
        first, own = len(writer.pages), {}
        for key, where in part.reader.named_destinations.items():
            number = part.reader.get_destination_page_number(where)
            if number is not None:
                own[unquote(str(key).lstrip("/"))] = (first + number, _height(where.top))
        name = part.page.name
        if part.solutions:
            places[name, SOLUTION[1:]] = (first, None)
        else:
            places[name, ""] = (first, None)
            places |= {(name, key): place for key, place in own.items()}
        for sheet in part.reader.pages:
            writer.add_page(sheet)
            owners.append((name, own))
        group = SOLVED if part.solutions else part.page.part
        if group != chapter:
            above = (
                [writer.add_outline_item(title=group, page_number=first, is_open=False)]
                if group
                else []
            )
            chapter = group
        depth = bool(group) + (0 if part.solutions else part.page.level - 1)
        del above[depth:]
        above.append(
            writer.add_outline_item(
                title=part.title,
                page_number=first,
                parent=above[-1] if above else None,
                is_open=False,
            )
        )
    for number, sheet in enumerate(writer.pages):
        own_name, own = owners[number]
        redirect(writer, sheet, html, own_name, own, places)
        put_number(writer, sheet, number + 1)
    return writer


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


def put_number(writer: PdfWriter, sheet: PageObject, number: int) -> None:
    """Put the number of a sheet below its text."""
    over = PageObject.create_blank_page(width=sheet.mediabox.width, height=sheet.mediabox.height)
    font = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type1"),
            NameObject("/BaseFont"): NameObject("/Helvetica"),
        }
    )
    over[NameObject("/Resources")] = DictionaryObject(
        {NameObject("/Font"): DictionaryObject({NameObject("/Number"): font})}
    )
    stream = DecodedStreamObject()
    middle = float(sheet.mediabox.width) / 2 - 2.2 * len(str(number))
    stream.set_data(f"BT /Number 8 Tf {middle:.1f} 24 Td ({number}) Tj ET".encode())
    over[NameObject("/Contents")] = stream
    sheet.merge_page(over)


def _height(top: Any) -> float | None:
    return None if isinstance(top, NullObject) or top is None else float(top)
