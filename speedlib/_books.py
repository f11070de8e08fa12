"""What an experiment keeps books of: tries requested, rewards that came, visitors assigned."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from speedlib._names import check_names
from speedlib.checks import Counts, Floats


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


def names_of(names: Iterable[str] | None, n_actions: int) -> tuple[str, ...]:
    found = check_names(
        "names", map(str, range(n_actions)) if names is None else names, ordered=True
    )
    if len(found) != n_actions:
        raise ValueError(f"names: expected {n_actions}, one per action; got {len(found)}")
    return found


def check_at_most(name: str, part: Counts, other: str, whole: Counts) -> None:
    """Refuse stored counts that exceed those of which they are a part."""
    wrong = np.flatnonzero(part > whole)
    if wrong.size:
        a = int(wrong[0])
        raise ValueError(
            f"{name}: must be at most {other!r}, {whole[a]} for action {a}; got {part[a]}; "
            "the text was changed"
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
