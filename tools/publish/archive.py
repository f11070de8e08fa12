"""The book as an archive: it opens from disk, without a network and without a server."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from speedbook.paths import write_atomically

#: The folder in the archive.
TOP = "speed-companion-book"
#: The same bytes from the same book.
DATE = (1980, 1, 1, 0, 0, 0)
READ_ME = """\
SPEED, put to the test: a reproducible companion

Unpack the whole archive, then open index.html in a browser. The book needs no network.
Text: CC BY 4.0. Code: BSD 3-Clause.
"""


def make_zip(html: Path, out: Path) -> int:
    """Write the archive; return its number of files.

    Parameters
    ----------
    html : Path
        The built book.
    out : Path
        The archive; it appears only when it is whole.

    Raises
    ------
    RuntimeError
        If there is no book.
    """
    if not (html / "index.html").is_file():
        raise RuntimeError(f"there is no book in {html}: `make book` builds it")
    files = sorted(path for path in html.rglob("*") if path.is_file())
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        _add(archive, "README.txt", READ_ME.encode())
        for path in files:
            _add(archive, path.relative_to(html).as_posix(), path.read_bytes())
    write_atomically(out, whole.getvalue())
    return len(files) + 1


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(f"{TOP}/{name}", DATE)
    entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
    archive.writestr(entry, content)
