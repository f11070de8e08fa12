"""Fetch a file that is not in ``data/``, at the user's request.

pooch loads the archive into a temporary folder inside the cache and checks it. The file is
extracted and checked, and then moved into its place. If an earlier step fails, nothing is left
behind.
"""

from __future__ import annotations

import hashlib
import tempfile
import zipfile
from pathlib import Path

from paper.datasets.dataset import Dataset
from paper.datasets.files import VARIABLE, DatasetError, cache_folder, find, read_checked
from speedbook.paths import room, write_atomically

#: Seconds to wait for a server.
SILENCE = 30


def fetch(dataset: Dataset) -> Path:
    """Fetch the file of a data set into the user's cache, unless the right file is there already.

    Parameters
    ----------
    dataset : Dataset
        A data set with a download. The user must have accepted the terms before the call.

    Returns
    -------
    Path
        Where the file is.

    Raises
    ------
    ValueError
        If the data set has no download.
    DatasetError
        If the server cannot be reached or fails, if what it sends does not have the expected
        SHA-256, if the cache cannot be written, or if it already holds another file in this place.
    """
    if (source := dataset.download) is None:
        raise ValueError(f"dataset: {dataset.name} is in data/, so there is nothing to fetch")
    if (there := find(dataset)) is not None:
        read_checked(dataset, there)
        return there
    import pooch
    import requests

    pooch.get_logger().setLevel("WARNING")
    load = pooch.HTTPDownloader(timeout=SILENCE)
    target = cache_folder() / dataset.file
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".fetch-") as folder:
            known = f"sha256:{source.sha256}"
            archive = pooch.retrieve(source.url, known, "archive.zip", folder, downloader=load)
            with zipfile.ZipFile(archive) as opened:
                content = opened.read(source.member)
        if (found := hashlib.sha256(content).hexdigest()) != source.member_sha256:
            hashes = f"expected {source.member_sha256} but got {found}"
            raise ValueError(f"SHA-256 of {source.member}: {hashes}")
        write_atomically(target, content)
    except requests.RequestException as error:
        raise DatasetError(
            f"{source.url} could not be fetched: {_cause(error)}"
            "\n  what to do: check whether the address opens in a browser, and try again; or put "
            f"{Path(source.member).name}, taken from that archive, into the folder that "
            f"{VARIABLE} names"
        ) from error
    except (ValueError, KeyError, zipfile.BadZipFile) as error:
        raise DatasetError(
            f"the archive from {source.url} was discarded: {error}"
            "\n  what to do: fetch it again, since the download may have been incomplete; if that "
            "does not help, the publisher has changed the archive: please report that"
        ) from error
    except OSError as error:
        raise DatasetError(
            f"{target} cannot be written: {error.strerror or error}{room(error, target)}"
            "\n  what to do: make room or correct the permissions there, and fetch it again"
        ) from error
    return target


def _cause(error: BaseException) -> str:
    """Return the text of the innermost error, since requests wraps several errors."""
    while (inner := error.__cause__ or error.__context__) is not None:
        error = inner
    return str(error)
