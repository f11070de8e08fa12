"""The exit codes of all commands, and how a command ends with one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import IntEnum

import typer


class ExitCode(IntEnum):
    """The exit codes of every command, as the help text of the program explains them."""

    WELL = 0
    #: A verdict, a repeated result or a data file differs.
    DIFFERS = 1
    #: Nothing ran.
    USAGE = 2
    #: A notebook, the press, a download or the disk failed.
    FAILED = 3
    INTERRUPTED = 130


class CommandError(Exception):
    """Why a command ends before its work is done; the text has a line for each fault."""

    def __init__(self, code: ExitCode, text: str) -> None:
        super().__init__(text)
        self.code = code


def failure(error: Exception | str) -> CommandError:
    """Return the end of a command whose work failed."""
    return CommandError(ExitCode.FAILED, str(error))


@contextmanager
def before_the_work() -> Iterator[None]:
    """Treat every fault that is found before anything runs as wrong usage."""
    try:
        yield
    except (ValueError, OSError) as error:
        raise CommandError(ExitCode.USAGE, str(error)) from None


def end_with(command: Callable[[], ExitCode], interrupted: str) -> typer.Exit:
    """Run a command, tell of its faults, and return what the program ends with.

    Parameters
    ----------
    command : callable
        Does the work.
    interrupted : str
        What to say after an interrupt.
    """
    try:
        return typer.Exit(command())
    except CommandError as error:
        lines, code = str(error).splitlines(), error.code
    except OSError as error:
        lines = [f"{error.filename or 'the system'}: {error.strerror or error}"]
        code = ExitCode.FAILED
    except (KeyboardInterrupt, typer.Abort):
        typer.echo(f"Interrupted: {interrupted}.", err=True)
        return typer.Exit(ExitCode.INTERRUPTED)
    prefix = "" if code is ExitCode.INTERRUPTED else "speedbook: "
    for place, line in enumerate(lines):
        # What belongs to the line above is indented already.
        indented = place and line.startswith(" ")
        typer.secho(line if indented else f"{prefix}{line}", err=True, fg="red")
    return typer.Exit(code)
