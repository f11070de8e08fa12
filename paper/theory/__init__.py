"""The bounds and formulas that the pages on claims test, as printed and as corrected.

Pure functions, each with its place in the paper. Nothing here decides a verdict.
"""
