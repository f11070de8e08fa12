"""The digest of a figure sees every number that is drawn, and nothing else."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
import seaborn
from matplotlib.collections import LineCollection, PatchCollection, RegularPolyCollection
from matplotlib.offsetbox import AnnotationBbox, OffsetImage
from matplotlib.patches import Rectangle

from speedbook import figures

from .drawings import ALT, CURVES, drawn

pytestmark = pytest.mark.usefixtures("house_style")


def digests(displayed: list[Any]) -> list[str]:
    return [metadata["speedbook"]["figure"]["digest"] for _, metadata in displayed]


@pytest.mark.slow
@pytest.mark.parametrize(("factor", "same"), [(1 + 1e-12, True), (1 + 1e-3, False)])
@pytest.mark.parametrize("part", [1, 2], ids=["mean", "standard error"])
def test_the_digest_sees_the_data_but_not_the_last_bits(
    part: int, factor: float, same: bool, displayed: list[Any]
) -> None:
    figures.show(drawn(), "fig-test", ALT)
    changed = list(CURVES["SPEED"])
    changed[part] = changed[part] * factor
    figures.show(drawn(CURVES | {"SPEED": changed}), "fig-test", ALT)
    one, other = digests(displayed)
    assert (one == other) is same


def bar_chart(height: float) -> Any:
    fig, ax = plt.subplots()
    ax.bar([0, 1], [0.5, height])
    return fig


def cloud(height: float) -> Any:
    fig, ax = plt.subplots()
    ax.scatter([0, 1], [0.5, height])
    return fig


def image(height: float) -> Any:
    fig, ax = plt.subplots()
    ax.imshow([[0.5, height]])
    return fig


def heat_map(height: float) -> Any:
    fig, ax = plt.subplots()
    seaborn.heatmap([[0.5, height]], vmin=0, vmax=1, cbar=False, ax=ax)
    return fig


def band(height: float) -> Any:
    fig, ax = plt.subplots()
    ax.fill_between([0, 1], [0, 0], [0.5, height])
    return fig


def box(height: float) -> Any:
    fig, ax = plt.subplots()
    seaborn.boxplot(x=[0.0, 0.1, 0.4, height], ax=ax)
    return fig


@pytest.mark.slow
@pytest.mark.parametrize("draw", [bar_chart, cloud, image, heat_map, band, box])
def test_the_digest_sees_whatever_shows_numbers(draw: Any, displayed: list[Any]) -> None:
    for height in (0.2, 0.2, 0.3):
        figures.show(draw(height), "fig-test", ALT)
    one, again, other = digests(displayed)
    assert one == again != other


def test_a_heat_map_is_read_as_its_table_and_a_hidden_cell_as_no_number() -> None:
    table, hidden = np.array([[1, 2], [3, 4]]), np.array([[False, True], [False, False]])
    fig, (left, right) = plt.subplots(ncols=2)
    seaborn.heatmap(table, mask=hidden, annot=True, cbar=False, ax=left)
    right.imshow(table)
    found = figures.plotted_data(fig)
    assert found.keys() == {"axes 0, 0", "axes 1, 0"}
    np.testing.assert_array_equal(found["axes 0, 0"], [[1, np.nan], [3, 4]])
    # Where nothing is hidden, the table has the digest that it has as an image.
    seaborn.heatmap(table, cbar=False, ax=plt.figure().subplots())
    assert figures.data_digest(figures.plotted_data(plt.gcf())) == figures.data_digest(
        {"axes 0, 0": found["axes 1, 0"]}
    )


X, Y = np.meshgrid(np.arange(4.0), np.arange(3.0))
FLAT = [0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0]


def masked(value: float) -> Any:
    return np.ma.masked_array([[1.0, 9.0], [3.0, 4.0]], [[False, value > 1], [False, False]])


def inset(ax: Any, value: float) -> None:
    ax.inset_axes([0.5, 0.5, 0.4, 0.4]).plot([0, value])


def nested_inset(ax: Any, value: float) -> None:
    inset(ax.inset_axes([0.1, 0.1, 0.8, 0.8]), value)


#: What draws a number into axes, by name.
DRAWS: dict[str, Any] = {
    "lines of equal height": lambda ax, v: ax.contour(X, Y, X + v * Y**2, [1.0, 2.0, 3.0]),
    "levels": lambda ax, v: ax.contourf(X, Y, X, [0.5, 1 + v / 2, 3.0]),
    "contours of scattered points": lambda ax, v: ax.tricontourf(*FLAT, [0.0, v, 1.0, 3.0]),
    "shades of points": lambda ax, v: ax.scatter([0, 1], [0, 1], c=[0.0, v]),
    "sizes of points": lambda ax, v: ax.scatter([0, 1], [0, 1], s=[1.0, 10 * v]),
    "a masked point": lambda ax, v: ax.scatter([0, 1], masked(v)[0]),
    "a masked pixel": lambda ax, v: ax.imshow(masked(v)),
    "a masked cell": lambda ax, v: ax.pcolormesh(masked(v)),
    "a masked end of a line": lambda ax, v: ax.plot(masked(v)[0]),
    "cells that are polygons": lambda ax, v: ax.pcolor([[0.0, v]]),
    "triangles": lambda ax, v: ax.tripcolor(*FLAT, [0.0, v, 0.0, 0.0]),
    "smooth triangles": lambda ax, v: ax.tripcolor(*FLAT, [0, v, 0, 0], shading="gouraud"),
    "counts in hexagons": lambda ax, v: ax.hexbin(*FLAT, C=[v, 0, 0, 0], gridsize=2),
    "arrows": lambda ax, v: ax.quiver([0], [0], [v], [1]),
    "shades of lines": lambda ax, v: ax.add_collection(
        LineCollection([[(0, 0), (1, 1)], [(0, 1), (1, 0)]], array=[0.0, v])
    ),
    "a group of forms": lambda ax, v: ax.add_collection(PatchCollection([Rectangle((0, 0), v, 1)])),
    "polygons at offsets": lambda ax, v: ax.add_collection(
        RegularPolyCollection(5, offsets=[(0, v)], offset_transform=ax.transData)
    ),
    "axes within axes": inset,
    "axes within axes within axes": nested_inset,
    "pixels of the figure": lambda ax, v: ax.figure.figimage([[0.0, v]]),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", DRAWS)
def test_every_number_that_is_drawn_is_read(kind: str) -> None:
    digests = []
    for value in (0.75, 0.75, 1.5):
        fig, ax = plt.subplots()
        DRAWS[kind](ax, value)
        digests.append(figures.data_digest(figures.plotted_data(fig)))
    one, again, other = digests
    assert one == again != other


@pytest.mark.parametrize("kind", ["a masked point", "a masked pixel", "a masked cell"])
def test_what_a_mask_hides_is_not_read(kind: str) -> None:
    fig, ax = plt.subplots()
    DRAWS[kind](ax, 2.0)
    numbers = np.concatenate([part.ravel() for part in figures.plotted_data(fig).values()])
    assert np.isnan(numbers).any() and 9 not in numbers


@pytest.mark.slow
def test_what_looks_alike_everywhere_adds_no_part() -> None:
    """Points of one size and colour, lines, bars and bands are read as their places alone."""
    fig, axes = plt.subplots(ncols=4)
    axes[0].scatter([0, 1], [2, 3], s=4, color="k")
    axes[1].plot([0, 1], label="line")
    axes[1].legend()
    axes[2].bar([0], [1])
    axes[3].fill_between([0, 1], [0, 1], [1, 2])
    assert set(figures.plotted_data(fig)) == {f"axes {i}, 0" for i in range(4)}


def picture_in_a_box(ax: Any) -> None:
    ax.add_artist(AnnotationBbox(OffsetImage(np.eye(2)), (0.5, 0.5)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("projection", "draw", "name"),
    [
        ("3d", lambda ax: ax.plot([0, 1], [0, 1], [0, 1]), "axes in three dimensions"),
        (None, lambda ax: ax.table([["1"]]), "Table"),
        (None, picture_in_a_box, "AnnotationBbox"),
        (None, lambda ax: picture_in_a_box(ax.inset_axes([0, 0, 1, 1])), "AnnotationBbox"),
    ],
)
def test_numbers_that_cannot_be_read_are_asked_for(
    projection: Any, draw: Any, name: str, displayed: list[Any]
) -> None:
    fig, ax = plt.subplots(subplot_kw={"projection": projection})
    draw(ax)
    with pytest.raises(ValueError, match=f"fig: the numbers of {name} cannot be read; pass them"):
        figures.plotted_data(fig)
    figures.show(fig, "fig-test", ALT, data={"x": [1.0]})
    assert len(displayed) == 1


@pytest.mark.slow
def test_the_digest_is_of_the_data_where_they_are_given(displayed: list[Any]) -> None:
    figures.show(drawn(), "fig-test", ALT, data={"x": [1.0, 2.0]})
    figures.show(bar_chart(1), "fig-test", ALT, data={"x": np.array([1.0, 2.0])})
    assert digests(displayed) == [figures.data_digest({"x": [1.0, 2.0]})] * 2
    assert figures.data_digest({"x": [1.0, 2.0]}) != figures.data_digest({"x": [[1.0, 2.0]]})
    assert figures.data_digest({"x": [1.0, 2.0]}) != figures.data_digest({"y": [1.0, 2.0]})
