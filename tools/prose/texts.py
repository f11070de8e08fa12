"""The prose of the project: of pages, notebooks, captions and programs, without code."""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PAGES = ("*.md", "book/**/*.md")
NOTEBOOKS = ("notebooks/**/*.ipynb",)
PROGRAMS = ("speedlib", "paper", "speedbook", "tools", "benchmarks")

#: Stands for what is not prose, letter for letter, so that lines and columns stay true.
HOLE = "◦"
#: Directives that hold code, formulas, or names of files.
NOT_PROSE = "bibliography|code-block|doctest|eval-rst|literalinclude|math|tableofcontents|toctree"
#: What a string has that is a program, in this language or another.
CODE = re.compile(r"=>|\);|</\w+>|^ *(?:import|from|const|def) \w+.*$|^ *[\w.]+ = ", re.M)
#: A string of a program is prose if it has this many words in a row.
WORDS = re.compile(r"[A-Za-z]{2,}[,;:]? [a-z]+[,;:]? [a-z]+")

FENCE = re.compile(r"^ *(?P<mark>`{3,}|:{3,}|~{3,})(?P<about>.*)$")
OPTION = re.compile(r"^ *:[\w-]+:.*$|^ *---$")
LABEL = re.compile(r"^ *\([\w-]+\)=$")
INLINE = re.compile(
    r"\{term\}`(?P<term>[^`<]+)(?:<[^`]*)?`"
    r"|\{(?:ref|numref|doc|explorer|claim|prf:ref)\}`(?P<named>[^`<]+)<[^`]*`"
    r"|\{[\w:-]+\}`[^`]*`"
    r"|\[(?P<linked>[^\]\[]+)\]\([^()\s]*\)|\[\]\([^()]*\)|\[(?P<classed>[^\]\[]+)\]\{[^}]*\}"
    r"|(?P<ticks>`+)[^`].*?(?P=ticks)"
    r"|\$\$.*?\$\$|\$[^$\n]+(?:\n[^$\n]+)?\$"
    r"|\"(?:[^\"\n]|\n(?!\n))*\""
    r"|<[^<> ][^<>]*>|https?://[^\s)>]+|\{[^{}]*\}",
    re.S,
)
#: Between paragraphs: an empty line, the beginning of an item or cell, lines without prose.
PARAGRAPH = re.compile(
    rf"\n\s*\n|\n(?=\s*(?:[-*|#:] ?|\d+\. ))|\n(?:[{HOLE} ]*{HOLE}[{HOLE} ]*(?:\n|$))+"
)
#: Stands for the end of a string that another one follows, so no sentence runs through both.
CUT = "\0"
#: The same in a program, where a piece also ends with a docstring that code follows.
PIECE = re.compile(rf"{PARAGRAPH.pattern}|{CUT}|{HOLE}{{3}} *\n(?= *{HOLE})")
#: The name with which a sentence of a docstring begins.
NAME = re.compile(r"``?[^`\n]+``?\s*$")
SENTENCE = re.compile(r"(?<=[.!?])[\"')*]*\s+(?=[\"'(*A-Z◦])")


@dataclass(frozen=True)
class Text:
    """A piece of prose: its place, its source, and the source with holes in place of all else."""

    place: str
    written: str
    read: str


def texts(root: Path) -> Iterator[Text]:
    """Yield all prose of the project."""
    for path in _files(root, PAGES):
        written = path.read_text(encoding="utf-8")
        yield Text(_name(root, path), written, of_markdown(written))
    for path in _files(root, NOTEBOOKS):
        for place, written in _cells(json.loads(path.read_text(encoding="utf-8"))):
            read = (of_python if place.endswith(".py") else of_markdown)(written)
            yield Text(f"{_name(root, path)}/{place}", written, read)
    for path in _files(root, [f"{room}/**/*.py" for room in PROGRAMS]):
        written = path.read_text(encoding="utf-8")
        yield Text(_name(root, path), written, of_python(written))


def _files(root: Path, patterns: Iterator[str] | tuple[str, ...] | list[str]) -> list[Path]:
    found = {path for pattern in patterns for path in root.glob(pattern)}
    return sorted(path for path in found if ".ipynb_checkpoints" not in path.parts)


def _name(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix()


def _cells(notebook: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for place, cell in enumerate(notebook["cells"]):
        suffix = "md" if cell["cell_type"] == "markdown" else "py"
        yield f"cell-{place:02d}.{suffix}", "".join(cell["source"])
        caption = cell["metadata"].get("mystnb", {}).get("figure", {}).get("caption")
        if caption:
            yield f"caption-{place:02d}.md", caption


def of_markdown(text: str) -> str:
    r"""Return Markdown with holes in place of code, formulas, options and targets.

    Examples
    --------
    >>> of_markdown("The {term}`design` $b$ of `optimal_design`, [there](page.md).")
    'The ◦◦◦◦◦◦◦design◦ ◦◦◦ of ◦◦◦◦◦◦◦◦◦◦◦◦◦◦◦◦, ◦there◦◦◦◦◦◦◦◦◦◦.'
    """
    lines, inside, options = [], "", False
    for line in text.split("\n"):
        fence = FENCE.match(line)
        if inside:
            inside = "" if line.strip() == inside else inside
            lines.append(_hole(line))
            continue
        if fence:
            about = fence["about"].strip()
            prose = about.startswith("{") and not re.match(rf"\{{(?:{NOT_PROSE})\b", about)
            if about and not prose:
                inside = fence["mark"]
            options = bool(about)
            lines.append(_hole(line))
            continue
        options = options and bool(OPTION.match(line))
        lines.append(_hole(line) if options or LABEL.match(line) else line)
    return INLINE.sub(_keep_words, "\n".join(lines))


def _keep_words(found: re.Match[str]) -> str:
    for name in ("term", "named", "linked", "classed"):
        if found[name]:
            start, end = (each - found.start() for each in found.span(name))
            whole = found[0]
            return (
                _hole(whole[:start])
                + INLINE.sub(_keep_words, whole[start:end])
                + _hole(whole[end:])
            )
    return _hole(found[0])


def _hole(text: str) -> str:
    return re.sub(r"\S", HOLE, text)


def of_python(source: str) -> str:
    """Return Python with only comments, docstrings and sentences; `HOLE` replaces all else.

    Examples
    --------
    >>> of_python('x = f("Say what is wrong.")  # A remark.').replace("◦", "")
    '  Say what is wrong.   A remark.'
    """
    lines = source.split("\n")
    kept = [_hole(line) for line in lines]
    docstrings, lists = _docstrings_and_lists(ast.parse(source))
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            _put(kept, token, lambda text: re.sub(r"^#+:?|noqa.*|type: ignore.*", _blank, text))
        elif tokenize.tok_name[token.type] in ("STRING", "FSTRING_MIDDLE"):
            prose = WORDS.search(token.string) and not CODE.search(token.string)
            listed = any(first <= token.start < last for first, last in lists)
            if token.start in docstrings or (prose and not listed):
                _put(kept, token, _of_string)
    return "\n".join(kept)


def _docstrings_and_lists(
    tree: ast.Module,
) -> tuple[set[tuple[int, int]], list[tuple[tuple[int, int], tuple[int, int]]]]:
    """Return where docstrings begin, and the spans of texts that are split into a list."""
    docstrings, lists = set(), []
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            docstrings.add((node.lineno, node.col_offset))
        if isinstance(node, ast.Attribute) and node.attr == "split":
            text = node.value
            if isinstance(text, ast.Constant) and isinstance(text.value, str):
                end = (text.end_lineno or text.lineno, text.end_col_offset or 0)
                lists.append(((text.lineno, text.col_offset), end))
    return docstrings, lists


def met_by_users(text: Text) -> Text:
    """Leave out what only programmers of this project read: remarks and private docstrings."""
    if not text.place.endswith(".py") or text.place.startswith("notebooks/"):
        return text
    lines = text.read.split("\n")
    for token in tokenize.generate_tokens(io.StringIO(text.written).readline):
        if token.type == tokenize.COMMENT:
            _put(lines, token, _hole)
    for first, last in _private_docstrings(Path(text.place).stem, ast.parse(text.written)):
        lines[first - 1 : last] = map(_hole, lines[first - 1 : last])
    return Text(text.place, text.written, "\n".join(lines))


def _private_docstrings(
    name: str, node: ast.AST, private: bool = False
) -> Iterator[tuple[int, int]]:
    """Yield the first and the last line of the docstrings of all that a leading ``_`` hides."""
    private = private or re.match(r"_(?!_)", name) is not None
    for number, child in enumerate(getattr(node, "body", [])):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from _private_docstrings(child.name, child, private)
        elif private and number == 0 and isinstance(child, ast.Expr):
            yield child.lineno, child.end_lineno or child.lineno


def _put(kept: list[str], token: tokenize.TokenInfo, change: Callable[[str], str]) -> None:
    (row, column), text = token.start, change(token.string)
    for offset, line in enumerate(text.split("\n")):
        here = kept[row - 1 + offset]
        start = column if offset == 0 else 0
        kept[row - 1 + offset] = here[:start] + line + here[start + len(line) :]


def _of_string(text: str) -> str:
    """Leave out quotation marks, code, formulas, examples and the names of parameters."""
    text = re.sub(r'^[rbfRBF]*("""|"|\'\'\'|\')|("""|"|\'\'\'|\')$', _blank, text)
    text = re.sub(r"^ *>>> .*(?:\n *\S.*)*|^ *\w[\w, *]* : .*$|^ *-{3,}$", _blank, text, flags=re.M)
    text = re.sub(r":\w+:`[^`]*`|``.*?``|`[^`]*`|\{[^{}]*\}", _blank, text, flags=re.S)
    return re.sub(r"\\n", _blank, text)


def _blank(found: re.Match[str]) -> str:
    return _hole(found[0])


def sentences(text: Text) -> Iterator[str]:
    """Yield the sentences of a text of at least seven words, as they are written."""
    program = text.place.endswith(".py")
    whole = list(text.read)
    for found in re.finditer(r"\"(?=[,:)\]])", text.written if program else ""):
        if whole[found.start()] == HOLE:
            whole[found.start()] = CUT
    joined = "".join(whole)
    for begin, end in _spans(joined, PIECE if program else PARAGRAPH, 0, len(joined)):
        for low, high in _spans(text.read, SENTENCE, begin, end):
            read = text.read[low:high]
            first = len(read) - len(read.lstrip(HOLE + " \n"))
            if program and (code := NAME.search(text.written[low : low + first])):
                first = code.start()
            last = len(read.rstrip("\n" if text.place.endswith(".md") else HOLE + " \n"))
            if len(re.findall(r"[A-Za-z]{2,}", read)) >= 7:
                start = low + (0 if text.place.endswith(".md") else first)
                yield " ".join(text.written[start : low + last].split())


def _spans(text: str, cut: re.Pattern[str], low: int, high: int) -> Iterator[tuple[int, int]]:
    """Yield the places between the matches of a pattern."""
    for found in cut.finditer(text, low, high):
        yield low, found.start()
        low = found.end()
    yield low, high
