"""Turn Markdown of the book into plain Markdown, which JupyterLab shows well."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from pathlib import Path

import yaml
from nbformat import NotebookNode

FORMULA = re.compile(r"\$\$.+?\$\$|(?<![\\$])\$[^$]+?(?<!\\)\$", re.S)
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:|#|attachment:)[^)\s]+\)")
ROLE = re.compile(r"\{[\w:-]+\}`([^`<]+?)\s*(?:<[^`]*>)?`")


def macros(root: Path) -> dict[str, str]:
    """Return the book's abbreviations in formulas, which JupyterLab does not know."""
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    found = config["sphinx"]["config"]["mathjax3_config"]["tex"]["macros"]
    return {str(name): str(text) for name, text in found.items()}


def expand(formula: str, known: Mapping[str, str]) -> str:
    r"""Write out the abbreviations in a formula.

    Examples
    --------
    >>> expand(r"\bx_a^\top\bxi", {"bx": r"\mathbf{x}"})
    '{\\mathbf{x}}_a^\\top\\bxi'
    """
    return re.sub(
        r"\\([A-Za-z]+)",
        lambda found: f"{{{known[found[1]]}}}" if found[1] in known else found[0],
        formula,
    )


def plain(text: str, known: Mapping[str, str]) -> str:
    r"""Return Markdown without links to pages of the book, roles, and abbreviations in formulas.

    Examples
    --------
    >>> plain(r"See [there](../a.ipynb), {term}`design` and $\bc$.", {"bc": r"\mathbf{c}"})
    'See *there*, design and ${\\mathbf{c}}$.'
    """
    text = ROLE.sub(r"\1", LINK.sub(r"*\1*", text))
    return FORMULA.sub(lambda found: expand(found[0], known), text)


def for_students(notebook: NotebookNode, known: Mapping[str, str]) -> NotebookNode:
    """Return a notebook whose Markdown is plain; the code stays as it is."""
    changed = copy.deepcopy(notebook)
    for cell in changed.cells:
        if cell.cell_type == "markdown":
            cell.source = plain(cell.source, known)
    return changed
