"""What the kernel of a live page does besides running the cells of the notebook.

``book/_static/live/run.js`` calls these functions. So the rules of a rerun hold here, too: for
reading the values that a reader types, and for writing the numbers and verdicts in the text.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from speedbook.claims.cards import badge_html
from speedbook.claims.ledger import lookup, read_ledger
from speedbook.claims.registry import load_registry
from speedbook.claims.rules import Verdict
from speedbook.notebook.parameters import Value, read_parameters
from speedbook.notebook.values import read_values
from speedbook.paths import find_root
from speedbook.press.displayed import displayed

#: Stands for a number whose record the run did not reach.
MISSING = "(not computed in this run)"


def values(source: str, given: Mapping[str, str]) -> dict[str, Value]:
    """Read what a reader typed into the form.

    Parameters
    ----------
    source : str
        The parameters cell.
    given : mapping of str to str
        Text by name, as for `speedbook rerun -p`.

    Raises
    ------
    ValueError
        If a value violates its type or rule; the message has a line for each such value.

    Examples
    --------
    >>> values("rounds: int = 60  # rounds [20 .. 1e6]", {"rounds": "2e4"})
    {'rounds': 20000}
    """
    parameters, problems = read_parameters(source)
    if problems:
        raise ValueError("; ".join(problems))
    return read_values(parameters, given.items())


def warm(sources: Iterable[str]) -> None:
    """Import what the cells import, so the first run need not wait for it.

    If a module cannot be imported, nothing happens here: the run will report it.
    """
    for source in sources:
        try:
            statements = ast.parse(source).body
        except (SyntaxError, ValueError):
            continue
        for statement in statements:
            if isinstance(statement, ast.Import | ast.ImportFrom):
                code = compile(ast.Module([statement], []), "<live page>", "exec")
                with suppress(Exception):
                    exec(code, {})


def texts(
    name: str,
    records: Sequence[Mapping[str, Any]],
    numbers: Iterable[str],
    badges: Iterable[str],
) -> dict[str, dict[str, str]]:
    """Return the texts of a page that are bound to records, with the values of this run.

    Parameters
    ----------
    name : str
        The path of the notebook.
    records : sequence of mapping
        What the run recorded. Claims of other notebooks are left out, since their texts stay as
        they are in the book.
    numbers, badges : iterable of str
        Addresses of numbers, as in the role ``{ledger}``, and claims whose badges the page shows.

    Returns
    -------
    dict
        ``numbers``: text by address; ``badges``: HTML by claim.
    """
    root = find_root()
    own = {claim.id for claim in load_registry(root).of_notebook(name)}
    rows = read_ledger(root)["claims"]
    found = {record["id"]: {**rows.get(record["id"], {}), **record} for record in records}

    def number(address: str) -> str:
        try:
            return lookup(found, address)
        except ValueError:
            return MISSING

    def badge(claim: str) -> str:
        if claim not in found:
            return f"<em>{MISSING}</em>"
        return badge_html(Verdict(found[claim]["verdict"]))

    mine = [address for address in numbers if address.partition(".")[0].strip() in own]
    return {
        "numbers": {address: number(address) for address in mine},
        "badges": {claim: badge(claim) for claim in badges if claim in own},
    }


def tell_texts(*about: Any) -> None:
    """Display the result of `texts` as JSON, which the script of the page reads."""
    _tell(texts(*about))


def tell_displayed(markdown: str) -> None:
    """Display Markdown, which a cell displayed, as HTML for the script."""
    _tell({"html": displayed(markdown)})


def _tell(answer: Mapping[str, Any]) -> None:
    from IPython.display import display

    display({"application/json": answer}, raw=True)  # type: ignore[no-untyped-call]
