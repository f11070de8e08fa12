"""One run of a strategy, step by step: what every trial offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from speedlib._arrays import shown
from speedlib._commitment import Commitment
from speedlib._setting import Setting
from speedlib._trial_json import trial_from_json, trial_to_json
from speedlib.checks import Counts, Floats
from speedlib.estimators import ValueEstimate
from speedlib.rewards import Rewards, check_rewards

__all__ = ["Trial"]


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
        """The pulls that were requested last, whose rewards are due, shape (..., A).

        A subclass that requests pulls more than twice must override this.
        """
        return self.commitment.counts if self.committed else self.first_counts()

    @property
    @abstractmethod
    def committed(self) -> bool:
        """Whether the pulls that were requested last are the trial's last pulls."""

    @property
    @abstractmethod
    def commitment(self) -> Commitment:
        """The last pulls and how their rewards become an estimate.

        Before the last pulls are known, a RuntimeError is raised. Once known, they do not change.
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
        """Continue with the rewards that came; return the pulls that follow, shape (A,).

        This method is for an experiment in which rewards are lost, late or too many; `next_counts`
        accepts only the rewards of the requested pulls. Pulls whose rewards were lost count as
        made. Rewards that come later can be passed with the next ones. Whether a reward is lost or
        late must not depend on its size: no method can see what is missing.

        Parameters
        ----------
        rewards : Rewards
            All rewards that came since the last decision, shape (A,), of any actions.

        Raises
        ------
        ValueError
            If the rewards are too few to continue.
        NotImplementedError
            If the strategy does not offer this method.
        """
        raise NotImplementedError(f"go_on: {self.name} does not offer this method; use next_counts")

    def estimate_of(self, rewards: Rewards, policy: ArrayLike | None = None) -> ValueEstimate:
        """Estimate a value from all rewards that came since the last decision.

        This is `estimate` for any numbers of rewards. The coefficients depend on the numbers of
        rewards that came, and not on the sizes of these rewards. So the estimate is unbiased and
        its interval valid, as long as the size of a reward does not decide whether it comes.

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
            If the strategy does not offer this method.
        """
        raise NotImplementedError(
            f"estimate_of: {self.name} does not offer this method; use estimate"
        )

    def to_json(self) -> str:
        """Return the trial as text, which `from_json` reads; for single trials.

        The text holds the choices of the strategy, the setting, the state of the random generator,
        the requested pulls and the rewards that came. People and later versions can read it.
        """
        return trial_to_json(self)

    @staticmethod
    def from_json(text: str, strategy: object = None) -> Trial:
        """Return the trial that was written by `to_json`: it requests the same pulls.

        Parameters
        ----------
        text : str
        strategy : Strategy, optional
            For a strategy of your own, which the text only names: the object that began it.

        Raises
        ------
        ValueError
            If the text is no trial, or was written by a later version of the format.
        """
        found = trial_from_json(text, strategy)
        assert isinstance(found, Trial)
        return found

    def _state(self) -> dict[str, Any]:
        """Return what changes during the trial, in plain values; `_restore` takes it."""
        raise NotImplementedError(f"to_json: {self.name} does not offer this method")

    def _restore(self, state: dict[str, Any]) -> None:
        """Take a state back into a trial that has just begun."""
        raise NotImplementedError(f"from_json: {self.name} does not offer this method")

    def _check_stored(self) -> None:  # noqa: B027  a trial of one's own need not check anything
        """Refuse a restored state whose parts do not fit each other or the setting."""

    def _made_earlier(self) -> Counts | int | None:
        """Return the pulls before those of `asked`, or their number; None if it is not known."""
        return None

    def _taken(self) -> Rewards | None:
        """Return all rewards that have decided, earlier ones too; None if it is not known."""
        return None

    def _came(self, rewards: Rewards) -> Rewards:
        """Return rewards of a single trial, of whatever pulls."""
        if self.setting.replications is not None:
            raise ValueError("trial: only single trials accept lost or extra rewards")
        found = check_rewards(rewards, len(self.setting.features))
        if found.counts.ndim != 1:
            raise ValueError("rewards: must be rewards of one trial; got several replications")
        return found

    def error_given_pulls(self, variances: Floats) -> Floats:
        """Return the variance of the estimate, given the pulls and noise variances, shape (...,).

        Only trials whose coefficients do not depend on the combined means offer this method.

        Raises
        ------
        NotImplementedError
            If the strategy does not offer this method.
        """
        raise NotImplementedError(f"error_given_pulls: {self.name} does not offer this method")

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
            single = not place[:-1]
            raise ValueError(
                f"{rule} ({int(counts.sum())} in all); "
                f"got {rewards.counts[place]} instead of {counts[place]} for action {place[-1]}"
                + ("" if single else f" of replication {place[:-1]}")
                + ("; an Experiment also takes lost, late and extra rewards" if single else "")
            )
        return rewards

    def _all_asked(self) -> RuntimeError:
        return RuntimeError(
            f"next_counts: {self.name} has requested all its pulls; call estimate next"
        )
