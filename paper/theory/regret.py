r"""The regret of SPEED: bounds as printed, and as corrected.

Places: Theorem 1 and its discussion (files regret.tex, theorem1.tex), the remark on B* after its
proof. Unless stated otherwise, quantities are in units of the loss itself, not of n times the loss.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar
from scipy.special import ndtr

from paper.theory.concentration import limit_covariance, printed_additive_budget
from speedlib.checks import Floats, check_direction, check_features, check_variances

#: Determinants below this share of the largest one belong to dependent actions.
BASIS_TOLERANCE = 1e-9


def leading_regret(value: float, cost: float, rounds: ArrayLike, length: ArrayLike) -> Floats:
    r"""Return :math:`S^2(\Gamma/n^2 + \psi/(n\Gamma))`, the regret to first order.

    The value is :math:`S^2 = nL_n^*`, the cost :math:`\psi` that of
    `speedlib.asymptotics.estimation_cost`; rounds n and length :math:`\Gamma` may be arrays.
    """
    n, g = np.asarray(rounds, dtype=np.float64), np.asarray(length, dtype=np.float64)
    return np.asarray(value * (g / n**2 + cost / (n * g)))


def allocation_penalty(shares: ArrayLike, errors: ArrayLike) -> Floats:
    r"""Return the factor by which wrong standard deviations raise the loss on the right support.

    .. math:: \Bigl(\sum_a \frac{p_a}{1+e_a}\Bigr)\Bigl(\sum_a p_a(1+e_a)\Bigr)
              = 1 + \operatorname{Var}_p(e) + O(e^3)

    Parameters
    ----------
    shares : array, shape (A,)
        The oracle design p.
    errors : array, shape (..., A)
        Relative errors e of the standard deviations, above -1.
    """
    p, e = np.asarray(shares, dtype=np.float64), np.asarray(errors, dtype=np.float64)
    return np.asarray((p / (1 + e)).sum(axis=-1) * (p * (1 + e)).sum(axis=-1))


def vertices(features: ArrayLike, direction: ArrayLike) -> Floats:
    r"""Return all basic solutions w of :math:`\sum_a w_a x(a) = c`, shape (V, A).

    Every PE-optimal design is :math:`b\propto|w|\sigma` for one of them. The function tries all
    sets of d actions, so it is meant for small examples.
    """
    x = check_features(features)
    c = check_direction(direction, x.shape[1])
    sets = [list(s) for s in combinations(range(len(x)), x.shape[1])]
    sizes = np.abs([np.linalg.det(x[s]) for s in sets])
    found = np.zeros((len(sets), len(x)))
    for w, chosen, size in zip(found, sets, sizes, strict=True):
        if size > BASIS_TOLERANCE * sizes.max():
            w[chosen] = np.linalg.solve(x[chosen].T, c)
    found = found[sizes > BASIS_TOLERANCE * sizes.max()]
    return np.asarray(np.unique(found.round(12), axis=0))


class Rival(NamedTuple):
    r"""The best vertex and the runner-up.

    `best` is S, the cost :math:`\sum_a|w_a|\sigma_a` of the best vertex; `gap` is D, the additional
    cost of the runner-up; `spread` is the standard deviation :math:`\tau` of :math:`\sqrt\Gamma`
    times the error of the estimated gap.
    """

    best: float
    gap: float
    spread: float

    def expected_excess(self, length: ArrayLike) -> Floats:
        r"""Return n times the mean loss from picking the wrong vertex.

        .. math:: \bigl((S+D)^2 - S^2\bigr)\,\Phi\bigl(-D\sqrt\Gamma/\tau\bigr)
        """
        chance = ndtr(-self.gap * np.sqrt(np.asarray(length)) / self.spread)
        return np.asarray(((self.best + self.gap) ** 2 - self.best**2) * chance)


def rival(
    features: ArrayLike,
    variances: ArrayLike,
    direction: ArrayLike,
    exploration: ArrayLike,
    kappa: float = 2.0,
) -> Rival:
    """Compare the two cheapest vertices; see `Rival`."""
    x = check_features(features)
    sigma = np.sqrt(check_variances(variances, len(x)))
    w = np.abs(vertices(x, direction))
    first, second = np.argsort(w @ sigma)[:2]
    # Errors of standard deviations are those of variances over twice the standard deviation.
    C = limit_covariance(x, sigma**2, exploration, kappa) / (4 * np.outer(sigma, sigma))
    change = w[second] - w[first]
    best, gap = float(w[first] @ sigma), float(change @ sigma)
    return Rival(best, gap, float(np.sqrt(change @ C @ change)))


def worst_tie() -> tuple[float, float]:
    r"""Return the t at which :math:`t\,\Phi(-t)` is largest, and its value there.

    Picking one of two vertices by a normal estimate costs at most
    :math:`2S\tau\max_t t\Phi(-t)/\sqrt\Gamma` on average, whatever their gap.

    Examples
    --------
    >>> [round(number, 4) for number in worst_tie()]
    [0.7518, 0.17]
    """
    found = minimize_scalar(lambda t: -t * ndtr(-t), bounds=(0, 3), method="bounded")
    return float(found.x), float(-found.fun)


def budget_printed(
    d: int, n_actions: int, variance_ratio: float, delta: float, C: float = 1.0
) -> float:
    r"""Return the budget that Theorem 1 requires: :math:`16C^2d^4r^2\log^2(A/\delta)`.

    The additive corollary requires the same budget. Here r is the largest variance over the
    smallest, and C is the constant of Lemma 1, which the paper does not state.
    """
    return float(printed_additive_budget(d, n_actions, variance_ratio, delta, C))


def smallest_budget(d: int, n_actions: int, variance_ratio: float, C: float = 1.0) -> float:
    r"""Return the smallest n that meets this condition with :math:`\delta = n^{-3}`.

    This :math:`\delta` is from the proof. The right side grows only like :math:`\log^2 n`, so all
    larger n also meet the condition.
    """
    n = budget_printed(d, n_actions, variance_ratio, 1.0, C)
    for _ in range(200):
        n = budget_printed(d, n_actions, variance_ratio, n**-3.0, C)
    return n


def instance_constant_printed(
    weights: ArrayLike,
    features: ArrayLike,
    variances: ArrayLike,
    policy: ArrayLike,
    inflation: float,
) -> float:
    r"""Return the printed B*, the problem-dependent factor of Theorem 1.

    .. math:: B_* = \lVert A_b^{-1}c\rVert^2 \Bigl\lVert\sum_a b_a w_aw_a^\top H_U^2\Bigr\rVert
              \Bigl\lVert\Bigl(\sum_a\frac{b_aw_aw_a^\top}{\sigma_a^2 + i}\Bigr)^{-1}c\Bigr\rVert

    with :math:`w_a = \pi_ax(a)`, :math:`A_b = \sum_a b_aw_aw_a^\top/\sigma_a^2` and inflation i.

    Parameters
    ----------
    weights : array, shape (A,)
        The design b; the support must span.
    features : array, shape (A, d)
    variances, policy : array, shape (A,)
    inflation : float
        :math:`2Cd^2\sigma_{\max}^2\log(A/\delta)/\sqrt n`.
    """
    x = check_features(features)
    v, b = check_variances(variances, len(x)), np.asarray(weights, dtype=np.float64)
    w = np.asarray(policy, dtype=np.float64)[:, None] * x
    c, reach = w.sum(axis=0), np.linalg.norm(x, axis=1).max()

    def moment(scale: Floats) -> Floats:
        return np.asarray((w * (b / scale)[:, None]).T @ w)

    first = np.linalg.norm(np.linalg.solve(moment(v), c)) ** 2
    middle = np.linalg.norm(moment(np.ones_like(v)), 2) * reach**2
    last = np.linalg.norm(np.linalg.solve(moment(v + inflation), c))
    return float(first * middle * last)
