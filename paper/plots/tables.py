"""Pictures of tables: calibration of fitted variances, and shares by group."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, Normalize, PowerNorm
from numpy.typing import ArrayLike

from paper.plots.strategies import STRATEGIES, darker
from speedbook.figures import COLOURS, INK, REFERENCE, in_figure

if TYPE_CHECKING:
    import pandas as pd


def plot_shares(ax: Axes, table: pd.DataFrame, *, title: str, xlabel: str = "") -> None:
    """Draw a table of shares as shaded cells with the percentages written in them.

    The shares are between 0 and 1, as `speedlib.comparison.by_variance` returns them; anything else
    in a cell raises a ValueError. The title describes the cells, and the label below the columns.
    """
    import seaborn

    _check_shares(table)
    percentages = [
        [f"{100 * x:.0f}" if x >= 0.005 else "·" for x in row] for row in table.to_numpy()
    ]
    # From nearly white to a blue on which letters are readable, also in grey.
    blues = seaborn.light_palette(COLOURS["sky"], as_cmap=True)
    # The square root makes small shares visible; it applies to the colours, not to the numbers.
    draw_cells(ax, table.astype(float), percentages, blues, PowerNorm(0.5, 0.0, 1.0))
    for label, name in zip(ax.get_yticklabels(), table.index, strict=True):
        label.set_color(darker(STRATEGIES[name]["color"]) if name in STRATEGIES else INK)
    ax.set_xlabel(xlabel)
    ax.set_title(title)


def _check_shares(table: pd.DataFrame) -> None:
    for label, cells in table.items():
        if cells.dtype.kind not in "iuf":
            raise TypeError(f"table: expected numbers in column {label!r}; got dtype {cells.dtype}")
        # Sums of shares may exceed 1 by a rounding error.
        wrong = ~((cells >= 0) & (cells <= 1 + 1e-9)).to_numpy()
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ValueError(
                "table: shares must lie between 0 and 1; "
                f"got {float(cells.iloc[row])} in row {table.index[row]!r}, column {label!r}"
            )


def draw_cells(
    ax: Axes,
    shades: pd.DataFrame,
    words: ArrayLike,
    cmap: Colormap | list[str],
    norm: Normalize | None = None,
) -> None:
    """Shade the cells of a table by numbers between 0 and 1, and write a word into each.

    The words have the same shape as the table. Rows and columns are labelled with the table's
    names. The colours range from 0 to 1 and must be pale, since all letters are dark. seaborn would
    write in white on the darker half, which is hard to read.
    """
    import seaborn

    # seaborn draws labels as soon as it has them, to check whether they overlap.
    shades = shades.set_axis(_names(shades.index), axis=0)
    shades = shades.set_axis(_names(shades.columns), axis=1)
    seaborn.heatmap(
        shades,
        norm=norm or Normalize(0.0, 1.0),
        cmap=cmap,
        annot=words,
        fmt="",
        annot_kws={"color": INK},
        linewidths=1.5,
        linecolor="white",
        cbar=False,
        ax=ax,
    )
    ax.set(xlabel="", ylabel="")
    ax.grid(False)
    ax.tick_params(length=0, labelrotation=0)


def _names(index: pd.Index) -> list[str]:
    """Return names as they are drawn, with several levels joined as seaborn does.

    A name may have several lines, since columns are narrow.
    """
    names = ["-".join(map(str, name)) if isinstance(name, tuple) else str(name) for name in index]
    return ["\n".join(map(in_figure, name.split("\n"))) for name in names]


def plot_calibration(
    ax: Axes, fitted: ArrayLike, observed: ArrayLike, standard_error: ArrayLike
) -> None:
    """Draw mean squared residuals against fitted variances, group by group.

    The arrays, shape (G,), are those of `speedlib.fitting.Calibration`. If the variances are right,
    the points are on the diagonal, up to their bars of two standard errors.
    """
    fitted, observed = np.asarray(fitted, dtype=float), np.asarray(observed, dtype=float)
    ends = [0.0, 1.05 * max(fitted.max(), observed.max())]
    _ = ax.plot(ends, ends, linestyle=(0, (4, 3)), **REFERENCE)
    _ = ax.errorbar(
        fitted,
        observed,
        2 * np.asarray(standard_error, dtype=float),
        color=COLOURS["blue"],
        marker="o",
        linestyle="",
        elinewidth=1,
        markeredgecolor="white",
    )
    ax.set(xlim=ends, ylim=(0.0, None), xlabel="fitted variance, mean of the group")
    ax.set_title("mean squared residual")
