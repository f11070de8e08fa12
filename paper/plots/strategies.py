"""How strategies are drawn.

A strategy keeps its colour, marker and line on every page, so that a reader learns them once. SPEED
stands out, running the policy is the one it is compared with, and what else there is stays grey.
The colours are the house's; marker and line say the same again for readers who see no colours and
for prints in grey.
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

#: What is drawn for comparison alone: told apart by marker, line and name.
BASELINE: Mapping[str, Any] = {"color": COLOURS["grey"], "linewidth": 1.2, "zorder": 2}

#: How each strategy is drawn, on every page.
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

#: What figures call SPEED under the two readings of its estimate of the noise matrix, which differ
#: in their lines only: neither is the lesser one. Formulas stand as they are.
READINGS: Mapping[str, str] = {
    "SPEED": "SPEED, unconstrained,\nwith a floor",
    "SPEED-PSD": "SPEED, $\\hat\\Sigma\\succeq0$,\nas the proofs assume",
}

#: Writes a number of rounds below the axis.
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
        What is drawn; it stands above the axes in place of a sideways label. It may hold formulas.
    yscale : {"log", "linear"}
        Ratios and regrets that may be negative are better on a linear scale.
    names : mapping, optional
        What some strategies are called in the figure, such as `READINGS`.

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
    if all(longest < 1e6 for longest, _ in ends.values()):  # else neighbouring ticks would touch
        ax.xaxis.set_major_formatter(ROUNDS)
    low, high = np.log10(ax.get_xlim())
    if budgets and np.floor(high) <= np.ceil(low):
        # At most one power of ten is in sight, by which nobody can read the others off.
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
    """Draw simulated curves, with a ring where pulls often do not determine the value.

    A ring stands where at least one replication in a hundred is inestimable, and the title says so.
    Its error then comes from a generalised inverse, and the mean squared error holds a bias. The
    rest is as in `plot_mse`.
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
    """Return what a figure calls a strategy: what `names` says, else its name, taken literally."""
    return names[name] if names and name in names else in_figure(name)


def label_ends(
    ax: Axes, ends: Mapping[str, tuple[float, float]], names: Mapping[str, str] | None = None
) -> None:
    """Write each strategy's name beside the end of its curve, moved apart where they would touch.

    The ends are the last points of the curves, in data coordinates; `names`, as in `plot_mse`, may
    have several lines. Call it last: the places depend on the limits of the axes.
    """
    ax.autoscale_view()
    to_axes = ax.transData + ax.transAxes.inverted()
    height = ax.get_window_extent().height * 72 / ax.figure.dpi
    line = 1.25 * plt.rcParams["font.size"] / height
    ordered = sorted(ends, key=lambda name: ends[name][1])
    words = [name_in_figure(name, names) for name in ordered]
    heights = [float(to_axes.transform(ends[name])[1]) for name in ordered]
    # Formulas are taller than letters; those of names in several lines are to fit, too.
    lines = np.array([1 + 1.2 * text.count("\n") for text in words])
    gaps = line * (lines[1:] + lines[:-1]) / 2
    # The lowest is to keep clear of the axis below it.
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
    """Letters are thin: darken their colour until the palest has a contrast of 4.5 on white."""
    red, green, blue = (0.72 * part for part in to_rgb(color))
    return red, green, blue


def spread(places: Sequence[float], gap: ArrayLike, low: float = -np.inf) -> list[float]:
    """Move ascending places as little as possible (least squares) until they are `gap` apart.

    The gap is one number, or one for each two neighbours. Subtracting what the gaps add up to turns
    the task into isotonic regression, which raising to `low`, the least place allowed, leaves
    optimal.

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
