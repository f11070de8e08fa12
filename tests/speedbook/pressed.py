"""Pages of a few lines, pressed by Sphinx with what the book adds to it."""

from __future__ import annotations

import io
import re
from html import unescape
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace


def press(root: Path, builder: str = "html", **settings: Any) -> str:
    """Press the pages of a folder into a folder named as the builder; return the complaints.

    Settings of Sphinx stand in for those of these pages.
    """
    warnings = io.StringIO()
    # Else node classes stay registered, of which the next test would be warned.
    with docutils_namespace():
        app = Sphinx(
            root,
            None,
            root / builder,
            root / "trees",
            builder,
            confoverrides={
                "extensions": ["myst_parser", "speedbook.press.sphinx.extension"],
                "myst_enable_extensions": ["dollarmath"],
                # Sphinx writes what extensions read into its default, for all tests to come.
                "source_suffix": {".rst": "restructuredtext"},
                "exclude_patterns": [builder, "trees", "book"],
                **settings,
            },
            status=None,
            warning=warnings,
            freshenv=True,
        )
        app.build()
    return re.sub(r"\x1b\[[\d;]*m", "", warnings.getvalue())


def words(html: str) -> str:
    """Return the text of a piece of a page, a blank for each white space."""
    return " ".join(unescape(re.sub("<[^>]+>", "", html.replace("</dt>", " "))).split())
