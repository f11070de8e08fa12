"""From replications to curves of mean squared error."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from speedlib._arrays import shown
from speedlib._extras import needed_by
from speedlib._progress import Progress, reporter
from speedlib.bandit import LinearBandit, check_bandit
from speedlib.checks import (
    Counts,
    Flags,
    Floats,
    check_budgets,
    check_choice,
    check_count,
    check_flag,
    check_policy,
)
from speedlib.curves import MSECurves
from speedlib.designs import optimal_design
from speedlib.estimators import combined_variance, distinct_rows
from speedlib.strategies._by_scatters import ByScattersTrial
from speedlib.trials import Commitment, Strategy, Trial, check_strategies, commit

__all__ = ["METHODS", "Moments", "conditional_moments", "mse_curve"]

#: How the error of a replication is measured.
METHODS = ("exact", "draws")

#: Numbers held in one array by a block of replications; it fixes the size of the blocks.
_BLOCK_ENTRIES = 2_000_000

#: Groups of replications that the bootstrap of a slope resamples.
GROUPS = 32


def mse_curve(
    bandit: LinearBandit,
    policy: ArrayLike,
    strategies: Sequence[Strategy],
    rounds: Sequence[int] | ArrayLike,
    replications: int,
    *,
    seed: int,
    method: str = "exact",
    n_jobs: int | None = 1,
    progress: Progress | bool = False,
) -> MSECurves:
    r"""Replicate strategies on a bandit and average their squared errors.

    Parameters
    ----------
    bandit : LinearBandit
        The environment, with positive variances (0 where the features of an action are all 0).
    policy : array, shape (A,)
        The target policy whose value is estimated.
    strategies : sequence of Strategy
        With distinct names.
    rounds : sequence of int
        Budgets n.
    replications : int
        Replications of each strategy at each budget, at least 2.
    seed : int
        Seed of all random numbers. Results depend on the order of `strategies` and of `rounds`, but
        not on the number of workers.
    method : {"exact", "draws"}
        ``"draws"`` squares the error of a drawn estimate. ``"exact"`` replaces it by its
        conditional expectation given exploration and pulls,

        .. math:: \sum_a \ell_a^2\sigma^2(a)/T(a)
                  + \Bigl(\text{offset} + \sum_a \ell_a x(a)^\top\theta_*
                  - c^\top\theta_*\Bigr)^2,

        where :math:`\ell` are the coefficients of the last pulls' mean rewards and the offset is
        what earlier rewards contribute. This expectation has the same mean as the squared error and
        far less noise. If the coefficients of a strategy depend on the rewards that they combine,
        there is no such formula. The errors of this strategy are then drawn, and `methods` of the
        result says so. If a strategy decides by scatters alone
        (`speedlib.trials.Strategy.by_scatters_alone`) and noise is Gaussian, the expectation is
        conditional on all scatters: :math:`\sum_a k_a^2\sigma^2(a)/T(a)` over all pulls plus the
        squared bias, :math:`\bigl((\sum_a k_a x(a) - c)^\top\theta_*\bigr)^2`. Under other noise,
        the errors of such a strategy are drawn.
    n_jobs : int or None
        Worker processes. None leaves the choice to joblib's current backend, for instance a Dask
        cluster: ``with joblib.parallel_config(backend="dask"): mse_curve(..., n_jobs=None)``. With
        a backend that gives all results at once, such as ``"multiprocessing"``, progress appears
        only at the end.
    progress : bool or callable
        True shows a bar if the error stream is a terminal. A callable receives two numbers: of the
        blocks that are finished, and of all blocks. If no callable is passed and the environment
        variable ``SPEEDLIB_PROGRESS_FILE`` names a file, these numbers are written to this file
        instead of a bar.

    Returns
    -------
    MSECurves

    See Also
    --------
    speedlib.curves.MSECurves.slope : The rate of the regret, with an interval.

    Raises
    ------
    ValueError
        If an argument breaks its rule, or names repeat.
    ImportError
        If several processes or a bar are requested without the packages of the extra
        ``simulation``.

    Notes
    -----
    Replications run in blocks whose size depends on the bandit alone. Each block has its own
    stream, spawned from the seed, and one thread for linear algebra (if threadpoolctl is
    installed). Results are summed in order. So memory does not grow with the number of
    replications, and on one type of machine the number of workers does not change the result in any
    bit. An interrupt ends the workers and is passed on to the caller.

    Examples
    --------
    >>> from speedlib import SPEED, OnPolicy, mse_curve, unit_ball
    >>> ball = unit_ball()
    >>> strategies = [OnPolicy(), SPEED.practical()]
    >>> curves = mse_curve(ball.bandit, ball.policy, strategies, [1000], 200, seed=1)
    >>> (curves.mse / curves.oracle_loss).round(2).tolist()
    [[1.66], [1.08]]
    """
    check_bandit(bandit)
    strategies = check_strategies(strategies)
    policy = check_policy(policy, bandit.n_actions)
    check_choice("method", method, METHODS)
    if isinstance(n_jobs, int) and n_jobs < 0:
        raise ValueError(
            f"n_jobs: must be at least 1, or None for joblib's own setting; got {n_jobs}; for a "
            "worker on every core pass os.cpu_count()"
        )
    n_jobs = None if n_jobs is None else check_count("n_jobs", n_jobs, 1)
    progress = progress if callable(progress) else check_flag("progress", progress)
    replications = check_count("replications", replications, 2)
    budgets = check_budgets(rounds, 1).ravel()
    names = tuple(strategy.name for strategy in strategies)
    if budgets.size == 0:
        raise ValueError("rounds: need at least one number of rounds")

    loss = optimal_design(bandit.features, bandit.variances, policy=policy).value
    plan = _Plan(
        bandit=bandit,
        policy=policy,
        cells=[(strategy, int(n)) for strategy in strategies for n in budgets],
        sizes=_block_sizes(bandit, replications),
        groups=min(GROUPS, replications),
        seed=check_count("seed", seed, 0),
        method=method,
    )
    sums = _gather(plan, n_jobs, progress)
    shape = (len(names), len(budgets))
    return MSECurves(
        strategies=names,
        methods=tuple(_method(each, bandit, method) for each in strategies),
        rounds=budgets,
        replications=replications,
        mse=sums.mean.reshape(shape),
        standard_error=sums.standard_error.reshape(shape),
        inestimable=(sums.inestimable / replications).reshape(shape),
        oracle_loss=loss / budgets,
        group_means=(sums.groups / sums.group_sizes).reshape(*shape, plan.groups),
        group_sizes=sums.group_sizes,
    )


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
    commitment = commit(trial, lambda counts: bandit.pull(counts, rng))
    method = _method(strategy, bandit, method)
    if not strategy.conditional or (method == "draws" and bandit.noise != "gaussian"):
        result = trial.estimate(bandit.pull(commitment.counts, rng))
        return (result.value - bandit.value(policy)) ** 2, ~result.estimable
    if method == "exact" and strategy.by_scatters_alone:
        return _given_scatters(trial, bandit, policy), ~commitment.estimable
    variance, bias = conditional_moments(commitment, bandit, policy)
    if method == "exact":
        return variance + bias**2, ~commitment.estimable
    # Given the pulls the estimate is Gaussian: one number has the law of a whole experiment.
    errors = bias + np.sqrt(variance) * rng.standard_normal(variance.shape)
    return errors**2, ~commitment.estimable


def _given_scatters(trial: Trial, bandit: LinearBandit, policy: Floats) -> Floats:
    """Return the mean squared error given all scatters, under Gaussian noise, shape (...,)."""
    variance = trial.error_given_pulls(bandit.variances)
    if not isinstance(trial, ByScattersTrial):
        return variance
    bias = trial.coefficients @ bandit.means - bandit.value(policy)
    return np.asarray(variance + bias**2)


def _method(strategy: Strategy, bandit: LinearBandit, method: str) -> str:
    """Return how the errors of a strategy are measured, given the requested method."""
    given_scatters = strategy.by_scatters_alone and bandit.noise != "gaussian"
    return "draws" if given_scatters or not strategy.conditional else method


class Moments(NamedTuple):
    """Variance and bias of an estimate, shape (...,) each."""

    variance: Floats
    bias: Floats


def conditional_moments(commitment: Commitment, bandit: LinearBandit, policy: ArrayLike) -> Moments:
    r"""Return variance and bias of the estimate, given all rewards before the last pulls, (...,).

    .. math:: \sum_a \ell_a^2\sigma^2(a)/T(a) \qquad\text{and}\qquad
              \text{offset} + \sum_a \ell_a x(a)^\top\theta_* - c^\top\theta_* .

    Parameters
    ----------
    commitment : Commitment
        The commitment of a strategy for which `speedlib.trials.Strategy.conditional` is true.
    bandit : LinearBandit
        Where the last pulls are made.
    policy : array, shape (A,)
        The target policy.

    Raises
    ------
    ValueError
        If the coefficients depend on the last rewards.
    """
    check_bandit(bandit)
    if not isinstance(commitment, Commitment):
        raise TypeError(f"commitment: expected a Commitment; got {shown(commitment)}")
    if commitment.coefficients is None:
        raise ValueError(
            "commitment: its coefficients depend on the last rewards, so the error has no "
            "closed form; draw these rewards instead"
        )
    # One allocation that all replications share has one variance.
    coefficients, counts = commitment.coefficients, commitment.counts
    if len(distinct_rows(coefficients)) == len(distinct_rows(counts)):
        coefficients, counts = distinct_rows(coefficients), distinct_rows(counts)
    variance = combined_variance(coefficients, counts, bandit.variances)
    bias = commitment.offset + coefficients @ bandit.means - bandit.value(policy)
    return Moments(np.broadcast_to(variance, bias.shape), np.asarray(bias))


def _block_sizes(bandit: LinearBandit, replications: int) -> list[int]:
    entries = bandit.n_actions * bandit.d + bandit.d**4
    size = max(1, min(replications, _BLOCK_ENTRIES // entries))
    full, rest = divmod(replications, size)
    return [size] * full + [rest] * (rest > 0)


class _Plan(NamedTuple):
    """What is to be simulated: blocks of replications for every cell, a strategy with a budget."""

    bandit: LinearBandit
    policy: Floats
    cells: list[tuple[Strategy, int]]
    sizes: list[int]
    groups: int
    seed: int
    method: str

    @property
    def blocks(self) -> int:
        return len(self.cells) * len(self.sizes)

    def jobs(self) -> Iterator[_Job]:
        """Yield the jobs one by one, as they are needed."""
        cells = np.random.SeedSequence(self.seed).spawn(len(self.cells))
        for (strategy, n), cell in zip(self.cells, cells, strict=True):
            first = 0
            for size in self.sizes:
                stream = cell.spawn(1)[0]
                groups = self.groups_of(first, size)
                yield _Job(groups, self.bandit, self.policy, strategy, n, stream, self.method)
                first += size

    def groups_of(self, first: int, size: int) -> Counts:
        """Deal the replications of a block out to the groups, which stay equally large."""
        return np.arange(first, first + size) % self.groups


class _Job(NamedTuple):
    """A block of replications to be simulated, each in one of the groups.

    A job is one tuple, which is sent with its task. joblib's Dask backend would scatter a large
    argument among the workers, and a scattered part is lost if its worker is lost.
    """

    groups: Counts
    bandit: LinearBandit
    policy: Floats
    strategy: Strategy
    rounds: int
    stream: np.random.SeedSequence
    method: str


class _Block(NamedTuple):
    """The results of a block of replications."""

    mean: float
    square: float
    inestimable: int
    groups: Floats


def _run_block(job: _Job) -> _Block:
    with _one_thread():
        errors, inestimable = squared_errors(
            job.bandit,
            job.policy,
            job.strategy,
            job.rounds,
            job.groups.size,
            job.stream,
            job.method,
        )
    mean = float(errors.mean())
    square = float(np.sum((errors - mean) ** 2))
    sums = np.bincount(job.groups, errors).astype(np.float64)
    return _Block(mean, square, int(inestimable.sum()), sums)


def _one_thread() -> AbstractContextManager[Any]:
    libraries = _linear_algebra()
    return libraries.limit(limits=1) if libraries else nullcontext()


@cache
def _linear_algebra() -> Any:
    """Find the linear-algebra libraries of this process, once; None without threadpoolctl."""
    try:
        from threadpoolctl import ThreadpoolController
    except ModuleNotFoundError:
        return None
    return ThreadpoolController()


class _Sums:
    """Running sums over the blocks of every cell."""

    def __init__(self, plan: _Plan) -> None:
        n_cells = len(plan.cells)
        self.mean, self._square = np.zeros(n_cells), np.zeros(n_cells)
        self.inestimable, self._done = np.zeros(n_cells), np.zeros(n_cells)
        self.groups = np.zeros((n_cells, plan.groups))
        each, rest = divmod(sum(plan.sizes), plan.groups)
        self.group_sizes = each + (np.arange(plan.groups) < rest).astype(np.int64)

    def add(self, cell: int, size: int, block: _Block) -> None:
        """Take in a block (the update of Chan, Golub and LeVeque)."""
        done = self._done[cell] + size
        step = block.mean - self.mean[cell]
        self.mean[cell] += step * size / done
        self._square[cell] += block.square + step**2 * self._done[cell] * size / done
        self.inestimable[cell] += block.inestimable
        self.groups[cell, : block.groups.size] += block.groups
        self._done[cell] = done

    @property
    def standard_error(self) -> Floats:
        """Standard error of the mean of every cell."""
        return np.asarray(np.sqrt(self._square / (self._done - 1) / self._done))


def _gather(plan: _Plan, n_jobs: int | None, progress: Progress | bool) -> _Sums:
    sums = _Sums(plan)
    with reporter(progress) as report, closing(_results(plan, n_jobs)) as results:
        for i, block in enumerate(results):
            cell, part = divmod(i, len(plan.sizes))
            sums.add(cell, plan.sizes[part], block)
            report(i + 1, plan.blocks)
    return sums


def _results(plan: _Plan, n_jobs: int | None) -> Generator[_Block]:
    """Yield the blocks in order, whichever process computes them."""
    if n_jobs == 1:
        for job in plan.jobs():
            yield _run_block(job)
        return
    with needed_by(f"mse_curve with n_jobs={n_jobs}", "simulation"):
        import threadpoolctl  # noqa: F401
        from joblib import Parallel, delayed

    tasks = (delayed(_run_block)(job) for job in plan.jobs())
    try:
        parallel = Parallel(n_jobs=n_jobs, return_as="generator")
    except ValueError:
        # A backend that gives all results at the end, such as multiprocessing.
        yield from Parallel(n_jobs=n_jobs)(tasks)
        return
    with closing(parallel(tasks)) as results:
        yield from results
