"""A picture of which assumptions hold in which environments."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from paper.environments.assumptions import ASSUMPTIONS, SIGNS, Finding
from paper.plots.tables import draw_cells
from speedbook.figures import INK, PALE, in_figure

#: The shade of a cell, between 0 and 1, and its colour.
SHADES: Mapping[bool | None, tuple[float, str]] = {
    False: (0.0, PALE["vermilion"]),
    None: (0.5, PALE["grey"]),
    True: (1.0, PALE["green"]),
}


def plot_findings(ax: Axes, table: Mapping[str, Mapping[str, Finding]]) -> None:
    """Draw a table of assumptions and environments; each cell has a sign on a coloured ground.

    The table holds the findings of each environment, as `examine` returns them. A line separates
    the stated assumptions from those that only the proofs need.
    """
    holds = [[findings[key].holds for findings in table.values()] for key in ASSUMPTIONS]
    shades = pd.DataFrame(
        [[SHADES[held][0] for held in row] for row in holds],
        index=[one.label for one in ASSUMPTIONS.values()],
        columns=list(table),
    )
    signs = [[SIGNS[held][0] for held in row] for row in holds]
    draw_cells(ax, shades, signs, [colour for _, colour in SHADES.values()])
    names = [in_figure(name) for name in table]
    ax.tick_params(labeltop=True, labelbottom=False, labelcolor=INK)
    ax.set_xticks(ax.get_xticks(), names, rotation=50, ha="left", rotation_mode="anchor")
    handles = [
        Patch(color=SHADES[held][1], label=f"{sign} {word}") for held, (sign, word) in SIGNS.items()
    ]
    _ = ax.figure.legend(handles=handles, loc="outside lower center", ncols=3)
    _ = ax.axhline(sum(one.stated for one in ASSUMPTIONS.values()), color=INK, linewidth=1.5)
