r"""Bandits whose optimal support does not depend on the variances: in the plane or independent.

The statements are not in the paper. If the support and the weights w on it are known, only the
shares of its actions have to be learned. `next_directions` finds support and weights in the plane.
`KnownPair` holds the parts of the lower bound of order :math:`n^{-2}`. `staged_constant` and
`short_pilot_limit` are limits for strategies in stages; `local_bound` and `local_risk` are lower
bounds near a bandit. Functions of shares take floats or fractions and return the same type, unless
they integrate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import quad
from scipy.stats import chi2, f

from speedlib.checks import check_direction, check_features

Floats = NDArray[np.float64]
Number = TypeVar("Number", float, Fraction)

#: Directions at a smaller angle than this, in radians, count as the same.
PARALLEL = 1e-12
#: The proved bound is rho^2 / (this n^2).
CONSTANT = 160
#: Of the lower bound: the sum of the two excesses is at least rho^2 h^2 / this.
SUM = 20
#: The share of the third direction that separates its two cases.
FEW = Fraction(1, 64)
#: In place of a divisor that underflows, where the quotient has no weight.
TINY = 1e-300


def next_directions(features: ArrayLike, direction: ArrayLike) -> Floats:
    r"""Return the weights of the two directions next to c, shape (A,): :math:`\sum_aw_ax_a=c`.

    In the plane they attain :math:`\min\sum_a|w_a|\sigma_a` for every :math:`\Sigma\succ0`. All
    lines through the actions are sorted by their angle from c, counter-clockwise, from 0 to
    :math:`\pi`; the first and the last are next to c. Of parallel actions the first is taken. If an
    action is parallel to c, it is the only one.

    Parameters
    ----------
    features : array, shape (A, 2)
        Not all parallel, unless to c.
    direction : array, shape (2,)
        c, not zero.

    Raises
    ------
    ValueError
        If an argument breaks its rule, features are not in the plane, or c is not in their span.

    Examples
    --------
    >>> next_directions([[1, 0], [0, 1], [1, -1]], [2, 1])
    array([2., 1., 0.])
    """
    x = check_features(features)
    if x.shape[1] != 2:
        raise ValueError(f"features: must be in the plane; got dimension {x.shape[1]}")
    c = check_direction(direction, 2)
    used = np.flatnonzero(np.any(x != 0, axis=1))
    along, across = x[used] @ c, c[0] * x[used, 1] - c[1] * x[used, 0]
    angle = np.arctan2(across, along) % math.pi
    angle[angle > math.pi - PARALLEL] -= math.pi
    w = np.zeros(len(x))
    parallel = np.abs(angle) <= PARALLEL
    if parallel.any():
        a = used[parallel.argmax()]
        w[a] = (x[a] @ c) / (x[a] @ x[a])
        return w
    pair = [used[angle.argmin()], used[angle.argmax()]]
    if np.ptp(angle) <= PARALLEL:
        raise ValueError("direction: must lie in the span of the features")
    w[pair] = np.linalg.solve(x[pair].T, c)
    return w


@dataclass(frozen=True)
class KnownPair:
    r"""The two bandits of the lower bound, for n rounds.

    Actions :math:`e_1, e_2, (1,-1), (-1,1)`, :math:`\Sigma=\operatorname{diag}(1, s^2)` with s = 1
    or :math:`s = 1 + h`, :math:`h = 1/\sqrt{2n}`, and :math:`c = \frac\rho2(1, 1)`. A design has
    the shares :math:`b_1, b_2` and :math:`\beta`, which sum to 1. What follows is for
    :math:`\rho=1`; all of it is proportional to :math:`\rho^2`.

    Parameters
    ----------
    rounds : int
        n, at least 1.
    """

    rounds: int

    @property
    def h(self) -> float:
        r"""The difference of the two deviations of :math:`e_2`: :math:`1/\sqrt{2n}`."""
        return 1 / math.sqrt(2 * self.rounds)

    @property
    def bound(self) -> float:
        r"""The larger :math:`R'_n`, and :math:`\sup_\theta R_n`, is at least this times rho^2."""
        return 1 / (CONSTANT * self.rounds**2)

    def variances(self, second: bool) -> Floats:
        """Return the variances of the four actions in the first or the second bandit."""
        s = 1 + self.h * second
        return np.array([1.0, s**2, 1 + s**2, 1 + s**2])

    @property
    def total_variation(self) -> float:
        """Distance of the laws of n rewards of :math:`e_2` in the two bandits, exactly."""
        return total_variation(1 + self.h, self.rounds)


def total_variation(s: float, rounds: int) -> float:
    r"""Return the distance of two laws of n Gaussian rewards, with deviations 1 and s > 1.

    Their likelihood ratio rises with the sum of squares, and is one at
    :math:`t = 2ns^2\log s/(s^2-1)`. So it is :math:`F(t) - F(t/s^2)` with F the distribution
    function of chi-square with n degrees of freedom.
    """
    t = 2 * rounds * s**2 * math.log(s) / (s**2 - 1)
    return float(chi2.cdf(t, rounds) - chi2.cdf(t / s**2, rounds))


#: Features of the two bandits.
PAIR_FEATURES = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, -1.0], [-1.0, 1.0]])


def pair_policy(rho: float) -> Floats:
    r"""Return the target policy, which gives :math:`e_1` and :math:`e_2` rho / 2 each."""
    return np.array([rho, rho, 1 - rho, 1 - rho]) / 2


def merged_share(first: Number, beta: Number, s: Number) -> Number:
    r"""Return :math:`b'_1 = b_1 + \beta/(1+s^2)`."""
    return first + beta / (1 + s * s)


def coupling(beta: Number, s: Number) -> Number:
    r"""Return :math:`q = \beta s/(1+s^2)`; for s >= 1, sq is at least :math:`\frac12\beta`."""
    return beta * s / (1 + s * s)


def pair_excess(first: Number, beta: Number, s: Number) -> Number:
    r"""Return :math:`nL_n(b) - S^2` for rho = 1, with the inverse of the 2 by 2 matrix in full.

    .. math:: \frac14\Bigl(\frac{b'_2 + 2sq + s^2b'_1}{b'_1b'_2 - q^2} - (1+s)^2\Bigr)

    The design must determine the value: at least two of the three shares are positive.
    """
    one, q = merged_share(first, beta, s), coupling(beta, s)
    two = 1 - one
    return ((two + 2 * s * q + s * s * one) / (one * two - q * q) - (1 + s) ** 2) / 4


def least_pair_excess(first: Number, beta: Number, s: Number) -> Number:
    r"""Return the bound :math:`4(b'_1-\frac1{1+s})^2 + \beta` on `pair_excess`, for s >= 1."""
    return 4 * (merged_share(first, beta, s) - 1 / (1 + s)) ** 2 + beta


def target_gap(h: Number) -> Number:
    r"""Return :math:`\frac12-\frac1{2+h}`, the difference of the two oracles' shares."""
    return h / (2 * (2 + h))


def share_gap(beta: Number, h: Number) -> Number:
    r"""Return the difference of a design's :math:`b'_1` between the two bandits."""
    return beta * h * (2 + h) / (2 * (1 + (1 + h) ** 2))


def divergence(ratio: float) -> float:
    r"""Return KL of two Gaussian laws with equal means; `ratio` is second over first variance.

    .. math:: \tfrac12\bigl(\log v + \tfrac1v - 1\bigr)
    """
    more = ratio - 1
    return (math.log1p(more) - more / ratio) / 2


def pull_divergences(h: float) -> tuple[float, float, float]:
    r"""Return KL of one pull of :math:`e_1`, of :math:`e_2` and of :math:`(1,-1)`."""
    return 0.0, divergence((1 + h) ** 2), divergence(1 + h + h * h / 2)


def imbalance(counts: ArrayLike, shares: ArrayLike) -> Floats:
    r"""Return :math:`\sum_a(T_a-np_a)^2/T_a`, which is :math:`n^2/S^2` times the excess of counts.

    Parameters
    ----------
    counts : array, shape (..., r)
        Positive.
    shares : array, shape (r,)
        The oracle's.
    """
    T, p = np.asarray(counts, dtype=float), np.asarray(shares, dtype=float)
    n = T.sum(axis=-1, keepdims=True)
    return np.asarray(((T - n * p) ** 2 / T).sum(axis=-1))


def bayes_loss(
    counts: ArrayLike, features: ArrayLike, variances: ArrayLike, direction: ArrayLike, tau: float
) -> float:
    r"""Return n times the mean squared error of the best estimate under a prior, for fixed counts.

    With :math:`\theta\sim N(0,\tau^2I)` it is
    :math:`n\,c^\top\bigl(\sum_aT_ax_ax_a^\top/\sigma_a^2+I/\tau^2\bigr)^{-1}c`, which rises to
    :math:`nL_n(T/n)` as :math:`\tau\to\infty`.

    Parameters
    ----------
    counts : array, shape (A,)
    features : array, shape (A, d)
    variances : array, shape (A,)
    direction : array, shape (d,)
    tau : float
        Deviation of the prior, positive.
    """
    x, c = np.asarray(features, dtype=float), np.asarray(direction, dtype=float)
    T = np.asarray(counts, dtype=float)
    precision = x.T @ (x * (T / np.asarray(variances))[:, None]) + np.eye(len(c)) / tau**2
    return float(T.sum() * (c @ np.linalg.solve(precision, c)))


def staged_constant(actions: int, last: float = 1.0) -> float:
    r"""Return the limit of :math:`n^2R_n/S^2` with stages: :math:`(r-1)/(2f)`.

    Parameters
    ----------
    actions : int
        r, of the support.
    last : float
        f, the fraction of the budget at which the shares are decided for the last time.
    """
    return (actions - 1) / (2 * last)


def local_bound(shares: Sequence[Number], prior: Number) -> Number:
    r"""Return a lower bound near a bandit on n times the mean of :math:`\sum(b_a-p_a)^2/p_a`.

    .. math:: \sum_a\frac1{p_a}\sum_b\frac{(\partial p_a/\partial\lambda_b)^2}{2p_b+\iota}
              = \sum_ap_a\sum_b\frac{(1_{a=b}-p_b)^2}{2p_b+\iota},

    which is :math:`(r-1)/2` at :math:`\iota = 0`.

    Parameters
    ----------
    shares : sequence of r positive numbers of sum 1
        p.
    prior : number
        :math:`\iota`, the prior's information on :math:`\lambda=\log\sigma`, over n; at least 0.
    """
    total = 0 * prior
    for a, p in enumerate(shares):
        for b, q in enumerate(shares):
            total += p * ((a == b) - q) ** 2 / (2 * q + prior)
    return total


def local_risk(shares: Sequence[float], width: float, rounds: int) -> float:
    r"""Return the quantity in `local_bound`, for two or three actions pulled :math:`np_b` times.

    That is n times the mean of :math:`\sum_a(\hat p_a-p_a)^2/p^\circ_a` for the best estimate of
    the oracle's shares from all scatters, their posterior mean, under the prior of the proof:
    :math:`\log(\sigma_b/\sigma^\circ_b)=Ku_b/\sqrt n` with independent :math:`u_b` of density
    :math:`\cos^2(\frac\pi2u)` on [-1, 1]. By quadrature, in u and in the logarithms of scatters.

    Parameters
    ----------
    shares : sequence of positive numbers of sum 1
        The oracle's shares, where u = 0. Each share times n must be above 1.
    width : float
        K, positive, at most 12.
    rounds : int
        n.
    """
    p, axes = np.asarray(shares, dtype=float), range(len(shares))
    reach = width / math.sqrt(rounds)
    u, step = np.polynomial.legendre.leggauss(64)
    prior = step * np.cos(math.pi * u / 2) ** 2
    node, gap = np.polynomial.legendre.leggauss(96)
    told, seen = [], []
    for k in rounds * p - 1:
        span = 2 * reach + 8 * math.sqrt(2 / k)
        W = k * np.exp(span * node[:, None] - 2 * reach * u)  # scatter over its variance
        law = gap[:, None] * W * chi2.pdf(W, k)
        joint = law / law.sum(axis=0) * prior
        seen.append(joint.sum(axis=1))
        told.append(joint / np.maximum(seen[-1], TINY)[:, None])
    deviations = [
        p[a] * np.exp(reach * u).reshape([-1 if b == a else 1 for b in axes]) for a in axes
    ]
    total = 0.0
    for a in axes:
        found = missed = deviations[a] / sum(deviations) - p[a]
        for posterior in told:  # each round takes the first axis to the end
            found = np.tensordot(found, posterior, axes=(0, 1))
        total += (_mean(missed**2, [prior] * len(p)) - _mean(found**2, seen)) / p[a]
    return rounds * total


def _mean(values: Floats, laws: Sequence[Floats]) -> float:
    """Return the mean of a function of independent coordinates, one axis for each."""
    for law in laws:
        values = np.tensordot(law, values, axes=1)
    return float(values)


def short_pilot_limit(share: float, pilot: int, first: float = 0.5) -> float:
    r"""Return the limit of :math:`nR_n/S^2` for two actions and a pilot of a fixed length.

    The pilot estimates the share of the first action as :math:`\hat p`, with
    :math:`\frac{\hat p}{1-\hat p} = \frac p{1-p}\sqrt F` and F of the law F with k - 1 and k - 1
    degrees of freedom. In the limit the last stage knows p, but has to leave at least
    :math:`f\hat p` to the first action and :math:`f(1-\hat p)` to the other. So the first action
    gets the share t that is nearest to p between :math:`f\hat p` and :math:`1 - f(1-\hat p)`, and
    the price is the mean of :math:`(t-p)^2/(t(1-t))`.

    Parameters
    ----------
    share : float
        p, strictly between 0 and 1.
    pilot : int
        k, pulls of each action, at least 2.
    first : float
        f, the fraction of the budget spent by the pilot's estimate, strictly between 0 and 1.
    """
    law, odds = f(pilot - 1, pilot - 1), share / (1 - share)

    def price(log_F: float) -> float:
        found = odds * math.exp(log_F / 2)
        low = first * found / (1 + found)
        t = min(max(share, low), low + 1 - first)
        F = math.exp(log_F)
        return (t - share) ** 2 / (t * (1 - t)) * float(law.pdf(F)) * F

    # Beyond these ends one action has spent too much; between them the price is 0.
    ends = []
    for told in (share / first, 1 - (1 - share) / first):
        if 0 < told < 1:
            ends.append(2 * math.log(told / (1 - told) / odds))
    total = 0.0
    if share < first:
        total += quad(price, ends[0], ends[0] + 60, limit=200)[0]
    if 1 - share < first:
        total += quad(price, ends[-1] - 60, ends[-1], limit=200)[0]
    return total
