"""How time grows with the numbers of actions, dimensions, problems, rounds and replications."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.common import Row, exponent, instance, main, pe_gap, whole_lp
from speedlib import SPEED, mse_curve, unit_ball
from speedlib.designs import optimal_design
from speedlib.solvers.batch import pe_designs

TITLE = "Growth of the cost"

Solver = Callable[..., Any]


def run(quick: bool) -> list[Row]:
    """Measure one curve after another."""
    top = 100_000 if quick else 1_000_000
    actions = [n for n in (1_000, 10_000, 100_000, 1_000_000) if n <= top]
    dimensions = [5, 10, 20] if quick else [5, 10, 20, 40, 60]
    problems = [100, 1_000, 10_000] if quick else [100, 1_000, 10_000, 100_000]
    highs = [1_000, 10_000] if quick else [1_000, 10_000, 100_000]
    wide = 20_000 if quick else 100_000
    rows = []
    for criterion in ("PE", "A", "D"):
        by_actions = {n: instance(10, n) for n in actions}
        rows.append(curve(f"{criterion}, d = 10", "A", by_actions, ours(criterion)))
        by_dimension = {d: instance(d, wide) for d in dimensions}
        rows.append(curve(f"{criterion}, A = {wide:,}", "d", by_dimension, ours(criterion)))
    rows.append(curve("HiGHS, whole LP, d = 10", "A", {n: instance(10, n) for n in highs}, lp))
    many = {n: small_problems(n) for n in problems}
    rows.append(curve("PE batch, A = 20, d = 3", "R", many, batch))
    longest, most = (10**5, 10**4) if quick else (10**7, 10**5)
    budgets = {n: (n, 2_000) for n in (10**3, 10**4, 10**5, 10**6, 10**7) if n <= longest}
    sizes = {r: (10_000, r) for r in (10**3, 10**4, 10**5) if r <= most}
    rows.append(curve("SPEED, unit ball, 2,000 replications", "n", budgets, simulation))
    rows.append(curve("SPEED, unit ball, n = 10,000", "replications", sizes, simulation))
    return rows


def ours(criterion: str) -> Solver:
    """Return a function that solves with our solver and returns the certified gap."""

    def solve(features, variances, c):
        direction = {"direction": c} if criterion == "PE" else {}
        return 1.0 - optimal_design(features, variances, criterion, **direction).efficiency_bound

    return solve


def lp(features, variances, c) -> float:
    """Solve by the whole linear program; return the gap, computed from the answer."""
    points = features / np.sqrt(variances)[:, None]
    return pe_gap(points, c, *whole_lp(points, c))


def batch(features, variances, c) -> float:
    """Solve many problems; return the largest gap."""
    return float(pe_designs(features, variances, c).gaps.max())


def simulation(rounds: int, replications: int) -> float:
    """Simulate SPEED with a design for each replication; there is no gap to report."""
    ball, strategy = unit_ball(), SPEED(exploration="identifiable", covariance="psd")
    mse_curve(ball.bandit, ball.policy, [strategy], [rounds], replications, seed=1)
    return 0.0


def small_problems(problems: int) -> tuple[Any, Any, Any]:
    """Return twenty actions in three dimensions and many estimates of their variances."""
    features, variances, c = instance(3, 20)
    rng = np.random.default_rng(3)
    return features, variances * rng.chisquare(20, size=(problems, 20)) / 20, c


def curve(name: str, size: str, instances: dict[int, Any], solve: Solver) -> Row:
    """Time a solver over instances of growing size and fit the exponent to the largest three."""
    seconds, gap = [], 0.0
    for problem in instances.values():
        gap = max(gap, solve(*problem))
        seconds.append(statistics.median(timed(solve, problem) for _ in range(3)))
    sizes = list(instances)
    return {
        "case": name,
        "peer": f"exponent of {size}",
        "seconds": seconds[-1],
        "peer_seconds": None,
        "ratio": exponent(sizes[-3:], seconds[-3:]),
        "meaning": f"exponent of {size} in the time, fitted to the largest three",
        "gap": gap,
        "peer_gap": None,
        "target": "",
        "met": None,
        "sizes": sizes,
        "all_seconds": seconds,
    }


def timed(solve: Solver, problem: Any) -> float:
    """Seconds of one run."""
    start = time.perf_counter()
    solve(*problem)
    return time.perf_counter() - start


if __name__ == "__main__":
    main("growth", TITLE, run)
