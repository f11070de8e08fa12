"""The bounds and formulas that the pages on claims test, as printed and as corrected.

The functions are pure, and each names its place in the paper. Nothing here decides a verdict.
"""
