"""Slides of the lectures as files that open from a folder, without a network: ``make slides``.

The lectures are notebooks with the metadata of slides. nbconvert turns each into a page for
reveal.js. Its own template loads reveal.js, jQuery, require.js, MathJax and mermaid from the
network. The template in this folder needs reveal.js and MathJax only, and both are copied next to
the slides. The pictures are the static figures in the committed notebooks.
"""

from __future__ import annotations

import argparse
import re
import sys
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from speedbook.notebook.files import caption, code_cells, read_notebook, title
from speedbook.paths import file_fault, find_root, write_if_changed

DONE, FAILED = 0, 1
HERE = Path(__file__).parent
TEMPLATE = "slides_template"
REVEAL = HERE / "vendor" / "reveal.js"
#: What carries MathJax, and the part of it that pages with TeX load.
MATHJAX = "sphinx-mathjax-offline"
MATHJAX_FILE = re.compile(r"mathjax/(tex-chtml-full\.js|output/chtml/fonts/woff-v2/[\w-]+\.woff)$")
#: A link from one lecture to another.
LECTURE = re.compile(r"\]\((lecture-\d+)\.ipynb\)")
#: A note for the teacher. It is folded, since JupyterLab shows its cell between the others.
NOTE = re.compile(r"<details>\n<summary>For the teacher</summary>\n\n(.+)\n\n</details>", re.DOTALL)


def lectures(root: Path) -> list[Path]:
    """Return the notebooks of the lectures, in order.

    Raises
    ------
    ValueError
        If there is none.
    """
    folder = root / "notebooks" / "class"
    found = sorted(folder.glob("lecture-*.ipynb"))
    if not found:
        raise ValueError(f"{folder}: holds no notebook lecture-*.ipynb")
    return found


def prepared(notebook: NotebookNode, name: str) -> NotebookNode:
    """Return a lecture as the slides show it: findings, links to other slides, unfolded notes.

    Parameters
    ----------
    notebook : NotebookNode
        An executed lecture; it is changed in place.
    name : str
        For the message.

    Raises
    ------
    ValueError
        If a cell was not executed, or if a note for the teacher is not folded.
    """
    for cell in code_cells(notebook):
        if cell.get("execution_count") is None:
            raise ValueError(f"{name}: is not executed: run `make refresh`")
        # The first sentence of a caption is what the figure shows.
        cell.metadata["finding"] = re.split(r"(?<=\.)\s", caption(cell), maxsplit=1)[0]
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = LECTURE.sub(r"](\1.html)", cell.source)
        if cell.metadata.get("slideshow", {}).get("slide_type") == "notes":
            if (note := NOTE.fullmatch(cell.source)) is None:
                raise ValueError(
                    f"{name}: {cell.id}: the note for the teacher is not folded; put it between "
                    "<details> with <summary>For the teacher</summary> and </details>"
                )
            # The speaker's view shows nothing but the note.
            cell.source = note[1]
    return notebook


def page(notebook: NotebookNode) -> str:
    """Return the HTML of a lecture's slides.

    Parameters
    ----------
    notebook : NotebookNode
        As `prepared` returns it.
    """
    from nbconvert.exporters import SlidesExporter
    from traitlets.config import Config

    settings: Any = Config()
    settings.TagRemovePreprocessor.enabled = True
    settings.TagRemovePreprocessor.remove_input_tags = {"hide-input"}
    exporter = SlidesExporter(  # type: ignore[no-untyped-call]
        config=settings,
        extra_template_basedirs=[str(HERE)],
        template_name=TEMPLATE,
        exclude_input_prompt=True,
        exclude_output_prompt=True,
    )
    html, _ = exporter.from_notebook_node(
        notebook, {"course": {"title": title(notebook) or "Slides"}}
    )
    return str(html)


def assets() -> dict[str, bytes]:
    """Return the files that the slides load, by their paths in the slides' folder ``assets``.

    Raises
    ------
    ValueError
        If MathJax is not installed.
    """
    from pygments.formatters import HtmlFormatter  # type: ignore[import-untyped]

    names = ("reveal.js", "reveal.css", "notes.js")
    found = {name: (REVEAL / name).read_bytes() for name in names}
    found["LICENSE-reveal.js"] = (REVEAL / "LICENSE").read_bytes()
    found["slides.css"] = (HERE / TEMPLATE / "slides.css").read_bytes()
    found["highlight.css"] = HtmlFormatter(style="xcode").get_style_defs(".highlight").encode()
    try:
        listed = files(MATHJAX) or []
    except PackageNotFoundError:
        listed = []
    for each in listed:
        if match := MATHJAX_FILE.search(each.as_posix()):
            found[f"mathjax/{match[1]}"] = Path(str(each.locate())).read_bytes()
    if "mathjax/tex-chtml-full.js" not in found:
        raise ValueError(f"{MATHJAX}: is not installed, or without MathJax: run `make install`")
    return found


def write_slides(root: Path, folder: Path) -> list[Path]:
    """Write the slides of all lectures with the files that they load, and return the slides' paths.

    Parameters
    ----------
    root : Path
        Top folder of the book.
    folder : Path
        The folder for the slides; it is made if it does not exist. No file is ever half-written.

    Raises
    ------
    ValueError
        If a lecture is not executed, or something that the slides load is missing.
    OSError
        If a file cannot be read or written.
    """
    pages = {}
    for path in lectures(root):
        notebook = prepared(read_notebook(path), path.name)
        pages[folder / f"{path.stem}.html"] = page(notebook)
    for name, content in assets().items():
        place = folder / "assets" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        write_if_changed(place, content)
    for place, html in pages.items():
        write_if_changed(place, html)
    return list(pages)


def main(arguments: list[str] | None = None) -> int:
    """Write the slides of the lectures below ``_build/class/slides``.

    Returns
    -------
    int
        0 when they are written; 1 if a lecture, or something that it loads, is missing or cannot
        be written. A wrong command line ends with 2.
    """
    parser = argparse.ArgumentParser(
        prog="python -m tools.course.slides",
        description="Slides of the lectures, which open from a folder without a network.",
        epilog="Exit codes: 0 written; 1 something is missing or cannot be written; 2 wrong usage.",
    )
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="(_build/class/slides)")
    asked = parser.parse_args(arguments)
    try:
        root = find_root()
        folder = asked.out or root / "_build" / "class" / "slides"
        for place in write_slides(root, folder):
            print(f"slides: {place}")
    except OSError as error:
        print(f"slides: {file_fault(error)}", file=sys.stderr)
        return FAILED
    except ValueError as error:
        print(f"slides: {error}", file=sys.stderr)
        return FAILED
    return DONE


if __name__ == "__main__":
    sys.exit(main())
