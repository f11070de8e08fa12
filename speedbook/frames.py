"""Numbers of a displayed table, for use by programs: one in each cell, with all digits.

An entry ``1.568 ± 0.113`` becomes two columns, and so does a range. In a rerun the kernel adds the
numbers to the display (`keep_numbers`), since the HTML holds only the digits that are shown. The
committed outputs of the book do not contain them.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

#: If it is set, as in reruns, the display of a data frame also contains its numbers.
KEEP = "SPEEDBOOK_KEEP_NUMBERS"
#: The largest number of cells for this; of a larger table, the file holds what is shown.
MOST_CELLS = 100_000
_NUMBER = r"[-+−]?(?:inf|(?:\d{1,3}(?:,\d{3})+|\d+|(?=\.\d))(?:\.\d*)?(?:e[-+]?\d+)?)"
_VALUE, _UNIT = rf"(?P<value>{_NUMBER})", r"\s*(?P<unit>%?)"
_ENDS = rf"(?P<low>{_NUMBER})\s*(?:…|\.\.\.?|–| to |,\s)\s*(?P<high>{_NUMBER})"
#: Without brackets, a comma separates the elements of a list.
_BARE = _ENDS.replace(r"|,\s", "")
#: The forms of a number, of a measured one, of one with its interval, and of a range.
FORMS = [
    re.compile(form + _UNIT, re.I)
    for form in (
        _VALUE,
        rf"{_VALUE}\s*±\s*(?P<error>{_NUMBER})",
        rf"{_VALUE}\s*(?:\[{_ENDS}\]|\({_ENDS.replace('low', 'low_').replace('high', 'high_')}\))",
        _BARE,
        rf"[\[(]{_ENDS}[\])]",
    )
]
#: What is added to the name of a column for each of these parts.
PARTS = {"value": "", "error": " ±", "low": " low", "high": " high"}
#: The texts of cells without a number.
NONE = frozenset({"", "-", "–", "—", "·", "nan", "none", "<na>", "nat"})


def keep_numbers() -> None:
    """In a kernel of a rerun, add the numbers to every display of a data frame."""
    if not os.environ.get(KEEP):
        return
    from IPython.core.getipython import get_ipython

    shell: Any = get_ipython()
    if shell:
        # pandas 3 gives the top module as the module of its classes.
        for module in ("pandas", "pandas.core.frame"):
            shell.display_formatter.mimebundle_formatter.for_type_by_name(
                module, "DataFrame", _with_numbers
            )


def _with_numbers(frame: pd.DataFrame, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return no further content, and the numbers as metadata of the display."""
    if frame.size > MOST_CELLS:
        return {}, {}
    return {}, {"speedbook": {"table": numbers_csv(frame)}}


def numbers_csv(frame: pd.DataFrame) -> str:
    """Return the numbers of a data frame as CSV, the index first; heads of several rows are joined.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"ratio": ["1.568 ± 0.113", "–"], "mse": [1 / 3, 2]}, index=["a", "b"])
    >>> print(numbers_csv(frame), end="")
    ,ratio,ratio ±,mse
    a,1.568,0.113,0.3333333333333333
    b,,,2.0
    """
    index = [frame.index.get_level_values(level) for level in range(frame.index.nlevels)]
    names = ["" if name is None else _joined(name) for name in frame.index.names]
    columns = [frame.iloc[:, place] for place in range(frame.shape[1])]
    return plain_csv([*names, *map(_joined, frame.columns)], [*index, *columns])


def _joined(head: Any) -> str:
    return (
        " / ".join(str(part) for part in head if part != "") if type(head) is tuple else str(head)
    )


def plain_csv(heads: Sequence[str], columns: Sequence[Iterable[Any]]) -> str:
    """Write columns as CSV with one number in each cell; a text of several numbers is split."""
    found = [
        plain for head, column in zip(heads, columns, strict=True) for plain in _plain(head, column)
    ]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([head for head, _ in found])
    writer.writerows(zip(*(cells for _, cells in found), strict=True))
    return text.getvalue()


def _plain(head: str, column: Iterable[Any]) -> list[tuple[str, list[str]]]:
    """Return a column for each part of the numbers; a column of other text stays unchanged."""
    cells = list(column)
    texts = [_text(cell) for cell in cells]
    # A list of two numbers looks like an interval, but is none.
    found = [
        None
        if isinstance(cell, list | tuple)
        else {}
        if text.casefold() in NONE
        else _numbers(text)
        for cell, text in zip(cells, texts, strict=True)
    ]
    units = {numbers["unit"] for numbers in found if numbers}
    if None in found or len(units) != 1:
        return [(head, texts)]
    named = " / ".join(filter(None, [head, *units]))
    return [
        (f"{named}{end}", [numbers.get(part, "") for numbers in found if numbers is not None])
        for part, end in PARTS.items()
        if any(part in numbers for numbers in found if numbers)
    ]


def _numbers(text: str) -> dict[str, str] | None:
    """Return the parts of a number and its unit for programs, or None if it is not a number."""
    for form in FORMS:
        if match := form.fullmatch(text):
            parts = {name.rstrip("_"): part for name, part in match.groupdict().items() if part}
            plain = {name: part.replace(",", "").replace("−", "-") for name, part in parts.items()}
            # A falling pair is not an interval, but for example a place.
            ends = [float(plain[end]) for end in ("low", "high") if end in plain]
            return {"unit": "", **plain} if ends == sorted(ends) else None
    return None


def _text(cell: Any) -> str:
    """Write a cell with all its digits."""
    try:
        # The `repr` of numpy's scalars includes the type.
        cell = cell.item()
    except (AttributeError, ValueError):
        pass
    return repr(cell) if isinstance(cell, float) else " ".join(str(cell).split())
