"""Help and tables on terminals of any width, and in pipes: no name is ever broken."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.table import Table
from typer.testing import CliRunner

from speedbook.commands.app import app
from speedbook.commands.reporter import ENDLESS, Reporter
from speedbook.notebook.find import notebook_names, parameter_table, parameters_of
from speedbook.notebook.values import as_shown

ROOT = Path(__file__).parents[2]
WIDTHS = [40, 60, 80, 200]
#: Of a table or its paragraphs.
FRAME = {"Type:", "Default:", "Meaning:", "Name", "Type", "Default", "Meaning"}


def words(text: str) -> list[str]:
    kept = (word for word in text.split() if word not in FRAME and set(word) != {"─"})
    return sorted(kept)


@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS)
def test_the_help_of_no_notebook_breaks_a_name(width, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(width))
    for name in notebook_names(ROOT):
        parameters = parameters_of(ROOT, name)
        Reporter().table(f"Parameters of {name}", parameter_table(parameters))
        said = capsys.readouterr().out
        whole = ["Parameters of", name]
        for p in parameters:
            meaning = f"{p.help}; {p.rule}" if p.rule else p.help
            whole += [p.name, p.type, as_shown(p.default), meaning]
        assert words(said) == words(" ".join(whole)), name
        longest = max(map(len, words(" ".join(whole)[len("Parameters of ") :])))
        lines = [line.rstrip() for line in said.splitlines()[1:]]
        assert all(len(line) <= max(width, longest + 4 + len("Default:")) for line in lines), name


@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    "command",
    [
        [],
        ["build"],
        ["rerun"],
        ["verify"],
        ["compare"],
        ["runs"],
        ["runs", "clean"],
        ["data"],
        ["data", "fetch"],
    ],
)
def test_the_help_of_no_command_breaks_a_name(command, width, monkeypatch):
    def said(columns: int) -> list[str]:
        monkeypatch.setenv("COLUMNS", str(columns))
        result = CliRunner().invoke(app, [*command, "--help"])
        assert result.exit_code == 0
        # Of a list of commands a narrow terminal shows the beginnings.
        return str(result.output).split("Commands:")[0].split()

    assert said(width) == said(200)


def test_the_list_of_commands_is_whole_where_there_are_eighty_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert "..." not in CliRunner().invoke(app, ["--help"]).output.split("Commands:")[1]


@pytest.mark.slow
def test_a_pipe_has_no_width(monkeypatch, capsys):
    monkeypatch.delenv("COLUMNS", raising=False)
    for name in notebook_names(ROOT):
        parameters = parameters_of(ROOT, name)
        Reporter().table("", parameter_table(parameters))
        lines = [line.split() for line in capsys.readouterr().out.splitlines()]
        for p in parameters:
            meaning = f"{p.help}; {p.rule}" if p.rule else p.help
            row = " ".join([p.name, p.type, as_shown(p.default), meaning]).split()
            assert row in lines, (name, p.name)


@pytest.mark.parametrize("width", [10, 24, 30, 50, ENDLESS])
def test_any_table_keeps_its_words_and_its_markup_like_letters(width, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(width))
    table = Table("Claim", "Verdict")
    cells = ["prop-1-of-a-long-name", "consistent over the measured range\n1.5 (1.4 to 1.6)"]
    table.add_row(*cells)
    Reporter().table("", table)
    said = capsys.readouterr().out
    assert set(" ".join(cells).split()) <= set(said.split())


@pytest.mark.slow
def test_the_table_of_verify_keeps_every_id(monkeypatch, capsys):
    from speedbook.claims.ledger import read_ledger
    from speedbook.claims.registry import load_registry
    from speedbook.commands.verify import _table

    claims, committed = load_registry(ROOT).claims, read_ledger(ROOT)["claims"]
    records = {claim.id: [committed[claim.id]] * 2 for claim in claims}
    for width in WIDTHS:
        monkeypatch.setenv("COLUMNS", str(width))
        Reporter().table("", _table(claims, committed, records))
        said = capsys.readouterr().out.split()
        assert {claim.id for claim in claims} <= set(said)
        assert not [word for word in said if "…" in word]


#: How a phrase begins that leans on the name before it, or on the line above.
LEANING = frozenset("of its their this these that what it under to in from at by for with".split())


@pytest.mark.slow
def test_the_help_of_a_parameter_stands_by_itself():
    faults = [
        f"{name}: {p.name}: {p.help}"
        for name in notebook_names(ROOT)
        for p in parameters_of(ROOT, name)
        if p.help.split()[0] in LEANING or len(p.help) < len("budgets n")
    ]
    assert not faults
