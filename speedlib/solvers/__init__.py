"""Solvers for optimal designs, one idea a file; :mod:`speedlib.designs` is the front door."""
