"""The time of A- and D-optimal designs, relative to a conic solver and to a product X'WX."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.common import (
    Floats,
    Row,
    compared,
    conic,
    costing,
    exponent,
    instance,
    main,
    race,
    sensitivity_gap,
)
from speedlib.designs import optimal_design

TITLE = "A- and D-optimal designs"

#: Dimension, points and rounds of the races against the conic solver.
FULL_CONIC, QUICK_CONIC = (11, 10_000, 3), (11, 10_000, 1)

#: Dimension and sizes of the races against the product.
FULL_PRODUCT = (25, [100_000, 200_000, 500_000, 1_000_000])
QUICK_PRODUCT = (25, [50_000, 100_000])


def run(quick: bool) -> list[Row]:
    """Time A and D against the conic solver and the product; fit how the time grows with points."""
    return [*against_conic(quick), *against_product(quick)]


def against_conic(quick: bool) -> list[Row]:
    """Time our solver against cvxpy with Clarabel, which gets the whole problem."""
    d, n_points, rounds = QUICK_CONIC if quick else FULL_CONIC
    features, variances, _ = instance(d, n_points)
    points = features / np.sqrt(variances)[:, None]
    rows = []
    for criterion in "AD":
        outcome = race(
            partial(optimal_design, features, variances, criterion),
            partial(conic, points, criterion),
            rounds,
            repeats=5,
        )
        gaps = (
            sensitivity_gap(points, outcome.our_answer.weights, criterion),
            sensitivity_gap(points, outcome.their_answer, criterion),
        )
        case = f"{criterion}: d = {d}, A = {n_points:,}"
        rows.append(compared(case, "cvxpy with Clarabel", outcome, gaps, 50))
    return rows


def against_product(quick: bool) -> list[Row]:
    """Compare the time with that of one product X'WX; fit its growth in the number A of points."""
    d, sizes = QUICK_PRODUCT if quick else FULL_PRODUCT
    rows: list[Row] = []
    for criterion in "AD":
        seconds, gap = [], 0.0
        for n_points in sizes:
            features, variances, _ = instance(d, n_points)
            points = features / np.sqrt(variances)[:, None]
            weights = np.full(n_points, 1.0 / n_points)
            outcome = race(
                partial(optimal_design, features, variances, criterion),
                partial(product, points, weights),
                2 if quick else 5,
            )
            gap = sensitivity_gap(points, outcome.our_answer.weights, criterion)
            seconds.append(outcome.ours)
            case = f"{criterion}: d = {d}, A = {n_points:,}"
            rows.append(costing(case, "one product X'WX", outcome, gap, 60))
        growth = exponent(sizes, seconds)
        rows.append(
            {
                "case": f"{criterion}: d = {d}, growth with A",
                "peer": "exponent",
                "seconds": seconds[-1],
                "peer_seconds": None,
                "ratio": growth,
                "meaning": "exponent of A in the time, fitted",
                "gap": gap,
                "peer_gap": None,
                "target": "<= 1.1",
                "met": bool(growth <= 1.1),
                "sizes": sizes,
                "all_seconds": seconds,
            }
        )
    return rows


def product(points: Floats, weights: Floats) -> Floats:
    """Return X'WX."""
    return (points.T * weights) @ points


if __name__ == "__main__":
    main("a_and_d", TITLE, run)
