"""The reading time of a page."""

from __future__ import annotations

import math
import re

from nbformat import NotebookNode

#: The start and the end of the folded solution of an exercise.
SOLUTION = re.compile(r"^```\{solution-(start|end)\}.*$", re.M)
#: Tags of cells whose code the page folds or hides.
FOLDED = frozenset({"hide-input", "remove-input", "parameters", "injected-parameters"})

WORDS_A_MINUTE = 200
#: A displayed formula, a figure or a table takes as long as this number of words.
WORDS_A_DISPLAY = 60


def reading_minutes(notebook: NotebookNode) -> int:
    """Return the reading time in minutes, from the visible words, displays and code cells.

    A folded solution of an exercise, even over several cells, does not count.
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
    """Return a text without solutions, and whether it ends in one; `folded` says how it begins."""
    first, *parts = SOLUTION.split(text)
    kept = [] if folded else [first]
    for gate, part in zip(parts[::2], parts[1::2], strict=True):
        folded = gate == "start"
        kept += [] if folded else [part]
    return "".join(kept), folded
