"""Which parameters of a notebook its code reads, found without running it.

A parameter that no cell reads, or that a cell replaces before any reads it, would promise a choice
that there is none of: papermill binds it and says nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
#: Statements that bind their names whenever they run, of which nothing inside is optional.
BINDING = (ast.Assign, ast.AnnAssign, ast.Import, ast.ImportFrom)


def unread(names: Iterable[str], sources: Sequence[str]) -> list[str]:
    """Return those of the names that no code reads as the cell of parameters left them.

    Parameters
    ----------
    names : iterable of str
        The parameters.
    sources : sequence of str
        The code of the cells that follow, in order.

    Returns
    -------
    list of str
        In the order given.

    Notes
    -----
    A name that a function, a lambda or a comprehension has for itself is another one. Code that is
    not plain Python, such as IPython's magics, counts as reading every word in it.

    Examples
    --------
    >>> unread(["n", "seed", "d"], ["rng = make(seed)", "d = 3", "[n for n in range(d)]"])
    ['n', 'd']
    """
    names = list(names)
    pending, read = set(names), set[str]()
    for source in sources:
        try:
            body = ast.parse(source).body
        except (SyntaxError, ValueError):
            read |= pending & set(re.findall(r"\w+", source))
            continue
        for node in _in_order(body):
            read |= pending & _reads(node)
            if isinstance(node, BINDING) and not _only_annotates(node):
                pending -= _bound(node)
    return [name for name in names if name not in read]


def _only_annotates(node: ast.AST) -> bool:
    return isinstance(node, ast.AnnAssign) and node.value is None


def _in_order(body: Iterable[ast.stmt]) -> Iterator[ast.AST]:
    """Yield statements as they run: what a loop or a `with` binds, before what is inside it."""
    for statement in body:
        if isinstance(statement, ast.For | ast.AsyncFor):
            yield ast.Assign([statement.target], statement.iter)
            yield from _in_order(statement.body + statement.orelse)
        elif isinstance(statement, ast.With | ast.AsyncWith):
            for item in statement.items:
                targets = [item.optional_vars] if item.optional_vars else []
                yield ast.Assign(targets, item.context_expr)
            yield from _in_order(statement.body)
        else:
            yield statement


def _reads(node: ast.AST) -> set[str]:
    """Return the names that a piece of code reads from around it."""
    if isinstance(node, ast.Name):
        return {node.id} if isinstance(node.ctx, ast.Load) else set()
    if isinstance(node, FUNCTIONS):
        return _reads_of_function(node)
    if isinstance(node, COMPREHENSIONS):
        own = _bound(*(part.target for part in node.generators))
        # The first source of elements is looked up outside.
        return _reads(node.generators[0].iter) | (_reads_inside(node) - own)
    found = _reads_inside(node)
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        found.add(node.target.id)
    return found


def _reads_inside(node: ast.AST) -> set[str]:
    return set[str]().union(*map(_reads, ast.iter_child_nodes(node)))


def _reads_of_function(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> set[str]:
    body = [node.body] if isinstance(node, ast.Lambda) else node.body
    shared = {
        name
        for part in body
        for inner in ast.walk(part)
        if isinstance(inner, ast.Global)
        for name in inner.names
    }
    own = ({a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)} | _bound(*body)) - shared
    outside = _reads(node.args).union(*map(_reads, getattr(node, "decorator_list", [])))
    return outside | (set[str]().union(*map(_reads, body)) - own)


def _bound(*nodes: ast.AST) -> set[str]:
    """Return the names that code binds where it stands, and not in functions inside it."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            found.add(node.id)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif not isinstance(node, (ast.Lambda, *COMPREHENSIONS)):
            found |= _bound(*ast.iter_child_nodes(node))
    return found
