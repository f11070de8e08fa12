"""Render the figures of a notebook with their alt texts.

Sphinx finds the class through the entry point group ``myst_nb.mime_renderers``. By itself, MyST-NB
ignores the alt text in an output's metadata and describes a picture by the name of its file.
"""

from __future__ import annotations

from typing import Any


class FigureRenderer:
    """MyST-NB plugin for the pictures that `speedbook.figures.show` displayed."""

    @staticmethod
    def handle_mime(renderer: Any, data: Any, inline: bool) -> list[Any] | None:
        """Return the image node with its alt text, or None to leave the output to MyST-NB."""
        options = data.output_metadata.get(data.mime_type, {})
        if data.mime_type != "image/png" or "alt" not in options:
            return None
        nodes: list[Any] = renderer.render_image(data)
        nodes[0]["alt"] = options["alt"]
        nodes[0]["classes"].append("sb-figure")
        return nodes
