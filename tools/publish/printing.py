"""The pages of the book as Chromium prints them.

Chromium prints one page of the book at a time and marks the places of the anchors, and finally all
solutions as one page.
"""

from __future__ import annotations

import functools
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from pypdf import PdfReader
from pypdf.generic import NullObject

from tools.publish.pages import SOLUTION, Page, Solutions, anchors, solutions

TITLE = "SPEED: a reproducible companion"
SOLVED = "Solutions"
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
    // Links within drawings have no property "hash".
    const hash = link.getAttribute("href");
    if (document.getElementById(decodeURIComponent(hash.slice(1)))) continue;
    link.setAttribute("href", location.href.split(/[?#]/)[0] + hash);
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
        yield Part(page, print_page(window))
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
        printed = print_page(window)
        yield Part(Page("", SOLVED, 1, ""), printed, solved)


def print_page(window: Any) -> bytes:
    """Return the page that a window displays as a PDF, of A4 unless its styles set a size."""
    return bytes(window.pdf(format="A4", prefer_css_page_size=True, print_background=True))


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


def _height(top: Any) -> float | None:
    return None if isinstance(top, NullObject) or top is None else float(top)
