"""The data sets, each checked against its SHA-256 before it is parsed.

``load("red-wine")`` returns a data frame and ``info("red-wine")`` describes it. A file is searched
for at an explicit path, in ``$SPEEDLIB_DATA_DIR``, in ``data/`` and in the user's cache, in this
order. A file is downloaded only by ``fetch(info("air-quality"))`` or, on the command line, by
``speedbook data fetch air-quality``, which shows the terms first.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from paper.datasets.air_quality import AIR_QUALITY
from paper.datasets.dataset import Dataset, Download
from paper.datasets.download import fetch
from paper.datasets.files import DatasetError, locate, read_checked
from paper.datasets.movielens import LATEST_SMALL, MOVIELENS_1M
from paper.datasets.red_wine import RED_WINE
from speedbook.text import nearest

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Dataset", "DatasetError", "Download", "catalogue", "fetch", "info", "load"]

_CATALOGUE = {
    dataset.name: dataset for dataset in (RED_WINE, LATEST_SMALL, MOVIELENS_1M, AIR_QUALITY)
}


def catalogue() -> tuple[Dataset, ...]:
    """Return the descriptions of all data sets."""
    return tuple(_CATALOGUE.values())


def info(name: str) -> Dataset:
    """Return the description of a data set by its short name; raises a ValueError if unknown.

    Examples
    --------
    >>> info("red-wine").columns["alcohol"]
    'alcohol by volume, %'
    """
    try:
        return _CATALOGUE[name]
    except KeyError:
        hint = nearest(name, _CATALOGUE)
        raise ValueError(f"name: no data set is called {name!r}{hint}") from None


def load(name: str, path: str | os.PathLike[str] | None = None) -> pd.DataFrame:
    """Return a data set as a data frame, after a check of the file's SHA-256.

    Parameters
    ----------
    name : str
        Its short name.
    path : path-like, optional
        The file. By default it is searched for in ``$SPEEDLIB_DATA_DIR``, in ``data/`` and in the
        user's cache, in this order.

    Returns
    -------
    pandas.DataFrame
        A row for each sample, in the order of the file; ``info(name)`` describes the columns.

    Raises
    ------
    ValueError
        If there is no such data set.
    DatasetError
        If the file is not found, cannot be read, or does not have the expected SHA-256.

    Examples
    --------
    >>> load("red-wine").shape
    (1599, 12)
    """
    dataset = info(name)
    return dataset.parse(read_checked(dataset, locate(dataset, path)))
