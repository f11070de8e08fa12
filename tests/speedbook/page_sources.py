"""Notebooks of a few cells, as a page is made from them."""

from __future__ import annotations

from typing import Any

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

FRONT = "*In short:* the\nanswer to `all`. *You need* [that](that.ipynb)."


def page(
    *cells: Any, first: str = f"# Title\n\n{FRONT}\n\nMore.", parameters: str = "n: int = 3  # n"
) -> Any:
    """Return a notebook with a first cell, the parameters cell, and those given."""
    cell = new_code_cell(parameters, metadata={"tags": ["parameters"]})
    return new_notebook(cells=[new_markdown_cell(first), cell, *cells])


def drawing(figure: str = "curve", /, *tags: str, **options: str) -> Any:
    """Return a cell that shows a figure, with the options of MyST-NB for it, if any are given."""
    metadata: dict[str, Any] = {"tags": list(tags)} if tags else {}
    if options:
        metadata["mystnb"] = {"figure": options}
    return new_code_cell(f"draw({figure!r})", metadata=metadata, outputs=[shown(figure)])


def shown(name: str) -> Any:
    """Return the output of a figure, as `speedbook.figures.show` displays it."""
    pixel = (
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
        "gg=="
    )
    return new_output(
        "display_data",
        {"image/png": pixel, "text/plain": f"Figure {name}"},
        metadata={
            "image/png": {"width": 580, "alt": f"What {name} shows."},
            "speedbook": {"figure": {"name": name, "digest": "0" * 64}},
        },
    )
