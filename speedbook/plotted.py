"""The numbers of a figure, as a table for a spreadsheet or a program.

Each row is a point, a bar, a piece of an error bar or a cell. The row has the title and labels of
its axes, so it can be read without the picture. Numbers have all their digits.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

#: The number of the axes, from 0, their title and labels; the kind of what is drawn, its label and
#: colour; the number of the point; its coordinates; where a bar or a piece ends; the value that a
#: colour shows; and the names that the axes have there.
HEAD = (
    *("axes", "title", "x label", "y label", "kind", "label", "colour", "point"),
    *("x", "y", "x end", "y end", "value", "x name", "y name"),
)
#: The kind of markers: their form has a size and no coordinates.
POINTS = "points"
Row = dict[str, Any]
#: The beginning of matplotlib's labels on a logarithmic axis: these are numbers, not names.
POWER = r"$\mathdefault{"


def plotted_csv(fig: Figure, data: Mapping[str, ArrayLike] | None = None) -> str:
    """Return the plotted numbers as CSV, a row for each point; see `HEAD` for the columns.

    The rows cover lines, error bars, points, bars and other shapes, bands, arrows, contours,
    images, heat maps, and words placed in data coordinates, also in axes within axes. What is
    hidden in the figure has no row. Coordinates are those of the data. A reference line runs across
    the whole axes; its coordinate in that direction is empty. The coordinates of an arrow are its
    beginning; adding its numbers to them gives its end. The numbers in `data` follow as rows of the
    kind ``data``, with the name as the label and the entries as values. For axes in three
    dimensions, these are the only rows.
    """
    # The axes of a colour scale hold no data.
    axes = [ax for ax in fig.axes if ax.get_label() != "<colorbar>"]
    axes += [inset for ax in axes for inset in _insets(ax)]
    rows = [row for i, ax in enumerate(axes) for row in _axes_rows(ax, i)]
    for name, numbers in (data or {}).items():
        values = np.asarray(numbers).ravel()
        rows += [
            {"kind": "data", "label": name, "point": i, "value": v} for i, v in enumerate(values)
        ]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEAD)
    writer.writerows([_written(row.get(column, "")) for column in HEAD] for row in rows)
    return text.getvalue()


def _insets(ax: Axes) -> Iterator[Axes]:
    """Yield the axes within axes, and those within them."""
    from matplotlib.axes import Axes

    for inset in ax.child_axes:
        if isinstance(inset, Axes):
            yield inset
            yield from _insets(inset)


def _written(value: Any) -> str:
    """Write a number with all its digits; a masked or missing one becomes an empty text."""
    if isinstance(value, str | int | np.integer):
        return str(value)
    number = float(np.ma.filled(value, np.nan))
    return "" if np.isnan(number) else repr(number)


def _as_written(text: str) -> str:
    """Undo the changes by which `speedbook.figures.in_figure` has a name drawn literally."""
    return text.removeprefix("\N{WORD JOINER}").replace(r"\$", "$")


def _axes_rows(ax: Axes, place: int) -> Iterator[Row]:
    # The place where a point in space is drawn is not one of its numbers.
    if ax.name == "3d" or not ax.get_visible():
        return
    titles = (ax.get_title(loc=where) for where in ("left", "center", "right"))
    about = {
        "axes": place,
        "title": _as_written(" ".join(filter(None, titles))),
        "x label": _as_written(ax.get_xlabel()),
        "y label": _as_written(ax.get_ylabel()),
    }
    names = {"x": _tick_names(ax.xaxis), "y": _tick_names(ax.yaxis)}
    parts = _parts(ax)
    for artist in (*ax.lines, *ax.collections, *ax.patches, *ax.images):
        label, start = parts.get(id(artist), (_own_label(artist), 0))
        if start is None or not artist.get_visible():
            continue
        for point, (kind, row) in enumerate(_rows(ax, artist), start):
            named = {f"{axis} name": _name(known, row, axis) for axis, known in names.items()}
            yield {"label": label, "point": point, **about, "kind": kind, **row, **named}
    for words in ax.texts:
        row = _place(ax, words)
        if words.get_visible() and {"x", "y"} <= row.keys():
            label = _as_written(words.get_text())
            yield {"label": label, "point": 0, **about, "kind": "text", **row}


def _place(ax: Axes, words: Any) -> Row:
    """Return the place of words in the data or, for an annotation, the place it points at."""
    from matplotlib.text import Annotation

    if isinstance(words, Annotation):
        return (
            dict(zip("xy", map(float, words.xy), strict=True)) if words.xycoords == "data" else {}
        )
    x, y = map(float, words.get_unitless_position())
    return _in_data(ax, words, {"x": x, "y": y})


def _parts(ax: Axes) -> dict[int, tuple[str, int | None]]:
    """Return label and place of each part of error bars and bar charts, by the part's identity.

    The caps of error bars have no place, since they end bars that are read already.
    """
    from matplotlib.container import BarContainer, ErrorbarContainer

    found: dict[int, tuple[str, int | None]] = {}
    for container in ax.containers:
        label = _own_label(container)
        if isinstance(container, BarContainer):
            found |= {id(bar): (label, i) for i, bar in enumerate(container.patches)}
        if isinstance(container, ErrorbarContainer):
            line, caps, bars = container.lines
            found |= {id(part): (label, 0) for part in (line, *bars)}
            found |= {id(cap): (label, None) for cap in caps}
    return found


def _name(known: dict[float, str], row: Row, axis: str) -> str:
    """Return the name of the axis at the middle of a row's piece, if it has one there."""
    start = float(row.get(axis, np.nan))
    middle = (start + float(row.get(f"{axis} end", start))) / 2
    if not known or not np.isfinite(middle):
        return ""
    places = np.array(list(known))
    nearest = int(np.argmin(np.abs(places - middle)))
    # The distance of the names defines what is near, whatever the unit.
    gaps = np.diff(np.unique(places))
    near = 1e-6 * float(gaps.min() if gaps.size else abs(middle) or 1)
    return list(known.values())[nearest] if abs(places[nearest] - middle) <= near else ""


def _own_label(artist: Any) -> str:
    label = str(artist.get_label() or "")
    return "" if label.startswith("_") else _as_written(label)


def _tick_names(axis: Axis) -> dict[float, str]:
    """Return the names along an axis by their places; none if the ticks may move."""
    from matplotlib.category import StrCategoryLocator
    from matplotlib.ticker import FixedLocator

    if not isinstance(axis.get_major_locator(), FixedLocator | StrCategoryLocator):
        return {}
    places = axis.get_majorticklocs()
    labels = (label.get_text() for label in axis.get_majorticklabels())
    return {
        float(at): _as_written(text)
        for at, text in zip(places, labels, strict=False)
        if not text.startswith(POWER)
    }


def _rows(ax: Axes, artist: Artist) -> Iterator[tuple[str, Row]]:
    """Yield what an artist draws, a point at a time."""
    from matplotlib.collections import Collection, LineCollection, PathCollection, QuadMesh
    from matplotlib.contour import ContourSet
    from matplotlib.image import AxesImage
    from matplotlib.lines import AxLine, Line2D
    from matplotlib.patches import Patch, Rectangle

    # The types that matplotlib gives for these attributes are too wide to be of use.
    drawn: Any = artist
    if isinstance(artist, AxLine):
        x, y = drawn.get_xy1()
        end = drawn.get_xy2() or (x + 1, y + drawn.get_slope())
        for at in ((x, y), end):
            yield "line", {"x": at[0], "y": at[1], "colour": _hex(drawn.get_color())}
    elif isinstance(artist, Line2D):
        colour = _hex(drawn.get_color())
        yield from _points(ax, drawn, "line", drawn.get_xydata(), colour)
    elif isinstance(artist, ContourSet):
        for level, path in zip(drawn.levels, drawn.get_paths(), strict=False):
            for _, row in _points(ax, drawn, "contour", path.vertices, ""):
                yield "contour", {**row, "value": level}
    elif isinstance(artist, LineCollection):
        yield from _pieces(ax, drawn)
    elif isinstance(artist, PathCollection):
        values = drawn.get_array()
        colours = drawn.get_facecolor()
        colour = _hex(colours[0]) if len(colours) == 1 else ""
        found = _points(ax, drawn, POINTS, drawn.get_offsets(), colour)
        for i, (kind, point) in enumerate(found):
            yield kind, point if values is None else {**point, "value": values[i]}
    elif isinstance(artist, QuadMesh):
        corners = drawn.get_coordinates()
        cells = np.ma.asarray(drawn.get_array()).reshape(len(corners) - 1, -1)
        middles = (corners[:-1, :-1] + corners[1:, 1:]) / 2
        for (i, j), value in np.ndenumerate(np.ma.filled(cells.astype(float), np.nan)):
            yield "cell", {"x": middles[i, j, 0], "y": middles[i, j, 1], "value": value}
    elif isinstance(artist, Collection):
        yield from _collection(ax, drawn)
    elif isinstance(artist, Rectangle):
        (x, y), width, height = drawn.get_xy(), drawn.get_width(), drawn.get_height()
        ends = {"x": x, "y": y, "x end": x + width, "y end": y + height}
        yield "bar", _in_data(ax, drawn, {**ends, "colour": _hex(drawn.get_facecolor())})
    elif isinstance(artist, Patch):
        shape = drawn.get_patch_transform().transform(drawn.get_path().vertices)
        yield from _points(ax, drawn, "shape", shape, _hex(drawn.get_facecolor()))
    elif isinstance(artist, AxesImage):
        yield from _pixels(drawn)


def _points(
    ax: Axes, artist: Artist, kind: str, places: Any, colour: str
) -> Iterator[tuple[str, Row]]:
    for x, y in np.ma.filled(np.ma.asarray(places, dtype=float), np.nan):
        yield kind, _in_data(ax, artist, {"x": x, "y": y, "colour": colour}, kind)


def _collection(ax: Axes, drawn: Any) -> Iterator[tuple[str, Row]]:
    """Yield arrows, markers, areas with a value each, and other collections."""
    from matplotlib.collections import PolyCollection
    from matplotlib.quiver import Quiver

    places, paths = drawn.get_offsets(), drawn.get_paths()
    values = drawn.get_array()
    values = None if values is None else np.ma.ravel(values)
    if isinstance(drawn, Quiver):
        numbers: Iterable[Any] = np.column_stack([places, np.ravel(drawn.U), np.ravel(drawn.V)])
        for x, y, u, v in numbers:
            row = {"x": x, "y": y, "x end": x + u, "y end": y + v}
            yield "arrow", _in_data(ax, drawn, row, POINTS)
    elif np.any(places):
        for i, (x, y) in enumerate(places):
            yield POINTS, {"x": x, "y": y, "value": "" if values is None else values[i]}
    elif values is not None:
        # Masked elements have no path.
        shown = values if len(values) == len(paths) else values.compressed()
        for path, value in zip(paths, shown, strict=True):
            x, y = np.unique(path.vertices, axis=0).mean(axis=0)
            yield "cell", {"x": x, "y": y, "value": value}
    else:
        kind = "band" if isinstance(drawn, PolyCollection) else "shape"
        colours = drawn.get_facecolor()
        for path in paths:
            colour = _hex(colours[0]) if len(colours) else ""
            yield from _points(ax, drawn, kind, path.vertices, colour)


def _pieces(ax: Axes, lines: Any) -> Iterator[tuple[str, Row]]:
    """Yield the pieces of error bars and of other collections of lines."""
    colours = lines.get_color()
    colour = _hex(colours[0]) if len(colours) == 1 else ""
    # Including those without numbers, which are not drawn: each keeps its number in the row.
    for line in (path.vertices for path in lines.get_paths()):
        for (x, y), (x_end, y_end) in pairwise(line):
            row = {"x": x, "y": y, "x end": x_end, "y end": y_end, "colour": colour}
            yield "error bar or piece", _in_data(ax, lines, row)


def _pixels(image: Any) -> Iterator[tuple[str, Row]]:
    shades = image.get_array()
    if shades.ndim != 2:
        return  # a photograph: colours, and no numbers
    rows, columns = shades.shape
    left, right, bottom, top = image.get_extent()
    first, last = (bottom, top) if image.origin == "lower" else (top, bottom)
    for (i, j), value in np.ndenumerate(np.ma.filled(shades.astype(float), np.nan)):
        x = left + (j + 0.5) * (right - left) / columns
        y = first + (i + 0.5) * (last - first) / rows
        yield "cell", {"x": x, "y": y, "value": value}


def _in_data(ax: Axes, artist: Any, row: Row, kind: str = "") -> Row:
    """Leave out a coordinate that is not in units of the data but a place on the axes."""
    # The offsets of a cloud's points are their places; their transformation is only their size.
    of = getattr(artist, "get_offset_transform", None) if kind == POINTS else None
    across = (of or artist.get_transform)().contains_branch_seperately(ax.transData)
    gone: Iterable[str] = [axis for axis, kept in zip("xy", across, strict=True) if not kept]
    return {name: value for name, value in row.items() if name[0] not in gone}


def _hex(colour: Any) -> str:
    from matplotlib.colors import to_hex

    return to_hex(colour)
