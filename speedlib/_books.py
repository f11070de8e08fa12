"""What an experiment keeps books of: tries requested, rewards that came, visitors assigned."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from speedlib._arrays import shown
from speedlib._labels import check_order
from speedlib._names import check_names
from speedlib.checks import Counts, Floats, frozen
from speedlib.rewards import Rewards, check_rewards


@dataclass(frozen=True, eq=False)
class Assignment:
    """Actions drawn for visitors, one after the other, with the probabilities to be logged.

    Attributes
    ----------
    actions : ndarray of int, shape (V,)
        The action of each visitor.
    propensities : ndarray, shape (V,)
        The probability with which the visitor's action was drawn, given all earlier draws. Log it.
    probabilities : ndarray, shape (V, A)
        The probabilities of all actions for each visitor.
    """

    actions: Counts
    propensities: Floats
    probabilities: Floats


@dataclass(frozen=True, eq=False)
class Books:
    """What was requested, what came, and what is still owed.

    Attributes
    ----------
    asked, came : ndarray of int, shape (A,)
        For each action, the number of requested tries and the number of rewards that came, since
        the beginning.
    owed : ndarray of int, shape (A,)
        Rewards that have neither come nor been written off.
    written_off : ndarray of int, shape (A,)
        Missing rewards without which the experiment has continued. If such a reward comes late, it
        is still used, and is no longer counted here.
    extra : ndarray of int, shape (A,)
        Rewards beyond those that were requested.
    """

    asked: Counts
    came: Counts
    owed: Counts
    written_off: Counts
    extra: Counts


def books_of(asked: Counts, came: Counts, off: Counts) -> Books:
    """Return books from what was requested, came and was written off; copies, shape (A,) each."""
    missing, extra = np.maximum(asked - came, 0), np.maximum(came - asked, 0)
    return Books(*map(frozen, (asked, came, missing - off, off, extra)))


def in_words(books: Books) -> str:
    """Return the sum of each column of the books, with its name."""
    sums = {name.replace("_", " "): column.sum() for name, column in vars(books).items()}
    return ", ".join(f"{name} {total}" for name, total in sums.items())


def names_of(names: Iterable[str] | None, n_actions: int) -> tuple[str, ...]:
    found = check_names(
        "names", map(str, range(n_actions)) if names is None else names, ordered=True
    )
    if len(found) != n_actions:
        raise ValueError(f"names: expected {n_actions}, one per action; got {len(found)}")
    return found


def numbers_of(actions: Iterable[Any], names: tuple[str, ...]) -> Counts | list[int]:
    """Return numbers of actions from names, or numbers as they are."""
    unordered = isinstance(actions, str | bytes | set | frozenset | Mapping)
    if unordered or not isinstance(actions, Iterable) or getattr(actions, "ndim", 1) == 0:
        raise TypeError(
            "actions: expected a sequence of names or numbers, one for each reward; "
            f"got {shown(actions)}"
        )
    given = list(actions)
    if not any(isinstance(each, str) for each in given):
        return np.asarray(given, dtype=np.int64) if not given else np.asarray(given)
    place = {name: number for number, name in enumerate(names)}
    for each in given:
        if each not in place:
            raise ValueError(f"actions: {shown(each)} is none of {shown(names)}")
    return np.array([place[each] for each in given], dtype=np.int64)


def told(
    actions: Rewards | Iterable[Any], rewards: ArrayLike | None, names: tuple[str, ...]
) -> Rewards:
    """Return the rewards that `Experiment.tell` takes, shape (A,)."""
    if isinstance(actions, Rewards):
        if rewards is not None:
            raise ValueError("rewards: must be left out where `actions` holds them")
        came = check_rewards(actions, len(names), "actions")
    else:
        if rewards is None:
            raise ValueError("rewards: pass one for each action")
        check_order(actions, {"rewards": rewards}, name="actions")
        came = Rewards.from_log(numbers_of(actions, names), rewards, len(names))
    if came.counts.ndim != 1:
        raise ValueError("actions: must be rewards of one trial; got several replications")
    return came


def warn_of_extra(books: Books, came: Counts, names: tuple[str, ...]) -> None:
    """Warn the caller's caller of rewards that exceed the requested ones, by more than before."""
    extra = np.maximum(books.came + came - books.asked, 0)
    more = np.flatnonzero(extra > books.extra)
    if more.size:
        warnings.warn(
            f"rewards: {extra[more].sum()} more came than were requested, such as of "
            f"{shown(names[more[0]])}; a reward that is passed twice counts twice",
            UserWarning,
            stacklevel=3,
        )


def warn_if_none(books: Books, *, finished: bool, waiting: bool) -> None:
    """Warn the caller's caller that no try is left in the budget, or none before rewards come."""
    owed = int(books.owed.sum())
    if waiting:
        warnings.warn(
            f"rewards: the experiment waits for those that are owed ({owed}), and requests no try "
            "now; pass them to `tell`, or go on without them by `wait=False`",
            UserWarning,
            stacklevel=3,
        )
    if finished:
        first = (
            f"pass the {owed} owed rewards, as far as they come, to `tell`, and " if owed else ""
        )
        warnings.warn(
            f"budget: all {books.asked.sum()} tries of the experiment have been requested, and "
            f"none is left; {first}call `estimate`",
            UserWarning,
            stacklevel=3,
        )


def share_out(plan: Counts, size: int) -> Counts:
    """Return a part of a plan in its proportions, by largest remainders, in whole numbers."""
    total = int(plan.sum())
    if size >= total:
        return plan
    products = [int(each) * size for each in plan]
    batch = np.array([product // total for product in products], dtype=np.int64)
    rest = sorted(range(len(plan)), key=lambda a: (-(products[a] % total), a))
    batch[rest[: size - int(batch.sum())]] += 1
    return batch
