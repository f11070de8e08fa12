"""Fetching a file that is not in ``data/``, when the user asks for it.

pooch loads the archive into a temporary folder inside the cache and checks it. The file is taken
out, checked and only then renamed into place: whatever goes wrong before leaves nothing behind.
"""

from __future__ import annotations

import hashlib
import tempfile
import zipfile
from pathlib import Path

from paper.datasets.dataset import Dataset
from paper.datasets.files import VARIABLE, DatasetError, cache_folder, find, read_checked
from speedbook.paths import room, write_atomically

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
    if (source := dataset.download) is None:
        raise ValueError(f"dataset: {dataset.name} is in data/, and there is nothing to fetch")
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
            "\n  what to do: see whether the address opens in a browser, and try again; or put "
            f"{Path(source.member).name}, taken from that archive, into the folder that "
            f"{VARIABLE} names"
        ) from error
    except (ValueError, KeyError, zipfile.BadZipFile) as error:
        raise DatasetError(
            f"the archive from {source.url} was thrown away: {error}"
            "\n  what to do: fetch it again, as it may have been cut short; if that does not help, "
            "its publisher has changed it: please report that"
        ) from error
    except OSError as error:
        raise DatasetError(
            f"{target} cannot be written: {error.strerror or error}{room(error, target)}"
            "\n  what to do: make room or mend the permissions there, and fetch it again"
        ) from error
    return target


def _cause(error: BaseException) -> str:
    """Return the innermost text of an error of requests, which wraps several others."""
    while (inner := error.__cause__ or error.__context__) is not None:
        error = inner
    return str(error)
