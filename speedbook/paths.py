"""Where the book is, and files that are written whole or not at all."""

from __future__ import annotations

import filecmp
import os
from collections.abc import Mapping
from pathlib import Path

#: The file that marks the top folder of the book.
MARKER = "_toc.yml"


def find_root(start: Path | None = None) -> Path:
    """Return the top folder of the book: the nearest one upwards that holds ``_toc.yml``.

    Without a start, from the current folder upwards, and then the folder that this package was
    installed from (a notebook may run anywhere); a FileNotFoundError if there is none.
    """
    here = (start or Path.cwd()).resolve()
    folders = [here, *here.parents]
    if start is None:
        folders.append(Path(__file__).resolve().parents[1])
    for folder in folders:
        if (folder / MARKER).is_file():
            return folder
    raise FileNotFoundError(
        f"no {MARKER} in {here} or above it: go to the folder of the book (where README.md is)"
    )


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file so that a reader sees the old content or the new, never a part of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content.encode() if isinstance(content, str) else content)
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def write_if_changed(path: Path, content: str | bytes) -> bool:
    """Write a file unless it already holds the content; say whether it was written.

    An untouched file keeps its time stamp, which is how Sphinx knows that a page is still good.
    """
    data = content.encode() if isinstance(content, str) else content
    if path.is_file() and path.read_bytes() == data:
        return False
    write_atomically(path, data)
    return True


def mirror(files: Mapping[str, Path | str | bytes], target: Path) -> None:
    """Make a folder hold exactly the given files, touching only those that differ.

    Each path inside the folder, with forward slashes, comes with a file to copy or the content
    itself.
    """
    for name, content in files.items():
        path = target / name
        if not isinstance(content, Path):
            write_if_changed(path, content)
        elif not (path.is_file() and filecmp.cmp(content, path, shallow=False)):
            write_atomically(path, content.read_bytes())
    wanted = {target / name for name in files}
    for path in sorted(target.rglob("*"), reverse=True):
        if path.is_dir() and not path.is_symlink():
            if not any(path.iterdir()):
                path.rmdir()
        elif path not in wanted:
            path.unlink()


def files_below(folder: Path, prefix: str = "") -> dict[str, Path]:
    """Return the files below a folder, by their path with forward slashes; none is hidden."""
    files = {path.relative_to(folder): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {
        prefix + name.as_posix(): path
        for name, path in files.items()
        if not any(part.startswith(".") for part in name.parts)
    }
