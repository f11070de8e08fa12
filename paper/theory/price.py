r"""The cost of estimating the variances, :math:`\psi`: exact values, and bandits with large cost.

At :math:`\Gamma=\sqrt n` the regret of SPEED on one bandit is :math:`S^2(1+\psi)n^{-3/2}` to first
order; `speedlib.asymptotics.estimation_cost` computes it in floats. This module has examples that
need exact numbers, the family in which it is of order :math:`d^2`, and the strategy without
structure.

Places: Section 1 ("at least by d²"), Theorem 1 and the discussion below it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import chi2

from paper.exact import Matrix, Vector, dot, matrix, solve, vector
from speedlib.checks import Floats, check_designs, check_features, check_variances
from speedlib.identification import coordinates


def squares(features: Matrix) -> Matrix:
    r"""Return the coordinates of all :math:`xx^\top`: entries on and above the diagonal.

    Entries off the diagonal are doubled, so the inner product with those of
    :math:`\Sigma_*` is the variance.
    """
    return tuple(
        tuple(x[i] * x[j] * (1 if i == j else 2) for i in range(len(x)) for j in range(i, len(x)))
        for x in features
    )


def exact_cost(
    phi: Matrix, variances: Vector, design: Vector, exploration: Vector, kappa: int = 2
) -> Fraction:
    r"""Return :math:`\psi = \tfrac14\operatorname{E\,Var}_p` of relative errors, exactly.

    .. math:: \psi = \frac\kappa4\sum_m q_m\sigma_m^4
              \sum_a p_a\Bigl(g_{am} - \sum_b p_bg_{bm}\Bigr)^2, \qquad
              g_{am} = \frac{\varphi_a^\top H^{-1}\varphi_m}{\sigma_a^2}

    Parameters
    ----------
    phi : Matrix, shape (k, m)
        The squares of the directions, as from `squares`.
    variances, design, exploration : Vector, shape (k,)
        The sum over the copies of each direction. Exploration must determine the variances of the
        design's support.
    kappa : int
        :math:`\operatorname{Var}(\eta^2)/\sigma^4`, the same for all actions; 2 if Gaussian.

    Raises
    ------
    ValueError
        If exploration leaves the variance of a support point open.
    """
    size = range(len(phi[0]))
    H = tuple(
        tuple(
            sum((q * f[i] * f[j] for q, f in zip(exploration, phi, strict=True)), Fraction(0))
            for j in size
        )
        for i in size
    )
    support = [a for a, p in enumerate(design) if p]
    # Row a: the coefficients of the explored squares in the relative error of the variance of a.
    rows = []
    for a in support:
        y = solve(H, phi[a])
        if y is None:
            raise ValueError(f"exploration: leaves the variance of action {a} open")
        rows.append(tuple(dot(f, y) / variances[a] for f in phi))
    shares = tuple(design[a] for a in support)
    cost = Fraction(0)
    for m, (q, variance) in enumerate(zip(exploration, variances, strict=True)):
        errors = tuple(row[m] for row in rows)
        mean = dot(shares, errors)
        cost += q * variance**2 * dot(shares, tuple((e - mean) ** 2 for e in errors))
    return Fraction(kappa, 4) * cost


class QuietAndLoud(NamedTuple):
    r"""A bandit in the plane, in exact numbers, for which using the structure increases the regret.

    See `quiet_and_loud` and `optimally_explored`. The directions are (1, 1), which is quiet,
    (1, -1), which is noisy, and the coordinates. `exploration` and `variances` hold a number for
    each direction, and `policy` the probabilities of the actions that the policy takes. `value` is
    :math:`S^2` and `cost` is :math:`\psi`; `own_value` and `own_cost` are the same numbers for the
    strategy that treats every action separately.
    """

    actions: int
    ratio: Fraction
    policy: Vector
    variances: Vector
    exploration: Vector
    value: Fraction
    cost: Fraction
    own_value: Fraction
    own_cost: Fraction

    @property
    def harm(self) -> Fraction:
        """The constant of SPEED's regret, divided by that of the strategy without structure."""
        return self.value * (1 + self.cost) / (self.own_value * (1 + self.own_cost))


def quiet_and_loud(root: int, copies: int, rest: Fraction = Fraction(1, 1000)) -> QuietAndLoud:
    r"""Return the example with :math:`r = 4\,\text{root}^2 - 1`, explored uniformly.

    :math:`\Sigma_*` has ones on its diagonal and :math:`-\rho` off it, with
    :math:`r = (1+\rho)/(1-\rho)`. So (1, 1) has the deviation 1/root, and (1, -1) has r times
    the variance of (1, 1). Each coordinate vector has variance 1 and occurs `copies` times. The
    policy takes (0, 1) with the probability `rest`. It takes (1, 1) and (1, 0) such that the oracle
    pulls both equally.

    Parameters
    ----------
    root : int
        At least 1.
    copies : int
        Of each coordinate, at least 1.
    rest : Fraction
        Probability of one (0, 1); above 0 for Assumption 2.
    """
    s = Fraction(1, root)
    rho = 1 - s**2 / 2
    r = (1 + rho) / (1 - rho)
    A = 2 + 2 * copies
    phi = squares(matrix([[1, 1], [1, -1], [1, 0], [0, 1]]))
    variances = vector([s**2, r * s**2, 1, 1])
    exploration = tuple(Fraction(m, A) for m in (1, 1, copies, copies))
    # c = w (1, 1) + u (1, 0), and (0, 1) = (1, 1) - (1, 0): the policy's share of (0, 1) is
    # written more cheaply by these two. They are next to c, hence optimal.
    w, u = (1 - rest) / (1 + s), (1 - rest) * s / (1 + s)
    policy = (w - rest, u + rest, rest)
    S = w * s + u
    half = Fraction(1, 2)
    cost = exact_cost(phi, variances, (half, Fraction(0), half, Fraction(0)), exploration)
    own = (policy[0] * s, policy[1], policy[2])
    S0 = sum(own, Fraction(0))
    own_cost = Fraction(A, 2) * sum((x / S0 * (1 - x / S0) for x in own), Fraction(0))
    return QuietAndLoud(A, r, policy, variances, exploration, S**2, cost, S0**2, own_cost)


def optimally_explored(root: int, rest: Fraction = Fraction(1, 1000)) -> QuietAndLoud:
    r"""Return the example with :math:`r = 2\,\text{root}^2 - 1`, explored D-optimally.

    All features have length one: :math:`a=(1,1)/\sqrt2`, quiet, with the deviation 1/root,
    :math:`o=(1,-1)/\sqrt2`, noisy, with the variance r/root², and with variance 1
    :math:`4r+1` copies of each of the coordinate vectors, those of the second with either sign.
    Each of the four directions gets a quarter of a D-optimal exploration. The policy takes
    :math:`e_2` and :math:`-e_2` with the probability `rest` each, which cancels in the mean
    feature, and a root times as often as one :math:`e_1`, so the oracle pulls both equally.

    Parameters
    ----------
    root : int
        At least 2.
    rest : Fraction
        Between 0 and 1/2; above 0 for Assumption 2.
    """
    r = Fraction(2 * root**2 - 1)
    A = 8 * int(r) + 4  # the least multiple of four above d³ r
    phi = matrix([["1/2", 1, "1/2"], ["1/2", -1, "1/2"], [1, 0, 0], [0, 0, 1]])
    variances = vector([Fraction(1, root**2), r / root**2, 1, 1])
    half, quarter = Fraction(1, 2), Fraction(1, 4)
    cost = exact_cost(phi, variances, (half, Fraction(0), half, Fraction(0)), (quarter,) * 4)
    single = (1 - 2 * rest) / (root + 1)
    policy = (root * single, single, rest, rest)
    S, own = 2 * single, (single, single, rest, rest)
    S0 = sum(own, Fraction(0))
    own_cost = Fraction(A, 2) * sum((x / S0 * (1 - x / S0) for x in own), Fraction(0))
    return QuietAndLoud(A, r, policy, variances, (quarter,) * 4, S**2, cost, S0**2, own_cost)


def spanning_bound(
    features: ArrayLike,
    variances: ArrayLike,
    design: ArrayLike,
    chosen: Sequence[int],
    kappa: float = 2.0,
) -> float:
    r"""Return the bound on :math:`\psi` for equal exploration of m actions, their squares a basis.

    .. math:: \psi \le \frac\kappa4\,r^2m\max_{p_a>0}\lVert\alpha_a\rVert^2, \qquad
              \varphi_a = \sum_{z\in Z}\alpha_{az}\varphi_z

    with r the largest explored variance over the smallest on the support of the design p. It does
    not depend on the number of actions.

    Parameters
    ----------
    features : array, shape (A, d)
    variances, design : array, shape (A,)
    chosen : sequence of m = d(d+1)/2 int
        The explored actions Z.
    kappa : float
        :math:`\operatorname{Var}(\eta^2)/\sigma^4`.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the chosen squares are not a basis.
    """
    x = check_features(features)
    v = check_variances(variances, len(x), features=x)
    p = check_designs(design, len(x), "design")
    phi, explored = coordinates(x), list(chosen)
    alpha = np.linalg.solve(phi[explored].T, phi[p > 0].T)
    ratio = v[explored].max() / v[p > 0].min()
    return float(kappa / 4 * ratio**2 * len(explored) * np.max(np.sum(alpha**2, axis=0)))


def per_arm(policy: ArrayLike, variances: ArrayLike, kappa: float = 2.0) -> tuple[float, float]:
    r"""Return :math:`S_0^2` and :math:`v_0` of the strategy that treats every action separately.

    .. math:: S_0 = \sum_a\pi_a\sigma_a, \qquad
              v_0 = \frac{\kappa A}4\sum_a p^0_a(1-p^0_a), \qquad p^0_a = \pi_a\sigma_a/S_0

    It explores all A actions equally, estimates each deviation from that action's own rewards, and
    pulls in proportion to :math:`\pi\hat\sigma`.
    """
    shares = np.asarray(policy, dtype=np.float64) * np.sqrt(np.asarray(variances, np.float64))
    p = shares / shares.sum()
    return float(shares.sum() ** 2), float(kappa * len(p) / 4 * np.sum(p * (1 - p)))


def network(d: int) -> Floats:
    r"""Return the actions :math:`f_i - f_j`, :math:`i\ne j`, of d + 1 points, shape (d(d+1), d).

    :math:`f_0 = 0` and :math:`f_1,\dots,f_d` are the coordinate vectors. An action is an arrow
    from j to i; arrows there and back are parallel. With :math:`\Sigma_* = (I + 11^\top)/2` all
    have variance 1.
    """
    points = np.vstack([np.zeros(d), np.eye(d)])
    arrows = [points[i] - points[j] for i in range(d + 1) for j in range(d + 1) if i != j]
    return np.array(arrows)


def star_policy(d: int, centre: int, rest: float = 0.01) -> Floats:
    r"""Return the policy that takes the arrows out of one point of the `network`, shape (d(d+1),).

    The share `rest` is spread evenly over all arrows; opposite arrows cancel, so this share
    shortens the target direction, but does not turn it.
    """
    ends = [(i, j) for i in range(d + 1) for j in range(d + 1) if i != j]
    star = np.array([float(j == centre) for _, j in ends])
    return np.asarray((1 - rest) * star / d + rest / len(ends))


def by_pairs(exploration: Sequence[float] | Floats, d: int) -> Floats:
    """Return the share of each pair of points of the `network`, shape (d + 1, d + 1), symmetric."""
    pairs = np.zeros((d + 1, d + 1))
    ends = [(i, j) for i in range(d + 1) for j in range(d + 1) if i != j]
    for (i, j), q in zip(ends, exploration, strict=True):
        pairs[i, j] += q
        pairs[j, i] += q
    return pairs


def star_costs(exploration: Sequence[float] | Floats, d: int, kappa: float = 2.0) -> Floats:
    r"""Return :math:`\psi` for the d + 1 stars of the `network`, shape (d + 1,).

    The numbers of pairs and of unknowns are equal, so each variance is determined by its own pulls:
    :math:`\psi_j = \frac\kappa4\frac{d-1}{d^2}\sum_{i\ne j}1/q_{ij}`. If a pair is not explored,
    at least one star keeps a regret of order 1/n, for which the value is infinite.
    """
    pairs = by_pairs(exploration, d)
    with np.errstate(divide="ignore"):
        back = np.where(np.eye(d + 1, dtype=bool), 0.0, 1 / pairs)
    return np.asarray(kappa / 4 * (d - 1) / d**2 * back.sum(axis=1))


def least_error(pulls: int, chance: float) -> float:
    r"""Return t such that :math:`P(\hat\sigma^2/\sigma^2 - 1 > t)` is the given chance.

    The estimate is the mean of k squared residuals of Gaussian rewards about their own mean,
    :math:`\chi_{k-1}^2/k`; k is at least 2.
    """
    return float(chi2.isf(chance, pulls - 1) / pulls - 1)


def promised_error(d: int, n_actions: int, delta: float, length: float, C: float) -> float:
    r"""Return :math:`2Cd^2\log(A/\delta)/\Gamma`, Lemma 1's bound over :math:`\sigma_{\max}^2`."""
    return 2 * C * d**2 * math.log(n_actions / delta) / length
