"""``speedbook live``: the built book, with a kernel for each page that requests one."""

from __future__ import annotations

import webbrowser
from contextlib import suppress
from pathlib import Path

from speedbook.commands.exit_codes import ExitCode, before_the_work, failure
from speedbook.commands.reporter import Reporter
from speedbook.paths import file_fault, find_root
from speedbook.run.live import Live, built_book, serve

#: Printed below the address.
HOW = (
    "On the page of a notebook, change a number and run it. Keep this address secret: "
    "a person who has it can run code here,\nwith your rights. "
    "Ctrl-C ends the live book and all its kernels."
)


def live(port: int, browser: bool, reporter: Reporter) -> ExitCode:
    """Serve the book until it is ended, and return the exit code."""
    with before_the_work():
        root = find_root(Path.cwd())
        html = built_book(root)

    def ready(address: str) -> None:
        reporter.say(f"The live book: {address}\n{HOW}")
        if browser:
            webbrowser.open(address)

    try:
        serve(Live(root, html, port), ready)
    except OSError as error:
        raise failure(file_fault(error)) from None
    # The terminal may be closed by now.
    with suppress(OSError):
        reporter.say("Ended, with all kernels.")
    return ExitCode.WELL
