"""The foot of a page: the command, the time, the parameters."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from speedbook.notebook.files import serialise, to_notebook, with_run_time
from speedbook.notebook.parameters import Parameter, read_parameters
from speedbook.press.foot import another_value, foot, powershell, rerun_command, run_time

from .page_sources import page


def test_the_foot_holds_command_time_and_parameters_and_no_verdicts():
    notebook = to_notebook(json.loads(with_run_time(page(), 22.2)))
    text = foot(notebook, "notebooks/a/b.ipynb")
    for part in (
        "{rubric} Run this page again\n",
        "```bash\n.venv/bin/speedbook rerun b -p n=6\n```",
        "It ran in 22 seconds for this book. See {doc}`how to run a page again </book/rerun>`.",
        "{dropdown} 1 parameter: type, default, meaning, range",
        ":::{parameter-form}\n:::",
        "```powershell\n.venv\\Scripts\\speedbook rerun b -p n=6\n```",
        "`make live`",
    ):
        assert part in text
    assert "claim-badge" not in text


def test_the_time_of_a_run_is_for_the_press_only():
    assert run_time(page()) == ""
    notebook = to_notebook(json.loads(with_run_time(page(), 22.2)))
    assert run_time(notebook) == "It ran in 22 seconds for this book. "
    assert "22.2" not in serialise(notebook)


@pytest.mark.parametrize(
    ("line", "argument"),
    [
        ("n: int = 5  # n [3 .. 50]", " -p n=10"),
        ("n: int = 40  # n [3 .. 50]", " -p n=20"),
        ("n: int = 0  # n", " -p n=1"),
        ("x: float = 0.05  # x", " -p x=0.1"),
        ("x: float = 0.0  # x", ""),
        ("x: float = 0.9  # x [0.8 .. 1]", ""),
        ("rule: str = 'b'  # rule [a | b | c]", " -p rule=c"),
        ("rule: str = 'c'  # rule [a | b | c]", " -p rule=a"),
        ("name: str = 'Jim'  # name", ""),
        ("yes: bool = True  # yes", " -p yes=False"),
        ("many: list[int] = [1, 2, 3]  # many", " -p many=1,2"),
        ("one: list[int] = [1]  # one", ""),
        ("names: list[str] = ['a b', 'c', 'd']  # names", " -p 'names=a b,c'"),
        ("s: str = 'x'  # s\nn: int = 2  # n", " -p n=4"),
    ],
)
def test_the_command_changes_the_first_parameter_that_it_can(line, argument):
    parameters, problems = read_parameters(line)
    assert problems == []
    command = rerun_command("notebooks/a/fig1a.ipynb", parameters)
    assert command == f".venv/bin/speedbook rerun fig1a{argument}"


@pytest.mark.parametrize(
    ("posix", "windows"),
    [
        ("-p n=4", "-p n=4"),
        ("-p many=1,2", "-p 'many=1,2'"),
        ("-p 'names=a b'", "-p 'names=a b'"),
        ("-p 'name=it'\"'\"'s'", "-p 'name=it''s'"),
    ],
)
def test_powershell_has_its_own_quotation_marks(posix, windows):
    command = powershell(f".venv/bin/speedbook rerun a {posix}")
    assert command == f".venv\\Scripts\\speedbook rerun a {windows}"


values = st.one_of(
    st.integers(-100, 100), st.floats(-100, 100), st.booleans(), st.lists(st.integers(0, 9))
)


@given(values, st.floats(0, 50), st.floats(0, 50))
def test_another_value_keeps_the_rule_and_differs(default, below, above):
    bounds = {}
    if not isinstance(default, bool | list):
        bounds = {"low": default - below, "high": default + above}
    kind = "list[int]" if isinstance(default, list) else type(default).__name__
    parameter = Parameter("x", kind, default, "x", **bounds)
    value = another_value(parameter)
    if value is not None:
        assert parameter.check(value) == value
        assert value != default
