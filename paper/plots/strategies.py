"""The style of strategies in plots.

A strategy has the same colour, marker and line on every page. SPEED stands out, running the policy
is its comparison, and all other strategies are grey. The colours are those of all figures. Marker
and line also distinguish the strategies, for readers who see no colours and for prints in grey.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import isotonic_regression

from speedbook.figures import COLOURS, GREY, in_figure

if TYPE_CHECKING:
    from speedlib.curves import MSECurves

#: Strategies that are drawn only for comparison; they differ by marker, line and name.
#:
#: :meta hide-value:
BASELINE: Mapping[str, Any] = {"color": COLOURS["grey"], "linewidth": 1.2, "zorder": 2}

#: How each strategy is drawn, on every page.
#:
#: :meta hide-value:
STRATEGIES: Mapping[str, Mapping[str, Any]] = {
    "Oracle": {
        "color": COLOURS["black"],
        "marker": "o",
        "linestyle": (0, (5, 2)),
        "markerfacecolor": "w",
    },
    "SPEED": {
        "color": COLOURS["vermilion"],
        "marker": "o",
        "linestyle": "-",
        "linewidth": 2.2,
        "zorder": 4,
    },
    "SPEED-PSD": {
        "color": COLOURS["vermilion"],
        "marker": "o",
        "linestyle": (0, (4, 1.5)),
        "linewidth": 2.2,
        "markerfacecolor": "w",
        "zorder": 4,
    },
    "SPEED, higher floor": {
        "color": COLOURS["vermilion"],
        "marker": "<",
        "linestyle": "-",
        "linewidth": 2.2,
        "zorder": 4,
    },
    "SPEED, practical": {
        "color": COLOURS["vermilion"],
        "marker": "d",
        "linestyle": "-",
        "linewidth": 2.2,
        "zorder": 4,
    },
    "SPEED-uniform": {
        "color": COLOURS["brown"],
        "marker": "p",
        "linestyle": (0, (2, 1)),
        "zorder": 4,
    },
    "SPEED-identifiable": {
        "color": COLOURS["red"],
        "marker": "h",
        "linestyle": (0, (6, 1.5, 1.5, 1.5)),
        "zorder": 4,
    },
    "On-policy": {"color": COLOURS["blue"], "marker": "s", "linestyle": "-"},
    "On-policy OLS": {
        "color": COLOURS["blue"],
        "marker": "s",
        "linestyle": (0, (4, 1.5)),
        "markerfacecolor": "w",
    },
    "On-policy, average": {
        "color": COLOURS["blue"],
        "marker": "s",
        "linestyle": (0, (1, 1.2)),
    },
    "A-optimal": {**BASELINE, "marker": "^", "linestyle": "-."},
    "G-optimal": {**BASELINE, "marker": "D", "linestyle": "-."},
    "D-optimal": {**BASELINE, "marker": "v", "linestyle": (0, (1, 1.2))},
    "Uniform": {**BASELINE, "marker": "X", "linestyle": (0, (1, 1.2))},
    "Your own": {
        "color": COLOURS["violet"],
        "marker": "*",
        "markersize": 10,
        "linestyle": (0, (3, 1)),
    },
    "Per-arm": {**BASELINE, "marker": "P", "linestyle": (0, (3, 1, 1, 1))},
}

#: The labels of SPEED under the two readings of its estimate of the noise matrix, which differ in
#: their lines only, since neither is less important. Formulas are not escaped.
#:
#: :meta hide-value:
READINGS: Mapping[str, str] = {
    "SPEED": "SPEED, unconstrained,\nwith a floor",
    "SPEED-PSD": "SPEED, $\\hat\\Sigma\\succeq0$,\nas the proofs assume",
}

#: Writes a number of rounds below the axis.
#:
#: :meta hide-value:
ROUNDS = FuncFormatter(lambda rounds, _: f"{rounds:,.0f}")

#: A share of inestimable replications that a figure marks.
INESTIMABLE = 0.01


def strategy_style(name: str) -> dict[str, Any]:
    """Return the colour, marker and line of a strategy, as keywords of ``Axes.plot``.

    Raises
    ------
    ValueError
        If the strategy has no style of its own.

    Examples
    --------
    >>> strategy_style("On-policy")["color"]
    '#0072b2'
    """
    if name not in STRATEGIES:
        raise ValueError(f"name: expected one of {', '.join(STRATEGIES)}; got {name!r}")
    return dict(STRATEGIES[name])


def plot_mse(
    ax: Axes,
    curves: Mapping[str, Sequence[ArrayLike]],
    *,
    title: str = "mean squared error",
    yscale: str = "log",
    names: Mapping[str, str] | None = None,
) -> None:
    """Draw mean squared errors against rounds, on log axes, each curve labelled at its end.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    curves : mapping
        Strategy name to a triple (rounds, mean, stderr) of equally long arrays. The bars show one
        standard error to either side.
    title : str
        Text above the axes that says what is drawn, in place of a rotated label; it may hold
        formulas.
    yscale : {"log", "linear"}
        A linear scale is better for ratios, and for regrets that may be negative.
    names : mapping, optional
        Labels of some strategies in the figure, such as `READINGS`.

    Raises
    ------
    ValueError
        If a strategy is unknown, the arrays differ in length, a number of rounds is not positive,
        or a mean on a log axis is not.
    """
    ax.set(xscale="log", xlabel="rounds $n$")
    ax.set_yscale(yscale)
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_title(title)
    ends, budgets = {}, set()
    for name, curve in curves.items():
        style = strategy_style(name)
        rounds, mean, stderr = (np.asarray(part, dtype=float) for part in curve)
        _check_curve(name, rounds, mean, stderr)
        if yscale == "log" and not np.all(mean > 0):
            raise ValueError(f"curves[{name!r}]: a log axis needs positive means; got {mean}")
        edge = style["color"] if "markerfacecolor" in style else "white"
        style |= {"elinewidth": 1, "markeredgecolor": edge, "label": name_in_figure(name, names)}
        ax.errorbar(rounds, mean, stderr, **style)
        ends[name] = (float(rounds[-1]), float(mean[-1]))
        budgets |= set(rounds.tolist())
    if all(longest < 1e6 for longest, _ in ends.values()):  # otherwise tick labels would touch
        ax.xaxis.set_major_formatter(ROUNDS)
    low, high = np.log10(ax.get_xlim())
    if budgets and np.floor(high) <= np.ceil(low):
        # With at most one power of ten in view, nobody could read the other values.
        ax.xaxis.set_major_locator(FixedLocator([min(budgets), max(budgets)]))
        ax.xaxis.set_major_formatter(ROUNDS)
    label_ends(ax, ends, names)


def plot_curves(
    ax: Axes,
    curves: MSECurves,
    *,
    title: str = "mean squared error",
    names: Mapping[str, str] | None = None,
) -> None:
    """Draw simulated curves, with a ring at points where the pulls often leave the value open.

    A ring marks a point at which at least one replication in a hundred is inestimable, and the
    title says so. The error of such a replication comes from a generalised inverse, so the mean
    squared error includes a bias. All else is as in `plot_mse`.
    """
    often = curves.inestimable >= INESTIMABLE
    if often.any():
        title += f"; ring: {INESTIMABLE:.0%} or more inestimable"
    for mse, marked in zip(curves.mse, often, strict=True):
        _ = ax.plot(
            curves.rounds[marked],
            mse[marked],
            linestyle="",
            marker="o",
            markersize=13,
            markerfacecolor="none",
            markeredgecolor=GREY,
            markeredgewidth=1.2,
            zorder=5,
        )
    drawn = {name: (curves.rounds, *curves.of(name)) for name in curves.strategies}
    plot_mse(ax, drawn, title=title, names=names)


def _check_curve(name: str, rounds: NDArray[Any], mean: NDArray[Any], stderr: NDArray[Any]) -> None:
    if not rounds.ndim == 1 or not rounds.shape == mean.shape == stderr.shape or not rounds.size:
        raise ValueError(
            f"curves[{name!r}]: rounds, mean and stderr must be equally long vectors; "
            f"got shapes {rounds.shape}, {mean.shape}, {stderr.shape}"
        )
    if not np.all(rounds > 0):
        raise ValueError(f"curves[{name!r}]: rounds must be positive; got {rounds}")


def name_in_figure(name: str, names: Mapping[str, str] | None = None) -> str:
    """Return the label of a strategy: its entry in `names`, else its literal name."""
    return names[name] if names and name in names else in_figure(name)


def label_ends(
    ax: Axes, ends: Mapping[str, tuple[float, float]], names: Mapping[str, str] | None = None
) -> None:
    """Write each strategy's name next to the end of its curve, moved apart if they would touch.

    The ends are the last points of the curves, in data coordinates; `names`, as in `plot_mse`, may
    have several lines. Call this function last, since the places depend on the limits of the axes.
    """
    ax.autoscale_view()
    to_axes = ax.transData + ax.transAxes.inverted()
    height = ax.get_window_extent().height * 72 / ax.figure.dpi
    line = 1.25 * plt.rcParams["font.size"] / height
    ordered = sorted(ends, key=lambda name: ends[name][1])
    words = [name_in_figure(name, names) for name in ordered]
    heights = [float(to_axes.transform(ends[name])[1]) for name in ordered]
    # Formulas are taller than letters, and names of several lines must fit too.
    lines = np.array([1 + 1.2 * text.count("\n") for text in words])
    gaps = line * (lines[1:] + lines[:-1]) / 2
    # The lowest name must not touch the axis below it.
    low = 0.02 + line * (lines[0] - 1) / 2 if ordered else 0.0
    for name, text, place in zip(ordered, words, spread(heights, gaps, low=low), strict=True):
        color = STRATEGIES[name]["color"]
        ax.annotate(
            text,
            xy=ends[name],
            xytext=(1.06, place),
            textcoords="axes fraction",
            va="center",
            color=darker(color),
            fontweight="bold" if name in READINGS else "normal",
            arrowprops={
                "arrowstyle": "-",
                "color": color,
                "linewidth": 0.7,
                "relpos": (0, 0.5),
                "shrinkA": 1,
                "shrinkB": 5,
            },
        )


def darker(color: str) -> tuple[float, float, float]:
    """Return a dark colour for thin letters: its contrast on white is at least 4.5."""
    red, green, blue = (0.72 * part for part in to_rgb(color))
    return red, green, blue


def spread(places: Sequence[float], gap: ArrayLike, low: float = -np.inf) -> list[float]:
    """Move ascending places as little as possible (least squares) until they are `gap` apart.

    The gap is one number, or one for each pair of neighbours. Subtracting the sums of the gaps
    turns the task into isotonic regression. The solution stays optimal if places below `low`, the
    lowest place allowed, are raised to `low`.

    Examples
    --------
    >>> spread([0.0, 0.0, 5.0], gap=1.0)
    [-0.5, 0.5, 5.0]
    >>> spread([0.0, 0.0, 5.0], gap=1.0, low=0.0)
    [0.0, 1.0, 5.0]
    >>> spread([0.0, 0.0, 0.0], gap=[1.0, 2.0])
    [-1.3333333333333333, -0.33333333333333326, 1.6666666666666667]
    """
    gaps = np.broadcast_to(np.asarray(gap, dtype=float), max(len(places) - 1, 0))
    steps = np.concatenate([[0.0], np.cumsum(gaps)])[: len(places)]
    level = isotonic_regression(np.asarray(places) - steps).x
    return [float(place) for place in np.maximum(level, low) + steps]
