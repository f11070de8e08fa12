"""Booked optimism: no pull is thrown away, and the support need not be known."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from speedlib._json import read_parts
from speedlib._stored import changed
from speedlib._tolerances import STORED_MOMENTS
from speedlib.checks import Counts, Floats, check_count, check_number, check_rounds, check_vector
from speedlib.rewards import Rewards
from speedlib.strategies._by_scatters import (
    ByScatters,
    ByScattersTrial,
    Plan,
    check_first_stage,
)
from speedlib.strategies._deviations import deviations
from speedlib.strategies._filling import level_excess
from speedlib.strategies._vertices import Vertices
from speedlib.trials import Setting, Trial

__all__ = ["BookedOptimism"]


@dataclass(frozen=True, kw_only=True)
class BookedOptimism(ByScatters):
    r"""Book every round to the vertex that is cheapest for optimistic noise; keep all rewards.

    A vertex is a solution w of :math:`\sum_a w_a\,x(a) = c` with linearly independent actions; its
    cost is :math:`\sum_a |w_a|\,\sigma(a)`. The least cost, squared and divided by n, is the
    oracle's mean squared error after n rounds. Every action that occurs in a vertex is first pulled
    :math:`t_0` times. Then, in every round,

    1. each such action has the standard deviation :math:`\hat\sigma_a` of all its T rewards, and an
       optimistic one, :math:`\tilde\sigma_a = \hat\sigma_a / (1 + \sqrt2\,z_a)` with
       :math:`z_a = \sqrt{\gamma\,\log n / (T_a - 1)}` and ``width`` for :math:`\gamma`;
    2. the vertex w of least cost by :math:`\tilde\sigma` is found, and the round is *booked* to its
       actions in the shares :math:`|w_a|\,\hat\sigma_a`, divided by their sum;
    3. the pulled action is the one with the largest difference of bookings and pulls, both counted
       after the first stage.

    The estimate is :math:`\sum_a k_a\,\bar r(a)` with the means of all rewards and the mean k of
    the vertices of all booked rounds. All parameters are passed by name.

    Parameters
    ----------
    label : str, optional
        Name in tables and figures, to distinguish variants of one strategy.
    first_pulls : float
        Number of first pulls of each action per :math:`\log n`, above 0. With the value f,
        :math:`t_0 = \lceil f \log n\rceil + 1`.
    width : float
        The :math:`\gamma` in the confidence width of a standard deviation, at least 0. With 0 there
        is no optimism; with 1/2, :math:`\sqrt2\,z_a = \sqrt{\log n / (T_a - 1)}`.
    regrowth : float
        Share, at least 0, by which the pulls of an action may grow before the vertex and the shares
        are computed again. One more pull of each action is always allowed, and so are the pulls by
        which it lags behind its bookings. With 0, vertex and shares are computed again in every
        round, and a trial then has a phase for each round.

    See Also
    --------
    BookedOptimism.theorem : The constants of the proof.
    speedlib.strategies.neyman.AdaptiveNeyman : Where the support is known.

    Notes
    -----
    Pulls and coefficients depend on the scatters of rewards alone: under Gaussian noise the
    estimate is unbiased, and its mean squared error is the mean of :math:`\sum_a k_a^2\,\sigma^2(a)
    / T(a)`. Within a phase of m rounds all rounds are booked first, and rule 3 then makes the
    pulls. The differences of bookings and pulls are then at least as even as after pulling round by
    round. So no such difference is above :math:`1/2 + 1/3 + \dots + 1/A`, where A is the number of
    actions that occur in a vertex.

    T equal rewards do not show that there is no noise: their standard deviation is taken to be
    :math:`1/\sqrt T` times the largest standard deviation of an action. Gaussian rewards are never
    equal, but rewards that are rarely 1 and otherwise 0 can be. For instance, let the rewards of
    three actions be 1 with probabilities 0.02, 0.5 and 0.1, and otherwise 0. With the policy 0.5,
    0.3 and 0.2 and n = 30,000 rounds, the mean squared error is the oracle's to within 1 %, and
    intervals of 95 % hold the value in 94.9 % of trials. If the deviation were taken to be 0, the
    error would be 19 times the oracle's and the intervals would hold the value in 85 %. The rule
    costs something where there is truly no noise: with probability 0 instead of 0.02 the error is 4
    % larger. If c is 0, the value is known to be 0, and the first action is pulled throughout.

    Examples
    --------
    >>> from speedlib import play, unit_ball
    >>> ball, rng = unit_ball(), np.random.default_rng(2)
    >>> trial = BookedOptimism().begin(ball.bandit.features, ball.policy, rounds=400, rng=1)
    >>> bool(play(trial, lambda counts: ball.bandit.pull(counts, rng)).estimable)
    True
    """

    first_pulls: float = 4.0
    width: float = 0.5
    regrowth: float = 0.5

    default_name: ClassVar[str] = "Booked optimism"

    def __post_init__(self) -> None:
        check_number("first_pulls", self.first_pulls, above=0, most=MOST)
        check_number("width", self.width, least=0, most=MOST)
        check_number("regrowth", self.regrowth, least=0, most=MOST)

    @classmethod
    def theorem(cls, **changes: Any) -> Self:
        r"""Return the strategy with the constants of the proof.

        These are :math:`t_0 = \lceil 48 \log n\rceil + 1`, width 3, and a new vertex in every
        round. Every round is then a phase, so the strategy suits budgets of some thousand rounds.
        With ``regrowth=0.5`` only constants of the bound change, and larger budgets are
        practicable, too.

        Parameters
        ----------
        **changes
            Parameters to change, with their new values.

        Examples
        --------
        >>> BookedOptimism.theorem(regrowth=0.5).first_count(1000)
        333
        """
        choices: dict[str, Any] = {
            "label": f"{cls.default_name}, as proved",
            "first_pulls": 48.0,
            "width": 3.0,
            "regrowth": 0.0,
        }
        return cls(**(choices | changes))

    def first_count(self, rounds: int) -> int:
        """Return how often each action is pulled at first, for a budget of n rounds."""
        return math.ceil(self.first_pulls * math.log(check_rounds(rounds))) + 1

    def _trial(self, setting: Setting) -> Trial:
        vertices = Vertices(setting.features, setting.direction)
        check_first_stage(self.name, vertices.actions.size, self.first_count, setting.rounds)
        return BookedTrial(setting, self, vertices)


#: Larger than any useful parameter; products of such numbers stay within floats.
MOST = 1e9


class _Books(NamedTuple):
    """What is remembered from phase to phase, for each replication.

    Attributes
    ----------
    excess : array, shape (R, K)
        Bookings minus pulls since the first stage.
    sums : array, shape (R, K)
        The sum of the vertices of all booked rounds.
    rounds : array of int, shape (R,)
        Number of booked rounds.
    """

    excess: Floats
    sums: Floats
    rounds: Counts


class BookedTrial(ByScattersTrial):
    """A trial of `BookedOptimism`.

    Parameters
    ----------
    setting : Setting
    strategy : BookedOptimism
    vertices : Vertices
    """

    def __init__(self, setting: Setting, strategy: BookedOptimism, vertices: Vertices) -> None:
        self.strategy, self._vertices = strategy, vertices
        size, replications = vertices.actions.size, setting.replications or 1
        zeros = np.zeros((replications, size))
        books = _Books(zeros, zeros, np.zeros(replications, dtype=np.int64))
        self._log = math.log(setting.rounds)
        counts = np.zeros((1, len(setting.features)), dtype=np.int64)
        if size:
            counts[:, vertices.actions] = strategy.first_count(setting.rounds)
            plan = Plan(counts, None, books)
        else:
            counts[:, 0] = setting.rounds
            plan = Plan(counts, np.zeros(counts.shape))
        self._first_total = int(counts.sum())
        super().__init__(setting, strategy.name, plan)

    @property
    def _bookable(self) -> int:
        """Number of rounds after the first stage, all of which are booked."""
        return self.setting.rounds - self._first_total - self._now.again

    def _plan(self, rewards: Rewards) -> Plan:
        """Book a phase of each replication that is not finished yet, and pull accordingly."""
        books: _Books = self._now.memory
        going, columns = np.flatnonzero(books.rounds < self._bookable), self._vertices.actions
        cells = np.ix_(going, columns)
        pulled = rewards.counts[cells]
        sigma = deviations(rewards.scatters[cells], pulled)
        z = np.sqrt(self.strategy.width * self._log / (pulled - 1))
        vertex = self._vertices.cheapest(sigma / (1 + np.sqrt(2) * z))
        cost = np.abs(vertex) * sigma
        shares = cost / cost.sum(axis=1, keepdims=True)
        left = self._bookable - books.rounds[going]
        length = self._phase(pulled, shares, books.excess[going], left)
        excess = books.excess[going] + length[:, None] * shares
        pulls = level_excess(excess, length)

        counts = np.zeros(rewards.counts.shape, dtype=np.int64)
        counts[cells] = pulls
        after = _Books(books.excess.copy(), books.sums.copy(), books.rounds.copy())
        after.excess[going] = excess - pulls
        after.sums[going] += length[:, None] * vertex
        after.rounds[going] += length
        if np.any(after.rounds < self._bookable):
            return Plan(counts, None, after)
        coefficients = np.zeros(counts.shape)
        coefficients[:, columns] = after.sums / self._bookable
        return Plan(counts, coefficients, after)

    def _memory_as_dict(self, memory: Any) -> dict[str, Any] | None:
        if memory is None:
            return None
        return {name: part[0].tolist() for name, part in memory._asdict().items()}

    def _memory_from_dict(self, memory: Any) -> _Books | None:
        size, direction = self._vertices.actions.size, self.setting.direction
        if not size:
            if memory is not None:
                raise changed("memory", "be null, since the value is known to be 0", memory)
            return None
        memory = read_parts("memory", memory, _Books._fields, ())
        excess, sums = (check_vector(name, memory[name], size) for name in ("excess", "sums"))
        rounds = check_count("rounds of the memory", memory["rounds"], 0, self._bookable)
        # Each round books one pull, and makes one; each adds a vertex, which gives the direction.
        if abs(excess.sum()) > STORED_MOMENTS * max(rounds, 1):
            raise changed("excess", "sum to 0", float(excess.sum()))
        features = self.setting.features[self._vertices.actions]
        size = np.abs(sums) @ np.abs(features) + rounds * np.abs(direction)
        if np.any(np.abs(sums @ features - rounds * direction) > STORED_MOMENTS * size):
            raise changed("sums", f"combine the features to {rounds} times the direction", sums)
        return _Books(excess[None], sums[None], np.array([rounds], dtype=np.int64))

    def _implied(self, memory: Any) -> tuple[Floats | None, int]:
        last = np.zeros(len(self.setting.features))
        if memory is None:
            return last, self.setting.rounds
        booked = int(memory.rounds[0])
        due = self.setting.rounds - self._bookable + booked
        if booked < self._bookable:
            return None, due
        last[self._vertices.actions] = memory.sums[0] / self._bookable
        return last, due

    def _phase(self, pulled: Counts, shares: Floats, excess: Floats, left: Counts) -> Counts:
        """Return the most rounds in which no action can grow by more than the share, (R,).

        An action is pulled at most as often as its excess after the bookings, rounded up. One pull
        is always allowed, and so are the pulls by which an action lags behind. Otherwise an action
        that is owed a pull but has no share in the bookings would end phase after phase, while
        other actions are owed more.
        """
        if self.strategy.regrowth == 0:
            return np.ones_like(left)
        grown = np.floor(self.strategy.regrowth * pulled)
        allowed = np.maximum(np.maximum(grown, 1.0), np.ceil(excess)) - excess
        used = shares > 0
        rounds = np.where(used, allowed / np.where(used, shares, 1.0), np.inf).min(axis=1)
        whole: Counts = np.floor(np.minimum(rounds, left)).astype(np.int64)
        return np.clip(whole, 1, left)
