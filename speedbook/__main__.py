"""``python -m speedbook`` is the command ``speedbook``."""

from __future__ import annotations

from speedbook.commands.app import app

if __name__ == "__main__":
    app(prog_name="speedbook")
