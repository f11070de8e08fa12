"""The protocol of every strategy, live or simulated: it requests pulls, then takes rewards.

A strategy is a set of named choices, and `Strategy.begin` starts a trial of it. The trial returns
numbers of pulls and takes their rewards, whether these come from a simulation of ten thousand
replications or from a live experiment::

    trial = SPEED().begin(features, policy, rounds=1000, rng=rng)
    estimate = play(trial, pull)               # pull(counts) returns the Rewards of these pulls
    estimate.value, estimate.standard_error

An experiment that takes days does step by step what `play` does::

    rewards = Rewards.from_log(...)            # after pulling trial.first_counts()
    while not trial.committed:
        counts = trial.next_counts(rewards)
        rewards = Rewards.from_log(...)        # after pulling counts
    trial.estimate(rewards)                    # value, standard error, interval

The interval is valid at this end, which the budget fixes. It is not valid for a trial that stops
early because of what a daily look at the estimate shows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from speedlib._arrays import shown
from speedlib._commitment import Commitment
from speedlib._setting import Setting, make_setting
from speedlib._trial import Trial
from speedlib._trial_json import register
from speedlib.checks import Counts
from speedlib.estimators import ValueEstimate
from speedlib.rewards import Rewards

__all__ = ["Commitment", "Pull", "Setting", "Strategy", "Trial", "commit", "play"]

#: Takes numbers of pulls, makes these pulls and returns the rewards.
Pull = Callable[[Counts], Rewards]


def commit(trial: Trial, pull: Pull) -> Commitment:
    """Play a trial until it commits; the last pulls are then still to be made.

    Parameters
    ----------
    trial : Trial
        As `Strategy.begin` returns it. A trial under way continues with the pulls whose rewards are
        due, `Trial.asked`: after an interrupt within `pull`, call `commit` again.
    pull : callable
        Takes numbers of pulls, shape (..., A), and returns the `Rewards` of these pulls, for
        instance ``lambda counts: bandit.pull(counts, rng)``. It is called once for each phase
        except the last. A strategy whose design is known at the start never calls it.

    Returns
    -------
    Commitment

    Raises
    ------
    TypeError
        If `trial` is no trial, or `pull` is not callable or returns no rewards.
    ValueError
        If `pull` returns rewards of other pulls than the requested ones.

    Examples
    --------
    >>> from speedlib import SPEED, unit_ball
    >>> ball, rng = unit_ball(), np.random.default_rng(2)
    >>> trial = SPEED().begin(ball.bandit.features, ball.policy, rounds=400, rng=1)
    >>> int(commit(trial, lambda counts: ball.bandit.pull(counts, rng)).counts.sum())
    379
    """
    if not isinstance(trial, Trial):
        raise TypeError(f"trial: pass what strategy.begin(...) returns; got {trial!r}")
    if not callable(pull):
        raise TypeError(
            "pull: must be a function that takes numbers of pulls and returns Rewards, for example "
            f"lambda counts: bandit.pull(counts, rng); got {pull!r}"
        )
    if not trial.committed:
        counts = trial.asked
        while not trial.committed:
            counts = trial.next_counts(pull(counts))
    return trial.commitment


def play(trial: Trial, pull: Pull) -> ValueEstimate:
    """Play a trial to its end.

    Parameters
    ----------
    trial, pull
        As for `commit`, except that `play` also makes the last pulls. If the trial has committed
        already, it makes only the last pulls.

    Returns
    -------
    ValueEstimate

    Examples
    --------
    >>> from speedlib import OnPolicy, unit_ball
    >>> ball, rng = unit_ball(), np.random.default_rng(2)
    >>> trial = OnPolicy(estimator="ols").begin(ball.bandit.features, ball.policy, 400, rng=1)
    >>> estimate = play(trial, lambda counts: ball.bandit.pull(counts, rng))
    >>> abs(float(estimate.value) - ball.value) < 4 * float(estimate.standard_error)
    True
    """
    commitment = commit(trial, pull)  # first, since it refuses what is no trial
    return trial.estimate(pull(commitment.counts))


def check_strategies(strategies: object) -> tuple[Strategy, ...]:
    """Return strategies with distinct names; a single strategy needs no list."""
    given: Any = strategies
    several = isinstance(given, Iterable) and getattr(given, "shape", None) != ()
    found: tuple[Any, ...] = tuple(given) if several else (given,)
    for strategy in found:
        if not isinstance(strategy, Strategy):
            raise TypeError(f"strategies: expected objects like SPEED(); got {shown(strategy)}")
    names = tuple(strategy.name for strategy in found)
    if not names or len(set(names)) != len(names):
        raise ValueError(
            "strategies: need at least one, with distinct names (give variants a label); "
            f"got {names}"
        )
    return found


@dataclass(frozen=True)
class Strategy(ABC):
    """A strategy with its named choices; subclasses are frozen dataclasses.

    Parameters
    ----------
    label : str, optional
        Name in tables and figures, to distinguish variants of one strategy.

    Examples
    --------
    >>> from speedlib import SPEED, Uniform
    >>> strategies = [SPEED.practical(label="mine"), Uniform(estimator="ols")]
    >>> [(strategy.name, strategy.knows_variances) for strategy in strategies]
    [('mine', False), ('Uniform', False)]
    """

    #: Name in tables and figures unless a label replaces it.
    default_name: ClassVar[str]

    def __init_subclass__(cls, **given: Any) -> None:
        """Remember the library's own strategies by name, for trials that are stored as text."""
        super().__init_subclass__(**given)
        register(cls)

    label: str | None = field(default=None, kw_only=True)

    @property
    def knows_variances(self) -> bool:
        """Whether the strategy is allowed to know the true variances."""
        return False

    @property
    def conditional(self) -> bool:
        """Whether the coefficients of the estimate are independent of the rewards they combine.

        If they are not, the error of the estimate has no closed form, and estimates are simulated.
        """
        return True

    @property
    def by_scatters_alone(self) -> bool:
        """Whether pulls and coefficients are functions of the scatters of rewards alone.

        Under Gaussian noise, pulls and coefficients are then independent of all mean rewards, and
        the mean squared error of the estimate is the mean of `Trial.error_given_pulls`.
        """
        return False

    #: Whether `begin` takes costs, bounds and several policies.
    within_limits: ClassVar[bool] = False

    #: Whether `begin` takes earlier rewards.
    learns_from_history: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """Name in tables and figures."""
        return self.label or self.default_name

    def begin(
        self,
        features: ArrayLike,
        policy: ArrayLike,
        rounds: int,
        *,
        rng: np.random.Generator | np.random.SeedSequence | int,
        variances: ArrayLike | None = None,
        replications: int | None = None,
        importance: ArrayLike | None = None,
        costs: ArrayLike | None = None,
        least: ArrayLike | None = None,
        most: ArrayLike | None = None,
        history: Rewards | None = None,
    ) -> Trial:
        r"""Start a trial.

        Parameters
        ----------
        features : array, shape (A, d)
        policy : array, shape (A,) or (K, A)
            Target policy: entries of at least 0 that sum to 1. With K policies, one design serves
            all of them, as in `speedlib.designs.optimal_design`. The trial estimates the value of
            their weighted average, and `Trial.estimate_of` estimates the value of each policy.
        rounds : int
            Budget n, at least 1. With costs, the budget is an amount of money, in the unit of the
            costs. It must be whole; a float such as 2000.0 is.
        rng : numpy.random.Generator, SeedSequence or int
            Source of randomness.
        variances : array, shape (A,), optional
            The true variances, positive. A strategy with `knows_variances` needs them; other
            strategies do not see them.
        replications : int, optional
            Run this many independent trials at once.
        importance, costs, least, most
            Weights of the policies, costs of the actions and bounds on their shares, as in
            `speedlib.designs.optimal_design`. The bounds hold in each phase, up to rounding to
            whole pulls. Only a strategy with `within_limits` accepts them.
        history : Rewards, optional
            Earlier rewards of the same actions, shape (A,). They count as exploration: if they
            determine all variances (`speedlib.identification.identifiability` of the actions with
            two rewards), exploration is shortened by the number of these rewards. Like the rewards
            of exploration, they enter the estimate only if the strategy keeps exploration rewards.
            Only a strategy with `learns_from_history` accepts them.

        Raises
        ------
        ValueError
            If an argument breaks its rule, or the strategy needs variances and none are given.
        """
        return self._trial(
            make_setting(
                self,
                features,
                policy,
                rounds,
                rng=rng,
                variances=variances,
                replications=replications,
                importance=importance,
                limits={"costs": costs, "least": least, "most": most},
                history=history,
            )
        )

    @abstractmethod
    def _trial(self, setting: Setting) -> Trial: ...
