"""Pictures of tables: every share in its cell, and every letter readable on it."""

from __future__ import annotations

import csv
import io
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex, to_rgb

from paper.plots import darker, plot_calibration, plot_shares, strategy_style
from speedbook import figures
from speedbook.plotted import plotted_csv

matplotlib.use("Agg")

TABLE = pd.DataFrame(
    [[0.0, 0.004, 0.006], [0.25, 0.36, 0.39], [1.0, 0.0, 0.0]],
    index=pd.Index(["SPEED", "On-policy", "everyone"], name="strategy"),
    columns=pd.Index([0.5, 1.0, 2.0], name="variance"),
)


pytestmark = pytest.mark.usefixtures("house_style")


def drawn(table: pd.DataFrame, **words: str) -> Any:
    _, ax = plt.subplots()
    plot_shares(ax, table, **{"title": "share, %"} | words)
    return ax


def words(labels: Any) -> list[str]:
    return [label.get_text() for label in labels]


def test_every_cell_holds_its_percentage() -> None:
    ax = drawn(TABLE)
    assert words(ax.texts) == ["·", "·", "1", "25", "36", "39", "100", "·", "·"]
    places = [text.get_position() for text in ax.texts]
    assert places == [(column + 0.5, row + 0.5) for row in range(3) for column in range(3)]
    assert ax.yaxis_inverted()  # the first row is on top


@pytest.mark.parametrize(
    ("share", "error", "message"),
    [
        (np.nan, ValueError, "got nan in row 'On-policy', column 1.0"),
        (-0.1, ValueError, "got -0.1 in row 'On-policy', column 1.0"),
        (36.0, ValueError, "got 36.0 in row 'On-policy', column 1.0"),
        (np.inf, ValueError, "got inf in row 'On-policy', column 1.0"),
        ("a third", TypeError, "table: expected numbers in column 1.0; got dtype"),
    ],
)
def test_what_is_no_share_is_not_drawn(share: Any, error: type[Exception], message: str) -> None:
    table = TABLE.astype({1.0: type(share) if isinstance(share, float) else object})
    table.iloc[1, 1] = share
    with pytest.raises(error, match=message):
        drawn(table)


def test_a_share_may_miss_one_by_a_rounding_error() -> None:
    table = TABLE.copy()
    table.iloc[2, 0] = np.nextafter(1.0, 2.0)
    assert words(drawn(table).texts)[6] == "100"


def test_the_shade_is_the_root_of_the_share_and_the_number_the_share() -> None:
    ax = drawn(TABLE)
    (found,) = figures.plotted_data(ax.figure).values()
    np.testing.assert_array_equal(found, TABLE)
    (cells,) = ax.collections
    assert cells.get_clim() == (0, 1)
    cells.update_scalarmappable()
    np.testing.assert_array_equal(
        cells.get_facecolor(), cells.get_cmap()(np.sqrt(TABLE.to_numpy().ravel()))
    )


def test_the_file_of_plain_numbers_says_what_the_cells_say() -> None:
    ax = drawn(TABLE)
    rows = list(csv.DictReader(io.StringIO(plotted_csv(ax.figure))))
    shares = {(r["x"], r["y"]): float(r["value"]) for r in rows if r["kind"] == "cell"}
    words = {(r["x"], r["y"]): r["label"] for r in rows if r["kind"] == "text"}
    assert len(shares) == TABLE.size
    for place, share in shares.items():
        assert words[place] == (f"{100 * share:.0f}" if share >= 0.005 else "·")


def test_rows_and_columns_are_named_and_strategies_keep_their_colours() -> None:
    ax = drawn(TABLE, xlabel="variance of the group")
    assert words(ax.get_xticklabels()) == ["0.5", "1.0", "2.0"]
    assert words(ax.get_yticklabels()) == [*TABLE.index]
    colours = [to_hex(label.get_color()) for label in ax.get_yticklabels()]
    assert colours[:2] == [
        to_hex(darker(strategy_style(name)["color"])) for name in ("SPEED", "On-policy")
    ]
    assert colours[2] == figures.INK
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("variance of the group", "")
    assert ax.get_title(loc="left") == "share, %"
    assert {label.get_rotation() for label in (*ax.get_xticklabels(), *ax.get_yticklabels())} == {0}


def luminance(colour: Any) -> float:
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return float(np.dot([0.2126, 0.7152, 0.0722], parts))


def test_a_name_of_two_lines_is_drawn_on_two_lines() -> None:
    ax = drawn(pd.DataFrame([[0.5, 0.5]], ["SPEED"], ["0°\n0.01", "$x$\n0.1"]))
    assert words(ax.get_xticklabels()) == ["0°\n0.01", figures.in_figure("$x$") + "\n0.1"]


def test_a_larger_share_is_darker_and_its_letters_can_be_read() -> None:
    ax = drawn(pd.DataFrame([np.linspace(0, 1, 101)]))
    (cells,) = ax.collections
    cells.update_scalarmappable()
    light = np.array([luminance(colour) for colour in cells.get_facecolor()])
    assert np.all(np.diff(light) < 0)
    ink = np.array([luminance(text.get_color()) for text in ax.texts])
    # WCAG 2 asks for 4.5.
    assert np.min((light + 0.05) / (ink + 0.05)) >= 4.5


def test_calibrated_variances_lie_on_the_diagonal() -> None:
    _, ax = plt.subplots()
    plot_calibration(ax, [1.0, 2.0], [1.0, 2.0], [0.1, 0.2])
    diagonal, points = ax.lines[0].get_xydata(), ax.lines[1].get_xydata()
    assert np.all(diagonal[:, 0] == diagonal[:, 1]) and diagonal[-1, 0] > 2
    np.testing.assert_array_equal(points, [[1, 1], [2, 2]])
    (bars,) = (each.get_segments() for each in ax.collections)
    np.testing.assert_allclose(np.ptp(bars, axis=1)[:, 1], [0.4, 0.8])
