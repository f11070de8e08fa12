"""What the page of a notebook offers for download besides the notebook itself.

- a copy of the notebook without outputs, but not of a hand-in of a class;
- its figures: as PNG, as on the page, and as SVG; an archive if there are several;
- its data in an archive, named as in the folder of a run: the plotted numbers of each figure, the
  records of its claims, and its tables.

The build writes these files among the sources of the book, and Sphinx copies them. The page links
to those that are there, so a book from a plain checkout, which has none, links to none.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from nbformat import NotebookNode

from speedbook.notebook.files import code_cells, serialise, title
from speedbook.press.archive import archive
from speedbook.press.pictures import drawn_pictures
from speedbook.run.listing import FIGURES, RESULTS
from speedbook.run.results import read_results, result_files

#: A folder of the sources that Sphinx copies into the top folder of the pages (`html_extra_path`).
EXTRA = "book/_extra"
#: The folder of all downloads, in `EXTRA` and in the built book.
DOWNLOADS = "downloads"
CLEAN, ALL_FIGURES, DATA = "-without-outputs.ipynb", "-figures.zip", "-data.zip"
#: How the names of files end, in the order of the menu, and what the menu calls them.
KINDS = {
    CLEAN: "Notebook without outputs (.ipynb)",
    ALL_FIGURES: "Figures (.svg, .png)",
    ".svg": "Figure (.svg)",
    ".png": "Figure (.png)",
    DATA: "Data (.csv, .json)",
}
READ_ME = """\
The data of the page "{title}"

figures/NAME.csv              the plotted numbers of a figure, a row for each point
results/records.json, .csv    what the page records for its claims; the CSV leaves out details
results/table-NN.csv          a table of the page, as shown
results/table-NN-numbers.csv  the same table with one number in each cell

A page has only some of these files. To compute them again, also with other parameters:
speedbook rerun {stem}

Licence: CC BY 4.0.
"""


def folder(name: str) -> PurePosixPath:
    """Return the folder of a notebook's downloads in the built book.

    Examples
    --------
    >>> folder("notebooks/claims/prop-1.ipynb").as_posix()
    'downloads/claims/prop-1'
    """
    page = PurePosixPath(name).with_suffix("")
    return PurePosixPath(DOWNLOADS, *(page.parts[1:] or page.parts))


def page_downloads(
    name: str, notebook: NotebookNode, drawn: Mapping[str, str]
) -> dict[str, str | bytes]:
    """Return the files that the page of a notebook offers, by their paths from the book's root.

    Parameters
    ----------
    name : str
        The path of the notebook from the root.
    notebook : NotebookNode
        The executed notebook as it is published. Figures that it does not show are left out.
    drawn : mapping
        The texts of the figures' files by name: ``shares.svg`` and ``shares.csv`` for ``shares``.
    """
    stem = PurePosixPath(name).stem
    pixels = drawn_pictures({name: notebook})
    pictures: dict[str, str | bytes] = {}
    for figure, png in pixels.items():
        vector = f"{figure}.svg"
        pictures |= ({vector: drawn[vector]} if vector in drawn else {}) | {f"{figure}.png": png}
    if len(pixels) > 1:
        pictures = {f"{stem}{ALL_FIGURES}": archive(pictures)}
    clean = {} if is_hand_in(notebook) else {f"{stem}{CLEAN}": without_outputs(notebook)}
    files = {path: serialise(copied) for path, copied in clean.items()} | pictures
    plotted = {f"{figure}.csv" for figure in pixels} & drawn.keys()
    data = {f"{FIGURES}/{each}": drawn[each] for each in sorted(plotted)}
    results = result_files(*read_results(notebook))
    data |= {f"{RESULTS}/{each}": text for each, text in results.items()}
    if data:
        about = READ_ME.format(title=title(notebook), stem=stem)
        files[f"{stem}{DATA}"] = archive({"README.txt": about, **data})
    place = PurePosixPath(EXTRA, folder(name))
    return {str(place / each): content for each, content in files.items()}


def is_hand_in(notebook: NotebookNode) -> bool:
    """Say whether students hand in this notebook: it has cells of nbgrader.

    The book shows only its texts, so a copy of it has no cells for answers and cannot be graded.
    """
    return any(cell.metadata.get("nbgrader") for cell in notebook.cells)


def without_outputs(notebook: NotebookNode) -> NotebookNode:
    """Return a copy of a notebook as if it had never run."""
    clean = copy.deepcopy(notebook)
    for cell in code_cells(clean):
        cell.outputs, cell.execution_count = [], None
    return clean


def offered(name: str, root: Path) -> dict[str, str]:
    """Return what the menu calls each download of a notebook, by its path in the built book.

    Parameters
    ----------
    name : str
        The path of the notebook from the root.
    root : Path
        The folder of the book's sources; only files that are there are offered.
    """
    here = folder(name)
    found = sorted(path.name for path in (root / EXTRA / here).glob("*"))
    return {
        str(here / file): words
        for ending, words in KINDS.items()
        for file in found
        if file.endswith(ending)
    }
