r"""The oracle's loss: the printed bounds, and bounds that hold.

All bounds are on :math:`nL_n`, the loss times the number of rounds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from speedlib import target_direction
from speedlib.checks import check_count, check_features, check_policy, check_psd


class Bounds(NamedTuple):
    """A lower and an upper bound."""

    lower: float
    upper: float


def printed_loss_bounds(features: ArrayLike, policy: ArrayLike) -> Bounds:
    r"""Corollary 1 as printed: :math:`d\lambda_d(V) \le nL_n^* \le d\lambda_1(V)`.

    Here :math:`V = \sum_{a,a'} w(a) w(a')^\top = cc^\top`, so :math:`\lambda_1 = \|c\|^2`, and
    :math:`\lambda_d = 0` unless d = 1. Neither bound depends on the variances. For features (A, d)
    and policy (A,).

    References
    ----------
    The paper, Corollary 1, Appendix A.6.

    Examples
    --------
    >>> printed_loss_bounds([[2.0, 1.0], [-2.0, 1.0]], [0.5, 0.5])
    Bounds(lower=0.0, upper=2.0)
    """
    c = target_direction(features, policy)
    d, largest = c.size, float(c @ c)
    return Bounds(lower=largest if d == 1 else 0.0, upper=d * largest)


def printed_first_term(
    features: ArrayLike, policy: ArrayLike, rounds: ArrayLike
) -> NDArray[np.float64]:
    r"""First term of Proposition 5, times n and without its constant: :math:`d\lambda_1(V)\log n`.

    The arguments are features (A, d), policy (A,) and numbers n of rounds.

    References
    ----------
    The paper, Proposition 5, Section 3.2 and Appendix B.1.

    Examples
    --------
    >>> printed_first_term([[1.0]], [1.0], [1, 100]).round(6)
    array([0.     , 4.60517])
    """
    return np.asarray(printed_loss_bounds(features, policy).upper * np.log(np.asarray(rounds)))


def loss_bounds(features: ArrayLike, policy: ArrayLike, Sigma: ArrayLike) -> Bounds:
    r"""Bounds that hold: :math:`c^\top\Sigma c \le nL_n^* \le (\mathbb{E}_\pi\sigma)^2`.

    The standard deviation :math:`\sigma(a) = \|\Sigma^{1/2}x(a)\|` is a seminorm of the features.
    The number :math:`\sqrt{nL_n^*}` is the least :math:`\sum_a|w_a|\sigma(a)` over all w with
    :math:`\sum_a w_a x(a) = c`. The triangle inequality gives the lower bound. The choice
    :math:`w = \pi` gives the upper one.

    Parameters
    ----------
    features, policy : array-like, shapes (A, d) and (A,)
        The actions and the target policy.
    Sigma : array-like, shape (d, d)
        The positive semidefinite matrix with :math:`\sigma^2(a) = x(a)^\top\Sigma x(a)`.

    Examples
    --------
    >>> loss_bounds([[2.0, 0.0], [0.0, 1.0]], [0.5, 0.5], [[1.0, 0.0], [0.0, 4.0]])
    Bounds(lower=2.0, upper=4.0)
    """
    x = check_features(features)
    p = check_policy(policy, x.shape[0])
    S = check_psd("Sigma", Sigma, x.shape[1])
    c = target_direction(x, p)
    deviations = np.sqrt(np.maximum(np.einsum("ai,ij,aj->a", x, S, x), 0))
    return Bounds(lower=float(c @ S @ c), upper=float(p @ deviations) ** 2)


def rounding_up_bounds(support: int, rounds: int) -> Bounds:
    r"""Loss after :math:`\lceil nb_*(a)\rceil` pulls, divided by the loss after :math:`nb_*(a)`.

    With s support points, the actions of positive weight, there are at most n + s - 1 pulls. More
    pulls never hurt, so the upper bound is 1. With n + s - 1 rounds, no design has a smaller loss
    than :math:`nL_n^*/(n + s - 1)`, and this gives the lower bound.

    Examples
    --------
    >>> rounding_up_bounds(2, 3)
    Bounds(lower=0.75, upper=1.0)
    """
    s, n = check_count("support", support, 1), check_count("rounds", rounds, 1)
    return Bounds(lower=n / (n + s - 1), upper=1.0)
