r"""Measure how much a practitioner gains by each strategy: the table behind `speedlib.advice`.

A family of bandits is drawn for some numbers of actions and dimensions, two for each way to combine

- *features*: normal entries, so actions differ in length; or the same at length 1;
- *noise*: :math:`\Sigma_*` with random axes and eigenvalues in geometric steps, the largest 1, 10
  or 100 times the smallest;
- *target policy*: uniform; drawn from the simplex; four fifths on one action and the rest equal; or
  the paper's, which rarely takes the noisiest tenth.

The parameter is normal, scaled such that the means of the actions spread as much as the noise of a
reward. Every strategy is run on every bandit at every budget. Its error given exploration, or given
the scatters, is exact and averaged over replications. This error is divided by
the error of running the target policy. The table keeps quantiles of this ratio over the family.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed

from speedlib import LinearBandit, OnPolicy, Strategy, commit
from speedlib.advice import BUILD
from speedlib.checks import Floats
from speedlib.environments import threshold_policy
from speedlib.simulation import conditional_moments
from speedlib.strategies.explore_commit import ExploreThenCommitTrial

__all__ = [
    "KINDS",
    "Cell",
    "Drawn",
    "cell_key",
    "cells",
    "choose",
    "decided",
    "draw",
    "family",
    "measure",
    "replicate",
    "running",
    "stored_table",
    "whole_table",
    "write_table",
]

#: The file of the table in the library.
TABLE = Path(str(files("speedlib").joinpath("advice.json")))
#: The grid and the settings of the library's table.
DIMENSIONS = (2, 3, 4, 6, 10)
MULTIPLES = (1, 2, 5, 20)
ROUNDS = (100, 300, 1000, 3000, 10_000, 100_000)
REPLICATIONS, SEED = 16, 20240597

#: The ways to combine features, ratio of eigenvalues and target policy.
#:
#: :meta hide-value:
KINDS = tuple(
    product(("normal", "unit"), (1.0, 10.0, 100.0), ("uniform", "simplex", "one", "rare"))
)
#: With more actions, booked optimism is left out, since finding its vertices takes minutes.
MOST_BOOKED = 150
#: Bandits of each kind.
DRAWS = 2
#: Quantiles over the family that are kept.
QUANTILES = (0.05, 0.5, 0.95)
#: A smaller reduction of the error, in the median over the family, does not count as a gain.
LEAST_GAIN = 0.1
#: Among strategies whose median ratios differ by no more than this share, the simplest is advised.
TIE = 0.1

#: The ways of estimating the value from running the target policy, to which strategies are
#: compared. The last one knows the variances, so no other does better with the same rounds.
RUNNING = ("ordinary least squares", "plain average", "weighted least squares")
#: Strategies by their keys in the table; simple ones first.
#:
#: :meta hide-value:
STRATEGIES = {key: build() for key, build in BUILD.items() if key != "policy"}
#: Strategies that know the noise.
TOLD = ("weighted", "oracle")


class Drawn(NamedTuple):
    """A bandit with a target policy."""

    bandit: LinearBandit
    policy: Floats


class Cell(NamedTuple):
    """A cell of the table: numbers of actions and dimensions, and a budget."""

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
        The number of the bandit among several of that kind.

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
    return [draw(kind, actions, dimension, seed, which) for which in range(DRAWS) for kind in KINDS]


class Errors(NamedTuple):
    """Mean squared errors, and lengths of exploration (NaN without one), shape (R,) each."""

    error: Floats
    explored: Floats


def replicate(
    drawn: Drawn, strategy: Strategy, rounds: int, replications: int, rng: np.random.Generator
) -> Errors | None:
    """Return exact errors given exploration or scatters; None if the strategy does not apply."""
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
        # The budget is too small, or the support is not known.
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
    """Return the entry of the table for a cell.

    Parameters
    ----------
    cell : Cell
    replications : int
        For each strategy on each bandit, at least 2. Running the policy is simulated four times as
        often.
    seed : int
        Each bandit and each cell has its own stream, so the entry of a cell does not depend on
        which others are measured.

    Returns
    -------
    dict
        ``"strategies"``: for each strategy that applies to every bandit, quantiles of its error
        divided by the error of each of `RUNNING`. ``"exploration"``: quantiles of the practical
        strategy's Γ divided by √n.
    """
    bandits = family(cell.actions, cell.dimension, seed)
    ratios: dict[str, list[Floats]] = {}
    lengths: list[Floats] = []
    for index, drawn in enumerate(bandits):
        streams = np.random.SeedSequence([seed, index, *cell]).spawn(len(STRATEGIES) + 1)
        rngs = [np.random.default_rng(stream) for stream in streams]
        references = running(drawn, cell.rounds, 4 * replications, rngs[-1])
        for (key, strategy), rng in zip(STRATEGIES.items(), rngs, strict=False):
            if key == "booked" and cell.actions > MOST_BOOKED:
                continue
            found = replicate(drawn, strategy, cell.rounds, replications, rng)
            if found is not None:
                ratios.setdefault(key, []).append(found.error.mean() / references)
                if key == "practical":
                    lengths.append(found.explored / np.sqrt(cell.rounds))
    return {
        "strategies": {
            key: [_quantiles(column) for column in np.transpose(each)]
            for key, each in ratios.items()
            if len(each) == len(bandits)
        },
        "exploration": _quantiles(np.concatenate(lengths)),
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


def choose(middle: Mapping[str, float]) -> list[str]:
    """Return the strategies that help if the noise is unknown, the advised one first.

    A strategy helps if its median ratio over the family shows a saving of a tenth of the error or
    more. The one with the smallest median ratio comes first; strategies whose median ratio is at
    most a tenth larger come before it if they are simpler, in the order of `STRATEGIES`.

    Examples
    --------
    >>> choose({"booked": 0.50, "practical": 0.54, "printed": 0.95, "oracle": 0.4})
    ['practical', 'booked']
    """
    left = [key for key in middle if key not in TOLD and middle[key] <= 1 - LEAST_GAIN]
    simple = list(STRATEGIES)
    order: list[str] = []
    while left:
        least = min(middle[key] for key in left)
        near = [key for key in left if middle[key] <= least * (1 + TIE)]
        order.append(min(near, key=simple.index))
        left.remove(order[-1])
    return order


def decided(cell: Mapping[str, Any]) -> dict[str, Any]:
    """Return a measured cell with its advice.

    ``"order"`` has the strategies that help if the noise is unknown. ``"known"`` is the advice if
    the noise is known: to follow the optimal design if that saves a tenth of the error of weighted
    least squares, and otherwise to run the policy and use weighted least squares.
    """
    ranges = cell["strategies"]
    known = sorted(TOLD) if ranges["oracle"][-1][1] <= 1 - LEAST_GAIN else ["weighted"]
    return {
        **cell,
        "order": choose({key: each[0][1] for key, each in ranges.items()}),
        "known": known,
    }


def _quantiles(values: Floats) -> list[float]:
    """Return three quantiles with three digits."""
    return [float(f"{value:.3g}") for value in np.quantile(values, QUANTILES)]


def cells(
    dimensions: Iterable[int], multiples: Iterable[int], rounds: Iterable[int]
) -> Iterator[Cell]:
    """Yield the cells of a grid; the numbers of actions are multiples of the dimension."""
    for d, multiple, n in product(dimensions, multiples, rounds):
        yield Cell(d * multiple, d, n)


def whole_table(measured: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content that `speedlib.advice` reads: the settings of the table and its cells."""
    return {
        "seed": SEED,
        "replications": REPLICATIONS,
        "bandits": DRAWS * len(KINDS),
        "quantiles": QUANTILES,
        "running": RUNNING,
        "dimensions": DIMENSIONS,
        "multiples": MULTIPLES,
        "rounds": ROUNDS,
        "cells": {
            cell_key(cell): decided(measured[cell_key(cell)])
            for cell in cells(DIMENSIONS, MULTIPLES, ROUNDS)
        },
    }


def as_text(content: Mapping[str, Any]) -> str:
    """Return a table as JSON, a line for each cell.

    Examples
    --------
    >>> print(as_text({"seed": 1, "cells": {"2,2,30": {"order": []}}}), end="")
    {"seed":1,"cells":{
    "2,2,30":{"order":[]}
    }}
    """
    head = _short({key: value for key, value in content.items() if key != "cells"})
    lines = [f"{_short(key)}:{_short(value)}" for key, value in content["cells"].items()]
    return head.removesuffix("}") + ',"cells":{\n' + ",\n".join(lines) + "\n}}\n"


def _short(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def main() -> None:
    """Measure the whole grid, on all cores, and write the table of `speedlib.advice`."""
    grid = list(cells(DIMENSIONS, MULTIPLES, ROUNDS))
    found = Parallel(n_jobs=-1, verbose=1)(
        delayed(measure)(cell, REPLICATIONS, SEED) for cell in grid
    )
    measured = dict(zip(map(cell_key, grid), found, strict=True))
    write_table(measured)


def stored_table() -> dict[str, Any]:
    """Return the table of `speedlib.advice`."""
    found: dict[str, Any] = json.loads(TABLE.read_text(encoding="utf-8"))
    return found


def write_table(measured: Mapping[str, Any]) -> None:
    """Write the table into the file that `speedlib.advice` reads."""
    TABLE.write_text(as_text(whole_table(measured)), encoding="utf-8")


if __name__ == "__main__":
    main()
