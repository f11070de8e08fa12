r"""Booking, a rule that turns planned shares into pulls, and the strategy booked optimism.

In every round, shares of one pull are booked to the actions, :math:`q_t(a) \ge 0` with
:math:`\sum_a q_t(a) = 1`. Then one action is pulled: the action for which bookings so far minus
pulls so far is largest. The rule is known as C-tracking and as the greedy rule of the cup game. The
bookings are arbitrary; even an adversary who sees the pulls may choose them.

`play` is the reference for the strategy that the library runs in batches. It books and pulls round
by round, as in the theorem on booked optimism, and keeps the quantities of the proof.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from speedlib.checks import Counts, Floats


def lead_bound(actions: int, largest: int = 1) -> float:
    r"""Return :math:`\mu_k = \sum_{j=k+1}^A 1/j`, which bounds the mean of the k largest leads.

    A lead is the number of pulls booked to an action minus its actual pulls.

    Examples
    --------
    >>> round(lead_bound(3), 4), lead_bound(3, 3)
    (0.8333, 0)
    """
    return sum(1 / j for j in range(largest + 1, actions + 1))


def leads(bookings: Floats) -> Floats:
    """Return bookings minus pulls after each pull by the greedy rule, shape (rounds, A).

    Parameters
    ----------
    bookings : array, shape (rounds, A)
        Rows of shares.
    """
    height = np.zeros(bookings.shape[1])
    found = np.empty_like(bookings)
    for t, q in enumerate(bookings):
        height = height + q
        height[int(np.argmax(height))] -= 1
        found[t] = height
    return found


def last_one_standing(actions: int) -> Floats:
    """Return the bookings that raise one lead to the bound, shape (A - 1, A).

    Each round is booked evenly to the actions that have not been pulled yet. If ties go to the
    first action, the last action remains.

    Examples
    --------
    >>> leads(last_one_standing(3))[-1].round(4).tolist()
    [-0.6667, -0.1667, 0.8333]
    """
    rows = np.zeros((actions - 1, actions))
    for t in range(actions - 1):
        rows[t, t:] = 1 / (actions - t)
    return rows


@dataclass(frozen=True, eq=False)
class Played:
    r"""A run with the quantities of the proof; leads and errors are extremes over all rounds.

    Parameters
    ----------
    pulls, bookings : array, shape (A,)
        :math:`T_a`, those of the first stage among them, and :math:`B_a`.
    coefficients : array, shape (A,)
        :math:`k_a`.
    variance : float
        :math:`V = \sum_a k_a^2\sigma_a^2/T_a`.
    shares_bound : float
        The right-hand side of the inequality that bounds V by costs and shares.
    largest_lead : float
        The largest of bookings minus pulls of the later rounds.
    least_count : float
        The smallest of :math:`T_a(t) - 1 - B_a(t - 1) - 1`.
    optimism, product : float
        The largest :math:`\eta_t/\sum_aq_tz_a`, and the largest of the product over
        :math:`1+\frac94\sum_ap_te_a^2`.
    good : bool
        Whether all errors stayed within their bounds.
    """

    pulls: Counts
    bookings: Floats
    coefficients: Floats
    variance: float
    shares_bound: float
    largest_lead: float
    least_count: float
    optimism: float
    product: float
    good: bool


def play(
    corners: Floats,
    variances: Floats,
    rounds: int,
    first_pulls: int,
    rng: np.random.Generator,
) -> Played:
    r"""Play booked optimism once, one pull after the other.

    The decisions depend on scatters only, so only scatters are drawn: the scatter of T rewards of
    an action is :math:`\sigma_a^2` times a sum of T - 1 squares of standard normal numbers, one
    more with each reward.

    Parameters
    ----------
    corners : array, shape (K, A)
        The vertices. Every action must occur in one of them.
    variances : array, shape (A,)
        :math:`\sigma_a^2`.
    rounds : int
        n.
    first_pulls : int
        :math:`t_0`.
    rng : numpy.random.Generator

    Raises
    ------
    ValueError
        If the first stage uses all n rounds or more.
    """
    n_actions, ell = len(variances), math.log(rounds)
    later = rounds - n_actions * first_pulls
    if later < 1:
        raise ValueError(
            f"rounds: the first stage takes {n_actions * first_pulls} rounds; got {rounds}"
        )
    deviations, sizes = np.sqrt(variances), np.abs(corners)
    best = float((sizes @ deviations).min())
    scatters = variances * rng.chisquare(first_pulls - 1, n_actions)
    pulls = np.full(n_actions, first_pulls)
    booked, summed = np.zeros(n_actions), np.zeros(n_actions)
    bound, lead, least, optimism, product, good = 0.0, 0.0, math.inf, 0.0, 0.0, True
    squares = variances[:, None] * rng.chisquare(1, (n_actions, later))
    for _ in range(later):
        least = min(least, float((pulls - 1 - booked - 1).min()))
        estimated = np.sqrt(scatters / (pulls - 1))
        z = np.sqrt(3 * ell / (pulls - 1))
        chosen = int(np.argmin(sizes @ (estimated / (1 + math.sqrt(2) * z))))
        share = sizes[chosen] * estimated
        q = share / share.sum()
        cost = float(sizes[chosen] @ deviations)
        p, e = sizes[chosen] * deviations / cost, estimated / deviations - 1
        both = float((p @ (1 + e)) * (p @ (1 / (1 + e))))
        bound += cost**2 * both
        optimism = max(optimism, (cost / best - 1) / float(q @ z))
        product = max(product, both / float(1 + 9 / 4 * p @ e**2))
        good = good and bool(np.all((e >= -4 / 3 * z) & (e <= math.sqrt(2) * z)))
        booked, summed = booked + q, summed + corners[chosen]
        a = int(np.argmax(booked - (pulls - first_pulls)))
        scatters[a] += squares[a, pulls[a] - first_pulls]
        pulls[a] += 1
        lead = max(lead, float((booked - (pulls - first_pulls)).max()))
    k = summed / later
    return Played(
        pulls=pulls,
        bookings=booked,
        coefficients=k,
        variance=float(np.sum(k**2 * variances / pulls)),
        shares_bound=bound / later**2,
        largest_lead=lead,
        least_count=least,
        optimism=optimism,
        product=product,
        good=good,
    )
