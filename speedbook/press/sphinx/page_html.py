"""The page around the text: light to load, and whole for those who do not see it.

The theme loads on every page a script of all icons there are (``icons.css`` draws those that the
book uses), and the index of the search, which only the page of the search reads. MathJax comes in
parts, of which the book needs few: without its menu no formula is a stop of the tabulator key, and
`MATHJAX` adds to each what a screen reader reads.

What `mended` changes is what axe-core, a checker of accessibility, finds in the output of theme and
tools; each rule says why. Where the theme is made anew and a rule no longer applies, it does nothing,
and the browser tests tell.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.config import Config

#: The parts of MathJax that a page loads; fonts, and what a formula needs besides, they fetch below these.
MATHJAX = ("core", "input/tex", "output/chtml", "a11y/assistive-mml")
EXTENSIONS = ("input/tex/extensions/", "output/chtml/fonts/")
#: Below ``_static``: what no page loads.
UNUSED = ("scripts/fontawesome.js*", "vendor/fontawesome/**/*", "**/*.map")

_UNUSED_SCRIPTS = re.compile(
    r"<script[^>]*src=\"[^\"]*(?:/fontawesome\.js|/language_data\.js|/searchtools\.js|searchindex\.js)"
    r"[^\"]*\"[^>]*></script>\n?"
)
_TAG = re.compile(r"<[^>]+>")


def without_unused_scripts(head: str) -> str:
    """Return a part of a page's head without the scripts for icons and search.

    Examples
    --------
    >>> without_unused_scripts('<script src="../searchindex.js"></script><meta name="a">')
    '<meta name="a">'
    """
    return _UNUSED_SCRIPTS.sub("", head)


def _named_summary(found: re.Match[str]) -> str:
    name = _TAG.sub("", found["name"]).replace('"', "&quot;").strip()
    return f'{found["before"]}<summary aria-label="Pages below {name}">'


#: What to look for, and what to put in its place.
RULES: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    # In the sidebar an arrow alone unfolds the pages below another: name it by that page.
    (
        re.compile(
            r"(?P<before><a class=\"reference internal\" [^>]*>(?P<name>(?:(?!</a>).)*)</a>"
            r"<details[^>]*>)<summary>",
            re.DOTALL,
        ),
        _named_summary,
    ),
    # A control that says what it is must not have another name.
    (re.compile(r"(<button class=\"btn search-button-field [^>]*?) aria-label=\"[^\"]*\""), r"\1"),
    (re.compile(r"<summary aria-label=\"Toggle hidden content\">"), "<summary>"),
    # All that is to be read stands within a landmark.
    (
        re.compile(r"<div id=\"pst-primary-sidebar\""),
        '<div id="pst-primary-sidebar" role="navigation" aria-label="Book"',
    ),
    # The corner of a table is a cell without text, not a head without a name.
    (re.compile(r"<th(?P<rest>(?: [^>]*)?)>\s*(?:<p>\s*</p>)?\s*</th>"), r"<td\g<rest>></td>"),
    # A list holds items; the role that docutils gives them is no longer one.
    (re.compile(r"role=\"doc-biblioentry\""), 'role="listitem"'),
)


def mended(page: str) -> str:
    """Return the body of a page with the names and roles that theme and tools leave out.

    Examples
    --------
    >>> mended("<tr><th></th><th>loss</th></tr>")
    '<tr><td></td><th>loss</th></tr>'
    >>> mended('<a class="reference internal" href="a.html">Art</a><details><summary>')
    '<a class="reference internal" href="a.html">Art</a><details><summary aria-label="Pages below Art">'
    """
    for pattern, replacement in RULES:
        page = pattern.sub(replacement, page)
    return page


def choose_mathjax(app: Sphinx, config: Config) -> None:
    """Have MathJax load the parts that the book needs."""
    config.mathjax_path = "mathjax/startup.js"
    config.mathjax3_config = {**(config.mathjax3_config or {}), "loader": {"load": [*MATHJAX]}}


def add_functions(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Give ``book/_templates/layout.html`` what it calls; the page of the search keeps its scripts."""
    searches = page == "search" or context.get("theme_search_as_you_type") in (True, "True", "true")
    context["mended"] = mended
    context["without_unused_scripts"] = (lambda head: head) if searches else without_unused_scripts


def remove_unused(app: Sphinx, error: Exception | None) -> None:
    """Delete from the built book the files that no page loads."""
    static = Path(app.outdir) / "_static"
    if error is not None:
        return
    needed = {f"{part}.js" for part in ("startup", *MATHJAX)}
    mathjax = static / "mathjax"
    for path in mathjax.rglob("*"):
        name = path.relative_to(mathjax).as_posix()
        if path.is_file() and name not in needed and not name.startswith(EXTENSIONS):
            path.unlink()
    for pattern in UNUSED:
        for path in static.glob(pattern):
            if path.is_file():
                path.unlink()


def setup_page(app: Sphinx) -> None:
    """Connect what this module does to the events of Sphinx."""
    app.connect("config-inited", choose_mathjax)
    app.connect("html-page-context", add_functions)
    # After the other extensions have copied their files.
    app.connect("build-finished", remove_unused, priority=900)
