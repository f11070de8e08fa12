r"""How the constant of Theorem 1 grows with the ratio of the variances and the number of actions.

Place: Theorem 1 (files regret.tex, theorem1.tex), whose display has
:math:`\sigma_{\max}^2/\sigma_{\min}^2` to the first power. Two families with exact costs, one in
the plane and one in three dimensions, and a bound that holds for all bandits.

The family in the plane: actions :math:`a=(1,1)/\sqrt2`, :math:`o=(1,-1)/\sqrt2`, k copies of
each of :math:`e_1, e_2`, policy :math:`(\frac25,\frac1{10},\frac25,\frac1{10})` on the four
directions, and

.. math:: \Sigma_* = \frac1{1+\rho}\begin{pmatrix}1&-\rho\\-\rho&1\end{pmatrix}, \qquad
          \rho = \frac{r-1}{r+1},

so the variances of a, o, :math:`e_1, e_2` are :math:`\frac1r, 1, \frac{r+1}{2r},
\frac{r+1}{2r}`, and r is their ratio and that of the eigenvalues. The target direction is
:math:`c=w(a+e_1)`, :math:`w=\frac3{10}+\frac{\sqrt2}{10}`. Where :math:`r=2m^2-1` for a whole
number m, all but w is rational.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from paper.exact import Matrix, Vector, dot, solve
from paper.theory import price
from speedlib import LinearBandit
from speedlib.checks import Floats, check_designs, check_features, check_variances
from speedlib.identification import coordinates

N = TypeVar("N", Fraction, float)
#: The weight w of a and of :math:`e_1` in the target direction of the family in the plane.
PLANE_WEIGHT = 0.3 + math.sqrt(0.02)
#: The one relation between variances in the plane: those of a and o add up to those of e1 and e2.
RELATION = (1, 1, -1, -1)


def plane_bandit(ratio: float, copies: int = 1) -> tuple[LinearBandit, Floats]:
    """Return a bandit of the family in the plane, and the policy.

    Parameters
    ----------
    ratio : float
        The ratio r of the variances, at least 1.
    copies : int
        The number k of copies of each of the coordinate vectors: A = 2 + 2k actions.
    """
    rho, half = (ratio - 1) / (ratio + 1), math.sqrt(0.5)
    rows = [[half, half], [half, -half]] + [[1.0, 0.0]] * copies + [[0.0, 1.0]] * copies
    Sigma = np.array([[1.0, -rho], [-rho, 1.0]]) / (1 + rho)
    policy = np.repeat([0.4, 0.1, 0.4 / copies, 0.1 / copies], [1, 1, copies, copies])
    return LinearBandit(np.array(rows), np.array([1.0, 0.0]), Sigma=Sigma), policy


class PlaneCost(NamedTuple, Generic[N]):
    r"""The constants of the family in the plane, in closed form.

    `share` is the oracle's share of a, `cost` is :math:`\psi/\kappa`, `value` is :math:`S^2/w^2`.
    """

    share: N
    cost: N
    value: N


def plane_cost(root: N, explored: Sequence[N]) -> PlaneCost[N]:
    r"""Return the constants of the family in the plane at :math:`r = 2m^2-1`.

    Least squares moves the mean squares z of the four directions, explored with shares q, to where
    :math:`z_a+z_o=z_1+z_2`: it takes :math:`\frac{u_i/q_i}{\sum_j1/q_j}(z_a+z_o-z_1-z_2)` off
    :math:`z_i`, with u = (1, 1, -1, -1). The oracle's shares are :math:`\frac1{1+m}` and
    :math:`\frac m{1+m}`. Let :math:`k_i` be the coefficient of :math:`z_i` in
    :math:`\hat\sigma_a^2/\sigma_a^2-\hat\sigma_1^2/\sigma_1^2`; then

    .. math:: \frac v\kappa = \frac14\,\frac m{(1+m)^2}\sum_i\frac{k_i^2\sigma_i^4}{q_i}, \qquad
              \frac{S^2}{w^2} = \frac{(1+m)^2}r .

    Parameters
    ----------
    root : Fraction or float
        The root m, at least 1.
    explored : sequence of four of the same
        The shares q of a, o and the directions of the coordinate vectors.

    Examples
    --------
    >>> plane_cost(Fraction(2), [Fraction(1, 4)] * 4)
    PlaneCost(share=Fraction(1, 3), cost=Fraction(881, 576), value=Fraction(9, 7))
    """
    ratio = 2 * root**2 - 1
    variances = (1 / ratio, ratio / ratio, root**2 / ratio, root**2 / ratio)
    total = sum(1 / q for q in explored)
    moved = [u / (q * total) for u, q in zip(RELATION, explored, strict=True)]
    spread = root - root
    for i, (u, q, variance) in enumerate(zip(RELATION, explored, variances, strict=True)):
        of_a, of_1 = int(i == 0) - moved[0] * u, int(i == 2) - moved[2] * u
        spread += ((of_a / variances[0] - of_1 / variances[2]) * variance) ** 2 / q
    return PlaneCost(
        share=1 / (1 + root),
        cost=root / (4 * (1 + root) ** 2) * spread,
        value=(1 + root) ** 2 / ratio,
    )


def even_shares(actions: int) -> list[Fraction]:
    """Return the shares of the four directions if all A actions are explored equally."""
    single, many = Fraction(1, actions), Fraction(actions - 2, 2 * actions)
    return [single, single, many, many]


def exact_cost(
    features: Matrix, variances: Vector, design: Vector, exploration: Vector
) -> Fraction:
    r"""Return :math:`\psi/\kappa` in exact arithmetic; see `speedlib.asymptotics.estimation_cost`.

    Parameters
    ----------
    features : Matrix
        Exploration must determine the variances of the support.
    variances, design, exploration : Vector

    Raises
    ------
    ValueError
        If exploration leaves the variance of a support point open.
    """
    return price.exact_cost(price.squares(features), variances, design, exploration, kappa=1)


class Space(NamedTuple):
    r"""A bandit in three dimensions with rational deviations on the oracle's support.

    `value` is :math:`S^2`. `dual` is the y with :math:`(x_a^\top y)^2\le\sigma_a^2` for all
    actions, with equality on the support, which shows that the design is optimal.
    """

    features: Matrix
    variances: Vector
    policy: Vector
    direction: Vector
    design: Vector
    value: Fraction
    dual: Vector


def space_bandit(width: Fraction) -> Space:
    r"""Return the bandit in three dimensions whose cost grows with the square of the ratio.

    :math:`\Sigma_*=\operatorname{diag}(\delta^2,1,1)`; actions
    :math:`(\pm\frac35,\frac45\delta,0)` of variance :math:`\delta^2`,
    :math:`(0,\frac35,\pm\frac45)` of variance 1,
    :math:`(\frac35,0,\pm\frac45)` and :math:`(0,0,1)`. The oracle pulls the first three.
    """
    d, t, f = width, Fraction(3, 5), Fraction(4, 5)
    zero, one = Fraction(0), Fraction(1)
    X = (
        (t, f * d, zero),
        (-t, f * d, zero),
        (zero, t, f),
        (zero, t, -f),
        (t, zero, f),
        (t, zero, -f),
        (zero, zero, one),
    )
    policy = tuple(Fraction(n, 20) for n in (1, 1, 7, 4, 1, 1, 5))
    variances = tuple(d**2 * x[0] ** 2 + x[1] ** 2 + x[2] ** 2 for x in X)
    direction = tuple(
        sum((p * x[i] for p, x in zip(policy, X, strict=True)), zero) for i in range(3)
    )
    deviations = (d, d, one)
    weights = solve(tuple(tuple(x[i] for x in X[:3]) for i in range(3)), direction)
    assert weights is not None
    costs = [abs(w) * s for w, s in zip(weights, deviations, strict=True)]
    S = sum(costs, zero)
    signed = tuple(s if w > 0 else -s for w, s in zip(weights, deviations, strict=True))
    dual = solve(X[:3], signed)
    assert dual is not None
    design = tuple(c / S for c in costs) + (zero,) * 4
    return Space(X, variances, policy, direction, design, S**2, dual)


def space_limit() -> Fraction:
    r"""Return the limit of :math:`S^2\psi/(\kappa r^2)` for `space_bandit`, explored uniformly.

    In the coordinates :math:`(x_1^2, x_1x_2/\delta, x_2^2, x_1x_3, x_2x_3, x_3^2)` of
    :math:`xx^\top` everything is continuous at :math:`\delta=0`: H stays regular, the shares of
    the oracle tend to those of the costs of the limit, and of

    .. math:: r^{-2}v/\kappa = \frac{\delta^4}{4}\sum_mq_m\sigma_m^4\operatorname{Var}_p
              \bigl(\varphi_a^\top H^{-1}\varphi_m/\sigma_a^2\bigr)

    only the terms remain in which a noisy action m affects the estimate of a quiet action a.
    """
    t, f = Fraction(3, 5), Fraction(4, 5)
    zero = Fraction(0)
    # x1², x1 x2 / δ, x2², x1 x3, x2 x3, x3² at δ = 0.
    phi = (
        (t**2, t * f, zero, zero, zero, zero),
        (t**2, -t * f, zero, zero, zero, zero),
        (zero, zero, t**2, zero, t * f, f**2),
        (zero, zero, t**2, zero, -t * f, f**2),
        (t**2, zero, zero, t * f, zero, f**2),
        (t**2, zero, zero, -t * f, zero, f**2),
        (zero, zero, zero, zero, zero, Fraction(1)),
    )
    variances = (zero, zero, Fraction(1), Fraction(1), f**2, f**2, Fraction(1))
    policy = space_bandit(Fraction(1)).policy
    second = t * (policy[2] + policy[3])
    third = f * (policy[2] - policy[3] + policy[4] - policy[5]) + policy[6]
    # The third action gives the third coordinate; the quiet ones complete the second.
    loud = third / f
    quiet = (second - t * loud) / (2 * f)
    S = 2 * quiet + loud
    size = range(6)
    H = tuple(tuple(sum((g[i] * g[j] for g in phi), zero) / 7 for j in size) for i in size)
    cost = zero
    for g, variance in zip(phi, variances, strict=True):
        seen = solve(H, g)
        assert seen is not None
        # The relative error of the noisy action is of a smaller order.
        errors = [dot(phi[0], seen), dot(phi[1], seen), zero]
        shares = [quiet / S, quiet / S, loud / S]
        mean = sum((p * e for p, e in zip(shares, errors, strict=True)), zero)
        spread = sum((p * (e - mean) ** 2 for p, e in zip(shares, errors, strict=True)), zero)
        cost += variance**2 / 7 * spread
    return S**2 * cost / 4


def cost_bound(
    features: ArrayLike,
    variances: ArrayLike,
    design: ArrayLike,
    exploration: ArrayLike,
    kappa: float = 2.0,
) -> float:
    r"""Return the bound on :math:`\psi` by the ratio of the variances.

    .. math:: \psi \le \frac{\kappa h}4\,\omega r^{3/2} \le \frac{\kappa h}4\,r^2, \qquad
              h = \max_{p_a>0}\varphi_a^\top H^{-1}\varphi_a, \quad
              \omega = \sum_ap_a\frac{\sigma_{\max}}{\sigma_a},

    with :math:`H=\sum_mq_m\varphi_m\varphi_m^\top` and r the largest explored variance
    :math:`\sigma_{\max}^2` over the smallest on the support of the design p. For D-optimal
    exploration h is at most d(d+1)/2, and A for uniform exploration; :math:`S\omega/\sigma_{\max}`
    is the sum of the absolute weights by which the support represents the target direction.

    Parameters
    ----------
    features : array, shape (A, d)
    variances, design, exploration : array, shape (A,)
        Exploration must determine the variances of the support.
    kappa : float
        :math:`\operatorname{Var}(\eta^2)/\sigma^4`.
    """
    x = check_features(features)
    v = check_variances(variances, len(x), features=x)
    p = check_designs(design, len(x), "design")
    q = check_designs(exploration, len(x), "exploration")
    phi, used = coordinates(x), p > 0
    H = (phi * q[:, None]).T @ phi
    leverage = np.einsum("ai,ij,aj->a", phi[used], np.linalg.pinv(H), phi[used]).max()
    most = v[q > 0].max()
    ratio, omega = most / v[used].min(), float(p[used] @ np.sqrt(most / v[used]))
    return float(kappa * leverage / 4 * omega * ratio**1.5)
