"""Find notebooks by the names that users type, and show their parameters in the help text.

This module imports nothing that loads slowly, since the help text must appear quickly.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from speedbook.notebook.parameters import Parameter, notebook_parameters
from speedbook.notebook.values import as_shown
from speedbook.paths import files_below
from speedbook.text import nearest

if TYPE_CHECKING:
    from rich.table import Table

#: Where the notebooks are.
SHELF = "notebooks"


def notebook_names(root: Path) -> list[str]:
    """Return all notebooks of the book, as paths from its top folder with forward slashes."""
    files = files_below(root / SHELF, f"{SHELF}/")
    return sorted(name for name in files if name.endswith(".ipynb"))


def find_notebook(root: Path, called: str) -> str:
    """Return the notebook that a name means, as a path from the top folder of the book.

    The name is a path, from the current folder or the top folder, or a short name such as
    ``fig1a-unit-ball``. If no notebook fits, or several do, the ValueError lists the nearest names
    or the candidates.
    """
    names = notebook_names(root)
    top = root.resolve()
    for folder in (Path.cwd(), top):
        # The path as given comes first, since a link may lead elsewhere.
        for path in (Path(os.path.abspath(folder / called)), (folder / called).resolve()):
            if path.is_relative_to(top) and (name := path.relative_to(top).as_posix()) in names:
                return name
    short = called.removesuffix(".ipynb")
    meant = [name for name in names if Path(name).stem == short]
    if len(meant) > 1:
        raise ValueError(f"notebook {called}: several fit, {' and '.join(meant)}; give the path")
    if not meant:
        near = nearest(short, [Path(name).stem for name in names])
        raise ValueError(
            f"notebook {called}: the book has none of this name{near or '; ' + shelf(names)}"
        )
    return meant[0]


def shelf(names: Sequence[str]) -> str:
    """Return the end of a message that lists notebooks by short name, folder by folder."""
    folders: dict[str, list[str]] = {}
    for name in names:
        folders.setdefault(Path(name).parent.name, []).append(Path(name).stem)
    lists = [f"\n  {folder}: {', '.join(stems)}" for folder, stems in folders.items()]
    return "the book has:" + "".join(lists)


def parameters_of(root: Path, name: str) -> tuple[Parameter, ...]:
    """Read the parameters of a notebook without importing nbformat.

    Raises a ValueError if the file is not a notebook or its parameters cell breaks the rules.
    """
    try:
        return notebook_parameters(json.loads((root / name).read_text(encoding="utf-8")))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{name}: {error}") from None


def parameter_table(parameters: Sequence[Parameter]) -> Table:
    """Return the table below the options of ``speedbook rerun NOTEBOOK --help``."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table("Name", "Type", "Default", "Meaning", box=box.SIMPLE)
    for p in parameters:
        meaning = f"{p.help}; {p.rule}" if p.rule else p.help
        table.add_row(*map(Text, (p.name, p.type, as_shown(p.default), meaning)))
    return table
