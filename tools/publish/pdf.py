"""The whole book as one PDF, with bookmarks and links.

pypdf joins what Chromium has printed (printing.py), and makes the links lead to sheets of the
document.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from playwright.sync_api import Error as BrowserError
from pypdf import PageObject, PdfReader, PdfWriter
from pypdf.generic import (
    ArrayObject,
    BooleanObject,
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
from tools.publish.pages import Page, destination, reading_order
from tools.publish.printing import PAPER, TITLE, Part, Place, contents, print_page, printed_parts

AUTHOR = "The SPEED companion authors"
#: A link smaller than this many points only marks an anchor.
MARK = 2
#: How long a page may take to load, in milliseconds: five minutes on a machine that is busy.
PATIENCE = 300_000


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
        If there is no book or no browser, or if the browser fails.
    """
    html = html.resolve()
    try:
        parts = whole_book(html, about, tell)
    except BrowserError as error:
        raise RuntimeError(f"the browser failed: {str(error).splitlines()[0]}") from error
    writer = join(parts, html)
    writer.add_metadata({"/Title": TITLE, "/Subject": about, "/Author": AUTHOR})
    whole = io.BytesIO()
    writer.write(whole)
    write_atomically(out, whole.getvalue())
    return len(writer.pages)


def whole_book(html: Path, about: str, tell: Callable[[int, int, str], None]) -> list[Part]:
    """Print title and contents, the pages, and the solutions."""
    pages = reading_order(html)
    with a_browser() as browser:
        window = browser.new_page(viewport=PAPER, color_scheme="light")
        window.set_default_timeout(PATIENCE)
        # The page fits its formulas to the column that it sees.
        window.emulate_media(media="print")
        parts = list(printed_parts(window, html, pages, tell))
        # At the address of a page, links to it would be links within it.
        window.goto("about:blank")

        def front(first: int) -> bytes:
            window.set_content(contents(parts, html, about, first))
            return print_page(window)

        # The length of the contents does not depend on the numbers in them.
        length = len(PdfReader(io.BytesIO(front(0))).pages)
        return [Part(Page("", "Contents", 1, ""), front(length)), *parts]


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
    preferences = writer.create_viewer_preferences()
    preferences[NameObject("/DisplayDocTitle")] = BooleanObject(True)
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
        shared: Any = sheet["/Resources"].get_object()
        resources = DictionaryObject(shared)
        fonts = DictionaryObject(shared["/Font"].get_object() if "/Font" in shared else {})
        fonts[NameObject("/Number")] = self.font
        resources[NameObject("/Font")] = fonts
        sheet[NameObject("/Resources")] = resources

    def _stream(self, text: str) -> IndirectObject:
        stream = DecodedStreamObject()
        stream.set_data(text.encode())
        return self.writer._add_object(stream)
