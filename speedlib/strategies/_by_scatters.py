r"""Strategies whose choices depend on the scatters of rewards alone, never on their means.

They pool all rewards of an action and return

.. math:: Y = \sum_a k_a\, \bar r(a), \qquad \sum_a k_a\, x(a) = c,

with counts T and coefficients k that are functions of the scatters. Under Gaussian noise the means
are independent of the scatters, so given all scatters Y is Gaussian about the true value with
variance :math:`V = \sum_a k_a^2\, \sigma^2(a) / T(a)`, and its mean squared error is the mean of V.

*Why.* For one action, :math:`Z_i = \sqrt{(i-1)/i}\,(r_i - \bar r_{i-1})`, i = 2, 3, ..., are
independent :math:`N(0, \sigma^2)`, the scatter of the first T rewards is
:math:`\sum_{i \le T} Z_i^2`, and :math:`\bar r_T` is independent of :math:`Z_2, \dots, Z_T`.
Whether an action stops at T is decided by these and by the scatters of other actions. So given all
scatters that were used, and with them the counts, the mean of T rewards has the law that it has for
a fixed T. Under other laws of noise, this fails: a mean and a scatter of one action are dependent,
and Y may be biased.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from speedlib._scalars import MAX_COUNT
from speedlib._stored import changed, check_at_most, check_close
from speedlib._tolerances import STORED_MOMENTS
from speedlib._trial_json import read_counts, read_rewards
from speedlib._within import variance_within
from speedlib.checks import Counts, Floats, Indices, Scalar, check_count, check_vector, frozen
from speedlib.estimators import ValueEstimate, conditional_variance, is_estimable
from speedlib.rewards import Rewards
from speedlib.strategies._estimation import estimate_of_what_came
from speedlib.trials import Commitment, Setting, Strategy, Trial

__all__ = ["ByScatters", "ByScattersTrial", "Plan", "check_first_stage"]


class Plan(NamedTuple):
    """The pulls that follow, shape (R, A); with the coefficients k, (R, A), if they are the last.

    A single trial has one row. `memory` is what the strategy has to remember until the next plan.
    """

    counts: Counts
    coefficients: Floats | None
    memory: Any = None


class _State(NamedTuple):
    """All that changes during a trial; nothing in it is changed in place.

    The trial replaces it as a whole, once the next state is complete. So an interrupt leaves a
    trial as it was, and a copy of a trial is independent of it.

    Attributes
    ----------
    rewards : Rewards
        All rewards that came so far.
    asked : array of int, shape (..., A)
        The pulls whose rewards are due.
    memory : object
        What the strategy remembers.
    first : array, shape (..., A), or None
        Variances of the first rewards, once these are known.
    commitment : Commitment or None
    coefficients : array, shape (..., A), or None
        The coefficients of all mean rewards.
    lost : int
        Pulls whose rewards did not come in time, less rewards that were not requested.
    again : int
        Pulls that the first stage had in addition, for actions whose rewards were lost.
    """

    rewards: Rewards
    asked: Counts
    memory: Any
    first: Floats | None
    commitment: Commitment | None = None
    coefficients: Floats | None = None
    lost: int = 0
    again: int = 0


@dataclass(frozen=True, kw_only=True)
class ByScatters(Strategy):
    """A strategy whose pulls and coefficients depend on the scatters of rewards alone."""

    @property
    def by_scatters_alone(self) -> bool:
        """Whether pulls and coefficients depend on the scatters of rewards alone: they do."""
        return True


class ByScattersTrial(Trial):
    """A trial that requests pulls in phases and keeps all rewards.

    Replications may need different numbers of phases: one that is finished requests no pulls while
    the others continue.

    Parameters
    ----------
    setting : Setting
    name : str
        The strategy's name, for messages.
    plan : Plan
        What to begin with.
    """

    def __init__(self, setting: Setting, name: str, plan: Plan) -> None:
        super().__init__(setting, name)
        self._now = self._after(plan, Rewards.none(setting.shape), None)
        # The first stage pulls all actions that are ever pulled.
        self._pulled = np.any(np.atleast_2d(self._now.asked) > 0, axis=0)

    @abstractmethod
    def _plan(self, rewards: Rewards) -> Plan:
        """Return what follows these rewards, all so far, with an axis of replications."""

    @property
    def rewards(self) -> Rewards:
        """All rewards received so far; `estimate` takes those of the last pulls."""
        return self._now.rewards

    def first_counts(self) -> Counts:
        """Return the pulls to begin with, shape (..., A)."""
        if self._now.first is not None:
            raise RuntimeError(
                f"first_counts: {self.name} has received its first rewards; the pulls that are "
                "due now are in `asked`"
            )
        return self._now.asked

    @property
    def asked(self) -> Counts:
        """The pulls whose rewards are due, shape (..., A)."""
        return self._now.asked

    @property
    def committed(self) -> bool:
        """Whether the pulls last requested are the last ones of all replications."""
        return self._now.commitment is not None

    @property
    def commitment(self) -> Commitment:
        """The last pulls and how their rewards become an estimate."""
        return self._known()[0]

    @property
    def coefficients(self) -> Floats:
        """The coefficients k of the means of all rewards, shape (..., A)."""
        return self._known()[1]

    def next_counts(self, rewards: Rewards) -> Counts:
        """Take the rewards of the pulls last requested; return the pulls that follow, (..., A)."""
        if self.committed:
            raise self._all_asked()
        return self._advance(self._expect(rewards, self._now.asked), 0)

    def go_on(self, rewards: Rewards) -> Counts:
        """Continue with the rewards that came; an action that may matter needs two rewards by now.

        Pulls whose rewards were lost still count against the budget.
        """
        if self.committed:
            raise self._all_asked()
        came = self._came(rewards)
        few = self._too_few(came)
        if few.size:
            cure = f"; the budget of {self.setting.rounds} has no try left for it"
            if self._room() > 0:
                cure = ", or try it again (Experiment.explore)"
            raise ValueError(
                f"rewards: {self.name} needs two rewards of each action that it pulls; action "
                f"{few[0]} has {(self._now.rewards + came).counts[few[0]]}: wait for more{cure}"
            )
        begun = self._now
        try:
            counts = self._advance(came, int(begun.asked.sum() - came.rounds))
            while not self.committed and not counts.any():
                counts = self._advance(Rewards.none(self.setting.shape), 0)
        except BaseException:
            self._now = begun
            raise
        return counts

    def try_again(self, rounds: int, rewards: Rewards) -> Counts:
        """Request more pulls in the first stage, of actions with too few rewards; return them.

        They are shared evenly among the actions that have fewer than two rewards. They count
        against the budget, of which at least one pull is left for the time after the first stage.

        Parameters
        ----------
        rounds : int
            Number of pulls, at least 1.
        rewards : Rewards
            All rewards that came so far, shape (A,).

        Returns
        -------
        array of int, shape (A,)
            All entries are 0 if no action has too few rewards.
        """
        more = np.zeros(self.setting.shape, dtype=np.int64)
        few = self._too_few(self._came(rewards))
        rounds = min(rounds, self._room())
        if self.committed or rounds < 1 or not few.size:
            return more
        few = few[np.argsort(self._now.asked[few], kind="stable")]
        each, rest = divmod(rounds, few.size)
        more[few] = each
        more[few[:rest]] += 1
        asked = frozen(self._now.asked + more)
        self._now = self._now._replace(asked=asked, again=self._now.again + rounds)
        return more

    def _too_few(self, came: Rewards) -> Indices:
        """Return the actions whose rewards are too few for a standard deviation."""
        return np.flatnonzero(self._pulled & ((self._now.rewards + came).counts < 2))

    def _room(self) -> int:
        """Return how many pulls the first stage may have in addition."""
        return self.setting.rounds - int(self._now.asked.sum()) - 1

    def _advance(self, rewards: Rewards, lost: int) -> Counts:
        """Plan what follows these rewards; the state changes last of all."""
        state = self._now
        pooled = state.rewards + rewards
        first = state.first
        self._now = state._replace(lost=state.lost + lost)
        if first is None:
            first = frozen(pooled.scatters / np.maximum(pooled.counts - 1, 1))
        rows = (-1, pooled.counts.shape[-1])
        flat = Rewards(
            pooled.counts.reshape(rows), pooled.means.reshape(rows), pooled.scatters.reshape(rows)
        )
        try:
            after = self._after(self._plan(flat), pooled, first)
        except BaseException:
            self._now = state
            raise
        self._now = after._replace(lost=state.lost + lost, again=state.again)
        return self._now.asked

    def _after(self, plan: Plan, earlier: Rewards, first: Floats | None) -> _State:
        """Return the state of the trial after a plan."""
        counts = frozen(self._shaped(plan.counts))
        state = _State(earlier, counts, plan.memory, first)
        if plan.coefficients is None:
            return state
        k = self._shaped(plan.coefficients)
        fresh = counts / np.maximum(earlier.counts + counts, 1)
        offset = np.asarray(np.sum(k * (1.0 - fresh) * earlier.means, axis=-1))
        sure = is_estimable(k, self.setting.features, self.setting.direction)
        commitment = Commitment(counts, k * fresh, offset, sure)
        return state._replace(commitment=commitment, coefficients=frozen(k))

    def _shaped(self, rows: NDArray[Scalar]) -> NDArray[Scalar]:
        """Return one row for all replications, or one for each, in the shape of counts."""
        shape = self.setting.shape
        every = (self.setting.replications or 1, shape[-1])
        return np.broadcast_to(rows, every).reshape(shape)

    def estimate(self, rewards: Rewards) -> ValueEstimate:
        r"""Estimate the value by :math:`\sum_a k_a\,\bar r(a)` from all rewards.

        The standard error and its degrees of freedom come from the scatter of these rewards, as in
        `ExploreThenCommitTrial.estimate`. Where all rewards of an action are equal, up to rounding,
        the variance of its first rewards is used. The scatters have also decided the counts, so the
        level of the interval (Student's) is approximate. It holds at the fixed end of the
        experiment.
        """
        commitment, coefficients = self._known()
        used = self.rewards + self._expect(rewards, commitment.counts)
        learnt = np.zeros(used.counts.shape) if self._now.first is None else self._now.first
        variance, free = variance_within(coefficients, used, learnt)
        return ValueEstimate(
            np.sum(coefficients * used.means, axis=-1),
            np.where(commitment.estimable, np.sqrt(variance), np.inf),
            commitment.estimable,
            free,
        )

    def estimate_of(self, rewards: Rewards, policy: ArrayLike | None = None) -> ValueEstimate:
        """Estimate the value from all rewards, of which these came since the last decision."""
        if policy is not None:
            raise ValueError(
                f"policy: the coefficients of {self.name} are for the policy of the trial; "
                "got another one"
            )
        _, coefficients = self._known()
        used = self.rewards + self._came(rewards)
        learnt = np.zeros(used.counts.shape) if self._now.first is None else self._now.first
        return estimate_of_what_came(coefficients, used, learnt, self.setting)

    def _state(self) -> dict[str, Any]:
        now = self._now
        return {
            "rewards": now.rewards.as_dict(),
            "asked": now.asked.tolist(),
            "memory": self._memory_as_dict(now.memory),
            "first variances": None if now.first is None else now.first.tolist(),
            "coefficients": None if now.coefficients is None else now.coefficients.tolist(),
            "lost": now.lost,
            "tried again": now.again,
        }

    def _restore(self, state: dict[str, Any]) -> None:
        k, first = state["coefficients"], state["first variances"]
        n_actions = len(self.setting.features)
        most = max(0, self._room())
        again = check_count("tried again", state.get("tried again", 0), 0, most)
        begun = self._now = self._now._replace(again=again)
        plan = Plan(
            read_counts("asked", state["asked"], n_actions)[None],
            None if k is None else check_vector("coefficients", k, n_actions)[None],
            self._memory_from_dict(state["memory"]),
        )
        rewards = read_rewards("rewards", state["rewards"], n_actions)
        learnt = (
            None if first is None else frozen(check_vector("first variances", first, n_actions))
        )
        # Below 0 if more rewards came than were requested.
        lost = check_count("lost", state["lost"], -MAX_COUNT, MAX_COUNT)
        self._now = self._after(plan, rewards, learnt)._replace(lost=lost, again=again)
        self._check_state(begun)

    def _check_state(self, begun: _State) -> None:
        """Refuse a state that does not fit the one in which every such trial begins."""
        now = self._now
        if now.first is None:
            if now.rewards.counts.any():
                raise changed("first variances", "be given, since rewards came", None)
            rule = "the pulls of the first stage"
            check_at_most(rule, begun.asked, "asked", now.asked)
            most = begun.asked + now.again * (begun.asked > 0)
            check_at_most("asked", now.asked, f"{rule}, and those tried again", most)
            if now.asked.sum() != begun.asked.sum() + now.again:
                rule = "be the number of pulls that were added to those of the first stage"
                raise changed("tried again", rule, now.again)
            if now.lost:
                raise changed("lost", "be 0 in the first stage", now.lost)
        elif not now.rewards.counts.any():
            raise changed("rewards", "hold those of the first stage", 0)
        implied = self._implied(now.memory)
        if implied is None:
            return
        last, due = implied
        if (last is None) != (now.coefficients is None):
            rule = "be null while more pulls follow, and only then"
            raise changed("coefficients", rule, now.coefficients)
        if last is not None and now.coefficients is not None:
            rule = "be what the decisions so far give"
            check_close("coefficients", now.coefficients, last, STORED_MOMENTS, rule)
        made = int(now.rewards.rounds) + now.lost + int(now.asked.sum())
        if made != due and now.asked.any():
            rule = f"make {due} pulls by now, together with the lost ones and those with rewards"
            raise changed("asked", rule, made)

    def _implied(self, memory: Any) -> tuple[Floats | None, int] | None:
        """Return what a memory implies: the coefficients, and how many pulls have been requested.

        The coefficients are None if more pulls follow. A trial that cannot say returns None.
        """
        return None

    def _made_earlier(self) -> int:
        return int(self._now.rewards.rounds) + self._now.lost

    def _taken(self) -> Rewards:
        return self._now.rewards

    def _memory_as_dict(self, memory: Any) -> Any:
        """Return what is remembered as plain values: it is one already, if it is not overridden."""
        return memory

    def _memory_from_dict(self, memory: Any) -> Any:
        """Return what is remembered from plain values."""
        return memory

    def error_given_pulls(self, variances: Floats) -> Floats:
        r"""Return :math:`\sum_a k_a^2\,\sigma^2(a) / T(a)` over all pulls, shape (...,).

        Under Gaussian noise with these variances, shape (..., A), it is the variance of the
        estimate given all scatters. It is also the mean squared error if the coefficients reproduce
        c.

        Raises
        ------
        RuntimeError
            Before the trial has committed.
        """
        commitment, coefficients = self._known()
        counts = self.rewards.counts + commitment.counts
        return conditional_variance(coefficients, counts, variances)

    def _known(self) -> tuple[Commitment, Floats]:
        state = self._now
        if state.commitment is None or state.coefficients is None:
            raise RuntimeError(
                f"{self.name}: the trial has not committed; pass its rewards first: by `tell` and "
                "`ask` of an Experiment, or `next_counts` of a trial"
            )
        return state.commitment, state.coefficients


def check_first_stage(name: str, actions: int, pulls: Callable[[int], int], rounds: int) -> None:
    """Check that n rounds are more than the first pulls of all actions, `pulls(n)` of each.

    Raises
    ------
    ValueError
        If they are not; the message names the smallest sufficient n.
    """
    each = pulls(rounds)
    if actions * each < rounds:
        return
    least = 1
    while (needed := actions * pulls(least) + 1) > least:
        least = needed
    raise ValueError(
        f"rounds: {name} first pulls {actions} actions {each} times each and must have more rounds "
        f"than that; got {rounds}; the smallest budget is {least}"
    )
