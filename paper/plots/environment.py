"""An environment in one picture: arrows, noise, target policy and optimal shares."""

from __future__ import annotations

from typing import Any, cast

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from speedbook import figures
from speedbook.text import counted
from speedlib.designs import Design, optimal_design, target_direction

Floats = NDArray[np.float64]

#: Up to this number of actions, each has a place and a number; more are dots over their noise.
FEW = 24
#: Up to this number of actions, the standard deviation is written below each number.
WRITTEN = 8
POLICY, BEST = figures.COLOURS["vermilion"], figures.COLOURS["blue"]
#: The ellipse of the noise reaches this far, as a share of the longest arrow.
ELLIPSE = 0.6
#: Of arrows whose tips are this close, as a share of the longest, only one has a number.
CLOSE = 0.12
#: A label stands this far from the tip that it names, as a share of the longest arrow.
AWAY = 0.13
#: With so much room, as a share of the longest arrow, it stands ahead of its arrow.
ROOM = 0.1


def show_environment(
    features: ArrayLike,
    policy: ArrayLike,
    *,
    name: str,
    Sigma: ArrayLike | None = None,
    variances: ArrayLike | None = None,
) -> None:
    r"""Display the environment of a page: arrows, noise, target policy and optimal shares.

    With two features the actions are arrows, counted from 1, drawn with the direction
    :math:`c=\sum_a\pi(a)x(a)`. The noise is the ellipse whose half-width along a unit vector
    :math:`u` is :math:`\sqrt{u^\top\Sigma u}`, in a unit of its own. In every dimension, bars
    compare the shares of the target policy with those of the optimal design. With more than `FEW`
    actions, dots over the standard deviation of the noise replace the bars.

    Parameters
    ----------
    features : array, shape (A, d)
    policy : array, shape (A,)
        Nonnegative, of sum 1.
    name : str
        Name of the figure, as for `speedbook.figures.show`.
    Sigma : array, shape (d, d), optional
        The matrix of the noise, from which the variances follow.
    variances : array, shape (A,), optional
        Variances of the actions; give them if they do not follow from a matrix.

    Raises
    ------
    ValueError
        If not exactly one of `Sigma` and `variances` is given.
    """
    features = np.asarray(features, dtype=float)
    policy = np.asarray(policy, dtype=float)
    if (Sigma is None) == (variances is None):
        raise ValueError("Sigma, variances: give one of the two")
    if Sigma is not None:
        variances = np.einsum("ad,de,ae->a", features, np.asarray(Sigma, dtype=float), features)
    variances = np.asarray(variances, dtype=float)
    design = optimal_design(features, variances, policy=policy)
    fig = _draw(features, policy, variances, design, Sigma)
    figures.show(fig, name=name, alt=environment_words(policy, variances, design))


def environment_words(policy: Floats, variances: Floats, design: Design) -> str:
    """Return the description of an environment's picture.

    Parameters
    ----------
    policy, variances : ndarray, shape (A,)
    design : Design
        The optimal design.
    """
    sigma, support = np.sqrt(variances), design.support
    listed = ", ".join(f"{100 * design.weights[a]:.0f} % to action {a + 1}" for a in support[:5])
    more = f" and the rest to {len(support) - 5} others" if len(support) > 5 else ""
    return (
        f"{counted(len(policy), 'action')} with standard deviations from {sigma.min():.3g} to "
        f"{sigma.max():.3g}. The target policy chooses {np.count_nonzero(policy)} of them; "
        f"the optimal design gives {listed}{more}."
    )


def _draw(
    features: Floats, policy: Floats, variances: Floats, design: Design, Sigma: ArrayLike | None
) -> Figure:
    few = len(policy) <= FEW
    if features.shape[1] != 2 or not few:
        fig, right = plt.subplots(figsize=(4.8, 3.0))
    else:
        fig, (left, right) = plt.subplots(1, 2, figsize=(5.2, 2.9), width_ratios=(1, 1.1))
        _draw_arrows(left, features, target_direction(features, policy), design, Sigma)
    (_draw_bars if few else _draw_dots)(right, policy, np.sqrt(variances), design.weights)
    # Equal scales change the ticks, which the layout must know before it makes room for them.
    fig.draw_without_rendering()
    return fig


def _draw_arrows(
    ax: Axes, features: Floats, direction: Floats, design: Design, Sigma: ArrayLike | None
) -> None:
    longest = np.linalg.norm(features, axis=1).max()
    if Sigma is not None:
        turn = np.linspace(0, 2 * np.pi, 200)
        values, vectors = np.linalg.eigh(np.asarray(Sigma, dtype=float))
        roots = np.sqrt(np.maximum(values, 0))
        ellipse = vectors @ (roots[:, None] * np.array([np.cos(turn), np.sin(turn)]))
        ellipse *= ELLIPSE * longest / max(roots.max(), np.finfo(float).tiny)
        ax.fill(*ellipse, color=figures.PALE["grey"], zorder=0)
        place = int(np.argmin(ellipse[0] + ellipse[1]))
        _write(ax, "noise", ellipse[:, place], (-2, -9), figures.GREY)
        corners = np.array([[-0.25, -1.5 * AWAY], [0.25, -1.5 * AWAY]])
        ax.update_datalim(ellipse[:, place] + longest * corners)
    best = np.isin(np.arange(len(features)), design.support)
    colours = np.where(best, BEST, figures.GREY)
    for arrow, used, colour in zip(features, best, colours, strict=True):
        _arrow(ax, arrow, colour, 2.0 if used else 1.1)
    numbered: list[Floats] = []
    labels: list[Floats] = []
    drawn = np.vstack([features, direction])
    for a in np.argsort(~best, kind="stable"):  # actions of the optimal design come first
        arrow = features[a]
        if all(np.linalg.norm(arrow - other) > CLOSE * longest for other in numbered):
            way = _clear_way(arrow, drawn, labels)
            _write(ax, f"{a + 1}", arrow, 9 * way, colours[a])
            numbered.append(arrow)
            labels.append(arrow + AWAY * longest * way)
    _arrow(ax, direction, POLICY, 2.0)
    way = _clear_way(direction, drawn, labels)
    _write(ax, "c", direction, 9 * way, POLICY)
    # Arrows are annotations, which do not widen the axes, and neither do labels.
    ax.update_datalim([*labels, direction + AWAY * longest * way])
    ax.plot(*np.vstack([features, direction, np.zeros(2)]).T, linestyle="none")
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.08)
    ax.set_title("the actions and c", fontsize=11)


def _arrow(ax: Axes, tip: Floats, colour: str, width: float) -> None:
    style: Any = {"arrowstyle": "-|>", "color": colour, "linewidth": width}
    style |= {"shrinkA": 0, "shrinkB": 0}
    ax.annotate("", tuple(tip), (0, 0), arrowprops=style)


def _clear_way(tip: Floats, arrows: Floats, labels: list[Floats]) -> Floats:
    """Return the unit vector from a tip to where its label is clear of arrows and other labels.

    That is ahead if there is room, and otherwise ahead or to a side, where there is most.
    """
    longest = np.linalg.norm(arrows, axis=1).max()
    ahead = tip / max(np.linalg.norm(tip), np.finfo(float).tiny)
    across = np.array([-ahead[1], ahead[0]])
    ways = [ahead, across, -across]
    rooms = []
    for way in ways:
        spot = tip + AWAY * longest * way
        squares = np.maximum(np.sum(arrows**2, axis=1), np.finfo(float).tiny)
        along = np.clip(arrows @ spot / squares, 0, 1)
        nearest = np.linalg.norm(spot - along[:, None] * arrows, axis=1)
        rooms.append(min([*nearest, *(np.linalg.norm(spot - label) for label in labels)]))
    return ahead if rooms[0] > ROOM * longest else ways[int(np.argmax(rooms))]


def _write(ax: Axes, text: str, place: Floats, away: ArrayLike, colour: str) -> None:
    ax.annotate(
        text,
        tuple(place),
        tuple(np.asarray(away, dtype=float)),
        textcoords="offset points",
        ha="center",
        va="center",
        fontsize=11,
        color=colour,
    )


def _draw_bars(ax: Axes, policy: Floats, sigma: Floats, best: Floats) -> None:
    place = np.arange(len(policy))
    shown = (("policy", -0.2, policy, POLICY), ("optimal", 0.2, best, BEST))
    for label, side, shares, colour in shown:
        ax.bar(place + side, 100 * shares, 0.38, color=colour, label=label)
    names = [f"{a + 1}" for a in place]
    ax.set_xlabel("action")
    if len(policy) <= WRITTEN:
        names = [f"{a + 1}\n{sd:.2g}" for a, sd in enumerate(sigma)]
        ax.set_xlabel("action, and σ of its noise")
    ax.set_xticks(place, names)
    ax.grid(axis="x", visible=False)
    ax.set_title("share of the rounds, %", fontsize=11)
    # Room above the bars for the legend, more of it where those below it are tall.
    below = len(policy) // 2
    tallest, near = (max(policy[i:].max(), best[i:].max()) for i in (0, below))
    ax.set_ylim(0, max(135 * tallest, 155 * near))
    ax.legend(loc="upper right")


def _draw_dots(ax: Axes, policy: Floats, sigma: Floats, best: Floats) -> None:
    ax.plot(sigma, 100 * policy, ".", markersize=4, color=POLICY, alpha=0.6, label="policy")
    used = best > 0
    ax.plot(sigma[used], 100 * best[used], "o", color=BEST, label="optimal, where not 0")
    linear = max(float(100 / len(policy)), 0.01)
    ax.set_yscale("symlog", linthresh=linear)
    # Powers of ten that are not too near to zero, of which every number would lie on another.
    ax.set_yticks([0, *10.0 ** np.arange(np.ceil(np.log10(linear)), 3)])
    ax.minorticks_off()
    ax.set_ylim(0, 200 * max(policy.max(), best.max()))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.set_xlabel("σ of the noise of an action")
    ax.set_title("share of the rounds, %", fontsize=11)
    cast(Figure, ax.get_figure()).legend(loc="outside lower center", ncols=2)
