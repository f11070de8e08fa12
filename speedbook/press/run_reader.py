"""Read MyST for the page of a run, without Sphinx and without the other pages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape, unescape
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst.directives.admonitions import Admonition
from docutils.statemachine import StringList
from myst_nb.docutils_ import Parser
from sphinx.util.docutils import CustomReSTDispatcher
from sphinx.util.nodes import split_explicit_title

from speedbook.claims.cards import badge_html
from speedbook.claims.ledger import lookup
from speedbook.claims.rules import Verdict

#: Roles of docutils, and roles that link to another place in the book.
NATIVE = frozenset({"math", "sub", "sup"})
LEADING = frozenset({"any", "doc", "download", "eq", "ref", "term"})


class Book(CustomReSTDispatcher):
    """Roles and directives of the book, registered while one page is written."""

    def __init__(
        self,
        claims: Mapping[str, Mapping[str, Any]],
        works: Mapping[str, str],
        numbered: Mapping[str, int],
    ) -> None:
        super().__init__()
        self.claims = {name: dict(row) for name, row in claims.items()}
        self.works, self.numbered = works, numbered

    def role(self, role_name: str, *rest: Any) -> Any:
        """Return the role that docutils has, or `show` if the role is one of the book's own."""
        return super().role(role_name, *rest) if role_name in NATIVE else (self.show, [])

    def directive(self, directive_name: str, *rest: Any) -> Any:
        """Return the directive of docutils, or a box if docutils does not know the directive."""
        name = "container" if directive_name == "div" else directive_name
        return super().directive(name, *rest)[0] or Box, []

    def show(self, name: str, _: str, text: str, line: int, inliner: Any) -> Any:
        """Return the nodes of a role; an unknown role becomes code."""
        titled, title, target = split_explicit_title(text.strip())
        node: nodes.Node = nodes.Text(title if titled else Path(target).name)
        if name == "quoted":
            return inliner.parse(text, line, inliner, nodes.Element())
        if name == "ledger":
            try:
                node = nodes.Text(lookup(self.claims, text))
            except ValueError:
                node = nodes.emphasis("", f"(not computed in this run: {text})")
        elif name == "claim-badge" and "verdict" in self.claims.get(text, {}):
            badge = badge_html(Verdict(self.claims[text]["verdict"]))
            node = nodes.raw("", badge, format="html")
        elif name == "claim-badge":
            node = nodes.emphasis("", f"(no verdict in this run: {text})")
        elif name == "numref" and target in self.numbered:
            node = nodes.reference("", f"Picture {self.numbered[target]}", refuri=f"#{target}")
        elif name == "numref" and target.startswith("fig-"):
            node = nodes.Text("a picture on another page")
        elif name.startswith("cite"):
            works = (self.works.get(key.strip(), key.strip()) for key in text.split(","))
            node = nodes.Text(f"[{'; '.join(works)}]")
        elif name not in LEADING:
            # As in Sphinx: with a tilde, only the last part of a name.
            word = title.rpartition(".")[2] if title.startswith("~") else title
            node = nodes.literal("", word.lstrip("~!"))
        return [node], []


class Box(Admonition):  # type: ignore[misc]
    """A directive unknown to docutils: a box with its title, or its name, above its text."""

    required_arguments, optional_arguments = 0, 1

    def run(self) -> Any:
        """Return the box."""
        self.arguments: list[str] = self.arguments or [self.name]
        self.content: StringList = self.content or StringList([""], "")
        return super().run()


class Reader(Parser):  # type: ignore[misc]
    """The parser of notebooks, for a page in a single file.

    The pictures are given by the placeholders that the cells contain.
    """

    def __init__(self, pictures: Mapping[str, str], numbered: Mapping[str, int]) -> None:
        super().__init__()
        self.pictures, self.numbered = pictures, numbered

    def parse(self, inputstring: str, document: nodes.document) -> None:
        """Read the notebook, and number its pictures."""
        super().parse(inputstring, document)
        for link in list(document.findall(nodes.reference)):
            link["refuri"] = address = unescape(link.get("refuri", f"#{link.get('refid')}"))
            if not re.match("https?:|mailto:|#", address):
                link.replace_self(link.children or [nodes.Text(Path(address).stem)])
        for picture in list(document.findall(nodes.image)):
            if not (picture["uri"].startswith("data:") or picture["uri"] in self.pictures):
                picture.replace_self(nodes.emphasis("", picture.get("alt") or picture["uri"]))
        for figure in document.findall(nodes.figure):
            for name in set(figure["names"]) & set(self.numbered):
                figure[-1].insert(0, nodes.strong("", f"Picture {self.numbered[name]} "))
        for code in document.findall(nodes.literal):
            # Otherwise MathJax would not take it for a formula.
            code["classes"].append("code")
        for formula in list(document.findall(nodes.math_block)):
            # It has its own environment, and docutils would add another.
            if "amsmath" in formula["classes"]:
                code = rf"\[{escape(formula.astext())}\]"
                formula.replace_self(nodes.raw("", code, format="html"))
        for box in document.findall(nodes.admonition):
            if "dropdown" in box["classes"]:
                _fold(box, box.pop(0).children)
        for cell in document.findall(nodes.container):
            if "input" in cell.get("hide_mode", ""):
                _fold(cell[0], [nodes.Text("Code")])


def _fold(part: nodes.Element, title: Sequence[nodes.Node]) -> None:
    tags = "<details><summary>", "</summary>", "</details>"
    start, middle, end = (nodes.raw("", tag, format="html") for tag in tags)
    part[:] = [start, *title, middle, *part.children, end]
