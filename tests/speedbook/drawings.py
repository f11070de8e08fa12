"""A small figure of strategies, for tests of what a figure's style and digest do."""

from __future__ import annotations

from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np

from paper.plots import plot_mse

matplotlib.use("Agg")

ROUNDS = np.array([100, 1_000, 10_000])
CURVES = {
    "Oracle": (ROUNDS, 0.051 / ROUNDS, 0.001 / ROUNDS),
    "SPEED": (ROUNDS, 0.06 / ROUNDS, 0.001 / ROUNDS),
    "On-policy": (ROUNDS, 0.085 / ROUNDS, 0.002 / ROUNDS),
}
ALT = "Three falling lines; the oracle's is lowest."


def drawn(curves: Any = None) -> Any:
    fig, ax = plt.subplots()
    plot_mse(ax, CURVES if curves is None else curves)
    return fig
