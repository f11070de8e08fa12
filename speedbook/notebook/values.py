"""Values for a notebook's parameters, from the command line or from a file.

Text is read by the type that the notebook gives the parameter and is never guessed: papermill would
read ``1e-3`` as a string, and YAML ``010`` as eight and ``on`` as true. In files, too, every single
value is read as the text that is written there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from speedbook.notebook.parameters import Parameter, Scalar, Value
from speedbook.text import NO_TEXT, nearest

#: The settings of long, unattended runs: notebook to parameter to value.
FULL = "notebooks/full.yml"
#: The former name of that file.
FORMER = "notebooks/paper.yml"
#: A name, a text or a bracket of JSON.
JSON_TOKEN = re.compile(
    r'(?P<name>"(?:[^"\\]|\\.)*")(?=\s*:)|"(?:[^"\\]|\\.)*"|(?P<bracket>[][{}])', re.S
)
#: The beginning of a ValueError's message, at the end of a failed cell's output.
VALUE_ERROR = re.compile(r"^\s*ValueError: ", re.M)
#: The text of a parameter on the command line or in a file.
Text = str | list[str]


def read_values(
    parameters: Sequence[Parameter], given: Iterable[tuple[str, Text]]
) -> dict[str, Value]:
    """Read and check values given as text; if a parameter is given several times, the last counts.

    Raises a ValueError with a line for each unknown name, and for each value that has a wrong type
    or violates the parameter's rule.

    Examples
    --------
    >>> share = Parameter("share", "float", 0.5, "a share", low=0, high=1)
    >>> read_values([share], [("share", "1e-3")])
    {'share': 0.001}
    """
    known = {parameter.name: parameter for parameter in parameters}
    values, faults = {}, []
    for name, text in given:
        if name not in known:
            faults.append(f"{name}: the notebook has no such parameter{nearest(name, known)}")
            continue
        try:
            values[name] = read_text(known[name], text)
        except ValueError as error:
            faults.append(str(error))
    if faults:
        raise ValueError("\n".join(faults))
    return values


def read_text(parameter: Parameter, text: Text) -> Value:
    """Read and check one value given as text; a value of a wrong type or range is a ValueError."""
    return parameter.check(_parse(parameter, text))


def as_argument(value: Value) -> str:
    """Write a value in the form that the command line takes.

    Examples
    --------
    >>> as_argument([100, 1000]), as_argument([]), as_argument(["width, mm", "mass"])
    ('100,1000', '[]', '["width, mm", "mass"]')
    """
    if not isinstance(value, list):
        return str(value)
    text = ",".join(map(str, value))
    plain = text and _elements(text) == list(map(str, value))
    return text if plain else json.dumps(value, ensure_ascii=False)


def as_shown(value: Value) -> str:
    """Write a value for a reader, with quotation marks if text would look empty."""
    return as_argument(value) or NO_TEXT


def explained(failure: str, parameters: Sequence[Parameter], values: Mapping[str, Value]) -> str:
    """Put the message of a ValueError first in a failure, if the message is about parameters.

    The line also gives the value of each parameter that the message names, and says whether it is
    the default, since users may not know the defaults. A failure stays unchanged if it is of
    another kind or names no parameter.
    """
    found = list(VALUE_ERROR.finditer(failure))
    if not found:
        return failure
    message = " ".join(failure[found[-1].end() :].split())
    notes = [
        f"{p.name} is {as_shown(values[p.name])}, "
        + (
            "its default"
            if values[p.name] == p.default
            else f"not its default {as_shown(p.default)}"
        )
        + f"; set another with -p {p.name}=…"
        for p in parameters
        if _names_it(p.name, message) or _shows(values[p.name], p.default, message)
    ]
    if not notes:
        return failure
    rest = "\n".join(f"    {line}" for line in failure.splitlines())
    return f"{message} ({'; '.join(notes)})\n{rest}"


def _names_it(name: str, message: str) -> bool:
    """Return whether a message is about a parameter, and does not only contain the same word."""
    if "_" in name and re.search(rf"\b{name}\b", message):
        return True
    return bool(re.match(rf"{name}(\[.*?\])?( must|:|=)", message)) or bool(
        re.search(rf"[`'\"]{name}[`'\"]|\b{name}=", message)
    )


def _shows(value: Value, default: Value, message: str) -> bool:
    """Return whether a message shows the text that was given, such as the name of a file.

    A text of one or two letters may be there by chance.
    """
    texts = value if isinstance(value, list) else [value]
    return value != default and any(
        isinstance(text, str)
        and len(text) > 2
        and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", message)
        for text in texts
    )


def _parse(parameter: Parameter, text: Text) -> Any:
    """Turn text into a value, or return it unchanged if that fails; the check then says why."""
    if not parameter.type.startswith("list["):
        return _scalar(parameter.type, text) if isinstance(text, str) else text
    element = parameter.type.removeprefix("list[").removesuffix("]")
    parts = _elements(text) if isinstance(text, str) else text
    return [_scalar(element, part) for part in parts]


def _elements(text: str) -> list[Any]:
    """Split a list, written in JSON or without brackets, at its commas."""
    if not text.strip().startswith("["):
        return [part.strip() for part in text.split(",")]
    if not text.strip().endswith("]"):
        return [text]  # not a list; the check of the element fails
    try:
        found = json.loads(text, parse_int=str, parse_float=str, parse_constant=str)
    except (ValueError, RecursionError):
        found = text.strip().removeprefix("[").removesuffix("]").split(",")
        return [part.strip() for part in found]
    return list(found)


def _scalar(kind: str, text: Any) -> Scalar:
    if kind == "str" or not isinstance(text, str):
        return text  # type: ignore[no-any-return]
    try:
        return READERS[kind](text.strip())
    except (ValueError, KeyError):
        return text


def _integer(text: str) -> int:
    """Read an integer; ``1e6`` is also one."""
    try:
        return int(text)
    except ValueError:
        number = float(text)
        if number.is_integer() and abs(number) < 2**53:
            return int(number)
        raise


READERS: Mapping[str, Callable[[str], Scalar]] = {
    "int": _integer,
    "float": float,
    "bool": lambda text: {"true": True, "false": False}[text.lower()],
}


def read_assignments(assignments: Sequence[str]) -> list[tuple[str, Text]]:
    """Split texts ``name=value``; raises a ValueError for another form or a repeated name."""
    found: dict[str, Text] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        name = name.strip()
        if not equals or not name:
            raise ValueError(f"-p: must read name=value; got {assignment!r}")
        if name in found:
            raise ValueError(f"-p: {name} is given twice")
        found[name] = text
    return list(found.items())


def read_file(path: Path) -> dict[str, Text]:
    """Read a YAML or JSON file of parameters, each with a value or a list of values.

    Raises a ValueError if the file cannot be read or contains anything else.
    """
    return {name: _text(f"{path}: {name}", value) for name, value in _mapping(path).items()}


def _mapping(path: Path) -> dict[str, Any]:
    """Read a file of names and values, every scalar as the text that is written."""
    try:
        # Editors on Windows begin a UTF-8 file with a mark.
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{path}: is not UTF-8 text (line {line}); save it in the encoding UTF-8"
        ) from None
    found = _read_json(path, text) if text.lstrip().startswith("{") else None
    if found is None:
        found = _read_yaml(path, text)
    if found in (None, ""):
        return {}
    if not isinstance(found, dict) or not all(isinstance(name, str) for name in found):
        raise ValueError(f"{path}: must hold lines of the form name: value")
    return found


def _read_json(path: Path, text: str) -> Any:
    """Read JSON, which is not YAML if it is indented with tabs; None for YAML in flow style."""
    try:
        pairs: Any = json.loads(
            text, parse_int=str, parse_float=str, parse_constant=str, object_pairs_hook=_Pairs
        )
    except (ValueError, RecursionError) as error:
        if path.suffix.lower() == ".json":
            raise ValueError(f"{path}: is not JSON: {error}") from None
        return None

    def as_text(value: Any) -> Any:
        if isinstance(value, _Pairs):
            return {name: as_text(inner) for name, inner in value}
        if isinstance(value, list):
            return [as_text(part) for part in value]
        return str(value).lower() if isinstance(value, bool) else value

    _refuse_twice(path, _names(text))
    return as_text(pairs)


class _Pairs(list[Any]):
    """An object of JSON, in which a name may occur twice."""


def _names(text: str) -> Iterator[tuple[str, int]]:
    """Yield each name of the outermost object of valid JSON, and its line."""
    depth = 0
    for token in JSON_TOKEN.finditer(text):
        if token["name"] is not None and depth == 1:
            yield json.loads(token["name"]), text.count("\n", 0, token.start()) + 1
        elif token["bracket"]:
            depth += 1 if token["bracket"] in "{[" else -1


def _read_yaml(path: Path, text: str) -> Any:
    import yaml

    try:
        # The loader that leaves every scalar as text.
        loader = yaml.BaseLoader(text)
        node = loader.get_single_node()
        found = None if node is None else loader.construct_document(node)
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(f"{path}: is neither YAML nor JSON: {error}") from None
    inner = [value for _, value in node.value] if isinstance(node, yaml.MappingNode) else []
    for part in [node, *inner]:
        if isinstance(part, yaml.MappingNode):
            scalars = (key for key, _ in part.value if isinstance(key, yaml.ScalarNode))
            _refuse_twice(path, [(key.value, key.start_mark.line + 1) for key in scalars])
    return found


def _refuse_twice(path: Path, places: Iterable[tuple[str, int]]) -> None:
    """Refuse a name that occurs twice: some readers take the first, others the last."""
    first: dict[str, int] = {}
    faults = []
    for name, line in places:
        if name in first:
            faults.append(
                f"{path}: line {line}: {name} is given twice, first in line {first[name]}; "
                "remove one of them"
            )
        first.setdefault(name, line)
    if faults:
        raise ValueError("\n".join(faults))


def _text(place: str, value: Any) -> Text:
    if isinstance(value, str):
        return _whole(value)
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return [_whole(part) for part in value]
    got = "; got null, which is neither" if value is None else ""
    raise ValueError(f"{place}: must be a value or a list of values{got}")


def _whole(text: str) -> str:
    """Join half characters, into which JSON escapes an emoji, also within YAML.

    A single half stays, and the check of the parameter refuses it.
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def full_notebooks(root: Path) -> list[str]:
    """Return the notebooks that ``notebooks/full.yml`` names, in order.

    Raises a ValueError if the file is missing or is not a mapping from names to values.
    """
    return list(_full(root))


def _full(root: Path) -> dict[str, Any]:
    if (root / FORMER).exists():
        raise ValueError(f"{FORMER}: is now called {FULL}; please rename it")
    return _mapping(root / FULL)


def full_values(root: Path, notebook: str) -> dict[str, Text]:
    """Return the values in ``notebooks/full.yml`` for a notebook; empty if it is not named there.

    Raises a ValueError if the file is missing or is not a mapping from names to values.
    """
    entry = _full(root).get(notebook, {})
    if not isinstance(entry, dict):
        raise ValueError(f"{FULL}: {notebook}: must hold lines of the form name: value")
    return {name: _text(f"{FULL}: {notebook}: {name}", value) for name, value in entry.items()}
