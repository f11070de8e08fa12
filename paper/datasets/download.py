"""Fetching a file that is not in ``data/``, when the user asks for it.

An archive comes into a temporary folder inside the cache; it is checked, the file is taken out and
checked, and only then renamed into place. Whatever goes wrong before leaves nothing behind.
"""

from __future__ import annotations

import hashlib
import tempfile
import zipfile
import zlib
from pathlib import Path

from paper.datasets.dataset import Dataset, Download
from paper.datasets.files import DatasetError, cache_folder, find, read_checked
from speedbook.paths import write_atomically

#: Seconds without an answer after which a server counts as silent.
SILENCE = 30


def fetch(dataset: Dataset) -> Path:
    """Fetch the file of a data set into the user's cache, unless a good one is at hand.

    Parameters
    ----------
    dataset : Dataset
        A data set with a download. To have its terms agreed to is the caller's business.

    Returns
    -------
    Path
        Where the file is.

    Raises
    ------
    ValueError
        If the data set has no download.
    DatasetError
        If the server cannot be reached or does not answer as it should, archive or file have not
        the expected SHA-256, or the cache cannot be written; also if the file is already at hand
        but is not the expected one.
    """
    if dataset.download is None:
        raise ValueError(f"dataset: {dataset.name} is in data/, and there is nothing to fetch")
    if (there := find(dataset)) is not None:
        read_checked(dataset, there)
        return there
    target = cache_folder() / dataset.file
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".fetch-") as folder:
            archive = Path(folder) / "archive.zip"
            _get(dataset.download, archive)
            write_atomically(target, _taken_out(dataset, archive))
    except OSError as error:
        reason = error.strerror or error
        raise DatasetError(
            f"{target} cannot be written: {reason}"
            "\n  what to do: make room or mend the permissions there, and fetch it again"
        ) from error
    return target


def _get(download: Download, archive: Path) -> None:
    """Load an archive over HTTP, with the certificate checked."""
    import requests
    from pooch import HTTPDownloader

    try:
        HTTPDownloader(timeout=SILENCE, progressbar=False)(download.url, str(archive), None)
    except requests.exceptions.SSLError as error:
        reason = f"its certificate is not accepted ({_cause(error)})"
        raise _unreachable(download, reason) from error
    except requests.exceptions.HTTPError as error:
        answer = "an error" if error.response is None else error.response.status_code
        raise _unreachable(download, f"the answer is {answer}") from error
    except requests.exceptions.Timeout as error:
        raise _unreachable(download, f"no answer within {SILENCE} seconds") from error
    except requests.exceptions.RequestException as error:
        raise _unreachable(download, _cause(error)) from error


def _unreachable(download: Download, reason: str) -> DatasetError:
    return DatasetError(
        f"{download.url} could not be fetched: {reason}"
        "\n  what to do: see whether the address opens in a browser, and try again; or put "
        f"{Path(download.member).name}, taken from that archive, into the folder that "
        "SPEEDLIB_DATA_DIR names"
    )


def _cause(error: BaseException) -> str:
    """Return the innermost text of an error of requests, which wraps several others."""
    while (inner := error.__cause__ or error.__context__) is not None:
        error = inner
    return str(error)


def _taken_out(dataset: Dataset, archive: Path) -> bytes:
    """Return the file inside an archive, both checked."""
    download = dataset.download
    assert download is not None
    content = archive.read_bytes()
    _check(f"the archive from {download.url}", content, download.sha256)
    try:
        with zipfile.ZipFile(archive) as opened:
            member = opened.read(download.member)
    except (zipfile.BadZipFile, zlib.error, KeyError, EOFError) as error:
        raise DatasetError(
            f"the archive from {download.url} cannot be unpacked: {error}\n  what to do: fetch it "
            "again; if that does not help, please report it"
        ) from error
    _check(f"{download.member} from {download.url}", member, download.member_sha256)
    return member


def _check(what: str, content: bytes, expected: str) -> None:
    if (found := hashlib.sha256(content).hexdigest()) != expected:
        raise DatasetError(
            f"{what} is not the expected one, and was thrown away"
            f"\n  expected:   SHA-256 {expected}"
            f"\n  found:      SHA-256 {found} ({len(content):,} bytes)"
            "\n  what to do: fetch it again, as it may have been cut short; if the same is found "
            "again, its publisher has changed it: please report that"
        )
