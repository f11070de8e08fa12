"""How strategies divide the rounds among the actions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from speedlib._arrays import shown
from speedlib._extras import needed_by
from speedlib._labels import check_order
from speedlib.bandit import LinearBandit
from speedlib.checks import (
    Counts,
    Floats,
    check_count,
    check_not_negative,
    check_rounds,
    check_variances,
    check_vector,
)
from speedlib.environments import Environment, check_environment
from speedlib.rewards import Rewards
from speedlib.trials import Strategy, Trial, check_strategies, commit

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["by_variance", "shares"]


def shares(
    environment: Environment,
    strategies: Sequence[Strategy],
    rounds: int,
    replications: int,
    seed: int,
) -> dict[str, Floats]:
    """Return which share of the rounds each strategy spends on each action, on average.

    Parameters
    ----------
    environment : Environment
    strategies : sequence of Strategy
        With distinct names.
    rounds : int
        Budget n, at least 1.
    replications : int
        Independent trials to average over, at least 1.
    seed : int
        Seed of all random numbers, at least 0.

    Returns
    -------
    dict
        For each strategy an array of shape (A,), which sums to 1 if all rounds are used.

    Raises
    ------
    TypeError, ValueError
        If an argument breaks its rule.

    Notes
    -----
    All replications of a strategy are simulated at once: memory O(A) for each of them.
    """
    bandit = check_environment(environment).bandit
    strategies = check_strategies(strategies)
    rounds = check_rounds(rounds)
    replications = check_count("replications", replications, 1)
    streams = np.random.SeedSequence(check_count("seed", seed, 0)).spawn(len(strategies))
    found = {}
    for strategy, stream in zip(strategies, streams, strict=True):
        rng = np.random.default_rng(stream)
        trial = strategy.begin(
            bandit.features,
            environment.policy,
            rounds,
            rng=rng,
            variances=bandit.variances if strategy.knows_variances else None,
            replications=replications,
        )
        total = _pulls(trial, bandit, rng)
        found[strategy.name] = total / (rounds * replications)
    return found


def _pulls(trial: Trial, bandit: LinearBandit, rng: np.random.Generator) -> Counts:
    """Return the pulls of each action, over all phases and replications."""
    asked: list[Counts] = []

    def pull(counts: Counts) -> Rewards:
        asked.append(counts)
        return bandit.pull(counts, rng)

    asked.append(commit(trial, pull).counts)
    return np.asarray(np.sum(asked, axis=(0, 1)))


def by_variance(
    found: Mapping[str, ArrayLike], variances: ArrayLike, groups: int = 10
) -> pd.DataFrame:
    """Add up shares over groups of actions, from the quietest to the noisiest.

    Parameters
    ----------
    found : dict
        From `shares`: for each name an array of shape (A,), at least 0.
    variances : array, shape (A,)
        Variances of the actions, at least 0.
    groups : int
        Number of groups of equal size, up to one action; at least 1 and at most A.

    Returns
    -------
    pandas.DataFrame
        A row for each strategy, a column for each group, numbered from 1.

    Raises
    ------
    TypeError, ValueError
        If an argument breaks its rule.
    ImportError
        Without pandas, which the extra ``tables`` brings.
    """
    if not isinstance(found, Mapping):
        raise TypeError(f"found: must be what `shares` returns, a dict; got {shown(found)}")
    for share in found.values():
        check_order(variances, {"found": share}, name="variances")
    noise = check_vector("variances", variances)
    noise = check_variances(noise, noise.size, allow_zero=True)
    groups = check_count("groups", groups, 1, noise.size)
    rows = {
        name: check_not_negative("found", check_vector("found", share, noise.size))
        for name, share in found.items()
    }
    with needed_by("by_variance", "tables"):
        import pandas as pd

    parts = np.array_split(np.argsort(noise, kind="stable"), groups)
    sums = {name: [float(share[part].sum()) for part in parts] for name, share in rows.items()}
    return pd.DataFrame.from_dict(sums, orient="index", columns=range(1, groups + 1))
