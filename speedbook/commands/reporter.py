"""Progress and results on the terminal: bars on a terminal, plain lines elsewhere.

Names are never broken. If a table is too wide for the terminal, its rows are printed as paragraphs.
If the output is not a terminal, no line is broken.
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.measure import Measurement
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from speedbook.commands.exit_codes import fall_silent

#: Columns where nothing says how many there are, as in a pipe.
ENDLESS = 100_000


class _Console(Console):
    """A console whose reader may go away."""

    def print(self, *objects: Any, **how: Any) -> None:
        try:
            super().print(*objects, **how)
        except OSError as error:
            # Otherwise Python would try to write the same text again when it ends.
            fall_silent(2 if self.stderr else 1)
            error.filename = "standard error" if self.stderr else "standard output"
            raise

    def on_broken_pipe(self) -> None:
        """Continue in silence if the reader (`| head`) has closed the pipe: the work is needed."""
        self.quiet = True
        fall_silent(2 if self.stderr else 1)


class Reporter:
    """Reports progress and results on standard output, and failures on standard error.

    If quiet, it reports only failures and what differs, on standard error.
    """

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        # Words in brackets or between colons are a user's text, not markup or emoji.
        plain: Any = {"soft_wrap": True, "highlight": False, "markup": False, "emoji": False}
        self.console = _Console(quiet=quiet, **plain)
        if not self.console.is_terminal and "COLUMNS" not in os.environ:
            self.console.width = ENDLESS
        self.errors = _Console(stderr=True, **plain)

    def say(self, text: str) -> None:
        """Print a text, unless quiet."""
        self.console.print(text)

    def table(self, title: str, table: Table) -> None:
        """Print a table of plain text; lines are broken only between words."""
        if title:
            self.say(title)
        if _fit(table, self.console):
            self.console.print(table)
        else:
            self.say("\n" + "\n\n".join(_paragraphs(table, self.console.width)))

    def fail(self, text: str) -> None:
        """Print a failure, even if quiet."""
        self.errors.print(text, style="red")

    def differs(self, text: str) -> None:
        """Print a result that differs: in its place among the others, or even if quiet."""
        if self.quiet:
            self.fail(text)
        else:
            self.console.print(text, style="red")

    @contextmanager
    def bar(
        self, title: str, total: int, time_left: bool = False
    ) -> Iterator[Callable[[str], None]]:
        """Show a bar; yields a function that advances the bar by one and prints what was done."""
        left = [TextColumn("about"), TimeRemainingColumn(), TextColumn("left")]
        with self._progress(*(left if time_left else [])) as progress:
            task = progress.add_task(title, total=total)

            def advance(text: str) -> None:
                progress.advance(task)
                self.say(f"  {text}")

            yield advance

    @contextmanager
    def steps(self, title: str, total: int) -> Iterator[Callable[[int, str], None]]:
        """Show a bar on a terminal; yields a function that sets the step, counted from 0."""
        if not self.console.is_terminal:
            self.say(title)
        with self._progress(TextColumn("{task.fields[step]}", markup=False)) as progress:
            task = progress.add_task(title, total=total, step="")
            yield lambda place, step: progress.update(task, completed=place, step=step)

    def _progress(self, *more: ProgressColumn) -> Progress:
        shown = self.console.is_terminal
        usual = TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn()
        columns = *usual, TimeElapsedColumn(), *more
        return Progress(
            *columns,
            console=self.console,
            disable=not shown,
            transient=True,
            # The time left is judged by everything since the start: a step may take minutes.
            speed_estimate_period=float("inf"),
        )

    @contextmanager
    def busy(self, title: str) -> Iterator[None]:
        """Show that a task is running."""
        if self.console.is_terminal:
            with self.console.status(Text(title)):
                yield
        else:
            self.say(title)
            yield


def _fit(table: Table, console: Console) -> bool:
    """Narrow a table to a console, no column below its longest word; return whether it fits."""
    endless = console.options.update_width(ENDLESS)
    cells = [[column.header, *column.cells] for column in table.columns]
    sizes = [[Measurement.get(console, endless, cell) for cell in column] for column in cells]
    least = [max(size.minimum for size in column) for column in sizes]
    widths = [max(size.maximum for size in column) for column in sizes]
    # What stands between the columns.
    excess = Measurement.get(console, endless, table).maximum - console.width
    if excess > sum(widths) - sum(least):
        return False
    for _ in range(excess):
        widest = max((w, i) for i, w in enumerate(widths) if w > least[i])[1]
        widths[widest] -= 1
    for column, width in zip(table.columns, widths, strict=True):
        column.width = width
    return True


def _paragraphs(table: Table, width: int) -> Iterator[str]:
    """Write each row below its first cell, a line or more for each other cell."""
    heads = [str(column.header) for column in table.columns]
    for cells in zip(*(column.cells for column in table.columns), strict=True):
        first, *rest = (" ".join(str(cell).split()) for cell in cells)
        lines = [f"{head}: {cell}" for head, cell in zip(heads[1:], rest, strict=True)]
        folded = (
            textwrap.fill(
                line,
                width,
                initial_indent="  ",
                subsequent_indent="    ",
                break_long_words=False,
                break_on_hyphens=False,
            )
            for line in lines
        )
        yield "\n".join([first, *folded])
