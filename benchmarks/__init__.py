"""The speed of the optimal designs, always as a ratio to the speed of the usual alternative.

Run ``python -m benchmarks`` (below 20 minutes) or ``python -m benchmarks --quick`` (below two) on
an otherwise idle machine, with the extra ``bench`` installed. Every benchmark runs in its own
process, with one BLAS thread. Settings of the machine for OpenBLAS are removed. In this process two
contestants take turns. For *both*, the gap to the optimum is computed from the answer alone, by the
same function. A full run stores its results in ``benchmarks/results``.
"""
