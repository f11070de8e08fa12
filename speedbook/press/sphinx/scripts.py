"""Load each script only on the pages that need it; a class in the page's HTML shows this."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from docutils import nodes

from speedbook.press import parameter_form
from speedbook.press.sphinx import advice_form, ledger_table, map_groups

if TYPE_CHECKING:
    from sphinx.application import Sphinx

#: Each script below ``book/_static``, and the class of the elements it works on.
SCRIPTS: Mapping[str, str] = {
    "advice.js": advice_form.FORM,
    "ledger.js": ledger_table.TABLE,
    # In this order; on a live page the form fetches the others.
    "live/values.js": parameter_form.FORM,
    "live/form.js": parameter_form.FORM,
    "map.js": map_groups.MARK,
}


def add_scripts(
    app: Sphinx, page: str, template: str, context: Any, doctree: nodes.document | None
) -> None:
    """Add to each page the scripts that it needs, and no others."""
    if doctree is None:
        return
    classes = {each for node in doctree.findall(nodes.Element) for each in node["classes"]}
    for script, mark in SCRIPTS.items():
        if mark in classes:
            app.add_js_file(script, loading_method="defer")
