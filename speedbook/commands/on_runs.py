"""The commands on earlier runs: `compare`, `runs` and `runs clean`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from speedbook.commands.exit_codes import CommandError, ExitCode, end_with

runs = typer.Typer(rich_markup_mode=None)

Failed = Annotated[
    bool, typer.Option("--failed", help="Only runs that failed or were stopped before their end.")
]
Notebook = Annotated[
    str | None, typer.Option("--notebook", metavar="NOTEBOOK", help="Only runs of this notebook.")
]
Folder = Annotated[
    Path | None,
    typer.Option("--runs", metavar="DIR", help="The folder with run folders; by default, runs."),
]


def compare(
    a: Annotated[str, typer.Argument(metavar="A", help="A run, a sweep, `book` or `full`.")],
    b: Annotated[str, typer.Argument(metavar="B", help="What to compare it with.")],
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The folder for the page; by default, runs/comparisons."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Report differences only.")] = False,
) -> None:
    """Show two runs side by side, and what differs beyond noise.

    A and B are each the folder of a run, a folder of runs such as a sweep's, `book` for what the
    book has at the defaults, or `full` for its stored long runs. If two sweeps are compared, their
    points are paired by the parameters that vary.

    The difference of two records is given in standard errors, which follow from the records'
    intervals and levels. Beyond noise means: above a limit that noise alone exceeds, for one or
    more of all records compared, in at most 0.1 % of comparisons. The runs are taken as
    independent. Exact records differ if their numbers differ by more than rounding.

    Parameters, circumstances, verdicts, figures and tables are compared too. All of it goes into a
    page that opens offline and a JSON file. Exit code 1: a record differs beyond noise.
    """

    def command() -> ExitCode:
        from speedbook.commands.compare import Asked, compare_runs
        from speedbook.commands.reporter import Reporter

        return compare_runs(Asked(a, b, out), Reporter(quiet))

    raise end_with(command, "no file is half-written")


def _terminal() -> bool:
    return sys.stdin.isatty()


@runs.callback(invoke_without_command=True)
def list_them(
    context: typer.Context,
    failed: Failed = False,
    notebook: Notebook = None,
    folder: Folder = None,
) -> None:
    """List the runs, with what was changed, verdicts and time.

    The latest is first. A verdict that is not the book's is named. A sweep has one line. A run
    that is `unfinished` is at work or was killed.
    """

    def command() -> ExitCode:
        from speedbook.commands.reporter import Reporter
        from speedbook.commands.runs import Filter, list_runs

        return list_runs(Filter(folder, notebook, failed), Reporter())

    def refuse() -> ExitCode:
        raise CommandError(
            ExitCode.USAGE, f"write options after the word {context.invoked_subcommand}"
        )

    if context.invoked_subcommand is None:
        raise end_with(command, "nothing was changed")
    if failed or notebook or folder:
        raise end_with(refuse, "nothing was changed")


@runs.command()
def clean(
    failed: Failed = False,
    notebook: Notebook = None,
    folder: Folder = None,
    yes: Annotated[bool, typer.Option("--yes", help="Delete without the question.")] = False,
) -> None:
    """Delete runs, after a question.

    With the same options, `speedbook runs` lists these runs and also the runs of sweeps, which are
    not deleted. A folder is deleted only if it is inside the folder of runs and has the manifest of
    a run.
    """

    def ask(question: str) -> bool:
        if not yes and not _terminal():
            raise CommandError(
                ExitCode.USAGE,
                "nothing was deleted: there is no terminal for the question; to delete without it, "
                "add --yes",
            )
        return yes or typer.confirm(question)

    def command() -> ExitCode:
        from speedbook.commands.reporter import Reporter
        from speedbook.commands.runs import Filter, clean_runs

        return clean_runs(Filter(folder, notebook, failed), ask, Reporter())

    raise end_with(command, "the runs that were not yet deleted are still there")
