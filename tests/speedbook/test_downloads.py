"""What pages offer for download: whole files that say the same as the page."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_output

from speedbook.notebook.files import code_cells, png_bytes, read_notebook, serialise
from speedbook.press.archive import archive
from speedbook.press.downloads import (
    EXTRA,
    KINDS,
    is_hand_in,
    offered,
    page_downloads,
    without_outputs,
)
from speedbook.press.sphinx.page_foot import add_downloads
from speedbook.press.template import published

from .page_sources import drawing, page

NAME = "notebooks/claims/prop-1.ipynb"
PLACE = f"{EXTRA}/downloads/claims/prop-1"
RECORD = {
    "id": "prop-1",
    "verdict": "supported",
    "estimate": 1.001,
    "interval": [0.99, 1.01],
    "level": 0.999,
    "replications": 50,
    "seed": 3,
    "details": {"worst": 2.5},
}
FRAME = (
    '<table border="1" class="dataframe"><thead><tr><th></th><th>loss</th></tr></thead>'
    "<tbody><tr><th>a</th><td>1.5 ± 0.1</td></tr></tbody></table>"
)


def displays(data, **about):
    return new_code_cell("show()", outputs=[new_output("display_data", data, metadata=about)])


def drawn(*figures):
    return {
        f"{figure}.{kind}": f"{kind} of {figure}\n" for figure in figures for kind in ("svg", "csv")
    }


def unpacked(content):
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        assert packed.testzip() is None
        return {name: packed.read(name) for name in packed.namelist()}


def test_a_page_offers_all_that_it_shows():
    record = displays({"text/plain": "1"}, speedbook={"claim": RECORD})
    table = displays({"text/html": FRAME})
    notebook = page(drawing("one"), drawing("two"), record, table)
    files = page_downloads(NAME, notebook, drawn("one", "two", "of-another-page"))
    assert list(files) == [
        f"{PLACE}/prop-1{end}" for end in ("-without-outputs.ipynb", "-figures.zip", "-data.zip")
    ]
    clean, figures, data = files.values()
    assert (
        figures
        == page_downloads(NAME, notebook, drawn("two", "one"))[f"{PLACE}/prop-1-figures.zip"]
    )

    pixels = png_bytes(code_cells(notebook)[1].outputs[0].data["image/png"])
    assert unpacked(figures) == {
        "one.svg": b"svg of one\n",
        "one.png": pixels,
        "two.svg": b"svg of two\n",
        "two.png": pixels,
    }
    inside = unpacked(data)
    assert sorted(inside) == [
        "README.txt",
        "figures/one.csv",
        "figures/two.csv",
        "results/records.csv",
        "results/records.json",
        "results/table-01-numbers.csv",
        "results/table-01.csv",
    ]
    assert inside["figures/two.csv"] == b"csv of two\n"
    assert json.loads(inside["results/records.json"]) == {"prop-1": RECORD}
    (row,) = csv.DictReader(io.StringIO(inside["results/records.csv"].decode()))
    assert (row["id"], float(row["estimate"]), float(row["high"])) == ("prop-1", 1.001, 1.01)
    assert inside["results/table-01.csv"].decode() == ",loss\na,1.5 ± 0.1\n"
    assert "speedbook rerun prop-1" in inside["README.txt"].decode()
    assert nbformat.reads(clean, as_version=4).cells[0].source == notebook.cells[0].source


def test_a_single_figure_needs_no_archive_and_a_page_without_results_offers_no_data():
    files = page_downloads(NAME, page(drawing("one")), drawn("one"))
    assert [path.rpartition("/")[2] for path in files] == [
        *("prop-1-without-outputs.ipynb", "one.svg", "one.png", "prop-1-data.zip")
    ]
    assert list(page_downloads(NAME, page(), {})) == [f"{PLACE}/prop-1-without-outputs.ipynb"]


def test_the_copy_without_outputs_has_the_same_cells_and_opens():
    ran = page(drawing("one", "lead"), new_code_cell("1 + 1", execution_count=2))
    clean = without_outputs(ran)
    assert [(c.cell_type, c.source, c.metadata) for c in clean.cells] == [
        (c.cell_type, c.source, c.metadata) for c in ran.cells
    ]
    assert all(not c.outputs and c.execution_count is None for c in code_cells(clean))
    assert code_cells(ran)[1].outputs, "the notebook itself keeps its outputs"
    (text,) = page_downloads(NAME, page(), {}).values()
    nbformat.validate(nbformat.reads(text, as_version=4))


def test_what_a_class_must_not_see_is_in_no_download():
    answer = drawing("the-answer")
    answer.metadata["nbgrader"] = {"solution": True, "grade": False, "grade_id": "a"}
    files = page_downloads(NAME, published(page(answer)), drawn("the-answer"))
    assert len(files) == 1
    assert "the-answer" not in str(files)


def test_the_menu_offers_what_is_there_in_one_order(tmp_path: Path):
    assert offered(NAME, tmp_path) == {}
    notebook = page(drawing("one"), drawing("two"))
    for path, content in page_downloads(NAME, notebook, drawn("one", "two")).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        data = content if isinstance(content, bytes) else content.encode()
        (tmp_path / path).write_bytes(data)
    assert list(offered(NAME, tmp_path).items()) == [
        (f"downloads/claims/prop-1/prop-1{ending}", KINDS[ending])
        for ending in ("-without-outputs.ipynb", "-figures.zip", "-data.zip")
    ]


CLASS = sorted((Path(__file__).parents[2] / "notebooks/class").glob("*.ipynb"))


@pytest.mark.parametrize("path", CLASS, ids=lambda path: path.stem)
def test_only_a_hand_in_has_no_notebook_to_download(path: Path, tmp_path: Path):
    notebook = published(read_notebook(path))
    name = f"notebooks/class/{path.name}"
    staged = tmp_path / name
    staged.parent.mkdir(parents=True)
    staged.write_text(serialise(notebook), encoding="utf-8")
    ends_so = path.stem.startswith("hand-in")
    assert is_hand_in(notebook) == ends_so
    files = page_downloads(name, notebook, {})
    assert any(each.endswith(".ipynb") for each in files) != ends_so

    labels = ["download-source-button", "download-pdf-button"]
    menu = {"label": "download-buttons", "buttons": [{"label": label} for label in labels]}
    app = SimpleNamespace(
        env=SimpleNamespace(doc2path=lambda page: str(staged)),
        srcdir=str(tmp_path),
        config=SimpleNamespace(html_extra_path=[]),
    )
    add_downloads(app, name, "", {"header_buttons": [menu], "pathto": str}, object())
    assert [each["label"] for each in menu["buttons"]] == labels[ends_so:]


@pytest.mark.parametrize("content", ["é\n", "é\n".encode(), Path("é")])
def test_an_archive_is_the_same_each_time(content, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("é").write_bytes("é\n".encode())
    first = archive({"a/b.txt": content})
    Path("é").touch()
    assert archive({"a/b.txt": content}) == first
    assert unpacked(first) == {"a/b.txt": "é\n".encode()}
