"""Text that is a user's is shown as it is written: in Markdown, on a run's page, on a terminal."""

from __future__ import annotations

import io
import re
from typing import Any

import pandas as pd
import pytest
from hypothesis import example, given, settings
from markdown_it import MarkdownIt
from nbformat.v4 import new_code_cell, new_output

from speedbook.commands.reporter import Reporter
from speedbook.notebook.find import parameter_table
from speedbook.notebook.parameters import Parameter
from speedbook.press.displayed import displayed
from speedbook.text import in_markdown, visible

from ..written import AWKWARD, names, not_code, read, said
from .test_run_page import page

#: What MathJax takes for the beginning of a formula, by one setting or another.
FORMULA = re.compile(r"\$|\\[(\[]|\\begin")
#: Where a name may stand.
PLACES = ("{}", "the {} of", "- is **{}**: 3", "# {}", "> {}", "| a |\n|---|\n| {} |")
READERS = {
    "commonmark": MarkdownIt("commonmark").enable("table").render,
    "GitHub's": MarkdownIt("gfm-like", {"linkify": False}).render,
    "a run's page": displayed,
}


def check(name: str) -> None:
    for place in PLACES:
        marks = said(re.sub(r"[|>#*-]|^\| a \|\n.*\n", "", place.replace("| a |\n|---|\n", "")))
        above = "a " if "|---|" in place else ""
        for reader, render in READERS.items():
            html = render(place.format(in_markdown(name)))
            assert read(html) == said(above + marks.replace("{}", name)), (reader, html)
            assert not any(FORMULA.search(text) for text in not_code(html)), (reader, html)
            # What the place itself makes is all that there is, and code.
            plain = render(place.format("name"))
            tags = re.compile(r"<(?!/?code)/?\w+")
            assert tags.findall(html) == tags.findall(plain), (reader, html)


@pytest.mark.parametrize("name", AWKWARD)
def test_markdown_shows_an_awkward_name_as_written(name: str) -> None:
    check(name)


@pytest.mark.slow
@settings(max_examples=50)
@given(names)
@example("`")
@example("$`$")
@example("\\")
@example("123456789. x")
def test_markdown_shows_any_name_as_written(name: str) -> None:
    check(name)


@pytest.mark.parametrize("name", ["wine", "residual sugar", "example-data.csv", "α (mg/l), 3.5 %"])
def test_an_ordinary_name_stays_as_it_is(name: str) -> None:
    assert in_markdown(name) == visible(name) == name


@pytest.mark.slow
@pytest.mark.parametrize("name", AWKWARD)
def test_a_run_page_shows_names_in_tables_and_values_as_written(name: str) -> None:
    table = pd.DataFrame({name: [1.5]}, index=[name])
    data = {"text/html": table.to_html(), "text/plain": "table"}
    html = page(
        new_code_cell("f()", outputs=[new_output("display_data", data=data)]),
        values={"log_file": name, "leave_out": [name]},
        facts=[f"with log_file = {name}"],
        failure=f"ValueError: {name}",
    ).partition("<body>")[2]
    assert read(html).count(said(name)) >= 6
    assert not any(FORMULA.search(text) for text in not_code(html))


WORDS = ("[red]x[/red] :key: [/] $a$ {} %s", "[bold]", "a\\[b]")


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_shows_what_is_said_as_written(words: str, terminal: bool) -> None:
    reporter, file = Reporter(), io.StringIO()
    for console in (reporter.console, reporter.errors):
        console.file, console._force_terminal, console.is_interactive = file, terminal, terminal
    tells: list[Any] = [reporter.say, reporter.fail]
    for tell in tells:
        tell(words)
        assert words in taken(file)
    with reporter.bar(words, 2) as advance:
        advance(words)
    assert words in taken(file)
    with reporter.steps(words, 2) as at:
        at(1, words)
    assert taken(file).count(words) >= 1
    with reporter.busy(words):
        pass
    assert words in taken(file)


def taken(file: io.StringIO) -> str:
    text = re.sub(r"\x1b\[[\d;?]*\w", "", file.getvalue())
    file.seek(0)
    file.truncate()
    return text


@pytest.mark.parametrize("words", WORDS)
def test_the_help_shows_parameters_as_written(words: str, capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    Reporter().table(words, parameter_table([Parameter("name", "str", words, words)]))
    assert capsys.readouterr().out.count(words) == 3
