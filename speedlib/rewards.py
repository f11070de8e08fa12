"""A set of observed rewards, summarised by sufficient statistics of each action."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from speedlib._arrays import real_array, shown
from speedlib._json import HEAD, check_sum, parts_of, read_parts, written
from speedlib._labels import check_order
from speedlib.checks import (
    LARGEST,
    Counts,
    Floats,
    check_actions,
    check_count,
    check_counts,
    check_finite,
    check_not_negative,
    frozen,
)

__all__ = ["Rewards"]

_PARTS = ("counts", "means", "scatters")


@dataclass(frozen=True, eq=False)
class Rewards:
    r"""Counts, means and scatters of the rewards of each action.

    For action a with rewards :math:`R_1(a), \dots, R_{T(a)}(a)` an object of this class keeps

    .. math:: T(a), \qquad \bar r(a) = \frac1{T(a)} \sum_i R_i(a), \qquad
              S(a) = \sum_i \bigl(R_i(a) - \bar r(a)\bigr)^2.

    Least squares for :math:`\theta_*` and for :math:`\Sigma_*` uses nothing else. Leading axes hold
    independent replications, so one object describes a live experiment (shape ``(A,)``) or ten
    thousand simulated ones (shape ``(10000, A)``).

    Parameters
    ----------
    counts : array of int, shape (..., A)
        Number of pulls of each action, at least 0.
    means : array, shape (..., A)
        Mean reward of each action, in units of reward; 0 where the action was not pulled.
    scatters : array, shape (..., A)
        Sum of squared deviations from the mean, in units of reward squared.

    Examples
    --------
    >>> log = Rewards.from_log([0, 0, 2], [1.0, 3.0, 5.0], n_actions=3)
    >>> both = log + Rewards.from_log([1], [4.0], n_actions=3)
    >>> both.counts.tolist(), int(both.rounds)
    ([2, 1, 1], 4)
    """

    counts: Counts
    means: Floats
    scatters: Floats

    def __post_init__(self) -> None:
        means = check_finite("means", self.means)
        scatters = check_not_negative("scatters", self.scatters)
        if means.ndim == 0:
            raise ValueError("means: expected one mean per action, shape (..., A); got one number")
        counts = check_counts(self.counts, means.shape[-1])
        if not counts.shape == means.shape == scatters.shape:
            raise ValueError(
                "counts, means, scatters: must have one shape; "
                f"got {counts.shape}, {means.shape} and {scatters.shape}"
            )
        for name, array in (("means", means), ("scatters", scatters)):
            if np.any(array[counts == 0] != 0):
                raise ValueError(f"{name}: must be 0 for actions without rewards")
            # Squares of squared residuals must stay within the range of floats.
            limit = LARGEST if name == "means" else LARGEST**2
            if not np.abs(array).max(initial=0.0) <= limit:
                raise ValueError(
                    f"{name}: must be at most {limit:g} in size; got {np.abs(array).max():g}"
                )
            object.__setattr__(self, name, frozen(array))
        object.__setattr__(self, "counts", frozen(counts))

    def __reduce__(self) -> tuple[Any, ...]:
        """Build a copy from its parts, since NumPy forgets that an array is read-only."""
        return type(self), (self.counts, self.means, self.scatters)

    @classmethod
    def from_log(cls, actions: ArrayLike, rewards: ArrayLike, n_actions: int) -> Rewards:
        """Summarise a log of single rounds.

        Parameters
        ----------
        actions : array of int, shape (n,)
            The action of each round, 0 to A - 1.
        rewards : array, shape (n,)
            The reward of each round.
        n_actions : int
            Number of actions A.

        Returns
        -------
        Rewards
            Statistics of shape ``(A,)``.

        Examples
        --------
        >>> log = Rewards.from_log([0, 0, 2], [1.0, 3.0, 5.0], n_actions=3)
        >>> log.counts.tolist(), log.means.tolist(), log.scatters.tolist()
        ([2, 0, 1], [2.0, 0.0, 5.0], [2.0, 0.0, 0.0])
        """
        n_actions = check_count("n_actions", n_actions, 1)
        check_order(actions, {"rewards": rewards}, name="actions")
        values = check_finite("rewards", rewards)
        index = real_array("actions", actions)
        if values.ndim != 1 or values.shape != index.shape:
            raise ValueError(
                "actions, rewards: expected two sequences of one length; "
                f"got shapes {index.shape} and {values.shape}"
            )
        index = check_actions(index, n_actions)
        size = np.abs(values).max(initial=0.0)
        if not size <= LARGEST:
            raise ValueError(f"rewards: must be at most {LARGEST:g} in size; got {size:g}")
        counts = np.bincount(index, minlength=n_actions).astype(np.int64)
        means = np.bincount(index, weights=values, minlength=n_actions) / np.maximum(counts, 1)
        deviations = (values - means[index]) ** 2
        scatters = np.bincount(index, weights=deviations, minlength=n_actions).astype(np.float64)
        return cls(counts, means, scatters)

    def as_dict(self) -> dict[str, Any]:
        """Return counts, means and scatters as lists of plain numbers."""
        return {name: getattr(self, name).tolist() for name in _PARTS}

    @classmethod
    def from_dict(cls, parts: dict[str, Any]) -> Rewards:
        """Return rewards from what `as_dict` returned."""
        parts = read_parts("rewards", parts, _PARTS)
        found = cls(parts["counts"], parts["means"], parts["scatters"])
        if np.any(found.scatters[found.counts == 1] != 0):
            raise ValueError("scatters: must be 0 for actions with a single reward")
        return found

    def to_json(self) -> str:
        """Return the statistics as text; `from_json` restores them to the last bit.

        Examples
        --------
        >>> log = Rewards.from_log([0, 0, 2], [1.0, 3.0, 5.0], n_actions=3)
        >>> Rewards.from_json(log.to_json()).means.tolist()
        [2.0, 0.0, 5.0]
        """
        return written("rewards", 1, self.as_dict())

    @classmethod
    def from_json(cls, text: str) -> Rewards:
        """Return what `to_json` wrote.

        Raises
        ------
        ValueError
            If the text holds no rewards, or was written by a later version of the format.
        """
        parts = parts_of(text, "rewards", 1)
        read_parts("text", parts, (), (*HEAD, *_PARTS))
        found = cls.from_dict(parts)
        check_sum(parts)
        return found

    @classmethod
    def none(cls, shape: tuple[int, ...]) -> Rewards:
        """Return the statistics of no rewards at all, of shape ``(..., A)``."""
        sizes = shape if isinstance(shape, tuple | list) else (shape,)
        for size in sizes:
            check_count("shape", size, 0)
        return cls(np.zeros(sizes, dtype=np.int64), np.zeros(sizes), np.zeros(sizes))

    def __add__(self, other: Rewards) -> Rewards:
        """Pool two sets of rewards of the same actions."""
        if not isinstance(other, Rewards):
            return NotImplemented
        if self.counts.shape[-1] != other.counts.shape[-1]:
            raise ValueError(
                "rewards: only rewards of the same actions can be pooled; "
                f"got {self.counts.shape[-1]} and {other.counts.shape[-1]} actions"
            )
        counts = self.counts + other.counts
        share = other.counts / np.maximum(counts, 1)
        step = other.means - self.means
        return Rewards(
            counts,
            self.means + share * step,
            self.scatters + other.scatters + self.counts * share * step**2,
        )

    @property
    def rounds(self) -> Counts:
        """Number of rewards, shape (...,)."""
        return np.asarray(self.counts.sum(axis=-1))


def check_rewards(rewards: object, n_actions: int, name: str = "rewards") -> Rewards:
    """Return rewards of this number of actions, or say what they are instead."""
    if not isinstance(rewards, Rewards):
        raise TypeError(
            f"{name}: expected Rewards, from LinearBandit.pull or Rewards.from_log; "
            f"got {shown(rewards)}"
        )
    if rewards.counts.shape[-1] != n_actions:
        raise ValueError(
            f"{name}: their counts must have shape (..., {n_actions}), one per action; "
            f"got shape {rewards.counts.shape}"
        )
    return rewards
