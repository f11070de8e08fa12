"""``python -m speedbook`` is the command ``speedbook``."""

from __future__ import annotations

from speedbook.cli import app

if __name__ == "__main__":
    app(prog_name="speedbook")
