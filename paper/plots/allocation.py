"""Draw the rounds of each action: as a strategy plans them, and as the target policy does."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from paper.plots.strategies import strategy_style
from speedbook.figures import in_figure

#: Up to this number of actions, each has two bars and a name.
FEW = 24
#: A figure shows at most this number of actions, those with the most rounds.
MOST = 250
#: If there are many actions, this number of them are named.
NAMED = 12
#: Inches: a row of few actions, all rows of many, the space around them, and a line of names.
ROW, ROWS, AROUND, LETTERS = 0.55, 6.5, 1.4, 0.2
#: Distance of ticks, as a share of an axis of roots.
APART = 0.15


def plot_allocation(
    names: Sequence[str], policy: ArrayLike, explored: ArrayLike, committed: ArrayLike
) -> Figure:
    """Draw bars of rounds for each action.

    If there are many actions, bars are thin, the policy is drawn as dots, and only the actions with
    the most rounds are named. With many actions, the lengths of the bars are square roots of
    rounds. A design gives many rounds to few actions; next to these bars, the rounds that the
    policy gives to each of hundreds of actions would be invisible.

    Parameters
    ----------
    names : sequence of str, length A
    policy : array, shape (A,)
        Rounds of the target policy.
    explored, committed : array, shape (A,)
        The rounds of SPEED for each action, during and after exploration.

    Returns
    -------
    matplotlib.figure.Figure
    """
    policy, explored, committed = (
        np.asarray(rounds, dtype=float) for rounds in (policy, explored, committed)
    )
    most = np.maximum(policy, explored + committed)
    # A stable sort keeps the order of the table.
    shown = np.sort(np.argsort(-most, kind="stable")[:MOST])
    policy, explored, committed = policy[shown], explored[shown], committed[shown]
    many = len(shown) > FEW
    height = ROWS if many else ROW * len(shown)
    fig, ax = plt.subplots(figsize=(6.2, height + AROUND))
    blue, grey = (strategy_style(name)["color"] for name in ("SPEED", "On-policy"))
    place = np.arange(len(shown))
    apart = 0.0 if many else 0.2
    thick = 0.8 if many else 0.38
    if not many:
        ax.barh(place - apart, policy, thick, color=grey, label="target policy")
    ax.barh(place + apart, explored, thick, color=blue, label="SPEED, exploring")
    ax.barh(
        place + apart, committed, thick, explored, color=blue, alpha=0.5, label="SPEED, committed"
    )
    if many:
        dots = {"color": grey, "markersize": 3.5, "linestyle": "none"}
        ax.plot(policy, place, ".", label="target policy", **dots)
        ax.set_xscale("function", functions=(_signed_root, _signed_square))
        ax.set_xlim(0, 1.05 * max(1.0, most.max()))
        ax.set_xticks(ticks := root_ticks(max(1.0, most.max())), [f"{tick:,}" for tick in ticks])
        ax.set_xlabel("rounds, as their roots")
    named = named_rows(most[shown], int(np.ceil(LETTERS / (height / len(shown)))))
    if many:
        named = sorted(sorted(named, key=lambda row: -most[shown[row]])[:NAMED])
    ax.set_yticks(place[named], [in_figure(names[shown[row]]) for row in named])
    ax.invert_yaxis()
    if many:
        ax.set_ylim(len(shown) - 0.5, -0.5)
    ax.grid(axis="y", visible=False)
    left = f", for the {len(shown)} of {len(most)} actions with the most"
    ax.set_title("planned rounds" + left * (len(shown) < len(most)))
    fig.legend(loc="outside lower center", ncols=3)
    return fig


def named_rows(rounds: NDArray[np.float64], apart: int) -> list[int]:
    """Return the rows to be named: those with the most rounds, at least `apart` rows apart."""
    chosen: list[int] = []
    for row in np.argsort(-rounds, kind="stable").tolist():
        if all(abs(row - other) >= apart for other in chosen):
            chosen.append(row)
    return sorted(chosen)


def root_ticks(most: float) -> list[int]:
    """Return round numbers, at most the largest count, whose square roots are well apart."""
    ticks: list[int] = []
    for power in range(int(np.log10(most)), -1, -1):
        for tick in (5 * 10**power, 2 * 10**power, 10**power):
            below = ticks[-1] if ticks else np.inf
            if tick <= most and np.sqrt(below) - np.sqrt(tick) >= APART * np.sqrt(most):
                ticks.append(tick)
    return [0, *(tick for tick in reversed(ticks) if tick >= APART**2 * most)]


def _signed_root(rounds: ArrayLike) -> NDArray[np.float64]:
    rounds = np.asarray(rounds, dtype=float)
    return np.asarray(np.sign(rounds) * np.sqrt(np.abs(rounds)))


def _signed_square(roots: ArrayLike) -> NDArray[np.float64]:
    roots = np.asarray(roots, dtype=float)
    return np.asarray(np.sign(roots) * roots**2)
