"""Pictures of tables: calibration of fitted variances, and shares by group."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from paper.plots.strategies import STRATEGIES, darker
from speedbook.figures import GREY, INK

if TYPE_CHECKING:
    import pandas as pd


def plot_shares(ax: Axes, table: pd.DataFrame, *, title: str, xlabel: str = "") -> None:
    """Draw a table of shares as shaded cells with the percentages written in them.

    The shares lie between 0 and 1, such as `speedlib.comparison.by_variance` returns. The title
    says what the cells show, and the label below what the columns are.
    """
    values = table.to_numpy(float)
    # The square root lets small shares be seen; one colour from pale to dark reads in grey, too.
    ax.imshow(np.sqrt(values), cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto")
    for (row, column), share in np.ndenumerate(values):
        dark = share > 0.3
        text = f"{100 * share:.0f}" if share >= 0.005 else "·"
        color = "white" if dark else INK
        _ = ax.text(column, row, text, ha="center", va="center", color=color, fontsize=11)
    ax.set_xticks(range(len(table.columns)), [str(name) for name in table.columns])
    ax.set_yticks(range(len(table.index)), list(table.index))
    for label, name in zip(ax.get_yticklabels(), table.index, strict=True):
        label.set_color(darker(STRATEGIES[name]["color"]) if name in STRATEGIES else INK)
    ax.tick_params(length=0)
    ax.grid(False)
    ax.spines[:].set_visible(False)
    ax.set_xlabel(xlabel)
    ax.set_title(title, color=GREY, fontweight="normal", loc="left")


def plot_calibration(
    ax: Axes, fitted: ArrayLike, observed: ArrayLike, standard_error: ArrayLike
) -> None:
    """Draw mean squared residuals against fitted variances, group by group.

    The arrays, shape (G,), are those of `speedlib.fitting.Calibration`. Where the variances are
    right, the points lie on the diagonal, up to their bars of two standard errors.
    """
    fitted, observed = np.asarray(fitted, dtype=float), np.asarray(observed, dtype=float)
    ends = [0.0, 1.05 * max(fitted.max(), observed.max())]
    _ = ax.plot(ends, ends, color=GREY, linestyle=(0, (4, 3)), linewidth=1)
    _ = ax.errorbar(
        fitted,
        observed,
        2 * np.asarray(standard_error, dtype=float),
        color="#0072b2",
        marker="o",
        linestyle="",
        elinewidth=1,
        markeredgecolor="white",
    )
    ax.set(xlim=ends, ylim=(0.0, None), xlabel="fitted variance, mean of the group")
    ax.set_title("mean squared residual", color=GREY, fontweight="normal")
