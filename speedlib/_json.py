"""Text that later versions can read: a format, its version, and plain values.

Numbers are written as Python writes them, so a float that is read is the one that was written. The
last entry is a checksum of all others, so that a number that was changed by accident is noticed. It
does not depend on spaces, on the order of entries, or on how a number is written. A text without it
is read, too.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Collection, Iterable
from typing import Any

from speedlib._arrays import shown

__all__ = ["HEAD", "check_sum", "parts_of", "read_parts", "written"]

CHECKSUM = "checksum"
#: Parts of every text; its kind adds others.
HEAD = ("format", "version", CHECKSUM)
#: The state of a random generator has 39 digits.
MOST_DIGITS = 400


def written(kind: str, version: int, parts: dict[str, Any]) -> str:
    """Return a text of a kind, with one part in each line."""
    every = {"format": f"speedlib {kind}", "version": version} | parts
    every |= {CHECKSUM: _checksum(every)}
    lines = [
        f"  {json.dumps(name)}: {json.dumps(part, allow_nan=False, ensure_ascii=False)}"
        for name, part in every.items()
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
        parts = json.loads(
            text,
            object_pairs_hook=_all_different,
            parse_float=_finite,
            parse_constant=_finite,
            parse_int=_whole,
        )
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


def read_parts(
    name: str, parts: Any, needed: Iterable[str], others: Collection[str] | None = None
) -> dict[str, Any]:
    """Return a part that holds named parts itself, or say which is missing, or none of `others`."""
    if not isinstance(parts, dict):
        raise ValueError(f"{name}: expected named parts; got {shown(parts)}")
    needed = tuple(needed)
    lacking = [each for each in needed if each not in parts]
    if lacking:
        raise ValueError(f"{name}: has no part {lacking[0]!r}; the text was changed or cut off")
    if others is not None:
        known = (*needed, *others)
        if unknown := [each for each in parts if each not in known]:
            raise ValueError(
                f"{name}: {shown(unknown[0])} is none of its parts, {', '.join(map(repr, known))}; "
                "the text was changed"
            )
    return parts


def check_sum(parts: dict[str, Any]) -> None:
    """Refuse parts that do not have the checksum that was written with them, if there is one.

    This comes last: a rule about a single entry says more.
    """
    if CHECKSUM not in parts:
        return
    found = _checksum({name: part for name, part in parts.items() if name != CHECKSUM})
    if parts[CHECKSUM] != found:
        raise ValueError(
            f"{CHECKSUM}: must be that of all other entries, {found!r}; got "
            f"{shown(parts[CHECKSUM])}: the text was changed. Use a copy as to_json returned it; "
            f"to read a text that was changed on purpose, leave out the entry {CHECKSUM!r}"
        )


def _checksum(parts: dict[str, Any]) -> str:
    plain = json.dumps(_alike(parts), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(plain.encode()).hexdigest()[:16]


def _alike(value: Any) -> Any:
    """Return plain values in which equal numbers are written alike, such as 1 and 1.0."""
    if isinstance(value, dict):
        return {key: _alike(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_alike(part) for part in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _all_different(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return named parts, none of which stands twice: Python would take the last one."""
    parts: dict[str, Any] = {}
    for name, part in pairs:
        if name in parts:
            raise ValueError(f"text: has two entries {shown(name)}; the text was changed")
        parts[name] = part
    return parts


def _whole(digits: str) -> int:
    """Return a whole number; Python refuses thousands of digits, which no number here has."""
    if len(digits) > MOST_DIGITS:
        raise ValueError(
            f"text: a number has {len(digits)} digits, more than {MOST_DIGITS}; the text was "
            "changed"
        )
    return int(digits)


def _finite(digits: str) -> float:
    """Return a number that is neither infinite nor NaN, as JSON has no other."""
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"text: every number must be finite; got {digits}; the text was changed")
    return number
