"""Third lecture: wrong variances, how long to explore, what exploration leaves open, audits."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import FigureBase
from numpy.typing import ArrayLike, NDArray

from paper.plots.lectures.arrows import BEST, GREY, PALE, POLICY
from paper.plots.lectures.walks import ARROWS, SIGMA, C
from speedbook import figures
from speedlib import optimal_design, pe_loss

Floats = NDArray[np.float64]

ORACLE = optimal_design(ARROWS, SIGMA**2, direction=C)
#: The largest ratio that the valley shows, of the two noises, over the true one.
WIDE = 2.6


def excess(variances: ArrayLike) -> float:
    """Return the extra loss, in per cent, if the shares are the best ones for wrong variances."""
    shares = optimal_design(ARROWS, variances, direction=C).weights
    return float(100 * (pe_loss(shares, ARROWS, SIGMA**2, direction=C) / ORACLE.value - 1))


def _valley(ax: Axes) -> None:
    ratio = np.geomspace(1 / WIDE, WIDE, 300)
    p = ORACLE.weights[ORACLE.support[0]]
    cost = p * (1 - p) * (np.sqrt(ratio) - 1 / np.sqrt(ratio)) ** 2
    ax.plot(ratio, 100 * cost, color=GREY)
    ax.set_xscale("log")
    ax.set_xticks([0.5, 1, 2], ["half", "right", "twice"])
    ax.minorticks_off()
    ax.set_yticks([0, 10, 20], ["0", "10 %", "20 %"])
    ax.set(xlim=(1 / WIDE, WIDE), ylim=(-1, 25))


def belief(place: FigureBase, ratio: float) -> None:
    """Draw the extra loss if a multiple of the first action's noise is believed to be the truth.

    Parameters
    ----------
    place : figure or part of one
    ratio : float
        The believed noise divided by the true noise. If it is 2 or more, other actions look best.
        The curve is drawn for the right actions, so it does not hold there.
    """
    ax = place.subplots()
    _valley(ax)
    cost = excess(np.array([SIGMA[0] * ratio, *SIGMA[1:]]) ** 2)
    ax.plot([ratio], [cost], "o", color=POLICY, markersize=14, clip_on=False, zorder=4)
    ax.set_title(f"{cost:.1f} % more rounds")


def explorations(
    place: FigureBase, length: int, found: Mapping[int, tuple[Floats, Floats]]
) -> None:
    """Draw where explorations of one length end on the curve of the cost.

    Parameters
    ----------
    place : figure or part of one
    length : int
        Rounds of exploration.
    found : mapping
        For each length of exploration: estimates of the ratio of the two noises, divided by the
        true ratio, and the extra loss of each estimate as a share.
    """
    ax = place.subplots()
    _valley(ax)
    ratio, cost = found[length]
    dots = slice(0, 200)
    ax.plot(ratio[dots], 100 * cost[dots], "o", color=BEST, markersize=6, alpha=0.45, zorder=3)
    ax.set_title(f"mean cost {100 * cost.mean():.2f} %")


def costs_of_length(place: FigureBase, length: float, rounds: int, psi: float) -> None:
    """Draw the rounds lost by exploring, by wrong shares, and by both.

    Parameters
    ----------
    place : figure or part of one
    length : float
        Rounds of exploration.
    rounds : int
        All rounds.
    psi : float
        Cost of estimating the variances.
    """
    here, best = length, float(np.sqrt(psi * rounds))
    above, below = place.subplots(2, 1, height_ratios=(1, 1.9))
    wrong = psi * rounds / here
    above.barh([0], [here], color=PALE)
    above.barh([0], [wrong], left=[here], color=POLICY)
    above.set(xlim=(0, 8 * best), ylim=(-0.5, 0.5), yticks=[], xticks=[])
    above.spines[["left", "bottom"]].set_visible(False)
    above.set_title(f"{here + wrong:,.0f} rounds lost")
    above.text(0, -0.6, "exploring", color=GREY, va="top", fontsize=14)
    above.text(8 * best, -0.6, "wrong shares", color=POLICY, va="top", ha="right", fontsize=14)
    lengths = np.geomspace(best / 6, 6 * best, 200)
    below.plot(lengths, lengths, "--", color=PALE, linewidth=2)
    below.plot(lengths, psi * rounds / lengths, "--", color=POLICY, linewidth=2)
    below.plot(lengths, lengths + psi * rounds / lengths, color=figures.INK)
    below.plot([here], [here + wrong], "o", color=figures.INK, markersize=13, clip_on=False)
    below.set(xscale="log", xlim=(best / 6, 6 * best), ylim=(0, 6.5 * best), yticks=[0])
    marks = [best / 4, best, 4 * best]
    below.set_xticks(marks, [f"{mark:,.0f}" for mark in marks])
    below.minorticks_off()
    below.set_xlabel("rounds of exploration")


@cache
def _excess_of_third(sigma: float) -> float:
    return excess([9, 16, sigma**2])


def unseen(place: FigureBase, off: float) -> None:
    """Draw an ellipse of noise that fits both explored actions, and the extra loss of its design.

    Parameters
    ----------
    place : figure or part of one
    off : float
        The entry of the noise matrix that exploration does not determine.
    """
    turn = np.linspace(0, 2 * np.pi, 721)
    unit = np.array([np.cos(turn), np.sin(turn)])
    matrix = np.array([[9.0, off], [off, 16.0]])
    ends = unit / np.sqrt(np.einsum("it,ij,jt->t", unit, matrix, unit))
    sigma = float(np.sqrt(25 + 2 * off))
    cost = excess([9, 16, sigma**2])
    above, below = place.subplots(2, 1, height_ratios=(1.7, 1))
    above.plot([0, 0.6], [0, 0.6], color=GREY, linewidth=1.5, linestyle=":")
    above.plot(*ends, color=BEST)
    seen = np.array([[1 / 3, 0], [0, 1 / 4]])
    above.plot(*np.vstack([seen, -seen]).T, "o", color=figures.INK)
    above.plot([1 / sigma], [1 / sigma], "o", color=POLICY, markersize=13, zorder=5)
    above.set(xlim=(-0.75, 0.75), ylim=(-0.62, 0.62))
    above.set_aspect("equal")
    above.set_axis_off()
    noise = tuple(np.linspace(1.02, 6.98, 60))
    below.plot(noise, [_excess_of_third(s) for s in noise], color=GREY)
    below.plot([sigma], [cost], "o", color=POLICY, markersize=13, clip_on=False, zorder=4)
    below.set(xlim=(0.8, 7.2), ylim=(-1, 46), xticks=[1, 2, 3, 4, 5, 6, 7], yticks=[0, 40])
    below.set_yticks([0, 20, 40], ["0", "20 %", "40 %"])
    below.set_xlabel("σ of action 3, as believed")
    below.set_title(f"{cost:.0f} % more rounds")


def regret_shares(
    place: FigureBase, budgets: ArrayLike, lines: Mapping[str, tuple[ArrayLike, str]]
) -> None:
    """Draw regret as a share of the oracle's loss, over the number of rounds.

    Parameters
    ----------
    place : figure or part of one
    budgets : array
        Numbers of rounds.
    lines : mapping
        For each label, two values: the regret at each budget as a share, in per cent, and the
        colour.
    """
    ax = place.subplots()
    rounds = np.asarray(budgets, dtype=float)
    for label, (values, colour) in lines.items():
        shares = np.asarray(values, dtype=float)
        ax.plot(rounds, shares, "o-", color=colour)
        ax.text(rounds[-1] * 1.25, shares[-1], label, color=colour, va="center")
    ax.set(xscale="log", yscale="log", xlim=(rounds[0] / 1.3, rounds[-1] * 25))
    ax.set_xticks(rounds, [f"{n:,.0f}" for n in rounds])
    ax.set_yticks([0.1, 1, 10, 100], ["0.1 %", "1 %", "10 %", "100 %"])
    ax.minorticks_off()
    ax.set_xlabel("rounds")
    ax.set_title("regret, as a share of the oracle's loss")


def rounded_up(place: FigureBase, rounds: int) -> None:
    """Draw the pulls of two actions that get equal shares of the rounds; each count is rounded up.

    Parameters
    ----------
    place : figure or part of one
    rounds : int
    """
    count = int(np.ceil(rounds / 2))
    above, below = place.subplots(2, 1, height_ratios=(1, 1.2))
    above.barh([0], [count], color=BEST)
    above.barh([0], [count], left=[count], color=POLICY)
    above.axvline(rounds, color=figures.INK, linewidth=2.5)
    for middle in (count / 2, 1.5 * count):
        above.text(middle, 0, f"{count}", color="white", ha="center", va="center", weight="bold")
    above.set(xlim=(0, 13), ylim=(-0.6, 0.6), yticks=[], xticks=[rounds])
    above.set_xticks([rounds], [f"n = {rounds}"])
    above.spines[["left", "bottom"]].set_visible(False)
    above.set_title(f"{2 * count} pulls in {rounds} rounds")
    budgets = np.arange(1, 13)
    more = 2 * np.ceil(budgets / 2) - budgets
    below.bar(budgets, more, color=[POLICY if n == rounds else PALE for n in budgets])
    below.set(ylim=(0, 2.2), yticks=[0, 1, 2], xticks=[1, 3, 5, 7, 9, 11])
    below.grid(axis="x", visible=False)
    below.set_xlabel("n")
    below.set_title("pulls too many")
