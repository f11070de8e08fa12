"""The command line. Each command imports what it needs when it runs, so help appears quickly."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from speedbook.commands.exit_codes import (
    CommandError,
    ExitCode,
    before_the_work,
    end_with,
    failure,
    heed_signals,
)
from speedbook.commands.on_runs import compare, runs

if TYPE_CHECKING:
    from speedbook.commands.reporter import Reporter

# Plain help: colouring it would take longer than printing it.
app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
data = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
app.add_typer(data, name="data", help="List the data sets, fetch one, or check their files.")
app.add_typer(runs, name="runs")


@app.callback()
def main() -> None:
    """Build the book from its notebooks, and run them again.

    Exit codes: 0 success, 1 a verdict, a result or a data file differs, 2 wrong usage
    (nothing ran), 3 a notebook, the build, a download or the disk failed, 4 another command is at
    work in the same folder (nothing ran), 129 the terminal was closed (SIGHUP), 130 interrupted
    (Ctrl-C, SIGTERM).
    """
    heed_signals()


def _notebooks(incomplete: str) -> list[str]:
    """Complete the short name of a notebook, for the shell."""
    from speedbook.notebook.find import notebook_names
    from speedbook.paths import find_root

    try:
        names = notebook_names(find_root(Path.cwd()))
    except OSError:
        return []
    return [Path(name).stem for name in names if Path(name).stem.startswith(incomplete)]


def _renamed(given: bool) -> None:
    if given:
        names = "--paper is now called --full, and notebooks/paper.yml is notebooks/full.yml"
        typer.secho(f"speedbook: {names}", err=True, fg="red")
        raise typer.Exit(ExitCode.USAGE)


class _Assigning(TyperCommand):
    """A command with ``-p NAME=VALUE``, which says so if name and value are two arguments."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        for flag, name, value in zip(args, args[1:], args[2:], strict=False):
            if flag == "-p" and "=" not in name and not value.startswith("-"):
                said = f"-p: must read name=value, in one argument; got {name!r} and {value!r}"
                raise typer.BadParameter(said, ctx)
        return super().parse_args(ctx, args)


Notebook = Annotated[
    str | None,
    typer.Argument(
        metavar="NOTEBOOK",
        help="A short name such as fig1a-unit-ball, or a path.",
        autocompletion=_notebooks,
    ),
]
CellTimeout = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="SECONDS",
        help="Time limit for each cell; by default 300, or 3600 with --full.",
    ),
]
Full = Annotated[
    bool, typer.Option("--full", help="Use the parameters in notebooks/full.yml: a long run.")
]
Paper = Annotated[bool, typer.Option("--paper", hidden=True, callback=_renamed)]
Quiet = Annotated[bool, typer.Option("--quiet", help="Report failures only.")]


@app.command()
def build(
    refresh: Annotated[
        bool,
        typer.Option(
            "--refresh",
            help="Also rewrite the committed notebooks and book/ledger.json where they changed.",
        ),
    ] = False,
    full: Annotated[
        bool,
        typer.Option(
            "--full",
            help="Make no book. Run the notebooks in notebooks/full.yml with the parameters there, "
            "about half an hour, and store the results in book/full.json.",
        ),
    ] = False,
    jobs: Annotated[int, typer.Option(min=1, help="How many notebooks run at the same time.")] = 2,
    quiet: Quiet = False,
) -> None:
    """Run what changed, derive the ledger, and make the book.

    Its first page is _build/html/index.html.

    With --full, results are stored after each notebook: the same command continues after an
    interrupt, and runs only what is missing or stale. Exit code 1: a verdict contradicts the one
    at the defaults.
    """

    def command() -> ExitCode:
        from speedbook.commands.build import build_book
        from speedbook.commands.reporter import Reporter
        from speedbook.paths import find_root

        reporter = Reporter(quiet)
        with before_the_work():
            root = find_root(Path.cwd())
            if full and refresh:
                raise ValueError("--full and --refresh: give one at a time")
        if full:
            from speedbook.commands.full import build_full

            return build_full(root, jobs, reporter)
        page = build_book(root, refresh=refresh, workers=jobs, reporter=reporter)
        reporter.say(f"The book is ready: {page.as_uri()}")
        return ExitCode.WELL

    raise end_with(command, "finished work is kept, and no file is half-written")


@app.command(cls=_Assigning, add_help_option=False)
def rerun(
    context: typer.Context,
    notebook: Notebook = None,
    assignments: Annotated[
        list[str] | None,
        typer.Option("-p", metavar="NAME=VALUE", help="Set a parameter; may be repeated."),
    ] = None,
    params: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Set the parameters in a YAML or JSON file.")
    ] = None,
    full: Full = False,
    paper: Paper = False,
    manifest: Annotated[
        Path | None,
        typer.Option("--from", metavar="MANIFEST", help="Repeat a run, and compare the results."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The folder for run folders; by default, runs."),
    ] = None,
    cell_timeout: CellTimeout = None,
    quiet: Quiet = False,
    show_help: Annotated[
        bool, typer.Option("--help", help="Show this help, and the parameters of NOTEBOOK.")
    ] = False,
) -> None:
    """Run a notebook with other parameters, into a new folder.

    The folder holds the executed notebook, a page that opens offline, figures, records and tables,
    and a manifest from which the run can be repeated.

    If a parameter is set more than once, -p overrides --params, and --params overrides --full.
    """
    if show_help:
        typer.echo(context.get_help())
        raise _parameter_help(notebook) if notebook else typer.Exit()

    def command() -> ExitCode:
        from speedbook.commands.reporter import Reporter
        from speedbook.commands.rerun import Rerun, rerun

        values = assignments or ()
        asked = Rerun(notebook, values, params, full, manifest, out, cell_timeout)
        return rerun(asked, Reporter(quiet))

    raise end_with(command, "there was nothing to keep yet")


@app.command(name="sweep", cls=_Assigning)
def sweep_command(
    notebook: Notebook = None,
    assignments: Annotated[
        list[str] | None,
        typer.Option(
            "-p",
            metavar="NAME=VALUES",
            help="Values of a parameter: 3,4,5, or 0.1:1.0:4 for 4 evenly spaced ones, or whole "
            "lists, [1,2],[3]; may be repeated.",
        ),
    ] = None,
    points: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Run the rows of a CSV file; its first line names the parameters."
        ),
    ] = None,
    params: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Set parameters for all points, in a YAML or JSON file."),
    ] = None,
    full: Full = False,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="How many points run at the same time here; by default 2."),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Run on the Dask cluster with this scheduler."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The folder of the sweep; by default below runs/sweeps."),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Continue the sweep in this folder; give no NOTEBOOK then."
        ),
    ] = None,
    recompute: Annotated[
        bool,
        typer.Option(
            "--recompute", help="Compute the finished points again, with the code as it is now."
        ),
    ] = False,
    cell_timeout: CellTimeout = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="List the points and the time that they will take, and run nothing."
        ),
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Run a notebook at many points, and join the results.

    The points are every combination of the values. Their results become one table (CSV) and one
    page. Finished points are kept whatever happens: the same command continues after an interrupt,
    a crash or a power cut. If a point fails, the other points still run, and the exit code is 3.
    """

    def command() -> ExitCode:
        from speedbook.commands.reporter import Reporter
        from speedbook.commands.sweep import Options, sweep

        asked = Options(
            notebook,
            assignments or (),
            points,
            params,
            full,
            jobs,
            scheduler,
            out,
            resume,
            recompute,
            cell_timeout,
            dry_run,
        )
        return sweep(asked, Reporter(quiet))

    raise end_with(command, "finished points are kept, and the same command continues")


@app.command()
def live(
    port: Annotated[
        int,
        typer.Option(min=0, max=65535, help="The port of the pages; by default, a free one."),
    ] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address, and open no browser.")
    ] = False,
) -> None:
    """Serve the built book, so its pages can run with other parameters.

    Only a person who has the printed address can run code here. Both servers listen on 127.0.0.1
    alone. Ctrl-C or SIGTERM ends the servers and all kernels, with exit code 0.
    """

    def command() -> ExitCode:
        from speedbook.commands.live import live
        from speedbook.commands.reporter import Reporter

        return live(port, not no_browser, Reporter())

    raise end_with(command, "nothing was served yet")


@app.command()
def verify(
    claims: Annotated[
        list[str] | None,
        typer.Argument(metavar="CLAIM", help="Claim ids from book/claims.yml; by default, all."),
    ] = None,
    full: Full = False,
    paper: Paper = False,
    seeds: Annotated[
        int,
        typer.Option(
            min=1, help="How many seeds; with 2 or more, fresh ones replace the notebook's own."
        ),
    ] = 1,
    store: Annotated[
        bool,
        typer.Option("--store", help="Write how many seeds agree to book/agreement.json."),
    ] = False,
    jobs: Annotated[int, typer.Option(min=1, help="How many notebooks run at the same time.")] = 2,
    quiet: Annotated[bool, typer.Option("--quiet", help="Report differences only.")] = False,
) -> None:
    """Compute verdicts again, and compare them with the ledger.

    With --full, verdicts are compared with the stored results of the long setting, book/full.json.
    """

    def command() -> ExitCode:
        from speedbook.commands.reporter import Reporter
        from speedbook.commands.verify import Verification, verify

        asked = Verification(claims or (), full, seeds, store, jobs)
        return verify(asked, Reporter(quiet))

    kept = "the claims whose seeds had all run are stored" if store else "nothing was stored"
    raise end_with(command, kept)


app.command()(compare)


@data.command("list")
def data_list() -> None:
    """List the data sets, their terms of use, and where their files are."""
    from paper.datasets.command import list_datasets

    raise _data(lambda reporter: reporter.say(list_datasets()))


@data.command("fetch")
def data_fetch(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name from `speedbook data list`.")],
    agree: Annotated[
        bool, typer.Option("--agree", help="Accept the terms without being prompted.")
    ] = False,
) -> None:
    """Show the terms of a data set and, if you agree, fetch it into your cache."""
    from paper.datasets.command import fetch_dataset

    def ask() -> bool:
        if not agree and not sys.stdin.isatty():
            raise ValueError(
                "nothing was fetched: the terms must be accepted, and there is no terminal for the "
                "prompt; if you accept them, add --agree"
            )
        return agree or typer.confirm("Do you agree to these terms?")

    raise _data(lambda reporter: fetch_dataset(name, ask, reporter.say))


@data.command("check")
def data_check(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME", help="The data sets to check; by default, all whose files are here."
        ),
    ] = None,
) -> None:
    """Check the files of the data sets against their SHA-256."""
    from paper.datasets.command import check_datasets

    raise _data(lambda reporter: check_datasets(names or (), reporter.say, reporter.fail))


def _data(act: Callable[[Reporter], bool | None]) -> typer.Exit:
    """Return the exit of a `data` command; if it returns False, it found a difference."""

    def command() -> ExitCode:
        from paper.datasets import DatasetError
        from speedbook.commands.reporter import Reporter

        try:
            return ExitCode.DIFFERS if act(Reporter()) is False else ExitCode.WELL
        except ValueError as error:
            raise CommandError(ExitCode.USAGE, str(error)) from None
        except DatasetError as error:
            raise failure(error) from None

    return end_with(command, "nothing was fetched")


def _parameter_help(notebook: str) -> typer.Exit:
    def command() -> ExitCode:
        from speedbook.commands.reporter import Reporter
        from speedbook.notebook.find import find_notebook, parameter_table, parameters_of
        from speedbook.paths import find_root

        with before_the_work():
            root = find_root(Path.cwd())
            name = find_notebook(root, notebook)
            table = parameter_table(parameters_of(root, name))
        Reporter().table(f"Parameters of {name}", table)
        return ExitCode.WELL

    return end_with(command, "nothing ran")
