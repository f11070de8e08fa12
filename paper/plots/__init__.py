"""Plots of the book: strategies, ratios to the oracle, shares and calibration."""

from paper.plots.allocation import plot_allocation
from paper.plots.environment import show_environment
from paper.plots.ratios import plot_ratios, ratio_table, ratios
from paper.plots.strategies import (
    READINGS,
    STRATEGIES,
    darker,
    label_ends,
    name_in_figure,
    plot_curves,
    plot_mse,
    strategy_style,
)
from paper.plots.tables import plot_calibration, plot_shares

__all__ = [
    "READINGS",
    "STRATEGIES",
    "darker",
    "label_ends",
    "name_in_figure",
    "plot_allocation",
    "plot_calibration",
    "plot_curves",
    "plot_mse",
    "plot_ratios",
    "plot_shares",
    "ratio_table",
    "ratios",
    "show_environment",
    "strategy_style",
]
