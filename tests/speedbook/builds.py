"""``speedbook build`` within this process."""

from __future__ import annotations

from typer.testing import CliRunner

from speedbook.commands.app import app


def build(*arguments, code=0):
    result = CliRunner().invoke(app, ["build", *arguments])
    assert result.exit_code == code, result.output
    return " ".join(result.output.split())
