r"""What a practitioner gains by which strategy: the measurement behind `speedlib.advice`.

A family of bandits is drawn for some numbers of actions and dimensions, two for each way to combine

- *features*: normal entries, so that actions differ in length; or the same at length 1;
- *noise*: :math:`\Sigma_*` with random axes and eigenvalues in geometric steps, the largest 1, 10
  or 100 times the smallest;
- *target policy*: uniform; drawn from the simplex; four fifths on one action and the rest alike; or
  the paper's, which rarely takes the noisiest tenth.

The parameter is normal, so long that the means of the actions spread as much as a reward's noise
does. Every strategy meets every bandit at every budget. Its error given exploration, or given the
scatters, is exact and averaged over replications; what is kept are quantiles, over the family, of
its ratio to the error of running the target policy.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from speedlib import (
    SPEED,
    AdaptiveNeyman,
    BookedOptimism,
    LinearBandit,
    OnPolicy,
    Oracle,
    PerArm,
    Strategy,
    commit,
)
from speedlib.checks import Floats
from speedlib.environments import threshold_policy
from speedlib.simulation import conditional_moments
from speedlib.strategies.explore_commit import ExploreThenCommitTrial

__all__ = ["KINDS", "Cell", "Drawn", "cell_key", "choose", "draw", "family", "measure", "replicate", "table"]

#: The ways to combine features, ratio of eigenvalues and target policy.
KINDS = tuple(
    product(("normal", "unit"), (1.0, 10.0, 100.0), ("uniform", "simplex", "one", "rare"))
)
#: Bandits of each kind.
DRAWS = 2
#: Quantiles over the family that are kept.
QUANTILES = (0.05, 0.5, 0.95)
#: What no one would call a gain: in the middle of the family the error falls by less than this.
LEAST_GAIN = 0.1
#: Among strategies whose middle ratios differ by no more than this share, the simplest is advised.
TIE = 0.05

#: How the value is estimated where the target policy is run: what strategies are compared with.
#: The last is told the variances: nothing better can be made of the same rounds.
RUNNING = ("ordinary least squares", "plain average", "weighted least squares")
#: Strategies by the key that the table has for them; simple ones first.
STRATEGIES: dict[str, Strategy] = {
    "neyman": AdaptiveNeyman(),
    "practical": SPEED.practical(),
    "booked": BookedOptimism(),
    "per-arm": PerArm(),
    "printed": SPEED(),
    "weighted": OnPolicy(estimator="wls"),
    "oracle": Oracle(),
}
#: Those that are told the noise.
TOLD = ("weighted", "oracle")


class Drawn(NamedTuple):
    """A bandit with a target policy."""

    bandit: LinearBandit
    policy: Floats


class Cell(NamedTuple):
    """Numbers of actions and dimensions, and a budget."""

    actions: int
    dimension: int
    rounds: int


def cell_key(cell: Cell) -> str:
    """Return the name of a cell in the table, as ``"12,6,3000"``."""
    return ",".join(map(str, cell))


def draw(
    kind: tuple[str, float, str], actions: int, dimension: int, seed: int, which: int = 0
) -> Drawn:
    """Draw a bandit of one kind.

    Parameters
    ----------
    kind : tuple
        One of `KINDS`: features, ratio of eigenvalues, target policy.
    actions, dimension : int
        A and d.
    seed : int
        Each kind, A and d has a stream of its own.
    which : int
        Which of several bandits of that kind.

    Returns
    -------
    Drawn
    """
    features, ratio, policy = kind
    rng = np.random.default_rng([seed, which, KINDS.index(kind), actions, dimension])
    X = rng.normal(size=(actions, dimension))
    if features == "unit":
        X /= np.linalg.norm(X, axis=1, keepdims=True)
    axes = np.linalg.qr(rng.normal(size=(dimension, dimension)))[0]
    Sigma = (axes * np.geomspace(1.0, ratio, dimension)) @ axes.T
    theta = rng.normal(size=dimension)
    variances = np.einsum("ai,ij,aj->a", X, Sigma, X)
    spread = (X @ theta).std()
    if spread > 0:
        theta *= np.sqrt(variances.mean()) / spread
    return Drawn(
        LinearBandit(X, theta, Sigma=Sigma), _policy(policy, variances, np.random.default_rng(rng))
    )


def _policy(name: str, variances: Floats, rng: np.random.Generator) -> Floats:
    size = variances.size
    if name == "simplex":
        return rng.dirichlet(np.ones(size))
    if name == "rare":
        return threshold_policy(variances, max(1, round(size / 10)), 0.01)
    shares = np.full(size, 1.0 / size)
    if name == "one":
        favourite = int(rng.integers(size))
        shares[:] = 0.2 / (size - 1)
        shares[favourite] = 0.8
    return shares


def family(actions: int, dimension: int, seed: int) -> list[Drawn]:
    """Return the bandits of all kinds, `DRAWS` of each."""
    return [
        draw(kind, actions, dimension, seed, which) for which in range(DRAWS) for kind in KINDS
    ]


class Errors(NamedTuple):
    """Mean squared errors, and how long exploration was (NaN without one), (R,) each."""

    error: Floats
    explored: Floats


def replicate(
    drawn: Drawn, strategy: Strategy, rounds: int, replications: int, rng: np.random.Generator
) -> Errors | None:
    """Return exact errors given exploration or scatters; None where the strategy does not apply."""
    bandit, policy = drawn
    try:
        trial = strategy.begin(
            bandit.features,
            policy,
            rounds,
            rng=rng,
            variances=bandit.variances if strategy.knows_variances else None,
            replications=replications,
        )
        commitment = commit(trial, lambda counts: bandit.pull(counts, rng))
    except ValueError as error:
        # A budget below the least one, or a support that is not known.
        if str(error).startswith(("rounds: ", "features: ", "direction: ", "support: ")):
            return None
        raise
    explored = np.full(replications, np.nan)
    if isinstance(trial, ExploreThenCommitTrial):
        explored = np.broadcast_to(trial.explored.counts.sum(axis=-1), (replications,)) + 0.0
    if strategy.by_scatters_alone:
        found = np.asarray(trial.error_given_pulls(bandit.variances))
    else:
        variance, bias = conditional_moments(commitment, bandit, policy)
        found = variance + bias**2
    return Errors(np.broadcast_to(found, (replications,)), explored)


def measure(cell: Cell, replications: int, seed: int) -> dict[str, Any]:
    """Return what the table holds of a cell.

    Parameters
    ----------
    cell : Cell
    replications : int
        Of each strategy on each bandit, at least 2. Running the policy has four times as many.
    seed : int
        The bandits have streams of their own, and so has each cell: what one cell holds does not
        depend on which others are measured.

    Returns
    -------
    dict
        ``"strategies"``: for each strategy that applies to every bandit, the quantiles of its error
        over that of each of `RUNNING`. ``"exploration"``: quantiles of the practical strategy's Γ over √n.
        ``"order"``: strategies that need not be told the noise and pay, the advised one first.
    """
    bandits = family(cell.actions, cell.dimension, seed)
    ratios: dict[str, list[Floats]] = {}
    lengths: list[Floats] = []
    for index, drawn in enumerate(bandits):
        streams = np.random.SeedSequence([seed, index, *cell]).spawn(len(STRATEGIES) + 1)
        rngs = [np.random.default_rng(stream) for stream in streams]
        references = running(drawn, cell.rounds, 4 * replications, rngs[-1])
        for (key, strategy), rng in zip(STRATEGIES.items(), rngs, strict=False):
            found = replicate(drawn, strategy, cell.rounds, replications, rng)
            if found is not None:
                ratios.setdefault(key, []).append(found.error.mean() / references)
                if key == "practical":
                    lengths.append(found.explored / np.sqrt(cell.rounds))
    complete = {key: np.array(each) for key, each in ratios.items() if len(each) == len(bandits)}
    strategies = {
        key: [_quantiles(column) for column in each.T] for key, each in complete.items()
    }
    return {
        "strategies": strategies,
        "exploration": _quantiles(np.concatenate(lengths)),
        "order": choose({key: each[0] for key, each in strategies.items()}),
    }


def running(drawn: Drawn, rounds: int, replications: int, rng: np.random.Generator) -> Floats:
    r"""Return the error of running the target policy, in each way of `RUNNING`.

    That of the plain average is :math:`\sum_a \pi(a)[\sigma^2(a) + (\mu(a) - v)^2] / n`.
    """
    bandit, policy = drawn
    found = [
        replicate(drawn, OnPolicy(estimator=estimator), rounds, replications, rng)
        for estimator in ("ols", "wls")
    ]
    ordinary, weighted = (each.error.mean() for each in found if each is not None)
    spread = (bandit.means - bandit.value(policy)) ** 2
    average = policy @ (bandit.variances + spread) / rounds
    return np.array([ordinary, average, weighted])


def choose(ratios: Mapping[str, Iterable[float]]) -> list[str]:
    """Return the strategies that pay without being told the noise, the advised one first.

    A strategy pays if it saves a tenth of the error or more in the middle of the family. The
    one with the least middle ratio comes first; those within five per cent of it change places with
    it if they are simpler, in the order of `STRATEGIES`.

    Examples
    --------
    >>> choose({"booked": [0.2, 0.50, 0.9], "practical": [0.2, 0.505, 0.9], "printed": [0, 2, 9]})
    ['practical', 'booked']
    """
    middle = {key: list(each)[1] for key, each in ratios.items() if key not in TOLD}
    left = [key for key, value in middle.items() if value <= 1 - LEAST_GAIN]
    simple = list(STRATEGIES)
    order: list[str] = []
    while left:
        least = min(middle[key] for key in left)
        near = [key for key in left if middle[key] <= least * (1 + TIE)]
        order.append(min(near, key=simple.index))
        left.remove(order[-1])
    return order


def _quantiles(values: Floats) -> list[float]:
    """Return three quantiles with three digits."""
    return [float(f"{value:.3g}") for value in np.quantile(values, QUANTILES)]


def cells(
    dimensions: Iterable[int], multiples: Iterable[int], rounds: Iterable[int]
) -> Iterator[Cell]:
    """Yield the cells of a grid; actions are multiples of the dimension."""
    for d, multiple, n in product(dimensions, multiples, rounds):
        yield Cell(d * multiple, d, n)


def table(grid: Iterable[Cell], replications: int, seed: int) -> dict[str, Any]:
    """Return the measurements of cells by their names."""
    return {cell_key(cell): measure(cell, replications, seed) for cell in grid}


def as_text(content: Mapping[str, Any]) -> str:
    """Return a table as JSON, a line for each cell."""
    head = {key: value for key, value in content.items() if key != "cells"}
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in content["cells"].items()]
    begin = json.dumps(head, indent=1, ensure_ascii=False).rstrip().removesuffix("}").rstrip()
    return begin + ',\n "cells": {\n  ' + ",\n  ".join(lines) + "\n }\n}\n"
