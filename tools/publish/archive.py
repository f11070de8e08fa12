"""The book as an archive: it opens from disk, without a network and without a server."""

from __future__ import annotations

from pathlib import Path

from speedbook.paths import write_atomically
from speedbook.press.archive import archive

#: The folder in the archive.
TOP = "speed-companion-book"
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
    named = {f"{TOP}/{path.relative_to(html).as_posix()}": path for path in files}
    write_atomically(out, archive({f"{TOP}/README.txt": READ_ME, **named}))
    return len(files) + 1
