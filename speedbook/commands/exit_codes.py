"""The exit codes of all commands, and how a command ends with one of them."""

from __future__ import annotations

import os
import signal
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import IntEnum

import typer

from speedbook.paths import file_fault
from speedbook.run.lock import Busy


class ExitCode(IntEnum):
    """The exit codes of every command, as the help text of the program explains them."""

    WELL = 0
    #: A verdict, a repeated result or a data file differs.
    DIFFERS = 1
    #: Nothing ran.
    USAGE = 2
    #: A notebook, the build, a download or the disk failed.
    FAILED = 3
    #: Another command writes in the same folder. Nothing ran.
    BUSY = 4
    HUNG_UP = 129
    INTERRUPTED = 130


class HungUp(KeyboardInterrupt):
    """The terminal is gone (SIGHUP)."""


def heed_signals() -> None:
    """Let SIGTERM, which schedulers send, and SIGHUP end a command as Ctrl-C does."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # A command that was started with nohup is meant to continue.
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, _hang_up)


def _hang_up(*_: object) -> None:
    # A second signal, as from shell and terminal, must not disturb the end.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    for number in (1, 2):
        with suppress(OSError):
            if stat.S_ISCHR(os.fstat(number).st_mode):
                fall_silent(number)
    raise HungUp


def fall_silent(number: int) -> None:
    """Discard all that is written to standard output (1) or standard error (2).

    Nobody can read this stream any more, and every attempt to write to it would raise another
    error.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)


def interrupted_by(error: BaseException | None) -> ExitCode:
    """Return the exit code of a command that a signal ended."""
    return ExitCode.HUNG_UP if isinstance(error, HungUp) else ExitCode.INTERRUPTED


class CommandError(Exception):
    """A command ends before its work is done; the text has a line for each fault."""

    def __init__(self, code: ExitCode, text: str) -> None:
        super().__init__(text)
        self.code = code


def failure(error: Exception | str) -> CommandError:
    """Return the error with which a command ends if its work failed."""
    return CommandError(ExitCode.FAILED, str(error))


@contextmanager
def before_the_work() -> Iterator[None]:
    """Report every fault that is found before anything runs as wrong usage."""
    try:
        yield
    except (ValueError, OSError) as error:
        raise CommandError(ExitCode.USAGE, str(error)) from None


def end_with(command: Callable[[], ExitCode], interrupted: str) -> typer.Exit:
    """Run a command, report its faults, and return the exit of the program.

    Parameters
    ----------
    command : callable
        Does the work and returns the exit code.
    interrupted : str
        What to say after an interrupt.
    """
    try:
        return typer.Exit(command())
    except CommandError as error:
        lines, code = str(error).splitlines(), error.code
    except Busy as error:
        lines, code = [str(error)], ExitCode.BUSY
    except OSError as error:
        lines, code = [file_fault(error)], ExitCode.FAILED
    except (KeyboardInterrupt, typer.Abort) as error:
        lines, code = [f"Interrupted: {interrupted}."], interrupted_by(error)
    stopped = code in (ExitCode.INTERRUPTED, ExitCode.HUNG_UP)
    for place, line in enumerate(lines):
        # What belongs to the line above is indented already.
        indented = place and line.startswith(" ")
        text = line if indented or stopped else f"speedbook: {line}"
        try:
            typer.secho(text, err=True, fg=None if stopped else "red")
        except OSError:
            fall_silent(2)
    return typer.Exit(code)
