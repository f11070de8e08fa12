"""Find the book's top folder, and write files whole or not at all."""

from __future__ import annotations

import errno
import filecmp
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

#: The file that marks the top folder of the book.
MARKER = "_toc.yml"
#: Errors that mean a full disk or an exhausted quota.
FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def find_root(start: Path | None = None) -> Path:
    """Return the top folder of the book: the nearest one upwards that holds ``_toc.yml``.

    Without a start, the search goes from the current folder upwards, and then to the folder from
    which this package was installed, since a notebook may run anywhere. Raises a FileNotFoundError
    if there is none.
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


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Add the name of the file to an OSError, since an error from a full disk has no name."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            error.filename = str(path)
        raise


def file_fault(error: OSError, file: Path | None = None) -> str:
    """Say which file is at fault and why; if the disk is full, also which file system.

    `file` is used if the error names no file.
    """
    path = error.filename or file
    return f"{path or 'the system'}: {error.strerror or error}{room(error, path)}"


def room(error: OSError, path: Path | str | None) -> str:
    """Return, in brackets, the free space of the file system if an error means that it is full.

    The text is empty for any other error, and if the path is not absolute.
    """
    if error.errno not in FULL or path is None or not Path(path).is_absolute():
        return ""
    place = mount_of(Path(path))
    return f" (the file system at {place} has {free_megabytes(place):.1f} MB left)"


def mount_of(path: Path) -> Path:
    """Return the top folder of the file system that a file is on, or would be."""
    place = path.resolve()
    while not place.is_mount():
        place = place.parent
    return place


def free_megabytes(folder: Path) -> float:
    """Return the free space of a file system for the user, in megabytes."""
    import shutil

    return shutil.disk_usage(folder).free / 1e6


def write_atomically(path: Path, content: str | bytes | Iterable[str]) -> None:
    """Write a file such that a reader sees the old content or the new, never a part.

    Content that is too large for memory can be given in pieces.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with naming(path):
            if isinstance(content, bytes):
                part.write_bytes(content)
            elif isinstance(content, str):
                part.write_bytes(content.encode())
            else:
                with part.open("wb") as file:
                    file.writelines(piece.encode() for piece in content)
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def write_if_changed(path: Path, content: str | bytes) -> bool:
    """Write a file unless it already has the content; return whether it was written.

    An unchanged file keeps its time stamp, by which Sphinx knows that a page is up to date.
    """
    data = content.encode() if isinstance(content, str) else content
    if path.is_file() and path.read_bytes() == data:
        return False
    write_atomically(path, data)
    return True


def mirror(files: Mapping[str, Path | str | bytes], target: Path) -> None:
    """Make a folder hold exactly the given files, and write only those that differ.

    The files are given by their paths inside the folder, with forward slashes; each is a file to
    copy, or the content itself.
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
    """Return the files below a folder by path, with forward slashes, without hidden files.

    Links to folders are followed, for example to data on another disk, unless they lead back.
    """
    found = []
    for here, folders, names in os.walk(folder, followlinks=True):
        place = Path(here)
        above = {*place.resolve().parents, *(step.resolve() for step in (place, *place.parents))}
        folders[:] = (
            name
            for name in folders
            if not name.startswith(".") and (place / name).resolve() not in above
        )
        found += [place / name for name in names if not name.startswith(".")]
    return {
        prefix + path.relative_to(folder).as_posix(): path
        for path in sorted(found)
        if path.is_file()
    }
