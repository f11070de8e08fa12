"""One page of HTML of a run, in one file that needs no network and nothing beside it."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from copy import deepcopy
from html import escape
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import yaml
from nbformat import NotebookNode

from speedbook.claims.ledger import read_ledger
from speedbook.claims.registry import load_registry
from speedbook.notebook.parameters import Parameter, Value
from speedbook.notebook.values import as_shown
from speedbook.press.run_text import (
    Claims,
    Render,
    cited_works,
    output_renderer,
    prose_renderer,
    with_titles,
)
from speedbook.run.execution import ANSI
from speedbook.run.folder import Request
from speedbook.run.folder import facts as run_facts
from speedbook.run.manifest import Manifest
from speedbook.text import counted

STYLE = Path(__file__).with_name("run_page.css")
MATHJAX = "sphinx-mathjax-offline", "sphinx-mathjax-offline/static/mathjax/tex-svg-full.js"
#: Characters of one output that the page shows; the notebook has the rest.
MOST = 100_000
#: Cells whose content the page shows elsewhere, or folds away.
PARAMETERS = frozenset({"parameters", "injected-parameters"})
#: Pictures that an output may hold; the first that is there is shown.
PICTURES = "image/png", "image/jpeg", "image/svg+xml"


def page_html(
    notebook: NotebookNode,
    parameters: Sequence[Parameter],
    values: Mapping[str, Value],
    claims: Claims,
    facts: Sequence[str],
    macros: Mapping[str, Any],
    works: Mapping[str, str],
    failure: str = "",
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
    works : mapping
        Authors and year of a work by the key that cites it.
    failure : str
        Why the run stopped before its end, if it did.
    """
    prose, shown = prose_renderer(claims, works), output_renderer()
    cells = "\n".join(_cell(cell, prose, shown) for cell in notebook.cells)
    # Below the title stands what is special about this run.
    head, title_end, text = cells.partition("</h1>")
    body = f"{head}{title_end}\n{_box(parameters, values, facts, failure)}{text}"
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


def _box(
    parameters: Sequence[Parameter],
    values: Mapping[str, Value],
    facts: Sequence[str],
    failure: str,
) -> str:
    rows = "\n".join(_row(parameter, values[parameter.name]) for parameter in parameters)
    lines = "\n".join(f"<p>{escape(fact)}</p>" for fact in facts)
    count = counted(len(parameters), "parameter")
    note = _failure_note(failure) + _note(
        [p for p in parameters if values[p.name] != p.default], values
    )
    return (
        f'<section class="run">\n{lines}\n{note}<details>\n<summary>{count}</summary>\n<table>\n'
        "<thead><tr><th>Parameter</th><th>Value</th><th>Meaning</th></tr></thead>\n"
        f"<tbody>\n{rows}\n</tbody>\n</table>\n</details>\n</section>"
    )


def _failure_note(failure: str) -> str:
    """Say at the top that a run stopped, and what is missing for it."""
    if not failure:
        return ""
    return (
        '<div class="note" role="note">\n<p><strong>This run stopped before its end</strong>, and '
        "what comes after that cell was not computed: there are no figures, tables, verdicts or "
        f"numbers of it.</p>\n<pre>{escape(failure)}</pre>\n</div>\n"
    )


def _note(changed: Sequence[Parameter], values: Mapping[str, Value]) -> str:
    """Warn that the words of the page are older than its numbers; at the defaults they are not."""
    if not changed:
        return ""
    listed = "\n".join(
        f"<li><code>{parameter.name}</code>: {escape(as_shown(parameter.default))} → "
        f"<strong>{escape(as_shown(values[parameter.name]))}</strong></li>"
        for parameter in changed
    )
    return (
        '<div class="note" role="note">\n<p>Changed from the defaults:</p>\n'
        f"<ul>\n{listed}\n</ul>\n"
        "<p><strong>The text, and the descriptions of figures, were written for the defaults"
        "</strong> and may not hold here. Figures, tables, verdict cards, and the numbers that the "
        "text takes from a card are of this run; of other pages' claims, they are the book's.</p>\n"
        "</div>\n"
    )


def _row(parameter: Parameter, value: Value) -> str:
    shown, mark = as_shown(value), ""
    if value != parameter.default:
        mark = ' class="changed"'
        shown += f" (default {as_shown(parameter.default)})"
    meaning = f"{parameter.help}; {parameter.rule}" if parameter.rule else parameter.help
    return (
        f"<tr{mark}><td><code>{parameter.name}</code></td>"
        f"<td>{escape(shown)}</td><td>{escape(meaning)}</td></tr>"
    )


def _cell(cell: NotebookNode, prose: Render, shown: Render) -> str:
    if cell.cell_type == "markdown":
        return prose(cell.source)
    if cell.cell_type != "code":
        return ""
    tags = set(cell.metadata.get("tags", []))
    source = "" if tags & PARAMETERS else f"<pre><code>{escape(cell.source)}</code></pre>"
    if "hide-input" in tags:
        source = f"<details><summary>Code</summary>\n{source}\n</details>"
    return "\n".join([source, *(_output(output, shown) for output in cell.outputs)])


def _output(output: NotebookNode, shown: Render) -> str:
    if output.output_type == "stream":
        return _pre(output.text, output.name)
    if output.output_type == "error":
        return _pre("\n".join(output.traceback), "error")
    data = output.get("data", {})
    for kind in PICTURES:
        if kind in data:
            return _picture(kind, data[kind], output.metadata.get(kind, {}))
    if len(data.get("text/html", "")) in range(1, MOST):
        return f'<div class="output">{data["text/html"]}</div>'
    for kind in ("text/markdown", "text/latex"):
        if len(data.get(kind, "")) in range(1, MOST):
            return f'<div class="output">{shown(data[kind])}</div>'
    return _pre(data.get("text/plain", ""), "result")


def _picture(kind: str, content: str, shown: Mapping[str, Any]) -> str:
    code = b64encode(content.encode()).decode() if kind == "image/svg+xml" else content.strip()
    width = f' width="{shown["width"]}"' if "width" in shown else ""
    alt = escape(shown.get("alt", ""), quote=True)
    return f'<figure><img src="data:{kind};base64,{code}" alt="{alt}"{width}></figure>'


def _pre(text: str, kind: str) -> str:
    text = ANSI.sub("", text)
    if len(text) > MOST:
        text = f"{text[:MOST]}\n… {len(text) - MOST:,} more characters are in the notebook."
    return f'<pre class="{kind}">{escape(text)}</pre>'


def write_page(request: Request, executed: NotebookNode, manifest: Manifest) -> str:
    """Write the page of a run, with what the book's ledger says of other pages' claims."""
    registry = load_registry(request.root)
    titles = {claim.id: {"title": claim.title} for claim in registry.claims}
    # What this notebook is to compute, and a run that failed has not, may not come from the book.
    own = {claim.id for claim in registry.claims if claim.notebook == request.name}
    rows = read_ledger(request.root)["claims"]
    claims = titles | {name: row for name, row in rows.items() if name not in own}
    records = manifest.results.records
    claims |= {name: {**rows.get(name, {}), **record} for name, record in records.items()}
    shown, place = deepcopy(executed), (request.root / request.name).parent
    for cell in shown.cells:
        if cell.cell_type == "markdown":
            cell.source = with_titles(cell.source, place)
    return page_html(
        shown,
        request.parameters,
        request.values,
        claims,
        run_facts(request, manifest),
        tex_macros(request.root),
        cited_works(request.root),
        manifest.failure,
    )
