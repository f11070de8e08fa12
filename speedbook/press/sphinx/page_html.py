"""Make the HTML of a page light to load and accessible to screen readers.

On every page the theme loads a script with all icons of Font Awesome and the index of the search.
The book drops both: ``icons.css`` draws the few icons that it uses, and only the search page reads
the index. MathJax comes in parts. The book leaves out its menu, which makes every formula a stop of
the Tab key, and loads the part that makes formulas accessible to a screen reader.

`mended` repairs what axe-core, an accessibility checker, finds in the output of theme and tools. A
rule that a newer theme makes superfluous finds nothing and changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from speedbook.press.powers import DATA_FRAME, PIECES, raised, with_powers_of_ten
from speedbook.press.sphinx.line_breaks import LINE_BREAKS

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.config import Config

#: The parts of MathJax that a page loads, and the folders of their fonts and macros.
MATHJAX = ("core", "input/tex", "output/chtml", "a11y/assistive-mml")
EXTENSIONS = ("input/tex/extensions/", "output/chtml/fonts/")
#: Files below ``_static`` that no page loads.
UNUSED = (
    "scripts/fontawesome.js*",
    "vendor/fontawesome/**/*",
    "locales/**/*",
    "*webpack-macros.html",
    "**/*.map",
)

_ICONS = r"fontawesome\.js"
_SEARCH = r"language_data\.js|searchtools\.js|searchindex\.js"
_SCRIPT = r'<script[^>]*src="(?:[^"]*/)?(?:{})[^"]*"[^>]*></script>\n?'
_TAG = re.compile(r"<[^>]+>")


def without_unused_scripts(head: str, searches: bool = False) -> str:
    """Return a part of a head without the script of icons and, unless it searches, the index.

    Examples
    --------
    >>> without_unused_scripts('<script src="../searchindex.js"></script><meta name="a">')
    '<meta name="a">'
    """
    return re.sub(_SCRIPT.format(_ICONS if searches else f"{_ICONS}|{_SEARCH}"), "", head)


def _named_summary(found: re.Match[str]) -> str:
    name = _TAG.sub("", found["name"]).replace('"', "&quot;").strip()
    return f'{found["before"]}<summary aria-label="Pages below {name}">'


_ROW = r"<tr[^>]*>(?:(?!</tr>).)*</tr>\s*"
_TWO_HEADS = re.compile(
    rf"(?P<before><thead>\s*(?:{_ROW})*?)(?P<columns>{_ROW})(?P<index>{_ROW})</thead>", re.DOTALL
)
_HEAD = re.compile(r"<th\b[^>]*>(.*?)</th>", re.DOTALL)


def _one_head(found: re.Match[str]) -> str:
    """Join the last two head rows of a data frame whose index has a name.

    The last row has the names of the index, the row above it those of the columns: each fills the
    gaps of the other.
    """
    columns, index = found["columns"], found["index"]
    over, under = _HEAD.findall(columns), _HEAD.findall(index)
    named = sum(map(bool, under))
    joined = named and len(over) == len(under) and not any(over[:named]) and not any(under[named:])
    if not joined or "span=" in columns:
        return found[0]
    names = iter([*under[:named], *over[named:]])
    return f"{found['before']}{_HEAD.sub(lambda head: _filled(head, next(names)), columns)}</thead>"


def _filled(head: re.Match[str], name: str) -> str:
    return f"{head[0][: head.start(1) - head.start()]}{name}</th>"


#: A cell without anything: on a phone, where cells stand below one another, it is not shown.
_NONE = r'\1<span class="sb-none">–</span></td>'

#: Patterns and their replacements.
RULES: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    # On a phone the names of rows have room for more than a word a line, and numbers do not break.
    (re.compile(r"(?<=\w) = (?=[−\w-])(?=[^<>]*</th>)"), "\u00a0=\u00a0"),
    (re.compile(r"<th(?=(?: (?!class)[^>]*)?>[\d,.−-]{7,}</th>)"), '<th class="sb-number"'),
    (re.compile(r"<th(?=(?: (?!class)[^>]*)?>[^<]*[^\W\d][^<]{11,}</th>)"), '<th class="sb-name"'),
    # Nor do the parts of a short vector leave one another, and a sentence or a list of vectors has
    # some words on a line.
    (
        re.compile(
            r"<td(?=>[^<]{,48}</td>)"
            r"(?=>(?:[(−-]?\d[^<a-zA-Z;]*;|\([−-]?\d[^<a-zA-Z,]*,) [^<a-zA-Z]*</td>)"
        ),
        '<td class="sb-vector"',
    ),
    (re.compile(r"<td(?=>[^<]{40,}</td>)"), '<td class="sb-words"'),
    # A cell without anything has a dash. Row names without text are still heads here.
    (
        re.compile(r"<tbody>.*?</tbody>", re.DOTALL),
        lambda body: re.sub(r"(<td(?: [^>]*)?>)\s*(?:<p>\s*</p>)?\s*</td>", _NONE, body[0]),
    ),
    # Before a rule wraps the powers of ten of other tables.
    (DATA_FRAME, raised),
    # The name of a module breaks at its dots.
    (
        re.compile(r"<h[1-3]>[^<]*\w\.\w[^<]*"),
        lambda head: re.sub(r"(?<=[a-z]\.)(?=[a-z])|(?<=[a-z])(?=_[a-z])", "<wbr>", head[0]),
    ),
    # In the sidebar an arrow without text unfolds the pages below another: name it by that page.
    (
        re.compile(
            r"(?P<before><a class=\"(?:current )?reference internal\" [^>]*>"
            r"(?P<name>(?:(?!</a>).)*)</a><details[^>]*>)<summary>",
            re.DOTALL,
        ),
        _named_summary,
    ),
    # A control with a visible name must not have another one.
    (re.compile(r"(<button class=\"btn search-button-field [^>]*?) aria-label=\"[^\"]*\""), r"\1"),
    (re.compile(r"<summary aria-label=\"Toggle hidden content\">"), "<summary>"),
    # All content must be within a landmark.
    (
        re.compile(r"<div id=\"pst-primary-sidebar\""),
        '<div id="pst-primary-sidebar" role="navigation" aria-label="Book"',
    ),
    (_TWO_HEADS, _one_head),
    # The corner of a table is a cell without text, not a head without a name.
    (re.compile(r"<th(?P<rest>(?: [^>]*)?)>\s*(?:<p>\s*</p>)?\s*</th>"), r"<td\g<rest>></td>"),
    # A browser saves what a server would let it show; from disk, the file opens in another window.
    (
        re.compile(r"<a href=\"[^\"#]+\"(?= target=\"_blank\"\s+class=\"btn btn-sm btn-download-)"),
        r"\g<0> download",
    ),
    # A link within the page stays in its window.
    (re.compile(r"(<a href=\"#[^\"]*\") target=\"_blank\""), r"\1"),
    # A list holds items; the role that docutils gives these is out of date.
    (re.compile(r"role=\"doc-biblioentry\""), 'role="listitem"'),
    # A badge that says only its verdict knows its claim, for paper, where no link can be followed.
    (
        re.compile(
            r"(<a class=\"reference internal\" href=\"[^\"]*#claim-(?P<claim>[\w-]+)\")"
            r"(?=><span class=\"std std-ref\">\W\s(?!(?P=claim)<))"
        ),
        r'\1 data-claim="\g<claim>"',
    ),
    (PIECES, with_powers_of_ten),
    *LINE_BREAKS,
)


def mended(page: str) -> str:
    """Return the body of a page, with names and roles added for screen readers.

    Examples
    --------
    >>> mended("<tr><th></th><th>loss</th></tr>")
    '<tr><td></td><th>loss</th></tr>'
    >>> mended('<a class="reference internal" href="a">Art</a><details><summary>')
    '<a class="reference internal" href="a">Art</a><details><summary aria-label="Pages below Art">'
    """
    for pattern, replacement in RULES:
        page = pattern.sub(replacement, page)
    return page


def choose_mathjax(app: Sphinx, config: Config) -> None:
    """Make MathJax load only the parts that the book needs."""
    config.mathjax_path = "mathjax/startup.js"
    config.mathjax3_config = {**(config.mathjax3_config or {}), "loader": {"load": [*MATHJAX]}}


def add_functions(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Give ``book/_templates/layout.html`` the functions that it calls."""
    searches = page == "search" or context.get("theme_search_as_you_type") in (True, "True", "true")
    context["mended"] = mended
    context["without_unused_scripts"] = partial(without_unused_scripts, searches=searches)


def unused_files(static: Path) -> set[Path]:
    """Return the files of the folder ``_static`` that no page loads."""
    mathjax = static / "mathjax"
    needed = {f"{part}.js" for part in ("startup", *MATHJAX)}
    files = {path for pattern in UNUSED for path in static.glob(pattern)}
    for path in mathjax.rglob("*"):
        name = path.relative_to(mathjax).as_posix()
        if name not in needed and not name.startswith(EXTENSIONS):
            files.add(path)
    return {path for path in files if path.is_file()}


def remove_unused(app: Sphinx, error: Exception | None) -> None:
    """Delete from the built book the files that no page loads."""
    if error is None:
        for path in unused_files(Path(app.outdir) / "_static"):
            path.unlink()


def setup_page(app: Sphinx) -> None:
    """Connect this module to the events of Sphinx."""
    app.connect("config-inited", choose_mathjax)
    app.connect("html-page-context", add_functions)
    # After the other extensions have copied their files.
    app.connect("build-finished", remove_unused, priority=900)
