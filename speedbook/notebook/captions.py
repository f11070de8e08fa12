"""Captions of figures, in the metadata of the cells that show them.

The metadata of a cell with a figure hold the caption, in MyST, and the name that links use::

    "mystnb": {"figure": {"caption": "The finding. What is drawn.", "name": "fig-shares"}}

The book numbers the figure. A cell with a caption shows exactly one figure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from nbformat import NotebookNode

from speedbook.notebook.files import caption, cell_name, code_cells, figure_name
from speedbook.notebook.prose import plain_words, sentences

NAME = re.compile("fig-[a-z0-9]+(?:-[a-z0-9]+)*")
#: The most words of the first sentence, which is the finding, and of the whole caption.
LONGEST_FINDING, LONGEST = 30, 90
DISPLAYS = ("display_data", "execute_result")


def shown_figures(cell: NotebookNode) -> list[NotebookNode]:
    """Return the outputs of a cell that are figures of `speedbook.figures.show`."""
    return [
        output
        for output in cell.get("outputs", [])
        if "figure" in output.get("metadata", {}).get("speedbook", {})
    ]


def caption_problems(notebook: NotebookNode) -> list[str]:
    """Return a sentence for each fault of a notebook's captions.

    How many figures a cell shows is checked only after it has run.
    """
    problems, seen = [], set[str]()
    for cell in code_cells(notebook):
        if "figure" in cell.metadata.get("mystnb", {}):
            where = cell_name(notebook, cell)
            problems += [f"{where}: {fault}" for fault in _faults(cell)]
            if (name := figure_name(cell)) in seen:
                problems.append(f"{where}: another figure of the page has the name {name!r}")
            seen.add(name)
    return problems


def _faults(cell: NotebookNode) -> Iterator[str]:
    text = caption(cell).strip()
    if not NAME.fullmatch(name := figure_name(cell)):
        yield f"the name of its figure must be `fig-`, then letters, digits, hyphens; got {name!r}"
    if not text or "\n\n" in text:
        yield "the caption of its figure must be one paragraph"
    elif (count := len(plain_words(sentences(text)[0]))) > LONGEST_FINDING:
        yield f"the first sentence of a caption may have {LONGEST_FINDING} words; it has {count}"
    elif (count := len(plain_words(text))) > LONGEST:
        yield f"a caption may have {LONGEST} words; it has {count}"
    displays = [each for each in cell.get("outputs", []) if each.output_type in DISPLAYS]
    if len(displays) > 1:
        yield f"a caption is for one figure; the cell shows {len(displays)} things: split it"
