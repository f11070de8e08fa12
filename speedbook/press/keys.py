"""Digests of what the pages depend on besides the executed notebooks."""

from __future__ import annotations

from pathlib import Path

from speedbook.paths import files_below
from speedbook.run.cache import files_key, library_sources, package_sources


def press_key(root: Path, staged: Path) -> str:
    """Return the digest of what the pages depend on; the API page reads our sources."""
    return files_key({**files_below(staged), **library_sources(root), **package_sources()})


def appearance_key(book: Path) -> str:
    """Return the digest of files that all pages depend on and that Sphinx does not watch.

    These files are our code, and the styles and scripts, whose checksums are in the pages.
    """
    return files_key({**files_below(book / "book" / "_static"), **package_sources()})
