"""Mean squared errors in units of the oracle loss, drawn and listed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from scipy.special import ndtri

from paper.plots.strategies import plot_mse
from speedlib.checks import check_share
from speedlib.comparison import with_ends

if TYPE_CHECKING:
    from speedlib.curves import MSECurves


def ratios(curves: MSECurves) -> dict[str, tuple[Any, Any, Any]]:
    """Return rounds, MSE and standard error of each strategy, in units of the oracle loss."""
    return {
        name: (curves.rounds, mse / curves.oracle_loss, error / curves.oracle_loss)
        for name in curves.strategies
        for mse, error in [curves.of(name)]
    }


def plot_ratios(
    ax: Axes,
    curves: MSECurves,
    *,
    yscale: str = "linear",
    names: Mapping[str, str] | None = None,
) -> None:
    """Draw the mean squared errors in units of the oracle loss; bars show one standard error.

    `names` is as in `paper.plots.plot_mse`.
    """
    title = "mean squared error / oracle loss"
    plot_mse(ax, ratios(curves), title=title, yscale=yscale, names=names)


def ratio_table(curves: MSECurves, level: float = 0.95) -> pd.DataFrame:
    """Return the ratios to the oracle loss with intervals as text, a column for each strategy.

    An interval wider than half of its ratio is that of the ratio's logarithm and tells its ends: it
    would be lopsided, and may not go below zero. A level that is not strictly between 0 and 1 is a
    ValueError.
    """
    z = -ndtri((1 - check_share("level", level)) / 2)

    def cell(mean: float, half: float) -> str:
        if half <= mean / 4:
            return f"{mean:.3f} ± {half:.3f}"
        factor = np.exp(half / mean)
        return with_ends(mean, mean / factor, mean * factor)

    columns = {
        name: [cell(m, z * e) for m, e in zip(mean, error, strict=True)]
        for name, (_, mean, error) in ratios(curves).items()
    }
    return pd.DataFrame(columns, index=pd.Index(curves.rounds, name="rounds"))
