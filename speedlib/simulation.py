"""From replications to curves of mean squared error."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from speedlib.bandit import LinearBandit
from speedlib.checks import (
    Counts,
    Flags,
    Floats,
    check_choice,
    check_count,
    check_policy,
    check_rounds,
)
from speedlib.designs import optimal_design, target_direction
from speedlib.estimators import conditional_variance
from speedlib.trials import Strategy, Trial

if TYPE_CHECKING:
    import pandas as pd

#: How the error of a replication is measured.
METHODS = ("exact", "draws")

#: Numbers held in one array by a block of replications; it fixes the size of the blocks.
_BLOCK_ENTRIES = 2_000_000


@dataclass(frozen=True)
class MSECurves:
    r"""Mean squared errors of some strategies over numbers of rounds.

    Parameters
    ----------
    strategies : tuple of str
        Names of the S strategies.
    rounds : array of int, shape (N,)
        Budgets n.
    replications : int
        Replications behind every point.
    mse : array, shape (S, N)
        Mean squared error of the value estimate, in units of reward squared.
    standard_error : array, shape (S, N)
        Monte Carlo standard error of `mse`.
    inestimable : array, shape (S, N)
        Share of replications whose pulls do not determine the value; they enter `mse` through a
        generalised inverse.
    oracle_loss : array, shape (N,)
        The exact oracle loss :math:`L_n^* = \min_b c^\top A(b)^- c / n` without rounding.
    """

    strategies: tuple[str, ...]
    rounds: Counts
    replications: int
    mse: Floats
    standard_error: Floats
    inestimable: Floats
    oracle_loss: Floats

    @property
    def regret(self) -> Floats:
        """Excess of `mse` over the oracle loss, shape (S, N)."""
        return self.mse - self.oracle_loss

    def of(self, strategy: str) -> tuple[Floats, Floats]:
        """Return the mean squared errors of one strategy and their standard errors, (N,) each."""
        if strategy not in self.strategies:
            raise ValueError(f"strategy: must be one of {self.strategies}; got {strategy!r}")
        row = self.strategies.index(strategy)
        return self.mse[row], self.standard_error[row]

    def to_frame(self) -> pd.DataFrame:
        """Return a tidy table, one row a strategy and number of rounds (needs pandas)."""
        import pandas as pd

        columns = {
            "strategy": np.repeat(self.strategies, len(self.rounds)),
            "rounds": np.tile(self.rounds, len(self.strategies)),
            "mse": self.mse.ravel(),
            "standard_error": self.standard_error.ravel(),
            "regret": self.regret.ravel(),
            "inestimable": self.inestimable.ravel(),
        }
        return pd.DataFrame(columns)


def mse_curve(
    bandit: LinearBandit,
    policy: ArrayLike,
    strategies: Sequence[Strategy],
    rounds: Sequence[int] | ArrayLike,
    replications: int,
    *,
    seed: int,
    method: str = "exact",
    n_jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> MSECurves:
    r"""Replicate strategies on a bandit and average their squared errors.

    Parameters
    ----------
    bandit : LinearBandit
        The environment, with positive variances.
    policy : array, shape (A,)
        The target policy whose value is estimated.
    strategies : sequence of Strategy
        With distinct names.
    rounds : sequence of int
        Budgets n.
    replications : int
        Replications of each strategy at each budget, at least 2.
    seed : int
        Seed of all streams. Results depend on the order of `strategies` and of `rounds`, but not
        on the number of workers.
    method : {"exact", "draws"}
        ``"draws"`` squares the error of a drawn estimate. ``"exact"`` replaces it by its
        conditional expectation given exploration and pulls,

        .. math:: \sum_a \ell_a^2\sigma^2(a)/T(a)
                  + \Bigl(\sum_a \ell_a x(a)^\top\theta_* - c^\top\theta_*\Bigr)^2,

        where :math:`\ell` are the coefficients of the mean rewards: the same mean, far less noise.
    n_jobs : int
        Worker processes (joblib).
    progress : callable, optional
        Called with the numbers of finished and of all blocks.

    Returns
    -------
    MSECurves

    Raises
    ------
    ValueError
        If an argument breaks its rule, or names repeat.

    Notes
    -----
    Replications run in blocks whose size depends on the bandit alone, each with its own stream
    spawned from the seed, so that memory stays bounded and workers cannot change a result.
    """
    if not isinstance(bandit, LinearBandit):
        raise TypeError(f"bandit: expected a LinearBandit; got {type(bandit).__name__}")
    strategies = tuple(strategies) if isinstance(strategies, Iterable) else (strategies,)
    for strategy in strategies:
        if not isinstance(strategy, Strategy):
            raise TypeError(f"strategies: expected objects like SPEED(); got {strategy!r}")
    policy = check_policy(policy, bandit.n_actions)
    check_choice("method", method, METHODS)
    n_jobs = check_count("n_jobs", n_jobs, 1)
    replications = check_count("replications", replications, 2)
    budgets = np.array([check_rounds(n) for n in np.asarray(rounds).ravel().tolist()])
    names = tuple(strategy.name for strategy in strategies)
    if not names or len(set(names)) != len(names):
        raise ValueError(f"strategies: need at least one, with distinct names; got {names}")
    if budgets.size == 0:
        raise ValueError("rounds: need at least one number of rounds")

    loss = optimal_design(bandit.features, bandit.variances, policy=policy).value
    sizes = _block_sizes(bandit, replications)
    cells = [(strategy, int(n)) for strategy in strategies for n in budgets]
    streams = np.random.SeedSequence(check_count("seed", seed, 0)).spawn(len(cells))
    jobs = [
        (bandit, policy, strategy, n, size, stream, method)
        for (strategy, n), cell in zip(cells, streams, strict=True)
        for size, stream in zip(sizes, cell.spawn(len(sizes)), strict=True)
    ]
    moments = np.array(_run(jobs, n_jobs, progress)).reshape(len(cells), len(sizes), 3)
    mean, error, inestimable = _pool(moments, np.array(sizes))
    shape = (len(names), len(budgets))
    return MSECurves(
        strategies=names,
        rounds=budgets,
        replications=replications,
        mse=mean.reshape(shape),
        standard_error=error.reshape(shape),
        inestimable=inestimable.reshape(shape),
        oracle_loss=loss / budgets,
    )


Job = tuple[LinearBandit, Floats, Strategy, int, int, np.random.SeedSequence, str]


def squared_errors(
    bandit: LinearBandit,
    policy: Floats,
    strategy: Strategy,
    rounds: int,
    replications: int,
    stream: np.random.SeedSequence | np.random.Generator,
    method: str,
) -> tuple[Floats, Flags]:
    """Run one block of replications; return squared errors and whether each was inestimable."""
    rng = np.random.default_rng(stream)
    trial = strategy.begin(
        bandit.features,
        policy,
        rounds,
        rng=rng,
        variances=bandit.variances,
        replications=replications,
    )
    counts = trial.first_counts()
    while not trial.committed:
        counts = trial.next_counts(bandit.pull(counts, rng))
    c = target_direction(bandit.features, policy)
    if method == "exact" and strategy.conditional:
        return conditional_mse(trial, bandit, c), ~trial.estimable
    result = trial.estimate(bandit.pull(counts, rng))
    return (result.value - c @ bandit.theta) ** 2, ~result.estimable


def conditional_mse(trial: Trial, bandit: LinearBandit, direction: Floats) -> Floats:
    """Return the mean squared error given the coefficients and the pulls, shape (...,)."""
    variance = conditional_variance(trial.coefficients, trial.counts, bandit.variances)
    mean = trial.offset + trial.coefficients @ bandit.means
    bias = mean - direction @ bandit.theta
    return np.asarray(variance + bias**2)


def _block_sizes(bandit: LinearBandit, replications: int) -> list[int]:
    entries = bandit.n_actions * bandit.d + bandit.d**4
    size = max(1, min(replications, _BLOCK_ENTRIES // entries))
    full, rest = divmod(replications, size)
    return [size] * full + [rest] * (rest > 0)


def _block_moments(job: Job) -> tuple[float, float, float]:
    errors, inestimable = squared_errors(*job)
    return float(errors.mean()), float(errors.var()), float(np.mean(inestimable))


def _run(
    jobs: list[Job], n_jobs: int, progress: Callable[[int, int], None] | None
) -> list[tuple[float, float, float]]:
    if n_jobs == 1:
        results = map(_block_moments, jobs)
    else:
        from joblib import Parallel, delayed

        parallel = Parallel(n_jobs=n_jobs, return_as="generator")
        results = parallel(delayed(_block_moments)(job) for job in jobs)
    collected = []
    for result in results:
        collected.append(result)
        if progress is not None:
            progress(len(collected), len(jobs))
    return collected


def _pool(moments: Floats, sizes: Counts) -> tuple[Floats, Floats, Floats]:
    """Pool block means and variances over blocks; moments have shape (cells, blocks, 3)."""
    total = sizes.sum()
    mean = moments[..., 0] @ sizes / total
    spread = (moments[..., 1] + (moments[..., 0] - mean[:, None]) ** 2) @ sizes
    error = np.sqrt(spread / (total - 1) / total)
    return mean, error, moments[..., 2] @ sizes / total
