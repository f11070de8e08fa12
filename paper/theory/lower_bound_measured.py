r"""Unavoidable regret: lower bounds that hold, and strategies for comparison.

These bounds replace Theorem 2. They come from two bandits with two one-hot actions, a target policy
with equal shares, Gaussian noise, and the variances :math:`(1, 1)` and :math:`(1, s^2)`.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from speedlib.checks import Counts, Flags, Floats, check_features, check_variances
from speedlib.covariance import estimate_covariance
from speedlib.designs import optimal_design
from speedlib.exploration import identifiable_design
from speedlib.identification import quadratic_coordinates
from speedlib.rewards import Rewards
from speedlib.rounding import efficient_counts
from speedlib.solvers.batch import pe_designs

#: The two bandits are this many standard errors apart, which makes the bound largest.
DISTANCE = 2 * math.sqrt(2) / 3
#: Variances estimated in a pilot are kept above this share of the mean squared residual.
FLOOR = 1e-4
#: Eigenvalues below this share of the largest count as zero.
RANK = 1e-12
#: Actions with a larger share of a design belong to its support.
SHARE = 1e-9


def second_deviation(informed: float) -> float:
    r"""Return s, the second action's standard deviation in the second bandit.

    .. math:: s = 1 + \frac{2\sqrt2}{3\sqrt m}

    with m the number of rounds on which the choice of the design may rest.
    """
    return 1 + DISTANCE / math.sqrt(informed)


def allocation_bound(rounds: float, informed: float) -> float:
    r"""Return a lower bound for the larger :math:`R'_n` of the two bandits.

    .. math:: \frac{t^2(1-t/\sqrt2)}{4\,(2+t/\sqrt m)^2}\cdot\frac1{n\,m}, \qquad t = 2\sqrt2/3

    for n rounds, if the choice of the design may rest on m of them. The bound is at least
    :math:`1/(117\,nm)`, and about :math:`1/(54\,nm)` for large m.

    Examples
    --------
    >>> round(1 / allocation_bound(1, 1)), round(1 / allocation_bound(1, 1e12) / 1e12)
    (117, 54)
    """
    t, h = DISTANCE, second_deviation(informed) - 1
    return t**2 * (1 - t / math.sqrt(2)) / (4 * (2 + h) ** 2) / (rounds * informed)


def discard_bound(rounds: float, length: float) -> float:
    r"""Return a lower bound for the larger regret :math:`R_n` if exploration is discarded.

    It is the sum of :math:`\Gamma/n^2`, since :math:`\Gamma` of the n rounds are lost, and
    `allocation_bound` for the design.
    """
    return length / rounds**2 + allocation_bound(rounds, length)


def settling_exponent(gap: float, share: float) -> float:
    r"""Return the best rate at which a pilot learns which of two supports is cheaper.

    .. math:: k = \frac q2(\rho - 1 - \log\rho), \qquad \rho = \frac2{2+g}

    Some actions have variance :math:`2+g`, and at g = 0 the two supports cost the same. A pilot
    gives these actions the share q of its pulls. Then k is q times the divergence of a pull at
    g = 0 from a pull at g > 0. If a pilot of m rounds errs with vanishing probability for g < 0, it
    errs with probability at least :math:`e^{-km-o(m)}` for g > 0. The rate k is at most
    :math:`q g^2/16`.

    Parameters
    ----------
    gap : float
        g, above 0.
    share : float
        q, 0 to 1.

    Examples
    --------
    >>> round(settling_exponent(0.5, 0.5), 6)
    0.005786
    """
    x = gap / 2
    return share / 2 * (math.log1p(x) - x / (1 + x))


class EfficientPrice:
    r"""The cost of estimating the variances with efficient weights, over exploration designs q.

    .. math:: \psi(q) = \tfrac\kappa4\operatorname{Tr}\bigl(K H_q^-\bigr), \qquad
              H_q = \sum_m q_m\widetilde\varphi_m\widetilde\varphi_m^\top, \qquad
              K = \sum_a p_a\widetilde\varphi_a\widetilde\varphi_a^\top - uu^\top, \qquad
              u = \sum_a p_a\widetilde\varphi_a

    with :math:`\widetilde\varphi_a = \operatorname{svec}(x_ax_a^\top)/\sigma_a^2`; infinite if the
    range of K is not in that of :math:`H_q`. It is `speedlib.asymptotics.estimation_cost` with
    weights :math:`1/\sigma^4` in the regression.
    """

    def __init__(self, features: ArrayLike, variances: ArrayLike, kappa: float = 2.0) -> None:
        x = check_features(features)
        v = check_variances(variances, len(x))
        psi = quadratic_coordinates(x) / v[:, None]
        # In coordinates of the span, so missing actions make nothing singular.
        left, size, _ = np.linalg.svd(psi, full_matrices=False)
        self.psi = (left * size)[:, size > 1e-9 * size[0]]
        self.kappa = kappa

    def matrix(self, shares: ArrayLike) -> Floats:
        """Return K for an oracle design."""
        p = np.asarray(shares, dtype=np.float64)
        mean = p @ self.psi
        return np.asarray((self.psi * p[:, None]).T @ self.psi - np.outer(mean, mean))

    def price(self, shares: ArrayLike, exploration: ArrayLike) -> float:
        r"""Return :math:`\psi(q)`: infinite if q does not determine what the shares need."""
        q = np.asarray(exploration, dtype=np.float64)
        values, vectors = np.linalg.eigh((self.psi * q[:, None]).T @ self.psi)
        needed = np.sum(vectors * (self.matrix(shares) @ vectors), axis=0)
        explored = values > RANK * values[-1]
        # The range of K lies in that of H exactly if no part of K lies off it.
        if needed[~explored].sum() > 1e-9 * needed.sum():
            return math.inf
        return float(self.kappa / 4 * np.sum(needed[explored] / values[explored]))

    def best(self, shares: ArrayLike) -> tuple[Floats, float]:
        r"""Return the exploration design of least cost, and a lower bound on all costs."""
        K, ones = self.matrix(shares), np.ones(len(self.psi))
        values, vectors = np.linalg.eigh(K)
        if values[-2:-1].sum() <= 1e-9 * values[-1]:  # rank one: a problem in one direction
            direction = np.sqrt(values[-1]) * vectors[:, -1]
            design = optimal_design(self.psi, ones, "PE", direction=direction)
        else:
            design = optimal_design(self.psi, ones, "linear", matrix=K)
        return design.weights, self.kappa / 4 * design.value * design.efficiency_bound


def topped_up_regret(
    features: ArrayLike,
    variances: ArrayLike,
    direction: ArrayLike,
    rounds: int,
    pilot: int,
    replications: int,
    rng: np.random.Generator,
) -> tuple[float, float]:
    r"""Return the regret of a strategy that keeps what it explored, and its standard error.

    1. A pilot of some rounds by the identifiable design finds the optimal support, w, and shares.
    2. Each action of the support gets half of its share of the budget.
    3. Its standard deviation is estimated again, from its own rewards, and the rest of the budget
       tops up towards the shares :math:`\propto|w|\hat\sigma`.

    The value is estimated by :math:`\sum_a w_a\bar r_a` over all rewards of the support. Variances
    are estimated from scatters about the means of actions, which are independent of the means for
    Gaussian noise; given the scatters the error is therefore :math:`\sum_a w_a^2\sigma_a^2/T_a`.

    Parameters
    ----------
    features : array, shape (A, d)
    variances : array, shape (A,)
        The true ones; the strategy sees draws only.
    direction : array, shape (d,)
        The target direction c.
    rounds, pilot, replications : int
    rng : numpy.random.Generator
    """
    x = check_features(features)
    v, c = check_variances(variances, len(x)), np.asarray(direction, dtype=np.float64)
    first, scatter, shares = _piloted(x, v, c, pilot, replications, rng)
    support = shares > SHARE
    w = _combinations(x, support, c)
    half = np.where(support, np.maximum(np.floor(rounds / 2 * shares), first), first)
    scatter = scatter + v * 2 * rng.standard_gamma(np.maximum(half - np.maximum(first, 1), 0) / 2)
    sigma = np.sqrt(scatter / np.maximum(half - 1, 1))
    wanted = np.abs(w) * sigma
    used = np.where(support, 0, half).sum(axis=1, keepdims=True)
    wanted = wanted / wanted.sum(axis=1, keepdims=True) * (rounds - used)
    missing = np.where(support, np.maximum(wanted - half, 0), 0)
    left = rounds - half.sum(axis=1, keepdims=True)
    more = np.floor(left * missing / np.maximum(missing.sum(axis=1, keepdims=True), 1e-12))
    # The rounds left by rounding down are given to the action that lacks most.
    most = missing.argmax(axis=1)[:, None]
    spare = left - more.sum(axis=1, keepdims=True)
    np.put_along_axis(more, most, np.take_along_axis(more, most, axis=1) + spare, axis=1)
    pulls = half + more
    errors = np.sum(np.where(support, w**2 * v / np.maximum(pulls, 1), 0), axis=1)
    regret = errors - optimal_design(x, v, direction=c).value / rounds
    return float(regret.mean()), float(regret.std(ddof=1) / math.sqrt(replications))


def wrong_supports(
    features: ArrayLike,
    variances: ArrayLike,
    direction: ArrayLike,
    pilot: int,
    replications: int,
    rng: np.random.Generator,
) -> float:
    """Return the share of pilots that settle on a support that is not optimal.

    The pilots and the parameters are the same as in `topped_up_regret`.
    """
    x = check_features(features)
    v, c = check_variances(variances, len(x)), np.asarray(direction, dtype=np.float64)
    _, _, shares = _piloted(x, v, c, pilot, replications, rng)
    best = optimal_design(x, v, direction=c).weights
    return float(np.mean(np.any((shares > SHARE) != (best > SHARE), axis=1)))


def _piloted(
    x: Floats, v: Floats, c: Floats, pilot: int, replications: int, rng: np.random.Generator
) -> tuple[Counts, Floats, Floats]:
    """Draw pilots: their pulls, (A,), their scatters and the designs they lead to, (R, A)."""
    first = efficient_counts(identifiable_design(x), pilot)
    freedom = np.maximum(first - 1, 0)
    scatter = v * 2 * rng.standard_gamma(freedom / 2, (replications, len(x)))
    return first, scatter, pe_designs(x, _fitted(x, scatter, first), c).weights


def _fitted(x: Floats, scatter: Floats, counts: Counts) -> Floats:
    """Fit a positive semidefinite covariance to the scatters of explored actions; shape (R, A)."""
    unbiased = scatter * counts / np.maximum(counts - 1, 1)
    rewards = Rewards(np.broadcast_to(counts, scatter.shape), np.zeros(scatter.shape), unbiased)
    return estimate_covariance(rewards, x, "psd").floored(FLOOR)


def _combinations(x: Floats, support: Flags, c: Floats) -> Floats:
    """Return for each row of supports the w on it with sum of w x equal to c."""
    w = np.zeros(support.shape)
    for pattern in np.unique(support, axis=0):
        rows = np.all(support == pattern, axis=1)
        w[np.ix_(rows, pattern)] = np.linalg.lstsq(x[pattern].T, c, rcond=None)[0]
    return w
