"""The common style of the book's figures, and `show`, with which a notebook displays a figure."""

from __future__ import annotations

import hashlib
import io
import os
import re
import warnings
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib import MatplotlibDeprecationWarning
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import (
    Collection,
    LineCollection,
    PathCollection,
    PolyCollection,
    QuadMesh,
)
from matplotlib.contour import ContourSet
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.legend import Legend
from matplotlib.offsetbox import AnchoredText
from matplotlib.quiver import Quiver
from matplotlib.text import Text
from matplotlib.textpath import text_to_path
from numpy.typing import ArrayLike, NDArray
from PIL import Image

from speedbook.plotted import plotted_csv
from speedbook.text import visible

#: Letters; axes, titles and lines of reference; the grid.
INK, GREY, GRID = "#222222", "#5f6368", "#dddddd"

#: The colours of lines and points, by name, in the order in which a figure without named colours
#: takes them. They are those of Okabe and Ito, without the yellow, which vanishes on white; purple,
#: sky and orange are as dark as a line needs to be; and there are four more.
COLOURS: Mapping[str, str] = {
    "blue": "#0072b2",
    "vermilion": "#d55e00",
    "green": "#009e73",
    "purple": "#c05a9b",
    "sky": "#3a9bd9",
    "orange": "#b07d00",
    "grey": "#7a7a7a",
    "brown": "#a04700",
    "violet": "#6a3d9a",
    "red": "#b3261e",
    "black": "#000000",
}
#: Pale shades of them for areas; letters on them are easy to read.
PALE: Mapping[str, str] = {
    "blue": "#e3edf5",
    "vermilion": "#f7cfae",
    "green": "#cfe8de",
    "grey": "#ececec",
}
#: The style of a line of reference: ``ax.axhline(1, **REFERENCE)``.
REFERENCE: Mapping[str, Any] = {"color": GREY, "linewidth": 0.8, "zorder": 1}

#: The metadata of vector files, without what would differ from one run to the next.
VECTOR_METADATA: Mapping[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}

#: A figure is this many CSS pixels per inch wide on the page, and drawn with twice as many.
CSS_DPI, PIXEL_RATIO = 100, 2
#: The texts of axes.
WITHOUT_NUMBERS = (Legend, AnchoredText)

#: Committed notebooks contain their pictures, so each must stay light.
MAX_PNG_BYTES = 150_000

#: The font comes with matplotlib: the same on every machine.
FONT = "DejaVu Sans"
#: The greatest width of a name in inches, and a number of letters that never exceeds it.
NAME_INCHES, SHORT_NAME = 3.2, 20

#: The differences from seaborn's theme.
STYLE: Any = {
    "figure.figsize": (5.8, 4.0),
    "figure.dpi": CSS_DPI,
    "figure.constrained_layout.use": True,
    "figure.facecolor": "white",
    "figure.labelsize": 12,
    "savefig.facecolor": "white",
    "axes.facecolor": "white",
    "axes.titlelocation": "left",
    "axes.titlecolor": GREY,
    "axes.titleweight": "normal",
    "axes.titlepad": 12,
    "axes.labelcolor": GREY,
    "axes.edgecolor": GREY,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": GRID,
    "text.color": INK,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "lines.linewidth": 1.8,
    "lines.markersize": 6.5,
    "lines.markeredgewidth": 0.8,
    "errorbar.capsize": 2.5,
    # White edges would hide bars that are thinner than the edges.
    "patch.force_edgecolor": False,
    "legend.frameon": False,
    "legend.fontsize": 10,
    "legend.title_fontsize": 10,
    # Without a fixed salt every run would name the parts of an SVG differently.
    "svg.hashsalt": "speed-companion",
}


def use_style() -> None:
    """Set the style of all later figures: seaborn's theme with `STYLE` on top.

    Plots of seaborn that take an ``ax`` then also have this style. Plots that make their own
    figure, such as ``catplot``, use another layout, and matplotlib warns of that.
    """
    # The import takes half a second, which a caller who only needs a colour should not wait for.
    import seaborn

    seaborn.set_theme(
        # The thin lines of "paper" with letters of 12 points, 11 at the ticks.
        context="paper",
        font_scale=1.25,
        style="ticks",
        palette=list(COLOURS.values()),
        # seaborn would take Arial where it is installed.
        font=FONT,
        rc=STYLE,
    )
    # Seaborn 0.13 passes an argument for boxes that matplotlib 3.11 calls outdated; pages cannot
    # change that.
    warnings.filterwarnings(
        "ignore",
        message="vert: bool was deprecated",
        category=MatplotlibDeprecationWarning,
        module=r"seaborn\.categorical",
    )
    # If the font lacks letters of a name, `show` says so below the figure.
    warnings.filterwarnings("ignore", message=r"Glyph \d+ \(", category=UserWarning)


def in_figure(text: str) -> str:
    r"""Return text that matplotlib draws literally; use it for names that a user has given.

    Dollars do not begin formulas, and a name that begins with an underscore appears in legends. The
    middle of a long name is left out, since the whole name would leave no room for the axes.

    Examples
    --------
    >>> in_figure("SPEED"), in_figure("US$"), in_figure("")
    ('SPEED', 'US\\$', '(empty)')
    """
    whole = name = visible(text)
    kept = len(whole)
    while kept > SHORT_NAME and (wide := _inches(name)) > NAME_INCHES:
        kept = max(SHORT_NAME, min(kept - 1, int(kept * NAME_INCHES / wide)))
        name = f"{whole[: kept // 2]}…{whole[-(kept // 2) :]}"
    # A character without width keeps the underscore from being the first.
    hidden = "\N{WORD JOINER}" if name.startswith("_") else ""
    return hidden + name.replace("$", r"\$")


def _inches(name: str) -> float:
    """Return the width in inches of a name at the ticks of an axis, in letters of 11 points."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        font = FontProperties(family=FONT, size=11)
        width, _, _ = text_to_path.get_text_width_height_descent(name, font, ismath=False)
    return float(width) / 72


def missing_letters(fig: Figure) -> str:
    """Return the letters in a figure that are drawn as boxes, since the font lacks them."""
    texts = (text.get_text() for text in fig.findobj(Text) if text.get_visible())
    letters = {letter for text in texts if not text.isascii() for letter in text} - {"\n"}
    return "".join(sorted(letters - _letters())) if letters else ""


@cache
def _letters() -> frozenset[str]:
    return frozenset(map(chr, get_font(findfont(FONT)).get_charmap()))


def show(fig: Figure, name: str, alt: str, data: Mapping[str, ArrayLike] | None = None) -> None:
    """Display a figure as a small PNG with alternative text, and close it.

    The metadata of the display hold the alt text, the width, which gives the picture its natural
    size on a dense screen, and a digest of the plotted numbers. If the digests of two runs agree,
    the runs drew the same figure, even if fonts changed the pixels. If the environment variable
    ``SPEEDBOOK_FIGURES_DIR`` is set, an SVG is written there too, or the formats that
    ``SPEEDBOOK_FIGURES_FORMATS`` names, separated by spaces: ``svg``, ``pdf``, ``png`` and ``csv``.
    The CSV holds the plotted numbers, as `speedbook.plotted.plotted_csv` writes them.

    A picture that is too heavy to be committed is still shown, with a note; the build of the book
    refuses it.

    Parameters
    ----------
    fig : matplotlib.figure.Figure
        What to show.
    name : str
        Lower-case letters, digits and hyphens; the name of the files.
    alt : str
        What a reader who cannot see the figure must know.
    data : mapping of arrays, optional
        The plotted numbers; by default they are read from the figure.

    Raises
    ------
    ValueError
        If the name has other characters, the alt text is blank, or a format is unknown.
    """
    from IPython.display import display

    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        raise ValueError(f"name: use lower-case letters, digits and hyphens; got {name!r}")
    if not alt.strip():
        raise ValueError(f"alt: say what figure {name!r} shows; got blank text")
    png = png_of(fig)
    if len(png) > MAX_PNG_BYTES:
        print(
            f"Note: figure {name} takes {len(png) / 1000:,.0f} kB as PNG. It is shown here, but "
            f"in a notebook of the book a figure may take {MAX_PNG_BYTES / 1000:.0f} kB at most."
        )
    if folder := os.environ.get("SPEEDBOOK_FIGURES_DIR"):
        _write_files(fig, Path(folder) / name, png, data)
    digest = data_digest(plotted_data(fig) if data is None else data)
    boxes = missing_letters(fig)
    plt.close(fig)
    display(  # type: ignore[no-untyped-call]
        {"image/png": png, "text/plain": f"Figure {name}: {alt}"},
        raw=True,
        metadata={
            "image/png": {"width": round(fig.get_figwidth() * CSS_DPI), "alt": alt},
            "speedbook": {"figure": {"name": name, "digest": digest}},
        },
    )
    if boxes:
        print(f"The figure shows boxes in place of letters that its font lacks: {boxes}")


def _write_files(fig: Figure, path: Path, png: bytes, data: Mapping[str, ArrayLike] | None) -> None:
    forms = os.environ.get("SPEEDBOOK_FIGURES_FORMATS", "svg").split()
    if unknown := set(forms) - {"png", "csv", *VECTOR_METADATA}:
        raise ValueError(
            "SPEEDBOOK_FIGURES_FORMATS: must be some of svg, pdf, png and csv, separated by "
            f"spaces; got {', '.join(sorted(unknown))}"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    if "csv" in forms:
        path.with_suffix(".csv").write_text(plotted_csv(fig, data), encoding="utf-8")
    # The layout is done. A layout engine, even one that does nothing, would have every file drawn
    # twice, and a second layout takes longer than the drawing.
    with plt.rc_context({"figure.constrained_layout.use": False}):
        fig.set_layout_engine(None)
        for form in forms:
            if form == "png":
                path.with_suffix(".png").write_bytes(png)
            elif form != "csv":
                fig.savefig(path.with_suffix(f".{form}"), metadata=VECTOR_METADATA[form])


def png_of(fig: Figure) -> bytes:
    """Return a figure as a small PNG, with two pixels for each pixel of the page."""
    # A separate canvas draws once; `savefig` would draw twice, once only for the layout.
    fig.set(dpi=CSS_DPI * PIXEL_RATIO, facecolor=STYLE["savefig.facecolor"])
    canvas = FigureCanvasAgg(fig)
    canvas.draw()  # type: ignore[no-untyped-call]
    pixels = np.asarray(canvas.buffer_rgba())  # type: ignore[no-untyped-call]
    # 256 colours make a line drawing three times lighter, and keep those of the strategies.
    picture = Image.fromarray(pixels).convert("RGB").quantize(256)
    light = io.BytesIO()
    picture.save(light, format="png")
    return light.getvalue()


def plotted_data(fig: Figure) -> dict[str, NDArray[Any]]:
    """Read the plotted numbers from a figure.

    The numbers come from lines, error bars, points, bars, boxes, images, bands, heat maps and
    contours, also in axes within axes. Sizes and shades are included if they differ from point to
    point. A masked number, which is not drawn, is NaN.

    Raises
    ------
    ValueError
        If something is drawn whose numbers cannot be read, such as axes in three dimensions.
    """
    found: dict[str, NDArray[Any]] = {}
    for i, ax in enumerate(fig.axes):
        found |= _named(f"axes {i}", _read_axes(ax))
        for k, inset in enumerate(_insets(ax)):
            found |= _named(f"axes {i}, inset {k}", _read_axes(inset))
    return found | _named("figure", [image.get_array() for image in fig.images])


def _named(place: str, drawn: list[Any]) -> dict[str, NDArray[Any]]:
    return {f"{place}, {j}": _without_mask(part) for j, part in enumerate(drawn)}


def _without_mask(part: Any) -> NDArray[Any]:
    if np.ma.is_masked(part):
        return np.asarray(np.ma.filled(np.ma.asarray(part, dtype=float), np.nan))
    return np.asarray(part)


def _insets(ax: Any) -> list[Any]:
    """Return the axes within axes, and those within them."""
    return [each for inset in ax.child_axes for each in (inset, *_insets(inset))]


def _read_axes(ax: Axes) -> list[Any]:
    """Return what axes draw, part by part; a change of their order changes every digest."""
    unread = [*(each for each in ax.artists if not isinstance(each, WITHOUT_NUMBERS)), *ax.tables]
    if ax.name == "3d" or unread:
        name = "axes in three dimensions" if ax.name == "3d" else type(unread[0]).__name__
        raise ValueError(
            f"fig: the numbers of {name} cannot be read; pass them to `show`, data={{name: array}}"
        )
    contours = [each for each in ax.collections if isinstance(each, ContourSet)]
    groups = [each for each in ax.collections if not isinstance(each, ContourSet)]
    return [
        *(line.get_xydata() for line in ax.lines),
        *(bars.get_segments() for bars in groups if isinstance(bars, LineCollection)),
        *(dots.get_offsets() for dots in groups if isinstance(dots, PathCollection)),
        *(bar.get_patch_transform().transform(bar.get_path().vertices) for bar in ax.patches),
        *(image.get_array() for image in ax.images),
        *(
            path.vertices
            for band in groups
            if isinstance(band, PolyCollection)
            for path in band.get_paths()
        ),
        *(
            np.ma.filled(np.ma.asarray(cells.get_array(), dtype=float), np.nan)
            for cells in groups
            if isinstance(cells, QuadMesh)
        ),
        *(part for group in groups for part in _more(group)),
        *(part for each in contours for part in (each.levels, *_vertices(each))),
    ]


def _more(group: Collection) -> list[Any]:
    """Return the forms, offsets, sizes and shades of a collection."""
    parts: list[Any] = []
    if not isinstance(group, LineCollection | PathCollection | PolyCollection | QuadMesh):
        parts += _vertices(group)
    if not isinstance(group, PathCollection):
        offsets = group.get_offsets()
        parts += [offsets] if np.any(offsets) else []
    sizes = np.asarray(group.get_sizes() if hasattr(group, "get_sizes") else [])
    parts += [sizes] if np.unique(sizes).size > 1 else []
    if isinstance(group, Quiver):
        parts += [group.U, group.V]
    shades = group.get_array()
    return parts if shades is None or isinstance(group, QuadMesh) else [*parts, shades]


def _vertices(group: Collection) -> list[Any]:
    return [path.vertices for path in group.get_paths()]


def data_digest(data: Mapping[str, ArrayLike]) -> str:
    """Return the SHA-256 of named numbers, each rounded to six significant digits.

    The rounding hides the last bits, in which machines may differ.
    """
    digest = hashlib.sha256()
    for name in sorted(data):
        values = np.asarray(data[name])
        text = ",".join(f"{value:.6g}" for value in values.ravel().astype(float))
        digest.update(f"{name}|{values.shape}|{text}\n".encode())
    return digest.hexdigest()
