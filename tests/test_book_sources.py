"""The committed notebooks, registry and ledger fit together."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from speedbook.claims import load_registry
from speedbook.execution import CELL_TIMEOUT
from speedbook.ledger import LEDGER, derive_ledger, ledger_text
from speedbook.lint import output_problems, seed_problems, source_problems, usage_problems
from speedbook.notebooks import code_cells, read_notebook, serialise
from speedbook.pages import page_problems
from speedbook.pictures import FOLDER, pictures
from speedbook.prose import prose_problems

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "notebooks").rglob("*.ipynb")
    if ".ipynb_checkpoints" not in path.parts
)


def all_notebooks():
    return {name: read_notebook(ROOT / name) for name in NOTEBOOKS}


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_keeps_the_contract(name):
    notebook = read_notebook(ROOT / name)
    assert source_problems(notebook) + output_problems(notebook, str(ROOT)) == []


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_makes_a_page(name):
    notebook = read_notebook(ROOT / name)
    assert page_problems(notebook) + prose_problems(name, notebook) == []
    assert usage_problems(notebook) == []
    if load_registry(ROOT).of_notebook(name):
        assert seed_problems(notebook) == []


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_is_normalised(name):
    assert (ROOT / name).read_text(encoding="utf-8") == serialise(read_notebook(ROOT / name))


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_every_picture_tells_its_numbers(name):
    """Without the digest of what is plotted, a changed picture could pass for the old one."""
    for cell in code_cells(read_notebook(ROOT / name)):
        for output in cell.outputs:
            if "image/png" in output.get("data", {}):
                figure = output.metadata.get("speedbook", {}).get("figure", {})
                assert re.fullmatch("[0-9a-f]{64}", figure.get("digest", ""))
                assert output.metadata["image/png"]["alt"].strip()


def test_the_committed_ledger_is_the_derived_one():
    derived = derive_ledger(load_registry(ROOT), all_notebooks())
    assert (ROOT / LEDGER).read_text(encoding="utf-8") == ledger_text(derived)


def test_the_committed_pictures_are_those_of_the_notebooks():
    derived = pictures(ROOT, all_notebooks())
    assert {name: (ROOT / name).read_bytes() for name in derived} == derived
    committed = {path.relative_to(ROOT).as_posix() for path in (ROOT / FOLDER).glob("*")}
    assert committed == set(derived)


def test_a_cell_has_the_same_time_everywhere(pytestconfig):
    """Each tool has a limit of its own, from none at all to half an hour."""
    config = (ROOT / "_config.yml").read_text(encoding="utf-8")
    assert re.findall(r"^\s+timeout: (\d+)$", config, re.M) == [str(CELL_TIMEOUT)]
    assert pytestconfig.option.nbval_cell_timeout == CELL_TIMEOUT
