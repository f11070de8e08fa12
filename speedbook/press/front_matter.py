"""What the first cell of a notebook says of its page, and how the page shows it.

Below the title stand, in paragraphs that read well in JupyterLab too, a line on the paper, if it
has what the page is about, and what the page finds::

    *In the paper:* Proposition 2, Appendix A.4.

    *In short:* one sentence that says what the page finds. *You need* what to know before.

A search for a name with which the first begins leads to the page. The second becomes the lead of
the page, with the time that it takes to read.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from nbformat import NotebookNode

from speedbook.notebook.prose import plain_words, sentences

SHORT, NEED = "*In short:*", "*You need*"
PLACE = "*In the paper:*"
#: What the paper numbers. The search of the book drops numbers, but finds such names in an index.
NUMBERED = r"(?:Algorithm|Corollary|Equation|Figure|Lemma|Proposition|Theorem) \(?\d+[a-z]?\)?"
NAMES = re.compile(rf"{re.escape(PLACE)}\s+({NUMBERED}(?:(?:,| and)\s+{NUMBERED})*)")
FRONT = re.compile(rf"{re.escape(SHORT)}\s+(.+?)\s+{re.escape(NEED)}\s+(.+)", re.S)
BLANK_LINES = re.compile(r"\n(?:[ \t]*\n)+")
#: A page cannot know these, and would say them wrongly on another machine.
TIMES = re.compile(r"\*(?:Reading|Running)\*", re.I)
#: Words of a finding.
LONGEST = 45


class Front(NamedTuple):
    """What a notebook says of itself: what it finds, and what a reader needs to know before."""

    finding: str
    need: str


class FirstCell(NamedTuple):
    """The Markdown of a first cell as the page shows it: down to the finding, and what follows."""

    head: str
    rest: str


def front_problems(notebook: NotebookNode) -> list[str]:
    """Say what the first cell lacks to begin a page of the book, a sentence each."""
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
        return ["its first cell must not say how long it takes to read or run: it is measured"]
    return _finding_faults(front)


def _finding_faults(front: Front) -> list[str]:
    faults = []
    if (count := len(plain_words(front.finding))) > LONGEST:
        faults.append(f"`{SHORT}` may have {LONGEST} words; it has {count}")
    if (count := len(sentences(front.finding))) != 1 or front.finding[-1] not in ".!?":
        faults.append(f"`{SHORT}` must be one sentence that ends with a full stop; it has {count}")
    if "{claim-badge}" in front.finding:
        faults.append(f"`{SHORT}` must say its finding in words, without a badge")
    return [f"its first cell: {fault}" for fault in faults]


def paragraphs(cell: NotebookNode) -> list[str]:
    """Return the paragraphs of a cell of Markdown."""
    return BLANK_LINES.split(cell.source.strip())


def read_front(paragraph: str) -> Front | None:
    """Return what a paragraph says of its notebook, or None where it is another paragraph."""
    match = FRONT.fullmatch(" ".join(paragraph.split()))
    return Front(*match.groups()) if match else None


def split_first(cell: NotebookNode) -> FirstCell:
    """Return what a first cell says down to the finding, and below it, as it is written."""
    texts = paragraphs(cell)
    ends = [place for place, text in enumerate(texts, 1) if read_front(text)]
    end = ends[0] if ends else len(texts)
    return FirstCell("\n\n".join(texts[:end]), "\n\n".join(texts[end:]))


def first_cell(cell: NotebookNode, minutes: str) -> FirstCell:
    """Return what a page shows for its first cell.

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
        # In the notebook the sentence goes on after "In short".
        finding = front.finding[0].upper() + front.finding[1:]
        need = f"{NEED} {front.need} *Reading time:* {minutes}."
        return f"{{.sb-finding}}\n{finding}\n\n{{.sb-need}}\n{need}"
    return _place(text) if text.startswith(PLACE) else text


def _place(text: str) -> str:
    """Write the line on the paper in MyST, with the names that it begins with for the search."""
    names = re.findall(NUMBERED, begun[1]) if (begun := NAMES.match(text)) else []
    entries = "".join(f"```{{index}} ! {name}\n```\n\n" for name in names)
    return f"{entries}{{.sb-place}}\n{text}"
