"""What is said of a data set, before its file is opened."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

#: The program, as README calls it.
PROGRAM = r".venv\Scripts\speedbook" if os.name == "nt" else ".venv/bin/speedbook"


@dataclass(frozen=True)
class Download:
    """A file that is not in ``data/``: the member of a zip archive, each with its SHA-256.

    By fetching it the user agrees to the terms.
    """

    url: str
    sha256: str
    member: str
    member_sha256: str
    terms: str


@dataclass(frozen=True)
class Dataset:
    """A data set: one file, what is in it and how it is read.

    Attributes
    ----------
    name, title : str
        Short name, as in ``load(name)``, and title.
    file : str
        Name of the file. If it is in ``data/``, its SHA-256 is in ``data/SHA256SUMS``.
    columns : mapping of str to str
        For each column of the data frame its meaning and unit.
    target : str
        The column that serves as the reward.
    licence, source, citation : str
        Terms of use, where it comes from, whom to cite.
    remedy : str
        How to get the file when it is missing or damaged.
    parse : callable
        Turns the content of the file, already checked, into the data frame.
    download : Download, optional
        For a file that is not in ``data/``: where the user may fetch it.
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
