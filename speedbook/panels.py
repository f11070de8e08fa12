"""What the pages of the experiments show besides the curves.

Shares of the rounds as a picture, distances from the oracle, and the number that a claim about a
figure comes down to: by what factor one strategy is better than all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from scipy.stats import norm

from speedbook.figures import GREY, INK, STRATEGIES, plot_mse

if TYPE_CHECKING:
    from speedlib.curves import MSECurves

#: Share of the rounds, from none to all.
SHADES = LinearSegmentedColormap.from_list("shares", ["#ffffff", "#9ec9e2", "#0b559f"])
#: Numbers are white on cells darker than this share of the darkest.
DARK = 0.7


class Advantage(NamedTuple):
    """The least factor by which a strategy is better than others, and where it is that small."""

    estimate: float
    interval: tuple[float, float]
    over: str
    rounds: int


def smallest_advantage(
    curves: MSECurves,
    over: Sequence[str],
    *,
    strategy: str = "SPEED",
    own: MSECurves | None = None,
    from_rounds: int = 0,
    level: float = 0.99,
) -> Advantage:
    r"""Return the least of MSE(other) / MSE(strategy) over others and numbers of rounds.

    Parameters
    ----------
    curves : MSECurves
        Curves of all these strategies.
    over : sequence of str
        The others.
    strategy : str
        Whose advantage it is.
    own : MSECurves, optional
        Curves of this strategy at the same numbers of rounds, if they are not among the others'.
    from_rounds : int
        Fewer rounds do not count.
    level : float
        Confidence of the interval, which allows for the number of ratios compared (Bonferroni).

    Returns
    -------
    Advantage
        Above 1, the strategy has the smaller error than each of the others at every number of
        rounds that counts. The interval comes from the logarithms of the ratios.

    Raises
    ------
    ValueError
        If there is nothing to compare.
    """
    if own is not None and not np.array_equal(own.rounds, curves.rounds):
        raise ValueError(f"own: needs the rounds of curves, {curves.rounds}; got {own.rounds}")
    counted = np.flatnonzero(curves.rounds >= from_rounds)
    if not counted.size or not over:
        raise ValueError(
            f"over, from_rounds: leave nothing to compare; got {list(over)} from "
            f"{from_rounds} rounds, where the most is {curves.rounds.max()}"
        )
    mean, error = (part[counted] for part in (own or curves).of(strategy))
    others = np.stack([[part[counted] for part in curves.of(name)] for name in over])
    ratios = others[:, 0] / mean
    spread = np.hypot(others[:, 1] / others[:, 0], error / mean)
    width = norm.isf((1 - level) / 2 / ratios.size) * spread
    low, high = (ratios * np.exp(-width)).min(), (ratios * np.exp(width)).min()
    worst, at = np.unravel_index(ratios.argmin(), ratios.shape)
    rounds = int(curves.rounds[counted[at]])
    return Advantage(float(ratios.min()), (float(low), float(high)), over[int(worst)], rounds)


def plot_shares(ax: Axes, shares: pd.DataFrame, *, title: str = "share of the rounds, %") -> None:
    """Draw shares as shaded cells with their numbers, a row for each strategy.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw.
    shares : DataFrame
        A column for each action or group of actions, whose label stands below. A dozen columns are
        legible.
    title : str
        What is drawn.
    """
    values = shares.to_numpy()
    most = values.max()
    _ = ax.imshow(values, cmap=SHADES, vmin=0, vmax=most, aspect="auto")
    for (row, column), share in np.ndenumerate(values):
        color = "white" if share > DARK * most else INK if share else "#a0a0a0"
        text = "0" if share == 0 else f"{100 * share:.0f}" if share >= 0.0095 else "<1"
        _ = ax.text(column, row, text, ha="center", va="center", color=color, fontsize=11)
    _ = ax.set_xticks(range(shares.shape[1]), [str(label) for label in shares.columns], fontsize=10)
    _ = ax.set_yticks(range(shares.shape[0]), [str(name) for name in shares.index], fontsize=11)
    for label, name in zip(ax.get_yticklabels(), shares.index, strict=True):
        label.set_color(STRATEGIES[name]["color"] if name in STRATEGIES else INK)
    ax.tick_params(length=0)
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)
    ax.set_title(title, color=GREY, fontweight="normal")


def ratios(curves: MSECurves) -> dict[str, tuple[Any, Any, Any]]:
    """Return rounds, MSE and standard error of each strategy, in units of the oracle loss."""
    return {
        name: (curves.rounds, *(part / curves.oracle_loss for part in curves.of(name)))
        for name in curves.strategies
    }


def plot_ratios(ax: Axes, curves: MSECurves, *, yscale: str = "linear") -> None:
    """Draw the mean squared errors in units of the oracle loss; bars show one standard error."""
    plot_mse(ax, ratios(curves), title="mean squared error / oracle loss", yscale=yscale)


def ratio_table(curves: MSECurves, level: float = 0.95) -> pd.DataFrame:
    """Return the ratios to the oracle loss with intervals as text, a column for each strategy."""
    z = norm.isf((1 - level) / 2)
    columns = {
        name: [f"{m:.3f} ± {z * e:.3f}" for m, e in zip(mean, error, strict=True)]
        for name, (_, mean, error) in ratios(curves).items()
    }
    return pd.DataFrame(columns, index=pd.Index(curves.rounds, name="rounds"))
