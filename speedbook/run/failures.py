"""Recognise a failure that several notebooks share, since its cause is rarely in the notebooks."""

from __future__ import annotations

import re
from collections import Counter

#: After this number of notebooks with the same failure, the others would only repeat it.
ENOUGH = 3
#: The name of a cell at the beginning of a failure, as `speedbook.notebook.files.cell_name` has it.
CELL = re.compile(
    r"cell \d+(?: \(.*?\))?:? "
    r"(?=took |wrote |shows |names |is |raised |the |\w+(?:Error|Exception): )"
)
#: How a traceback marks the line that raised.
MARK = re.compile(r"-+> \d+ (.*)")


def cause(failure: str) -> str:
    r"""Return the part of a failure that is the same in another notebook.

    If there is a traceback, this part is its last line, with the type and the message of the error.
    If the error has no message, the line that raised it is added. Without a traceback, the part is
    the text after the name of the cell.

    Examples
    --------
    >>> cause("cell 3 (f(x))\n    ----> 1 f(x)\n    ValueError: no good")
    'ValueError: no good'
    >>> cause("cell 3 (f(x)) wrote to stderr: UserWarning: no font")
    'wrote to stderr: UserWarning: no font'
    """
    first, *more = failure.strip().splitlines()
    lines = [line.strip() for line in more if line.strip()]
    if lines and not lines[-1].startswith("cell "):
        if re.fullmatch(r"\w+:?", lines[-1]):
            marked = [match[1] for line in lines if (match := MARK.search(line))]
            return f"{lines[-1].rstrip(':')} at {marked[-1]}" if marked else failure
        return lines[-1]
    return first[match.end() :] if (match := CELL.match(first)) else first


class Failures:
    """Counts equal failures; failures that differ only in numbers are equal."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def enough(self, failure: str) -> bool:
        """Count a notebook's failure, and return whether enough notebooks have failed that way."""
        # Numbers of processes, sizes and times differ from one failure to the next.
        kind = re.sub(r"\d+", "#", cause(failure))
        self._counts[kind] += 1
        return self._counts[kind] >= ENOUGH
