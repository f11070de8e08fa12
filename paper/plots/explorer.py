"""The pictures that replace the explorer on paper and without JavaScript.

``python -m paper.plots.explorer`` draws them all, two for each preset, and writes their
descriptions to a file. A test compares these with the current results of the library. Actions are
counted from 1, as in the explorer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from speedbook import figures
from speedbook.paths import find_root
from speedlib import Rewards, optimal_design, pe_loss
from speedlib.covariance import estimate_covariance
from speedlib.designs import Design, target_direction
from speedlib.strategies import SPEED

Floats = NDArray[np.float64]

#: Inches, of a hundred pixels each, so a narrow phone shows the whole picture.
WIDTH, HEIGHT = 3.6, 4.4
#: Paths of the presets and of the pictures.
PRESETS = "book/_static/explorer/presets.js"
PICTURES = "book/_static/figures/explorer"

#: A set is drawn with unequal units if it is longer than this multiple of its width.
MOST_OBLONG = 5

#: As in the explorer.
OURS, POLICY = figures.COLOURS["blue"], figures.COLOURS["vermilion"]


@dataclass(frozen=True)
class Experiment:
    """A preset, with the results of the library.

    Parameters
    ----------
    title : str
    state : mapping
        The state in ``book/_static/explorer/presets.js``.
    """

    title: str
    state: Mapping[str, Any]

    @property
    def features(self) -> Floats:
        """The arrows, shape (A, 2)."""
        return np.array(self.state["arrows"], dtype=float)

    @property
    def policy(self) -> Floats:
        """The target policy, shape (A,)."""
        return np.array(self.state["policy"], dtype=float)

    @property
    def variances(self) -> Floats:
        """The variances of the actions, shape (A,)."""
        noise = self.state["noise"]
        if "sigma" in noise:
            return np.asarray(np.square(np.array(noise["sigma"], dtype=float)))
        s11, s12, s22 = noise["Sigma"]
        x, y = self.features.T
        return np.asarray(s11 * x**2 + 2 * s12 * x * y + s22 * y**2)

    @cached_property
    def direction(self) -> Floats:
        """The direction c, shape (2,)."""
        return target_direction(self.features, self.policy)

    @cached_property
    def design(self) -> Design:
        """The optimal design."""
        return optimal_design(self.features, self.variances, direction=self.direction)

    @cached_property
    def policy_ratio(self) -> float:
        """The loss of the policy's own shares, divided by the loss of the optimal design."""
        return self._ratio(self.policy)

    def believed(self, psd: bool) -> tuple[Floats, Design, float]:
        """Return the result of exploration without error.

        Parameters
        ----------
        psd : bool
            Whether the fitted matrix is required to be positive semidefinite.

        Returns
        -------
        variances : ndarray, shape (A,)
            The variances that SPEED estimates, with its floor.
        design : Design
            The design to which it commits.
        ratio : float
            The loss of the design, divided by the smallest loss.
        """
        counts = np.zeros(len(self.features), dtype=int)
        counts[self.state["explored"]] = 1
        rewards = Rewards(counts, np.zeros(len(counts)), counts * self.variances)
        estimate = estimate_covariance(rewards, self.features, "psd" if psd else "lstsq")
        variances = estimate.floored(SPEED().variance_floor)
        design = optimal_design(self.features, variances, direction=self.direction)
        return variances, design, self._ratio(design.weights)

    def _ratio(self, weights: Floats) -> float:
        loss = pe_loss(weights, self.features, self.variances, direction=self.direction)
        return float(loss) / self.design.value


def read_experiments(root: Path) -> dict[str, Experiment]:
    """Return the presets by name.

    Parameters
    ----------
    root : Path
        Top folder of the book.
    """
    text = (root / PRESETS).read_text(encoding="utf-8")
    _, _, assigned = text.partition("var SpeedPresets = ")
    presets = json.loads(assigned.rstrip().removesuffix(";"))
    return {name: Experiment(each["title"], each["state"]) for name, each in presets.items()}


def design_words(experiment: Experiment) -> str:
    """Return the description of the first tab's picture."""
    weights = experiment.design.weights
    return (
        f"{experiment.title}: the ray along c leaves Elfving's set {_where(experiment)}. "
        f"Of the rounds, the best design {_shares(weights)}; the loss of the policy's own shares "
        f"is {_times(experiment.policy_ratio)}."
    )


def explore_words(experiment: Experiment) -> str:
    """Return the description of the second tab's picture."""
    variances, design, ratio = experiment.believed(psd=False)
    _, _, mended = experiment.believed(psd=True)
    off = np.abs(np.log(variances / experiment.variances))
    worst = int(np.argmax(off))
    explored = _listed(experiment.state["explored"])
    found = "finds all variances"
    if off[worst] > 1e-6:
        found = (
            f"estimates the variance {_number(experiment.variances[worst])} of action {worst + 1} "
            f"as {_number(variances[worst])}"
        )
    return (
        f"{experiment.title}: unlimited exploration of actions {explored} {found}. Of the rounds, "
        f"the design for this estimate {_shares(design.weights)}; its loss is {_times(ratio)}, and "
        f"with a positive semidefinite fit {_times(mended)}."
    )


def _where(experiment: Experiment) -> str:
    support = experiment.design.support
    if len(support) == 1:
        return f"at the point of action {support[0] + 1}"
    return f"between the points of actions {_listed(support)}"


def _shares(weights: Floats) -> str:
    if np.count_nonzero(weights) == 1:
        return f"gives all to action {np.argmax(weights) + 1}"
    parts = [f"{weights[a]:.0%} to action {a + 1}" for a in np.flatnonzero(weights)]
    return f"gives {_joined(parts)}"


def _listed(actions: Any) -> str:
    return _joined([str(a + 1) for a in actions])


def _joined(parts: list[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def _times(ratio: float) -> str:
    return "the least possible" if ratio < 1.0005 else f"{ratio:.3g} times the least"


def _number(value: float) -> str:
    return f"{value:.3g}"


def draw_design(experiment: Experiment) -> Figure:
    """Draw Elfving's set, the ray, and the shares of the policy and of the optimal design."""
    fig, (plane, bars) = _axes()
    points = experiment.features / np.sqrt(experiment.variances)[:, None]
    both = np.vstack([points, -points])
    hull = both[ConvexHull(both).vertices]
    plane.fill(*hull.T, color=figures.PALE["blue"], zorder=0)
    plane.plot(*np.vstack([hull, hull[:1]]).T, color=OURS, linewidth=1)
    for a, point in enumerate(points):
        plane.plot([0, point[0]], [0, point[1]], color=figures.GREY, linewidth=1)
        _name(plane, a, point, experiment.design.weights[a] > 0)
    plane.plot(*points.T, ".", color=figures.INK, markersize=5)
    leaves = experiment.direction / np.sqrt(experiment.design.value)
    plane.plot(*np.array([[0, 0], 1.25 * leaves]).T, color=POLICY)
    plane.plot(*leaves, "o", color=POLICY)
    plane.annotate("c", tuple(1.25 * leaves), (3, 3), textcoords="offset points", fontsize=11)
    width, height = np.abs(points).max(axis=0)
    if max(width, height) < MOST_OBLONG * min(width, height):
        plane.set_aspect("equal", adjustable="datalim")
    plane.margins(0.12)
    plane.set_title("points x / σ and Elfving's set", fontsize=11)
    shares = {"policy": experiment.policy, "best design": experiment.design.weights}
    _draw_shares(bars, shares, POLICY)
    return fig


def draw_explore(experiment: Experiment) -> Figure:
    """Draw the true and the estimated variances, and the shares that follow from them."""
    variances, design, _ = experiment.believed(psd=False)
    fig, (top, bars) = _axes()
    place = np.arange(len(variances))
    top.vlines(place, experiment.variances, variances, color=figures.GREY, linewidth=1)
    top.plot(place, experiment.variances, "_", markersize=16, color=figures.INK)
    top.plot(place, variances, "o", color=OURS)
    explored = experiment.state["explored"]
    top.set_xticks(place, [f"{a + 1}\nseen" if a in explored else str(a + 1) for a in place])
    top.set_ylim(0, 1.15 * max(experiment.variances.max(), variances.max()))
    top.margins(x=0.1)
    top.grid(axis="x", visible=False)
    top.set_title("variance: – true, ● estimated", fontsize=11)
    shares = {"best design": experiment.design.weights, "for the estimate": design.weights}
    _draw_shares(bars, shares, figures.COLOURS["grey"])
    return fig


def _axes() -> tuple[Figure, Any]:
    figures.use_style()
    return plt.subplots(2, 1, figsize=(WIDTH, HEIGHT), height_ratios=(3, 2))


def _name(ax: Axes, action: int, point: Floats, strong: bool) -> None:
    away = point / np.linalg.norm(point) * 9
    ax.annotate(
        str(action + 1),
        tuple(point),
        tuple(away),
        textcoords="offset points",
        ha="center",
        va="center",
        fontsize=11,
        fontweight="bold" if strong else "normal",
        color=OURS if strong else figures.GREY,
    )


def _draw_shares(ax: Axes, shares: Mapping[str, Floats], first: str) -> None:
    """Draw two designs next to each other, the first in a given colour."""
    for side, colour, (label, weights) in zip((-1, 1), (first, OURS), shares.items(), strict=True):
        place = np.arange(len(weights))
        ax.bar(place + 0.2 * side, weights, 0.38, color=colour, label=label)
        ax.set_xticks(place, [str(a + 1) for a in place])
    ax.set_ylim(0, 1)
    ax.set_yticks([0, 0.5, 1], ["0", "50 %", "100 %"])
    ax.grid(axis="x", visible=False)
    ax.set_title("share of the rounds, by action", fontsize=11)
    ax.figure.legend(loc="outside lower center", ncols=2, fontsize=10)


#: By tab: the functions that draw its picture and that describe it.
TABS = {"design": (draw_design, design_words), "explore": (draw_explore, explore_words)}


def pictures(root: Path) -> dict[str, tuple[Figure, str]]:
    """Return the figure and the description of each picture, by name.

    Parameters
    ----------
    root : Path
        Top folder of the book.
    """
    return {
        f"{name}-{tab}": (draw(experiment), say(experiment))
        for name, experiment in read_experiments(root).items()
        for tab, (draw, say) in TABS.items()
    }


def write_pictures(root: Path) -> None:
    """Draw all pictures, and write them with their descriptions.

    Parameters
    ----------
    root : Path
        Top folder of the book.
    """
    folder, told = root / PICTURES, {}
    folder.mkdir(parents=True, exist_ok=True)
    for name, (fig, words) in pictures(root).items():
        told[name] = {"alt": words, "digest": figures.data_digest(figures.plotted_data(fig))}
        (folder / f"{name}.png").write_bytes(figures.png_of(fig))
        plt.close(fig)
    text = json.dumps(told, indent=2, ensure_ascii=False)
    (folder / "pictures.json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    write_pictures(find_root())
