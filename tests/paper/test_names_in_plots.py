"""Names that are a user's are drawn as they are written, whatever they look like."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import mock

import hypothesis.strategies as st
import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg

from paper.environments.assumptions import ASSUMPTIONS, Finding
from paper.plots import plot_curves, plot_mse, plot_ratios, plot_shares
from paper.plots.findings import plot_findings
from paper.plots.strategies import STRATEGIES
from speedbook import figures
from speedlib import OnPolicy, mse_curve, unit_ball

from ..written import AWKWARD, names

matplotlib.use("Agg")


@contextmanager
def renderer() -> Iterator[list[tuple[str, Any]]]:
    """Yield what is drawn as text: the letters, and whether they are a formula."""
    drawn: list[tuple[str, Any]] = []
    draw = RendererAgg.draw_text

    def noted(self: Any, gc: Any, x: Any, y: Any, s: str, *rest: Any, **more: Any) -> Any:
        drawn.append((s.removeprefix("\N{WORD JOINER}"), more.get("ismath", rest[2:3])))
        return draw(self, gc, x, y, s, *rest, **more)

    with mock.patch.object(RendererAgg, "draw_text", noted):
        yield drawn


def drawn_words(plot: Callable[[Any], object]) -> list[str]:
    """Return all that a plot draws as plain text; a warning is an error."""
    with warnings.catch_warnings(), renderer() as drawn, plt.rc_context():
        warnings.simplefilter("error")
        figures.use_style()
        fig, ax = plt.subplots()
        try:
            plot(ax)
            drawn.clear()  # seaborn draws while it plots
            FigureCanvasAgg(fig).draw()  # type: ignore[no-untyped-call]
        finally:
            plt.close(fig)
    return [text for text, formula in drawn if not formula]


def curves(labels: Sequence[str]) -> Callable[[Any], object]:
    def plot(ax: Any) -> None:
        with mock.patch.dict(STRATEGIES, dict.fromkeys(labels, STRATEGIES["Your own"])):
            plot_mse(ax, {name: ([10, 100], [2.0, 1.0], [0.1, 0.1]) for name in labels})
        # Looking for the best place may take a second, which matplotlib warns of.
        ax.legend(loc="upper right")

    return plot


def shares(labels: Sequence[str]) -> Callable[[Any], object]:
    table = pd.DataFrame(np.eye(len(labels)), labels, labels)
    return lambda ax: plot_shares(ax, table, title="share")


def findings(labels: Sequence[str]) -> Callable[[Any], object]:
    found = dict.fromkeys(ASSUMPTIONS, Finding(True, ""))
    return lambda ax: plot_findings(ax, dict.fromkeys(labels, found))


#: Each with how often it draws a name.
PLOTS = [(curves, 2), (shares, 2), (findings, 1)]


@pytest.mark.slow
@pytest.mark.parametrize(("plot", "times"), PLOTS)
@pytest.mark.parametrize("some", [AWKWARD[:5], AWKWARD[5:10], AWKWARD[10:]])
def test_awkward_names_are_drawn_as_written(plot: Any, times: int, some: Sequence[str]) -> None:
    words = drawn_words(plot(some))
    assert [words.count(name) for name in some] == [times] * len(some)


@pytest.mark.slow
@pytest.mark.parametrize(("plot", "times"), PLOTS)
@settings(max_examples=6)
@given(some=st.lists(names, min_size=3, max_size=5, unique=True))
def test_any_names_are_drawn_as_written(plot: Any, times: int, some: Sequence[str]) -> None:
    words = drawn_words(plot(some))
    # A name may also be a mark of the plot itself, such as a digit at an axis.
    assert all(words.count(name) >= times for name in some)


@pytest.mark.parametrize("plot", [plot_curves, plot_ratios])
def test_the_label_of_a_strategy_is_drawn_as_written(plot: Any) -> None:
    name, ball = "_a$x^{$", unit_ball()
    measured = mse_curve(ball.bandit, ball.policy, [OnPolicy(label=name)], [100, 1000], 64, seed=1)
    with mock.patch.dict(STRATEGIES, {name: STRATEGIES["Your own"]}):
        assert name in drawn_words(lambda ax: plot(ax, measured))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "(empty)"),
        (" \u200b", "(empty)"),
        ("a\tb\r", "a b "),
        ("bell\x07, half\ud800", "bell\N{REPLACEMENT CHARACTER}, half\N{REPLACEMENT CHARACTER}"),
    ],
)
def test_what_cannot_be_drawn_has_a_sign(name: str, words: str) -> None:
    assert drawn_words(shares([name])).count(words) == 2


@pytest.mark.slow
@pytest.mark.parametrize("letter", ["W", "中", "i", "$", "_"])
def test_a_long_name_keeps_both_ends_and_room_for_the_axes(letter: str) -> None:
    # That the axes have no room left is a warning of matplotlib's, and fails here.
    starts, ends = "first", "last"
    words = drawn_words(shares([f"{starts}{300 * letter}{ends}"]))
    (short,) = {word for word in words if word.startswith(starts)}
    assert short.endswith(ends) and "…" in short and len(short) >= 20


def test_the_end_of_a_line_is_no_letter() -> None:
    fig, ax = plt.subplots()
    ax.set_title("0°\n0.05")
    assert figures.missing_letters(fig) == ""
    ax.set_title("0°\n中")
    assert figures.missing_letters(fig) == "中"


@pytest.mark.slow
def test_letters_that_the_font_lacks_are_said_once(capsys: Any) -> None:
    figures.use_style()
    for name, lacking in (("_a é ∅ \N{WORD JOINER}", ""), ("中文 中", "中文")):
        fig, ax = plt.subplots()
        ax.set_title(figures.in_figure(name))
        figures.show(fig, name="a", alt="Nothing.")
        said = capsys.readouterr()
        assert ("boxes in place of" in said.out) == bool(lacking) and said.err == ""
        assert said.out.count(f"its font lacks: {lacking}\n") == bool(lacking)
