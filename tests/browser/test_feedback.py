"""The page that a student gets back, in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from tools.course.feedback import offline

MESSAGE = "AssertionError: " + "For theta = [3.0, 4.0] the policy earns -2.300 on average. " * 6
LONG = "print('" + "x" * 300 + "')"


@pytest.mark.parametrize("width", [1440, 1000, 390])
def test_nothing_is_cut_at_the_edge_of_a_page(engine: Any, tmp_path: Path, width: int) -> None:
    from nbgrader.converters import GenerateFeedback
    from traitlets.config import Config

    error = new_output("error", ename="AssertionError", evalue="", traceback=[MESSAGE])
    notebook = new_notebook(cells=[new_code_cell(LONG, outputs=[error], execution_count=1)])
    feedback = GenerateFeedback()
    feedback.update_config(Config())
    exporter = feedback.exporter_class(config=feedback.config)
    html, _ = exporter.from_notebook_node(
        notebook, {"nbgrader": {"score": 0, "max_score": 1, "late_penalty": 0, "notebook": "x"}}
    )
    (tmp_path / "page.html").write_text(offline(html), encoding="utf-8")
    context = engine.new_context(offline=True, viewport={"width": width, "height": 800})
    page = context.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    assert page.locator("pre").count() == 2
    cut = page.evaluate(
        """() => [document.documentElement, ...document.querySelectorAll("pre")]
          .filter(each => each.scrollWidth > each.clientWidth + 1).map(each => each.outerHTML)"""
    )
    context.close()
    assert cut == []
