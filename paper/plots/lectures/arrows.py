"""First lecture: arrows and shares, two coins, and the noise of one action."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import FigureBase
from numpy.typing import ArrayLike, NDArray

from speedbook import figures
from speedlib import optimal_design, pe_loss, target_direction, unit_ball

Floats = NDArray[np.float64]

BEST, POLICY, GREY = figures.COLOURS["blue"], figures.COLOURS["vermilion"], figures.GREY
PALE = "#a8a8a8"
#: Of the five advertisements; the second is the noisy one that the policy plays.
BALL = unit_ball()
#: Two coins: how much each counts.
HALVES = np.array([0.5, 0.5])


def arrow(ax: Axes, tip: ArrayLike, name: str, colour: str, strong: bool = True) -> None:
    """Draw an arrow from the origin with its name beyond the tip."""
    end = np.asarray(tip, dtype=float)
    line: Any = {"arrowstyle": "-|>", "linewidth": 3 if strong else 1.6, "color": colour}
    line |= {"shrinkA": 0, "shrinkB": 0, "mutation_scale": 18}
    ax.annotate("", tuple(end), (0, 0), arrowprops=line)
    away = 15 * end / np.linalg.norm(end)
    ax.annotate(
        name,
        tuple(end),
        tuple(away),
        textcoords="offset points",
        color=colour,
        ha="center",
        va="center",
        weight="bold" if strong else "normal",
    )


def mean_arrow(ax: Axes, c: Floats) -> None:
    """Draw the mean arrow, and write its name on its ray, farther out than the actions' names."""
    arrow(ax, c, "", POLICY)
    beyond = 1.34 * c / np.linalg.norm(c)
    ax.plot(*np.array([c, 0.96 * beyond]).T, ":", color=POLICY, linewidth=1.6)
    ax.text(beyond[0], beyond[1], "c", color=POLICY, weight="bold", ha="center", va="center")


def plain(ax: Axes) -> None:
    """Hide some axes, so only empty space is left in their place."""
    ax.set(xticks=[], yticks=[])
    ax.set_aspect("equal", anchor="W")
    ax.spines[["left", "bottom"]].set_visible(False)


def bars(ax: Axes, values: Floats, colour: str, title: str, form: str = "{:.0f} %") -> None:
    """Draw one bar for each action, from the top down, with its value written at its end."""
    names = [str(action + 1) for action in range(len(values))]
    sns.barplot(x=values, y=names, color=colour, saturation=1, ax=ax)
    ax.bar_label(ax.containers[0], [form.format(v) for v in values], padding=4)  # type: ignore[arg-type]
    ax.set(title=title, xlabel="", ylabel="", xticks=[], xlim=(0, 1.55 * max(values.max(), 1e-9)))
    ax.spines["bottom"].set_visible(False)
    ax.tick_params(left=False)


def five_arrows(place: FigureBase, best: bool) -> None:
    """Draw the five actions with their mean under the policy, and how noisy each is.

    Parameters
    ----------
    place : figure or part of one
    best : bool
        Whether to emphasise the actions of the best design, with their shares next to the policy's.
    """
    x, variances, policy = BALL.bandit.features, BALL.bandit.variances, BALL.policy
    c = target_direction(x, policy)
    design = optimal_design(x, variances, direction=c)
    shown = [(100 * policy, PALE, "policy", "{:.0f} %")]
    if best:
        shown.append((100 * design.weights, BEST, "best design", "{:.0f} %"))
    else:
        shown.insert(0, (variances, GREY, "variance", "{:.2f}"))
    left, *right = place.subplots(1, 3, width_ratios=(1.5, 1, 1))
    for action, tip in enumerate(x):
        used = best and design.weights[action] > 0
        arrow(left, tip, str(action + 1), BEST if used else GREY, strong=used)
    mean_arrow(left, c)
    left.set(xlim=(-0.02, 1.38), ylim=(-0.06, 1.15))
    plain(left)
    left.set_title("five actions")
    for ax, (values, colour, title, form) in zip(right, shown, strict=True):
        bars(ax, values, colour, title, form)


def policy_of(second: float) -> Floats:
    """Return the policy of the first experiment, with another share for its second action."""
    others = BALL.policy * (np.arange(5) != 1)
    policy: Floats = (1 - second) * others / others.sum()
    policy[1] = second
    return policy


def moved_policy(place: FigureBase, second: float) -> None:
    """Draw mean arrow and best design for another policy.

    Parameters
    ----------
    place : figure or part of one
    second : float
        Share of the second action, in per cent.
    """
    x, variances = BALL.bandit.features, BALL.bandit.variances
    policy = policy_of(second / 100)
    c = target_direction(x, policy)
    design = optimal_design(x, variances, direction=c)
    ratio = pe_loss(policy, x, variances, direction=c) / design.value
    above, below = place.subplots(2, 1, height_ratios=(2, 1))
    for action, tip in enumerate(x):
        used = design.weights[action] > 0
        arrow(above, tip, str(action + 1), BEST if used else GREY, strong=used)
    mean_arrow(above, c)
    above.set(xlim=(-0.1, 1.36), ylim=(-0.08, 1.3))
    plain(above)
    above.set_title(f"the policy needs {ratio:.2f} times")
    names = [str(action + 1) for action in range(5)]
    below.bar(names, 100 * design.weights, color=BEST)
    below.bar_label(
        below.containers[0], [f"{100 * w:.0f}" if w > 0.005 else "" for w in design.weights]
    )
    below.set(ylim=(0, 125), yticks=[], title="best shares, in %")
    below.grid(axis="x", visible=False)
    below.spines["left"].set_visible(False)


def coin_error(share: ArrayLike, noisy: float, rounds: int) -> Floats:
    """Return the mean squared error of two coins, in squared euros.

    Parameters
    ----------
    share : array
        Share of the noisy coin.
    noisy : float
        Noise of the noisy coin in euros; the quiet coin has a noise of 1 euro.
    rounds : int
    """
    share = np.asarray(share, dtype=float)
    quiet, loud = HALVES**2 * np.array([1, noisy**2]) / rounds
    error: Floats = quiet / (1 - share) + loud / share
    return error


def two_coins(place: FigureBase, share: float, noisy: float, rounds: int) -> None:
    """Draw how much one more try of each coin reduces the error, and the error of these shares.

    Parameters
    ----------
    place : figure or part of one
    share : float
        Share of the noisy coin, in per cent.
    noisy, rounds
        As for `coin_error`.
    """
    above, below = place.subplots(2, 1, height_ratios=(1, 1.3))
    tries = rounds * np.array([1 - share / 100, share / 100])
    worth = 1e4 * HALVES**2 * np.array([1, noisy**2]) / tries**2
    above.barh(["quiet", "noisy"], worth, color=[BEST, POLICY])
    above.bar_label(above.containers[0], [f"{w:.1f}" for w in worth], padding=4)
    top = 12 * 1e4 * HALVES[0] ** 2 / rounds**2
    above.set(xlim=(0, max(top, 1.3 * worth.max())), xticks=[], title="one more try gains")
    above.spines["bottom"].set_visible(False)
    above.tick_params(left=False)
    best = noisy / (1 + noisy)
    shares = np.linspace(0.2, 0.97, 150)
    least = coin_error(best, noisy, rounds)
    ratio = float(coin_error(share / 100, noisy, rounds) / least)
    below.plot(100 * shares, coin_error(shares, noisy, rounds) / least, color=GREY)
    below.plot([share], [ratio], "o", color=figures.INK, markersize=13, clip_on=False)
    below.set(xlim=(18, 99), ylim=(0.9, 2.6), xticks=[25, 50, 75], yticks=[1, 2])
    below.set_xlabel("share of the noisy coin, %")
    below.set_title(f"error {ratio:.2f} times the least")


def coin_tosses(place: FigureBase, share: float, noisy: float, tosses: int, seed: int) -> None:
    """Draw how 4,000 estimates scatter, each from a given number of tosses of two fair coins.

    Parameters
    ----------
    place : figure or part of one
    share : float
        Share of the noisy coin, in per cent.
    noisy : float
        As for `coin_error`.
    tosses : int
        Number of tosses of both coins together.
    seed : int
    """
    rng = np.random.default_rng(seed)
    many = min(max(round(tosses * share / 100), 1), tosses - 1)
    counts = np.array([tosses - many, many])
    heads = rng.binomial(counts, 0.5, size=(4000, 2))
    estimates = ((2 * heads - counts) / counts * [1, noisy]) @ HALVES
    ax = place.subplots()
    ax.hist(
        estimates, bins=(0.05 + 0.2 * np.arange(-10, 10)).tolist(), color=PALE, edgecolor="white"
    )
    spread = float(np.sqrt((estimates**2).mean()))
    ax.plot([-spread, spread], [1250, 1250], color=BEST, linewidth=6, solid_capstyle="butt")
    ax.text(0, 1300, f"typical error {100 * spread:.0f} cents", ha="center", color=BEST)
    ax.set(xlim=(-2, 2), ylim=(0, 1450), yticks=[], xticks=[-1, 0, 1])
    ax.spines["left"].set_visible(False)
    ax.set_xlabel("error of an estimate, euros")
    ax.set_title(f"{counts[0]} quiet and {counts[1]} noisy tosses")


@cache
def _with_third(factor: float) -> Floats:
    """Return the best shares when the noise of the third action has another size."""
    x, scale = BALL.bandit.features, np.where(np.arange(5) == 2, factor**2, 1.0)
    c = target_direction(x, BALL.policy)
    return optimal_design(x, BALL.bandit.variances * scale, direction=c).weights


def noisier_third(place: FigureBase, noise: float) -> None:
    """Draw the best shares when the noise of the third action has another size.

    Parameters
    ----------
    place : figure or part of one
    noise : float
        Factor of its standard deviation.
    """
    above, below = place.subplots(2, 1, height_ratios=(1.2, 1))
    names = [str(action + 1) for action in range(5)]
    now = 100 * _with_third(noise)
    colours = [POLICY if action == 2 else BEST for action in range(5)]
    above.bar(names, now, color=colours)
    above.bar_label(above.containers[0], [f"{v:.0f}" if v > 0.5 else "" for v in now])
    above.set(ylim=(0, 100), yticks=[], title="best shares, in %")
    above.grid(axis="x", visible=False)
    above.spines["left"].set_visible(False)
    factors = np.linspace(0.25, 2, 141)
    curve = [100 * _with_third(factor)[2] for factor in factors]
    below.plot(factors, curve, color=GREY)
    below.plot([noise], [now[2]], "o", color=POLICY, markersize=13, clip_on=False)
    below.set(xlim=(0.2, 2.05), ylim=(0, 100), xticks=[0.5, 1, 1.5, 2], yticks=[0, 50, 100])
    below.set_xticks([0.5, 1, 1.5, 2], ["½", "1", "1½", "2"])
    below.set_xlabel("its noise, times the true one")
    below.set_title("share of action 3")
