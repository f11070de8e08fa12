"""The command line. It imports what a command needs when the command runs: help comes at once."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

#: Documented in the help text of the program.
USAGE, FAILED, INTERRUPTED = 2, 3, 130

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)


@app.callback()
def main() -> None:
    """Build the book from its notebooks.

    Exit codes: 0 all is well, 2 wrong usage, 3 a notebook or the press failed, 130 interrupted.
    """


@app.command()
def build(
    refresh: Annotated[
        bool,
        typer.Option(
            "--refresh",
            help="Also rewrite the committed notebooks and book/ledger.json where they changed.",
        ),
    ] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Notebooks to run at a time.")] = 2,
    quiet: Annotated[bool, typer.Option("--quiet", help="Tell of failures only.")] = False,
) -> None:
    """Execute what changed, derive the ledger and press the book into _build/html."""
    try:
        code = _build(refresh, jobs, quiet)
    except KeyboardInterrupt:
        print("Interrupted: what was finished is kept, nothing is half-written.", file=sys.stderr)
        code = INTERRUPTED
    raise typer.Exit(code)


def _build(refresh: bool, jobs: int, quiet: bool) -> int:
    from speedbook.build import BuildError, build_book
    from speedbook.paths import find_root
    from speedbook.progress import Reporter

    reporter = Reporter(quiet)
    try:
        root = find_root(Path.cwd())
    except FileNotFoundError as error:
        reporter.fail(f"speedbook: {error}")
        return USAGE
    try:
        page = build_book(root, refresh=refresh, workers=jobs, reporter=reporter)
    except BuildError as error:
        reporter.fail(f"speedbook: {error}")
        return FAILED
    except OSError as error:
        reporter.fail(f"speedbook: {error.filename or 'the system'}: {error.strerror or error}")
        return FAILED
    reporter.say(f"The book is ready: {page.as_uri()}")
    return 0
