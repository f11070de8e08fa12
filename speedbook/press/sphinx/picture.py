"""Show a figure of a notebook on another page, as the executed notebook drew it.

Directive

- ``{picture} notebooks/ideas/which-actions#fig-idea-which-actions`` shows the figure with that
  name, with its alternative text and its caption. With the option ``:finding:`` the first sentence
  of the caption, which is the finding, is shown in large letters above the figure, and the rest
  below.

The figure gets no number, since the book numbers it where the notebook shows it. The picture is
read from the notebook next to the pages. In a plain checkout this is the committed notebook; where
`speedbook build` stages the book, it is the notebook just executed.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from speedbook.notebook.captions import shown_figures
from speedbook.notebook.files import caption, code_cells, figure_name, png_bytes, read_notebook
from speedbook.notebook.prose import ONE_WORD, SENTENCE
from speedbook.paths import write_if_changed

if TYPE_CHECKING:
    from nbformat import NotebookNode
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

#: Where pictures are kept, next to what Sphinx has read.
FOLDER = "pictures"
#: The class of the paragraph that shows a finding, here and on the pages of notebooks.
FINDING = "sb-finding"


class PictureNode(nodes.figure):  # type: ignore[misc]
    """A figure of a class of its own, which Sphinx does not number."""


class Drawn(NamedTuple):
    """A figure as its notebook shows it: pixels, alternative text, width, caption."""

    png: bytes
    alt: str
    width: int | None
    caption: str


def drawn_figure(notebook: NotebookNode, name: str) -> Drawn:
    """Return the figure of a notebook that has a given name.

    Parameters
    ----------
    notebook : NotebookNode
        As executed.
    name : str
        The name in the metadata of the cell, such as ``fig-shares``.

    Raises
    ------
    ValueError
        If no cell has that figure, or the cell has not been run; it lists the names that exist.
    """
    cells = {figure_name(cell): cell for cell in code_cells(notebook) if figure_name(cell)}
    if name not in cells:
        known = ", ".join(cells) or "none"
        raise ValueError(f"picture: figure must be one of {known}; got {name!r}")
    shown = shown_figures(cells[name])
    if not shown:
        raise ValueError(f"picture: the cell of {name!r} has no output; run the notebook first")
    options = shown[0].metadata.get("image/png", {})
    png = png_bytes(shown[0].data["image/png"])
    return Drawn(png, options.get("alt", ""), options.get("width"), caption(cells[name]).strip())


def split_finding(text: str) -> tuple[str, str]:
    """Return the first sentence of a caption in MyST, and the rest.

    Examples
    --------
    >>> split_finding("The loss is {quoted}`0.5`. A dot is $1. x$.")
    ('The loss is {quoted}`0.5`.', 'A dot is $1. x$.')
    >>> split_finding("One sentence.")
    ('One sentence.', '')
    """
    masked = ONE_WORD.sub(lambda match: "X" * len(match[0]), text)
    gap = SENTENCE.search(masked)
    return (text[: gap.start()], text[gap.end() :]) if gap else (text, "")


class Picture(SphinxDirective):
    """Show a figure of a notebook."""

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {"finding": directives.flag}

    def run(self) -> list[nodes.Node]:
        """Return the figure; with the option ``:finding:`` it is below its finding."""
        name, mark, figure = self.arguments[0].partition("#")
        if not (name and mark and figure):
            raise self.error(f"picture: expected NOTEBOOK#FIGURE; got {self.arguments[0]!r}")
        try:
            drawn = self._drawn(f"{name}.ipynb", figure)
        except (OSError, ValueError) as error:
            raise self.error(str(error)) from None
        above = "finding" in self.options
        finding, rest = split_finding(drawn.caption) if above else ("", drawn.caption)
        picture = PictureNode("", self._image(figure, drawn))
        self.set_source_info(picture)
        found = self._said(nodes.paragraph, finding, classes=[FINDING])
        picture += self._said(nodes.caption, rest)
        return [*found, picture]

    def _said(self, kind: type[nodes.TextElement], text: str, **options: Any) -> list[nodes.Node]:
        """Return the text in MyST as a node, with what the parser complains about."""
        if not text:
            return []
        words, messages = self.state.inline_text(text, self.lineno)
        return [kind("", "", *words, **options), *messages]

    def _drawn(self, name: str, figure: str) -> Drawn:
        path = Path(self.env.srcdir) / name
        self.env.note_dependency(str(path))
        return drawn_figure(read_notebook(path), figure)

    def _image(self, figure: str, drawn: Drawn) -> nodes.image:
        path = Path(self.env.doctreedir) / FOLDER / f"{figure}.png"
        write_if_changed(path, drawn.png)
        # With a slash in front Sphinx counts from the folder of the sources.
        uri = f"/{Path(os.path.relpath(path, self.env.srcdir)).as_posix()}"
        width = {"width": f"{drawn.width}px"} if drawn.width else {}
        image = nodes.image(uri=uri, alt=drawn.alt, **width)
        image["classes"] += ["sb-figure", "no-scaled-link"]
        return image


def visit_picture(translator: HTML5Translator, node: PictureNode) -> None:
    """Begin the figure."""
    translator.body.append('<figure class="sb-picture">\n')


def depart_picture(translator: HTML5Translator, node: PictureNode) -> None:
    """End it, and its caption, which docutils begins and leaves to the figure to end."""
    translator.body.append("</figcaption>\n</figure>\n" if len(node) > 1 else "</figure>\n")


def pass_by(translator: Any, node: nodes.Element) -> None:
    """Write nothing for the node itself, only its children."""


def setup_picture(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("picture", Picture)
    passed = (pass_by, pass_by)
    html = (visit_picture, depart_picture)
    app.add_node(PictureNode, html=html, latex=passed, text=passed)
