"""The first cell of a notebook, and how its page shows it.

Two paragraphs follow the title. The first says where the subject is in the paper, and is absent if
it is not there. The second is the finding of the page. They are also readable in JupyterLab::

    *In the paper:* Proposition 2, Appendix A.4.

    *In short:* one sentence that says what the page finds. *You need* what to know before.

A search for a name at the beginning of the first paragraph finds the page. The second becomes the
lead of the page, together with the reading time.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from nbformat import NotebookNode

from speedbook.notebook.prose import plain_words, sentences

SHORT, NEED = "*In short:*", "*You need*"
PLACE = "*In the paper:*"
#: Names with numbers in the paper. The search drops numbers, but finds these names in an index.
NUMBERED = r"(?:Algorithm|Corollary|Equation|Figure|Lemma|Proposition|Theorem) \(?\d+[a-z]?\)?"
NAMES = re.compile(rf"{re.escape(PLACE)}\s+({NUMBERED}(?:(?:,| and)\s+{NUMBERED})*)")
FRONT = re.compile(rf"{re.escape(SHORT)}\s+(.+?)\s+{re.escape(NEED)}\s+(.+)", re.S)
BLANK_LINES = re.compile(r"\n(?:[ \t]*\n)+")
#: The text cannot know these, and they would be wrong on another machine.
TIMES = re.compile(r"\*(?:Reading|Running)\*", re.I)
#: The most words of a finding.
LONGEST = 45


class Front(NamedTuple):
    """The finding of a notebook, and what a reader needs to know before reading."""

    finding: str
    need: str


class FirstCell(NamedTuple):
    """The Markdown of a first cell on the page, in two parts: up to the finding, and after it."""

    head: str
    rest: str


def front_problems(notebook: NotebookNode) -> list[str]:
    """Return a sentence for each rule that the first cell violates as the beginning of a page."""
    first = notebook.cells[0] if notebook.cells else None
    if first is None or first.cell_type != "markdown" or not first.source.startswith("# "):
        return ["its first cell must be Markdown and begin with the title, `# …`"]
    fronts = [(text, front) for text in paragraphs(first) if (front := read_front(text))]
    if len(fronts) != 1:
        return [
            f"its first cell must have one paragraph `{SHORT} … {NEED} …`; it has {len(fronts)}"
        ]
    text, front = fronts[0]
    if TIMES.search(text):
        return ["its first cell must not say how long it takes to read or run: this is measured"]
    return _finding_faults(front)


def _finding_faults(front: Front) -> list[str]:
    faults = []
    if (count := len(plain_words(front.finding))) > LONGEST:
        faults.append(f"`{SHORT}` may have {LONGEST} words; it has {count}")
    if (count := len(sentences(front.finding))) != 1 or front.finding[-1] not in ".!?":
        faults.append(f"`{SHORT}` must be one sentence that ends with a full stop; it has {count}")
    if "{claim-badge}" in front.finding:
        faults.append(f"`{SHORT}` must state its finding in words, without a badge")
    return [f"its first cell: {fault}" for fault in faults]


def paragraphs(cell: NotebookNode) -> list[str]:
    """Return the paragraphs of a cell of Markdown."""
    return BLANK_LINES.split(cell.source.strip())


def read_front(paragraph: str) -> Front | None:
    """Return finding and needs if the paragraph states them, else None."""
    match = FRONT.fullmatch(" ".join(paragraph.split()))
    return Front(*match.groups()) if match else None


def split_first(cell: NotebookNode) -> FirstCell:
    """Split a first cell after the finding, with its text unchanged."""
    texts = paragraphs(cell)
    ends = [place for place, text in enumerate(texts, 1) if read_front(text)]
    end = ends[0] if ends else len(texts)
    return FirstCell("\n\n".join(texts[:end]), "\n\n".join(texts[end:]))


def first_cell(cell: NotebookNode, minutes: str) -> FirstCell:
    """Return the Markdown that a page shows for its first cell.

    Parameters
    ----------
    cell : NotebookNode
        One without `front_problems`.
    minutes : str
        How long the page takes to read.
    """
    head, rest = split_first(cell)
    shown = [_shown(text, minutes) for text in BLANK_LINES.split(head)]
    return FirstCell("\n\n".join(shown), rest)


def _shown(text: str, minutes: str) -> str:
    if front := read_front(text):
        # In the notebook the sentence continues after "In short".
        finding = front.finding[0].upper() + front.finding[1:]
        need = f"{NEED} {front.need} *Reading time:* {minutes}."
        return f"{{.sb-finding}}\n{finding}\n\n{{.sb-need}}\n{need}"
    return _place(text) if text.startswith(PLACE) else text


def _place(text: str) -> str:
    """Write the line on the paper in MyST, with index entries for the names at its beginning."""
    names = re.findall(NUMBERED, begun[1]) if (begun := NAMES.match(text)) else []
    entries = "".join(f"```{{index}} ! {name}\n```\n\n" for name in names)
    return f"{entries}{{.sb-place}}\n{text}"
