"""Plots of the book: strategies, ratios to the oracle, shares and calibration."""

from paper.plots.allocation import plot_allocation
from paper.plots.environment import show_environment
from paper.plots.ratios import (
    JUST_RUN,
    over_policy,
    plot_over_policy,
    plot_ratios,
    ratio_table,
    ratios,
    read_off_ratios,
)
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
    "JUST_RUN",
    "READINGS",
    "STRATEGIES",
    "darker",
    "label_ends",
    "name_in_figure",
    "over_policy",
    "plot_allocation",
    "plot_calibration",
    "plot_curves",
    "plot_mse",
    "plot_over_policy",
    "plot_ratios",
    "plot_shares",
    "ratio_table",
    "ratios",
    "read_off_ratios",
    "show_environment",
    "strategy_style",
]
