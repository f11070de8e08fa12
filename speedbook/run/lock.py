"""One command at a time writes below ``_build``, or rewrites committed files.

The lock is the operating system's, on the file ``_build/lock``: it ends with the process that holds
it, even if that is killed. The text in the file is only for people to read. It says which command
holds the lock, or held it and was killed.

``python -m speedbook.run.lock COMMAND ...`` runs a program while it holds the lock of the current
folder, for ``make clean``.
"""

from __future__ import annotations

import errno
import os
import platform
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from speedbook.paths import naming

#: Below ``_build``, so nothing else in the book's folder has to be writable.
LOCK = "_build/lock"
#: The errors of file systems without locks.
NO_LOCKS = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP})
#: The errors if another process holds the lock.
TAKEN = frozenset({errno.EAGAIN, errno.EACCES})
#: As in `speedbook.commands.exit_codes`, which is in a higher layer.
BUSY, FAILED = 4, 3


class Busy(Exception):
    """Another command holds the lock; the text says which, and what to do."""


@contextmanager
def only_one(
    root: Path, command: str, say: Callable[[str], object], file: str = LOCK
) -> Iterator[None]:
    """Hold the lock of a book.

    Parameters
    ----------
    root : Path
        The top folder of the book.
    command : str
        The command that takes the lock, as the messages of other commands name it.
    say : callable
        A function that gets a sentence if an earlier command was killed or the file system has no
        locks.
    file : str
        The file of the lock, below `root`.

    Raises
    ------
    Busy
        If another command holds it.
    OSError
        If the file cannot be made.
    """
    path = root / file
    with _open(path, say) as opened:
        try:
            if earlier := _holder(opened):
                say(f"An earlier command was killed; its lock is taken over: {earlier}.")
            now = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC"
            holder = f"{command}, process {os.getpid()} on {platform.node()}, since {now}"
            with naming(path):
                opened.truncate(0)
                opened.write(holder.encode())
                opened.flush()
            yield
        finally:
            opened.truncate(0)


def _open(path: Path, say: Callable[[str], object]) -> BinaryIO:
    """Return the locked file; no other process can lock it until it is closed."""
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+b")
        try:
            _lock(file)
            # The file may have been removed, or made again, before it was locked.
            if path.exists() and os.path.samestat(os.fstat(file.fileno()), path.stat()):
                return file
        except OSError as error:
            if error.errno in NO_LOCKS:
                say(f"{path}: the file system has no locks; run one command at a time here.")
                return file
            holder = _holder(file)
            file.close()
            if error.errno not in TAKEN:
                raise OSError(error.errno, error.strerror, str(path)) from None
            raise Busy(
                f"{path}: another command is at work in this folder ({holder or 'just begun'}), so "
                "nothing was done: wait until it ends, or end it, and try again"
            ) from None
        file.close()


def _holder(file: BinaryIO) -> str:
    file.seek(0)
    return file.read().decode(errors="replace").strip()


if sys.platform == "win32":
    import msvcrt

    def _lock(file: BinaryIO) -> None:
        # Locked bytes cannot be read, so the lock is on a byte after the text.
        file.seek(1 << 20)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: BinaryIO) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _main(program: list[str]) -> int:
    import subprocess

    try:
        with only_one(Path.cwd(), "make clean", print):
            return subprocess.call(program)
    except Busy as error:
        print(f"speedbook: {error}", file=sys.stderr)
        return BUSY
    except OSError as error:
        print(f"speedbook: {error.filename}: {error.strerror}", file=sys.stderr)
        return FAILED


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
