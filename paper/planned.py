"""Simulations of a plan before it starts: its precision, and how daily looks harm its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from speedlib import LinearBandit, OnPolicy, Strategy, play

#: Names of the ways in the table of a plan.
WAYS = ("this plan", "target policy, plain average", "target policy, least squares")


def planned_half_lengths(
    strategy: Strategy,
    bandit: LinearBandit,
    policy: NDArray[np.float64],
    rounds: int,
    *,
    level: float,
    repetitions: int,
    seed: int,
    limits: Mapping[str, Any] | None = None,
) -> NDArray[np.float64]:
    r"""Simulate experiments; return half the length of their intervals, a row for each of `WAYS`.

    Parameters
    ----------
    strategy : Strategy
    bandit : LinearBandit
        The world to rehearse in.
    policy : array, shape (A,) or (K, A)
        The target policy. If there are several, the comparison runs the average of the policies.
    rounds : int
        The budget: a number of rounds or, with costs, an amount of money. The target policy runs
        for as many rounds as this money pays for.
    level : float
        Level of the intervals.
    repetitions : int
        Number of simulated experiments.
    seed : int
    limits : mapping, optional
        Costs and bounds, as `speedlib.trials.Strategy.begin` takes them.

    Returns
    -------
    array, shape (3, repetitions)
        In units of reward; infinite where an experiment does not determine the value.
    """
    given = {name: bound for name, bound in (limits or {}).items() if bound is not None}
    mean = np.asarray(policy, dtype=float).reshape(-1, len(bandit.features)).mean(axis=0)
    cost = float(mean @ np.broadcast_to(given.get("costs", 1.0), mean.shape))
    runs: list[tuple[Strategy, Any, int, dict[str, Any]]] = [
        (strategy, policy, rounds, given),
        (OnPolicy(estimator="mean"), mean, max(2, int(rounds / cost)), {}),
        (OnPolicy(estimator="ols"), mean, max(2, int(rounds / cost)), {}),
    ]
    rows = []
    for number, (each, target, budget, bounds) in enumerate(runs):
        rng = np.random.default_rng([seed, 3, number])
        trial = each.begin(
            bandit.features, target, budget, rng=rng, replications=repetitions, **bounds
        )
        estimate = play(trial, lambda counts, rng=rng: bandit.pull(counts, rng))  # type: ignore[misc]
        low, high = estimate.interval(level)
        rows.append((high - low) / 2)
    return np.stack(rows)


def missed_by_looking(
    looks: Sequence[int], *, level: float, repetitions: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return, for each number of looks, how often at least one of the intervals misses.

    Let K looks divide an experiment into K parts with equal numbers of rewards. With many rewards,
    the mean of each part is nearly normal, and look k sees the average of k such means. So we draw
    normal numbers, and the result holds for every experiment with many rewards.

    Parameters
    ----------
    looks : sequence of int
        Numbers K, each at least 1.
    level : float
        Level of each interval.
    repetitions : int
    rng : numpy.random.Generator

    Returns
    -------
    array, shape (len(looks),)
        Shares of experiments in which at least one interval misses the true value.
    """
    quantile = NormalDist().inv_cdf((1 + level) / 2)
    missed = []
    for many in looks:
        sums = rng.standard_normal((repetitions, many)).cumsum(axis=1)
        sizes = np.abs(sums) / np.sqrt(np.arange(1, many + 1))
        missed.append(float(np.mean(sizes.max(axis=1) > quantile)))
    return np.array(missed)
