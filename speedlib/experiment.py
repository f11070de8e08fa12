r"""A live experiment: rewards come late, some never, and the process may stop every night.

`Experiment` plans batches of any size, takes rewards in any order, and keeps the books of both. Its
text, `Experiment.to_json`, is all that has to be kept from one day to the next.

*What is valid.* A strategy that explores and commits makes its last decision at the commitment: how
often each action is tried. For later rewards, the weights of the estimate depend on how many came,
not on their sizes. Suppose the size of a reward does not influence whether it comes. Then the
estimate from the rewards that came is unbiased, and its interval keeps its level. If large rewards
come later than small ones, or are lost more often, no method can see it in the data: the estimate
is about the rewards that come. The interval is valid for one look at the planned end. Looking at it
every day is harmless as long as nobody stops because of what it shows.

*Measured.* In 2,000 experiments of ten days and 1,000 tries with `SPEED.practical`, eight actions
in three dimensions and Gaussian noise, 5 % of the rewards were lost, 20 % came one to three days
late, and from the fifth day on one action was limited to a quarter of the tries. Each night the
experiment went through JSON. Intervals of 95 % held the value in 94.9 % (standard error 0.5 %). The
program is ``tests/speedlib/ten_days.py``, seeds 1,000 to 2,999.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from speedlib._arrays import shown
from speedlib._books import (
    Assignment,
    Books,
    books_of,
    in_words,
    names_of,
    share_out,
    told,
    warn_if_none,
    warn_of_extra,
)
from speedlib._json import HEAD, check_sum, parts_of, read_parts, written
from speedlib._scalars import MAX_COUNT
from speedlib._stored import FRESH, MADE, OFF, check_books, check_money
from speedlib._trial_json import (
    PARTS,
    read_counts,
    read_rewards,
    set_generator,
    trial_from_parts,
    trial_parts,
)
from speedlib.checks import Counts, Floats, check_count, check_flag
from speedlib.estimators import ValueEstimate
from speedlib.identification import Identifiability, identifiability
from speedlib.limits import Limits
from speedlib.rewards import Rewards
from speedlib.strategies._by_scatters import ByScattersTrial
from speedlib.strategies.explore_commit import ExploreThenCommitTrial
from speedlib.trials import Strategy, Trial

__all__ = ["Assignment", "Books", "Experiment"]

VERSION = 1


class Experiment:
    r"""A single trial with its books, which can be stopped, stored and continued.

    Parameters
    ----------
    strategy : Strategy
        Such as ``SPEED.practical()``.
    features : array, shape (A, d)
    policy : array, shape (A,) or (K, A)
    rounds : int
        The budget: a number of tries or, with costs, an amount of money. It must be whole; 2000.0
        is.
    seed : int
        Seed of all random draws.
    names : iterable of str, optional
        Names of the actions, as `tell` takes them; by default "0", "1", and so on.
    variances, importance, costs, least, most, history
        As in `speedlib.trials.Strategy.begin`.

    Attributes
    ----------
    trial : Trial
        The trial. Call its methods through the experiment only.
    names : tuple of str

    Raises
    ------
    TypeError, ValueError
        If an argument breaks its rule.

    Examples
    --------
    >>> from speedlib import SPEED, unit_ball
    >>> ball, rng = unit_ball(), np.random.default_rng(2)
    >>> experiment = Experiment(
    ...     SPEED.practical(), ball.bandit.features, ball.policy, 400, seed=1
    ... )
    >>> for day in range(5):
    ...     batch = experiment.ask(80, wait=False)
    ...     came = rng.binomial(batch, 0.9)  # one reward in ten is lost
    ...     experiment.tell(ball.bandit.pull(came, rng))
    ...     experiment = Experiment.from_json(experiment.to_json())  # a new process
    >>> int(experiment.books.asked.sum()), bool(experiment.estimate().estimable)
    (400, True)
    """

    def __init__(
        self,
        strategy: Strategy,
        features: ArrayLike,
        policy: ArrayLike,
        rounds: int,
        *,
        seed: int,
        names: Iterable[str] | None = None,
        variances: ArrayLike | None = None,
        importance: ArrayLike | None = None,
        costs: ArrayLike | None = None,
        least: ArrayLike | None = None,
        most: ArrayLike | None = None,
        history: Rewards | None = None,
    ) -> None:
        if not isinstance(strategy, Strategy):
            raise TypeError(f"strategy: expected an object like SPEED(); got {shown(strategy)}")
        streams = np.random.SeedSequence(check_count("seed", seed, 0))
        self.trial: Trial = strategy.begin(
            features,
            policy,
            rounds,
            rng=np.random.default_rng(streams),
            variances=variances,
            importance=importance,
            costs=costs,
            least=least,
            most=most,
            history=history,
        )
        n_actions = len(self.trial.setting.features)
        self.names = names_of(names, n_actions)
        self._in_money = costs is not None
        self._visitors = np.random.default_rng(streams.spawn(1)[0])
        none = np.zeros(n_actions, dtype=np.int64)
        self._asked, self._made, self._off = none, none, none
        self._came, self._fresh = Rewards.none((n_actions,)), Rewards.none((n_actions,))

    @property
    def books(self) -> Books:
        """What was requested, what came, and what is still owed; a copy that cannot be changed."""
        return books_of(self._asked, self._came.counts, self._off)

    @property
    def rewards(self) -> Rewards:
        """All rewards that came, of all phases."""
        return self._came

    @property
    def planned(self) -> Counts:
        """Tries of the current phase that are still to be requested, shape (A,)."""
        return np.asarray(np.maximum(self.trial.asked - self._made, 0))

    @property
    def finished(self) -> bool:
        """Whether all tries have been requested; rewards may still be owed."""
        return self.trial.committed and not self.planned.any()

    @property
    def waiting(self) -> bool:
        """Whether `ask` returns 0 until owed rewards come; with ``wait=False`` it does not wait."""
        return bool(not (self.trial.committed or self.planned.any()) and self.books.owed.any())

    @property
    def history_determines(self) -> Identifiability | None:
        """Which variances the earlier rewards determine; None without earlier rewards.

        Actions with a single earlier reward do not count, since one reward has no scatter.
        """
        history = self.trial.setting.history
        if history is None:
            return None
        repeated = np.where(history.counts > 1, history.counts, 0)
        return identifiability(self.trial.setting.features, repeated)

    def ask(self, size: int | None = None, *, wait: bool = True) -> Counts:
        """Return how often to try each action next, shape (A,); these tries count as made.

        A batch has the proportions of the plan. While a strategy explores, a batch that is larger
        than the plan is filled up with more exploration. Exploration takes at most half of the
        budget.

        Parameters
        ----------
        size : int, optional
            Number of tries in the batch, at least 1; by default all planned tries of this phase.
        wait : bool
            If True, no try of the next phase is requested while rewards are owed. If False, the
            owed rewards are written off, and the rewards that came decide the next phase. If these
            rewards are too few, an error is raised; `explore` requests more.

        Returns
        -------
        array of int, shape (A,)
            All entries are 0 if every try has been requested (`finished`), or if owed rewards must
            come first (`waiting`).

        Warns
        -----
        UserWarning
            If every try had been requested before, or owed rewards must come first.
        """
        size = None if size is None else check_count("size", size, 1, MAX_COUNT)
        check_flag("wait", wait)
        self._next_phase(wait)
        warn_if_none(self.books, finished=self.finished, waiting=self.waiting)
        if size is None or self.planned.sum() == 0:
            return self._book(self.planned)
        if size > self.planned.sum() and isinstance(self.trial, ExploreThenCommitTrial):
            self.trial.fill(int(size - self.planned.sum()))
        return self._book(share_out(self.planned, size))

    def assign(self, visitors: int = 1, *, wait: bool = True) -> Assignment:
        """Draw the actions of visitors, who come one after the other; these tries count as made.

        Each visitor's action is drawn in proportion to the tries that the plan still holds. So the
        plan is met exactly at its end, and every probability is known before the draw. Where `ask`
        returns 0, since rewards of exploration are owed, visitors of `SPEED` get more exploration,
        up to half of the budget; `BookedOptimism` and `AdaptiveNeyman` assign nobody until then.

        Parameters
        ----------
        visitors : int
            Number of visitors, at least 1. Fewer are assigned if the plan ends or waits first, or
            if it cannot go on after some of them; the next call then raises the error.
        wait : bool
            As for `ask`.

        Warns
        -----
        UserWarning
            If every try had been requested before, or owed rewards must come first.
        """
        check_count("visitors", visitors, 1, MAX_COUNT)
        check_flag("wait", wait)
        actions: list[int] = []
        chances: list[Floats] = []
        for _ in range(visitors):
            try:
                self._next_phase(wait)
            except Exception:
                if actions:
                    break  # These tries are booked; the next call fails in the same way.
                raise
            if not self.planned.any() and isinstance(self.trial, ExploreThenCommitTrial):
                # A block, since a single try would be certain before it is drawn.
                self.trial.fill(max(len(self.names), visitors - len(actions)))
            if not self.planned.any():
                break
            probabilities = self.planned / self.planned.sum()
            action = int(self._visitors.choice(len(probabilities), p=probabilities))
            self._book(np.eye(1, len(probabilities), action, dtype=np.int64)[0])
            actions.append(action)
            chances.append(probabilities)
        if not actions:
            warn_if_none(self.books, finished=self.finished, waiting=self.waiting)
        chosen = np.array(actions, dtype=np.int64)
        table = np.array(chances).reshape(len(actions), len(self.names))
        return Assignment(chosen, table[np.arange(len(chosen)), chosen], table)

    def explore(self, size: int) -> Counts:
        """Request more exploration than is planned, shape (A,); these tries count as made.

        This helps where so many rewards were lost that those that came cannot decide, and where
        rewards are owed but traffic does not wait. Exploration takes at most half of the budget.
        `BookedOptimism` and `AdaptiveNeyman` try again the actions that have fewer than two
        rewards, until a single try of the budget is left.

        Parameters
        ----------
        size : int
            Number of tries, at least 1.

        Returns
        -------
        array of int, shape (A,)
            The additional tries; their sum is less than `size` where the budget allows no more,
            and 0 after exploration, or where no action is to be tried again.

        Raises
        ------
        ValueError
            If the strategy has no exploration that can be longer.
        """
        check_count("size", size, 1, MAX_COUNT)
        if isinstance(self.trial, ByScattersTrial):
            return self._book(self.trial.try_again(size, self._fresh))
        if not isinstance(self.trial, ExploreThenCommitTrial):
            raise ValueError(f"explore: {self.trial.name} cannot explore longer; SPEED can")
        return self._book(self.trial.fill(size))

    def tell(self, actions: Rewards | Iterable[Any], rewards: ArrayLike | None = None) -> None:
        """Take rewards: any number, of any phase, in any order.

        Pass each reward once. A reward that is passed twice counts twice, and the estimate looks
        more precise than it is. In the books, it is among the `extra` rewards if nothing is owed.

        Parameters
        ----------
        actions : Rewards, or sequence of str or int, shape (m,)
            Statistics of rewards, or the name or number of each reward's action.
        rewards : array, shape (m,), optional
            The rewards, unless they are in `actions`.

        Warns
        -----
        UserWarning
            If more rewards of an action came than were requested, and more of them than before.
        """
        came = told(actions, rewards, self.names)
        # Where warnings are errors, the rewards are not taken.
        warn_of_extra(self.books, came.counts, self.names)
        self._came, self._fresh = self._came + came, self._fresh + came
        # Those of earlier tries that came late are not written off any more.
        self._off = np.minimum(self._off, np.maximum(self._asked - self._came.counts, 0))

    def write_off(self) -> Counts:
        """Give up all rewards that are owed; return how many of each action, shape (A,)."""
        owed = self.books.owed
        self._off = self.books.written_off + owed
        return owed

    def limit(
        self,
        *,
        costs: ArrayLike | None = None,
        least: ArrayLike | None = None,
        most: ArrayLike | None = None,
    ) -> None:
        """Set new costs and bounds for all later tries; without `costs`, they stay as they are.

        A bound that is left out sets no limit. The tries that are still to be requested are planned
        again, with the money that is left; earlier tries have cost what they cost at their time.
        After a change of costs, exploration is shortened if it would take more than half of the
        budget. The new plan depends on exploration alone. So the estimate stays valid if the new
        limits were not chosen because of later rewards.

        Raises
        ------
        TypeError, ValueError
            If an argument breaks its rule, or the limits leave no plan. The experiment is then as
            it was.
        """
        trial = self.trial
        if not isinstance(trial, ExploreThenCommitTrial) or not trial.strategy.within_limits:
            raise ValueError(f"limit: {trial.name} takes neither costs nor bounds; SPEED does")
        now = trial.setting.limits
        if costs is not None and not self._in_money:
            raise ValueError("costs: the budget is in rounds; begin another experiment for costs")
        if costs is None and now is not None:
            costs = now.costs
        trial.replan(Limits.of(len(self.names), costs=costs, least=least, most=most), self._made)

    def estimate(self, policy: ArrayLike | None = None) -> ValueEstimate:
        """Estimate the value from the rewards so far, also before the end; see `Trial.estimate_of`.

        The interval is valid for one look, at an end that does not depend on what the interval
        shows.

        Raises
        ------
        RuntimeError
            Before exploration is over.
        """
        return self.trial.estimate_of(self._fresh, policy)

    def to_json(self) -> str:
        """Return the experiment as text that people and later versions can read."""
        parts = {
            "names": list(self.names),
            "budget in money": self._in_money,
            "asked": self._asked.tolist(),
            MADE: self._made.tolist(),
            OFF: self._off.tolist(),
            "came": self._came.as_dict(),
            FRESH: self._fresh.as_dict(),
            "visitors": self._visitors.bit_generator.state,
        }
        return written("experiment", VERSION, parts | trial_parts(self.trial))

    @classmethod
    def from_json(cls, text: str, strategy: Strategy | None = None) -> Experiment:
        """Return the experiment that was written by `to_json`: it requests the same tries.

        Parameters
        ----------
        text : str
        strategy : Strategy, optional
            For a strategy of your own, which the text only names: the object that began it.

        Raises
        ------
        TypeError, ValueError
            If the text is no experiment, was changed, or was written by a later version of the
            format, or if `strategy` is not the one that the text names. Entries that follow from
            others are compared with them, and all entries with the checksum. A text that was
            changed on purpose is read without its entry ``"checksum"``, if its entries fit.
        """
        parts = parts_of(text, "experiment", VERSION)
        counted, rewarded, priced = ("asked", MADE, OFF), ("came", FRESH), "budget in money"
        needed = ("names", *counted, *rewarded, "visitors", *PARTS)
        parts = read_parts("text", parts, needed, (*HEAD, priced))
        found = cls.__new__(cls)
        found.trial = trial_from_parts(parts, strategy)
        n_actions = len(found.trial.setting.features)
        found.names = names_of(parts["names"], n_actions)
        limits = found.trial.setting.limits
        # Texts of earlier versions do not say it.
        costly = limits is not None and limits.priced
        found._in_money = check_flag(priced, parts.get(priced, costly))
        check_money(found._in_money, found.trial.setting)
        asked, made, off = (read_counts(name, parts[name], n_actions) for name in counted)
        came, fresh = (read_rewards(name, parts[name], n_actions) for name in rewarded)
        check_books(asked, made, off, came, fresh, found.trial)
        found.trial._check_stored()
        found._asked, found._made, found._off = asked, made, off
        found._came, found._fresh = came, fresh
        found._visitors = np.random.default_rng(0)
        set_generator(found._visitors, parts["visitors"], "visitors")
        check_sum(parts)
        return found

    def __repr__(self) -> str:
        return f"Experiment({self.trial.name}, {len(self.names)} actions: {in_words(self.books)})"

    def _next_phase(self, wait: bool) -> None:
        """Decide the next phase, once all tries of this one are made and their rewards came."""
        while not self.trial.committed and not self.planned.any():
            if self.books.owed.any() and wait:
                return
            self.trial.go_on(self._fresh)  # first, since it may be refused
            self.write_off()
            self._fresh = Rewards.none(self._fresh.counts.shape)
            self._made = np.zeros_like(self._made)

    def _book(self, batch: Counts) -> Counts:
        self._asked, self._made = self._asked + batch, self._made + batch
        return batch
