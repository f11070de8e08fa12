"""A small table of actions for the tests of live experiments from tables."""

from __future__ import annotations

from pathlib import Path

from speedlib.live import Actions, read_actions

ACTIONS = "action,size,colour,probability\nred,1,0,0.5\nblue, 0, 1 ,0.3\ngrey,1,1,0.2\n"
NAMES = ("red", "blue", "grey")


def read_table(folder: Path) -> Actions:
    path = folder / "my actions.csv"
    path.write_text(ACTIONS)
    return read_actions(path)
