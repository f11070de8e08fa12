"""Whether the parts of a stored text fit each other: what follows from others must be what follows.

A text may be changed by hand, or by a program that rounds numbers. Whatever can be computed again
from other parts is compared with them, in whole numbers exactly, and otherwise up to rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from speedlib._arrays import shown
from speedlib._tolerances import STORED_DIRECTION, STORED_MOMENTS, STORED_VARIANCES
from speedlib.checks import Counts, Floats
from speedlib.rewards import Rewards

__all__ = [
    "FRESH",
    "MADE",
    "OFF",
    "changed",
    "check_at_most",
    "check_books",
    "check_close",
    "check_money",
    "check_same_rewards",
    "check_targets",
    "check_variances_learnt",
]

#: Names of the parts of an experiment that are compared.
MADE, OFF, FRESH = "made in this phase", "written off", "came since the last decision"


def changed(name: str, rule: str, got: Any) -> ValueError:
    """Return the error for a part that breaks a rule which every written text keeps."""
    value = shown(got.tolist() if isinstance(got, np.ndarray | np.generic) else got)
    return ValueError(f"{name}: must {rule}; got {value}; the text was changed")


def check_at_most(name: str, part: Counts, other: str, whole: Counts) -> None:
    """Refuse stored counts that exceed those of which they are a part."""
    wrong = np.flatnonzero(part > whole)
    if wrong.size:
        a = int(wrong[0])
        raise changed(name, f"be at most {other!r}, {whole[a]} for action {a}", part[a])


def check_close(name: str, found: Floats, expected: Floats, tolerance: float, rule: str) -> None:
    """Refuse numbers that differ from others by more than a share of the largest of these."""
    wrong = np.abs(found - expected) > tolerance * np.abs(expected).max(initial=0.0)
    if wrong.any():
        a = int(np.flatnonzero(wrong)[0])
        raise changed(name, f"{rule}, {expected[a]:.10g} for action {a}", found[a])


def check_same_rewards(name: str, found: Rewards, expected: Rewards, rule: str) -> None:
    """Refuse rewards that are not the same ones as others, which were pooled in another order."""
    wrong = np.flatnonzero(found.counts != expected.counts)
    if wrong.size:
        a = int(wrong[0])
        raise changed(name, f"{rule}, {expected.counts[a]} of action {a}", found.counts[a])
    n = np.maximum(found.counts, 1)
    size = np.abs(expected.means) + np.sqrt(expected.scatters / n)
    allowed = {
        "means": STORED_MOMENTS * size,
        "scatters": STORED_MOMENTS * (expected.scatters + n * (STORED_MOMENTS * size) ** 2),
    }
    for part, most in allowed.items():
        mine, other = getattr(found, part), getattr(expected, part)
        wrong = np.flatnonzero(np.abs(mine - other) > most)
        if wrong.size:
            a = int(wrong[0])
            raise changed(name, f"{rule}, with {part} {other[a]:.10g} for action {a}", mine[a])


def check_variances_learnt(stored: Floats, learnt: Floats) -> None:
    """Refuse variances that the explored rewards do not give."""
    rule = "be those that the explored rewards give"
    check_close("variances", stored, learnt, STORED_VARIANCES, rule)


def check_targets(targets: Floats, direction: Floats) -> None:
    r"""Refuse targets :math:`\sqrt{\omega_k} c_k` that do not have the direction as their mean.

    The direction is :math:`\sum_k \omega_k c_k`: it combines the targets with coefficients at least
    0, whose squares sum to 1. If the targets are dependent, several combinations do; the shortest
    one must then have squares that sum to at most 1.
    """
    scale = np.maximum(np.abs(targets).max(axis=1), np.abs(direction))
    used = scale > 0
    rows, goal = targets[used] / scale[used, None], direction[used] / scale[used]
    roots, _, rank, _ = np.linalg.lstsq(rows, goal, rcond=None)
    total = float(roots @ roots)
    fits = np.all(np.abs(rows @ roots - goal) <= STORED_DIRECTION) and total <= 1 + STORED_DIRECTION
    if fits and rank == targets.shape[1]:
        fits = total >= 1 - STORED_DIRECTION and np.all(roots >= -STORED_DIRECTION)
    if not fits:
        raise ValueError("targets: must have the direction as their weighted mean")


def check_money(in_money: bool, setting: Any) -> None:
    """Refuse costs in a budget of tries, and a budget of money without costs."""
    limits = setting.limits
    if limits is None and in_money:
        raise changed("budget in money", "be false where no costs are", in_money)
    if not in_money and limits is not None and limits.priced:
        raise changed("budget in money", "be true where a cost is not 1", in_money)
    if not in_money and setting.revalued:
        raise changed("revalued", "be 0 where the budget is in tries", setting.revalued)


def check_books(
    asked: Counts, made: Counts, off: Counts, came: Rewards, fresh: Rewards, trial: Any
) -> None:
    """Refuse books of an experiment that do not fit each other, or its trial."""
    check_at_most(MADE, made, "asked", asked)
    earlier, before = asked - made, trial._made_earlier()
    if isinstance(before, np.ndarray):
        check_at_most("made", before, "asked", earlier)
        wrong = np.flatnonzero(before != earlier)
        if wrong.size:
            a = int(wrong[0])
            rule = f"be {earlier[a]} for action {a}, the tries before those {MADE!r}"
            raise changed("made", rule, before[a])
    elif before is not None and before != earlier.sum():
        rule = f"be {before} tries more than {MADE!r}, as the trial has decided by so many"
        raise changed("asked", rule, int(earlier.sum()))
    check_at_most(MADE, made, "tries of this phase", trial.asked)
    check_at_most(FRESH, fresh.counts, "came", came.counts)
    taken, history = trial._taken(), trial.setting.history
    if taken is not None:
        told = came if history is None else history + came
        rule = f"be the rewards that decided so far, and {FRESH!r}"
        check_same_rewards(
            "came" if history is None else "history and came", told, taken + fresh, rule
        )
    check_at_most(OFF, off, "tries without a reward", np.maximum(asked - came.counts, 0))
    owed = np.maximum(asked - came.counts - off, 0)
    # The decision for a phase writes off what is still owed.
    check_at_most("rewards owed", owed, MADE, made)
