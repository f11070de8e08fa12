"""Pictures on prose pages: copies of figures that notebooks draw.

``_static/figures/NAME.png``, on a page or in the README, is the figure that a notebook displays
under that name. The build uses the executed notebook's picture. The committed copy, which a plain
checkout shows, is written only by a refresh.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from nbformat import NotebookNode

from speedbook.notebook.files import code_cells, png_bytes

FOLDER = "book/_static/figures"
SHOWN = re.compile(r"_static/figures/([a-z0-9-]+)\.png")


def wanted_pictures(root: Path) -> dict[str, str]:
    """Return the names of the figures on prose pages, each with one of the pages that show it."""
    pages = [root / "README.md", *sorted((root / "book").rglob("*.md"))]
    return {
        name: str(page.relative_to(root))
        for page in pages
        if page.is_file()
        for name in SHOWN.findall(page.read_text(encoding="utf-8"))
    }


def drawn_pictures(notebooks: Mapping[str, NotebookNode]) -> dict[str, bytes]:
    """Return the PNG of each figure that the notebooks display, by its name."""
    return {
        output.metadata["speedbook"]["figure"]["name"]: png_bytes(output.data["image/png"])
        for notebook in notebooks.values()
        for cell in code_cells(notebook)
        for output in cell.get("outputs", [])
        if "figure" in output.get("metadata", {}).get("speedbook", {})
    }


def pictures(root: Path, notebooks: Mapping[str, NotebookNode]) -> dict[str, bytes]:
    """Return the files of the pictures that prose pages show, by their path from the root.

    Raises a ValueError if a page shows a figure that no notebook displays.
    """
    drawn = drawn_pictures(notebooks)
    files = {}
    for name, page in wanted_pictures(root).items():
        if name not in drawn:
            raise ValueError(f"{page} shows the figure {name!r}, which no notebook displays")
        files[f"{FOLDER}/{name}.png"] = drawn[name]
    return files
