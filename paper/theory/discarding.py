r"""The cost of discarding the rewards of exploration: lower and upper bounds.

A strategy explores for :math:`\Gamma` rounds. From these rewards it chooses its other pulls and the
coefficients of their means, and then drops the rewards. The lower bounds are for the worst bandit
of the hard family (`paper.theory.hard_family`), the upper bounds for all bandits with A actions and
Gaussian noise.
The bounds are not in the paper; the page "The price of discarding" proves them.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammainc, gammaincc
from scipy.stats import gamma as gamma_law

from paper.theory.hard_family import HardFamily, gap
from speedlib.checks import Floats
from speedlib.solvers.batch import pe_designs

Counts = NDArray[np.int64]

#: Points of the integrals over one mean square, and how many standard deviations they reach.
POINTS, REACH = 801, 9.0
#: Shares below this are rounding errors; and how far a vertex may then miss c, relative to c.
LEAST_SHARE, MISSED = 1e-9, 1e-8
#: How often the adaptively stopped strategy checks its data.
STAGES = 32


# Below -------------------------------------------------------------------------------------------


def hidden(length: ArrayLike, couples: ArrayLike) -> Floats:
    r"""Return the u that :math:`\Gamma` rounds cannot detect, :math:`\frac12\sqrt{M/\Gamma}`.

    It is at most 1/4 if :math:`\Gamma\ge4M`.
    """
    return np.asarray(np.sqrt(np.divide(couples, length)) / 2)


def fixed_length_bound(rounds: ArrayLike, length: ArrayLike, couples: ArrayLike) -> Floats:
    r"""Return the lower bound for a fixed length, over :math:`\rho^2`.

    .. math:: \frac{12}5\,\frac\Gamma{n^2} + \frac6{25}\,\frac{\sqrt M}{n\sqrt\Gamma},
              \qquad \Gamma\ge4M .
    """
    n, g, m = np.asarray(rounds, float), np.asarray(length, float), np.asarray(couples, float)
    return np.asarray(12 / 5 * g / n**2 + 6 / 25 * np.sqrt(m / g) / n)


def turning_length(rounds: ArrayLike, couples: ArrayLike) -> Floats:
    r"""Return :math:`\gamma = (\frac25n\sqrt M)^{2/3}`, at least 4M where :math:`n\ge20M`."""
    return np.asarray((0.4 * np.asarray(rounds, float) * np.sqrt(couples)) ** (2 / 3))


def any_length_bound(rounds: ArrayLike, couples: ArrayLike) -> Floats:
    r"""Return the lower bound for every stopping time, over :math:`\rho^2`, for :math:`n\ge20M`.

    .. math:: \frac8{25}\,M^{1/3}n^{-4/3}
    """
    return np.asarray(8 / 25 * np.cbrt(couples) * np.asarray(rounds, float) ** (-4 / 3))


# Above -------------------------------------------------------------------------------------------


def log_actions(n_actions: ArrayLike) -> Floats:
    r"""Return :math:`\ell = \log(2A)`."""
    return np.asarray(np.log(2 * np.asarray(n_actions, float)))


def least_length(n_actions: ArrayLike) -> Floats:
    r"""Return the least length for which the upper bound holds, :math:`(32\log(2A) + 2)A`."""
    return np.asarray((32 * log_actions(n_actions) + 2) * np.asarray(n_actions, float))


def upper_bound(rounds: ArrayLike, length: ArrayLike, n_actions: ArrayLike) -> Floats:
    r"""Return the upper bound on the regret, over :math:`S^2`.

    .. math:: \frac{11}5\,\frac\Gamma{n^2} + \frac{20}n\sqrt{\frac{A\log(2A)}\Gamma},
              \qquad (32\log(2A) + 2)A \le \Gamma \le n/2 .
    """
    n, g, a = np.asarray(rounds, float), np.asarray(length, float), np.asarray(n_actions, float)
    return np.asarray(11 / 5 * g / n**2 + 20 / n * np.sqrt(a * log_actions(a) / g))


def balanced_length(rounds: ArrayLike, n_actions: ArrayLike) -> Floats:
    r"""Return :math:`\Gamma = (5n\sqrt{A\log(2A)})^{2/3}`, which balances the upper bound."""
    inside = np.asarray(n_actions, float) * log_actions(n_actions)
    return np.asarray((5 * np.asarray(rounds, float) * np.sqrt(inside)) ** (2 / 3))


def best_upper_bound(rounds: ArrayLike, n_actions: ArrayLike) -> Floats:
    r"""Return the upper bound over :math:`S^2`, :math:`19(A\log(2A))^{1/3}n^{-4/3}`.

    The bound holds for :math:`n \ge 200\,A\log(2A)`.
    """
    inside = np.asarray(n_actions, float) * log_actions(n_actions)
    return np.asarray(19 * np.cbrt(inside) * np.asarray(rounds, float) ** (-4 / 3))


def ratio_bound(freedom: ArrayLike, n_actions: ArrayLike) -> Floats:
    r"""Return the bound on the mean ratio of the largest to the smallest of A mean squares.

    .. math:: \E\,\frac{\max_aX_a}{\min_aX_a} \le 1 + 9\sqrt{\log(2A)/\nu},
              \qquad X_a\sim\chi^2_\nu/\nu,\quad \nu\ge32\log(2A) .
    """
    return np.asarray(1 + 9 * np.sqrt(log_actions(n_actions) / np.asarray(freedom, float)))


def moment_order(freedom: float, n_actions: int) -> int:
    r"""Return the power in the proof, :math:`p = \lceil\sqrt{\nu\log(2A)}\rceil`."""
    return math.ceil(math.sqrt(freedom * float(log_actions(n_actions))))


def extreme_bounds(freedom: float, n_actions: int) -> tuple[float, float]:
    r"""Return the proof's bounds on :math:`\E\max X_a` and :math:`\E\max X_a^{-1}`.

    .. math:: e^{\ell/p + (p-1)/\nu}, \qquad
              e^{\ell/p + (p+1)/\nu + \frac23(p+1)(2p+1)/\nu^2} .
    """
    p, level = moment_order(freedom, n_actions), float(log_actions(n_actions))
    upward = level / p + (p - 1) / freedom
    downward = level / p + (p + 1) / freedom + 2 / 3 * (p + 1) * (2 * p + 1) / freedom**2
    return math.exp(upward), math.exp(downward)


def _grid(freedom: float) -> tuple[Floats, Floats]:
    """Return points and weights for a mean square with these degrees of freedom."""
    # A cube root of a mean square is nearly normal (Wilson and Hilferty).
    spread = math.sqrt(2 / (9 * freedom))
    low = max(1 - spread**2 - REACH * spread, 1e-3)
    root = np.linspace(low, 1 - spread**2 + REACH * spread, POINTS)
    points = root**3
    density = gamma_law.logpdf(points, freedom / 2, scale=2 / freedom)
    weights = np.exp(density - density.max()) * 3 * root**2
    return points, weights / weights.sum()


def expected_extremes(freedom: float, n_actions: int) -> tuple[float, float]:
    r"""Return :math:`\E\max X_a` and :math:`\E\max X_a^{-1}` by integrals.

    The largest of A independent variables has the density :math:`AF^{A-1}f`, the smallest
    :math:`A(1-F)^{A-1}f`.
    """
    x, weight = _grid(freedom)
    half = freedom / 2
    top = n_actions * gammainc(half, half * x) ** (n_actions - 1) * weight
    bottom = n_actions * gammaincc(half, half * x) ** (n_actions - 1) * weight
    return float(top @ x / top.sum()), float(bottom @ (1 / x) / bottom.sum())


def expected_ratio(freedom: float, n_actions: int) -> float:
    r"""Return :math:`\E\max_aX_a/\min_aX_a` by a double integral, A at least 2.

    Least and largest have the joint density :math:`A(A-1)f(x)f(y)(F(y)-F(x))^{A-2}`, x < y.
    """
    x, weight = _grid(freedom)
    below = gammainc(freedom / 2, freedom / 2 * x)
    between = np.maximum(below[None, :] - below[:, None], 0.0) ** (n_actions - 2)
    joint = weight[:, None] * weight * between
    # Half of the diagonal: the trapezoidal rule on a triangle.
    joint = np.triu(joint) - np.diag(np.diag(joint)) / 2
    return float((joint * (x / x[:, None])).sum() / joint.sum())


# The strategy ------------------------------------------------------------------------------------


def committed_counts(shares: Floats, rounds: int) -> Counts:
    r"""Return the pulls of the commitment, :math:`T_a = \lceil(N-s)p_a\rceil` and a remainder.

    s is the number of actions with a share; the rest of the N rounds is given to the one with the
    largest share. So :math:`\sum_aT_a = N` and :math:`T_a\ge(N-s)p_a`.

    Parameters
    ----------
    shares : array, shape (..., A)
        Of sum one.
    rounds : int
        N, more than s.
    """
    support = (shares > 0).sum(axis=-1, keepdims=True)
    counts = np.ceil((rounds - support) * shares).astype(np.int64)
    largest = np.expand_dims(shares.argmax(axis=-1), -1)
    left = rounds - counts.sum(axis=-1, keepdims=True)
    np.put_along_axis(counts, largest, np.take_along_axis(counts, largest, -1) + left, -1)
    return np.asarray(counts)


def cheapest_vertices(
    features: Floats, direction: Floats, estimated: Floats
) -> tuple[Floats, Floats]:
    r"""Return the vertices w that cost least by the estimates, and their shares, shapes (R, A).

    The shares are :math:`|w_a|\hat\sigma_a/\sum_b|w_b|\hat\sigma_b`.

    Parameters
    ----------
    features : array, shape (A, d)
    direction : array, shape (d,)
    estimated : array, shape (R, A)
        Variances, positive.

    Raises
    ------
    ValueError
        If an action is needed whose share is below `LEAST_SHARE`.
    """
    used = pe_designs(features, estimated, direction).weights > LEAST_SHARE
    patterns, which = np.unique(used, axis=0, return_inverse=True)
    solved = np.zeros(patterns.shape)
    for w, support in zip(solved, patterns, strict=True):
        w[support] = np.linalg.lstsq(features[support].T, direction, rcond=None)[0]
    if np.abs(solved @ features - direction).max() > MISSED * np.abs(direction).max():
        raise ValueError(f"estimated: leads to a share below {LEAST_SHARE:g}, treated as zero")
    vertices = solved[which.ravel()]
    costs = np.abs(vertices) * np.sqrt(estimated)
    return vertices, np.asarray(costs / costs.sum(axis=1, keepdims=True))


def vertex_losses(
    features: Floats, direction: Floats, variances: Floats, estimated: Floats
) -> Floats:
    r"""Return N times the error of the cheapest vertex before rounding, shape (R,).

    .. math:: \sum_a|\hat w_a|\frac{\sigma_a^2}{\hat\sigma_a}\,\sum_a|\hat w_a|\hat\sigma_a
    """
    sizes = np.abs(cheapest_vertices(features, direction, estimated)[0])
    deviations = np.sqrt(estimated)
    return np.asarray((sizes * variances / deviations).sum(1) * (sizes * deviations).sum(1))


def committed_errors(
    features: Floats, direction: Floats, variances: Floats, estimated: Floats, rounds: int
) -> Floats:
    r"""Return the mean squared errors given the estimated variances, shape (R,).

    The strategy commits N rounds to the cheapest vertex by the estimates and answers
    :math:`\sum_aw_a\bar r_a`; the error is :math:`\sum_aw_a^2\sigma_a^2/T_a`.
    """
    vertices, shares = cheapest_vertices(features, direction, estimated)
    counts = np.maximum(committed_counts(shares, rounds), 1)
    return np.asarray((vertices**2 * variances / counts).sum(axis=1))


def explored_alike(rounds: int, length: float, n_actions: int) -> tuple[int, int]:
    r"""Return :math:`m = \lfloor\Gamma/A\rfloor`, the pulls of each action, and N = n - Am."""
    each = int(length // n_actions)
    if each < 2 or each * n_actions >= rounds:
        raise ValueError(
            f"length: must give 2 pulls to each of {n_actions} actions, and leave some of the "
            f"{rounds} rounds; got {length}"
        )
    return each, rounds - each * n_actions


def discard_errors(
    family: HardFamily,
    u: float,
    rounds: int,
    length: float,
    replications: int,
    rng: np.random.Generator,
) -> Floats:
    r"""Draw the mean squared errors, given exploration, of the strategy of the upper bound.

    The bandit is h = 0. The strategy explores all actions equally, estimates the variance of each
    action from the scatter of its rewards, and commits to the cheapest vertex.

    Returns
    -------
    array, shape (R,)
    """
    variances = family.variances(0, u)
    each, left = explored_alike(rounds, length, len(variances))
    squares = rng.chisquare(each - 1, (replications, len(variances))) / (each - 1)
    return committed_errors(family.features, family.direction, variances, variances * squares, left)


def pick_chances(couples: int, u: float, freedom: float) -> tuple[float, float]:
    r"""Return the probabilities that the couple with the least mean square is h, or its twin.

    Under :math:`\Sigma_h`, if each couple's mean square has these degrees of freedom.
    """
    x, weight = _grid(freedom)
    half, g = freedom / 2, gap(u)

    def chance(own: float, other: float) -> float:
        rest = gammaincc(half, half * x * own / 3) ** (couples - 2)
        return float(weight @ (rest * gammaincc(half, half * x * own / other)))

    return chance(3 - g, 3 + g), chance(3 + g, 3 - g)


def couple_regret(family: HardFamily, u: float, rounds: int, length: float) -> float:
    r"""Return the exact regret of the strategy that picks a couple, under :math:`\Sigma_h`.

    It explores the 2M actions of the couples equally, pools the scatters within each couple, and
    commits half of its pulls to each action of the couple with the smallest one.
    """
    each, left = explored_alike(rounds, length, 2 * family.couples)
    found, twin = pick_chances(family.couples, u, 2 * (each - 1))
    variance = 3 - gap(u) * (found - twin)
    halves = 1 / (left // 2) + 1 / (left - left // 2)
    return family.rho**2 / 4 * halves * variance - family.optimal_value(u) / rounds


def idle_regret(family: HardFamily, u: float, rounds: int) -> float:
    """Return the regret of the strategy that explores nothing and pulls all couples equally."""
    return (3 * family.rho**2 - family.optimal_value(u)) / rounds


def stopped_errors(
    family: HardFamily,
    u: float,
    rounds: int,
    length: float,
    lead: float,
    replications: int,
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    r"""Draw errors and lengths of a strategy that stops exploring adaptively, in bandit 0.

    The strategy is the one of `couple_regret`, but explores in `STAGES` equal parts. After each
    part, exploration stops if the smallest mean square is far enough below the mean of the other
    mean squares: by `lead` standard errors of one mean square.

    Returns
    -------
    errors, lengths : array, shape (R,)
        Mean squared errors given exploration (half pulls count), and rounds explored.
    """
    couples, variances = family.couples, family.variances(0, u)[: 2 * family.couples : 2]
    each = explored_alike(rounds, length / STAGES, 2 * couples)[0]
    sums = np.zeros((replications, couples))
    chosen = np.full(replications, -1)
    lengths = np.full(replications, float(2 * couples * each * STAGES))
    for stage in range(1, STAGES + 1):
        more = 2 * each - 2 * (stage == 1)
        sums += variances * rng.chisquare(more, sums.shape)
        freedom = 2 * each * stage - 2
        means = sums / freedom
        least = means.min(axis=1)
        others = (means.sum(axis=1) - least) / (couples - 1)
        ahead = others - least > lead * others * math.sqrt(2 / freedom)
        now = (chosen < 0) & (ahead | (stage == STAGES))
        chosen[now] = means[now].argmin(axis=1)
        lengths[now] = 2 * couples * each * stage
    return family.rho**2 * variances[chosen] / (rounds - lengths), lengths
