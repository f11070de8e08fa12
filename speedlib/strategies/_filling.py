"""Whole pulls that follow real targets: two ways to fill up, for many replications at once."""

from __future__ import annotations

import numpy as np

from speedlib.checks import Counts, Floats

__all__ = ["level_excess", "top_up"]


def level_excess(excess: Floats, pulls: Counts) -> Counts:
    r"""Pull the action of largest excess, again and again; each pull lowers an excess by 1.

    Among all ways to make m pulls this leaves the excesses :math:`u_a = V_a - y_a` as level as can
    be: for every k, the sum of the k largest is the least.

    *Why.* Number the pulls of an action from 0 and give the j-th the key :math:`V_a - j`, the
    excess that it finds. The rule makes the m pulls of largest key. Take a convex function f. A
    pull of key v lowers :math:`\sum_a f(u_a)` by :math:`f(v) - f(v-1)`, which does not fall as v
    rises, so no other m pulls lower the sum more. For :math:`f(u) = \max(u - s, 0)` this holds at
    every s, and the sum of the k largest is the least value of :math:`ks + \sum_a \max(u_a - s, 0)`
    over s.

    Parameters
    ----------
    excess : array, shape (R, A)
        :math:`V`, before the pulls.
    pulls : array of int, shape (R,)
        :math:`m`.

    Returns
    -------
    array of int, shape (R, A)
        :math:`y`; rows sum to m. Of actions with equal excess, the first is pulled first.

    Notes
    -----
    If L is the level at which :math:`\sum_a (V_a - L)^+ = m`, the number of keys of at least L + 1
    is :math:`\sum_a \lfloor V_a - L\rfloor^+ \le m`, so all these keys are among the m largest.
    Fewer than A pulls are left, and these are made one by one.
    """
    level = _level(excess, pulls)
    counts = np.floor(np.maximum(excess - level[:, None], 0.0))
    missing = pulls - counts.sum(axis=1)
    # Rounding of large numbers may have taken one too many.
    while np.any(missing < 0):
        row = np.flatnonzero(missing < 0)
        rest = np.where(counts[row] > 0, excess[row] - counts[row], np.inf)
        counts[row, rest.argmin(axis=1)] -= 1
        missing[row] += 1
    while np.any(missing > 0):
        row = np.flatnonzero(missing > 0)
        counts[row, (excess[row] - counts[row]).argmax(axis=1)] += 1
        missing[row] -= 1
    return counts.astype(np.int64)


def _level(excess: Floats, pulls: Counts) -> Floats:
    """Return L with sum max(V - L, 0) = m for each row."""
    falling = -np.sort(-excess, axis=1)
    sizes = np.arange(1, excess.shape[1] + 1)
    levels = (np.cumsum(falling, axis=1) - pulls[:, None]) / sizes
    # The level of the k largest holds for the last k whose smallest member stands above it.
    above = falling >= levels
    last = excess.shape[1] - 1 - np.argmax(above[:, ::-1], axis=1)
    return np.asarray(np.take_along_axis(levels, last[:, None], axis=1)[:, 0])


def top_up(spent: Counts, shares: Floats, total: int) -> Counts:
    r"""Return the pulls that bring counts as close to shares of a total as earlier pulls allow.

    The counts become :math:`\max(T_a, \lambda p_a)`, with :math:`\lambda` such that they sum to the
    total, rounded down; the largest remainders get the rounds that are left. These counts minimise
    :math:`\sum_a p_a^2 / T_a`, up to rounding.

    Parameters
    ----------
    spent : array of int, shape (R, A)
        :math:`T`; rows sum to at most the total.
    shares : array, shape (R, A)
        :math:`p`: at least 0, with a positive sum.
    total : int

    Returns
    -------
    array of int, shape (R, A)
        Counts minus :math:`T`; each row sums to the total minus the sum of its :math:`T`.
    """
    counts = spent.astype(np.float64)
    positive = shares > 0
    ratio = np.where(positive, counts / np.where(positive, shares, 1.0), np.inf)
    order = ratio.argsort(axis=1, kind="stable")
    rising = np.take_along_axis(ratio, order, axis=1)
    share = np.take_along_axis(shares, order, axis=1).cumsum(axis=1)
    count = np.take_along_axis(counts, order, axis=1).cumsum(axis=1)
    left = (total - counts.sum(axis=1))[:, None]
    levels = (left + count) / share
    # With the k lowest filled to one level, the last k whose highest member stood below it.
    below = rising <= levels
    last = below.shape[1] - 1 - np.argmax(below[:, ::-1], axis=1)
    level = np.take_along_axis(levels, last[:, None], axis=1)
    wanted = np.maximum(level * shares - counts, 0.0)
    pulls = np.floor(wanted)
    rest = np.where(positive, wanted - pulls, -np.inf)
    missing = left[:, 0] - pulls.sum(axis=1)
    for row in np.flatnonzero(missing < 0):  # rounding of large numbers
        pulls[row, pulls[row].argmax()] += missing[row]
    while np.any(missing > 0):
        some = np.flatnonzero(missing > 0)
        best = rest[some].argmax(axis=1)
        pulls[some, best] += 1
        rest[some, best] -= 1
        missing[some] -= 1
    return pulls.astype(np.int64)
