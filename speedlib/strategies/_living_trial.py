"""A trial that explores and commits, in an experiment that lives: losses, limits, text."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from speedlib._stored import changed, check_at_most, check_same_rewards, check_variances_learnt
from speedlib._trial_json import is_ours, read_counts, read_rewards, read_shares
from speedlib.checks import (
    Counts,
    Floats,
    check_flag,
    check_variances,
    frozen,
)
from speedlib.covariance import CovarianceEstimate
from speedlib.estimators import ValueEstimate
from speedlib.exploration import exploration_counts
from speedlib.limits import Limits
from speedlib.rewards import Rewards
from speedlib.strategies._estimation import estimate_of_what_came
from speedlib.strategies._own import check_determined
from speedlib.trials import Commitment, Setting, Trial

__all__ = ["LivingTrial", "Pooled"]


class Pooled(NamedTuple):
    """A commitment, and the coefficients of all mean rewards that are used, earlier ones too."""

    commitment: Commitment
    combination: Floats


class LivingTrial(Trial):
    """What `ExploreThenCommitTrial` offers to an experiment that does not go by the book.

    Its attributes are those of `ExploreThenCommitTrial`, which decides; here is what follows from
    rewards that are lost, late or too many, from other limits, and from a stored text.
    """

    strategy: Any
    explored: Rewards
    variances: Floats | None
    covariance: CovarianceEstimate | None
    _pooled: Pooled | None
    _piloting: bool
    _spent: Counts
    _design: Floats
    _asked: Counts
    #: Rounds of exploration that earlier rewards replace.
    _known: int
    #: Pulls that were made before the current exploration design took effect.
    _before: Counts

    @abstractmethod
    def _advance(self, rewards: Rewards) -> Counts:
        """Take rewards of the requested pulls, which count as made; decide what follows."""

    @abstractmethod
    def _whole(self, design: Floats, spent: Counts) -> Counts:
        """Return whole pulls by a design for what is left."""

    @abstractmethod
    def _committed_to(
        self, counts: Counts, explored: Rewards, variances: Floats | None = None
    ) -> Pooled:
        """Return what these last pulls make of the estimate."""

    @abstractmethod
    def _after_exploration(self) -> Pooled:
        """Return the commitment, or say that exploration is not finished."""

    def _made_earlier(self) -> Counts:
        return self._spent

    def _taken(self) -> Rewards:
        return self.explored

    def _shortened(self, length: int, history: Rewards) -> int:
        """Take earlier rewards as explored; return how long to explore still."""
        self.explored = history
        known, _ = check_determined(
            self.name,
            self.strategy.determined(np.where(history.counts > 1, history.counts, 0), self.setting),
            history.counts.shape,
        )
        # Rewards that leave a variance open replace no exploration, however many they are.
        self._known = int(history.rounds) if known.all() else 0
        return max(0, length - self._known)

    def _skip_empty_phases(self) -> None:
        """Decide at once where no pull is requested, as after a long history."""
        while not self.committed and not self._asked.any():
            self._advance(Rewards.none(self.setting.shape))

    def go_on(self, rewards: Rewards) -> Counts:
        """Learn from what came of exploration; return the pulls of the next phase that has any."""
        if self.committed:
            raise self._all_asked()
        explored = self.explored + self._came(rewards)
        # If all came, it is the trial itself, which learns also from single rewards.
        if not np.any(explored.counts > 1) and np.any(rewards.counts < self._asked):
            cure = "wait for more, or explore again (Experiment.explore)"
            if self.setting.half_left(self._spent + self._asked, self._design) < 1:
                cure = "exploration has had half of the budget, so wait for rewards that are owed"
            raise ValueError(
                f"rewards: no action has two rewards, so {self.name} knows nothing of the noise; "
                f"{cure}"
            )
        begun, drawn = dict(vars(self)), self.setting.rng.bit_generator.state
        try:
            self._advance(rewards)
            self._skip_empty_phases()
        except BaseException:
            vars(self).update(begun)
            self.setting.rng.bit_generator.state = drawn
            raise
        return self._asked

    def fill(self, rounds: int) -> Counts:
        """Request more exploration in the current phase, to fill a batch; return what is added.

        Exploration takes at most half of the budget. After exploration nothing is added.
        """
        if self.committed or self.setting.replications is not None:
            return np.zeros(self.setting.shape, dtype=np.int64)
        made = self._spent + self._asked
        room = int(self.setting.half_left(made, self._design))
        more = self._topped_up(made - self._before, min(rounds, room))
        self._asked = frozen(self._asked + more)
        return more

    def _topped_up(self, made: Counts, rounds: int) -> Counts:
        """Return pulls that follow the exploration design together with those made by it."""
        rng, sampling = self.setting.rng, self.strategy.exploration_sampling
        if sampling != "balanced":
            return exploration_counts(self._design, rounds, rng, sampling)
        whole = exploration_counts(self._design, int(made.sum()) + rounds, rng, sampling)
        more = np.asarray(np.maximum(whole - made, 0))
        if more.sum() == rounds:
            return more
        # Some action has more than its share already, so the others cannot have all of theirs.
        return exploration_counts(more / more.sum(), rounds, rng, sampling)

    def replan(self, limits: Limits, made: Counts) -> Counts:
        """Take other bounds or costs; return the pulls of this phase under them, those made kept.

        Parameters
        ----------
        limits : Limits
        made : array of int, shape (A,)
            Pulls of the current phase that were made already.

        Raises
        ------
        ValueError
            If the limits leave no plan. The trial is then as it was.
        """
        before, drawn = self.setting, self.setting.rng.bit_generator.state
        self.setting = before.repriced(limits, self._spent + made)
        try:
            self.setting.check_span()
            if self._pooled is None:
                self._explore_within(before, made)
            else:
                assert self.variances is not None
                design = self.strategy.commit_weights(self.variances, self.setting)
                asked = frozen(made + self._whole(design, self._spent + made))
                self._pooled = self._committed_to(asked, self.explored)
                self._asked = asked
        except BaseException:
            self.setting, before.rng.bit_generator.state = before, drawn
            raise
        return self._asked

    def _explore_within(self, before: Setting, made: Counts) -> None:
        """Plan the rest of this phase of exploration under new limits."""
        setting, strategy = self.setting, self.strategy
        design = setting.within(strategy.exploration_weights(setting))
        rest = planned = max(0, int(self._asked.sum() - made.sum()))
        spent = self._spent + made
        old, new = before.limits, setting.limits
        if old is not None and new is not None and np.any(old.costs != new.costs):
            rest = min(rest, int(setting.half_left(spent, design)))
        more = exploration_counts(design, rest, setting.rng, strategy.exploration_sampling)
        if rest < planned and not np.any(self.explored.counts + made + more > 1):
            raise ValueError(
                f"costs: half of the budget {setting.rounds} must pay for two tries of an action, "
                "to explore; begin another experiment, with a larger budget"
            )
        self._design, self._before, self._asked = design, spent, frozen(made + more)

    def estimate_of(self, rewards: Rewards, policy: ArrayLike | None = None) -> ValueEstimate:
        """Estimate a value from all rewards that came since the trial has committed.

        Late rewards of exploration among them have decided nothing, so they serve as any other.
        """
        self._after_exploration()
        assert self.variances is not None
        used = self._came(rewards)
        if self.strategy.keep_exploration:
            used = self.explored + used
        if not used.counts.any():
            raise ValueError("rewards: none came since the trial has committed")
        setting = self.setting.for_policy(policy)
        combination = self.strategy.combination(used.counts, self.variances, setting)
        return estimate_of_what_came(combination, used, self.variances, setting)

    def _state(self) -> dict[str, Any]:
        return {
            "explored": self.explored.as_dict(),
            "variances": None if self.variances is None else self.variances.tolist(),
            "exploration design": self._design.tolist(),
            "piloting": self._piloting,
            "made": self._spent.tolist(),
            "made by another design": self._before.tolist(),
            "asked": self._asked.tolist(),
            "committed": self.committed,
        }

    def _restore(self, state: dict[str, Any]) -> None:
        n_actions = len(self.setting.features)
        self.explored = read_rewards("explored", state["explored"], n_actions)
        self._design = read_shares("exploration design", state["exploration design"], n_actions)
        self._piloting = check_flag("piloting", state["piloting"])
        self._spent = read_counts("made", state["made"], n_actions)
        self._asked = frozen(read_counts("asked", state["asked"], n_actions))
        before = state.get("made by another design", [0] * n_actions)
        self._before = read_counts("made by another design", before, n_actions)
        done = check_flag("committed", state["committed"])
        if state["variances"] is None:
            if done:
                raise ValueError("variances: are missing, but the trial has committed")
            self.variances = self.covariance = self._pooled = None
            return
        self.variances = check_variances(state["variances"], n_actions)
        learnt, self.covariance = self.strategy.learn(self.explored, self.setting)
        if is_ours(self.strategy):
            check_variances_learnt(self.variances, learnt)
        self._pooled = self._committed_to(self._asked, self.explored) if done else None

    def _check_stored(self) -> None:
        setting, strategy, learnt = self.setting, self.strategy, self.variances is not None
        pilot = strategy.tuned and not learnt
        if self._piloting != pilot:
            raise changed("piloting", f"be {pilot}: {self.name} has a pilot", self._piloting)
        if learnt and not (strategy.tuned or self.committed):
            raise changed("committed", "be true, since variances have been learnt", False)
        history = setting.history or Rewards.none(setting.shape)
        check_at_most("history", history.counts, "explored", self.explored.counts)
        if not learnt:
            rule = "be the earlier rewards alone, since no variances have been learnt"
            check_same_rewards("explored", self.explored, history, rule)
            check_at_most(
                "made", self._spent, "0, since no variances have been learnt", 0 * self._spent
            )
        made = self._spent + self._asked
        check_at_most("made by another design", self._before, "tries of all phases", made)
        if not self.committed and setting.limits is not None:
            setting.limits.check_within(self._design, "exploration design")
        self._check_budget(made)

    def _check_budget(self, made: Counts) -> None:
        """Refuse a stored budget that does not pay for the pulls, or is not used up by the last."""
        setting, rule, total = self.setting, self.strategy.rounding, int(made.sum())
        rounds, slack = setting.rounds, len(made) - 1
        if setting.paid:
            # Exploration may have cost more than it should, before new costs; then nothing is left.
            over = float(setting.overdrawn(made, 0 * made))
            before = float(setting.overdrawn(self._spent, 0 * made))
            if rule != "ceil" and over and not before:
                raise changed(
                    "rounds", f"pay for {total} tries, which cost {rounds + over:g}", rounds
                )
            return
        least, most = {"floor": (-slack, 0), "ceil": (0, slack), "efficient": (0, 0)}[rule]
        if not self.committed:
            length = max(self.strategy.exploration_length(rounds), rounds - rounds // 2)
            least, most = -rounds, length - rounds
        if total > rounds + max(most, 0):
            raise changed(
                "rounds", f"be at least {total - max(most, 0)}, for the tries so far", rounds
            )
        if total > rounds + most:
            rule = (
                f"be true, since exploration takes at most {rounds + most} tries, and has {total}"
            )
            raise changed("committed", rule, False)
        if total < rounds + least:
            rule = f"make, with earlier tries, all {rounds} of the budget; there are {total}"
            raise changed("asked", rule, self._asked)
