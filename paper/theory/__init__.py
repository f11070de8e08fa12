"""The bounds and formulas that the pages on claims put to the test, as printed and as corrected.

Pure functions, each with its place in the paper. Nothing here decides a verdict.
"""
