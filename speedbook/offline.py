"""One page of HTML of a run, in one file that needs no network and nothing beside it.

The prose of a notebook is MyST, of which a run's page understands what our notebooks use: formulas,
boxes, and roles. A number that is bound to the ledger is that of the run.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from html import escape
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import yaml
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from mdit_py_plugins.amsmath import amsmath_plugin
from mdit_py_plugins.colon_fence import colon_fence_plugin
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.myst_role import myst_role_plugin
from nbformat import NotebookNode

from speedbook.cards import badge_html
from speedbook.execution import ANSI
from speedbook.ledger import lookup
from speedbook.pages import counted
from speedbook.parameters import Parameter, Value
from speedbook.rules import Verdict
from speedbook.values import as_argument

STYLE = Path(__file__).with_name("offline.css")
MATHJAX = "sphinx-mathjax-offline", "sphinx-mathjax-offline/static/mathjax/tex-svg-full.js"
#: Characters of one output that the page shows; the notebook has the rest.
MOST = 100_000
#: Cells whose content the page shows elsewhere, or folds away.
PARAMETERS = frozenset({"parameters", "injected-parameters"})
DIRECTIVE = re.compile(r"\{([\w:+-]+)\}\s*(.*)")

Claims = Mapping[str, Mapping[str, Any]]


def page_html(
    notebook: NotebookNode,
    parameters: Sequence[Parameter],
    values: Mapping[str, Value],
    claims: Claims,
    facts: Sequence[str],
    macros: Mapping[str, Any],
) -> str:
    """Write the page.

    Parameters
    ----------
    notebook : NotebookNode
        As executed.
    parameters : sequence of Parameter
        Those of the notebook.
    values : mapping
        Parameter to value, as it ran.
    claims : mapping
        Rows of the ledger by claim, those of this run in place of the committed ones.
    facts : sequence of str
        What to say of the run, a line each.
    macros : mapping
        TeX macros of the book.
    """
    markdown = _markdown(claims)
    cells = "\n".join(_cell(cell, markdown) for cell in notebook.cells)
    # Below the title stands what is special about this run.
    head, title_end, text = cells.partition("</h1>")
    body = f"{head}{title_end}\n{_box(parameters, values, facts)}{text}"
    mathjax = {"tex": {"macros": dict(macros)}, "options": {"enableMenu": False}}
    title = next(iter(notebook.cells[0].source.strip().splitlines()), "").lstrip("# ")
    return (
        '<!DOCTYPE html>\n<html lang="en-GB">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        # An icon of its own, or a browser would ask for one.
        f'<link rel="icon" href="data:,">\n<title>{escape(title)}</title>\n'
        f"<style>\n{STYLE.read_text(encoding='utf-8')}</style>\n"
        f"<script>MathJax = {_in_script(json.dumps(mathjax))};</script>\n"
        f"<script>{_in_script(mathjax_source())}</script>\n"
        f"</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def mathjax_source() -> str:
    """Return the MathJax that draws formulas with shapes of its own, so that it needs no fonts."""
    name, file = MATHJAX
    return Path(str(distribution(name).locate_file(file))).read_text(encoding="utf-8")


def _in_script(code: str) -> str:
    """Hide what would end a script, or keep it from ending: it can only stand in strings."""
    return re.sub("<(?=/script|!--)", r"\\x3C", code, flags=re.I)


def tex_macros(root: Path) -> dict[str, Any]:
    """Return the TeX macros of the book's ``_config.yml``; none where there are none."""
    config: Any = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    for key in ("sphinx", "config", "mathjax3_config", "tex", "macros"):
        config = (config or {}).get(key)
    return dict(config or {})


def _box(parameters: Sequence[Parameter], values: Mapping[str, Value], facts: Sequence[str]) -> str:
    rows = "\n".join(_row(parameter, values[parameter.name]) for parameter in parameters)
    lines = "\n".join(f"<p>{escape(fact)}</p>" for fact in facts)
    count = counted(len(parameters), "parameter")
    return (
        f'<section class="run">\n{lines}\n<details>\n<summary>{count}</summary>\n<table>\n'
        "<thead><tr><th>Parameter</th><th>Value</th><th>Meaning</th></tr></thead>\n"
        f"<tbody>\n{rows}\n</tbody>\n</table>\n</details>\n</section>"
    )


def _row(parameter: Parameter, value: Value) -> str:
    shown, mark = as_argument(value), ""
    if value != parameter.default:
        mark = ' class="changed"'
        shown += f" (default {as_argument(parameter.default)})"
    meaning = f"{parameter.help}; {parameter.rule}" if parameter.rule else parameter.help
    return (
        f"<tr{mark}><td><code>{parameter.name}</code></td>"
        f"<td>{escape(shown)}</td><td>{escape(meaning)}</td></tr>"
    )


def _cell(cell: NotebookNode, markdown: MarkdownIt) -> str:
    if cell.cell_type == "markdown":
        return str(markdown.render(cell.source))
    if cell.cell_type != "code":
        return ""
    tags = set(cell.metadata.get("tags", []))
    source = "" if tags & PARAMETERS else f"<pre><code>{escape(cell.source)}</code></pre>"
    if "hide-input" in tags:
        source = f"<details><summary>Code</summary>\n{source}\n</details>"
    return "\n".join([source, *(_output(output) for output in cell.outputs)])


def _output(output: NotebookNode) -> str:
    if output.output_type == "stream":
        return _pre(output.text, output.name)
    if output.output_type == "error":
        return _pre("\n".join(output.traceback), "error")
    data = output.get("data", {})
    if "image/png" in data:
        shown = output.metadata.get("image/png", {})
        width = f' width="{shown["width"]}"' if "width" in shown else ""
        address = f"data:image/png;base64,{data['image/png'].strip()}"
        alt = escape(shown.get("alt", ""), quote=True)
        return f'<figure><img src="{address}" alt="{alt}"{width}></figure>'
    if "image/svg+xml" in data:
        code = b64encode(data["image/svg+xml"].encode()).decode()
        return f'<figure><img src="data:image/svg+xml;base64,{code}" alt=""></figure>'
    if len(data.get("text/html", "")) in range(1, MOST):
        return f'<div class="output">{data["text/html"]}</div>'
    return _pre(data.get("text/plain", ""), "result")


def _pre(text: str, kind: str) -> str:
    text = ANSI.sub("", text)
    if len(text) > MOST:
        text = f"{text[:MOST]}\n… {len(text) - MOST:,} more characters are in the notebook."
    return f'<pre class="{kind}">{escape(text)}</pre>'


# Prose


def _markdown(claims: Claims) -> MarkdownIt:
    markdown = MarkdownIt("commonmark").enable("table")
    for plugin in (
        myst_role_plugin,
        dollarmath_plugin,
        amsmath_plugin,
        colon_fence_plugin,
        deflist_plugin,
    ):
        markdown.use(plugin)
    rules: dict[str, Any] = {
        "math_inline": lambda token: rf"\({escape(token.content)}\)",
        "math_inline_double": lambda token: rf"\[{escape(token.content)}\]",
        "math_block": lambda token: rf"<div>\[{escape(token.content)}\]</div>",
        "math_block_label": lambda token: rf"<div>\[{escape(token.content)}\]</div>",
        "amsmath": lambda token: f"<div>{escape(token.content)}</div>",
        "myst_role": partial(_role, markdown, claims),
        "fence": partial(_fence, markdown),
        "colon_fence": partial(_fence, markdown),
    }
    for name, rule in rules.items():
        markdown.add_render_rule(name, _as_renderer(rule))
    markdown.core.ruler.push("links", _unlink_neighbours)
    return markdown


def _as_renderer(rule: Any) -> Any:
    def render(_: RendererHTML, tokens: Sequence[Token], place: int, *__: Any) -> str:
        return str(rule(tokens[place]))

    return render


def _role(markdown: MarkdownIt, claims: Claims, token: Token) -> str:
    name, text = token.meta["name"], token.content
    if name == "ledger":
        try:
            return escape(lookup({key: dict(row) for key, row in claims.items()}, text))
        except ValueError:
            return f"<em>(not recorded: {escape(text)})</em>"
    if name == "claim-badge" and "verdict" in claims.get(text, {}):
        return badge_html(Verdict(claims[text]["verdict"]))
    if name == "quoted":
        return str(markdown.renderInline(text))
    if name.startswith("cite"):
        return f"[{escape(text)}]"
    return f"<code>{escape(text)}</code>"


def _fence(markdown: MarkdownIt, token: Token) -> str:
    match = DIRECTIVE.match(token.info.strip())
    if match is None:
        return f"<pre><code>{escape(token.content)}</code></pre>"
    lines = token.content.splitlines(keepends=True)
    body = lines[next((i for i, line in enumerate(lines) if line[:1] != ":"), len(lines)) :]
    title = markdown.renderInline(match[2] or match[1])
    return (
        f'<details open class="box">\n<summary>{title}</summary>\n'
        f"{markdown.render(''.join(body))}</details>"
    )


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
