"""Drawings of the second lecture: walks to c, and a slope that proves that a walk is shortest.

A walk along the actions ends at the target direction c. One step along an action is its feature
vector over its standard deviation. In the *round trip*, the walk returns to where it began.
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import FigureBase
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import ConvexHull

from paper.plots.lectures.arrows import BEST, GREY, POLICY, plain
from speedbook import figures
from speedlib import optimal_design, target_direction

Floats = NDArray[np.float64]

#: Three actions, how noisy each is, and a policy: a walk along them reaches c in 7 quarter steps.
ARROWS = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
SIGMA = np.array([3.0, 4.0, 2.0])
OWN = np.array([0.5, 0.25, 0.25])
C = target_direction(ARROWS, OWN)
#: A walk that ends where it began: along the first two actions, and back along the third.
ROUND_TRIP = np.array([1.0, 1.0, -1.0])
COLOURS = (BEST, figures.COLOURS["green"], POLICY)


def quarters(weights: ArrayLike) -> float:
    """Return the number of quarter steps of a walk, given its weight for each action."""
    return float(4 * np.abs(np.asarray(weights)) @ SIGMA)


def with_detour(detour: float) -> Floats:
    """Return the policy's own walk, minus a multiple of the round trip."""
    weights: Floats = OWN - detour * ROUND_TRIP
    return weights


def elfving_set(sigma: Floats) -> Floats:
    """Return the corners of the set that one step reaches, in their order around it."""
    ends = np.vstack([ARROWS, -ARROWS]) / np.tile(sigma, 2)[:, None]
    corners: Floats = ends[ConvexHull(ends).vertices]
    return corners


def detour(place: FigureBase, removed: float) -> None:
    """Draw a walk to c and, below it, how its number of steps depends on the part removed.

    Parameters
    ----------
    place : figure or part of one
    removed : float
        How much of the round trip is subtracted from the policy's own walk, in per cent.
    """
    above, below = place.subplots(2, 1, height_ratios=(1.7, 1))
    weights = with_detour(removed / 100)
    start = np.zeros(2)
    for action in (2, 0, 1):
        end = start + weights[action] * ARROWS[action]
        above.plot(*np.array([start, end]).T, color=COLOURS[action], linewidth=2)
        count = round(4 * abs(weights[action]) * SIGMA[action])
        part = (np.arange(count) + 1)[:, None] / max(count, 1)
        above.plot(*(start + part * (end - start)).T, "o", color=COLOURS[action], markersize=7)
        start = end
    above.plot(*C, "s", color=figures.INK, markersize=11, zorder=5)
    above.annotate("c", tuple(C), (9, 1), textcoords="offset points", weight="bold")
    above.set(xlim=(-0.04, 0.92), ylim=(-0.04, 0.8))
    plain(above)
    share = np.linspace(-0.25, 0.5, 151)
    below.plot(100 * share, [quarters(with_detour(t)) for t in share], color=GREY)
    steps = quarters(weights)
    below.plot([removed], [steps], "o", color=figures.INK, markersize=13, clip_on=False)
    below.set(xlim=(-27, 52), ylim=(0, 21), xticks=[-25, 0, 25, 50], yticks=[0, 7, 14, 21])
    below.set_xlabel("round trip removed, %")
    below.set_title(f"{steps:.0f} quarter steps")


def _set(ax: Axes, sigma: Floats, stretch: float) -> None:
    """Draw the set that a number of steps reaches, with the ends of the scaled arrows."""
    corners = stretch * elfving_set(sigma)
    ax.fill(*corners.T, color=figures.PALE["blue"], zorder=0)
    ax.plot(*np.vstack([corners, corners[:1]]).T, color=BEST, linewidth=1.5)
    for action, (end, colour) in enumerate(
        zip(stretch * ARROWS / sigma[:, None], COLOURS, strict=True)
    ):
        ax.plot([0, end[0]], [0, end[1]], color=colour, linewidth=2.5)
        ax.plot(*end, "o", color=colour)
        away = 16 * end / np.linalg.norm(end)
        ax.annotate(
            str(action + 1),
            tuple(end),
            tuple(away),
            textcoords="offset points",
            color=colour,
            weight="bold",
            ha="center",
            va="center",
        )


def reach(place: FigureBase, steps: float) -> None:
    """Draw all points that a number of quarter steps reaches, and c.

    Parameters
    ----------
    place : figure or part of one
    steps : float
        Quarter steps.
    """
    ax = place.subplots()
    _set(ax, SIGMA, steps / 4)
    ax.plot(*C, "s", color=figures.INK, markersize=11, zorder=5)
    ax.annotate("c", tuple(C), (12, -4), textcoords="offset points", weight="bold")
    ax.set(xlim=(-1.25, 1.25), ylim=(-1.25, 1.25))
    plain(ax)
    exact = np.sqrt(optimal_design(ARROWS, SIGMA**2, direction=C).value)
    short = steps / 4 < exact - 1e-9
    touches = abs(steps / 4 - exact) < 1e-9
    ax.set_title("not there yet" if short else "it touches c" if touches else "more than needed")


def turned(place: FigureBase, angle: float) -> None:
    """Draw where the ray along c leaves Elfving's set, and the shares that follow.

    Parameters
    ----------
    place : figure or part of one
    angle : float
        Angle of c, in degrees.
    """
    turn = np.radians(angle)
    c = np.array([np.cos(turn), np.sin(turn)])
    design = optimal_design(ARROWS, SIGMA**2, direction=c)
    above, below = place.subplots(2, 1, height_ratios=(2.1, 1))
    _set(above, SIGMA, 1.0)
    leaves = c / np.sqrt(design.value)
    above.plot(*np.array([[0, 0], 0.68 * c]).T, color=figures.INK, linewidth=2)
    above.annotate("c", tuple(0.68 * c), (6, 2), textcoords="offset points", weight="bold")
    above.plot(*leaves, "o", color=figures.INK, markersize=12, zorder=6)
    above.set(xlim=(-0.55, 0.78), ylim=(-0.55, 0.74))
    plain(above)
    below.bar(["1", "2", "3"], 100 * design.weights, color=COLOURS)
    below.bar_label(
        below.containers[0], [f"{100 * w:.0f}" if w > 0.005 else "" for w in design.weights]
    )
    below.set(ylim=(0, 130), yticks=[], title="best shares, in %")
    below.grid(axis="x", visible=False)
    below.spines["left"].set_visible(False)


def highest_slope(angle: float) -> Floats:
    """Return the steepest slope in a direction such that no step climbs by more than 1.

    Parameters
    ----------
    angle : float
        Angle of the direction, in degrees.
    """
    turn = np.radians(angle)
    uphill = np.array([np.cos(turn), np.sin(turn)])
    slope: Floats = uphill / np.abs(ARROWS @ uphill / SIGMA).max()
    return slope


def slope(place: FigureBase, angle: float) -> None:
    """Draw all points at height 1 of a tilted ground, and how many steps it proves.

    Parameters
    ----------
    place : figure or part of one
    angle : float
        The direction uphill, in degrees.
    """
    y = highest_slope(angle)
    ax = place.subplots()
    _set(ax, SIGMA, 1.0)
    uphill, along = y / np.linalg.norm(y), np.array([-y[1], y[0]]) / np.linalg.norm(y)
    foot = uphill / np.linalg.norm(y)
    ax.plot(*np.array([foot - 2 * along, foot + 2 * along]).T, "--", color=GREY, linewidth=2)
    leaves = C / np.sqrt(optimal_design(ARROWS, SIGMA**2, direction=C).value)
    ax.plot(*np.array([[0, 0], C]).T, color=figures.INK, linewidth=2)
    ax.plot(*leaves, "o", color=figures.INK, zorder=6)
    ax.plot(*C, "s", color=figures.INK, markersize=11, zorder=5)
    ax.annotate("c", tuple(C), (12, -4), textcoords="offset points", weight="bold")
    ax.set(xlim=(-0.62, 0.92), ylim=(-0.62, 0.75))
    plain(ax)
    proved = 4 * C @ y
    ax.set_title(f"proves {proved:.1f} quarter steps")


def noisier_diagonal(place: FigureBase, sigma: float) -> None:
    """Draw Elfving's set and the best shares for another noise of the third action.

    Parameters
    ----------
    place : figure or part of one
    sigma : float
        Standard deviation of the noise of the third action.
    """
    noise = np.array([3.0, 4.0, sigma])
    design = optimal_design(ARROWS, noise**2, direction=C)
    above, below = place.subplots(2, 1, height_ratios=(2, 1))
    _set(above, noise, 1.0)
    above.plot(*np.array([[0, 0], C]).T, color=figures.INK, linewidth=2)
    leaves = C / np.sqrt(design.value)
    above.plot(*leaves, "o", color=figures.INK, markersize=12, zorder=6)
    above.set(xlim=(-0.6, 0.85), ylim=(-0.5, 0.65))
    plain(above)
    below.bar(["1", "2", "3"], 100 * design.weights, color=COLOURS)
    below.bar_label(
        below.containers[0], [f"{100 * w:.0f}" if w > 0.005 else "" for w in design.weights]
    )
    below.set(ylim=(0, 130), yticks=[], title="best shares, in %")
    below.grid(axis="x", visible=False)
    below.spines["left"].set_visible(False)
