"""The form of one page, measured in a browser; `TARGETS` holds the targets.

The page is opened from disk. `tests/browser/test_pages.py` uses the same functions as
``make audit``.
"""

from __future__ import annotations

import functools
import gzip
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse
from urllib.request import url2pathname

HERE = Path(__file__).parent
AXE = HERE / "vendor" / "axe-core" / "axe.min.js"

DESK = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}
#: The views of a page by name: the window, and whether the reader prefers a dark page.
LOOKS: dict[str, tuple[dict[str, int], str]] = {
    "light": (DESK, "light"),
    "dark": (DESK, "dark"),
    "phone": (PHONE, "light"),
}
#: The least size in pixels of a picture, and of a picture that needs a caption.
LEAST = {"picture": 150, "captioned": 250}
#: Milliseconds after which a page has begun to change its colours.
FADED = 300
#: Finishes all fading of colours, however slow the machine is.
FADE = """() => document.getAnimations().forEach((each) => {
  try { each.finish(); } catch { each.cancel(); }
})"""


@dataclass(frozen=True)
class Targets:
    """The targets for a page on a desktop, 1440 pixels wide."""

    #: Bytes, gzipped, of everything that the first view loads.
    weight: int = 1_000_000
    #: The first picture begins within this number of screens.
    screens: float = 1.0
    #: Characters a line of every long paragraph, least and most.
    line: tuple[int, int] = (65, 75)


TARGETS = Targets()


@dataclass(frozen=True)
class Violation:
    """A rule of axe-core that a page violates, and the places."""

    look: str
    rule: str
    impact: str
    places: tuple[str, ...]

    def __str__(self) -> str:
        more = f" and {len(self.places) - 1} more" if len(self.places) > 1 else ""
        return f"{self.look}: {self.rule} ({self.impact}) at {self.places[0]}{more}"


@dataclass(frozen=True)
class Form:
    """The results of `form.js` on a page."""

    #: Screens from the top of the page to its first picture; None without a picture.
    screens: float | None
    #: Pictures without a caption, by their alternative texts.
    bare: tuple[str, ...]
    #: Tables and blocks of code that are wider than their frames, by their first words.
    cut: tuple[str, ...]
    #: Characters a line of the narrowest and of the widest long paragraph; None without one.
    line: tuple[float, float] | None


@dataclass
class Report:
    """All measurements of a page."""

    name: str
    form: Form
    weight: int
    violations: list[Violation] = field(default_factory=list)

    def missed(self, targets: Targets = TARGETS) -> Iterator[str]:
        """Yield each missed target, in a few words."""
        yield from map(str, self.violations)
        if self.weight > targets.weight:
            yield f"{self.weight / 1e6:.2f} MB gzipped; target: at most {targets.weight / 1e6:.2f}"
        if self.form.screens is not None and self.form.screens > targets.screens:
            yield f"first picture {self.form.screens:.1f} screens down"
        yield from (f"picture without caption: {name}" for name in self.form.bare)
        yield from (f"cut: {name}" for name in self.form.cut)
        if wrong := wrong_lines(self.form, targets):
            yield f"{wrong} characters a line; target: {targets.line[0]} to {targets.line[1]}"


def wrong_lines(form: Form, targets: Targets = TARGETS) -> str:
    """Return the range of characters in a line if it misses the target, else an empty text.

    Examples
    --------
    >>> wrong_lines(Form(None, (), (), (68.2, 90.7)))
    '68 to 91'
    >>> wrong_lines(Form(None, (), (), (66.1, 71.0)))
    ''
    """
    if form.line is None:
        return ""
    low, high = (round(each) for each in form.line)
    inside = targets.line[0] <= low and high <= targets.line[1]
    return "" if inside else f"{low} to {high}"


def built_pages(html: Path) -> list[str]:
    """Return the paths of a book's pages below its folder, without the page that redirects."""
    found = (path.relative_to(html) for path in sorted(html.rglob("*.html")))
    names = [path.as_posix() for path in found if "_static" not in path.parts]
    return [name for name in names if name != "index.html"]


def form(page: Any) -> Form:
    """Measure an open page from within."""
    found = page.evaluate((HERE / "form.js").read_text(encoding="utf-8"), LEAST)
    line = tuple(found["line"]) if found["line"] else None
    return Form(found["screens"], tuple(found["bare"]), tuple(found["cut"]), line)


def look_at(page: Any, look: str) -> None:
    """Show an open page in another view, and wait until its colours have settled."""
    window, scheme = LOOKS[look]
    page.set_viewport_size(window)
    page.emulate_media(color_scheme=scheme)
    page.wait_for_timeout(FADED)
    page.evaluate(FADE)


def violations(page: Any, look: str, *rules: str) -> list[Violation]:
    """Return what axe-core finds on an open page, by the given rules or by all."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    # A page that is opened from disk may not read its own styles a second time.
    options: dict[str, Any] = {"resultTypes": ["violations"], "preload": False}
    if rules:
        options["runOnly"] = {"type": "rule", "values": list(rules)}
    found = page.evaluate("(options) => axe.run(document, options)", options)["violations"]
    return [
        Violation(
            look,
            each["id"],
            each["impact"],
            tuple(" ".join(map(str, node["target"])) for node in each["nodes"]),
        )
        for each in found
    ]


def weight(addresses: Iterable[str]) -> int:
    """Return the gzipped size of each file in bytes, by address; embedded data count as 0.

    Examples
    --------
    >>> weight(["data:image/png;base64,AAAA"])
    0
    """
    return sum(_gzipped(each) for each in set(addresses) if each.startswith("file:"))


@functools.cache
def _gzipped(address: str) -> int:
    path = Path(url2pathname(unquote(urlparse(address).path)))
    return len(gzip.compress(path.read_bytes(), 6)) if path.is_file() else 0


def report(browser: Any, html: Path, name: str) -> Report:
    """Open a page of a book, and measure it in every view."""
    window, scheme = LOOKS["light"]
    with browser.new_context(offline=True, viewport=window, color_scheme=scheme) as context:
        page, loaded = context.new_page(), []
        page.on("request", lambda request: loaded.append(request.url))
        page.goto((html / name).as_uri(), wait_until="load")
        page.evaluate("() => window.MathJax?.startup?.promise")
        page.wait_for_timeout(FADED)
        found = Report(name, form(page), weight(loaded))
        for look in LOOKS:
            look_at(page, look)
            found.violations += violations(page, look)
    return found
