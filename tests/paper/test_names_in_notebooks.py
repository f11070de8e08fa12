"""The pages for a reader's own tables show names of columns, actions and files as written."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import IPython.display
import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest

from speedbook.notebook.files import read_notebook
from speedbook.press.displayed import displayed

from ..written import AWKWARD, read, said
from .test_names_in_plots import renderer

matplotlib.use("Agg")
ROOT = Path(__file__).parents[2]
FILE = "_t*b* $q$ [red]x[a](b).csv"


def run(name: str, until: str, monkeypatch: Any, **values: Any) -> list[str]:
    """Run the code of a notebook up to a cell that holds some words; return its Markdown."""
    shown: list[str] = []
    monkeypatch.setattr(
        IPython.display, "display", lambda it, **_: shown.append(getattr(it, "data", ""))
    )
    cells = [c.source for c in read_notebook(ROOT / name).cells if c.cell_type == "code"]
    last = next(i for i, cell in enumerate(cells) if until in cell)
    with plt.rc_context():
        scope: dict[str, Any] = {}
        exec(cells[0], scope)
        exec("\n".join(cells[1 : last + 1]), scope | values)
    return [text for text in shown if text]


@pytest.mark.slow
def test_the_page_of_own_data_shows_names_as_written(tmp_path, monkeypatch):
    target, rng = "yield_$ [l](x) <b> *t*", np.random.default_rng(1)
    with (tmp_path / FILE).open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow([*AWKWARD[:2], target])
        rows.writerows(
            [*row, "" if i == 3 else row[0]] for i, row in enumerate(rng.normal(size=(60, 2)))
        )
        rows.writerows([[1, 2, 4], [2, 1, 8]])
    values = {"table_file": str(tmp_path / FILE), "target": target, "leave_out": []}
    notebook = "notebooks/beyond/your-own-data.ipynb"
    (text,) = run(notebook, "read_measurements(\n", monkeypatch, **values)
    words = read(displayed(text))
    assert f"This is {FILE}: 61 rows with the target {target} and 2 features." in words
    assert f"missing: {target} (1)." in words


@pytest.mark.slow
def test_the_page_of_own_experiment_shows_names_as_written(tmp_path, monkeypatch):
    actions = [name for name in AWKWARD if name.strip() == name]
    with (tmp_path / "actions.csv").open("w", newline="", encoding="utf-8") as file:
        rows, rng = csv.writer(file), np.random.default_rng(2)
        rows.writerow(["action", "a", "b", "c", "probability"])
        rows.writerows([name, *rng.normal(size=3), 1 / len(actions)] for name in actions)
    values = {"actions_file": str(tmp_path / "actions.csv"), "log_file": str(tmp_path / FILE)}
    notebook = "notebooks/beyond/your-own-experiment.ipynb"
    with renderer() as drawn:
        first, *_ = run(notebook, "experiment-allocation", monkeypatch, **values)
    assert said(f"There is no file {tmp_path / FILE} yet") in read(displayed(first))
    for name in actions:
        assert (name, False) in drawn
