"""The lead picture of a page: one figure, shown directly below the finding.

The cell that draws it has the tag `LEAD`. On the page, the figure of this cell moves up, with its
caption and name. The code stays in its place, folded. The notebook that a reader downloads is
unchanged.
"""

from __future__ import annotations

import copy

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from speedbook.notebook.captions import shown_figures
from speedbook.notebook.files import cell_name, code_cells

LEAD = "lead"


def tagged_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """Return the code cells with the tag."""
    return [cell for cell in code_cells(notebook) if LEAD in cell.metadata.get("tags", [])]


def lead_problems(notebook: NotebookNode) -> list[str]:
    """Return a sentence for each fault of a notebook's lead tags."""
    names = [cell_name(notebook, cell) for cell in tagged_cells(notebook)]
    if len(names) < 2:
        return []
    return [f"one cell may have the tag `{LEAD}`; these have it: {', '.join(names)}"]


def take_lead(notebook: NotebookNode) -> NotebookNode | None:
    """Take the figure out of the cell with the tag, and return a cell that only shows it.

    Returns None without a tag. Raises a ValueError if the cell shows no figure, or several.
    """
    for cell in tagged_cells(notebook):
        figures = shown_figures(cell)
        if len(figures) != 1:
            raise ValueError(
                f"{cell_name(notebook, cell)} has the tag `{LEAD}`: it must show one figure; "
                f"it shows {len(figures)}"
            )
        metadata = {"tags": ["remove-input"]}
        if "mystnb" in cell.metadata:
            metadata["mystnb"] = cell.metadata.pop("mystnb")
        cell.outputs = [output for output in cell.outputs if output is not figures[0]]
        shown: NotebookNode = new_code_cell(  # type: ignore[no-untyped-call]
            # MyST-NB skips a cell without any source.
            "# The lead picture.",
            id="lead-picture",
            metadata=metadata,
            outputs=copy.deepcopy(figures),
        )
        return shown
    return None
