"""What an action costs, and how large its share of the rounds may be.

Costs and limits change which designs may be chosen, and by which value they are compared. `Limits`
checks and holds them; `speedlib.designs.optimal_design` finds the best design within them.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from speedlib._tolerances import (
    LIMIT_TOLERANCE,
    NO_LENGTH,
    PE_EFFICIENCY,
    RATIO_TOLERANCE,
)
from speedlib.checks import Flags, Floats, check_count, check_finite, check_policy, check_sizes

__all__ = ["Limits"]

#: Steps that find the largest ratio; each at least doubles the digits, so a few are enough.
STEPS = 100


class Largest(NamedTuple):
    """An upper bound on the largest score per unit of cost, and a design that attains it."""

    value: float
    design: Floats


@dataclass(frozen=True, eq=False)
class Limits:
    r"""Costs of actions, and bounds on their shares of the rounds.

    A design b is within the limits if :math:`l(a) \le b(a) \le u(a)` for all actions. A round costs
    :math:`\sum_a b(a)\,\kappa(a)` on average.

    Parameters
    ----------
    least, most : array, shape (A,)
        The bounds l and u: shares between 0 and 1.
    costs : array, shape (A,)
        The costs :math:`\kappa`, positive, in any unit of money.

    See Also
    --------
    Limits.of : Limits with default values for the arguments left out.

    Examples
    --------
    >>> limits = Limits.of(3, most=[1.0, 0.25, 1.0], costs=[1, 1, 4])
    >>> limits.nearest([0.2, 0.6, 0.2]).tolist()
    [0.375, 0.25, 0.375]
    >>> limits.mean_cost([0.5, 0.25, 0.25])
    1.75
    """

    least: Floats
    most: Floats
    costs: Floats

    @classmethod
    def of(
        cls,
        n_actions: int,
        *,
        costs: ArrayLike | None = None,
        least: ArrayLike | None = None,
        most: ArrayLike | None = None,
    ) -> Limits:
        """Return limits from the given arguments; a single number holds for all actions.

        Parameters
        ----------
        n_actions : int
            Number of actions A.
        costs : array, shape (A,), or number, optional
            Positive; 1 by default.
        least, most : array, shape (A,), or number, optional
            Shares between 0 and 1; by default 0 and 1.

        Raises
        ------
        TypeError, ValueError
            If an argument breaks its rule, or no design is within the limits.
        """
        n_actions = check_count("n_actions", n_actions, 1)
        low = _shares("least", 0.0 if least is None else least, n_actions)
        high = _shares("most", 1.0 if most is None else most, n_actions)
        wrong = np.flatnonzero(low > high)
        if wrong.size:
            a = int(wrong[0])
            raise ValueError(
                f"least: must be at most what `most` allows; got {low[a]:g} above {high[a]:g} for "
                f"action {a}"
            )
        if low.sum() > 1 + LIMIT_TOLERANCE:
            raise ValueError(f"least: must sum to at most 1; got {low.sum():g}")
        if high.sum() < 1 - LIMIT_TOLERANCE:
            raise ValueError(f"most: must sum to at least 1; got {high.sum():g}")
        price = _each("costs", 1.0 if costs is None else costs, n_actions)
        if np.any(price <= 0):
            a = int(np.argmin(price))
            raise ValueError(f"costs: must be greater than 0; got {price[a]:g} for action {a}")
        return cls(low, high, check_sizes("costs", price))

    @property
    def bounded(self) -> bool:
        """Whether any share has a bound."""
        return bool(np.any(self.least > 0) or np.any(self.most < 1))

    @property
    def allowed(self) -> Flags:
        """Whether an action may have a share, shape (A,): least shares may leave none for others.

        Examples
        --------
        >>> Limits.of(2, least=[1, 0]).allowed.tolist()
        [True, False]
        """
        free = 1.0 - self.least.sum() > PE_EFFICIENCY
        return np.asarray((self.most > 0) & (free | (self.least > 0)))

    @property
    def priced(self) -> bool:
        """Whether a cost differs from 1."""
        return bool(np.any(self.costs != 1))

    def mean_cost(self, weights: ArrayLike) -> float:
        r"""Return :math:`\sum_a b(a)\,\kappa(a)`, the mean cost of a round of a design."""
        return float(check_policy(weights, len(self.costs), "weights") @ self.costs)

    def check_within(self, weights: Floats, name: str = "weights") -> None:
        """Refuse a design that is not within the limits, up to rounding."""
        for bound, sign, rule in ((self.least, 1, "at least"), (self.most, -1, "at most")):
            wrong = np.flatnonzero(sign * (weights - bound) < -LIMIT_TOLERANCE)
            if wrong.size:
                a = int(wrong[0])
                raise ValueError(
                    f"{name}: must be {rule} {bound[a]:g} for action {a}; got {weights[a]:g}"
                )

    def nearest(self, weights: ArrayLike) -> Floats:
        r"""Return :math:`\min(\max(t\,b, l), u)`, with t such that its sum is 1, shape (A,).

        All shares that meet no bound keep their ratios. If the actions with a positive share reach
        their bounds before the sum is 1, the other actions get the rest, as evenly as their bounds
        allow.
        """
        b = check_policy(weights, len(self.costs), "weights")
        b = np.where(b > NO_LENGTH, b, 0.0)  # bounds are divided by shares
        room = np.where(b > 0, self.most, self.least).sum()
        if room < 1:
            base = np.where(b > 0, self.most, self.least)
            return _filled(np.where(b > 0, 0.0, 1.0), base, self.most)
        return _filled(b, self.least, self.most)

    def largest(self, scores: Floats) -> Largest:
        r"""Return :math:`\max_b \sum_a b(a) q(a) / \sum_a b(a) \kappa(a)` within the limits.

        Dinkelbach's method solves this linear-fractional program. With the best ratio t so far,
        maximising :math:`\sum_a b(a) (q(a) - t \kappa(a))` is a knapsack problem, which is solved
        greedily. The returned value is an upper bound, even if rounding ends the method early.

        Parameters
        ----------
        scores : array, shape (A,)
            The numbers q.
        """
        if not self.bounded:
            ratios = scores / self.costs
            best = int(ratios.argmax())
            return Largest(float(ratios[best]), np.eye(1, scores.size, best)[0])
        ratio, design = -np.inf, self.least
        for _ in range(STEPS):
            gains = scores - (ratio if np.isfinite(ratio) else 0.0) * self.costs
            found = self._fullest(gains)
            better = float(found @ scores / (found @ self.costs))
            if better <= ratio + RATIO_TOLERANCE * abs(ratio):
                break
            ratio, design = better, found
        excess = float(self._fullest(scores - ratio * self.costs) @ (scores - ratio * self.costs))
        return Largest(ratio + max(0.0, excess) / float(self.costs.min()), design)

    def _fullest(self, gains: Floats) -> Floats:
        """Return the design within the limits that has the largest sum of gains."""
        order = np.argsort(-gains, kind="stable")
        room = (self.most - self.least)[order]
        before = room.cumsum() - room
        more = np.clip(1.0 - self.least.sum() - before, 0.0, room)
        design = self.least.copy()
        design[order] += more
        return design


def _filled(shares: Floats, low: Floats, high: Floats) -> Floats:
    """Return min(max(t * shares, low), high) that sums to 1; its sum is piecewise linear in t."""
    some = shares > 0
    ends = np.concatenate([low[some] / shares[some], high[some] / shares[some]])
    ends = np.unique(np.append(ends, 0.0))
    if len(ends) == 1:
        return low

    def total(t: float) -> float:
        return float(np.clip(t * shares, low, high).sum())

    place = min(max(bisect_left(ends, 1.0, key=total), 1), len(ends) - 1)
    before, after = total(ends[place - 1]), total(ends[place])
    part = 1.0 if after <= before else min(1.0, max(0.0, (1.0 - before) / (after - before)))
    t = ends[place - 1] + part * (ends[place] - ends[place - 1])
    found = np.clip(t * shares, low, high)
    return np.asarray(found / found.sum())


def _each(name: str, given: ArrayLike, n_actions: int) -> Floats:
    array = check_finite(name, given)
    if array.size == 1 and np.ndim(given) == 0:
        return np.full(n_actions, array.ravel()[0])
    if array.shape != (n_actions,):
        raise ValueError(
            f"{name}: expected one number, or one per action, shape ({n_actions},); "
            f"got shape {array.shape}"
        )
    return array


def _shares(name: str, given: ArrayLike, n_actions: int) -> Floats:
    array = _each(name, given, n_actions)
    wrong = np.flatnonzero((array < 0) | (array > 1))
    if wrong.size:
        a = int(wrong[0])
        raise ValueError(f"{name}: must lie between 0 and 1; got {array[a]:g} for action {a}")
    return array
