"""A drawing with sliders if somebody can move them, and otherwise a figure of chosen states.

One call serves both. In JupyterLab a student gets sliders without any change to the notebook. The
book, papermill, nbval and nbgrader get a static figure, the same on each run.

How the two are distinguished: each request to run a cell says whether its sender accepts questions
for input (`allow_stdin` of Jupyter's messages). JupyterLab, Jupyter Notebook and editors say yes,
since a person sits in front of them. nbclient, on which papermill, nbconvert, nbgrader and Jupyter
Book rest, and nbval say no. Environment variables would be less reliable: a kernel that a test
starts inside JupyterLab inherits all of them.

The slides of jupyterlab-rise do not show widgets (its issue 119). So a live drawing comes in two
forms, of which a front end shows the first that it can: sliders that draw again, and a slider over
pictures that are drawn already.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure, FigureBase

from speedbook import figures

#: Draws one state into a figure, or into a part of one: ``draw(place, share=0.75)``.
Draw = Callable[..., None]
#: Letters for the last row of a lecture room, in points: plain ones, and those of titles.
LETTERS, TITLES = 15, 16
#: Pixels per inch of a picture that a slider redraws: more would make dragging slow.
LIVE_DPI = 130
#: The most pictures that a slider turns over.
PICTURES = 17
STYLE: Any = {
    "font.size": LETTERS,
    "axes.labelsize": LETTERS,
    "axes.titlesize": TITLES,
    "axes.titlepad": 9,
    "xtick.labelsize": LETTERS,
    "ytick.labelsize": LETTERS,
    "legend.fontsize": LETTERS,
    "figure.titlesize": TITLES,
    "lines.linewidth": 2.6,
    "lines.markersize": 10,
}


@dataclass(frozen=True)
class Range:
    """A slider over numbers: its first value, its two ends, and the step between two values."""

    label: str
    start: float
    low: float
    high: float
    step: float
    form: str = "{:g}"

    def __post_init__(self) -> None:
        if not (self.low <= self.start <= self.high and self.step > 0):
            raise ValueError(
                f"{self.label}: need low <= start <= high and step > 0; got low {self.low}, start "
                f"{self.start}, high {self.high}, step {self.step}"
            )

    def words(self, value: float) -> str:
        """Return a value as a reader sees it."""
        return self.form.format(value)

    def places(self) -> list[float]:
        """Return at most `PICTURES` values, evenly spaced, with the first one among them."""
        last = int((self.high - self.low) / self.step + 1e-9)
        first = round((self.start - self.low) / self.step)
        stride = max(1, -(-last // (PICTURES - 1)))
        taken = range(first % stride, last + 1, stride)
        return [self.low + self.step * place for place in taken]


@dataclass(frozen=True)
class Choice:
    """Buttons, one for each name; the drawing gets the value that belongs to it."""

    label: str
    options: Mapping[str, Any]

    def __post_init__(self) -> None:
        if not self.options:
            raise ValueError(f"{self.label}: options must not be empty")

    @property
    def start(self) -> Any:
        """The first value."""
        return next(iter(self.options.values()))

    def words(self, value: Any) -> str:
        """Return the name of a value."""
        return next(name for name, each in self.options.items() if each == value)

    def places(self) -> list[Any]:
        """Return all values."""
        return list(self.options.values())


Control = Range | Choice


def use_style() -> None:
    """Set the style of the book's figures, with letters large enough for the last row of a room."""
    figures.use_style()
    plt.rcParams.update(STYLE)


def someone_can_drag() -> bool:
    """Say whether the cell that runs was sent by a front end with a person in front of it."""
    try:
        from IPython.core.getipython import get_ipython
    except ImportError:
        return False
    kernel = getattr(get_ipython(), "kernel", None)
    if kernel is None:
        return False
    request: Mapping[str, Any] = kernel.get_parent("shell") or {}
    return bool(request.get("content", {}).get("allow_stdin", False))


def slider(
    draw: Draw,
    *,
    name: str,
    alt: str,
    shown: Sequence[Mapping[str, Any]],
    size: tuple[float, float] = (6.6, 4.4),
    panel: tuple[float, float] = (3.7, 4.4),
    live: bool | None = None,
    **controls: Control,
) -> None:
    """Display a drawing that sliders change, or a static figure of some of its states.

    Parameters
    ----------
    draw : callable
        Draws one state: it gets a figure, or a part of one, and the value of each control by name.
    name : str
        Name of the static figure, as for `speedbook.figures.show`.
    alt : str
        What a reader who cannot see the static figure must know.
    shown : sequence of mappings
        The states of the static figure, from left to right. A control that a state leaves out has
        its first value.
    size, panel : pair of float
        Width and height in inches of the drawing with sliders, and of each state of the static
        figure.
    live : bool, optional
        Whether to show sliders; by default `someone_can_drag` decides.
    **controls : Range or Choice
        One for each argument of `draw`.

    Raises
    ------
    ValueError
        If no state is to be shown, or a state gives a value to something that is not a control.
    """
    states = [_whole(state, controls) for state in shown]
    if not states:
        raise ValueError("shown: name one state at least; got none")
    if someone_can_drag() if live is None else live:
        from IPython.display import display

        bundle: dict[str, Any] = {"text/html": flip_book(draw, size=size, **controls)}
        try:
            bundle |= sliders(draw, size=size, **controls)._repr_mimebundle_()
        except ImportError:
            pass
        display(bundle, raw=True)  # type: ignore[no-untyped-call]
        return
    figures.show(static_figure(draw, states, controls, panel), name=name, alt=alt)


def _whole(state: Mapping[str, Any], controls: Mapping[str, Control]) -> dict[str, Any]:
    if unknown := state.keys() - controls.keys():
        raise ValueError(
            f"shown: a state may have values only for controls: {', '.join(sorted(controls))}; got "
            f"{', '.join(sorted(unknown))}"
        )
    return {key: state.get(key, control.start) for key, control in controls.items()}


def static_figure(
    draw: Draw,
    states: Sequence[Mapping[str, Any]],
    controls: Mapping[str, Control],
    panel: tuple[float, float],
) -> Figure:
    """Return one figure with a part for each state; its title says what the state changes.

    Parameters
    ----------
    draw : callable
        As for `slider`.
    states : sequence of mappings
        Complete states: a value for each control.
    controls : mapping
    panel : pair of float
        Width and height of a part, in inches.
    """
    width, height = panel
    fig = plt.figure(figsize=(width * len(states), height))
    parts = fig.subfigures(1, len(states), squeeze=False, wspace=0.04)[0]
    moved = [key for key in controls if len({str(state[key]) for state in states}) > 1]
    for part, state in zip(parts, states, strict=True):
        heads = [f"{controls[key].label}: {controls[key].words(state[key])}" for key in moved]
        if heads:
            ink: Any = {"color": figures.INK, "weight": "bold", "x": 0.04, "ha": "left"}
            part.suptitle("\n".join(heads), **ink)
        draw(part, **state)
    return fig


def sliders(draw: Draw, *, size: tuple[float, float], **controls: Control) -> Any:
    """Return a widget: controls, and below them the drawing, made again when one is moved.

    Parameters
    ----------
    draw : callable
        As for `slider`.
    size : pair of float
        Width and height of the drawing, in inches.
    **controls : Range or Choice

    Returns
    -------
    ipywidgets.VBox
        Its last child is the picture, an `ipywidgets.Image`.

    Raises
    ------
    ImportError
        If ipywidgets is not installed.
    """
    import ipywidgets  # type: ignore[import-untyped]

    canvas = plt.figure(figsize=size, dpi=LIVE_DPI)
    # The notebook must not show the figure itself below the sliders.
    plt.close(canvas)
    wide = f"{round(size[0] * LIVE_DPI)}px"
    # Otherwise a picture is as wide as the notebook, however high it becomes.
    layout = {"width": wide, "max_width": "100%", "align_self": "flex-start"}
    picture = ipywidgets.Image(format="png", layout=layout)
    rows, movers = [], {}
    for key, control in controls.items():
        mover, row = _row(ipywidgets, control)
        movers[key] = mover
        rows.append(row)

    def redraw(_: Any = None) -> None:
        values = {key: mover.value for key, mover in movers.items()}
        picture.value = png(canvas, partial(draw, **values))

    for mover in movers.values():
        mover.observe(redraw, names="value")
    redraw()
    return ipywidgets.VBox([*rows, picture])


def flip_book(draw: Draw, *, size: tuple[float, float], **controls: Control) -> str:
    """Return HTML with a slider that chooses between pictures that are drawn already.

    Parameters
    ----------
    draw : callable
        As for `slider`.
    size : pair of float
        Width and height of a picture, in inches.
    **controls : Range or Choice
        The slider moves the first control; the other controls keep their first values.
    """
    key, control = next(iter(controls.items()))
    rest = {name: other.start for name, other in controls.items() if name != key}
    places = control.places()
    names = [control.words(value) for value in places]
    begin = names.index(control.words(control.start))
    images = []
    for place, value in enumerate(places):
        fig = plt.figure(figsize=size)
        draw(fig, **{key: value}, **rest)
        code = base64.b64encode(figures.png_of(fig)).decode("ascii")
        plt.close(fig)
        hidden = "" if place == begin else " hidden"
        words = escape(f"{control.label}: {names[place]}")
        width = round(size[0] * LIVE_DPI)
        images.append(
            f'<img src="data:image/png;base64,{code}" alt="{words}" width="{width}"{hidden}>'
        )
    turn = (
        "const all = this.closest('div').querySelectorAll('img');"
        "all.forEach((image, place) => { image.hidden = place != this.value; });"
        "this.nextElementSibling.textContent = all[this.value].alt;"
    )
    first = escape(f"{control.label}: {names[begin]}")
    return (
        f'<div><input type="range" min="0" max="{len(places) - 1}" value="{begin}" '
        f'aria-label="{escape(control.label)}" style="width: 50%" '
        f'oninput="{turn}"> '
        f'<span style="font-size: 20px">{first}</span>{"".join(images)}</div>'
    )


def _row(ipywidgets: Any, control: Control) -> tuple[Any, Any]:
    """Return what is moved, and the row that holds it with its label."""
    label = ipywidgets.Label(control.label, style={"font_size": "20px"})
    if isinstance(control, Choice):
        mover = ipywidgets.ToggleButtons(
            options=list(control.options.items()), style={"button_width": "auto"}
        )
        return mover, ipywidgets.HBox([label, mover])
    mover = ipywidgets.FloatSlider(
        value=control.start,
        min=control.low,
        max=control.high,
        step=control.step,
        readout=False,
        layout={"width": "60%"},
    )
    value = ipywidgets.Label(control.words(control.start), style={"font_size": "20px"})

    def say(change: Any) -> None:
        value.value = control.words(change["new"])

    mover.observe(say, names="value")
    return mover, ipywidgets.HBox([label, mover, value])


def png(canvas: Figure, draw: Callable[[FigureBase], None]) -> bytes:
    """Return a state as PNG; all states are drawn on the same canvas.

    Parameters
    ----------
    canvas : matplotlib.figure.Figure
    draw : callable
        Draws the state.
    """
    canvas.clear()
    draw(canvas)
    file = io.BytesIO()
    canvas.savefig(file, format="png", pil_kwargs={"compress_level": 1})
    return file.getvalue()
