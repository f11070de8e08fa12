"""The dependencies of the pages, besides the notebooks that ran."""

from __future__ import annotations

from pathlib import Path

from speedbook.paths import files_below
from speedbook.run.cache import files_key, library_sources, package_sources


def press_key(root: Path, staged: Path) -> str:
    """Return the digest of what the pages depend on; the API page reads our sources."""
    return files_key({**files_below(staged), **library_sources(root), **package_sources()})


def appearance_key(book: Path) -> str:
    """Return the digest of dependencies of all pages that Sphinx does not know.

    These are our code, and styles and scripts, which pages name with their checksums.
    """
    return files_key({**files_below(book / "book" / "_static"), **package_sources()})
