"""The protocol of every strategy, live or simulated: it requests pulls and takes their rewards.

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

The interval holds at this end, which the budget fixes, and not for daily looks.
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
from speedlib.checks import Counts, Floats
from speedlib.estimators import ValueEstimate
from speedlib.rewards import Rewards, check_rewards

__all__ = ["Commitment", "Pull", "Setting", "Strategy", "Trial", "commit", "play"]

#: Takes numbers of pulls, makes these pulls and returns the rewards.
Pull = Callable[[Counts], Rewards]


class Trial(ABC):
    """One run of a strategy: it requests pulls, takes their rewards and returns an estimate.

    A trial requests pulls once or several times and then is `committed`: no later pulls depend on
    rewards still to come.

    Parameters
    ----------
    setting : Setting
    name : str
        The strategy's name, for messages.

    Examples
    --------
    >>> from speedlib import SPEED, unit_ball
    >>> ball, rng = unit_ball(), np.random.default_rng(2)
    >>> trial = SPEED.practical(exploration_rounds=40).begin(
    ...     ball.bandit.features, ball.policy, rounds=400, rng=1
    ... )
    >>> rewards = ball.bandit.pull(trial.first_counts(), rng)  # in an experiment: make these pulls
    >>> last = trial.next_counts(rewards)
    >>> estimate = trial.estimate(ball.bandit.pull(last, rng))
    >>> int(last.sum()), trial.committed, bool(estimate.estimable)
    (360, True, True)
    """

    def __init__(self, setting: Setting, name: str) -> None:
        self.setting = setting
        self.name = name

    @abstractmethod
    def first_counts(self) -> Counts:
        """Return the pulls to begin with, shape (..., A)."""

    @property
    def asked(self) -> Counts:
        """The pulls whose rewards are due, shape (..., A): those last requested.

        A subclass that requests pulls more than twice must override this.
        """
        return self.commitment.counts if self.committed else self.first_counts()

    @property
    @abstractmethod
    def committed(self) -> bool:
        """Whether the pulls last requested are the last ones."""

    @property
    @abstractmethod
    def commitment(self) -> Commitment:
        """The last pulls and how their rewards become an estimate.

        Before they are known, a RuntimeError is raised. Once known, they do not change.
        """

    @abstractmethod
    def next_counts(self, rewards: Rewards) -> Counts:
        """Take the rewards of the pulls last requested; return the pulls that follow, (..., A).

        Raises
        ------
        ValueError
            If the rewards are not those of the requested pulls.
        RuntimeError
            If no pulls follow.
        """

    @abstractmethod
    def estimate(self, rewards: Rewards) -> ValueEstimate:
        """Take the rewards of the last pulls; return the estimate of the value.

        Raises
        ------
        ValueError
            If the rewards are not those of the last pulls.
        RuntimeError
            If the last pulls are not known yet.
        """

    def go_on(self, rewards: Rewards) -> Counts:
        """Go on with what came of the pulls last requested; return the pulls that follow, (A,).

        For an experiment in which rewards are lost, late or too many; `next_counts` insists on
        those that were requested. Pulls whose rewards were lost count as made. Rewards that come
        later can be passed with the next ones. Whether a reward is lost or late must not depend on
        its size: no method can see what is missing.

        Parameters
        ----------
        rewards : Rewards
            All rewards since the pulls before, shape (A,), of whatever actions.

        Raises
        ------
        ValueError
            If they are too few to go on.
        NotImplementedError
            If the strategy does not offer it.
        """
        raise NotImplementedError(f"go_on: {self.name} does not offer it; use next_counts")

    def estimate_of(self, rewards: Rewards, policy: ArrayLike | None = None) -> ValueEstimate:
        """Estimate a value from all rewards that came since the last decision.

        As `estimate`, but for any numbers of rewards: the coefficients are those for the rewards
        that came. They do not depend on their sizes, so the estimate is unbiased and its interval
        valid as long as what came does not depend on them either.

        Parameters
        ----------
        rewards : Rewards
            Shape (A,); late rewards of earlier phases are welcome.
        policy : array, shape (A,), optional
            The policy whose value is estimated; by default that of the trial.

        Raises
        ------
        ValueError
            If no rewards came.
        RuntimeError
            If the last pulls are not known yet.
        NotImplementedError
            If the strategy does not offer it.
        """
        raise NotImplementedError(f"estimate_of: {self.name} does not offer it; use estimate")

    def to_json(self) -> str:
        """Return the trial as text, which `from_json` reads; for single trials.

        The text holds the choices of the strategy, the setting, the state of the random generator,
        what is asked and what came. It can be read by people, and by later versions.
        """
        from speedlib._trial_json import trial_to_json  # it imports all strategies

        return trial_to_json(self)

    @staticmethod
    def from_json(text: str, strategy: Strategy | None = None) -> Trial:
        """Return the trial that was written by `to_json`: it requests the same pulls.

        Parameters
        ----------
        text : str
        strategy : Strategy, optional
            For a strategy of your own, which the text only names: the object that began it.

        Raises
        ------
        ValueError
            If the text is no trial, or of a later version of the format.
        """
        from speedlib._trial_json import trial_from_json

        return trial_from_json(text, strategy)

    def _state(self) -> dict[str, Any]:
        """Return what changes during the trial, in plain values; `_restore` takes it."""
        raise NotImplementedError(f"to_json: {self.name} does not offer it")

    def _restore(self, state: dict[str, Any]) -> None:
        """Take a state back into a trial that has just begun."""
        raise NotImplementedError(f"from_json: {self.name} does not offer it")

    def _came(self, rewards: Rewards) -> Rewards:
        """Return rewards of a single trial, of whatever pulls."""
        if self.setting.replications is not None:
            raise ValueError("trial: lost or extra rewards are for single trials")
        return check_rewards(rewards, len(self.setting.features))

    def error_given_pulls(self, variances: Floats) -> Floats:
        """Return the variance of the estimate given all pulls, under some variances, shape (...,).

        For trials whose coefficients do not depend on the means that they combine; the others do
        not offer it.

        Raises
        ------
        NotImplementedError
            If the strategy does not offer it.
        """
        raise NotImplementedError(f"error_given_pulls: {self.name} does not offer it")

    def _expect(self, rewards: Rewards, counts: Counts) -> Rewards:
        if not isinstance(rewards, Rewards):
            raise TypeError(
                f"rewards: expected Rewards (see Rewards.from_log); got {shown(rewards)}"
            )
        rule = "rewards: their counts must equal the pulls that the trial requested"
        if rewards.counts.shape != counts.shape:
            raise ValueError(
                f"{rule} ({int(counts.sum())} in all), of shape {counts.shape}; "
                f"got rewards of shape {rewards.counts.shape}"
            )
        wrong = rewards.counts != counts
        if wrong.any():
            place = tuple(map(int, np.argwhere(wrong)[0]))
            raise ValueError(
                f"{rule} ({int(counts.sum())} in all); "
                f"got {rewards.counts[place]} instead of {counts[place]} for action {place[-1]}"
                + (f" of replication {place[:-1]}" if place[:-1] else "")
            )
        return rewards

    def _all_asked(self) -> RuntimeError:
        return RuntimeError(
            f"next_counts: {self.name} has requested all its pulls; call estimate next"
        )


def commit(trial: Trial, pull: Pull) -> Commitment:
    """Play a trial until it commits; its last pulls are still to come.

    Parameters
    ----------
    trial : Trial
        As `Strategy.begin` returns it. A trial under way continues with the pulls whose rewards are
        due, `Trial.asked`: after an interrupt within `pull`, call `commit` again.
    pull : callable
        Takes numbers of pulls, shape (..., A), and returns the `Rewards` of these pulls, for
        instance ``lambda counts: bandit.pull(counts, rng)``. Called once for each phase but the
        last; never for a strategy whose design is known at the start.

    Returns
    -------
    Commitment

    Raises
    ------
    TypeError
        If it is no trial, or `pull` is not callable or returns no rewards.
    ValueError
        If `pull` returns rewards of other pulls.

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
            "pull: must be a function of numbers of pulls that returns their Rewards, for instance "
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
        As for `commit`, but the last pulls are made, too. For a trial that has committed, only
        these are made.

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

    label: str | None = field(default=None, kw_only=True)

    @property
    def knows_variances(self) -> bool:
        """Whether the strategy is allowed to know the true variances."""
        return False

    @property
    def conditional(self) -> bool:
        """Whether the coefficients are independent of the rewards that they combine.

        If they are not, the error of the estimate has no closed form, and estimates are drawn.
        """
        return True

    @property
    def by_scatters_alone(self) -> bool:
        """Whether pulls and coefficients are functions of the scatters of rewards alone.

        Under Gaussian noise they are then independent of all means, and the mean squared error of
        the estimate is the mean of `Trial.error_given_pulls`.
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
            Target policy: entries of at least 0 that sum to 1. With K of them the design is for
            all, as in `speedlib.designs.optimal_design`; the trial estimates the value of their
            weighted average, and `Trial.estimate_of` that of each.
        rounds : int
            Budget n, at least 1. With costs it is in their money.
        rng : numpy.random.Generator, SeedSequence or int
            Source of randomness.
        variances : array, shape (A,), optional
            The true variances, positive. Strategies that know them need them; the others do not see
            them.
        replications : int, optional
            Run this many independent trials at once.
        importance, costs, least, most
            Weights of the policies, costs of the actions and bounds on their shares, as in
            `speedlib.designs.optimal_design`. The bounds hold in each phase, up to rounding to
            whole pulls. For strategies that are `within_limits`.
        history : Rewards, optional
            Earlier rewards of the same actions, shape (A,). They count as explored: if they
            determine all variances (`speedlib.identification.identifiability` of the actions with
            two rewards), exploration is shorter by as many rounds as they have. Like exploration
            rewards they do not enter the estimate unless the strategy keeps those. For strategies
            that have `learns_from_history`.

        Raises
        ------
        ValueError
            If an argument breaks its rule, or the strategy needs variances and has none.
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
