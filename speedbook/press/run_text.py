"""Text on the page of a run: MyST, of which it understands what our notebooks use.

That is formulas, boxes and roles, of which none stands there as it is written: a number that is
bound to the ledger is that of the run, a work is cited by author and year, a piece of code loses
the address of its module, and what leads to another page is left as text, since that page is not
beside this one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from mdit_py_plugins.amsmath import amsmath_plugin
from mdit_py_plugins.colon_fence import colon_fence_plugin
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.myst_role import myst_role_plugin

from speedbook.claims.cards import badge_html
from speedbook.claims.ledger import lookup
from speedbook.claims.rules import Verdict

if TYPE_CHECKING:
    from pybtex.database import Entry

BIBLIOGRAPHY = "book/references.bib"
DIRECTIVE = re.compile(r"\{([\w:+-]+)\}\s*(.*)")
#: What Sphinx takes for a title with a target: ``the loss <speedlib.designs.pe_loss>``.
TITLED = re.compile(r"(?P<title>.+?)\s*<(?P<target>[^<>]+)>", re.DOTALL)
#: A link that takes its words from where it leads to.
EMPTY_LINK = re.compile(r"\[\]\((?P<page>[^)#\s]+)\)")
#: Roles that lead to another place of the book.
LEADING = frozenset({"any", "doc", "download", "eq", "numref", "ref", "term"})

Claims = Mapping[str, Mapping[str, Any]]
Render = Callable[[str], str]


def prose_renderer(claims: Claims, works: Mapping[str, str]) -> Render:
    """Return what turns the prose of a notebook into HTML.

    Parameters
    ----------
    claims : mapping
        Rows of the ledger by claim.
    works : mapping
        Authors and year by the key of a work, see `cited_works`.
    """
    markdown = _markdown({})
    markdown.use(myst_role_plugin).use(colon_fence_plugin).use(deflist_plugin)
    rules: dict[str, Any] = {
        "myst_role": partial(_role, markdown, claims, works),
        "fence": partial(_fence, markdown),
        "colon_fence": partial(_fence, markdown),
    }
    for name, rule in rules.items():
        markdown.add_render_rule(name, _as_renderer(rule))
    return lambda text: str(markdown.render(text))


def output_renderer() -> Render:
    """Return what turns Markdown that a cell displayed into HTML.

    Names of columns and the like come in it from files of the reader's: their ``<`` is a letter,
    and so is a ``$`` that stands beside a blank or a digit, as sums of money do.
    """
    markdown = _markdown({"html": False}, allow_space=False, allow_digits=False)
    return lambda text: str(markdown.render(text))


def _markdown(options: Mapping[str, bool], **dollars: bool) -> MarkdownIt:
    markdown = MarkdownIt("commonmark", options).enable("table")
    markdown.use(dollarmath_plugin, **dollars).use(amsmath_plugin)
    rules: dict[str, Callable[[Token], str]] = {
        "math_inline": lambda token: rf"\({escape(token.content)}\)",
        "math_inline_double": lambda token: rf"\[{escape(token.content)}\]",
        "math_block": lambda token: rf"<div>\[{escape(token.content)}\]</div>",
        "math_block_label": lambda token: rf"<div>\[{escape(token.content)}\]</div>",
        "amsmath": lambda token: f"<div>{escape(token.content)}</div>",
    }
    for name, rule in rules.items():
        markdown.add_render_rule(name, _as_renderer(rule))
    markdown.core.ruler.push("links", _unlink_neighbours)
    return markdown


def _as_renderer(rule: Any) -> Any:
    def render(_: RendererHTML, tokens: Sequence[Token], place: int, *__: Any) -> str:
        return str(rule(tokens[place]))

    return render


# Roles


def _role(markdown: MarkdownIt, claims: Claims, works: Mapping[str, str], token: Token) -> str:
    name, text = token.meta["name"], token.content
    if name == "ledger":
        try:
            return escape(lookup({key: dict(row) for key, row in claims.items()}, text))
        except ValueError:
            return f"<em>(not computed in this run: {escape(text)})</em>"
    if name == "claim-badge":
        if "verdict" in claims.get(text, {}):
            return badge_html(Verdict(claims[text]["verdict"]))
        return f"<em>(no verdict in this run: {escape(text)})</em>"
    if name == "quoted":
        return str(markdown.renderInline(text))
    if name == "math":
        return rf"\({escape(text)}\)"
    if name.startswith("cite"):
        keys = [key.strip() for key in text.split(",")]
        return f"[{escape('; '.join(works.get(key, key) for key in keys))}]"
    if name in LEADING:
        return escape(_title(text, Path(text.strip()).name))
    if name in ("sub", "sup"):
        return f"<{name}>{escape(text)}</{name}>"
    return f"<code>{escape(_title(text, _last_name(text)))}</code>"


def _title(text: str, otherwise: str) -> str:
    titled = TITLED.fullmatch(text.strip())
    return titled["title"] if titled else otherwise


def _last_name(text: str) -> str:
    """Write the name of a piece of code as Sphinx does: with a tilde, only what it ends in."""
    name = text.strip().lstrip("!")
    return name.rpartition(".")[2].lstrip("~") if name.startswith("~") else name


def cited_works(root: Path) -> dict[str, str]:
    """Return authors and year of every work of the book's bibliography by its key.

    Parameters
    ----------
    root : Path
        The top folder of the book; one without a bibliography has no works.
    """
    from pybtex.database import parse_file

    path = root / BIBLIOGRAPHY
    if not path.is_file():
        return {}
    return {key: _author_year(entry) for key, entry in parse_file(str(path)).entries.items()}


def _author_year(entry: Entry) -> str:
    people = entry.persons.get("author") or entry.persons.get("editor") or []
    names = [" ".join(map(str, person.rich_last_names)) for person in people]
    if len(names) > 2:
        names = [f"{names[0]} et al."]
    return ", ".join(filter(None, [" and ".join(names), entry.fields.get("year", "")]))


# Boxes and links


def _fence(markdown: MarkdownIt, token: Token) -> str:
    match = DIRECTIVE.match(token.info.strip())
    if match is None:
        return f"<pre><code>{escape(token.content)}</code></pre>"
    lines = token.content.splitlines(keepends=True)
    body = lines[next((i for i, line in enumerate(lines) if line[:1] != ":"), len(lines)) :]
    if match[1] == "div":
        return f'<div class="{escape(match[2])}">\n{markdown.render("".join(body))}</div>'
    title = markdown.renderInline(match[2] or match[1])
    return (
        f'<details open class="box">\n<summary>{title}</summary>\n'
        f"{markdown.render(''.join(body))}</details>"
    )


def with_titles(text: str, folder: Path) -> str:
    """Give links without words, ``[](page.ipynb)``, the title of the page that they lead to.

    Parameters
    ----------
    text : str
        Markdown.
    folder : Path
        Where the text is, and targets start from. A target that is no page stays as it is.
    """

    def titled(match: re.Match[str]) -> str:
        title = next(filter(None, map(_heading, _pages(folder / match["page"]))), "")
        return f"[{title}]({match['page']})" if title else match[0]

    return EMPTY_LINK.sub(titled, text)


def _pages(target: Path) -> Iterator[Path]:
    """Return the files that a link may mean, which need not say its kind."""
    for suffix in ("", ".ipynb", ".md"):
        path = target.with_name(target.name + suffix)
        if path.suffix in (".ipynb", ".md") and path.is_file():
            yield path


def _heading(page: Path) -> str:
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    found = re.search(r"^# +(.+)$", text, re.MULTILINE)
    return found[1].strip() if found else ""


def _unlink_neighbours(state: Any) -> None:
    """Leave links to other pages of the book as text: they are not beside a run's page."""
    for token in state.tokens:
        if token.type == "inline":
            token.children = list(_unlinked(token.children or []))


def _unlinked(tokens: Sequence[Token]) -> Iterator[Token]:
    target, shown = "", ""
    for token in tokens:
        if token.type == "link_open":
            target, shown = str(token.attrs.get("href", "")), ""
        if not target or target.startswith(("http://", "https://", "#")):
            yield token
        elif token.type == "link_close":
            if not shown:
                yield Token("text", "", 0, content=Path(target).stem)
        elif token.type != "link_open":
            shown += token.content or token.type
            yield token
        if token.type == "link_close":
            target = ""
