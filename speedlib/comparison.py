"""Compare strategies over several runs on data, each run in an environment of its own.

Within a run, all strategies meet the same environment. Environments, and with them errors, differ
between runs. So each run gives one ratio, and intervals come from the spread of these ratios.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from speedlib._arrays import shown
from speedlib._extras import needed_by
from speedlib._interval_words import with_ends, with_half_width
from speedlib._names import check_names
from speedlib._shares import by_variance, shares
from speedlib.bandit import LinearBandit
from speedlib.checks import Counts, Floats, check_budgets, check_count, check_rng, check_share
from speedlib.environments import Environment, check_environment
from speedlib.simulation import mse_curve
from speedlib.trials import Strategy, check_strategies

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "Comparison",
    "Ratio",
    "by_variance",
    "compare",
    "compare_with_best",
    "sample_actions",
    "shares",
    "with_ends",
    "with_half_width",
]


class Ratio(NamedTuple):
    """A ratio with the ends of its interval, and the name of its reference."""

    estimate: float
    low: float
    high: float
    reference: str


@dataclass(frozen=True, eq=False)
class Comparison:
    """Mean squared errors in several runs.

    Attributes
    ----------
    strategies : tuple of str
        Names of the S strategies.
    rounds : ndarray of int, shape (N,)
        Budgets n.
    mse : ndarray, shape (R, S, N)
        Mean squared error in each of R runs.
    oracle_loss : ndarray, shape (R, N)
        Exact oracle loss of each run's environment.
    inestimable : ndarray, shape (S, N)
        Share of replications whose pulls do not determine the value.
    """

    strategies: tuple[str, ...]
    rounds: Counts
    mse: Floats
    oracle_loss: Floats
    inestimable: Floats

    def curves(self) -> dict[str, tuple[Counts, Floats, Floats]]:
        """Return rounds, means over runs and their standard errors, for each strategy."""
        means, errors = self.mse.mean(axis=0), _standard_error(self.mse)
        return {
            name: (self.rounds, means[place], errors[place])
            for place, name in enumerate(self.strategies)
        }

    def multiples(self, level: float = 0.95) -> tuple[Floats, Floats, Floats]:
        """Return the errors in multiples of the oracle loss, with both ends of their intervals.

        Each array has shape (S, N). Each run has its own multiple. The estimates are geometric
        means of these multiples over runs, and the intervals are t-intervals for the logarithms.
        Some runs are many times worse than others, so an interval around an arithmetic mean would
        go below zero.
        """
        level = check_share("level", level)
        logs = np.log(self.mse / self.oracle_loss[:, None, :])
        middle, half = logs.mean(axis=0), _quantile(len(logs), level) * _standard_error(logs)
        return np.exp(middle), np.exp(middle - half), np.exp(middle + half)

    def table(self, level: float = 0.95) -> pd.DataFrame:
        """Return `multiples` with their intervals, as text (needs pandas)."""
        with needed_by("Comparison.table", "tables"):
            import pandas as pd

        cells = [
            [with_ends(*cell) for cell in zip(*row, strict=True)]
            for row in zip(*self.multiples(level), strict=True)
        ]
        columns = [f"n = {n:,}" for n in self.rounds]
        return pd.DataFrame(
            cells, index=pd.Index(self.strategies, name="strategy"), columns=columns
        )

    def against(
        self, strategy: str, baselines: Iterable[str], budget: int = -1, level: float = 0.95
    ) -> Ratio:
        """Compare a strategy with the best of some baselines at one budget.

        Parameters
        ----------
        strategy : str
        baselines : iterable of str
            At least one name, all different. The best baseline has the lowest of `multiples`.
        budget : int
            Place in `rounds`; by default the last.
        level : float
            Level of the interval.

        Returns
        -------
        Ratio
            The geometric mean over runs of the ratio of mean squared errors, with a t-interval for
            its logarithm.

        Raises
        ------
        TypeError, ValueError
            If a name is none of `strategies`, or another argument breaks its rule.
        """
        level = check_share("level", level)
        self._place("strategy", strategy)
        budget = check_count("budget", budget, -len(self.rounds), len(self.rounds) - 1)
        names = check_names("baselines", baselines)
        if not names:
            raise ValueError(
                f"baselines: must be a list of at least one name; got {shown(baselines)}"
            )
        # In the order of `strategies`, since a set has none; ties go to the first.
        places = sorted(self._place("baselines", name) for name in names)
        means, _, _ = self.multiples()
        best = self.strategies[min(places, key=lambda place: means[place, budget])]
        return _geometric(self._ratios(strategy, best)[:, budget], level, best)

    def fall(self, strategy: str, baseline: str, level: float = 0.95) -> Ratio:
        """Compare the ratio of errors at the last budget with the ratio at the first budget.

        Parameters
        ----------
        strategy, baseline : str
        level : float
            Level of the interval.

        Returns
        -------
        Ratio
            The ratio of mean squared errors at the last of `rounds`, divided by the ratio at the
            first, and computed as in `against`. Below 1, the strategy's error falls faster than the
            baseline's.

        Raises
        ------
        TypeError, ValueError
            If a name is none of `strategies`, or `level` is not strictly between 0 and 1.
        """
        level = check_share("level", level)
        self._place("strategy", strategy)
        self._place("baseline", baseline)
        ratios = self._ratios(strategy, baseline)
        return _geometric(ratios[:, -1] / ratios[:, 0], level, baseline)

    def _place(self, argument: str, name: str) -> int:
        if not isinstance(name, str) or name not in self.strategies:
            names = ", ".join(map(repr, self.strategies))
            raise ValueError(f"{argument}: must be one of {names}; got {shown(name)}")
        return self.strategies.index(name)

    def _ratios(self, strategy: str, baseline: str) -> Floats:
        """Return one strategy's errors over another's, shape (R, N)."""
        above, below = (self.strategies.index(name) for name in (strategy, baseline))
        return np.asarray(self.mse[:, above] / self.mse[:, below])


def compare(
    draw: Callable[[np.random.Generator], Environment],
    strategies: Sequence[Strategy],
    rounds: Sequence[int],
    replications: int,
    runs: int,
    seed: int,
) -> Comparison:
    """Draw environments, and measure all strategies in each.

    Parameters
    ----------
    draw : callable
        Takes a `numpy.random.Generator` and returns the `Environment` of one run.
    strategies : sequence of Strategy
        With distinct names.
    rounds : sequence of int
        Budgets n, at least 1.
    replications : int
        Replications of every point in each run, at least 2.
    runs : int
        Number of environments, at least 2.
    seed : int
        Seed of all random numbers, at least 0.

    Returns
    -------
    Comparison

    Raises
    ------
    TypeError, ValueError
        If an argument breaks its rule, or `draw` returns something else.
    """
    if not callable(draw):
        raise TypeError(
            "draw: must be a function of a Generator that returns an Environment; "
            f"got {shown(draw)}"
        )
    strategies = check_strategies(strategies)
    rounds = check_budgets(rounds, 1).ravel().tolist()
    replications = check_count("replications", replications, 2)
    root = np.random.SeedSequence(check_count("seed", seed, 0))
    curves = []
    for stream in root.spawn(check_count("runs", runs, 2)):
        choice, simulation = stream.spawn(2)
        environment = check_environment(draw(np.random.default_rng(choice)), "draw")
        curves.append(
            mse_curve(
                environment.bandit,
                environment.policy,
                strategies,
                rounds,
                replications,
                seed=int(simulation.generate_state(1)[0]),
            )
        )
    return Comparison(
        curves[0].strategies,
        curves[0].rounds,
        np.array([each.mse for each in curves]),
        np.array([each.oracle_loss for each in curves]),
        np.mean([each.inestimable for each in curves], axis=0),
    )


def compare_with_best(
    found: Comparison,
    name: str,
    baselines: Iterable[str],
    draw: Callable[[np.random.Generator], Environment],
    strategies: Sequence[Strategy],
    replications: int,
    runs: int,
    seed: int,
) -> tuple[Comparison, str]:
    """Measure a strategy and the best of its baselines again, at the last of its budgets.

    Parameters
    ----------
    found : Comparison
        The comparison that decides which baseline is best; its runs are not used further.
    name : str
        Name of the strategy.
    baselines : iterable of str
        Names, all different, to choose the baseline from.
    draw, strategies, replications, runs, seed
        As in `compare`; the strategies must include `name` and all baselines. If the seed differs
        from that of `found`, the choice does not favour the baseline.

    Returns
    -------
    again : Comparison
    best : str
        The baseline that was chosen.

    Raises
    ------
    TypeError, ValueError
        If an argument breaks its rule, or a strategy that is named is missing.
    """
    if not isinstance(found, Comparison):
        raise TypeError(f"found: must be a Comparison, as of `compare`; got {shown(found)}")
    strategies = check_strategies(strategies)
    found._place("name", name)
    best = found.against(name, baselines).reference
    chosen = [each for each in strategies if each.name in (name, best)]
    missing = {name, best} - {each.name for each in chosen}
    if missing:
        raise ValueError(f"strategies: must hold {' and '.join(map(repr, sorted(missing)))}, too")
    return compare(draw, chosen, [int(found.rounds[-1])], replications, runs, seed), best


def sample_actions(
    environment: Environment, size: int, rng: np.random.Generator | np.random.SeedSequence | int
) -> Environment:
    """Return an environment of some of the actions, drawn at random without replacement.

    Every replication of a strategy uses every action, so a simulation with a million actions takes
    hours. A sample of the actions is faster.

    Parameters
    ----------
    environment : Environment
    size : int
        Number of actions to draw. An environment with at most this many actions is returned
        unchanged.
    rng : numpy.random.Generator, SeedSequence or int
        Source of the choice.

    Returns
    -------
    Environment
        The actions drawn, in their order; the policy is the given one, restricted to them.

    Raises
    ------
    TypeError, ValueError
        If an argument breaks its rule, or the policy takes none of the actions drawn.
    """
    check_environment(environment)
    bandit, policy = environment.bandit, environment.policy
    rng, size = check_rng(rng), check_count("size", size, 1)
    if bandit.n_actions <= size:
        return environment
    drawn = np.sort(rng.choice(bandit.n_actions, size, replace=False))
    total = float(policy[drawn].sum())
    if not total > 0:
        raise ValueError(f"size: the policy takes none of the {size} actions drawn; draw more")
    some = LinearBandit(
        bandit.features[drawn],
        bandit.theta,
        Sigma=bandit.Sigma,
        variances=bandit.variances[drawn],
        noise=bandit.noise,
    )
    return Environment(environment.name, some, policy[drawn] / total)


def _standard_error(values: Floats) -> Floats:
    """Return the standard error of the mean over the first axis."""
    return np.asarray(values.std(axis=0, ddof=1) / np.sqrt(len(values)))


def _geometric(ratios: Floats, level: float, reference: str) -> Ratio:
    """Return the geometric mean of ratios, one for each run, with a t-interval for its log."""
    logs = np.log(ratios)
    half = _quantile(len(logs), level) * float(_standard_error(logs))
    middle, low, high = np.exp(logs.mean() + half * np.array([0.0, -1.0, 1.0])).tolist()
    return Ratio(middle, low, high, reference)


def _quantile(runs: int, level: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(runs - 1, (1 + level) / 2))
