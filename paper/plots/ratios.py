"""Mean squared errors relative to the oracle loss or to running the policy, as plot or table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter
from scipy.special import ndtri

from paper.plots.strategies import plot_mse
from speedbook.figures import REFERENCE
from speedlib.checks import check_share
from speedlib.comparison import Comparison, with_ends

if TYPE_CHECKING:
    from speedlib.curves import MSECurves

#: The label of the strategy at 1, which needs no design.
JUST_RUN = "just run the policy"
#: Ratios are close if the highest is less than this multiple of the lowest.
CLOSE = 12


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


def over_policy(
    found: MSECurves | Comparison, policy: str, base: MSECurves | Comparison | None = None
) -> dict[str, tuple[Any, Any, Any]]:
    """Return rounds, errors relative to those of running the policy, and their standard errors.

    Parameters
    ----------
    found : MSECurves or Comparison
        The strategies to compare.
    policy : str
        The strategy that runs the policy; its own errors, divided by themselves, are 1.
    base : MSECurves or Comparison, optional
        The source of its errors, at the same budgets; by default `found`.

    Returns
    -------
    dict
        For several runs a ratio is the geometric mean of the runs' own ratios.

    Raises
    ------
    ValueError
        If `base` has other budgets, or not this strategy.
    """
    base = found if base is None else base
    if policy not in base.strategies:
        raise ValueError(f"policy: must be one of {', '.join(base.strategies)}; got {policy!r}")
    if not np.array_equal(base.rounds, found.rounds):
        raise ValueError("base: must have the same rounds as found")
    own = base.strategies.index(policy)
    ratio = found.mse / base.mse[..., [own], :]
    if isinstance(found, Comparison):
        logs = np.log(ratio)
        ratio = np.exp(logs.mean(axis=0))
        relative = logs.std(axis=0, ddof=1) / np.sqrt(len(logs))
    elif isinstance(base, Comparison):
        raise TypeError("base: must be curves of one environment, like found")
    else:
        policy_share = base.standard_error[own] / base.mse[own]
        relative = np.hypot(found.standard_error / found.mse, policy_share)
    return {
        name: (found.rounds, row, row * error * (name != policy))
        for name, row, error in zip(found.strategies, ratio, relative, strict=True)
    }


def plot_over_policy(
    ax: Axes,
    curves: Mapping[str, tuple[Any, Any, Any]],
    policy: str,
    *,
    title: str = "error / error of running the policy",
    names: Mapping[str, str] | None = None,
) -> None:
    """Draw what `over_policy` returns on log axes: below 1 a strategy beats running the policy.

    `names` is as in `paper.plots.plot_mse`.
    """
    _ = ax.axhline(1, **REFERENCE)
    plot_mse(ax, curves, title=title, names={policy: JUST_RUN, **(names or {})})
    read_off_ratios(ax)


def read_off_ratios(ax: Axes) -> None:
    """Label a log axis with plain ratios: 0.5, 1, 2, 5, and further ratios if the axis is short.

    Call this function last, since the labels depend on the limits of the axis.
    """
    ax.set_yscale("log")
    ax.autoscale_view()
    low, high = ax.get_ylim()
    subs = (1, 2, 5) if high > CLOSE * low else (1, 1.5, 2, 3, 5, 7)
    ax.yaxis.set_major_locator(LogLocator(subs=subs))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter(NullFormatter())


def ratio_table(curves: MSECurves, level: float = 0.95) -> pd.DataFrame:
    """Return the ratios to the oracle loss with intervals as text, a column for each strategy.

    An interval wider than half of its ratio is computed for the logarithm, so its ends are
    positive. Such an interval is asymmetric, so both of its ends are written. Raises a ValueError
    unless the level is strictly between 0 and 1.
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
