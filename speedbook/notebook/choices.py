"""Read several values for a parameter, from the command line or a table: the points of a sweep.

Commas separate values, and ``a:b:k`` stands for k evenly spaced numbers from a to b. Every value of
a list parameter is a whole list in brackets. A text is written in double quotes, as in JSON, if it
contains a comma, is empty, or begins or ends with a blank or a double quote.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path

from speedbook.notebook.parameters import Parameter, Value
from speedbook.notebook.values import Text, as_shown, read_text, read_values
from speedbook.text import nearest

#: The largest number of points of one sweep.
MOST_POINTS = 10_000
#: A value of a list parameter, and of any other.
QUOTED, END = r'"(?:[^"\\]|\\.)*"', r"\s*(?:,|\Z)"
# No two alternatives begin with the same letter, so a long text is read once.
WHOLE_LIST = re.compile(rf"\s*(?P<value>\[(?:{QUOTED}|[^\[\]\"])*\]){END}", re.DOTALL)
ONE_VALUE = re.compile(rf"\s*(?P<value>{QUOTED}(?={END})|[^,]*?){END}", re.DOTALL)


def read_choices(
    parameters: Sequence[Parameter], given: Sequence[tuple[str, Text]]
) -> dict[str, list[Value]]:
    """Read the values of each parameter, as text from the command line, and check all of them.

    Raises a ValueError with a line for each unknown name, and for each value that has a wrong form
    or type, violates the parameter's rule, or is given twice.

    Examples
    --------
    >>> actions = Parameter("n_actions", "int", 3, "number of actions")
    >>> noise = Parameter("noise", "float", 1.0, "noise")
    >>> sizes = Parameter("sizes", "list[int]", [1], "sizes")
    >>> given = [("n_actions", "3,10:20:3"), ("noise", "0.1:1.0:4"), ("sizes", "[1,2],[3]")]
    >>> read_choices([actions, noise, sizes], given)
    {'n_actions': [3, 10, 15, 20], 'noise': [0.1, 0.4, 0.7, 1.0], 'sizes': [[1, 2], [3]]}
    """
    known = {parameter.name: parameter for parameter in parameters}
    choices: dict[str, list[Value]] = {}
    faults = []
    for name, text in given:
        if name not in known:
            faults.append(f"{name}: the notebook has no such parameter{nearest(name, known)}")
            continue
        values: list[Value] = []
        for part in _split(known[name], text) if isinstance(text, str) else [text]:
            try:
                values += _read(known[name], part)
            except ValueError as error:
                faults += str(error).splitlines()
        twice = [value for place, value in enumerate(values) if value in values[:place]]
        faults += [f"{name}: {as_shown(value)} is given twice" for value in twice]
        choices[name] = values
    if faults:
        raise ValueError("\n".join(faults))
    return choices


def _split(parameter: Parameter, text: str) -> Iterator[str | ValueError]:
    """Yield the parts of a text, each of which holds a value or a range; a fault ends it."""
    is_list = parameter.type.startswith("list[")
    form, start = (WHOLE_LIST if is_list else ONE_VALUE), 0
    while start <= len(text):
        found = form.match(text, start)
        if found is None:
            yield ValueError(
                f"{parameter.name}: is a list, so write each value of a sweep as a whole list in "
                f"brackets, [1,2] for one list and [1,2],[3] for two; got {text!r}"
            )
            return
        yield found["value"]
        if not found[0].endswith(","):
            return
        start = found.end()
        if is_list and start == len(text):
            yield ValueError(f"{parameter.name}: {text!r} ends with a comma; remove it")
            return


def _read(parameter: Parameter, part: Text | ValueError) -> list[Value]:
    """Return the value in a part of the text, or the values of its range."""
    if isinstance(part, ValueError):
        raise part
    if not isinstance(part, str):
        return [read_text(parameter, part)]
    if not part:
        raise ValueError(
            f"{parameter.name}: a value is missing next to a comma"
            + ('; write an empty text as ""' if parameter.type == "str" else "")
        )
    if parameter.type in ("int", "float") and ":" in part:
        return _spaced(parameter, part)
    if parameter.type == "str" and part.startswith('"'):
        try:
            part = str(json.loads(part, strict=False))
        except ValueError:
            raise ValueError(
                f"{parameter.name}: a text that begins with a quotation mark must be written as in "
                f"JSON, with one at its end and backslashes doubled; got {part}"
            ) from None
    return [read_text(parameter, part)]


def _spaced(parameter: Parameter, part: str) -> list[Value]:
    """Return the values of a range a:b:k, exact before they are rounded to the type."""
    name = parameter.name
    ends = part.split(":")
    if len(ends) != 3:
        raise ValueError(
            f"{name}: a range is written first:last:number, such as 1:9:5; got {part!r}"
        )
    first, last = (read_text(parameter, end) for end in ends[:2])
    number = read_text(Parameter(f"{name}: number of values of {part}", "int", 2, "", 2), ends[2])
    assert isinstance(first, int | float) and isinstance(last, int | float)
    assert isinstance(number, int)
    if first == last:
        raise ValueError(f"{name}: the ends of the range {part} must differ")
    if number > MOST_POINTS:
        raise ValueError(f"{name}: a range holds at most {MOST_POINTS:,} values; got {part!r}")
    # The decimals as they are written, so 0.1:1.0:4 has the value 0.4, not 0.4 + 5e-17.
    low, high = Fraction(str(first)), Fraction(str(last))
    steps = [low + (high - low) * i / (number - 1) for i in range(number)]
    if parameter.type == "int":
        if broken := [step for step in steps if step.denominator != 1]:
            raise ValueError(
                f"{name}: is a whole number, but {part} gives {float(broken[0]):g}; choose a "
                "number of values such that the steps are whole"
            )
        return [parameter.check(int(step)) for step in steps]
    return [parameter.check(float(step)) for step in steps]


def as_choices(values: Sequence[Value]) -> str:
    """Write the values of a parameter in the form that `read_choices` reads.

    Examples
    --------
    >>> as_choices([3, 4]), as_choices([[1, 2], [3]]), as_choices(["a,b", "c"])
    ('3,4', '[1, 2],[3]', '"a,b",c')
    """
    return ",".join(map(_written, values))


def _written(value: Value) -> str:
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, str):
        plain = value and "," not in value and value[:1] != '"' and value == value.strip()
        return value if plain else json.dumps(value, ensure_ascii=False)
    return str(value)


def read_points(parameters: Sequence[Parameter], path: Path) -> list[dict[str, Value]]:
    """Read points from a CSV: the head holds names of parameters, and each row one point.

    A cell holds a value as it is written after ``speedbook rerun -p``; an empty cell is an empty
    text. Raises a ValueError with a line for each fault.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ValueError(f"--points: {path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ValueError(f"--points: {path}: is not UTF-8 text; save it as UTF-8") from None
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        lines = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise ValueError(f"--points: {path}: line {reader.line_num}: {error}") from None
    if len(lines) < 2:
        raise ValueError(f"--points: {path}: must hold a line of names and at least one point")
    head = [name.strip() for name in lines[0][1]]
    known = [parameter.name for parameter in parameters]
    faults = [
        f"--points: {path}: {name or 'a column without a name'}: the notebook has no such parameter"
        + nearest(name, known)
        for name in head
        if name not in known
    ]
    if twice := sorted({name for name in head if head.count(name) > 1}):
        faults.append(f"--points: {path}: {', '.join(twice)}: a column must occur once")
    if faults:
        raise ValueError("\n".join(faults))
    points: list[dict[str, Value]] = []
    first: dict[str, int] = {}
    for line, row in lines[1:]:
        place = f"--points: {path}: line {line}"
        if len(row) != len(head):
            faults.append(f"{place}: must have {len(head)} cells; got {len(row)}")
            continue
        try:
            point = read_values(parameters, zip(head, row, strict=True))
        except ValueError as error:
            faults += [f"{place}: {fault}" for fault in str(error).splitlines()]
            continue
        key = json.dumps(point)
        if key in first:
            faults.append(f"{place}: the same point as in line {first[key]}")
        first.setdefault(key, line)
        points.append(point)
    if faults:
        raise ValueError("\n".join(faults))
    return points


def grid(
    choices: Mapping[str, Sequence[Value]], rows: Sequence[Mapping[str, Value]] = ({},)
) -> list[dict[str, Value]]:
    """Combine each row of a table with every combination of the choices; the last varies fastest.

    Raises a ValueError if a parameter is in both or there are too many points.

    Examples
    --------
    >>> grid({"a": [1, 2], "b": [True]}, [{"c": 5}])
    [{'c': 5, 'a': 1, 'b': True}, {'c': 5, 'a': 2, 'b': True}]
    """
    if both := [name for name in choices if name in rows[0]]:
        raise ValueError(f"{', '.join(both)}: is given with -p and in --points; give it once")
    number = len(rows) * math.prod(map(len, choices.values()))
    if number > MOST_POINTS:
        raise ValueError(
            f"a sweep has at most {MOST_POINTS:,} points; got {number:,}: give fewer values, or "
            "divide the sweep"
        )
    combined = itertools.product(*choices.values())
    made = [dict(zip(choices, values, strict=True)) for values in combined]
    return [{**row, **values} for row in rows for values in made]
