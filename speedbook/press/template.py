"""The template of a notebook's page.

A page begins with the title, the place in the paper, the finding and its picture. The cells of the
notebook follow. At the foot are the command, the time and the parameters. See
`speedbook.press.front_matter`, `speedbook.press.lead` and `speedbook.press.foot`. The parameters
cell is hidden, since the foot shows its content. The notebook that a reader downloads is unchanged.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from speedbook.notebook.captions import caption_problems
from speedbook.notebook.files import code_cells
from speedbook.press.cards import card_targets, complete_cards
from speedbook.press.foot import foot
from speedbook.press.front_matter import first_cell, front_problems
from speedbook.press.lead import lead_problems, take_lead
from speedbook.press.reading_time import reading_minutes
from speedbook.text import counted

#: Tags of parameter cells: the notebook's own, and those that papermill inserts.
HIDDEN = frozenset({"parameters", "injected-parameters"})


def page_problems(notebook: NotebookNode) -> list[str]:
    """Return a sentence for each reason why a notebook cannot be a page of the book."""
    return front_problems(notebook) + lead_problems(notebook) + caption_problems(notebook)


def published(notebook: NotebookNode) -> NotebookNode:
    """Return a notebook for readers to download: without the answers to the tasks of a class.

    The cells with answers and with tests are known from the metadata of nbgrader. Sphinx copies the
    notebook for download, so it is not enough to hide these cells on the page.
    """
    shown = copy.deepcopy(notebook)
    shown.cells = [cell for cell in notebook.cells if not _answers(cell)]
    return shown


def _answers(cell: NotebookNode) -> bool:
    about = cell.metadata.get("nbgrader", {})
    return bool(about.get("solution") or about.get("grade"))


def as_page(
    notebook: NotebookNode, name: str, rows: Mapping[str, Mapping[str, Any]] | None = None
) -> NotebookNode:
    """Return an executed notebook as the book shows it.

    Parameters
    ----------
    notebook : NotebookNode
        The executed notebook, which is not changed.
    name : str
        Its path from the root of the book.
    rows : mapping, optional
        The rows of the built ledger by claim, for the cards.

    Raises
    ------
    ValueError
        If the notebook has `page_problems`, no valid parameters cell, or a lead without a picture.
    """
    if problems := page_problems(notebook):
        raise ValueError("; ".join(problems))
    page = copy.deepcopy(notebook)
    lead = take_lead(page)
    minutes = counted(reading_minutes(notebook), "minute")
    # Both parts of the first cell may show its attachments.
    top, below = (copy.deepcopy(page.cells[0]) for _ in range(2))
    below.id = "below-the-lead"
    top.source, below.source = first_cell(page.cells[0], minutes)
    cells = [top, *([lead] if lead else []), *([below] if below.source else [])]
    for cell in page.cells[1:]:
        cells += [_markdown(target, target.strip("()=")) for target in card_targets(cell)]
        complete_cards(cell, name, rows)
        cells.append(cell)
    page.cells = [*cells, _markdown(foot(notebook, name), "foot")]
    for cell in code_cells(page):
        tags = cell.metadata.setdefault("tags", [])
        if HIDDEN & set(tags):
            tags.append("remove-cell")
        # MyST-NB makes a class of it, by which a live page finds the cell.
        tags.append(f"run-{cell.id}")
    return page


def _markdown(text: str, name: str) -> NotebookNode:
    cell: NotebookNode = new_markdown_cell(text, id=name)  # type: ignore[no-untyped-call]
    return cell
