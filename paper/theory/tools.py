"""The inequalities that the paper quotes from the literature, as functions of their numbers."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray


def sub_exponential_tail(deviation: ArrayLike, nu: float, alpha: float) -> NDArray[np.float64]:
    r"""Bound on :math:`P(X \ge \mu + t)` for a sub-exponential variable.

    If :math:`E e^{\lambda(X - \mu)} \le e^{\nu^2\lambda^2/2}` for :math:`|\lambda| < 1/\alpha`, the
    probability is at most :math:`\exp(-\tfrac12\min(t/\alpha, t^2/\nu^2))`, for deviations t that
    are not negative and positive parameters.

    References
    ----------
    The paper, Appendix A.2; M. Wainwright, "High-Dimensional Statistics" (2019), Proposition 2.9.

    Examples
    --------
    >>> sub_exponential_tail([0.0, 2.0], nu=2.0, alpha=4.0).round(3)
    array([1.   , 0.779])
    """
    t = np.asarray(deviation, dtype=float)
    return np.asarray(np.exp(-np.minimum(t / alpha, (t / nu) ** 2) / 2))


def least_squares_level(rank: ArrayLike, delta: ArrayLike) -> NDArray[np.float64]:
    r"""Return the level of the sum of squared prediction errors, :math:`r + \log(1/\delta)`.

    The design has rank r, and the unit is :math:`\sigma^2`. With probability at least
    :math:`1-\delta`, the sum is at most a constant times this level.

    References
    ----------
    The paper, Appendix A.2; P. Rigollet and J.-C. Hütter, "High-Dimensional Statistics" (lecture
    notes, 2015), Theorem 2.2.
    """
    return np.asarray(np.asarray(rank, dtype=float) + np.log(1 / np.asarray(delta, dtype=float)))


def gaussian_divergence(mean: float, variance: float, mean2: float, variance2: float) -> float:
    r"""Kullback–Leibler divergence of two normal laws, :math:`KL(N(m, v) \| N(m', v'))`.

    It is :math:`\tfrac12\bigl(\log\frac{v'}{v} + \frac{v + (m - m')^2}{v'} - 1\bigr)`.

    Examples
    --------
    >>> gaussian_divergence(0.0, 1.0, 1.0, 1.0)
    0.5
    """
    return 0.5 * (math.log(variance2 / variance) + (variance + (mean - mean2) ** 2) / variance2 - 1)


def printed_divergence(mean: float, mean2: float) -> float:
    r"""Divergence of one pull in the printed decomposition, which sets both variances to one.

    References
    ----------
    The paper, Appendix C, restatement of Lemma 15.1 of Lattimore and Szepesvári.
    """
    return gaussian_divergence(mean, 1.0, mean2, 1.0)


def event_bound(divergence: ArrayLike) -> NDArray[np.float64]:
    r"""Lower bound :math:`\tfrac12 e^{-KL(P\|Q)}` on :math:`P(\xi) + Q(\xi^c)`, for every event.

    References
    ----------
    The paper, Appendix C; A. Tsybakov, "Introduction to Nonparametric Estimation" (2009), Lemma
    2.6; J. Bretagnolle and C. Huber, Z. Wahrscheinlichkeitstheorie 47 (1979).

    Examples
    --------
    >>> event_bound(0.0)
    array(0.5)
    """
    return np.asarray(np.exp(-np.asarray(divergence, dtype=float)) / 2)
