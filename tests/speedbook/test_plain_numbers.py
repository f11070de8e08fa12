"""The numbers of tables and figures as CSV: one a cell, with all their digits."""

from __future__ import annotations

import csv
import io
import math

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper.plots import plot_mse
from speedbook import frames
from speedbook.figures import in_figure
from speedbook.frames import numbers_csv, plain_csv
from speedbook.plotted import plotted_csv
from speedbook.run.results import read_results

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def no_figure_stays():
    yield
    plt.close("all")


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def columns(**texts):
    found = rows(plain_csv(list(texts), list(texts.values())))
    return {name: [row[name] for row in found] for name in found[0]}


# Tables


@pytest.mark.parametrize(
    ("cells", "plain"),
    [
        (["1.568 ± 0.113", "2.1 ± 0.04"], {"a": ["1.568", "2.1"], "a ±": ["0.113", "0.04"]}),
        (["−1.5 ± 2e-03", "–"], {"a": ["-1.5", ""], "a ±": ["2e-03", ""]}),
        (["1.568 ± 0.113", "1"], {"a": ["1.568", "1"], "a ±": ["0.113", ""]}),
        (["3,893", "12"], {"a": ["3893", "12"]}),
        (["12 %", "3.5 %"], {"a / %": ["12", "3.5"]}),
        (["12 % ", ""], {"a / %": ["12", ""]}),
        (["1,761 … 3,611", "1 … 2"], {"a low": ["1761", "1"], "a high": ["3611", "2"]}),
        (["[0.1, 0.2]", "(-1, 2)"], {"a low": ["0.1", "-1"], "a high": ["0.2", "2"]}),
        (
            ["2 [1, 4]", "1.8 (1.0, 3.1)", "1,000 ± 3"],
            {
                "a": ["2", "1.8", "1000"],
                "a ±": ["", "", "3"],
                "a low": ["1", "1.0", ""],
                "a high": ["4", "3.1", ""],
            },
        ),
        (["1 to 2", "3 to inf"], {"a low": ["1", "3"], "a high": ["2", "inf"]}),
        ([1 / 3, math.nan, math.inf], {"a": [repr(1 / 3), "", "inf"]}),
        ([np.float64(1e-320), np.float32(0.1), np.int64(7)], {"a": None}),
        # Words stay words, whatever number they hold.
        (["12 rounds", "1"], {"a": ["12 rounds", "1"]}),
        (["2024-01-01", "1"], {"a": ["2024-01-01", "1"]}),
        (["12 %", "3"], {"a": ["12 %", "3"]}),
        (["x ± y", "1 ± 2"], {"a": ["x ± y", "1 ± 2"]}),
        ([".", "e5"], {"a": [".", "e5"]}),
        # A list, a pair and a place are no interval.
        (["3, 7", "10, 20"], {"a": ["3, 7", "10, 20"]}),
        ([(3, 7)], {"a": ["(3, 7)"]}),
        ([[3, 7]], {"a": ["[3, 7]"]}),
        (["(0.5, 0.3)"], {"a": ["(0.5, 0.3)"]}),
        ([True, False], {"a": ["True", "False"]}),
        (["–", ""], {"a": ["–", ""]}),
    ],
)
def test_a_column_of_text_becomes_columns_of_numbers(cells, plain):
    found = columns(a=cells)
    if plain["a" if "a" in plain else next(iter(plain))] is None:
        assert [float(text) for text in found["a"]] == [float(cell) for cell in cells]
    else:
        assert found == plain


@pytest.mark.slow
@given(st.lists(st.floats(allow_nan=False), min_size=1))
def test_no_digit_of_a_frame_is_lost(numbers):
    found = rows(numbers_csv(pd.DataFrame({"a": numbers})))
    assert [float(row["a"]) for row in found] == numbers


@pytest.mark.slow
@given(st.lists(st.tuples(st.floats(-1e9, 1e9), st.floats(0, 1e9)), min_size=1))
def test_what_measured_values_say_is_what_their_columns_say(pairs):
    found = columns(a=[f"{value:,.3f} ± {error:,.2f}" for value, error in pairs])
    for value, (number, _) in zip(found["a"], pairs, strict=True):
        assert float(value) == float(f"{number:.3f}")
    assert [float(e) for e in found["a ±"]] == [float(f"{error:.2f}") for _, error in pairs]


def test_heads_and_indices_of_several_levels_are_kept():
    frame = pd.DataFrame(
        [[1, "1 ± 2"], [3, "3 ± 4"]],
        index=pd.MultiIndex.from_tuples([("a", 1), ("a", 2)], names=["k", "l"]),
        columns=pd.MultiIndex.from_tuples([("m", "p"), ("m", "")]),
    )
    assert numbers_csv(frame) == "k,l,m / p,m,m ±\na,1,1,1,2\na,2,3,3,4\n"
    assert numbers_csv(pd.DataFrame({"a": []})).splitlines() == [",a"]


@pytest.mark.parametrize("as_mathematics", [True, False])
def test_a_table_that_came_without_its_numbers_gives_those_that_it_shows(
    tiny_notebook, as_mathematics
):
    from nbformat.v4 import new_output

    frame = pd.DataFrame({"ratio": ["1.5 ± 0.1", "2 ± 0.2"], "n": [1, 2]})
    notebook = tiny_notebook("frame")
    with pd.option_context("display.html.use_mathjax", as_mathematics):
        html = {"text/html": frame.to_html()}
    notebook.cells[-1].outputs = [new_output("display_data", html)]
    results, tables = read_results(notebook)
    assert set(results.tables) == {"table-01.csv"}
    assert tables["table-01.csv"] == ",ratio,n\n0,1.5 ± 0.1,1\n1,2 ± 0.2,2\n"
    assert tables["table-01-numbers.csv"] == ",ratio,ratio ±,n\n0,1.5,0.1,1\n1,2,0.2,2\n"


def test_a_display_carries_the_numbers_of_a_table_that_is_not_too_large(monkeypatch):
    frame = pd.DataFrame({"a": [1 / 3, 2.0]})
    monkeypatch.setattr(frames, "MOST_CELLS", 2)
    assert frames._with_numbers(frame) == ({}, {"speedbook": {"table": numbers_csv(frame)}})
    monkeypatch.setattr(frames, "MOST_CELLS", 1)
    assert frames._with_numbers(frame) == ({}, {})


# Figures


def test_curves_are_given_by_name_with_their_errors():
    budgets = np.array([100.0, 1000.0, 1e4])
    curves = {
        name: (budgets, k / budgets, 0.1 / budgets) for k, name in ((1, "SPEED"), (3, "Oracle"))
    }
    fig, ax = plt.subplots()
    plot_mse(ax, curves)
    found = rows(plotted_csv(fig))
    assert {row["title"] for row in found} == {"mean squared error"}
    assert {row["x label"] for row in found} == {"rounds $n$"}
    for name, (_, means, errors) in curves.items():
        own = [row for row in found if row["label"] == name and row["kind"] != "text"]
        line = [row for row in own if row["kind"] == "line"]
        assert [(float(r["x"]), float(r["y"])) for r in line] == list(
            zip(budgets, means, strict=True)
        )
        bars = [row for row in own if row["kind"] == "error bar or piece"]
        assert [float(r["y"]) for r in bars] == list(means - errors)
        assert [float(r["y end"]) for r in bars] == list(means + errors)
        assert len(own) == len(line) + len(bars)
        assert [row["point"] for row in line] == ["0", "1", "2"]


def drawn(kind):
    """Draw numbers in a way; return what the file must say of them, column by column."""
    _, ax = plt.subplots()
    values = [0.1 + 0.2, 1 / 3]
    if kind == "bar":
        ax.bar(["u", "v"], values)
        return {"y end": values, "x name": ["u", "v"]}
    if kind == "points":
        ax.scatter([1, 2], values, c=[7, 8])
        return {"x": [1, 2], "y": values, "value": [7, 8]}
    if kind == "cell":
        import seaborn

        seaborn.heatmap(pd.DataFrame([values], columns=["p", "q"], index=["r"]), ax=ax)
        return {"value": values, "x name": ["p", "q"], "y name": ["r", "r"]}
    if kind == "line":
        ax.axhline(values[0], label="reference")
        return {"x": ["", ""], "y": values[:1] * 2, "label": ["reference"] * 2}
    if kind == "band":
        ax.fill_between([0, 1], values, label="b")
        return {"label": ["b"] * 7}
    image = np.array([values])
    ax.imshow(image)
    return {"value": values, "x": [0, 1], "y": [0, 0]}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["bar", "points", "cell", "line", "band", "image"])
def test_every_kind_of_drawing_gives_its_numbers_with_all_digits(kind):
    wanted = drawn(kind)
    found = [row for row in rows(plotted_csv(plt.gcf())) if row["kind"] != "text"]
    for column, values in wanted.items():
        texts = [row[column] for row in found]
        numeric = not isinstance(values[0], str)
        assert ([float(text) for text in texts] if numeric else texts) == values
    assert {row["kind"] for row in found} == {"cell" if kind == "image" else kind}


def test_numbers_that_a_figure_is_given_besides_follow():
    fig, _ = plt.subplots()
    found = rows(plotted_csv(fig, {"w": [[0.1], [0.2]]}))
    assert [(row["kind"], row["label"], row["point"], row["value"]) for row in found] == [
        ("data", "w", "0", "0.1"),
        ("data", "w", "1", "0.2"),
    ]


def test_words_that_stand_at_a_place_of_the_data_are_told():
    fig, ax = plt.subplots()
    ax.text(1, 2.5, "57")
    ax.text(0.1, 0.1, "a corner of the axes", transform=ax.transAxes)
    (row,) = rows(plotted_csv(fig))
    assert (row["kind"], row["label"], row["x"], row["y"]) == ("text", "57", "1.0", "2.5")


def test_a_point_that_is_masked_is_empty():
    fig, ax = plt.subplots()
    ax.plot([0, 1], np.ma.masked_array([5.0, -9999.0], [False, True]))
    assert [row["y"] for row in rows(plotted_csv(fig))] == ["5.0", ""]


def triangle(ax):
    ax.tripcolor([0, 3, 0], [0, 0, 3], [5.0])


def patch(ax):
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    ax.add_collection(PatchCollection([Rectangle((1, 2), 3, 4)]))


@pytest.mark.parametrize(
    ("draw", "kind", "wanted"),
    [
        (lambda ax: ax.inset_axes([0, 0, 1, 1]).plot([1, 2], [3, 4]), "line", "1 3; 2 4"),
        (lambda ax: ax.pcolor([[1.0, 2.0]]), "cell", "0.5 0.5 1; 1.5 0.5 2"),
        (triangle, "cell", "1 1 5"),
        (lambda ax: ax.quiver([1], [2], [0.5], [3]), "arrow", "1 2 1.5 5"),
        (lambda ax: ax.barbs([1], [2], [3], [4]), "points", "1 2"),
        (patch, "shape", "1 2; 4 2; 4 6; 1 6; 1 2"),
        (lambda ax: ax.axline((1, 2), slope=3), "line", "1 2; 2 5"),
        (lambda ax: ax.axline((1, 2), (4, 4)), "line", "1 2; 4 4"),
        (
            lambda ax: ax.annotate("a", (3, 4), (9, 9), textcoords="offset points"),
            "text",
            "3 4",
        ),
        (lambda ax: ax.annotate("a", (0.5, 0.5), xycoords="axes fraction"), "", ""),
        (lambda ax: ax.plot([1, 2], [3, 4], visible=False), "", ""),
        (lambda ax: ax.text(1, 2, "a", visible=False), "", ""),
    ],
)
def test_rarer_kinds_of_drawing_lose_no_number_either(draw, kind, wanted):
    fig, ax = plt.subplots()
    draw(ax)
    found = rows(plotted_csv(fig))
    columns = ("x", "y", "x end", "y end", "value")
    numbers = [[float(row[column]) for column in columns if row[column]] for row in found]
    assert numbers == [[float(text) for text in row.split()] for row in wanted.split(";") if row]
    assert {row["kind"] for row in found} <= {kind}


def test_cells_of_hexagons_stand_where_they_are_drawn():
    fig, ax = plt.subplots()
    ax.hexbin([1, 1, 5, 9], [1, 1, 5, 9], gridsize=3)
    found = [row for row in rows(plotted_csv(fig)) if row["value"] != "0.0"]
    counts = {(round(float(r["x"])), round(float(r["y"]))): float(r["value"]) for r in found}
    assert counts[1, 1] == 2
    assert counts[9, 9] == 1
    assert sum(counts.values()) == 4


@pytest.mark.parametrize(
    ("origin", "extent", "wanted"),
    [
        ("upper", None, {"1.0": "0 0", "2.0": "1 0", "3.0": "0 1", "4.0": "1 1"}),
        ("lower", None, {"1.0": "0 0", "2.0": "1 0", "3.0": "0 1", "4.0": "1 1"}),
        ("upper", (0, 4, 0, 2), {"1.0": "1 1.5", "2.0": "3 1.5", "3.0": "1 0.5", "4.0": "3 0.5"}),
        ("lower", (0, 4, 0, 2), {"1.0": "1 0.5", "2.0": "3 0.5", "3.0": "1 1.5", "4.0": "3 1.5"}),
    ],
)
def test_a_cell_of_an_image_is_where_it_is_drawn(origin, extent, wanted):
    fig, ax = plt.subplots()
    ax.imshow([[1.0, 2.0], [3.0, 4.0]], origin=origin, extent=extent)
    found = {r["value"]: f"{float(r['x']):g} {float(r['y']):g}" for r in rows(plotted_csv(fig))}
    assert found == wanted


def test_an_error_bar_without_a_number_keeps_its_place_and_caps_are_no_points():
    fig, ax = plt.subplots()
    ax.errorbar([1, 2, 3], [1, 2, 3], yerr=[0.5, np.nan, 0.5], capsize=3)
    found = rows(plotted_csv(fig))
    bars = [row for row in found if row["kind"] == "error bar or piece"]
    assert len(found) == len(bars) + 3
    assert [(row["point"], row["x"], row["y end"]) for row in bars] == [
        ("0", "1.0", "1.5"),
        ("1", "2.0", ""),
        ("2", "3.0", "3.5"),
    ]


def test_names_are_told_as_they_are_written_and_not_as_they_are_drawn():
    names = ["US$", "_a_", r"b\c"]
    drawn = [in_figure(name) for name in names]
    fig, ax = plt.subplots()
    ax.set(title=drawn[0], xlabel=drawn[1], ylabel=drawn[0])
    for place, name in enumerate(drawn):
        ax.plot(place, 0, label=name)
        ax.text(place, 0, name)
    ax.set_xticks(range(3), drawn)
    found = rows(plotted_csv(fig))
    assert [row["label"] for row in found] == names * 2
    assert [row["x name"] for row in found][:3] == names
    assert {(row["title"], row["x label"], row["y label"]) for row in found} == {
        ("US$", "_a_", "US$")
    }


@pytest.mark.parametrize("unit", [1e-12, 1, 1e12])
def test_names_along_an_axis_hold_in_any_unit(unit):
    fig, ax = plt.subplots()
    places = unit * np.array([1.0, 2.0, 3.0])
    ax.bar(places, [1, 2, 3], width=0.1 * unit)
    ax.plot(1.5 * unit, 0)
    ax.set_xticks(places, ["a", "b", "c"])
    assert [row["x name"] for row in rows(plotted_csv(fig))] == ["", "a", "b", "c"]


def test_a_number_on_a_logarithmic_axis_is_no_name():
    fig, ax = plt.subplots()
    ax.loglog([10, 100], [1, 2])
    ax.set_xticks([10, 100])
    assert {row["x name"] for row in rows(plotted_csv(fig))} == {""}


def test_places_of_the_picture_of_a_space_are_no_numbers():
    fig = plt.figure()
    fig.add_subplot(projection="3d").plot([1, 2], [3, 4], [5, 6])
    found = rows(plotted_csv(fig, {"z": [5, 2**60 + 1]}))
    assert [(row["kind"], row["value"]) for row in found] == [
        ("data", "5"),
        ("data", str(2**60 + 1)),
    ]
