"""The explorer in a page: its directive, the links that set it, and its scripts.

Directive

- ``{explorer} PRESET``, with the options ``:tab:`` (``design`` or ``explore``), ``:height:``
  (``half`` or ``full``) and ``:name:``, and a caption as its content: a figure that scripts turn
  into the explorer. Without JavaScript, in print and outside HTML its picture is shown.

Role

- ``{explore}`` sets the explorer of the same page: ``{explore}`try this
  <preset=unit-ball&explored=0,1>```. If a page has several, the name of the figure and a question
  mark come first, as in ``<fig-two?preset=two-looks>``.

Presets are read from ``book/_static/explorer/presets.js``. Pictures and their descriptions are in
``book/_static/figures/explorer``: `paper.plots.explorer` draws them.
"""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util import logging
from sphinx.util.docutils import ReferenceRole, SphinxDirective

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment
    from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)

PRESETS = "book/_static/explorer/presets.js"
PICTURES = "book/_static/figures/explorer"
#: In `PICTURES`: the description of each picture, by its name.
TOLD = "pictures.json"

TABS = ("design", "explore")
HEIGHTS = ("half", "full")
#: Width of a picture in pixels of the page: that of a narrow phone.
WIDTH = 360

#: In an order in which each script finds the ones that it needs, relative to ``_static``.
SCRIPTS = (
    "vendor/d3/d3.min.js",
    "explorer/geometry.js",
    "explorer/covariance.js",
    "explorer/mathematics.js",
    "explorer/presets.js",
    "explorer/state.js",
    "explorer/handles.js",
    "explorer/labels.js",
    "explorer/drawing.js",
    "explorer/grips.js",
    "explorer/model.js",
    "explorer/words.js",
    "explorer/panels.js",
    "explorer/controls.js",
    "explorer/address.js",
    "explorer/answers.js",
    "explorer/projector.js",
    "explorer/explorer.js",
)
STYLE = "explorer/explorer.css"

#: The target of a link that names no figure.
ONLY = "explorer"
#: The settings of a link, and the form of their values.
NUMBER = r"-?\d+(?:\.\d+)?"
PAIR = rf"{NUMBER},{NUMBER}"
INDICES = r"\d+(?:,\d+)*"
NUMBERS = rf"{NUMBER}(?:,{NUMBER})*"
SETTINGS = {
    "arrow": rf"\d+:{PAIR}(?:;\d+:{PAIR})*",
    "arrows": rf"{PAIR}(?:;{PAIR}){{2,7}}",
    "ellipse": rf"{NUMBER},{NUMBER},{NUMBER}",
    "loudness": NUMBERS,
    "policy": NUMBERS,
    "explored": INDICES,
    "n": r"\d+",
    "Gamma": r"\d+",
    "psd": r"[01]",
    "answers": "hidden",
    "view": "projector",
}


class ExplorerNode(nodes.General, nodes.Element):  # type: ignore[misc]
    """The element that becomes an explorer; its child is the picture."""


class ExploreLink(nodes.Inline, nodes.TextElement):  # type: ignore[misc]
    """A link that sets an explorer of its page; plain text outside HTML."""


def read_presets(root: Path) -> dict[str, Any]:
    """Return the presets of the explorer by name, from the JSON that its script assigns.

    Parameters
    ----------
    root : Path
        Top folder of the book's sources.
    """
    text = (root / PRESETS).read_text(encoding="utf-8")
    _, _, assigned = text.partition("var SpeedPresets = ")
    presets: dict[str, Any] = json.loads(assigned.rstrip().removesuffix(";"))
    return presets


def picture_name(preset: str, tab: str) -> str:
    """Return the name of the picture of a preset, without its ending."""
    return f"{preset}-{tab}"


def _page_presets(env: BuildEnvironment) -> dict[str, Any]:
    env.note_dependency(str(Path(env.srcdir) / PRESETS))
    return read_presets(Path(env.srcdir))


class Explorer(SphinxDirective):
    """Put an explorer into the page, or a picture of it where scripts cannot run."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {
        "tab": directives.unchanged_required,
        "height": directives.unchanged_required,
        "name": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        """Return the figure."""
        preset = self._one_of("preset", self.arguments[0], tuple(_page_presets(self.env)))
        tab = self._one_of("tab", self.options.get("tab", TABS[0]), TABS)
        height = self._one_of("height", self.options.get("height", "full"), HEIGHTS)
        if not self.content:
            raise self.error("explorer: it needs a caption that says what it shows")
        explorer = ExplorerNode("", preset=preset, tab=tab, height=height)
        explorer += self._picture(picture_name(preset, tab))
        figure = nodes.figure("", explorer, classes=["sb-explorer-figure"])
        self.set_source_info(figure)
        words, messages = self.state.inline_text("\n".join(self.content), self.content_offset)
        figure += nodes.caption("", "", *words)
        self.add_name(figure)
        return [figure, *messages]

    def _one_of(self, what: str, given: str, known: tuple[str, ...]) -> str:
        if given not in known:
            raise self.error(f"explorer: {what} must be one of {', '.join(known)}; got {given!r}")
        return given

    def _picture(self, name: str) -> nodes.image:
        told = Path(self.env.srcdir) / PICTURES / TOLD
        self.env.note_dependency(str(told))
        known = json.loads(told.read_text(encoding="utf-8"))
        if name not in known:
            raise self.error(f"explorer: {PICTURES} has no picture {name!r}; draw it first")
        picture = nodes.image(
            uri=f"/{PICTURES}/{name}.png", alt=known[name]["alt"], width=f"{WIDTH}px"
        )
        picture["classes"] += ["sb-figure", "no-scaled-link"]
        return picture


class ExploreRole(ReferenceRole):
    """Link to the explorer of the page and set it."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the link; settings that no explorer understands are reported and shown as text."""
        figure, _, query = self.target.rpartition("?")
        if fault := setting_fault(query, _page_presets(self.env)):
            logger.error("explore: %s", fault, location=self.get_location())
            return [nodes.problematic("", self.title)], []
        return [ExploreLink("", self.title, figure=figure or ONLY, query=query)], []


def setting_fault(query: str, presets: dict[str, Any]) -> str:
    """Return what is wrong with the settings of a link, or an empty text.

    Parameters
    ----------
    query : str
        ``key=value`` pairs with ampersands between them.
    presets : dict
        The presets by name.
    """
    known: dict[str, str] = {
        "preset": "|".join(map(re.escape, presets)),
        "tab": "|".join(TABS),
        **SETTINGS,
    }
    for part in query.split("&"):
        key, equals, value = part.partition("=")
        if key not in known or not equals:
            return f"expected KEY=VALUE with a key of {', '.join(known)}; got {part!r}"
        if not re.fullmatch(known[key], value):
            return f"{key}: {value!r} does not fit {known[key]}"
    return ""


def visit_explorer(translator: HTML5Translator, node: ExplorerNode) -> None:
    """Begin the element that scripts look for."""
    data = " ".join(f'data-{key}="{escape(node[key])}"' for key in ("preset", "tab", "height"))
    translator.body.append(f'<div class="sb-explorer" {data}>\n')


def depart_explorer(translator: HTML5Translator, node: ExplorerNode) -> None:
    """End it."""
    translator.body.append("</div>\n")


def visit_link(translator: HTML5Translator, node: ExploreLink) -> None:
    """Begin a link within the page."""
    address = escape(f"#{node['figure']}?{node['query']}")
    translator.body.append(f'<a class="sb-explore" href="{address}">')


def depart_link(translator: HTML5Translator, node: ExploreLink) -> None:
    """End it."""
    translator.body.append("</a>")


def pass_by(translator: Any, node: nodes.Element) -> None:
    """Write nothing for the node itself, only its children."""


def check_links(app: Sphinx, doctree: nodes.document) -> None:
    """Warn of links to explorers that the page lacks, and of unnamed explorers among several.

    A figure without a name gets a number as its id. Authors should not use it, since it may change.
    """
    names = [
        figure["ids"][0] if figure["names"] else ONLY
        for figure in doctree.findall(nodes.figure)
        if any(figure.findall(ExplorerNode))
    ]
    if len(names) > 1 and ONLY in names:
        logger.warning(
            "explorer: with several on a page, each needs a :name:", location=app.env.docname
        )
    for link in doctree.findall(ExploreLink):
        only = link["figure"] == ONLY and len(names) == 1
        if not only and link["figure"] not in names:
            logger.warning(
                "explore: the page has no explorer %r to set; it has %s",
                link["figure"],
                ", ".join(names) or "none",
                location=link,
            )


def add_scripts(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Load scripts and style after the page, and only on pages with an explorer."""
    if doctree is not None and any(doctree.findall(ExplorerNode)):
        for script in SCRIPTS:
            app.add_js_file(script, loading_method="defer")
        app.add_css_file(STYLE)


def setup_explorer(app: Sphinx) -> None:
    """Register the directive, the role and the event handlers."""
    app.add_directive("explorer", Explorer)
    app.add_role("explore", ExploreRole())
    passed = (pass_by, pass_by)
    app.add_node(ExplorerNode, html=(visit_explorer, depart_explorer), latex=passed, text=passed)
    app.add_node(ExploreLink, html=(visit_link, depart_link), latex=passed, text=passed)
    app.connect("doctree-read", check_links)
    app.connect("html-page-context", add_scripts)
