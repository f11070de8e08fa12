"""The template of a notebook's page: what stands between its title and its text.

A notebook says two things of itself, in a paragraph of its first cell that reads well in JupyterLab
too::

    *You will see* what the page shows. *You need* what to know before, or nothing.

And a line of its own, below the title, may say where the paper has what the page is about::

    *In the paper:* Proposition 2, Appendix A.4.

A search for a name with which it begins leads to the page.

All else the press knows: the verdicts of its claims, how long it takes to read, how long it ran,
the command that runs it again, and its parameters. In the book, the paragraph becomes a box that
holds all of it, and the parameters cell, whose content is in the box, is not shown. The notebook
that a reader downloads is the one that ran.
"""

from __future__ import annotations

import copy
import math
import re
import shlex
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from speedbook.notebook.files import RUN_TIME, claim_records, code_cells
from speedbook.notebook.parameters import Parameter, Value, notebook_parameters
from speedbook.notebook.values import as_argument
from speedbook.text import counted, duration

SEE, NEED = "*You will see*", "*You need*"
PLACE = "*In the paper:*"
#: What the paper numbers. The search of the book drops numbers, but finds such names in an index.
NUMBERED = r"(?:Algorithm|Corollary|Equation|Figure|Lemma|Proposition|Theorem) \(?\d+[a-z]?\)?"
NAMES = re.compile(rf"{re.escape(PLACE)}\s+({NUMBERED}(?:(?:,| and)\s+{NUMBERED})*)")
FRONT = re.compile(rf"{re.escape(SEE)}\s+(.+?)\s+{re.escape(NEED)}\s+(.+)", re.S)
BLANK_LINES = re.compile(r"\n(?:[ \t]*\n)+")
#: A page cannot know these, and would say them wrongly on another machine.
TIMES = re.compile(r"\*(?:Reading|Running)\*", re.I)
#: Cells that hold parameters: the notebook's own, and those that papermill puts in.
HIDDEN = frozenset({"parameters", "injected-parameters"})

#: Where the folded solution of an exercise starts and ends.
SOLUTION = re.compile(r"^```\{solution-(start|end)\}.*$", re.M)

#: Where the book explains reruns.
RERUN = "See {doc}`how to run a page again </book/rerun>`."

WORDS_A_MINUTE = 200
#: A displayed formula, a figure or a table takes as long as so many words.
WORDS_A_DISPLAY = 60


class Front(NamedTuple):
    """What a notebook says of itself: what a reader will see, and needs to know before."""

    see: str
    need: str


def page_problems(notebook: NotebookNode) -> list[str]:
    """Say what a notebook lacks to become a page of the book, a sentence each."""
    first = notebook.cells[0] if notebook.cells else None
    if first is None or first.cell_type != "markdown" or not first.source.startswith("# "):
        return ["its first cell must be Markdown and begin with the title, `# …`"]
    if len(fronts := [text for text in _paragraphs(first) if _read_front(text)]) != 1:
        return [f"its first cell must have one paragraph `{SEE} … {NEED} …`; it has {len(fronts)}"]
    if TIMES.search(fronts[0]):
        return ["its first cell must not say how long it takes to read or run: it is measured"]
    return []


def _paragraphs(cell: NotebookNode) -> list[str]:
    return BLANK_LINES.split(cell.source.strip())


def _read_front(paragraph: str) -> Front | None:
    match = FRONT.fullmatch(" ".join(paragraph.split()))
    return Front(*match.groups()) if match else None


def as_page(notebook: NotebookNode, name: str, claims: Sequence[str]) -> NotebookNode:
    """Return an executed notebook as the book shows it, with the claims that it puts to the test.

    A ValueError if it lacks a title, the paragraph about itself or a valid parameters cell.
    """
    if problems := page_problems(notebook):
        raise ValueError("; ".join(problems))
    page = copy.deepcopy(notebook)
    texts = []
    for text in _paragraphs(page.cells[0]):
        if front := _read_front(text):
            text = _box(front, notebook, name, claims)
        elif text.startswith(PLACE):
            text = _place(text)
        texts.append(text)
    page.cells[0].source = "\n\n".join(texts)
    page.cells = [shown for cell in page.cells for shown in (*_targets(cell), cell)]
    for cell in code_cells(page):
        if HIDDEN & set(cell.metadata.get("tags", [])):
            cell.metadata.tags.append("remove-cell")
    return page


def _place(text: str) -> str:
    """Write the line on the paper in MyST, with the names that it begins with for the search."""
    names = re.findall(NUMBERED, begun[1]) if (begun := NAMES.match(text)) else []
    entries = "".join(f"```{{index}} ! {name}\n```\n\n" for name in names)
    return f"{entries}{{.sb-place}}\n{text}"


def card_anchor(claim: str) -> str:
    """Return the name of the place of a claim's card, as links give it."""
    return f"card-{claim.lower()}"


def _targets(cell: NotebookNode) -> list[NotebookNode]:
    """Return a target for each card that a cell shows, to stand before it."""
    names = [card_anchor(entry["id"]) for entry in claim_records(cell)]
    return [new_markdown_cell(f"({name})=", id=name) for name in names]  # type: ignore[no-untyped-call]


def _box(front: Front, notebook: NotebookNode, name: str, claims: Sequence[str]) -> str:
    """Write the box in MyST: a list of terms, and the parameters to be unfolded."""
    parameters = notebook_parameters(notebook)
    terms = {
        "You will see": front.see,
        "You need": front.need,
        "Verdicts": "\n".join(f"- {{claim-badge}}`{c}` {{ledger}}`{c}.title`" for c in claims),
        "Time": time_text(notebook),
        "Run it again": f"```bash\n{rerun_command(name, parameters)}\n```\n{RERUN}",
    }
    listed = "\n\n".join(f"{term}\n: {_indented(text)}" for term, text in terms.items() if text)
    count = counted(len(parameters), "parameter")
    return (
        f":::::{{div}} sb-front\n{listed}\n\n"
        f"::::{{dropdown}} {count}: type, default, meaning, range\n"
        ":::{parameter-table}\n:::\n::::\n:::::"
    )


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")


def time_text(notebook: NotebookNode) -> str:
    """Say how long a page takes to read and, where the press measured it, took to run."""
    text = f"about {counted(reading_minutes(notebook), 'minute')} to read"
    if (seconds := notebook.metadata.get(RUN_TIME)) is None:
        return f"{text}."
    return f"{text}; it ran in {duration(seconds)} for this book."


def reading_minutes(notebook: NotebookNode) -> int:
    """Return how long the page takes to read: its words, displays and cells of code in view.

    What the solution of an exercise folds, from one cell to another, is not in view.
    """
    words = displays = 0
    folded = False
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            text, folded = _unfolded(cell.source, folded)
            words += len(text.split())
            displays += text.count("$$") // 2
        elif folded:
            continue
        elif not {"hide-input", *HIDDEN} & set(cell.metadata.get("tags", [])):
            words += len(cell.source.split())
        displays += sum("data" in output for output in cell.get("outputs", []))
    return math.ceil((words + WORDS_A_DISPLAY * displays) / WORDS_A_MINUTE)


def _unfolded(text: str, folded: bool) -> tuple[str, bool]:
    """Return what of a text is no solution, given whether it begins within one, and how it ends."""
    first, *parts = SOLUTION.split(text)
    kept = [] if folded else [first]
    for gate, part in zip(parts[::2], parts[1::2], strict=True):
        folded = gate == "start"
        kept += [] if folded else [part]
    return "".join(kept), folded


def rerun_command(name: str, parameters: Sequence[Parameter]) -> str:
    """Return a command that runs a notebook with the first parameter for which we know a change."""
    command = f".venv/bin/speedbook rerun {PurePosixPath(name).stem}"
    for parameter in parameters:
        if (value := another_value(parameter)) is not None:
            return f"{command} -p {shlex.quote(f'{parameter.name}={as_argument(value)}')}"
    return command


def another_value(parameter: Parameter) -> Value | None:
    """Return a value that a parameter may have besides its default, or None if we know none.

    Examples
    --------
    >>> another_value(Parameter("rounds", "int", 60, "rounds", low=20, high=100))
    30
    """
    for value in _candidates(parameter):
        try:
            return parameter.check(value)
        except ValueError:
            continue
    return None


def _candidates(parameter: Parameter) -> list[Value]:
    value, choices = parameter.default, parameter.choices
    if choices and value in choices:
        return [choices[(choices.index(value) + 1) % len(choices)]]
    if isinstance(value, list):
        return [value[:-1]] if len(value) > 1 else []
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [2 * value, value // 2] if value > 1 else [value + 1]
    return [2 * value, value / 2] if isinstance(value, float) and value else []
