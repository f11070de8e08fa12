r"""The rule for numbers in the text of a page: each is bound or marked.

On the pages of figures and claims, a number with decimals in the text is bound to the ledger if it
is a result, ``{ledger}`prop-1.estimate```, so it cannot become stale. Any other number, such as a
constant of the paper or of the set-up, is marked as quoted, ``{quoted}`0.35```; the mark may hold a
formula, ``{quoted}`$\sigma^2 = 0.35$```. Formulas count as text; code and the targets of roles and
links do not. Whole numbers need neither a binding nor a mark, since they count and name things.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.amsmath import amsmath_plugin
from mdit_py_plugins.colon_fence import colon_fence_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.myst_role import myst_role_plugin
from nbformat import NotebookNode

from speedbook.notebook.files import cell_name, prose

#: The notebooks to which the rule applies.
RULED = ("notebooks/figures/", "notebooks/claims/")
#: Digits around a point, or a power of ten, but no part of a name, a version, an address or the
#: number of a section.
DECIMAL = re.compile(
    r"(?<!Section )(?<![\w./])(?<!\w-)\d[\d_]*(?:\.\d+(?:[eE][+-]?\d+)?|[eE][+-]?\d+)(?!\w|\.\d)"
)
DIRECTIVE = re.compile(r"\{([\w:+-]+)\}\s*(.*)")
#: A role or a formula, and a link with its text.
ONE_WORD = re.compile(r"\{[\w:-]+\}(`+).+?\1|\$\$.+?\$\$|\$[^$]+\$", re.S)
LINKED = re.compile(r"\[([^\]]*)\]\([^)]*\)")
#: The gap between two sentences: no sentence begins with a small letter or ends with an
#: abbreviation.
SENTENCE = re.compile(
    r"(?:(?<=[.!?])|(?<=[.!?][*_)]))(?<!e\.g\.)(?<!i\.e\.)(?<!cf\.)(?<!vs\.)(?<!\bp\.)"
    r"\s+(?=[*_(\[]*[^\Wa-z\d_])"
)
CODE_DIRECTIVES = frozenset({"code", "code-block", "code-cell", "sourcecode", "literalinclude"})
#: Kinds of token whose content readers see. For HTML this includes the tags.
READ = frozenset("text math_inline math_inline_double math_block amsmath html_block".split())


def loose_numbers(text: str) -> list[str]:
    """Return the unmarked numbers with decimals in the text of a MyST document.

    Examples
    --------
    >>> loose_numbers("Quoted {quoted}`0.35`, bound {ledger}`x.estimate`, loose $0.36$.")
    ['0.36']
    """
    return [number for read in _read_text(text) for number in DECIMAL.findall(read)]


@cache
def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark").enable("table")
    for plugin in (myst_role_plugin, dollarmath_plugin, amsmath_plugin, colon_fence_plugin):
        markdown.use(plugin)
    return markdown


def _read_text(text: str) -> Iterator[str]:
    for token in _markdown().parse(text):
        if token.type in ("fence", "colon_fence"):
            yield from _read_directive(token)
        elif token.children is not None:
            yield from _read_inline(token.children)
        elif token.type in READ:
            yield token.content


def _read_directive(token: Token) -> Iterator[str]:
    """Read a directive: its title and its content are text, unless it holds code."""
    match = DIRECTIVE.fullmatch(token.info.strip())
    if match and match[1] not in CODE_DIRECTIVES:
        yield from _read_text(match[2])
        # A formula needs no parsing, and may contain what looks like Markdown.
        yield from [token.content] if match[1] == "math" else _read_text(token.content)


def _read_inline(children: Iterable[Token]) -> Iterator[str]:
    within_address = False
    for child in children:
        if child.type.startswith("link_") and child.markup == "autolink":
            within_address = child.type == "link_open"
        elif child.type == "myst_role" and child.meta["name"] == "math":
            yield child.content
        elif child.type in READ and not within_address:
            yield child.content


def plain_words(text: str) -> list[str]:
    """Return the words of a paragraph; a formula or a role counts as one word.

    Examples
    --------
    >>> plain_words("The [loss of SPEED](a.ipynb) is {ledger}`x.estimate:.2f`: $a + b$ *less*.")
    ['The', 'loss', 'of', 'SPEED', 'is', 'X:', 'X', '*less*.']
    """
    return [word for word in _bare(text).split() if re.search(r"\w", word)]


def sentences(text: str) -> list[str]:
    """Return the sentences of a paragraph, with ``X`` for each formula and role.

    Examples
    --------
    >>> sentences("It is {quoted}`0.5`. $x = 1. y$ is *less?* Yes, e.g. $a$ (see p. 1).")
    ['It is X.', 'X is *less?*', 'Yes, e.g. X (see p. 1).']
    """
    return SENTENCE.split(_bare(text).strip())


def _bare(text: str) -> str:
    return LINKED.sub(r"\1", ONE_WORD.sub("X", text))


def prose_problems(name: str, notebook: NotebookNode) -> list[str]:
    """Return a sentence for each cell with unmarked numbers, if the notebook is in `RULED`."""
    if not name.startswith(RULED):
        return []
    return [
        f"{cell_name(notebook, cell)}: {', '.join(loose)}: bind each number to the ledger, "
        "{ledger}`claim.estimate`, or mark it as quoted, {quoted}`0.35`"
        for cell, text in prose(notebook)
        if (loose := loose_numbers(text))
    ]
