"""The command line. It imports what a command needs when the command runs: help comes at once."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

if TYPE_CHECKING:
    from speedbook.commands.reporter import Reporter

#: Documented in the help text of the program.
MOVED, USAGE, FAILED, INTERRUPTED = 1, 2, 3, 130

# Plain help: to colour it takes longer than to say it.
app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
data = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
app.add_typer(data, name="data", help="List the data sets, fetch one, or check their files.")


@app.callback()
def main() -> None:
    """Build the book from its notebooks, and run them again.

    Exit codes: 0 all is well, 1 a verdict, a repeated result or a data file differs, 2 wrong usage
    (nothing ran), 3 a notebook, the press or a download failed, 130 interrupted (Ctrl-C, SIGTERM).
    """
    # Whoever ends the program politely, a scheduler say, leaves as little behind as Ctrl-C does.
    signal.signal(signal.SIGTERM, signal.default_int_handler)


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
    from speedbook.commands.build import BuildError, build_book
    from speedbook.commands.reporter import Reporter
    from speedbook.paths import find_root

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


@app.command(add_help_option=False)
def rerun(
    context: typer.Context,
    notebook: Annotated[
        str | None,
        typer.Argument(metavar="NOTEBOOK", help="A path, or a short name: fig1a-unit-ball."),
    ] = None,
    assignments: Annotated[
        list[str] | None,
        typer.Option("-p", metavar="NAME=VALUE", help="Set a parameter; as often as you like."),
    ] = None,
    params: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Set what a YAML or JSON file says.")
    ] = None,
    paper: Annotated[
        bool, typer.Option("--paper", help="Set what notebooks/paper.yml says: a long run.")
    ] = False,
    manifest: Annotated[
        Path | None,
        typer.Option("--from", metavar="MANIFEST", help="Repeat a run, and compare the results."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where run folders go; by default, runs.")
    ] = None,
    cell_timeout: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="SECONDS", help="Time for each cell: 300, or 3600 with --paper."
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Tell of failures only.")] = False,
    show_help: Annotated[
        bool, typer.Option("--help", help="Show this, and the parameters of NOTEBOOK.")
    ] = False,
) -> None:
    """Run a notebook with other parameters, into a folder of its own.

    The folder holds the executed notebook, a page that opens offline, figures, records and tables,
    and a manifest to repeat the run from.

    What -p sets goes before --params, and that before --paper.
    """
    if show_help:
        typer.echo(context.get_help())
        raise typer.Exit(_parameter_help(notebook) if notebook else 0)
    try:
        from speedbook.commands.reporter import Reporter
        from speedbook.commands.rerun import Asked, rerun

        asked = Asked(notebook, assignments or (), params, paper, manifest, out, cell_timeout)
        code = rerun(asked, Reporter(quiet))
    except KeyboardInterrupt as stop:
        print(f"Interrupted: {str(stop) or 'before there was anything to keep'}.", file=sys.stderr)
        code = INTERRUPTED
    raise typer.Exit(code)


@app.command()
def verify(
    claims: Annotated[
        list[str] | None,
        typer.Argument(metavar="[CLAIM]...", help="Ids of book/claims.yml; by default, all."),
    ] = None,
    paper: Annotated[
        bool, typer.Option("--paper", help="Set what notebooks/paper.yml says: a long run.")
    ] = False,
    seeds: Annotated[
        int, typer.Option(min=1, help="More than 1: so many fresh seeds in place of the own.")
    ] = 1,
    store: Annotated[
        bool,
        typer.Option("--store", help="Write how many seeds agree to book/agreement.json."),
    ] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Notebooks to run at a time.")] = 2,
    quiet: Annotated[bool, typer.Option("--quiet", help="Tell of differences only.")] = False,
) -> None:
    """Compute verdicts anew and compare them with the committed ledger."""
    try:
        from speedbook.commands.reporter import Reporter
        from speedbook.commands.verify import Asked, verify

        code = verify(Asked(claims or (), paper, seeds, store, jobs), Reporter(quiet))
    except KeyboardInterrupt:
        print("Interrupted: nothing was stored.", file=sys.stderr)
        code = INTERRUPTED
    raise typer.Exit(code)


@data.command("list")
def data_list() -> None:
    """Say what the data sets are, under which terms, and where their files are."""
    from paper.datasets.command import list_datasets

    _end_data(lambda reporter: reporter.say(list_datasets()))


@data.command("fetch")
def data_fetch(
    name: Annotated[str, typer.Argument(metavar="NAME", help="As `speedbook data list` says it.")],
    agree: Annotated[
        bool, typer.Option("--agree", help="You know the terms and agree: do not ask.")
    ] = False,
) -> None:
    """Show the terms of a data set and, if you agree, fetch it into your cache."""
    from paper.datasets.command import fetch_dataset

    def ask() -> bool:
        if not agree and not sys.stdin.isatty():
            raise ValueError(
                "nothing was fetched, as there is no terminal to ask on whether you agree to the "
                "terms; if you do, say --agree"
            )
        return agree or typer.confirm("Do you agree to these terms?")

    _end_data(lambda reporter: fetch_dataset(name, ask, reporter.say))


@data.command("check")
def data_check(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="By default, all at hand.")
    ] = None,
) -> None:
    """Compare the files of the data sets with their SHA-256."""
    from paper.datasets.command import check_datasets

    _end_data(lambda reporter: check_datasets(names or (), reporter.say, reporter.fail))


def _end_data(act: Callable[[Reporter], bool | None]) -> NoReturn:
    """End the program by how a `data` command ends; one that returns False found a difference."""
    from paper.datasets import DatasetError
    from speedbook.commands.reporter import Reporter

    reporter = Reporter()
    try:
        code = MOVED if act(reporter) is False else 0
    except (ValueError, DatasetError) as error:
        reporter.fail(f"speedbook: {error}")
        code = USAGE if isinstance(error, ValueError) else FAILED
    except (KeyboardInterrupt, typer.Abort):
        print("Interrupted: nothing was fetched.", file=sys.stderr)
        code = INTERRUPTED
    raise typer.Exit(code)


def _parameter_help(notebook: str) -> int:
    from speedbook.commands.reporter import Reporter
    from speedbook.notebook.find import find_notebook, parameter_table, shelf_parameters
    from speedbook.paths import find_root

    reporter = Reporter()
    try:
        root = find_root(Path.cwd())
        name = find_notebook(root, notebook)
        reporter.console.print(parameter_table(name, shelf_parameters(root, name)))
    except (ValueError, OSError) as error:
        reporter.fail(f"speedbook: {error}")
        return USAGE
    return 0
