"""The page that a student gets back: it shows no hidden test, and needs no network."""

from __future__ import annotations

import html
import os
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup, Tag
from bs4.element import Comment, NavigableString, PageElement
from latex2mathml.converter import convert
from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor

from speedbook.paths import write_atomically
from tools.course.hand_ins import REGION, nbgrader_of, secret_lines

HIDDEN = "HIDDEN TESTS"
#: What the page says in place of a hidden test's own words.
FAILED = "A test that this page does not show failed."
LEFT_OUT = "(Left out: it shows a hidden test.)"
#: How a hand-in heads a task, and what nbgrader writes of a cell.
TASK = re.compile(r"^#+ (Task \d+)", re.M)
SCORE = re.compile(r"Score: [\d.]+ / ([\d.]+)")
ANSI = re.compile(r"\x1b\[[\d;]*m")
#: A browser then loads nothing and runs no script, whatever a submission put on the page.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:"
#: Lines of code and messages of checks are wrapped, so none is cut at the edge of a page.
WRAP = "pre { white-space: pre-wrap !important; overflow-wrap: anywhere; word-break: normal; }"
#: Elements that load or run something.
ACTIVE = "script link iframe object embed base form audio video source template".split()
LOADING = ("src", "srcset", "data", "poster", "background", "xlink:href")
FORMULA = re.compile(
    r"\$\$(?P<shown>.+?)\$\$|\\\[(?P<bracket>.+?)\\\]|(?P<environment>\\begin\{(\w+\*?)\}.+?\\end\{\4\})"
    r"|(?<![\\$])\$(?P<inline>[^$]+?)(?<!\\)\$|\\\((?P<round>.+?)\\\)",
    re.S,
)


class HideTests(NbGraderPreprocessor):  # type: ignore[misc]
    """Take hidden tests out of a graded notebook: their lines, and outputs that repeat them."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Change the notebook in place."""
        hidden = [bare(line) for cell in nb.cells for line in hidden_lines(cell)]
        for cell in nb.cells:
            if cell.cell_type == "code":
                if nbgrader_of(cell).get("grade"):
                    _plain_errors(cell)
                cell.outputs = [_without(hidden, output) for output in cell.outputs]
            cell.source = REGION.sub(_cut, cell.source)
            lines = cell.source.split("\n")
            cell.source = "\n".join(line for line in lines if CUT not in line).rstrip()
        return nb, resources


CUT = "\0"


def _cut(match: re.Match[str]) -> str:
    return CUT if match[1] == HIDDEN else match[0]


def hidden_lines(cell: NotebookNode) -> list[str]:
    """Return the lines of a cell's hidden tests that are long enough to be recognised."""
    found = [match[0] for match in REGION.finditer(cell.source) if match[1] == HIDDEN]
    each = {"cells": [{"source": text, "metadata": {}} for text in found]}
    return list(secret_lines(_node(each)))


def _node(content: dict[str, Any]) -> NotebookNode:
    from nbformat import from_dict

    node: NotebookNode = from_dict(content)  # type: ignore[no-untyped-call]
    return node


def _plain_errors(cell: NotebookNode) -> None:
    """Let a test that failed say why in its own words, without the code around it."""
    for output in cell.outputs:
        if output.output_type != "error":
            continue
        if in_hidden_test(cell, output):
            # A message with a number may be the solution.
            told = "" if re.search(r"\d", output.evalue) else output.evalue.strip()
            output.ename, output.evalue = "Hidden test", told or FAILED
        elif output.ename != "AssertionError" and not hidden_lines(cell):
            continue
        output.traceback = [f"{output.ename}: {output.evalue}"]


def in_hidden_test(cell: NotebookNode, error: NotebookNode) -> bool:
    """Say whether an error was raised by a cell's hidden tests; where that is unclear, yes."""
    regions = [match for match in REGION.finditer(cell.source) if match[1] == HIDDEN]
    if not regions:
        return False
    text = ANSI.sub("", "\n".join(error.traceback))
    if not text.startswith("-"):
        # No traceback of Python's: a time limit, or a kernel that died.
        return False
    found = re.search(rf"Cell In\s*\[{cell.execution_count}\], line (\d+)", text)
    if not found:
        return True
    line = int(found[1])
    for region in regions:
        first = cell.source.count("\n", 0, region.start()) + 1
        if first <= line <= first + region[0].count("\n"):
            return True
    return False


def bare(text: str) -> str:
    """Return a text without the characters that quoting or wrapping changes."""
    return re.sub(r"[\s\"'\\]", "", ANSI.sub("", html.unescape(text)))


def _without(hidden: list[str], output: NotebookNode) -> NotebookNode:
    """Return an output, or a remark where it repeats a line of a hidden test."""
    texts = [output.get("text", ""), output.get("evalue", ""), *output.get("traceback", [])]
    texts += [str(text) for kind, text in output.get("data", {}).items() if "image/" not in kind]
    said = bare("".join(texts))
    if not any(line in said for line in hidden):
        return output
    return _node({"output_type": "stream", "name": "stdout", "text": LEFT_OUT + "\n"})


def make_offline(path: Path, root: Path) -> None:
    """Rewrite a page of feedback so that it needs no network and names no local folder."""
    text = path.read_text(encoding="utf-8").replace(f"{root}{os.sep}", "").replace(str(root), ".")
    write_atomically(path, offline(text))


def name_parts(path: Path, notebook: NotebookNode, waiting: Collection[str]) -> None:
    """Name the tasks in a page's list of contents, and say which answers still wait for a mark."""
    soup = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
    about = {each.get("grade_id"): each for each in map(nbgrader_of, notebook.cells)}
    for cell, task in tasks(notebook).items():
        part = "answer" if about[cell].get("solution") else "tests"
        for place, called in ((cell, part), (f"comment-{cell}", "comment")):
            for link in soup.select(f'#toc a[href="#{place}"]'):
                link.string = f"{task}: {called}"
    for cell in waiting:
        for link in soup.select(f'#toc a[href="#{cell}"]'):
            _not_marked(link.parent)
        for anchor in soup.select(f'a[name="{cell}"]'):
            _not_marked(anchor.find_next("span", class_="pull-right"))
    if waiting and (head := soup.select_one(".panel-heading > h4")):
        verb = "answer is" if len(waiting) == 1 else "answers are"
        head.string = re.sub(
            r"Score: ([\d.]+ / [\d.]+)",
            rf"Score so far: \1; {len(waiting)} {verb} not marked yet",
            head.get_text(),
        )
    write_atomically(path, str(soup))


def _not_marked(part: Tag | NavigableString | None) -> None:
    texts = part.find_all(string=SCORE) if isinstance(part, Tag) else []
    for text in texts:
        text.replace_with(SCORE.sub(r"Not marked yet, out of \1", str(text)))


def tasks(notebook: NotebookNode) -> dict[str, str]:
    """Return the task, such as "Task 3", of each cell that nbgrader knows."""
    found, task = dict[str, str](), ""
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and (heads := TASK.findall(cell.source)):
            task = heads[-1]
        if task and (name := nbgrader_of(cell).get("grade_id")):
            found[name] = task
    return found


def offline(page: str) -> str:
    """Return a page without scripts and without anything that is loaded; formulas become MathML.

    Examples
    --------
    >>> text = offline('<head></head><p><img src="http://x/y.png"/>$a^2$</p><script>f()</script>')
    >>> "script>" in text, "http:" in text, "<msup>" in text
    (False, False, True)
    """
    soup = BeautifulSoup(page, "html.parser")
    for element in soup.find_all(ACTIVE):
        element.decompose()
    for comment in soup.find_all(string=lambda text: isinstance(text, Comment)):
        comment.extract()
    for element in soup.find_all(True):
        _load_nothing(element)
    for style in soup.find_all("style"):
        style.string = re.sub(r"@import[^;]*;|url\((?!['\"]?data:)[^)]*\)", "", style.get_text())
    for text in soup.find_all(string=FORMULA):
        if not text.find_parent(["code", "pre", "style", "title"]):
            _typeset(text)
    if head := soup.find("head"):
        policy = {"http-equiv": "Content-Security-Policy", "content": POLICY}
        head.insert(0, soup.new_tag("meta", attrs=policy))
        head.append(wrap := soup.new_tag("style"))
        wrap.string = WRAP
    return str(soup)


def _load_nothing(element: Tag) -> None:
    for name in [n for n in element.attrs if n in LOADING or n.startswith("on")]:
        if not str(element[name]).startswith("data:image/"):
            del element[name]
    if element.name == "img" and "src" not in element.attrs:
        element.replace_with(f"[picture: {element.get('alt') or 'not on this page'}]")
    if "style" in element.attrs and "url(" in str(element["style"]):
        del element["style"]


def _typeset(text: NavigableString) -> None:
    written, end = str(text), 0
    parts: list[PageElement | str] = []
    for match in FORMULA.finditer(written):
        formula = next(found for name, found in match.groupdict().items() if found)
        display = "inline" if match["inline"] or match["round"] else "block"
        try:
            mathml = convert(formula, display=display).replace(
                ' xmlns="http://www.w3.org/1998/Math/MathML"', ""
            )
        except Exception:  # Its errors have no class in common; then the formula stays as it is.
            continue
        parts += [written[end : match.start()], BeautifulSoup(mathml, "html.parser")]
        end = match.end()
    if parts:
        text.replace_with(*parts, written[end:])
