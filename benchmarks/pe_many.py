"""The time of many small PE problems that differ in variances: a batch against a loop of HiGHS."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.common import Floats, Row, compared, main, pe_gap, race, whole_lp
from speedlib.solvers.batch import pe_designs

TITLE = "Many PE-optimal designs at once"

#: Actions, dimension, problems in the batch, problems that HiGHS solves.
FULL = [(5, 2, 10_000, 400), (20, 3, 10_000, 400), (100, 5, 10_000, 400)]
QUICK = [(5, 2, 2_000, 50), (100, 5, 2_000, 50)]


def run(quick: bool) -> list[Row]:
    """Compare problems per second; for the problems that both solved, the optima must agree."""
    rows = []
    for n_actions, d, problems, sample in QUICK if quick else FULL:
        rng = np.random.default_rng([2, n_actions, d])
        features = rng.normal(size=(n_actions, d))
        c = rng.dirichlet(np.ones(n_actions)) @ features
        # The design inside a replication sees an estimate: a true value times a chi-square.
        truth = rng.uniform(0.3, 3.0, size=n_actions)
        variances = truth * rng.chisquare(20, size=(problems, n_actions)) / 20
        points = features / np.sqrt(variances[:sample, :, None])
        outcome = race(
            partial(pe_designs, features, variances, c),
            partial(loop, points, c),
            3 if quick else 7,
        )
        outcome = outcome._replace(
            ours=outcome.ours / problems,
            theirs=outcome.theirs / sample,
            ratio=outcome.ratio * problems / sample,
        )
        duals = outcome.their_answer
        peer_gap = max(pe_gap(p, c, *found) for p, found in zip(points, duals, strict=True))
        # The duals of HiGHS also bound ours: an independent certificate.
        weights = outcome.our_answer.weights[:sample]
        crossed = max(
            pe_gap(p, c, w, dual) for p, w, (_, dual) in zip(points, weights, duals, strict=True)
        )
        gap = max(crossed, float(outcome.our_answer.gaps.max()))
        case = f"A = {n_actions}, d = {d}, {problems:,} problems"
        rows.append(compared(case, "loop over HiGHS", outcome, (gap, peer_gap), 20))
    return rows


def loop(points: Floats, c: Floats) -> list[tuple[Floats, Floats]]:
    """Solve one linear program after the other."""
    return [whole_lp(p, c) for p in points]


if __name__ == "__main__":
    main("pe_many", TITLE, run)
