"""The book's sources: nothing is left out of it, and nothing in it asks for a server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from speedbook.notebook.files import read_notebook

ROOT = Path(__file__).resolve().parents[1]
BOOK = ROOT / "book"
#: What lies in `_static` is copied and no page.
PAGES = sorted(path for path in BOOK.rglob("*.md") if "_static" not in path.parts)


def toc_files(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        yield from (str(part[key]) for key in ("root", "file") if key in part)
        yield from (name for each in part.values() for name in toc_files(each))
    elif isinstance(part, list):
        yield from (name for each in part for name in toc_files(each))


def test_every_page_and_notebook_is_in_the_table_of_contents() -> None:
    listed = set(toc_files(yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))))
    sources = [*PAGES, *(ROOT / "notebooks").rglob("*.ipynb")]
    hidden = [path for path in sources if ".ipynb_checkpoints" not in path.parts]
    assert listed == {path.relative_to(ROOT).with_suffix("").as_posix() for path in hidden}


@pytest.mark.parametrize("name", ["_config.yml", "book/_static/custom.css", "book/_static/book.js"])
def test_configuration_and_style_name_no_server(name: str) -> None:
    assert "//cdn" not in (text := (ROOT / name).read_text(encoding="utf-8"))
    assert not re.search(r"https?://", text)


#: The head of a Markdown table whose cells are all empty, and the line below it.
EMPTY_HEAD = re.compile(r"^\|(?:[ \t]*\|)+[ \t]*\n(?=\|[ \t:|-]+$)", re.M)


def markdown(path: Path) -> str:
    """Return the Markdown of a page or of a notebook's cells."""
    if path.suffix == ".md":
        return path.read_text(encoding="utf-8")
    cells = read_notebook(path).cells
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def test_every_table_has_heads() -> None:
    assert EMPTY_HEAD.search("Text\n\n| | |\n|---|--:|\n| a | b |\n")
    assert not EMPTY_HEAD.search("| | b |\n|---|---|\n| | |\n")
    sources = [*PAGES, *(ROOT / "notebooks").rglob("*.ipynb")]
    shown = [path for path in sources if ".ipynb_checkpoints" not in path.parts]
    headless = [path.relative_to(ROOT) for path in shown if EMPTY_HEAD.search(markdown(path))]
    assert headless == []
