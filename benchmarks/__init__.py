"""The speed of the optimal designs, always as a ratio to the speed of the usual alternative.

Run ``python -m benchmarks`` (below 20 minutes) or ``python -m benchmarks --quick`` (below two) on
an otherwise idle machine, with the extra ``bench`` installed. Every benchmark starts in a process
of its own, with one BLAS thread and without the settings that a machine may preset for OpenBLAS.
Two contestants take turns within that process. For *both*, the gap to the optimum is computed from
the answer alone. A full run stores its results in ``benchmarks/results``.
"""
