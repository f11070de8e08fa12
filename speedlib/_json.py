"""Text that later versions can read: a format, its version, and plain values.

Numbers are written as Python writes them, so a float that is read is the one that was written.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from speedlib._arrays import shown

__all__ = ["parts_of", "read_parts", "written"]


def written(kind: str, version: int, parts: dict[str, Any]) -> str:
    """Return a text of a kind, with one part in each line."""
    head = {"format": f"speedlib {kind}", "version": version}
    lines = [
        f"  {json.dumps(name)}: {json.dumps(part, allow_nan=False, ensure_ascii=False)}"
        for name, part in (head | parts).items()
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def parts_of(text: str, kind: str, version: int) -> dict[str, Any]:
    """Return the parts of a text of this kind, of this version or an earlier one.

    Raises
    ------
    TypeError, ValueError
        If it is something else; the message says what.
    """
    if not isinstance(text, str | bytes):
        raise TypeError(f"text: expected what to_json returned; got {shown(text)}")
    try:
        parts = json.loads(text)
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(
            f"text: is no JSON, or was cut off ({error}); pass all of what to_json returned"
        ) from None
    found = parts.get("format") if isinstance(parts, dict) else None
    if found != f"speedlib {kind}":
        raise ValueError(f"text: expected the format 'speedlib {kind}'; got {shown(found)}")
    number = parts.get("version")
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise ValueError(f"text: its version must be a whole number from 1; got {shown(number)}")
    if number > version:
        raise ValueError(
            f"text: has version {number} of the format, and this library reads {version}: "
            "install a newer speedlib"
        )
    return dict(parts)


def read_parts(name: str, parts: Any, needed: Iterable[str]) -> dict[str, Any]:
    """Return a part that holds named parts itself, or say which is missing."""
    if not isinstance(parts, dict):
        raise ValueError(f"{name}: expected named parts; got {shown(parts)}")
    lacking = [each for each in needed if each not in parts]
    if lacking:
        raise ValueError(f"{name}: has no part {lacking[0]!r}; the text was changed or cut off")
    return parts
