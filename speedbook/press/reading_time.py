"""How long a page takes to read."""

from __future__ import annotations

import math
import re

from nbformat import NotebookNode

#: Where the folded solution of an exercise starts and ends.
SOLUTION = re.compile(r"^```\{solution-(start|end)\}.*$", re.M)
#: Cells whose code the page folds or does not show.
FOLDED = frozenset({"hide-input", "remove-input", "parameters", "injected-parameters"})

WORDS_A_MINUTE = 200
#: A displayed formula, a figure or a table takes as long as so many words.
WORDS_A_DISPLAY = 60


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
        elif not FOLDED & set(cell.metadata.get("tags", [])):
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
