"""The menu of downloads in the header of a page, and the box below it that says how to cite it.

The theme's menu offers the source of a page: of a notebook, the copy with outputs, but not of a
hand-in. `add_downloads` adds the files of `speedbook.press.downloads` to it, and the way to the
box.

The box names the commit, which changes more often than the text of a page. So the template
``cite.html`` leaves an empty place in every page, and `cite_pages` fills the places of all pages at
the end, also of those that Sphinx did not write in this build.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx.util import logging

from speedbook.claims.ledger import read_ledger
from speedbook.notebook.files import read_notebook
from speedbook.paths import write_if_changed
from speedbook.press.citation import (
    FILE,
    Reference,
    page_reference,
    paper_reference,
    read_citation,
)
from speedbook.press.downloads import EXTRA, is_hand_in, offered
from speedbook.run.provenance import commit_year, git_state

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

logger = logging.getLogger(__name__)

#: The id of the box.
CITE = "cite-this-page"
#: How the theme calls the button that offers the source of a page.
SOURCE = "download-source-button"
PLACE = re.compile(r"(<!-- citation -->).*?(<!-- end of citation -->)", re.DOTALL)
BOX = """
<details class="sb-cite" id="{id}">
<summary>Cite this page</summary>
<p>{why}</p>
<p class="sb-cite-form">As text</p>
<div class="highlight-none notranslate"><div class="highlight"><pre>{text}</pre></div></div>
<p class="sb-cite-form">As BibTeX</p>
<div class="highlight-none notranslate"><div class="highlight"><pre>{bibtex}</pre></div></div>
</details>
"""
WHY = (
    "Cite the paper for the algorithm and its theory, and this page for what it finds. The version"
    " and the commit say which state of the page you read."
)


def add_downloads(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Add the downloads of a page to the theme's menu, and say in words what each of them is."""
    for group in context.get("header_buttons", []):
        if group.get("label") == "download-buttons" and doctree is not None:
            source = Path(app.env.doc2path(page))
            root = Path(app.srcdir)
            there = EXTRA in app.config.html_extra_path
            files = offered(source.relative_to(root).as_posix(), root) if there else {}
            cited = (root / FILE).is_file()
            buttons = group["buttons"]
            if source.suffix == ".ipynb" and is_hand_in(read_notebook(source)):
                # Its copy cannot be handed in; what can is in the archive of `make student`.
                buttons = [each for each in buttons if each["label"] != SOURCE]
            group["buttons"] = _menu(buttons, files, source.suffix, context, cited)


def _menu(
    buttons: list[dict[str, Any]],
    files: Mapping[str, str],
    suffix: str,
    context: Mapping[str, Any],
    cited: bool,
) -> list[dict[str, Any]]:
    words = {
        SOURCE: "Notebook with outputs (.ipynb)"
        if suffix == ".ipynb"
        else f"Text of this page ({suffix})",
        "download-pdf-button": "This page on paper (.pdf)",
    }
    # A text that says everything needs no second one that appears next to it.
    said = [each | {"text": words[each["label"]], "tooltip": None} for each in buttons]
    links = [
        {
            "type": "link",
            "url": context["pathto"](path, resource=1),
            "text": text,
            "icon": "fas fa-file",
            "label": "download-file-button",
        }
        for path, text in files.items()
    ]
    cite = {"type": "link", "url": f"#{CITE}", "text": "Cite this page", "icon": "fas fa-list"}
    return [*said[:1], *links, *said[1:], *([cite] if cited else [])]


def cite_pages(app: Sphinx, error: Exception | None) -> None:
    """Write into each page how to cite it."""
    if error is not None or app.builder.format != "html":
        return
    root = Path(app.srcdir)
    try:
        about = read_citation(root)
    except ValueError as fault:
        logger.warning("%s", fault)
        return
    if about is None:
        return
    build = read_ledger(root).get("build") or {**git_state(root), "year": commit_year(root)}
    paper = paper_reference(about)
    for page in app.env.found_docs:
        path = Path(app.builder.get_outfilename(page))  # type: ignore[attr-defined]
        if path.is_file():
            here = page_reference(about, page, app.env.titles[page].astext(), build)
            html = path.read_text(encoding="utf-8")
            write_if_changed(path, filled(html, citation_box(here, paper)))


def filled(html: str, box: str) -> str:
    """Return a page with a box in its place, which may hold an older one."""
    return PLACE.sub(lambda place: f"{place[1]}{box}{place[2]}", html)


def citation_box(*references: Reference) -> str:
    """Return the folded box with references, one below the other."""
    text, bibtex = ("\n\n".join(filter(None, form)) for form in zip(*references, strict=True))
    return BOX.format(id=CITE, why=WHY, text=escape(text), bibtex=escape(bibtex))


def setup_foot(app: Sphinx) -> None:
    """Connect this module to the events of Sphinx."""
    # After the theme, which makes the menu.
    app.connect("html-page-context", add_downloads, priority=600)
    app.connect("build-finished", cite_pages)
