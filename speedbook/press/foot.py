"""The foot of a notebook's page: the command that runs it, the running time, the parameters."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import PurePosixPath

from nbformat import NotebookNode

from speedbook.notebook.files import RUN_TIME
from speedbook.notebook.parameters import Parameter, Value, notebook_parameters
from speedbook.notebook.values import as_argument
from speedbook.text import counted, duration

#: Where the book explains reruns.
RERUN = "See {doc}`how to run a page again </book/rerun>`."
#: Where it says how to run a page in the browser; scripts replace it where that is possible.
LIVE = "`make live` opens the book so that you can run this page with your own values."
#: On Windows the same command has another form.
WINDOWS = "On Windows, in PowerShell:"
#: What needs no quotation marks in PowerShell, where a comma separates.
PLAIN = re.compile(r"[\w+:./=-]+", re.ASCII)


def foot(notebook: NotebookNode, name: str) -> str:
    """Return the box at the foot as MyST text; the parameters in it are folded.

    Parameters
    ----------
    notebook : NotebookNode
        With a valid parameters cell.
    name : str
        The path of the notebook from the root of the book.
    """
    parameters = notebook_parameters(notebook)
    count = counted(len(parameters), "parameter")
    command = rerun_command(name, parameters)
    return (
        ":::::{div} sb-foot\n"
        "```{rubric} Run this page again\n```\n\n"
        f"```bash\n{command}\n```\n\n"
        f"{{.sb-windows}}\n{WINDOWS}\n\n"
        f"```powershell\n{powershell(command)}\n```\n\n"
        f"{run_time(notebook)}{RERUN}\n\n"
        f"{{.sb-live-note}}\n{LIVE}\n\n"
        f"::::{{dropdown}} {count}: type, default, meaning, range\n"
        ":::{parameter-form}\n:::\n::::\n"
        ":::::"
    )


def powershell(command: str) -> str:
    """Return a command of `rerun_command` in the form that PowerShell understands."""
    program, *words = shlex.split(command)
    windows = program.replace("/bin/", "\\Scripts\\").replace("/", "\\")
    return " ".join([windows, *map(_quoted, words)])


def _quoted(word: str) -> str:
    return word if PLAIN.fullmatch(word) else "'" + word.replace("'", "''") + "'"


def run_time(notebook: NotebookNode) -> str:
    """Say how long a page took to run, if the build has measured it."""
    seconds = notebook.metadata.get(RUN_TIME)
    return "" if seconds is None else f"It ran in {duration(seconds)} for this book. "


def rerun_command(name: str, parameters: Sequence[Parameter]) -> str:
    """Return a command that runs a notebook with another value of one parameter."""
    command = f".venv/bin/speedbook rerun {PurePosixPath(name).stem}"
    for parameter in parameters:
        if (value := another_value(parameter)) is not None:
            return f"{command} -p {shlex.quote(f'{parameter.name}={as_argument(value)}')}"
    return command


def another_value(parameter: Parameter) -> Value | None:
    """Return a valid value of a parameter that is not its default; None if no such value is known.

    Examples
    --------
    >>> another_value(Parameter("rounds", "int", 60, "rounds", low=20, high=100))
    30
    """
    for value in _candidates(parameter):
        try:
            return parameter.check(value)
        except ValueError:
            continue
    return None


def _candidates(parameter: Parameter) -> list[Value]:
    value, choices = parameter.default, parameter.choices
    if choices and value in choices:
        return [choices[(choices.index(value) + 1) % len(choices)]]
    if isinstance(value, list):
        return [value[:-1]] if len(value) > 1 else []
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [2 * value, value // 2] if value > 1 else [value + 1]
    return [2 * value, value / 2] if isinstance(value, float) and value else []
