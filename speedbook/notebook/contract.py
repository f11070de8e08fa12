"""The rules for every notebook, and a sentence for each violation."""

from __future__ import annotations

import ast
import dis
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from types import CodeType

import nbformat
from nbformat import NotebookNode

from speedbook.notebook.files import (
    KERNEL,
    cell_name,
    code_cells,
    normalise,
    png_bytes,
    serialise,
    to_notebook,
)
from speedbook.notebook.parameters import notebook_parameters, parameters_cells, read_parameters

#: As `speedbook.figures.MAX_PNG_BYTES`, whose import would load matplotlib.
MAX_PNG_BYTES = 150_000
#: Seeds of `speedbook.commands.verify` are words of 32 bits.
LARGEST_SEED = 2**32 - 1
#: nbval compares vector formats literally, and they differ between machines.
VECTOR = ("image/svg+xml", "application/pdf")
LOCAL_PATH = re.compile(r"(?:/home/|/Users/|/root/|/tmp/|/var/folders/|[A-Za-z]:\\Users\\)[\w.-]*")

#: Statements that bind their names whenever they run; no part of them is optional.
BINDING = (ast.Assign, ast.AnnAssign, ast.Import, ast.ImportFrom)
#: The instructions by which the interpreter reads a name that is not local to a function.
READS = ("LOAD_NAME", "LOAD_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS")
AWAIT = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


def source_problems(notebook: NotebookNode) -> list[str]:
    """Return a sentence for each fault of a notebook that has not run yet."""
    without_id = [cell for cell in notebook.cells if not cell.get("id")]
    problems = [f"{cell_name(notebook, cell)} has no id" for cell in without_id]
    problems += _repeated_ids(notebook)
    kernel = notebook.metadata.get("kernelspec", {}).get("name")
    language = notebook.metadata.get("language_info", {}).get("name")
    if (kernel, language) != (KERNEL, "python"):
        problems.append(
            f"its metadata must name kernel {KERNEL} and language python; got {kernel}, {language}"
        )
    for cell in code_cells(notebook):
        if not cell.source.strip():
            problems.append(f"{cell_name(notebook, cell)} is empty: remove it")
        if "injected-parameters" in cell.metadata.get("tags", []):
            problems.append(f"{cell_name(notebook, cell)} was injected by papermill: remove it")
    cells = parameters_cells(notebook)
    if len(cells) != 1:
        problems.append(f"exactly one code cell must be tagged `parameters`; got {len(cells)}")
    for cell in cells:
        _, faults = read_parameters(cell.source)
        problems += [f"{cell_name(notebook, cell)}: {fault}" for fault in faults]
    if not problems:
        try:
            nbformat.validate(normalise(notebook))
        except nbformat.ValidationError as error:
            problems.append(f"is not a valid notebook: {error.message}")
    return problems


def _repeated_ids(notebook: NotebookNode) -> list[str]:
    first: dict[str, NotebookNode] = {}
    return [
        f"{cell_name(notebook, cell)} has the id of {cell_name(notebook, other)}, {cell.id!r}, "
        "perhaps after copying or merging: give it another id of letters and digits in the file"
        for cell in notebook.cells
        if cell.get("id") and (other := first.setdefault(cell.id, cell)) is not cell
    ]


def file_problem(name: str, text: str) -> str:
    """Say why the file of a committed notebook differs from what a refresh writes.

    Parameters
    ----------
    name : str
        The path of the notebook, for the message.
    text : str
        The content of the file, a notebook of format 4.

    Returns
    -------
    str
        The reason, and what to do; empty if the file does not differ.
    """
    if text == serialise(to_notebook(json.loads(text))):
        return ""
    return (
        f"{name}: the file differs from what `make refresh` writes (time stamps, metadata or "
        "spacing), so an editor probably saved it. If you did not mean to change the page, restore "
        f"the committed file with `git checkout {name}`; if you did, run `make refresh`. README "
        "says how to work on a copy."
    )


def usage_problems(notebook: NotebookNode) -> list[str]:
    """Return a sentence for each parameter of a notebook that has no effect."""
    names = [parameter.name for parameter in notebook_parameters(notebook)]
    cells = code_cells(notebook)
    place = next(i for i, cell in enumerate(cells) if cell is parameters_cells(notebook)[0])
    return [
        f"parameter {name}: no cell below reads it, or a cell replaces it first"
        for name in unread(names, [cell.source for cell in cells[place + 1 :]])
    ]


def unread(names: Sequence[str], sources: Iterable[str]) -> list[str]:
    """Return the parameters that no later code reads with the value from the parameters cell.

    The sources are the texts of the following cells. Statements are compiled but not run. They are
    examined in their order, so a parameter that is bound again before it is read counts as unread.
    A statement that both reads and binds a name counts as reading it. If code is not plain Python,
    such as IPython's magics, every word in it counts as a name that is read.

    Examples
    --------
    >>> unread(["n", "seed", "d"], ["rng = make(seed)", "d = 3", "[n for n in range(d)]"])
    ['n', 'd']
    """
    pending, read = set(names), set[str]()
    for source in sources:
        try:
            parts = [ast.Module([statement], []) for statement in ast.parse(source).body]
            codes = [compile(part, "", "exec", AWAIT, dont_inherit=True) for part in parts]
        except (SyntaxError, ValueError):
            read |= pending.intersection(re.findall(r"\w+", source))
            continue
        for part, code in zip(parts, codes, strict=True):
            steps = list(_instructions(code))
            read |= {name for kind, name in steps if kind in READS} & pending
            if isinstance(part.body[0], BINDING):
                pending -= {name for kind, name in steps if kind == "STORE_NAME"}
    return [name for name in names if name not in read]


def _instructions(code: CodeType) -> Iterator[tuple[str, str]]:
    """Yield the operation and the name of each instruction of some code, functions included.

    The module `symtable` does not help: from Python 3.12 on it mixes the names of a comprehension
    with those of the code around it.
    """
    yield from ((each.opname, each.argval) for each in dis.get_instructions(code))
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _instructions(inner)


def seed_problems(notebook: NotebookNode) -> list[str]:
    """Say why the seed of a claim's notebook cannot be replaced by other seeds."""
    seed = next((p for p in notebook_parameters(notebook) if p.name == "seed"), None)
    if seed is None:
        return ["a notebook that tests a claim needs a parameter `seed: int`"]
    try:
        for value in (0, LARGEST_SEED):
            seed.check(value)
    except ValueError as error:
        return [f"{error}: a seed is an int, and may be any from 0 to {LARGEST_SEED}"]
    return []


def output_problems(notebook: NotebookNode, root: str | None = None) -> list[str]:
    """Return a sentence for each fault in the outputs of an executed notebook.

    If the path of the book's top folder is given, the outputs must not contain it.
    """
    problems = []
    for cell in code_cells(notebook):
        name = cell_name(notebook, cell)
        if cell.source.strip() and cell.get("execution_count") is None:
            problems.append(f"{name} is not executed")
        for output in cell.get("outputs", []):
            problems += [f"{name} {fault}" for fault in _output_faults(output, root)]
    return problems


def _output_faults(output: NotebookNode, root: str | None) -> list[str]:
    if output.output_type == "error":
        return [f"raised {output.ename}: {output.evalue}"]
    faults = []
    if output.output_type == "stream" and output.name == "stderr":
        first, _, _ = output.text.strip().partition("\n")
        faults.append(f"wrote to stderr: {first[:200]}")
    data = output.get("data", {})
    faults += [f"shows {mime}: committed figures are PNG" for mime in VECTOR if mime in data]
    if "image/png" in data and (size := len(png_bytes(data["image/png"]))) > MAX_PNG_BYTES:
        faults.append(
            f"shows a PNG of {size:,} bytes, more than {MAX_PNG_BYTES:,}; draw fewer, or rasterise"
        )
    shown = {**output, "data": {k: v for k, v in data.items() if k != "image/png"}}
    # JSON doubles backslashes.
    text = json.dumps(shown, ensure_ascii=False).replace("\\\\", "\\")
    if match := LOCAL_PATH.search(text):
        faults.append(f"names a local path: {match[0]}")
    elif root and root in text:
        faults.append(f"names a local path: {root}")
    return faults
