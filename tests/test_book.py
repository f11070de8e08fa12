"""The book's sources: nothing is left out of it, and nothing in it asks for a server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

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
