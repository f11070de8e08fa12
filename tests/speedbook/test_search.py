"""What the search of the book finds after only a part of the book was pressed again."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from sphinx.application import Sphinx

from speedbook.press.sphinx.extension import keep_index_entries

TERMS = "# Terms\n\n```{glossary}\nfloor\n  The least variance.\n```\n"


def index(folder: Path, keep: bool) -> dict[str, Any]:
    """Press what changed below a folder and return the index of the search."""
    built = folder / "built"
    settings = {"extensions": ["myst_parser"], "root_doc": "first", "exclude_patterns": ["built"]}
    app = Sphinx(folder, None, built, built / "trees", "html", settings, status=None, warning=None)
    if keep:
        app.connect("env-updated", keep_index_entries)
    app.build()
    text = (built / "searchindex.js").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text.removeprefix("Search.setIndex(").rstrip()[:-1])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("keep", [True, False])
def test_terms_of_pages_that_did_not_change_are_found(keep: bool, tmp_path: Path) -> None:
    first, terms = tmp_path / "first.md", tmp_path / "terms.md"
    first.write_text("# First\n\n```{toctree}\nterms\n```\n", encoding="utf-8")
    terms.write_text(TERMS, encoding="utf-8")
    before = index(tmp_path, keep)
    assert list(before["indexentries"]) == ["floor"]
    first.write_text(first.read_text(encoding="utf-8") + "\nMore.\n", encoding="utf-8")
    os.utime(first, (later := time.time() + 10, later))
    after = index(tmp_path, keep)
    assert after["terms"].keys() > before["terms"].keys()
    # Once Sphinx keeps them by itself, the handler is in nobody's need.
    assert (after["indexentries"] == before["indexentries"]) is keep
