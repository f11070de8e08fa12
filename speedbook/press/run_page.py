"""The HTML page of a run, in a single file that needs no network and no other files.

The book's own parser reads the notebook, without Sphinx. Links to other pages become text, since
those pages are not part of the run. A number that is bound to the ledger is shown with its value in
this run. The import of this module takes a second, so import it only when a page is written.
"""

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
from docutils.core import publish_parts
from nbformat import NotebookNode
from pybtex.database import parse_file
from pybtex.exceptions import PybtexError

from speedbook.claims.ledger import read_ledger
from speedbook.claims.registry import load_registry
from speedbook.notebook.captions import shown_figures
from speedbook.notebook.files import HEADING, V4, caption, code_cells, figure_name, read_notebook
from speedbook.notebook.parameters import Parameter, Value
from speedbook.notebook.values import as_shown
from speedbook.press import powers
from speedbook.press.attachments import STAND_IN, with_stand_ins
from speedbook.press.displayed import displayed
from speedbook.press.front_matter import split_first
from speedbook.press.lead import tagged_cells, take_lead
from speedbook.press.run_reader import Book, Reader
from speedbook.press.single_page import single_page
from speedbook.run.execution import ANSI
from speedbook.run.folder import Request
from speedbook.run.folder import facts as run_facts
from speedbook.run.manifest import Manifest

BIBLIOGRAPHY = "book/references.bib"
#: The MathJax that draws formulas as shapes and needs no fonts.
MATHJAX = "sphinx-mathjax-offline", "sphinx-mathjax-offline/static/mathjax/tex-svg-full.js"
#: The most characters of one output that the page shows; the notebook has the rest.
MOST = 100_000
#: Cells whose content the page shows elsewhere.
PARAMETERS = frozenset({"parameters", "injected-parameters"})
#: The forms of an output: the page shows the first one that exists and is not too long, or text.
PICTURES = "image/png", "image/jpeg", "image/svg+xml"
TEXTS = "text/html", "text/markdown", "text/latex"
#: The beginning of a pandas table, up to its classes.
DATA_FRAME = re.compile(r'<table [^>]*class="(?=dataframe)')
#: A link without words, which gets the title of its target.
EMPTY_LINK = re.compile(r"\[\]\((?P<page>[^)#\s]+)\)")
#: For docutils: the extensions are those of ``_config.yml``; only errors are shown, on the page.
EXTENSIONS = "amsmath attrs_block attrs_inline colon_fence deflist dollarmath fieldlist smartquotes"
SETTINGS = {
    "_disable_config": True,
    "halt_level": 5,
    "math_output": "MathJax unused",
    "myst_all_links_external": True,
    "myst_enable_extensions": EXTENSIONS.split(),
    "myst_highlight_code_blocks": False,
    "nb_execution_mode": "off",
    "nb_output_folder": "",
    "report_level": 3,
    "warning_stream": False,
}


def write_page(request: Request, executed: NotebookNode, manifest: Manifest) -> str:
    """Write the page of a run; claims of other pages come from the book's ledger."""
    registry, rows = load_registry(request.root), read_ledger(request.root)["claims"]
    titles = {claim.id: {"title": claim.title} for claim in registry.claims}
    # If the run failed before it computed its own claims, they must not come from the book.
    own = {claim.id for claim in registry.claims if claim.notebook == request.name}
    claims = titles | {name: row for name, row in rows.items() if name not in own}
    records = manifest.results.records
    claims |= {name: {**rows.get(name, {}), **record} for name, record in records.items()}
    return page_html(
        executed,
        request.parameters,
        request.values,
        claims,
        run_facts(request, manifest),
        tex_macros(request.root),
        cited_works(request.root),
        manifest.failure,
        (request.root / request.name).parent,
        tuple(manifest.numbers),
    )


def page_html(
    notebook: NotebookNode,
    parameters: Sequence[Parameter],
    values: Mapping[str, Value],
    claims: Mapping[str, Mapping[str, Any]],
    facts: Sequence[str],
    macros: Mapping[str, Any],
    works: Mapping[str, str],
    failure: str = "",
    folder: Path | None = None,
    numbers: Sequence[str] = (),
) -> str:
    """Write the page.

    Parameters
    ----------
    notebook : NotebookNode
        As executed.
    parameters, values : sequence of Parameter, mapping
        The parameters of the notebook, and their values in this run by name.
    claims : mapping
        Rows of the ledger by claim; rows of this run replace the committed rows.
    facts : sequence of str
        Facts about the run, one line for each.
    macros, works : mapping
        TeX macros of the book, and for each key of a citation the authors and the year of the work.
    failure : str
        Why the run stopped before its end, if it did.
    folder : Path, optional
        The folder from which the notebook's links start; without it, they get no titles.
    numbers : sequence of str
        Files of numbers in the folder of the run, to which the page links.
    """
    shown = deepcopy(notebook)
    pictures: dict[str, str] = {}
    _lead_first(shown)
    for cell in shown.cells:
        _prepare(cell, folder, pictures)
    with Book(claims, works, numbered := _numbered(shown)):
        parts = publish_parts(
            V4.writes(shown),
            parser=Reader(pictures, numbered),
            writer_name="html5",
            settings_overrides=SETTINGS,
        )
    mathjax = json.dumps({"tex": {"macros": dict(macros)}, "options": {"enableMenu": False}})
    name, file = MATHJAX
    source = Path(str(distribution(name).locate_file(file))).read_text(encoding="utf-8")
    return single_page(
        "run_page.html",
        **{name: parts[name] for name in ("title", "body_pre_docinfo", "docinfo")},
        body=STAND_IN.sub(lambda found: pictures.get(found[0], found[0]), parts["body"]),
        # Text that would end a script, or keep it from ending, can only occur in strings.
        script=re.sub("(?i)<(?=/script|!--)", r"\\x3C", f"MathJax = {mathjax};\n{source}"),
        parameters=[(p, as_shown(values[p.name]), as_shown(p.default)) for p in parameters],
        facts=facts,
        failure=failure,
        numbers=numbers,
    )


def tex_macros(root: Path) -> dict[str, Any]:
    """Return the TeX macros of the book's ``_config.yml``, if it has any.

    Raises a ValueError if the file is not YAML or its macros are not a mapping.
    """
    path = root / "_config.yml"
    try:
        config: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
        for key in ("sphinx", "config", "mathjax3_config", "tex", "macros"):
            config = (config or {}).get(key)
        return dict(config or {})
    except (yaml.YAMLError, ValueError, TypeError, AttributeError) as error:
        raise ValueError(f"{path}: holds no settings of a book ({error})") from None


def cited_works(root: Path) -> dict[str, str]:
    """Return authors and year of the works in the book's bibliography, if it has one, by key.

    Raises a ValueError if BibTeX could not read the file.
    """
    path, works = root / BIBLIOGRAPHY, {}
    try:
        entries = parse_file(str(path)).entries if path.is_file() else {}
    except PybtexError as error:
        raise ValueError(f"{path}: cannot be read ({error})") from None
    for key, entry in entries.items():
        people = entry.persons.get("author") or entry.persons.get("editor") or []
        names = [" ".join(map(str, person.rich_last_names)) for person in people]
        authors = f"{names[0]} et al." if len(names) > 2 else " and ".join(names)
        works[key] = ", ".join(filter(None, [authors, entry.fields.get("year", "")]))
    return works


# Cells


def _lead_first(notebook: NotebookNode) -> None:
    """Show the lead picture below the finding, if the run drew it."""
    if [len(shown_figures(cell)) for cell in tagged_cells(notebook)] != [1]:
        return
    first, lead = notebook.cells[0], take_lead(notebook)
    below = deepcopy(first)
    below.id = "below-the-lead"
    first.source, below.source = split_first(first)
    notebook.cells[:1] = [first, lead, below]


def _numbered(notebook: NotebookNode) -> dict[str, int]:
    """Return the numbers of the page's captioned figures, by name."""
    cells = [cell for cell in code_cells(notebook) if caption(cell) and shown_figures(cell)]
    return {figure_name(cell): number for number, cell in enumerate(cells, 1)}


def _prepare(cell: NotebookNode, folder: Path | None, pictures: dict[str, str]) -> None:
    """Embed attached pictures in a cell, and remove what is shown elsewhere or too long."""
    if PARAMETERS & set(cell.metadata.get("tags", [])):
        cell.metadata["tags"].append("remove-input")
    for output in cell.get("outputs", []):
        _shorten(output, bool(caption(cell)))
    if caption(cell) and folder:
        options = cell.metadata["mystnb"]["figure"]
        options["caption"] = EMPTY_LINK.sub(lambda link: _title(folder, link), caption(cell))
    if attached := cell.pop("attachments", {}):
        cell.source = with_stand_ins(cell.source, attached, pictures)
    if cell.cell_type == "markdown" and folder:
        cell.source = EMPTY_LINK.sub(lambda link: _title(folder, link), cell.source)


def _title(folder: Path, link: re.Match[str]) -> str:
    """Return the title of the page to which a link leads, with or without its suffix."""
    for page in (folder / f"{link['page']}{suffix}" for suffix in ("", ".ipynb", ".md")):
        if page.suffix in (".ipynb", ".md") and page.is_file():
            first = read_notebook(page).cells[0].source if page.suffix == ".ipynb" else ""
            if found := HEADING.search(first or page.read_text(encoding="utf-8")):
                return found[1]
    return link[0]


def _shorten(output: NotebookNode, captioned: bool) -> None:
    """Reduce an output to what the page shows, without terminal colours."""
    if "text" in output:
        output.text = _short(output.text)
    if "traceback" in output:
        output.traceback = [_short("\n".join(output.traceback))]
    if "data" in output:
        output.data = _shown(output.data, output.metadata, captioned)


def _short(text: str) -> str:
    cut, more = ANSI.sub("", text[:MOST]), len(text) - MOST
    return f"{cut}\n… {more:,} more characters are in the notebook." if more > 0 else cut


def _shown(data: Mapping[str, str], about: Mapping[str, Any], captioned: bool) -> dict[str, str]:
    for kind in (kind for kind in PICTURES if kind in data):
        picture = _picture(kind, data[kind], about.get(kind, {}))
        # With a caption it is already in a figure.
        return {"text/html": picture if captioned else f"<figure>{picture}</figure>"}
    for kind in (kind for kind in TEXTS if len(data.get(kind, "")) in range(1, MOST)):
        html = _table_html(data[kind]) if kind == "text/html" else displayed(data[kind])
        return {"text/html": html}
    return {"text/plain": _short(data.get("text/plain", ""))}


def _picture(kind: str, content: str, about: Mapping[str, Any]) -> str:
    code = b64encode(content.encode()).decode() if kind == "image/svg+xml" else content.strip()
    width = f' width="{about["width"]}"' if "width" in about else ""
    alt = escape(about.get("alt", ""), quote=True)
    return f'<img src="data:{kind};base64,{code}" alt="{alt}"{width}>'


def _table_html(html: str) -> str:
    r"""Raise powers in pandas tables, but keep MathJax out: a column may be called ``\(x\)``."""
    raised = powers.DATA_FRAME.sub(powers.raised, html)
    return DATA_FRAME.sub(r"\g<0>mathjax_ignore ", raised)
