"""What the page of a notebook needs to run: the form, and marks on all that parameters change.

Directive

- ``{parameter-form}``: the parameters of the page's notebook, see `speedbook.press.parameter_form`.

Marks

- Each cell has a class of its own (`speedbook.press.template`).
- A number or badge in the text that is bound to a record has the record's address (`Bound`).
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from speedbook.notebook.files import read_notebook
from speedbook.notebook.parameters import notebook_parameters
from speedbook.press.parameter_form import FORM, form_html

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment
    from sphinx.writers.html5 import HTML5Translator


class ParameterForm(SphinxDirective):
    """Show the parameters of the notebook from which this page is made."""

    def run(self) -> list[nodes.Node]:
        """Return the form."""
        path = Path(self.env.doc2path(self.env.docname))
        parameters = notebook_parameters(read_notebook(path))
        html = form_html(parameters, f"{self.env.docname}.ipynb")
        return [nodes.raw("", html, format="html", classes=[FORM])]


class Bound(nodes.inline):  # type: ignore[misc]
    """A number or badge in the text, with the attribute by which scripts find it."""


def bound(env: BuildEnvironment, kind: str, address: str, content: nodes.Node) -> nodes.Node:
    """Mark a number (kind ``ledger``) or badge (``badge``) on the page of a notebook.

    On other pages, which do not run, the content is returned unmarked.
    """
    if Path(env.doc2path(env.docname)).suffix != ".ipynb":
        return content
    return Bound("", "", content, kind=kind, address=address)


def visit_bound(translator: HTML5Translator, node: Bound) -> None:
    """Write the mark."""
    translator.body.append(f'<span data-{node["kind"]}="{escape(node["address"])}">')


def depart_bound(translator: HTML5Translator, node: Bound) -> None:
    """End the mark."""
    translator.body.append("</span>")


def pass_by(translator: Any, node: nodes.Element) -> None:
    """Leave the text unchanged outside HTML."""


def setup_live(app: Sphinx) -> None:
    """Register the directive and the mark."""
    app.add_directive("parameter-form", ParameterForm)
    passed = (pass_by, pass_by)
    app.add_node(Bound, html=(visit_bound, depart_bound), latex=passed, text=passed)
