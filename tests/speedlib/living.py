"""Experiments in whatever state: random days of asking, losing, delaying, adding and limiting."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from speedlib import (
    SPEED,
    AdaptiveNeyman,
    BookedOptimism,
    OnPolicy,
    Oracle,
    PerArm,
    Strategy,
    Uniform,
)
from speedlib.experiment import Experiment

from .ten_days import FEATURES, POLICY, WORLD

COSTS = np.array([1, 2.5, 1, 1, 4, 1, 1, 0.5])
SEVERAL = np.stack([POLICY, np.eye(8)[5]])
HISTORY = WORLD.pull(np.array([9, 4, 0, 1, 0, 2, 0, 0]), np.random.default_rng(1))
LONG = WORLD.pull(np.full(8, 40), np.random.default_rng(2))

#: A strategy, and what else an experiment begins with.
KINDS: dict[str, tuple[Strategy, dict[str, Any]]] = {
    "tuned": (SPEED.practical(), {}),
    "tuned, money": (SPEED.practical(), {"costs": COSTS}),
    "tuned, bounds": (SPEED.practical(), {"least": 0.02, "most": 0.4}),
    "tuned, history": (SPEED.practical(), {"history": HISTORY}),
    "tuned, long history": (SPEED.practical(), {"history": LONG}),
    "tuned, policies": (SPEED.practical(), {"policy": SEVERAL, "importance": [1, 3]}),
    "tuned, all kept": (SPEED.practical(keep_exploration=True), {}),
    "printed": (SPEED(), {}),
    "printed, money": (SPEED(exploration="uniform"), {"costs": COSTS, "most": 0.5}),
    "rounded up": (SPEED(rounding="ceil", exploration="uniform"), {}),
    "random": (SPEED.practical(exploration_rounds=60, exploration_sampling="random"), {}),
    "per arm": (PerArm(), {"history": HISTORY}),
    "oracle": (Oracle(), {"variances": WORLD.variances, "costs": COSTS}),
    "oracle, up": (Oracle(rounding="ceil"), {"variances": WORLD.variances}),
    "on policy": (OnPolicy(estimator="mean"), {}),
    "uniform": (Uniform(estimator="feasible", sampling="balanced"), {}),
    "booked": (BookedOptimism(), {}),
    "booked slowly": (BookedOptimism(first_pulls=1, regrowth=0.05), {}),
    "neyman": (AdaptiveNeyman(support=(0, 2, 6)), {}),
    "neyman, ten": (AdaptiveNeyman.many(support=(0, 2, 6)), {}),
}


def begin(kind: str, rounds: int = 600, seed: int = 3) -> Experiment:
    strategy, more = KINDS[kind]
    policy = more.get("policy", POLICY)
    others = {name: value for name, value in more.items() if name != "policy"}
    return Experiment(strategy, FEATURES, policy, rounds, seed=seed, **others)


def days(experiment: Experiment, rng: np.random.Generator) -> Iterator[str]:
    """Do something to an experiment, for ever; say what, also where it was refused."""
    acts: list[Callable[[Experiment, np.random.Generator], None]]
    acts = [_ask, _ask, _ask, _assign, _tell, _tell, _tell, _tell_more, _write_off, _limit]
    acts.append(_explore)
    while True:
        act = acts[rng.integers(len(acts))]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                act(experiment, rng)
            except ValueError as error:
                yield f"{act.__name__}: {error}"
                continue
        yield act.__name__


def _ask(mine: Experiment, rng: np.random.Generator) -> None:
    size = [None, 1, 7, 40, 150][rng.integers(5)]
    mine.ask(size, wait=bool(rng.integers(3) == 0))


def _assign(mine: Experiment, rng: np.random.Generator) -> None:
    mine.assign(int(rng.integers(1, 20)), wait=bool(rng.integers(2)))


def _tell(mine: Experiment, rng: np.random.Generator) -> None:
    owed = mine.books.owed + (mine.books.written_off if rng.integers(3) == 0 else 0)
    mine.tell(WORLD.pull(rng.binomial(owed, [0.5, 0.9, 1][rng.integers(3)]), rng))


def _explore(mine: Experiment, rng: np.random.Generator) -> None:
    mine.explore(int(rng.integers(1, 30)))


def _tell_more(mine: Experiment, rng: np.random.Generator) -> None:
    if rng.integers(4) == 0:
        mine.tell(WORLD.pull(rng.integers(0, 3, 8), rng))


def _write_off(mine: Experiment, rng: np.random.Generator) -> None:
    if rng.integers(3) == 0:
        mine.write_off()


def _limit(mine: Experiment, rng: np.random.Generator) -> None:
    most = np.ones(8)
    most[rng.integers(8)] = rng.uniform(0.05, 0.6)
    costs = rng.uniform(0.3, 3, 8) if mine._in_money and rng.integers(2) else None
    mine.limit(costs=costs, most=most if rng.integers(2) else None)
