"""The same failure in notebook after notebook is rarely the notebooks'."""

from __future__ import annotations

import re
from collections import Counter

#: As many notebooks with one failure are enough: the others would only repeat it.
ENOUGH = 3
#: The name of a cell before what happened in it, as `speedbook.notebook.files.cell_name` says it.
CELL = re.compile(
    r"cell \d+(?: \(.*?\))?:? "
    r"(?=took |wrote |shows |names |is |raised |the |\w+(?:Error|Exception): )"
)
#: How a traceback marks the line that raised.
MARK = re.compile(r"-+> \d+ (.*)")


def cause(failure: str) -> str:
    r"""Return what a failure would have in common with the same one in another notebook.

    That is the last line of a traceback, type and message, with the line that raised where there is
    no message; otherwise what is said of the cell.

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
    """Counts how often each failure was met, whatever numbers are in it."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def enough(self, failure: str) -> bool:
        """Count a notebook's failure, and say whether it was met in enough notebooks by now."""
        # Numbers of processes, sizes and times differ between one time and the next.
        kind = re.sub(r"\d+", "#", cause(failure))
        self._counts[kind] += 1
        return self._counts[kind] >= ENOUGH
