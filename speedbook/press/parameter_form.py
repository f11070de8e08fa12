"""The parameters of a notebook as a table, which a script turns into a form to fill in.

Types, ranges and choices go into the form as JSON, so ``book/_static/live/values.js`` checks what
a reader types by the rules of the notebook itself.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from pathlib import PurePosixPath
from typing import Any

from speedbook.notebook.parameters import Parameter
from speedbook.notebook.values import as_argument

#: The class of the form, by which its scripts find it.
FORM = "sb-run"
HEADS = ("Parameter", "Value", "Meaning")
#: For the keyboards of phones.
KEYBOARDS = {"int": "numeric", "float": "decimal"}


def schema(parameter: Parameter) -> dict[str, Any]:
    """Return the rules that decide whether a text is a value of a parameter, ready for JSON.

    Examples
    --------
    >>> schema(Parameter("n", "int", 5, "actions", low=3.0))["low"]
    3.0
    """
    return {
        "type": parameter.type,
        "low": parameter.low,
        "high": parameter.high,
        "choices": list(parameter.choices),
        "or_empty": parameter.or_empty,
        "rule": parameter.rule,
    }


def form_html(parameters: Sequence[Parameter], name: str) -> str:
    """Return the form.

    Parameters
    ----------
    parameters : sequence of Parameter
        Of the notebook.
    name : str
        The path of the notebook.
    """
    heads = "\n".join(f'<th class="head"><p>{head}</p></th>' for head in HEADS)
    rows = "\n".join(map(_row, parameters))
    return (
        f'<form class="{FORM}" id="run-this-page" novalidate autocomplete="off" '
        f'data-notebook="{escape(PurePosixPath(name).stem)}">\n'
        f'<table class="sb-parameters sb-table table">\n<thead><tr>{heads}</tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody>\n</table>\n</form>"
    )


def _row(parameter: Parameter) -> str:
    name = f"parameter-{parameter.name}"
    rule = " ".join(filter(None, [parameter.rule and f"{parameter.rule};", "default"]))
    default = escape(as_argument(parameter.default)) or "(empty)"
    return (
        f'<tr><td><p><label for="{name}"><code>{parameter.name}</code></label> '
        f'<span class="sb-muted">{escape(parameter.type)}</span></p></td>\n'
        f'<td>{_field(parameter, name)}<p class="sb-error" id="{name}-error" hidden></p></td>\n'
        f'<td><p id="{name}-about">{escape(parameter.help)} '
        f'<span class="sb-muted">{escape(rule)} <code>{default}</code></span></p></td></tr>'
    )


def _field(parameter: Parameter, name: str) -> str:
    default = as_argument(parameter.default)
    rules = escape(json.dumps(schema(parameter), ensure_ascii=False))
    same = (
        f'id="{name}" name="{parameter.name}" data-schema="{rules}" '
        f'data-default="{escape(default)}" aria-describedby="{name}-about {name}-error"'
    )
    choices = ["True", "False"] if parameter.type == "bool" else [*map(str, parameter.choices)]
    if choices and not parameter.type.startswith("list["):
        options = "".join(
            f"<option{' selected' * (choice == default)}>{escape(choice)}</option>"
            for choice in choices
        )
        return f"<select {same}>{options}</select>"
    keyboard = KEYBOARDS.get(parameter.type)
    # A phone's keyboard for numbers may have no sign.
    signed = parameter.low is None or parameter.low < 0
    mode = f' inputmode="{keyboard}"' if keyboard and not signed else ""
    return (
        f'<input type="text" {same} value="{escape(default)}"{mode} spellcheck="false" '
        'autocapitalize="off">'
    )
