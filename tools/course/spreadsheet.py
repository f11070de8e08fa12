"""Texts in CSV files that a spreadsheet must not take for formulas."""

from __future__ import annotations

import re
from typing import Any

#: A text that a spreadsheet would take for a formula, with the mark that prevents it.
FORMULA = re.compile("^'([=+@-])")


def safe(value: Any) -> Any:
    """Return a value for a CSV file, marked where a spreadsheet would take it for a formula.

    Examples
    --------
    >>> safe("=SUM(A1)"), safe(-1)
    ("'=SUM(A1)", -1)
    """
    return f"'{value}" if isinstance(value, str) and FORMULA.match(f"'{value}") else value


def unmarked(text: str) -> str:
    """Return a text as it was before `safe` marked it.

    Examples
    --------
    >>> unmarked(safe("=SUM(A1)"))
    '=SUM(A1)'
    """
    return FORMULA.sub(r"\1", text)
