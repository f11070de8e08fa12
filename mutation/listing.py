"""All the small changes that mutmut makes in a module, without those in texts of errors.

mutmut knows how to change Python; it is asked for nothing else. Left out by rule are

- what is outside of functions: constants are among the named mutants;
- everything inside ``raise`` and in functions that only compose a complaint: the words of an error
  are not what the book rests on;
- changes that compile to the same code, such as those of a type hint.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: Functions that only compose a text.
COMPLAINTS = ("_complaint",)

#: Characters of a change that are shown.
SHOWN = 70


@dataclass(frozen=True)
class Mutant:
    """A change of one function: `source` is the whole function, `old` and `new` what differs."""

    id: str
    module: str
    function: str
    line: int
    old: str
    new: str
    source: str


def list_mutants(root: Path, name: str) -> tuple[list[Mutant], dict[str, int]]:
    """Return the mutants of a module, and how many were left out for which reason."""
    import libcst as cst
    from libcst.metadata import MetadataWrapper, PositionProvider

    text = (root / "speedlib" / f"{name}.py").read_text(encoding="utf-8")
    module, mutations = _mutations(root, name, text)
    places = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    functions = dict(_functions(module))
    texts = {id(node) for node in _texts(module)}
    found: list[Mutant] = []
    left_out = {"outside of functions": 0, "texts of errors": 0}
    for mutation in mutations:
        function = functions.get(id(mutation.contained_by_top_level_function))
        if function is None:
            left_out["outside of functions"] += 1
        elif function in COMPLAINTS or id(mutation.original_node) in texts:
            left_out["texts of errors"] += 1
        else:
            node = mutation.contained_by_top_level_function
            old, new = (
                " ".join(module.code_for_node(part).split())
                for part in (mutation.original_node, mutation.mutated_node)
            )
            changed = node.deep_replace(mutation.original_node, mutation.mutated_node)
            assert isinstance(changed, cst.FunctionDef)
            source = cst.Module([changed.with_changes(leading_lines=[])]).code
            line = places[mutation.original_node].start.line
            identity = f"{name}-{len(found)}"
            found.append(
                Mutant(identity, f"speedlib.{name}", function, line, *shortened(old, new), source)
            )
    return found, left_out


def _mutations(root: Path, name: str, text: str) -> tuple[Any, list[Any]]:
    with chdir(root):  # where mutmut looks for its settings
        from mutmut.mutation.file_mutation import create_mutations

        module, mutations, _, _ = create_mutations(f"speedlib/{name}.py", text)
    return module, mutations


def _functions(module: Any) -> Iterator[tuple[int, str]]:
    """Yield functions and methods by identity, with the name that Python gives them."""
    import libcst as cst

    for node in module.body:
        if isinstance(node, cst.FunctionDef):
            yield id(node), node.name.value
        elif isinstance(node, cst.ClassDef):
            for inner in node.body.body:
                if isinstance(inner, cst.FunctionDef):
                    yield id(inner), f"{node.name.value}.{inner.name.value}"


def _texts(node: Any, inside: bool = False) -> Iterator[Any]:
    """Yield the nodes inside of ``raise``."""
    import libcst as cst

    inside = inside or isinstance(node, cst.Raise)
    if inside:
        yield node
    for child in node.children:
        yield from _texts(child, inside)


def shortened(old: str, new: str) -> tuple[str, str]:
    """Cut what two texts share at their ends, but for a few words, where they are long.

    Examples
    --------
    >>> shortened("a + b", "a - b")
    ('a + b', 'a - b')
    """
    if max(len(old), len(new)) <= SHOWN:
        return old, new
    most = min(len(old), len(new))
    head = next((i for i in range(most) if old[i] != new[i]), most)
    tail = next((i for i in range(most - head) if old[-1 - i] != new[-1 - i]), most - head)
    head, tail = max(0, head - 20), max(0, tail - 20)
    ends = "… " if head else "", " …" if tail else ""
    return tuple(  # type: ignore[return-value]
        (ends[0] + part[head : len(part) - tail].strip() + ends[1]).strip() for part in (old, new)
    )
