"""Standard deviations from scatters: also where rewards do not differ."""

from __future__ import annotations

import numpy as np

from speedlib._tolerances import LEAST_SCATTER
from speedlib.checks import Counts, Floats

__all__ = ["deviations"]


def deviations(scatters: Floats, counts: Counts) -> Floats:
    r"""Return standard deviations :math:`\sqrt{S/(T-1)}` in units of the largest, shape (R, K).

    Only the ratios of deviations matter. T rewards without scatter, or with only rounding errors (a
    share of `LEAST_SCATTER` of the largest scatter), do not show that there is no noise: a value
    that comes once in T rewards on average is missing from T rewards with a probability of about a
    third. Their deviation is taken to be the share :math:`1/\sqrt T` of the largest, as if such a
    value came once in T rewards and lay one largest deviation off. If no rewards differ, all
    deviations count as equal.

    *Why that much.* Let a value have the chance q and lie D off. It may stay unseen in T rewards
    while qT is of the order of 1, and the variance is then about :math:`D^2/T`. With less, say a
    share of 1/T for the deviation, n rounds would pull the action about :math:`\sqrt n` times. A
    chance of :math:`1/\sqrt n` could stay unseen and would add :math:`D^2 n^{-1/2} / \sqrt n =
    D^2/n` to the error, as much as all the rest. With :math:`1/\sqrt T` there are about
    :math:`n^{2/3}` pulls, and what stays unseen adds :math:`D^2 n^{-4/3}`. Where there is truly no
    noise, these pulls raise the error by a share of the order :math:`n^{-1/3}`.
    """
    found = np.sqrt(scatters / (counts - 1))
    largest = found.max(axis=1, keepdims=True)
    some = largest > 0
    shares = found / np.where(some, largest, 1.0)
    alike = some & (shares <= LEAST_SCATTER)
    return np.where(alike, 1 / np.sqrt(counts), np.maximum(shares, LEAST_SCATTER))
