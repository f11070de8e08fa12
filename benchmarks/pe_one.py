"""Time one PE-optimal design against a solver of the whole LP and against a product X y."""

from __future__ import annotations

import tracemalloc
from functools import partial

import numpy as np

from benchmarks.common import Row, compared, costing, instance, main, pe_gap, race, whole_lp
from speedlib.designs import optimal_design

TITLE = "One PE-optimal design"

#: Dimension, actions, and the races against HiGHS that the time allows.
FULL = [(11, 1_600, 9), (25, 10_000, 7), (25, 100_000, 3), (25, 1_000_000, 1)]
QUICK = [(11, 1_600, 3), (25, 10_000, 2), (25, 100_000, 1)]

#: At this many actions and more the targets of the project apply.
LARGE = 100_000


def run(quick: bool) -> list[Row]:
    """Compare the times; measure the memory that the largest instance takes."""
    rows = []
    for d, n_actions, rounds in QUICK if quick else FULL:
        features, variances, c = instance(d, n_actions)
        points = features / np.sqrt(variances)[:, None]
        case = f"d = {d}, A = {n_actions:,}"
        large = n_actions >= LARGE
        ours = partial(optimal_design, features, variances, direction=c)
        outcome = race(ours, partial(whole_lp, points, c), rounds)
        design = outcome.our_answer
        gap = pe_gap(points, c, design.weights, design.dual)
        peer_gap = pe_gap(points, c, *outcome.their_answer)
        rows.append(
            compared(case, "HiGHS, the whole LP", outcome, (gap, peer_gap), 100 if large else 1)
        )
        if large:
            outcome = race(ours, partial(np.matmul, points, design.dual), 11)
            rows.append(costing(case, "one product X y", outcome, gap, 40))
    rows.append(memory(*(QUICK if quick else FULL)[-1][:2]))
    return rows


def memory(d: int, n_actions: int) -> Row:
    """Return the peak memory of features, variances and solver, in units of the features' size."""
    tracemalloc.start()
    features, variances, c = instance(d, n_actions)
    tracemalloc.reset_peak()
    design = optimal_design(features, variances, direction=c)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    ratio = peak / features.nbytes
    return {
        "case": f"d = {d}, A = {n_actions:,}: memory",
        "peer": "the features",
        "seconds": None,
        "peer_seconds": None,
        "ratio": ratio,
        "meaning": "peak memory in units of the features, themselves included",
        "gap": 1.0 - design.efficiency_bound,
        "peer_gap": None,
        "target": "<= 3",
        "met": bool(ratio <= 3),
    }


if __name__ == "__main__":
    main("pe_one", TITLE, run)
