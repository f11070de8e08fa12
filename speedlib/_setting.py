"""What every trial knows at its start, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from speedlib._labels import check_order
from speedlib._targets import columns_of, importance_of
from speedlib._tolerances import MONEY_SLACK
from speedlib.checks import (
    Counts,
    Floats,
    check_count,
    check_features,
    check_finite,
    check_policy,
    check_rng,
    check_rounds,
    check_variances,
    frozen,
)
from speedlib.criteria import mean_feature
from speedlib.limits import Limits
from speedlib.rewards import Rewards, check_rewards
from speedlib.solvers._span import whitening

__all__ = ["Setting", "make_setting"]


class Begins(Protocol):
    """What a strategy has to say before its trial begins."""

    @property
    def name(self) -> str:
        """Name for messages."""

    @property
    def knows_variances(self) -> bool:
        """Whether it needs the true variances."""

    @property
    def within_limits(self) -> bool:
        """Whether it takes costs, bounds and several policies."""

    @property
    def learns_from_history(self) -> bool:
        """Whether it takes earlier rewards."""


@dataclass(frozen=True, eq=False)
class Setting:
    r"""What every trial knows at its start (checked by `Strategy.begin`).

    Parameters
    ----------
    features : array, shape (A, d)
    policy : array, shape (A,)
        The target policy; of several, their weighted average.
    rounds : int
        The budget n; with costs it is in money.
    rng : numpy.random.Generator
    variances : array, shape (A,), or None
        The true variances, for strategies that may know them.
    replications : int or None
        Number of independent trials run at once; None for a single live one.
    direction : array, shape (d,)
        The vector :math:`c = \sum_a \pi(a) x(a)`.
    limits : Limits or None
        Costs of actions and bounds on their shares, if there are any.
    targets : array, shape (d, K), or None
        For several policies the columns :math:`\sqrt{\omega_k}\,c_k`.
    history : Rewards or None
        Earlier rewards.
    revalued : float
        What pulls have cost beyond their price under the present costs, which may be new.
    """

    features: Floats
    policy: Floats
    rounds: int
    rng: np.random.Generator
    variances: Floats | None
    replications: int | None
    direction: Floats
    limits: Limits | None = None
    targets: Floats | None = None
    history: Rewards | None = None
    revalued: float = 0.0

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of counts: (A,), or (replications, A)."""
        lead = () if self.replications is None else (self.replications,)
        return (*lead, len(self.features))

    @property
    def nominal(self) -> int:
        """The rounds of the target policy that the budget buys: n itself without costs.

        Rules for the length of exploration count in these, so the unit of money does not matter.
        """
        if self.limits is None or not self.limits.priced:
            return self.rounds
        return max(1, int(self.rounds / float(self.policy @ self.limits.costs)))

    @property
    def paid(self) -> bool:
        """Whether pulls cost money, now or before."""
        return self.limits is not None and (self.limits.priced or self.revalued != 0)

    def left(self, spent: Counts, weights: Floats) -> Counts:
        """Return how many rounds of a design are left after some pulls, shape (...,)."""
        if self.limits is None or not self.paid:
            return np.asarray(np.maximum(0, self.rounds - spent.sum(axis=-1)))
        return self._paid_by(self.rounds, spent, weights)

    def half_left(self, spent: Counts, weights: Floats) -> Counts:
        """Return how many rounds of a design exploration may take after some pulls, shape (...,).

        Exploration takes at most half of the budget.
        """
        if self.limits is None or not self.paid:
            most = self.rounds - self.rounds // 2
            return np.asarray(np.maximum(0, most - spent.sum(axis=-1)))
        return self._paid_by(self.rounds / 2, spent, weights)

    def _paid_by(self, budget: float, spent: Counts, weights: Floats) -> Counts:
        """Return how many rounds of a design a budget of money pays for after some pulls."""
        assert self.limits is not None
        slack = MONEY_SLACK * self.rounds
        money = np.maximum(0.0, budget + slack - self.revalued - spent @ self.limits.costs)
        return np.asarray(np.floor(money / (weights @ self.limits.costs)).astype(np.int64))

    def within(self, weights: Floats) -> Floats:
        """Return designs (..., A) with shares as the bounds allow."""
        if self.limits is None or not self.limits.bounded:
            return weights
        rows = [self.limits.nearest(row) for row in weights.reshape(-1, weights.shape[-1])]
        return np.stack(rows).reshape(weights.shape)

    def overdrawn(self, counts: Counts, spent: Counts) -> Floats:
        """Return by how much pulls cost more than what is left, 0 if they do not, shape (...,)."""
        if self.limits is None or not self.paid:
            return np.zeros(counts.shape[:-1])
        over = (counts + spent) @ self.limits.costs + self.revalued - self.rounds
        return np.asarray(np.where(over > MONEY_SLACK * self.rounds, over, 0.0))

    def check_span(self) -> None:
        """Refuse limits whose actions cannot estimate the value."""
        if self.limits is not None and self.limits.bounded:
            targets = self.direction[:, None] if self.targets is None else self.targets
            rows = self.features[self.limits.allowed]
            whitening(rows, targets, "features of the actions that the limits allow")

    def repriced(self, limits: Limits, made: Counts) -> Setting:
        """Return the setting with other limits; pulls that were made keep their old costs."""
        old = np.ones(len(made)) if self.limits is None else self.limits.costs
        more = float(made @ (old - limits.costs))
        return replace(self, limits=limits, revalued=self.revalued + more)

    def for_policy(self, policy: ArrayLike | None) -> Setting:
        """Return the setting with another policy to be evaluated."""
        if policy is None:
            return self
        check_order(self.features, {"policy": policy})
        pi = check_policy(policy, len(self.features))
        c = frozen(mean_feature(self.features, pi))
        return replace(self, policy=frozen(pi), direction=c, targets=None)


def make_setting(
    strategy: Begins,
    features: ArrayLike,
    policy: ArrayLike,
    rounds: int,
    *,
    rng: np.random.Generator | np.random.SeedSequence | int,
    variances: ArrayLike | None,
    replications: int | None,
    importance: ArrayLike | None,
    limits: Mapping[str, ArrayLike | None],
    history: Rewards | None,
) -> Setting:
    """Check what `Strategy.begin` was given."""
    check_order(features, {"policy": policy, "variances": variances} | dict(limits))
    x = check_features(features)
    several = check_finite("policy", policy).ndim == 2
    if importance is not None and not several:
        raise ValueError("importance: only for several policies, one in each row of `policy`")
    given = [name for name, bound in limits.items() if bound is not None]
    if (several or given) and not strategy.within_limits:
        name = given[0] if given else "policy"
        raise ValueError(
            f"{name}: {strategy.name} takes neither costs nor bounds nor several policies; "
            "SPEED and Oracle do"
        )
    targets = None
    if several:
        rows = check_finite("policy", policy)
        targets = frozen(columns_of(x, policy, None, importance))
        each = np.stack([check_policy(row, len(x)) for row in rows])
        pi = np.asarray(importance_of(importance, len(rows)) @ each)
    else:
        pi = check_policy(policy, len(x))
    known = None
    if strategy.knows_variances:
        if variances is None:
            free = ' (estimator="feasible" or "ols" needs none)'
            hint = free if hasattr(strategy, "estimator") else ""
            raise ValueError(f"variances: {strategy.name} needs the true variances; got None{hint}")
        known = frozen(check_variances(variances, len(x), features=x))
    if history is not None:
        if not strategy.learns_from_history:
            raise ValueError(f"history: {strategy.name} does not learn from earlier rewards")
        if replications is not None or check_rewards(history, len(x), "history").counts.ndim != 1:
            raise ValueError("history: must be the rewards of one trial, for a single trial")
    setting = Setting(
        features=frozen(x),
        policy=frozen(pi),
        rounds=_budget(rounds, limits["costs"] is not None),
        rng=check_rng(rng),
        variances=known,
        replications=(
            None if replications is None else check_count("replications", replications, 1)
        ),
        direction=frozen(mean_feature(x, pi)),
        limits=Limits.of(len(x), **limits) if given else None,
        targets=targets,
        history=history,
    )
    setting.check_span()
    return setting


def _budget(rounds: Any, in_money: bool) -> int:
    """Return the budget: a whole number, also of money."""
    try:
        return check_rounds(rounds)
    except TypeError as error:
        if in_money and isinstance(rounds, float | np.floating):
            cure = "give the budget and the costs in a smaller unit of money, such as cents"
            raise TypeError(f"{error}; {cure}") from None
        raise
