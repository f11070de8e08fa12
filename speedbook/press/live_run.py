"""What the kernel of a live page does, besides the cells of its notebook.

``book/_static/live/run.js`` calls these functions. So the values that a reader types are read, and
the numbers and verdicts in the text written, by the rules of a rerun.
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
        With a line for each value that is against its type or rule.

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

    What cannot be imported is left for the run, which will say so.
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
    """Return the texts of a page that are bound to records, as a run gives them.

    Parameters
    ----------
    name : str
        The path of the notebook.
    records : sequence of mapping
        What the run recorded. Claims of other notebooks are as in the book, and left out here.
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
    """Display the result of `texts` for the script."""
    _tell(texts(*about))


def tell_displayed(markdown: str) -> None:
    """Display Markdown, which a cell displayed, as HTML for the script."""
    _tell({"html": displayed(markdown)})


def _tell(answer: Mapping[str, Any]) -> None:
    from IPython.display import display

    display({"application/json": answer}, raw=True)  # type: ignore[no-untyped-call]
