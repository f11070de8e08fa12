"""One command at a time writes below ``_build``, or rewrites committed files.

The lock is the operating system's, on the file ``_build/lock``: it ends with the process that holds
it, even when that is killed. What the file says is for people, and only shows who holds the lock,
or who held it and did not come to its end.

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

#: Below the top folder of the book, so that nothing else of it need be writable.
LOCK = "_build/lock"
#: What file systems without locks answer.
NO_LOCKS = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP})
#: What they answer where another process holds the lock.
TAKEN = frozenset({errno.EAGAIN, errno.EACCES})
#: As in `speedbook.commands.exit_codes`, which stands above.
BUSY, FAILED = 4, 3


class Busy(Exception):
    """Another command holds the lock; the text says which, and what to do."""


@contextmanager
def only_one(root: Path, command: str, say: Callable[[str], object]) -> Iterator[None]:
    """Hold the lock of a book.

    Parameters
    ----------
    root : Path
        The top folder of the book.
    command : str
        What takes the lock, as others are to read it.
    say : callable
        Takes a sentence where an earlier command was killed, or where the file system has no locks.

    Raises
    ------
    Busy
        If another command holds it.
    OSError
        If there can be no such file.
    """
    path = root / LOCK
    with _open(path, say) as file:
        try:
            if earlier := _holder(file):
                say(f"The lock is taken over from a command that ended without its own: {earlier}.")
            now = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC"
            holder = f"{command}, process {os.getpid()} on {platform.node()}, since {now}"
            with naming(path):
                file.truncate(0)
                file.write(holder.encode())
                file.flush()
            yield
        finally:
            file.truncate(0)


def _open(path: Path, say: Callable[[str], object]) -> BinaryIO:
    """Return the locked file; no other process can lock it until it is closed."""
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+b")
        try:
            _lock(file)
            # It may have been removed, or made again, before the lock was ours.
            if path.exists() and os.path.samestat(os.fstat(file.fileno()), path.stat()):
                return file
        except OSError as error:
            if error.errno in NO_LOCKS:
                say(f"{path}: its file system has no locks; run no second command in this folder.")
                return file
            holder = _holder(file)
            file.close()
            if error.errno not in TAKEN:
                raise OSError(error.errno, error.strerror, str(path)) from None
            raise Busy(
                f"{path}: another command works in this folder ({holder or 'it has just begun'}); "
                "nothing was done: wait until it ends, or end it, and try again"
            ) from None
        file.close()


def _holder(file: BinaryIO) -> str:
    file.seek(0)
    return file.read().decode(errors="replace").strip()


if sys.platform == "win32":
    import msvcrt

    def _lock(file: BinaryIO) -> None:
        # Nobody may read what is locked: so it is a byte behind the text.
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
