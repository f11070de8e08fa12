"""Markdown that a cell displayed, as HTML."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape

from markdown_it import MarkdownIt
from mdit_py_plugins.amsmath import amsmath_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin


def displayed(text: str) -> str:
    """Turn Markdown that a cell displayed into HTML.

    The Markdown may contain names from the reader's files, such as names of columns. In such names
    ``<`` is an ordinary character. The sign ``$`` next to a blank or a digit is ordinary, too, as
    in sums of money.
    """

    def formula(content: str, about: Mapping[str, bool]) -> str:
        return escape(rf"\[{content}\]" if about["display_mode"] else rf"\({content}\)")

    markdown = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    markdown.use(dollarmath_plugin, allow_space=False, allow_digits=False, renderer=formula)
    html = markdown.use(amsmath_plugin, renderer=escape).render(text)
    return re.sub(r'(?s)<a href="(?!https?:|mailto:|#).*?>(.*?)</a>', r"\1", html)
