"""The description of a data set."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

#: The command, as README writes it.
PROGRAM = r".venv\Scripts\speedbook" if os.name == "nt" else ".venv/bin/speedbook"


@dataclass(frozen=True)
class Download:
    """A file that is not in ``data/``, but in a zip archive; with the SHA-256 of file and archive.

    A user must accept the terms before fetching it.
    """

    url: str
    sha256: str
    member: str
    member_sha256: str
    terms: str


@dataclass(frozen=True)
class Dataset:
    """A data set: its one file, what the file contains, and how it is read.

    Attributes
    ----------
    name, title : str
        Short name, as in ``load(name)``, and title.
    file : str
        Name of the file. If it is in ``data/``, its SHA-256 is in ``data/SHA256SUMS``.
    columns : mapping of str to str
        Meaning and unit of each column of the data frame.
    target : str
        The column that serves as the reward.
    licence, source, citation : str
        Terms of use, origin, and the work to cite.
    remedy : str
        How to get the file if it is missing or damaged.
    parse : callable
        Turns the content of the file into the data frame, after the SHA-256 was checked.
    download : Download, optional
        For a file that is not in ``data/``: where to fetch it.
    """

    name: str
    title: str
    file: str
    columns: Mapping[str, str]
    target: str
    licence: str
    source: str
    citation: str
    remedy: str
    parse: Callable[[bytes], pd.DataFrame] = field(repr=False)
    download: Download | None = None
