"""Find the files of the data sets, and check their SHA-256."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from platformdirs import user_cache_path

from paper.datasets.dataset import Dataset

#: The folder of the embedded files, and the list of their SHA-256.
DATA_FOLDER = Path(__file__).resolve().parents[2] / "data"
SUMS = DATA_FOLDER / "SHA256SUMS"

#: The environment variable that names a folder to look in first.
VARIABLE = "SPEEDLIB_DATA_DIR"

#: The remedy for a file in ``data/`` that is lost or changed.
RESTORE = "restore it from the repository"


class DatasetError(Exception):
    """A file of a data set is missing, unreadable or not the expected one.

    The text names the file and says what to do.
    """


def expected_sha256(dataset: Dataset) -> str:
    """Return the SHA-256 that the file of a data set must have."""
    if dataset.download is not None:
        return dataset.download.member_sha256
    return embedded_sha256(dataset.file)


def embedded_sha256(file: str) -> str:
    """Return the SHA-256 that a file in ``data/`` must have."""
    lines = SUMS.read_text(encoding="utf-8").splitlines()
    return next(digest for digest, name in map(str.split, lines) if name == file)


def cache_folder() -> Path:
    """Return the folder for fetched files."""
    return user_cache_path("speed-companion")


def folders() -> list[Path]:
    """Return the folders in which files are searched for, in order.

    Raises a DatasetError if the environment variable ``SPEEDLIB_DATA_DIR`` does not name a folder.
    Otherwise such a mistake would appear as a missing file, or not at all.
    """
    named = os.environ.get(VARIABLE)
    if not named:
        return [DATA_FOLDER, cache_folder()]
    folder = Path(named).expanduser()
    if not folder.is_dir():
        raise DatasetError(
            f"{VARIABLE} is {named!r}, which is not a folder"
            "\n  what to do: name the folder that holds the files, or unset it"
        )
    return [folder, DATA_FOLDER, cache_folder()]


def find(dataset: Dataset) -> Path | None:
    """Return the path of the file of a data set, or None; see `folders`."""
    candidates = (folder / dataset.file for folder in folders())
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def locate(dataset: Dataset, path: str | os.PathLike[str] | None = None) -> Path:
    """Return the path of the file of a data set; if a path is given, only that one is tried.

    Raises a DatasetError if there is no such file.
    """
    candidates = [Path(path)] if path is not None else [at / dataset.file for at in folders()]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    looked = "".join(f"\n  not found:  {candidate}" for candidate in candidates)
    raise DatasetError(f"{dataset.file} is missing{looked}\n  what to do: {dataset.remedy}")


def read_checked(dataset: Dataset, path: Path) -> bytes:
    """Return the content of the file of a data set, whatever its name.

    Raises a DatasetError if it cannot be read or does not have the expected SHA-256.
    """
    return _checked(path, dataset.file, expected_sha256(dataset), dataset.remedy)


def read_embedded(file: str) -> bytes:
    """Return the content of a file in ``data/``, with the check of `read_checked`."""
    return _checked(DATA_FOLDER / file, file, embedded_sha256(file), RESTORE)


def _checked(path: Path, file: str, expected: str, remedy: str) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DatasetError(
            f"{path} cannot be read: {error.strerror}\n  what to do: {remedy}"
        ) from error
    found = hashlib.sha256(content).hexdigest()
    if found != expected:
        raise DatasetError(
            f"{path} is not the expected {file}, so it was not parsed"
            f"\n  expected:   SHA-256 {expected}"
            f"\n  found:      SHA-256 {found} ({len(content):,} bytes)"
            f"\n  what to do: replace or remove this file; {remedy}"
        )
    return content
