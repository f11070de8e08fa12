"""Reading, normalising and comparing notebooks.

A committed notebook is executed at its defaults and then *normalised*. This removes what varies
between runs or machines and has no meaning: time stamps, the state of tools, the text chunks of a
PNG. So a difference in the file is a difference in the evidence.
"""

from __future__ import annotations

import base64
import binascii
import copy
import hashlib
import json
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from speedbook.paths import write_if_changed

#: nbformat's untyped reader and writer of format 4. They neither upgrade a file nor invent ids.
V4: Any = nbformat.v4

KERNEL = "python3"
#: A heading of the first level.
HEADING = re.compile(r"^# +(.+?)\s*$", re.MULTILINE)
KERNELSPEC = {"display_name": "Python 3", "language": "python", "name": KERNEL}
#: Without a version, since several versions of Python run the same notebook.
LANGUAGE = {
    "codemirror_mode": {"name": "ipython"},
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "name": "python",
    "nbconvert_exporter": "python",
    "pygments_lexer": "ipython3",
}
#: The seconds that a run took, in the metadata of a notebook that the build stages.
RUN_TIME = "run_seconds"
#: What tools, including the build, leave in the metadata of notebooks and cells.
TOOL_STATE = frozenset(
    "papermill execution ExecuteTime collapsed scrolled widgets vscode pycharm colab toc".split()
) | {RUN_TIME}
#: Tags of cells that papermill inserts: parameter values, and messages about an error.
INJECTED, MESSAGE = "injected-parameters", "papermill-error-cell-tag"
FOREIGN_TAGS = frozenset({INJECTED, MESSAGE})
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
PNG_TEXT = frozenset({b"tEXt", b"zTXt", b"iTXt", b"tIME"})


def read_notebook(path: Path) -> NotebookNode:
    """Read a notebook unchanged from disk; raises a ValueError unless it has format 4."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        if raw["nbformat"] != 4:
            raise ValueError(f"its format is {raw['nbformat']}, not 4")
        return to_notebook(raw)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"{path}: is not a notebook ({error})") from None


def to_notebook(raw: dict[str, Any]) -> NotebookNode:
    """Turn the content of a notebook file into a notebook, with the lines of texts joined."""
    notebook: NotebookNode = V4.to_notebook(raw)
    return notebook


def write_notebook(path: Path, notebook: NotebookNode) -> bool:
    """Write a notebook, normalised, if that changes the file; return whether it did."""
    return write_if_changed(path, serialise(notebook))


def serialise(notebook: NotebookNode, foreign: Collection[str] = FOREIGN_TAGS) -> str:
    """Return the text of the normalised notebook: keys sorted, one newline at the end."""
    return str(V4.writes(normalise(notebook, foreign))) + "\n"


def with_run_time(notebook: NotebookNode, seconds: float) -> str:
    """Return the text of a notebook for the build, with the length of its run in seconds.

    Committed notebooks do not hold this length, since normalising drops it.
    """
    timed = normalise(notebook)
    timed.metadata[RUN_TIME] = seconds
    return str(V4.writes(timed)) + "\n"


def evidence(notebook: NotebookNode) -> str:
    """Return the normalised text without the pixels of its pictures.

    The pixels depend on fonts and their renderer. The content of a picture is known from the digest
    of the plotted numbers in the output's metadata, which stays in the text.
    """
    bare = normalise(notebook)
    for cell in code_cells(bare):
        for output in cell.outputs:
            if "image/png" in output.get("data", {}):
                output.data["image/png"] = ""
    return str(V4.writes(bare))


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """Return the code cells in order."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def code(notebook: NotebookNode) -> list[str]:
    """Return the source of each code cell, including the parameters."""
    return [cell.source for cell in code_cells(notebook)]


def title(notebook: NotebookNode) -> str:
    """Return the first heading of a notebook's first cell; an empty text if there is none."""
    found = HEADING.search(notebook.cells[0].source) if notebook.cells else None
    return found[1] if found else ""


def cell_name(notebook: NotebookNode, cell: NotebookNode) -> str:
    """Return the name of a cell in messages: its number, counted from 1, and its first line."""
    place = 1 + next(i for i, other in enumerate(notebook.cells) if other is cell)
    lines = cell.source.strip().splitlines()
    return f"cell {place} ({lines[0][:60]})" if lines else f"cell {place}"


def figure_name(cell: NotebookNode) -> str:
    """Return the name of a cell's figure for links, or an empty text."""
    return str(_figure(cell).get("name", ""))


def caption(cell: NotebookNode) -> str:
    """Return the caption of the figure that a cell shows, in MyST, or an empty text."""
    return str(_figure(cell).get("caption", ""))


def _figure(cell: NotebookNode) -> dict[str, Any]:
    options = cell.metadata.get("mystnb", {}).get("figure", {})
    return options if isinstance(options, dict) else {}


def prose(notebook: NotebookNode) -> list[tuple[NotebookNode, str]]:
    """Return the MyST texts of a notebook, Markdown and captions, each with its cell."""
    texts = [
        (cell, cell.source if cell.cell_type == "markdown" else caption(cell))
        for cell in notebook.cells
    ]
    return [(cell, text) for cell, text in texts if text]


def claim_records(cell: NotebookNode) -> list[dict[str, Any]]:
    """Return the records of claims that a cell shows."""
    return [
        output.metadata["speedbook"]["claim"]
        for output in cell.get("outputs", [])
        if "claim" in output.get("metadata", {}).get("speedbook", {})
    ]


def with_outputs(notebook: NotebookNode, executed: NotebookNode) -> NotebookNode:
    """Return a notebook with the outputs of an executed copy, which must have the same code.

    Prose may have changed since the run, since outputs do not depend on it.
    """
    executed = normalise(executed)
    if code(notebook) != code(executed):
        raise ValueError("the executed notebook has other code")
    merged = copy.deepcopy(notebook)
    for cell, run in zip(code_cells(merged), code_cells(executed), strict=True):
        cell.outputs, cell.execution_count = run.outputs, run.execution_count
    return normalise(merged)


def normalise(notebook: NotebookNode, foreign: Collection[str] = FOREIGN_TAGS) -> NotebookNode:
    """Return a copy without meaningless variation; normalising it again changes nothing.

    Execution counts become 1, 2, …. Cells without an id, or with the id of another cell, get a
    stable one. Text that a cell printed in several pieces is joined, and pictures lose their text
    chunks. Cells with one of the `foreign` tags, by default all that papermill inserts, are left
    out.
    """
    clean = copy.deepcopy(notebook)
    clean.nbformat, clean.nbformat_minor = 4, 5
    clean.metadata = _without_tool_state(clean.metadata)
    if clean.metadata.get("kernelspec", {}).get("name") == KERNEL:
        clean.metadata.kernelspec = _node(KERNELSPEC)
    if clean.metadata.get("language_info", {}).get("name") == "python":
        clean.metadata.language_info = _node(LANGUAGE)
    clean.cells = [c for c in clean.cells if not set(foreign) & set(c.metadata.get("tags", []))]
    seen: set[str] = set()
    executions = 0
    for place, cell in enumerate(clean.cells):
        cell.metadata = _without_tool_state(cell.metadata)
        if not cell.metadata.get("tags", True):
            del cell.metadata["tags"]
        cell.id = _cell_id(cell, place, seen)
        seen.add(cell.id)
        if cell.cell_type == "code":
            if cell.get("execution_count") is not None:
                executions += 1
                cell.execution_count = executions
            cell.outputs = _normal_outputs(cell)
    return clean


def _without_tool_state(metadata: NotebookNode) -> NotebookNode:
    return _node({key: val for key, val in metadata.items() if key not in TOOL_STATE})


def _node(content: dict[str, Any]) -> NotebookNode:
    node: NotebookNode = nbformat.from_dict(content)  # type: ignore[no-untyped-call]
    return node


def _cell_id(cell: NotebookNode, place: int, seen: set[str]) -> str:
    given = cell.get("id", "")
    if re.fullmatch(r"[A-Za-z0-9_-]{1,64}", given) and given not in seen:
        return str(given)
    return hashlib.sha256(f"{place}\n{cell.source}".encode()).hexdigest()[:8]


def _normal_outputs(cell: NotebookNode) -> list[NotebookNode]:
    outputs: list[NotebookNode] = []
    for output in cell.get("outputs", []):
        kind = output.output_type
        last = outputs[-1] if outputs else None
        if kind == "stream" and last and last.get("name") == output.name:
            last.text += output.text
            continue
        output.pop("transient", None)
        if kind == "execute_result":
            output.execution_count = cell.execution_count
        if "image/png" in output.get("data", {}):
            output.data["image/png"] = _without_text_chunks(output.data["image/png"])
        outputs.append(output)
    return outputs


def png_bytes(payload: str) -> bytes:
    """Return the bytes of a PNG from its base64 text."""
    return base64.b64decode(payload)


def _without_text_chunks(payload: str) -> str:
    try:
        png = png_bytes(payload)
    except binascii.Error:
        return payload
    if not png.startswith(PNG_SIGNATURE):
        return payload
    kept, start = [PNG_SIGNATURE], len(PNG_SIGNATURE)
    while start + 12 <= len(png):
        # Length, type, data, checksum.
        end = start + 12 + int.from_bytes(png[start : start + 4], "big")
        if png[start + 4 : start + 8] not in PNG_TEXT:
            kept.append(png[start:end])
        start = end
    return base64.b64encode(b"".join(kept)).decode("ascii")
