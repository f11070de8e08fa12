"""Functions for all benchmarks: races, gaps of answers, other solvers, stored results."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from threadpoolctl import threadpool_info

Floats = NDArray[np.float64]
Row = dict[str, Any]

RESULTS = Path(__file__).parent / "results"

#: Settings that change what OpenBLAS does; the runner unsets the first two.
PRESET = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")

PACKAGES = ("numpy", "scipy", "cvxpy", "clarabel")


# --- time ----------------------------------------------------------------------------------------


class Race(NamedTuple):
    """The median seconds of two contestants, the median of their ratios, and their answers."""

    ours: float
    theirs: float
    ratio: float
    our_answer: Any
    their_answer: Any


def race(ours: Callable[[], Any], theirs: Callable[[], Any], rounds: int, repeats: int = 1) -> Race:
    """Time two contestants in rounds; the ratio of a round is their time divided by our time.

    The two contestants alternate in going first. `repeats` runs of our contestant count as one run,
    for contestants that take little time.
    """
    ours()
    times: list[tuple[float, float]] = []
    answers: list[Any] = [None, None]
    for turn in range(rounds):
        seconds = [0.0, 0.0]
        for who in (0, 1) if turn % 2 == 0 else (1, 0):
            start = time.perf_counter()
            for _ in range(repeats if who == 0 else 1):
                answers[who] = (ours, theirs)[who]()
            seconds[who] = (time.perf_counter() - start) / (repeats if who == 0 else 1)
        times.append((seconds[0], seconds[1]))
    return Race(
        statistics.median(a for a, _ in times),
        statistics.median(b for _, b in times),
        statistics.median(b / a for a, b in times),
        answers[0],
        answers[1],
    )


def exponent(sizes: list[float], seconds: list[float]) -> float:
    """Return the slope of log seconds over log size, by least squares."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


# --- instances and gaps --------------------------------------------------------------------------


def instance(d: int, n_actions: int, seed: int = 1) -> tuple[Floats, Floats, Floats]:
    """Return Gaussian features, variances over a factor of ten, and a random policy's direction."""
    rng = np.random.default_rng([seed, d, n_actions])
    features = rng.normal(size=(n_actions, d))
    variances = rng.uniform(0.3, 3.0, size=n_actions)
    return features, variances, rng.dirichlet(np.ones(n_actions)) @ features


def pe_gap(points: Floats, c: Floats, weights: Floats, dual: Floats) -> float:
    """Return the relative gap between the root of a design's loss and the bound from `dual`."""
    support = np.flatnonzero(weights)
    rows = np.sqrt(weights[support])[:, None] * points[support]
    v = np.linalg.lstsq(rows.T, c, rcond=1e-12)[0]
    missed = float(np.abs(rows.T @ v - c).max() / np.abs(c).max())
    lower = float(c @ dual / np.abs(points @ dual).max())
    return max(abs(1.0 - lower / float(np.linalg.norm(v))), missed)


def sensitivity_gap(points: Floats, weights: Floats, criterion: str) -> float:
    """Return the largest sensitivity minus one; the efficiency is at least 1 / (1 + gap)."""
    inverse = np.linalg.inv((points.T * weights) @ points)
    factor = np.linalg.cholesky(inverse) if criterion == "D" else inverse
    size = points.shape[1] if criterion == "D" else float(np.trace(inverse))
    return float(((points @ factor) ** 2).sum(axis=1).max() / size) - 1.0


# --- peers ---------------------------------------------------------------------------------------


def whole_lp(points: Floats, c: Floats) -> tuple[Floats, Floats]:
    """Solve Elfving's linear program by HiGHS without changes; return weights and dual."""
    result = linprog(
        np.ones(2 * len(points)), A_eq=np.hstack([points.T, -points.T]), b_eq=c, method="highs"
    )
    u = np.abs(result.x[: len(points)] - result.x[len(points) :])
    return u / u.sum(), np.asarray(result.eqlin.marginals)


def conic(points: Floats, criterion: str) -> Floats:
    """Return weights by cvxpy and Clarabel, in the fastest formulation that we found.

    For the criterion D, we maximise the logarithm of the determinant. For A, a Schur complement
    bounds the inverse matrix. The other formulation of A has a second-order cone for each point; at
    a thousand points it took six times as long.
    """
    import cvxpy

    n_points, d = points.shape
    weights = cvxpy.Variable(n_points, nonneg=True)
    products = np.einsum("ai,aj->ija", points, points).reshape(d * d, n_points)
    information = cvxpy.reshape(products @ weights, (d, d), order="C")
    constraints = [cvxpy.sum(weights) == 1]
    if criterion == "D":
        goal = cvxpy.Maximize(cvxpy.log_det(information))
    else:
        spread = cvxpy.Variable((d, d), symmetric=True)
        block = cvxpy.bmat([[information, np.eye(d)], [np.eye(d), spread]])
        constraints.append(block >> 0)
        goal = cvxpy.Minimize(cvxpy.trace(spread))
    cvxpy.Problem(goal, constraints).solve(solver="CLARABEL")
    found = np.maximum(weights.value, 0.0)
    return np.asarray(found / found.sum())


# --- results -------------------------------------------------------------------------------------


def compared(case: str, peer: str, outcome: Race, gaps: tuple[float, float], least: float) -> Row:
    """Describe a race against another solver: the ratio says how many times faster ours is."""
    return {
        "case": case,
        "peer": peer,
        "seconds": outcome.ours,
        "peer_seconds": outcome.theirs,
        "ratio": outcome.ratio,
        "meaning": "times faster than the peer",
        "gap": gaps[0],
        "peer_gap": gaps[1],
        "target": f">= {least:g}",
        "met": bool(outcome.ratio >= least),
    }


def costing(case: str, unit: str, outcome: Race, gap: float, most: float) -> Row:
    """Describe the cost in units of one product: how many of them ours takes."""
    return {
        "case": case,
        "peer": unit,
        "seconds": outcome.ours,
        "peer_seconds": outcome.theirs,
        "ratio": 1.0 / outcome.ratio,
        "meaning": "times the cost of the product",
        "gap": gap,
        "peer_gap": None,
        "target": f"<= {most:g}",
        "met": bool(1.0 / outcome.ratio <= most),
    }


def within(case: str, seconds: float, most: float, every: list[float]) -> Row:
    """Describe a time against its bound: the ratio is the part of the bound that it takes."""
    return {
        "case": case,
        "peer": "bound",
        "seconds": seconds,
        "peer_seconds": most,
        "ratio": seconds / most,
        "meaning": "part of the bound",
        "gap": None,
        "peer_gap": None,
        "target": "<= 1",
        "met": seconds <= most,
        "all_seconds": every,
    }


def machine() -> Row:
    """Describe processor, versions and BLAS."""
    model = platform.processor()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = names[0].split(":")[1].strip() if names else model
    blas = [
        {key: info.get(key) for key in ("internal_api", "version", "architecture", "num_threads")}
        for info in threadpool_info()
        if info["user_api"] == "blas"
    ]
    return {
        "processor": model,
        "cores": os.cpu_count(),
        "load": [round(value, 2) for value in os.getloadavg()] if hasattr(os, "getloadavg") else [],
        "system": platform.system(),
        "python": platform.python_version(),
        "packages": {name: metadata.version(name) for name in PACKAGES},
        "blas": blas,
        "environment": {name: os.environ.get(name, "unset") for name in (*PRESET, *THREADS)},
    }


def show(title: str, rows: list[Row]) -> None:
    """Print one line a row."""
    print(f"\n{title}")
    head = ("case", "peer", "ours", "peer", "ratio", "target", "gap", "peer's gap")
    print("{:<34} {:<24} {:>9} {:>9} {:>9} {:>8} {:>8} {:>10}".format(*head))
    for row in rows:
        peer_gap = "" if row.get("peer_gap") is None else f"{row['peer_gap']:.1e}"
        verdict = {True: "", False: "  MISSED", None: ""}[row["met"]]
        print(
            f"{row['case']:<34} {row['peer']:<24} {duration(row['seconds']):>9} "
            f"{duration(row['peer_seconds']):>9} {row['ratio']:>9.4g} {row['target']:>8} "
            f"{'' if row['gap'] is None else format(row['gap'], '.1e'):>8} {peer_gap:>10}{verdict}",
            flush=True,
        )


def duration(seconds: float | None) -> str:
    """Three digits with a unit."""
    if seconds is None:
        return ""
    for unit, factor in (("s", 1.0), ("ms", 1e3)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def main(name: str, title: str, run: Callable[[bool], list[Row]]) -> None:
    """Run one benchmark from the command line, print its table and store a full run."""
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--quick", action="store_true", help="small sizes; nothing is stored")
    quick = parser.parse_args().quick
    described = machine()
    start = time.perf_counter()
    rows = run(quick)
    show(title, rows)
    print("; ".join(f"{name} {value}" for name, value in described["packages"].items()))
    print(f"BLAS {described['blas']}, {described['environment']}")
    print(f"{time.perf_counter() - start:.0f} s")
    if not quick:
        record = {
            "title": title,
            "date": datetime.now(UTC).date().isoformat(),
            "seconds": round(time.perf_counter() - start),
            "machine": described,
            "rows": rows,
        }
        RESULTS.mkdir(exist_ok=True)
        text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
        (RESULTS / f"{name}.json").write_text(text, encoding="utf-8")
