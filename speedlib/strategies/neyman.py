"""Adaptive Neyman allocation over a known support, in two stages or in many."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np

from speedlib._arrays import shown
from speedlib._stored import changed
from speedlib.checks import Floats, Indices, check_count, check_rounds, check_share
from speedlib.rewards import Rewards
from speedlib.strategies._by_scatters import (
    ByScatters,
    ByScattersTrial,
    Plan,
    check_first_stage,
)
from speedlib.strategies._deviations import deviations
from speedlib.strategies._filling import top_up
from speedlib.strategies._known_support import known_support, support_of
from speedlib.trials import Setting, Trial

__all__ = ["AdaptiveNeyman"]


@dataclass(frozen=True, kw_only=True)
class AdaptiveNeyman(ByScatters):
    r"""Learn the best shares of a known support as it is pulled, and keep all rewards.

    Let :math:`\sum_a w_a\,x(a) = c` with linearly independent actions. Then n rounds estimate the
    value best with the shares :math:`p_a \propto |w_a|\,\sigma(a)`. Each action is first pulled a
    number of times, the pilot. Then, for each fraction f in turn, all scatters so far give
    :math:`\hat p_a \propto |w_a|\,\hat\sigma_a`, and counts are brought to :math:`f n\,\hat p_a`;
    at the end the counts are topped up to :math:`n\,\hat p_a`. An action that already has more
    pulls keeps them, and the others share the remaining rounds. The estimate is :math:`\sum_a
    w_a\,\bar r(a)`, with the means of all rewards. All parameters are passed by name.

    Parameters
    ----------
    label : str, optional
        Name in tables and figures, to distinguish variants of one strategy.
    fractions : tuple of float
        The fractions f, strictly between 0 and 1 and rising. A stage is left out if the pilot
        already takes more rounds.
    pilot : int or str
        Pulls of each action at first, at least 2, or ``"sqrt"``: :math:`\lceil\sqrt n\,\rceil`.
    support : tuple of int, optional
        Numbers of the actions, from 0. They must be linearly independent and span c; an action that
        c does not need is not pulled. By default the support is found if it is the same for every
        noise matrix. There are three such cases: an action parallel to c is enough alone; if the
        directions that matter are linearly independent, they are the support; in a plane the
        support is the two actions next to c, one on either side. Of parallel actions, which are
        equally good, the first is used. All this assumes variances :math:`x^\top\Sigma x`: if yours
        do not come from a :math:`\Sigma`, name the support.

    See Also
    --------
    AdaptiveNeyman.many : Ten stages.
    speedlib.strategies.booked.BookedOptimism : Where the support is not known.

    Notes
    -----
    For Gaussian noise, a pilot of :math:`\sqrt n` pulls or more (but few compared with n) and a
    support of r actions, the mean squared error is :math:`S^2/n + (1 + o(1))\,S^2 (r-1) / (2 f
    n^2)`, with the last fraction f and :math:`S = \sum_a |w_a|\,\sigma(a)`. The first term is the
    oracle's error; the second is of the order :math:`n^{-2}`. A fixed pilot is too short for large
    n if a share is below the first fraction. For instance, with two stages and a share of a tenth,
    a pilot of five pulls is too short for a thousand rounds or more.

    T equal rewards have no scatter: the standard deviation of their action is then taken to be
    :math:`1/\sqrt T` times the largest standard deviation of an action. If c is 0 the value is
    known to be 0, and the first action is pulled throughout.

    References
    ----------
    J. Neyman, "On the two different aspects of the representative method", J. Roy. Statist. Soc.
    97 (1934) 558-625.

    Examples
    --------
    >>> from speedlib import play, unit_ball
    >>> ball, rng = unit_ball(), np.random.default_rng(2)
    >>> trial = AdaptiveNeyman().begin(ball.bandit.features, ball.policy, rounds=400, rng=1)
    >>> trial.first_counts().tolist()
    [20, 0, 20, 0, 0]
    >>> bool(play(trial, lambda counts: ball.bandit.pull(counts, rng)).estimable)
    True
    """

    fractions: tuple[float, ...] = (0.5,)
    pilot: int | str = "sqrt"
    support: tuple[int, ...] | None = None

    default_name: ClassVar[str] = "Adaptive Neyman"

    def __post_init__(self) -> None:
        object.__setattr__(self, "fractions", _fractions(self.fractions))
        if not isinstance(self.pilot, str):
            check_count("pilot", self.pilot, 2)
        elif self.pilot != "sqrt":
            raise ValueError(f'pilot: must be a number or "sqrt"; got {shown(self.pilot)}')
        if self.support is not None:
            object.__setattr__(self, "support", _support(self.support))

    @classmethod
    def many(cls, **changes: Any) -> Self:
        """Return the strategy with ten decisions, each after twice as many rounds, up to 96 %.

        Parameters
        ----------
        **changes
            Parameters to change, with their new values.

        Examples
        --------
        >>> AdaptiveNeyman.many().fractions[-2:]
        (0.48, 0.96)
        """
        choices: dict[str, Any] = {
            "label": f"{cls.default_name}, ten stages",
            "fractions": tuple(0.96 / 2**k for k in range(9, -1, -1)),
        }
        return cls(**(choices | changes))

    def pilot_pulls(self, rounds: int) -> int:
        """Return how often each action is pulled at first, for a budget of n rounds."""
        return self._pilot(check_rounds(rounds))

    def _pilot(self, rounds: int) -> int:
        if isinstance(self.pilot, str):
            return math.isqrt(rounds - 1) + 1
        return self.pilot

    def _trial(self, setting: Setting) -> Trial:
        if self.support is None:
            w = known_support(setting.features, setting.direction, self.name)
        else:
            w = support_of(self.support, setting.features, setting.direction)
        check_first_stage(self.name, int(np.count_nonzero(w)), self._pilot, setting.rounds)
        return NeymanTrial(setting, self, w)


class NeymanTrial(ByScattersTrial):
    """A trial of `AdaptiveNeyman`.

    Parameters
    ----------
    setting : Setting
    strategy : AdaptiveNeyman
    coefficients : array, shape (A,)
        The coefficients w; 0 outside the support.
    """

    def __init__(self, setting: Setting, strategy: AdaptiveNeyman, coefficients: Floats) -> None:
        self.strategy, self._w = strategy, coefficients
        self._support: Indices = np.flatnonzero(coefficients)
        counts = np.zeros((1, coefficients.size), dtype=np.int64)
        last = None
        if self._support.size:
            counts[:, self._support] = strategy.pilot_pulls(setting.rounds)
        else:
            counts[:, 0], last = setting.rounds, coefficients[None]
        totals = [math.floor(f * setting.rounds) for f in strategy.fractions]
        totals.append(setting.rounds)
        self._first_total = int(counts.sum())
        self._totals = tuple(sorted({total for total in totals if total > self._first_total}))
        super().__init__(setting, strategy.name, Plan(counts, last, self._totals))

    def _plan(self, rewards: Rewards) -> Plan:
        """Bring counts to the next total."""
        spent = rewards.counts[:, self._support]
        sigma = deviations(rewards.scatters[:, self._support], spent)
        cost = np.abs(self._w[self._support]) * sigma
        shares = cost / cost.sum(axis=1, keepdims=True)
        total, *later = self._now.memory
        # Lost pulls have used up their part of the budget. Rewards of other actions, which nobody
        # requested, were counted as found ones, and have not.
        other = int((rewards.counts.sum(axis=1) - spent.sum(axis=1)).max(initial=0))
        total = max(total - self._now.lost - other, int(spent.sum(axis=1).max(initial=0)))
        counts = np.zeros(rewards.counts.shape, dtype=np.int64)
        counts[:, self._support] = top_up(spent, shares, total)
        return Plan(counts, None if later else self._w[None], tuple(later))

    def _memory_as_dict(self, memory: Any) -> list[int]:
        return [int(total) for total in memory or ()]

    def _memory_from_dict(self, memory: Any) -> tuple[int, ...] | None:
        """Return the totals that are still to be reached, the last ones of all."""
        if not self._support.size:
            if memory:
                raise changed("memory", "be empty, since the value is known to be 0", memory)
            return ()
        found = tuple(check_count("memory", total, 1) for total in memory)
        if found != self._totals[len(self._totals) - len(found) :]:
            raise changed("memory", f"be the last ones of {list(self._totals)}", list(found))
        return found

    def _implied(self, memory: Any) -> tuple[Floats | None, int]:
        first = self._first_total + self._now.again
        total = (first, *self._totals)[len(self._totals) - len(memory)]
        return None if memory else self._w, total


def _fractions(given: Any) -> tuple[float, ...]:
    """Return rising shares."""
    if isinstance(given, str) or not np.iterable(given):
        raise TypeError(f"fractions: expected a tuple of shares like (0.5,); got {shown(given)}")
    found = tuple(check_share("fractions", each) for each in given)
    if any(later <= earlier for earlier, later in pairwise(found)):
        raise ValueError(f"fractions: must rise from one to the next; got {shown(found)}")
    return found


def _support(given: Any) -> tuple[int, ...]:
    """Return numbers of different actions."""
    if isinstance(given, str) or not np.iterable(given):
        raise TypeError(f"support: expected a tuple of whole numbers; got {shown(given)}")
    found = tuple(check_count("support", each, 0) for each in given)
    if not found or len(set(found)) != len(found):
        raise ValueError(f"support: must name different actions, at least one; got {shown(found)}")
    return found
