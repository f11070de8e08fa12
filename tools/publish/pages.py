"""The pages of the built book in reading order, and the targets of their links."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urljoin, urlparse
from urllib.request import url2pathname

from bs4 import BeautifulSoup, Tag

#: A folded answer to an exercise.
SOLUTION = "div.solution"


@dataclass(frozen=True)
class Page:
    """A page of the book: its path from the book's folder, its title, its depth, its part."""

    name: str
    title: str
    level: int
    part: str


def reading_order(html: Path) -> list[Page]:
    """Return all pages that the first page lists, in the order of the contents.

    Raises
    ------
    RuntimeError
        If there is no built book.
    """
    if not (html / "index.html").is_file():
        raise RuntimeError(f"there is no book in {html}: `make book` builds it")
    # The address without a name leads on to the first page.
    lead = BeautifulSoup((html / "index.html").read_text(encoding="utf-8"), "html.parser")
    refresh = lead.select_one("meta[http-equiv=refresh i]")
    first = "index.html" if refresh is None else str(refresh["content"]).partition("url=")[2]
    soup = BeautifulSoup((html / first).read_text(encoding="utf-8"), "html.parser")
    menu = soup.select_one("nav.bd-links")
    if menu is None:
        raise RuntimeError(f"{html / first} has no list of pages: `make book` builds it again")
    title = str(soup.title.string) if soup.title else first
    found = [Page(first, title.partition(" \N{EM DASH} ")[0], 1, "")]
    part = ""
    for each in menu.select("p.caption, a.reference.internal"):
        if each.name == "p":
            part = _words(each)
            continue
        target = unquote(str(each["href"]).partition("#")[0])
        if not target:  # The page itself.
            continue
        path = (html / first).parent / target
        name = Path(os.path.normpath(path)).relative_to(html).as_posix()
        depth = sum(parent.name == "li" for parent in each.parents)
        found.append(Page(name, _words(each), depth, part))
    return [page for number, page in enumerate(found) if page not in found[:number]]


def _words(tag: Tag) -> str:
    return " ".join(tag.get_text().split())


def destination(url: str, html: Path) -> tuple[str, str] | None:
    """Return the page of the book and the anchor to which an address leads, or None."""
    parts = urlparse(url)
    if parts.scheme != "file":
        return None
    path = Path(url2pathname(parts.path))
    if not path.is_relative_to(html):
        return None
    return path.relative_to(html).as_posix(), unquote(parts.fragment)


def anchors(html: Path, pages: Iterable[Page]) -> Mapping[str, set[str]]:
    """Return the anchors of each page to which some page of the book links."""
    wanted: dict[str, set[str]] = {}
    for page in pages:
        path = html / page.name
        soup = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        for link in soup.select("article a[href]"):
            target, _, anchor = str(link["href"]).partition("#")
            if anchor and not urlparse(target).scheme:
                other = (path.parent / unquote(target)).resolve() if target else path.resolve()
                if other.is_relative_to(html):
                    wanted.setdefault(other.relative_to(html).as_posix(), set()).add(
                        unquote(anchor)
                    )
    return wanted


@dataclass(frozen=True)
class Solutions:
    """The solutions of a page: HTML whose addresses are complete, and the anchors in it."""

    page: Page
    body: str
    anchors: frozenset[str]


def solutions(html: Path, pages: Iterable[Page]) -> list[Solutions]:
    """Return the solutions of each page that has some, before any script has changed them."""
    found = []
    for page in pages:
        path = html / page.name
        soup = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        parts = soup.select(f"article {SOLUTION}")
        ids: set[str] = set()
        for part in parts:
            for tag in [part, *part.find_all(True)]:
                ids |= {str(tag["id"])} if "id" in tag.attrs else set()
                for name in ("href", "src"):
                    if name in tag.attrs:
                        tag[name] = urljoin(path.as_uri(), str(tag[name]))
        if parts:
            found.append(Solutions(page, "".join(map(str, parts)), frozenset(ids)))
    return found
