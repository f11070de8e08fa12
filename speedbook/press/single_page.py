"""Pages in a single file that needs no network: of a run, of a sweep and of a comparison.

Their templates, ``*_page.html`` in this folder, fill the blocks of ``single_page.html``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined


def single_page(template: str, **content: Any) -> str:
    """Return the HTML of a page.

    Parameters
    ----------
    template : str
        The name of the file, such as ``sweep_page.html``.
    **content : Any
        What the template calls by name. Text is escaped, and a name that is missing is an error.
    """
    environment = Environment(
        autoescape=True,
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(content)
