"""The text of a table's file, its encoding and its separator; and words for messages about it."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable
from pathlib import Path

__all__ = [
    "SEPARATORS",
    "counted",
    "cut",
    "listed",
    "name_of",
    "read_text",
    "separator_of",
    "tidy_quotes",
    "was",
]

#: How many columns or faults one message names.
MOST = 10
#: What separates the entries of a row.
SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t"}

#: How files begin that say their encoding; UTF-32 comes first, since it begins as UTF-16 does.
MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, ""),
    (codecs.BOM_UTF32_BE, ""),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
#: How files of other programs begin, and what they are.
OTHERS = {
    b"PK\x03\x04": "an Excel workbook, or another ZIP archive",
    b"\xd0\xcf\x11\xe0": "an Excel workbook of the old kind (xls)",
    b"\x1f\x8b": "a file that gzip packed",
}
#: What to do about an encoding that is not read.
SAVE_AS = "save it as CSV UTF-8, or as UTF-16 with a byte-order mark"
#: Characters that no table holds, unless it is read in the wrong encoding or is no text at all.
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
LINE_END = re.compile(r"\r\n|\r|\n")
#: The line by which some spreadsheets say what separates the entries: sep=; or "sep=;" and blanks
#: or separators around it, as they come when such a file is saved once more.
SEPARATOR_LINE = re.compile(
    r'[ \t]*"?[ \t]*sep[ ]*=[ ]*(\S|\t)[ ]*"?(?:[ \t]|\1)*(?:\r\n|\r|\n|\Z)', re.IGNORECASE
)
QUOTED = re.compile(r'"(?:[^"]|"")*+"')
#: A row, whose quoted entries may go over several lines.
ROW = re.compile(r'((?:[^"\r\n]|"(?:[^"]|"")*+"|")*)(?:\r\n|\r|\n|\Z)')


def read_text(path: Path) -> str:
    """Return the text of a file in UTF-8, or in UTF-16 with a byte-order mark.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file cannot be read, or is in another encoding; the message names the line.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ValueError(
            f"{path}: cannot be read: {reason}; give the path of a CSV file that you may read"
        ) from None
    if other := next((OTHERS[begin] for begin in OTHERS if data.startswith(begin)), ""):
        raise ValueError(
            f"{path}: is {other}, not CSV; unpack it, or save the table as CSV UTF-8 in the "
            "program that wrote it"
        )
    mark, encoding = next((pair for pair in MARKS if data.startswith(pair[0])), (b"", "utf-8"))
    if not encoding:
        raise ValueError(f"{path}: is in UTF-32; {SAVE_AS}")
    try:
        text = data[len(mark) :].decode(encoding)
    except UnicodeDecodeError as error:
        before = data[len(mark) :][: error.start].decode(encoding)
        # UTF-16 without a mark is no UTF-8 either, and a null character shows it first.
        _check_characters(path, before)
        raise ValueError(
            f"{path}, line {_line(before)}: is not in {encoding[:6].upper()} "
            f"(byte {len(mark) + error.start + 1}); {SAVE_AS}"
        ) from None
    _check_characters(path, text)
    return text


def _check_characters(path: Path, text: str) -> None:
    if not (wrong := CONTROL.search(text)):
        return
    where = f"{path}, line {_line(text[: wrong.start()])}"
    if wrong[0] == "\0":
        raise ValueError(
            f"{where}: holds a null character, as UTF-16 without a byte-order mark does, or a file "
            f"that is no CSV; {SAVE_AS}"
        )
    raise ValueError(
        f"{where}: holds the control character {wrong[0]!r}, as a text in another encoding "
        f"than UTF-8 or UTF-16 may; remove it, or {SAVE_AS}"
    )


def separator_of(path: Path, text: str, separator: str) -> tuple[str, int]:
    """Return the mark that separates entries, and the length of the line that declares it.

    The mark is taken from a first line ``sep=;`` if there is one, else from the caller. Otherwise
    the first row decides: outside quotation marks, it is searched for semicolons, then tabs, then
    commas.
    """
    chosen = SEPARATORS.get(separator)
    if said := SEPARATOR_LINE.match(text):
        if said[1] not in SEPARATORS.values():
            raise ValueError(
                f"{path}, line 1: says that {said[1]!r} separates the entries; save the table with "
                "commas, semicolons or tabs"
            )
        if chosen not in (None, said[1]):
            raise ValueError(
                f"{path}, line 1: says that a {name_of(SEPARATORS, said[1])} separates the "
                f"entries, and separator is {separator!r}; remove the line, or choose "
                "separator = 'auto'"
            )
        return said[1], said.end()
    if chosen is not None:
        return chosen, 0
    first = _first_row(text)
    if not first:
        raise ValueError(f"{path}: is empty; its first line must name the columns")
    # A decimal comma may occur with semicolons or tabs, but not the other way round.
    bare = QUOTED.sub("", first)
    best = next((mark for mark in (";", "\t", ",") if mark in bare), None)
    if best is None:
        whole = "; remove the quotation marks around the whole line" if "," in first else ""
        raise ValueError(
            f"{path}: the first line must name two columns or more, separated by commas, "
            f"semicolons or tabs; got {first.strip()[:60]!r}{whole}"
        )
    return best, 0


def _first_row(text: str) -> str:
    """Return the first row that holds more than blanks and separators; nothing without any."""
    place = 0
    while place < len(text):
        row = ROW.match(text, place)
        if row is None or row[1].strip(' \t,;"'):
            return row[1] if row else text[place:]
        place = row.end()
    return ""


def tidy_quotes(text: str, mark: str) -> str:
    """Remove blanks around entries in quotation marks, which the csv module would misread.

    Each such entry is matched as a whole, so that nothing within quotation marks is touched.
    """
    if '"' not in text:
        return text
    ends = f"[{mark}\r\n]"
    entry = rf'(?:^|(?<={ends}))[ ]*("(?:[^"]|"")*+")[ ]*(?={ends}|\Z)'
    return re.sub(entry, r"\1", text)


def name_of(names: dict[str, str], mark: str) -> str:
    """Return the name of a mark."""
    return next(name for name, held in names.items() if held == mark)


def cut(text: str, most: int = 60) -> str:
    """Return a text as a message shows it: the whole text if it is short, else its two ends.

    Examples
    --------
    >>> cut("height"), cut("height in centimetres", 13)
    ('height', 'heigh...etres')
    """
    half = (most - 3) // 2
    return text if len(text) <= most else f"{text[:half]}...{text[-half:]}"


def listed(names: Iterable[str]) -> str:
    """Return names in a row, the first ten and the number of the others.

    Examples
    --------
    >>> listed("ab"), listed("abcdefghijklm")
    ('a, b', 'a, b, c, d, e, f, g, h, i, j and 3 more')
    """
    names = list(names)
    more = f" and {len(names) - MOST:,} more" if len(names) > MOST else ""
    return ", ".join(map(cut, names[:MOST])) + more


def counted(number: int, thing: str) -> str:
    """Write a number of things.

    Examples
    --------
    >>> counted(1, "row"), counted(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


def was(count: int) -> str:
    """Return the verb for a number of things."""
    return "was" if count == 1 else "were"


def _line(before: str) -> int:
    """Return the line, from 1, in which a text ends."""
    return 1 + len(LINE_END.findall(before))
