"""The pictures of a sweep: each claim's estimates over each parameter, and the runs' own pictures.

A picture of the first kind has a panel for every parameter. A line joins points at which all other
parameters are equal; its colour shows the value of one of these parameters. A bar shows the
interval of a record, and the form of a marker shows the verdict.
"""

from __future__ import annotations

import io
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from PIL import Image

from speedbook.claims.rules import Verdict
from speedbook.figures import COLOURS, GREY, REFERENCE, in_figure
from speedbook.notebook.parameters import Value
from speedbook.notebook.values import as_shown
from speedbook.run.sweep import Sweep, SweepResults
from speedbook.text import rounded

#: The form of the marker of each verdict; others get the last.
MARKERS = {
    Verdict.SUPPORTED: "o",
    Verdict.CONSISTENT: "o",
    Verdict.CHECKED: "o",
    Verdict.CONTRADICTED: "X",
    Verdict.NOT_CONSISTENT: "X",
    Verdict.THRESHOLD_NOT_MET: "v",
    Verdict.INCONCLUSIVE: "s",
    Verdict.VACUOUS: "D",
    Verdict.NOT_TESTABLE: "P",
}
#: The most values of a parameter that have colours, and the most panels in a row.
MOST_COLOURS, ACROSS = 8, 3
#: An axis of numbers is logarithmic if the largest is so many times the smallest, above 0.
WIDE = 50
#: The greatest distance by which the first and the last line are moved apart, over the whole axis.
APART = 0.06
#: The width in pixels of a run's picture among others, and the most of them.
SMALL, MOST_PICTURES = 560, 60


def record_frame(results: SweepResults) -> pd.DataFrame:
    """Return a row for each record: point, claim, the swept parameters, numbers and verdict."""
    rows = []
    for point in results.sweep.points:
        if point.number not in results.finished:
            continue
        _, manifest = results.finished[point.number]
        values = {name: point.request.values[name] for name in results.sweep.plan.swept}
        for claim, record in manifest.results.records.items():
            low, high = record["interval"]
            numbers = {"estimate": record["estimate"], "low": low, "high": high}
            about = {"point": point.number, "claim": claim, "verdict": record["verdict"]}
            rows.append(about | numbers | {_key(name): value for name, value in values.items()})
    return pd.DataFrame(rows)


def _key(parameter: str) -> str:
    # No parameter has a blank in its name.
    return f"value of {parameter}"


def record_figure(
    frame: pd.DataFrame, claim: str, limits: tuple[float, float], swept: Sequence[str]
) -> Figure:
    """Draw the estimates of one claim over each swept parameter.

    Parameters
    ----------
    frame : data frame
        As `record_frame` makes it.
    claim : str
        The claim to draw.
    limits : pair of float
        The limits of the claim's rule, drawn as lines if they are within the picture.
    swept : sequence of str
        The parameters, a panel each.
    """
    mine = frame[frame["claim"] == claim]
    across = min(ACROSS, len(swept))
    down = -(-len(swept) // across)
    size = (max(4.6, 3.9 * across), 3.9 * down)
    fig, grid = plt.subplots(down, across, figsize=size, sharey=True, squeeze=False)
    for ax, name in zip(grid.flat, swept, strict=False):
        _panel(ax, mine, name, [other for other in swept if other != name])
    for ax in grid.flat[len(swept) :]:
        ax.set_visible(False)
    _show_a_limit(grid.flat[0], mine, limits)
    shown = grid.flat[0].get_ylim()
    for end in set(limits):
        if shown[0] <= end <= shown[1]:
            for ax in grid.flat[: len(swept)]:
                ax.axhline(end, **{**REFERENCE, "linestyle": "--"})
    for ax in grid[:, 0]:
        ax.set_ylabel("estimate")
    found = [verdict for verdict in Verdict if verdict in set(mine["verdict"])]
    marks = [
        Line2D([], [], color=GREY, linestyle="", marker=MARKERS[verdict], label=str(verdict))
        for verdict in found
    ]
    fig.legend(handles=marks, loc="outside upper left", ncols=3, handletextpad=0.2)
    # A first round: the layout depends on the labels of the ticks, and they on the layout.
    fig.draw_without_rendering()
    return fig


def _show_a_limit(ax: Axes, rows: pd.DataFrame, limits: tuple[float, float]) -> None:
    """Where all estimates are the same number, show how far it is from the nearer limit."""
    middle = float(rows["low"].min())
    ends = [end for end in limits if math.isfinite(end) and end != middle]
    if middle == rows["high"].max() and ends:
        end = min(ends, key=lambda end: abs(end - middle))
        room = 0.15 * abs(end - middle)
        ax.set_ylim(min(middle, end) - room, max(middle, end) + room)


def _panel(ax: Axes, rows: pd.DataFrame, name: str, others: Sequence[str]) -> None:
    """Draw the estimates over one parameter, a line for each combination of the others."""
    import seaborn

    places, labels = _places(rows[_key(name)])
    keys = [_key(other) for other in others]
    lines = rows[keys].map(as_shown).agg(", ".join, axis=1) if keys else ""
    data = rows.assign(place=places, line=lines)
    order = list(dict.fromkeys(data["line"]))
    wide = not labels and places.min() > 0 and places.max() >= WIDE * places.min()
    # Lines are moved apart a little, so that intervals at the same value do not hide one another.
    number = data["line"].map(order.index) - (len(order) - 1) / 2
    if wide:
        data["place"] *= (places.max() / places.min()) ** (number * APART / max(len(order), 4))
        ax.set_xscale("log")
    else:
        reach = len(labels) or (places.max() - places.min()) or 1
        data["place"] += reach * number * APART / max(len(order), 4)
    shown = {other: list(dict.fromkeys(data[_key(other)].map(as_shown))) for other in others}
    by = next((other for other in others if 1 < len(shown[other]) <= MOST_COLOURS), None)
    data["value"] = data[_key(by)].map(as_shown) if by else ""
    colours = dict(zip(shown[by], COLOURS.values(), strict=False)) if by else {"": GREY}
    style: dict[str, Any] = {
        **{"x": "place", "y": "estimate", "hue": "value", "palette": colours},
        **{"legend": False, "ax": ax},
    }
    alpha = 0.6 if len(order) > MOST_COLOURS else 0.9
    joined = data.sort_values("place", kind="stable")
    seaborn.lineplot(joined, units="line", estimator=None, linewidth=1.2, alpha=alpha, **style)
    for value, colour in colours.items():
        part = data[data["value"] == value]
        ax.vlines(part["place"], part["low"], part["high"], colors=colour, linewidth=1.5)
    forms = {str(verdict): mark for verdict, mark in MARKERS.items()}
    seaborn.scatterplot(data, style="verdict", markers=forms, s=46, zorder=3, **style)
    if labels:
        ax.set_xticks(range(len(labels)), [in_figure(label) for label in labels])
        ax.set_xlim(-0.5, len(labels) - 0.5)
    elif not wide and (ticks := _ticks(places)):
        ax.set_xticks(ticks)
    ax.set(xlabel=name, ylabel="")
    if by:
        handles = [
            Line2D([], [], color=colour, label=in_figure(value))
            for value, colour in colours.items()
        ]
        below: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (-0.04, -0.2)}
        below["alignment"] = "left"
        ax.legend(handles=handles, title=by, ncols=min(3, len(handles)), **below)


def _ticks(places: pd.Series) -> list[float]:
    """Return the values themselves as ticks if they are few and far enough apart."""
    values = sorted(set(places))
    gaps = [right - left for left, right in itertools.pairwise(values)]
    return values if gaps and min(gaps) >= (values[-1] - values[0]) / 6 else []


def _places(values: pd.Series) -> tuple[pd.Series, list[str]]:
    """Return places on an axis and, for what is not a number, the names at 0, 1, and so on."""
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return values.astype(float), []
    shown = values.map(as_shown)
    names = list(dict.fromkeys(shown))
    return shown.map(names.index).astype(float), names


def description(frame: pd.DataFrame, claim: str, sweep: Sweep) -> str:
    """Say what a reader who cannot see the picture of a claim must know."""
    mine = frame[frame["claim"] == claim]
    ordered = mine.sort_values("estimate")
    low, high = ordered.iloc[0], ordered.iloc[-1]
    counts = mine["verdict"].value_counts()
    verdicts = ", ".join(f"{word} ({count})" for word, count in counts.items())

    def where(row: pd.Series) -> str:
        named: dict[str, Value] = {name: row[_key(name)] for name in sweep.plan.swept}
        return ", ".join(f"{name} {as_shown(value)}" for name, value in named.items())

    width = float(high["estimate"] - low["estimate"])
    return (
        f"Estimates of {claim} at {len(mine)} points, from "
        f"{rounded(float(low['estimate']), width)} ({where(low)}) to "
        f"{rounded(float(high['estimate']), width)} ({where(high)}). Verdicts: {verdicts}."
    )


@dataclass(frozen=True)
class Picture:
    """The picture of one run: the label of its point, its page, and the PNG."""

    label: str
    page: str
    png: bytes


def lead_pictures(results: SweepResults, name: str) -> list[Picture]:
    """Return small copies of a picture, from the finished runs of the first points."""
    sweep = results.sweep
    found: list[Picture] = []
    for point in sweep.points:
        if point.number in results.finished and len(found) < MOST_PICTURES:
            folder, _ = results.finished[point.number]
            path = folder / "figures" / f"{name}.png"
            if path.is_file():
                page = (folder / f"{sweep.base.stem}.html").relative_to(sweep.folder).as_posix()
                found.append(Picture(sweep.label(point), page, _small(path)))
    return found


def _small(path: Path) -> bytes:
    with Image.open(path) as picture:
        height = round(picture.height * SMALL / picture.width)
        small = picture.convert("RGB").resize((SMALL, height), Image.Resampling.LANCZOS)
    light = io.BytesIO()
    small.quantize(128, Image.Quantize.FASTOCTREE).save(light, format="png")
    return light.getvalue()
