"""The parameters cell of a notebook, parsed into a typed schema without running it.

The cell holds annotated plain literals, one on each line::

    rounds: int = 10_000  # rounds of one experiment [10 .. 1_000_000]
    rule: str = "floor"  # how a design becomes counts [floor | ceil | efficient]

The comment is the help text; it may continue in comment lines directly below. Square brackets at
the end of the comment hold the choices, or a range with one or two ends. For a list, the brackets
apply to each element. A list must not be empty, unless the brackets say ``[or empty]``.

Every value is converted to the declared type, from the command line and from files. Equal values,
such as ``15`` and ``15.0`` or ``-0.0`` and ``0.0``, therefore have the same text and the same
digest.
"""

from __future__ import annotations

import ast
import io
import math
import re
import tokenize
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count, takewhile
from typing import Any

Scalar = int | float | str | bool
Value = Scalar | list[Scalar]

SCALARS: dict[str, Any] = {"int": int, "float": float, "str": str, "bool": bool}
#: Half a UTF-16 character, which no file can hold; stray bytes from a shell become one too.
SURROGATE = re.compile("[\ud800-\udfff]")
#: The text in square brackets for a list that may be empty.
EMPTY = "or empty"
TYPES = (*SCALARS, "list[int]", "list[float]", "list[str]")


@dataclass(frozen=True)
class Parameter:
    """One parameter of a notebook."""

    name: str
    type: str
    default: Value
    help: str
    low: float | None = None
    high: float | None = None
    choices: tuple[Scalar, ...] = ()
    or_empty: bool = False

    @property
    def rule(self) -> str:
        """The rule that a value must obey besides its type, as text; empty if there is none."""
        if self.or_empty:
            return "any, or none: []"
        if self.choices:
            return "one of " + ", ".join(map(str, self.choices))
        if self.low is not None and self.high is not None:
            return f"between {_bound(self.low)} and {_bound(self.high)}"
        if self.low is not None:
            return f"at least {_bound(self.low)}"
        return "" if self.high is None else f"at most {_bound(self.high)}"

    def check(self, value: Any) -> Value:
        """Return the value in the parameter's type, or raise a ValueError.

        The error names the parameter, the value, and the type or rule that it violates.
        """
        if not self.type.startswith("list["):
            return self._check_scalar(value)
        if not isinstance(value, list):
            raise ValueError(f"{self.name}: must be of type {self.type}; got {value!r}")
        if not value and not self.or_empty:
            raise ValueError(f"{self.name}: must hold at least one element")
        return [self._check_scalar(element) for element in value]

    def _check_scalar(self, value: Any) -> Scalar:
        element = self.type.removeprefix("list[").removesuffix("]")
        if element == "float" and type(value) is int:
            with suppress(OverflowError):
                value = float(value)
        # The exact type, since True is an instance of int.
        if type(value) is not SCALARS[element]:
            listed = self.type != element and isinstance(value, str) and len(value.split()) > 1
            cure = "; put commas between the elements" if listed else ""
            raise ValueError(f"{self.name}: must be of type {self.type}; got {value!r}{cure}")
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{self.name}: must be finite; got {value!r}")
        if isinstance(value, float):
            value += 0.0  # turns -0.0 into 0.0, which is equal but written differently
        if isinstance(value, str) and SURROGATE.search(value):
            raise ValueError(
                f"{self.name}: must be text that UTF-8 can write; got {value!r}, "
                "which contains half a character: give the whole character"
            )
        if (
            (self.choices and value not in self.choices)
            or (self.low is not None and value < self.low)
            or (self.high is not None and value > self.high)
        ):
            raise ValueError(f"{self.name}: must be {self.rule}; got {value!r}")
        checked: Scalar = value
        return checked


def _bound(number: float) -> str:
    """Write an end of a range in a form that is also valid as a value: 1000000, not 1e+06."""
    return f"{number:.0f}" if float(number).is_integer() and abs(number) < 1e12 else f"{number:g}"


def read_parameters(source: str) -> tuple[tuple[Parameter, ...], list[str]]:
    """Parse a parameters cell without running it.

    Returns the parameters that could be read, in order, and a sentence for each fault.

    Examples
    --------
    >>> parameters, problems = read_parameters("seed: int = 7  # of the simulation [0 ..]")
    >>> parameters[0].default, parameters[0].rule, problems
    (7, 'at least 0', [])
    """
    try:
        statements = ast.parse(source).body
        comments = _comments(source)
        own = {line for line in comments if source.split("\n")[line - 1].lstrip().startswith("#")}
    except SyntaxError as error:
        return (), [f"line {error.lineno} is not Python: {error.msg}"]
    except (ValueError, tokenize.TokenError) as error:
        return (), [f"is not Python: {error}"]
    found: dict[str, Parameter] = {}
    problems = []
    for statement in statements:
        try:
            parameter = _read_statement(statement, comments, own)
            if parameter.name in found:
                raise ValueError(f"{parameter.name}: is given twice")
            found[parameter.name] = parameter
        except ValueError as error:
            problems.append(str(error))
    if not statements:
        problems.append("holds no parameter")
    return tuple(found.values()), problems


def parameters_cells(notebook: Mapping[str, Any]) -> list[Any]:
    """Return the code cells tagged ``parameters``; a notebook must have exactly one."""
    return [
        cell
        for cell in notebook["cells"]
        if cell["cell_type"] == "code" and "parameters" in cell["metadata"].get("tags", [])
    ]


def notebook_parameters(notebook: Mapping[str, Any]) -> tuple[Parameter, ...]:
    """Return the typed parameters of a notebook, whose parameters cell must follow the rules.

    The notebook is given as nbformat reads it or as the JSON of its file: for quick help, nbformat
    is not loaded.
    """
    cells = parameters_cells(notebook)
    if len(cells) != 1:
        raise ValueError(f"exactly one code cell must be tagged `parameters`; got {len(cells)}")
    parameters, problems = read_parameters("".join(cells[0]["source"]))
    if problems:
        raise ValueError("; ".join(problems))
    return parameters


def _comments(source: str) -> dict[int, str]:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {
        token.start[0]: token.string.lstrip("#").strip()
        for token in tokens
        if token.type == tokenize.COMMENT
    }


def _read_statement(statement: ast.stmt, comments: dict[int, str], own: set[int]) -> Parameter:
    """Read one line and its comment, which may continue on comment lines of its `own`."""
    if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
        raise ValueError(
            f"line {statement.lineno} must read `name: type = value  # help`; "
            f"got `{ast.unparse(statement).splitlines()[0]}`"
        )
    name, kind = statement.target.id, ast.unparse(statement.annotation)
    if kind not in TYPES:
        raise ValueError(f"{name}: its type must be one of {', '.join(TYPES)}; got {kind}")
    try:
        default = ast.literal_eval(statement.value)  # type: ignore[arg-type]
    except (ValueError, TypeError):
        raise ValueError(f"{name}: its value must be a plain literal") from None
    end = statement.end_lineno or statement.lineno
    lines = [*range(statement.lineno, end + 1), *takewhile(own.__contains__, count(end + 1))]
    comment = " ".join(comments[line] for line in lines if line in comments)
    text, bounds = _read_comment(name, kind, comment)
    parameter = Parameter(name, kind, default, text, **bounds)
    return replace(parameter, default=parameter.check(default))


def _read_comment(name: str, kind: str, comment: str) -> tuple[str, dict[str, Any]]:
    match = re.fullmatch(r"(?P<help>.*?)\s*(?:\[(?P<rule>[^\[\]]*)\])?", comment)
    text, rule = (match["help"], match["rule"]) if match else (comment, None)
    if not text:
        raise ValueError(f"{name}: say what it is in a comment on its line")
    if rule is None:
        return text, {}
    if rule.strip() == EMPTY and kind.startswith("list["):
        return text, {"or_empty": True}
    element = SCALARS[kind.removeprefix("list[").removesuffix("]")]
    try:
        if ".." in rule and element in (int, float):
            low, high = (float(end) if end.strip() else None for end in rule.split(".."))
            if low is not None and high is not None and low > high:
                raise ValueError
            return text, {"low": low, "high": high}
        if "|" in rule and element is not bool:
            return text, {"choices": tuple(element(part.strip()) for part in rule.split("|"))}
    except ValueError:
        pass
    raise ValueError(f"{name}: [{rule}] is neither a range [low .. high] nor choices [this | that]")
