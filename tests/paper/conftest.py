"""Data that are tested where they are at hand, and the style of figures."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from speedbook import figures


@pytest.fixture(scope="session")
def real_air_quality() -> Path:
    """Return the file of Air Quality, which the repository may not hold, where it is at hand."""
    folder = os.environ.get("SPEEDLIB_DATA_DIR")
    path = Path(folder or ".") / "AirQualityUCI.csv"
    if folder is None or not path.is_file():
        pytest.skip("AirQualityUCI.csv is not in SPEEDLIB_DATA_DIR: not tested on the real file")
    return path


@pytest.fixture
def house_style() -> Iterator[None]:
    """Draw in the house style, and leave neither it nor a figure behind."""
    with plt.rc_context():
        figures.use_style()
        yield
        plt.close("all")


@pytest.fixture(autouse=True)
def own_options() -> Iterator[None]:
    """Leave no option behind: cells of notebooks, which some tests run, set one."""
    with pd.option_context("display.html.use_mathjax", True):
        yield
