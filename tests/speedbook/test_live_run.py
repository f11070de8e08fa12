"""What a live page asks of its kernel, and the form from which it takes the values."""

from __future__ import annotations

import html
import json
import re
import sys

import pytest

from speedbook.claims.ledger import lookup, read_ledger
from speedbook.claims.registry import load_registry
from speedbook.claims.rules import Verdict
from speedbook.notebook.find import notebook_names, parameters_of
from speedbook.notebook.parameters import read_parameters
from speedbook.notebook.values import as_argument, read_values
from speedbook.press.live_run import MISSING, texts, values, warm
from speedbook.press.parameter_form import form_html, schema

from .helpers import ROOT

FIGURE = "notebooks/figures/fig1a-unit-ball.ipynb"
SOURCE = "n: int = 5  # a number [3 .. 50]\nname: str = 'a'  # a name"


def test_values_are_read_as_on_the_command_line():
    assert values(SOURCE, {"n": "1e1", "name": " it's "}) == {"n": 10, "name": " it's "}
    assert values(SOURCE, {}) == {}


@pytest.mark.parametrize("given", [{"n": "51"}, {"n": "x"}, {"m": "3"}])
def test_what_the_command_line_refuses_is_refused(given):
    parameters, _ = read_parameters(SOURCE)
    with pytest.raises(ValueError) as expected:
        read_values(parameters, given.items())
    with pytest.raises(ValueError, match=re.escape(str(expected.value))):
        values(SOURCE, given)


def test_warming_imports_what_the_cells_import_and_runs_nothing_else(tmp_path, monkeypatch):
    (tmp_path / "imported_to_warm.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    warm(["import missing_module\nimport imported_to_warm", "raise SystemExit", "not Python ("])
    assert "imported_to_warm" in sys.modules


def test_numbers_and_badges_are_those_of_the_run():
    row = read_ledger(ROOT)["claims"]["fig-ub"]
    record = {"id": "fig-ub", "estimate": 0.5, "interval": [0.4, 0.6], "verdict": "contradicted"}
    record["details"] = {"worst": 2.0}
    numbers = ["fig-ub.estimate", "fig-ub.interval", "fig-ub.details.worst:.1f", "fig-ub.title"]
    elsewhere = next(c.id for c in load_registry(ROOT).claims if c.notebook != FIGURE)
    asked = [*numbers, "fig-ub-psd.estimate", f"{elsewhere}.estimate"]
    found = texts(FIGURE, [record], asked, ["fig-ub", "fig-ub-psd", elsewhere])
    run = {"fig-ub": {**row, **record}}
    assert found["numbers"] == {
        **{address: lookup(run, address) for address in numbers},
        "fig-ub-psd.estimate": MISSING,
    }
    assert found["numbers"]["fig-ub.estimate"] == "0.50"
    assert found["badges"].keys() == {"fig-ub", "fig-ub-psd"}
    assert Verdict("contradicted").css_class in found["badges"]["fig-ub"]
    assert MISSING in found["badges"]["fig-ub-psd"]


@pytest.mark.parametrize("name", notebook_names(ROOT))
def test_the_form_has_each_parameter_of_each_notebook_with_its_rules(name):
    parameters = parameters_of(ROOT, name)
    form = form_html(parameters, name)
    fields = re.findall(r'<(?:input|select) [^>]*name="(\w+)" data-schema="([^"]*)"', form)
    found = {field: json.loads(html.unescape(rules)) for field, rules in fields}
    assert found == {parameter.name: schema(parameter) for parameter in parameters}
    for parameter in parameters:
        default = html.escape(as_argument(parameter.default))
        assert f'value="{default}"' in form or f"<option selected>{default}</option>" in form
        assert html.escape(parameter.help) in form


def test_text_of_a_parameter_cannot_break_the_form():
    parameters, problems = read_parameters('name: str = "<b>\\"\'&"  # a <name> & "more"')
    assert problems == []
    form = form_html(parameters, "a/b.ipynb")
    assert "<b>" not in form and "<name>" not in form
    assert form.count('id="parameter-name"') == 1
