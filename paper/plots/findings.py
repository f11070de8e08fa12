"""A picture of which environments keep which assumptions."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle

from paper.environments.assumptions import ASSUMPTIONS, SIGNS, Finding
from speedbook.figures import GREY, INK


def plot_findings(ax: Axes, table: Mapping[str, Mapping[str, Finding]]) -> None:
    """Draw assumptions by environments: a sign in each cell, on the colour of its word.

    The table holds for each environment its findings, as `examine` returns them.
    """
    keys = list(ASSUMPTIONS)
    gap = sum(ASSUMPTIONS[key].stated for key in keys)
    places = {key: row + (0.4 if row >= gap else 0.0) for row, key in enumerate(keys)}
    for column, findings in enumerate(table.values()):
        for key, y in places.items():
            sign, _, colour = SIGNS[findings[key].holds]
            ax.add_patch(Rectangle((column - 0.47, y - 0.45), 0.94, 0.9, color=colour, lw=0))
            _ = ax.text(column, y, sign, ha="center", va="center", color=INK, fontsize=13)
    ax.set(xlim=(-0.5, len(table) - 0.5), ylim=(max(places.values()) + 0.5, -0.5))
    ax.set_yticks(list(places.values()), [ASSUMPTIONS[key].label for key in keys])
    ax.set_xticks(range(len(table)), list(table), rotation=50, ha="left", rotation_mode="anchor")
    ax.tick_params(length=0, labeltop=True, labelbottom=False, labelcolor=INK)
    ax.grid(False)
    ax.spines[:].set_visible(False)
    handles = [Patch(color=colour, label=f"{sign} {word}") for sign, word, colour in SIGNS.values()]
    _ = ax.figure.legend(handles=handles, loc="outside lower center", ncols=3)
    _ = ax.axhline(gap - 0.3, color=GREY, linewidth=0.8)
