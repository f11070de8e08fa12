"""Figures of a sweep: which limit of the rule is in the picture."""

from __future__ import annotations

import math

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from speedbook.press.sweep_figures import record_figure

INF = math.inf


def drawn(estimates, limits, half=0.0):
    """Return the range of the vertical axis, and where lines show limits."""
    frame = pd.DataFrame(
        {
            "claim": "prop-1",
            "verdict": "supported",
            "estimate": estimates,
            "low": [each - half for each in estimates],
            "high": [each + half for each in estimates],
            "value of n": range(len(estimates)),
        }
    )
    figure = record_figure(frame, "prop-1", limits, ["n"])
    (ax,) = figure.axes
    lines = [line.get_ydata()[0] for line in ax.lines if line.get_linestyle() == "--"]
    plt.close(figure)
    return ax.get_ylim(), sorted(lines)


@pytest.mark.parametrize(
    ("limits", "shown", "lines"),
    [
        ((0.0, INF), (-0.3, 2.3), [0.0]),
        ((-INF, 6.0), (1.4, 6.6), [6.0]),
        ((1.0, 9.0), (0.85, 2.15), [1.0]),  # the nearer one alone
        ((-9.0, 3.0), (1.85, 3.15), [3.0]),
        ((2.0, 4.0), (1.7, 4.3), [2.0, 4.0]),  # the estimate is on the other
    ],
)
def test_equal_estimates_are_shown_with_the_nearer_limit(limits, shown, lines):
    """Otherwise the axis would be a tiny range around one number."""
    found = drawn([2.0, 2.0, 2.0], limits)
    assert found[0] == pytest.approx(shown)
    assert found[1] == lines


@pytest.mark.parametrize(("limits", "lines"), [((-INF, INF), []), ((2.0, 2.0), [2.0])])
def test_without_another_limit_equal_estimates_keep_their_range(limits, lines):
    (low, high), found = drawn([2.0, 2.0], limits)
    assert low < 2 < high and high - low < 0.5
    assert found == lines


@pytest.mark.parametrize(("estimates", "half"), [([2.0, 2.1], 0.0), ([2.0, 2.0], 0.1)])
def test_estimates_or_intervals_with_a_width_set_the_range_themselves(estimates, half):
    """A limit far away would flatten them, so it is not drawn."""
    (low, high), lines = drawn(estimates, (-50.0, 50.0), half)
    assert 1.8 < low < high < 2.3 and lines == []
