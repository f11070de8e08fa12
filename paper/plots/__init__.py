"""Plots of the book: strategies, ratios to the oracle, shares and calibration."""
