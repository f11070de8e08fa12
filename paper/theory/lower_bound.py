r"""Theorem 2: the testing environment, the inequalities of its proof, and the correct ones.

Places: Theorem 2 and its proof (file regret_lower_bound.tex). The environment is built with real
vectors in exact arithmetic, in units of :math:`\beta`: all means, standard deviations and roots of
losses are proportional to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from paper.exact import Matrix, Vector, dot, matrix, mean_feature, solve, times
from speedlib.checks import Flags, Floats


class HypothesisEnvironment(NamedTuple):
    r"""Actions and hypotheses, for :math:`\beta=1`.

    Attributes
    ----------
    features : Matrix, shape (A, d)
    hypotheses : Matrix, shape (J, d)
        The parameters :math:`\theta_j/\beta`; under each :math:`\Sigma = \theta_j\theta_j^\top`.
    """

    features: Matrix
    hypotheses: Matrix

    @property
    def policy(self) -> Vector:
        """The target policy of the proof: equal shares."""
        return (Fraction(1, len(self.features)),) * len(self.features)

    @property
    def direction(self) -> Vector:
        """The target direction c."""
        return mean_feature(self.policy, self.features)

    @property
    def means(self) -> Matrix:
        r"""Means of the actions under each hypothesis, (J, A): standard deviations as well."""
        return tuple(times(self.features, theta) for theta in self.hypotheses)


def hypothesis_environment(d: int) -> HypothesisEnvironment:
    r"""Return the table of the proof as linear functions, for :math:`J=2^d` hypotheses.

    Action 1 is the first unit vector, so the first coordinates of the hypotheses are
    :math:`1, 1-1/J, \dots, 1/J`. The other coordinates fall geometrically, and the other actions
    combine few coordinates with small coefficients, so all other means are below
    :math:`1/4J`. The squares of the actions span the symmetric matrices.

    Parameters
    ----------
    d : {1, 2, 3}

    Examples
    --------
    >>> from paper.exact import text
    >>> text(hypothesis_environment(1).means)
    '[1, 1/9; 1/2, 1/18]'
    """
    if d not in (1, 2, 3):
        raise ValueError(f"d: built for 1, 2 and 3; got {d}")
    J = 2**d
    first = [Fraction(J - j, J) for j in range(J)]
    second = [Fraction(1, 20 if d == 2 else 40) * Fraction(2, 3) ** j for j in range(J)]
    third = [Fraction(1, 35) * Fraction(3, 4) ** j for j in range(J)]
    actions: dict[int, list[list[int | str]]] = {
        1: [[1], ["1/9"]],
        2: [[1, 0], [0, 1], ["1/40", "1/4"], ["1/50", "1/2"]],
        3: [
            [1, 0, 0],
            [0, 1, 0],
            [0, 0, 1],
            ["1/80", "1/4", 0],
            ["1/100", 0, "1/2"],
            [0, "1/2", "1/3"],
        ],
    }
    hypotheses = tuple(zip(*[first, second, third][:d], strict=True))
    return HypothesisEnvironment(matrix(actions[d]), hypotheses)


def excess_loss(weights: Vector, environment: HypothesisEnvironment, hypothesis: int) -> Fraction:
    r"""Return :math:`nR'_n` of a design in closed form, for :math:`\beta = 1`.

    .. math:: nR'_n = v(\pi)^2\,\delta^\top C^-\delta, \qquad
              m = \sum_a b(a)\tilde x(a),\quad \delta = \frac{c}{v(\pi)} - m, \quad
              C = \sum_a b(a)(\tilde x(a)-m)(\tilde x(a)-m)^\top

    Parameters
    ----------
    weights : Vector, shape (A,)
        The design b.
    environment : HypothesisEnvironment
    hypothesis : int
        The true one, from 0.

    Raises
    ------
    ValueError
        If the pulls leave the value open.
    """
    means = environment.means[hypothesis]
    points = [tuple(z / s for z in x) for x, s in zip(environment.features, means, strict=True)]
    value = dot(environment.policy, means)
    m = tuple(dot(weights, column) for column in zip(*points, strict=True))
    away = tuple(z / value - w for z, w in zip(environment.direction, m, strict=True))
    spread = [tuple(z - w for z, w in zip(point, m, strict=True)) for point in points]
    axes = range(len(m))
    C = tuple(
        tuple(
            sum((b * p[i] * p[k] for b, p in zip(weights, spread, strict=True)), Fraction(0))
            for k in axes
        )
        for i in axes
    )
    solved = solve(C, away)
    if solved is None:
        raise ValueError("weights: the pulls leave the value open")
    return value**2 * dot(away, solved)


def printed_rate(d: int, smallest_eigenvalue: float, rounds: ArrayLike) -> Floats:
    r"""Return :math:`d^2\lambda_d(V)\log n/n^{3/2}`: Theorem 2 without its constant."""
    n = np.asarray(rounds, dtype=np.float64)
    return np.asarray(d**2 * smallest_eigenvalue * np.log(n) / n**1.5)


def squared_scale(d: int, rounds: ArrayLike) -> Floats:
    r"""Return :math:`\beta^2 = J^2\log(1/4\delta)/n`; :math:`\delta = 1/(nJ)`, :math:`J = 2^d`."""
    n, J = np.asarray(rounds, dtype=np.float64), 2.0**d
    return np.asarray(J**2 * np.log(n * J / 4) / n)


def printed_log_ratio_divergence(ratio: ArrayLike) -> Floats:
    r"""Return the divergence of one pull as step 1 prints it, with :math:`2\log(\mu'/\mu)`.

    Parameters
    ----------
    ratio : array
        :math:`r = \mu/\mu'`, positive; standard deviations equal means.
    """
    r = np.asarray(ratio, dtype=np.float64)
    return np.asarray(r**2 - r - 2 * np.log(r))


def divergence(ratio: ArrayLike) -> Floats:
    r"""Return :math:`KL(N(\mu,\mu^2)\|N(\mu',\mu'^2)) = r(r-1) - \log r` with :math:`r=\mu/\mu'`.

    Written as :math:`(r-1)^2 + (r-1-\log r)`, it lies between :math:`(r-1)^2` and
    :math:`(r-1)^2(1+1/r)`.
    """
    step = np.asarray(ratio, dtype=np.float64) - 1
    return np.asarray(step**2 + (step - np.log1p(step)))


def log_affinity(ratio: ArrayLike) -> Floats:
    r"""Return :math:`\log\int\sqrt{pp'}` of the two laws of one pull.

    .. math:: \tfrac12\log\frac{2r}{1+r^2} - \frac{(r-1)^2}{4(1+r^2)}

    The likelihood ratio of N pulls prefers the wrong law with a probability of at most the N-th
    power of the affinity.
    """
    r = np.asarray(ratio, dtype=np.float64)
    return np.asarray(np.log(2 * r / (1 + r**2)) / 2 - (r - 1) ** 2 / (4 * (1 + r**2)))


def error_bounds(means: ArrayLike, pulls: int) -> Floats:
    r"""Bound the chance that maximum likelihood finds hypothesis k if j is true, shape (J, J).

    Parameters
    ----------
    means : array, shape (J,)
        Means of the pulled action, which are also its standard deviations.
    pulls : int
    """
    mu = np.asarray(means, dtype=np.float64)
    bounds = np.exp(pulls * log_affinity(mu[:, None] / mu[None, :]))
    np.fill_diagonal(bounds, 0.0)
    return np.asarray(bounds)


def enough_pulls(means: ArrayLike, delta: float) -> int:
    r"""Return pulls of one action after which maximum likelihood errs with chance at most δ."""
    pulls = 1
    while error_bounds(means, pulls).sum(axis=1).max() > delta:
        pulls *= 2
    low = pulls // 2
    while pulls - low > 1:
        middle = (pulls + low) // 2
        if error_bounds(means, middle).sum(axis=1).max() > delta:
            low = middle
        else:
            pulls = middle
    return pulls


def regret_of_testing(environment: HypothesisEnvironment, rounds: float) -> tuple[int, float]:
    r"""Bound the regret of testing with action 1, then committing, over :math:`v(\pi)^2`.

    N pulls of action 1 make the chance of an error at most :math:`\delta = 1/(nJ)` under each of
    the J hypotheses, as the theorem has it.
    They are discarded; the other :math:`n-N` rounds follow :math:`b\propto\pi\mu_k` of the
    hypothesis k that is found, and the value is estimated by :math:`\sum_a\pi(a)\bar r(a)`.

    Returns
    -------
    pulls : int
        N.
    regret : float
        The bound on :math:`R_n/v(\pi)^2`, largest over the hypotheses; shares are not rounded.
    """
    mu = np.array(environment.means, dtype=np.float64)
    policy = np.array(environment.policy, dtype=np.float64)
    pulls = enough_pulls(mu[:, 0], 1 / (rounds * len(mu)))
    value = mu @ policy
    # n times the loss of committing to hypothesis k where j is true.
    losses = (policy * mu[:, None] ** 2 / mu[None]).sum(axis=-1) * value
    excess = losses / value[:, None] ** 2 - 1
    wrong = (error_bounds(mu[:, 0], pulls) * np.maximum(excess, 0)).sum(axis=1).max()
    left = rounds - pulls
    return pulls, float(wrong / left + pulls / (rounds * left))


#: The conditions of the proof that depend on n: name, and a test on (d, J, L = log nJ, n).
#:
#: :meta hide-value:
CONDITIONS: Mapping[str, Callable[[int, float, Floats, Floats], Flags]] = {
    "means at most 1": lambda d, J, L, n: J**2 * (L - np.log(4)) <= n,
    "step 3 (a)": lambda d, J, L, n: n >= L**2 - (d * (L - np.log(4)) / n) ** 2,
    "step 4, bracket": lambda d, J, L, n: L * (L - np.log(4)) >= n,
    "step 4 (a)": lambda d, J, L, n: L >= 2 * J**2,
    "step 4 (b), column 1": lambda d, J, L, n: J**2 * (L - np.log(4)) >= d * np.sqrt(n),
    "step 4 (b), last column": lambda d, J, L, n: L - np.log(4) >= d * np.sqrt(n),
    "step 4 (c)": lambda d, J, L, n: L / (2 * J**2) >= d * np.log(2 * n),
}


def conditions(d: int, rounds: ArrayLike) -> dict[str, Flags]:
    r"""Say where the conditions of the proof that depend on n hold, with :math:`J = 2^d`.

    The last column has the mean :math:`\beta/J`, as in the table; printed, it is
    :math:`\beta-J\beta/J = 0`. The bracket is :math:`\beta^2\log(nJ)/J^2-1`, to be positive.

    Parameters
    ----------
    d : int
    rounds : array
        Numbers of rounds n; need not be whole.
    """
    n, J = np.asarray(rounds, dtype=np.float64), 2.0**d
    return {name: test(d, J, np.log(n * J), n) for name, test in CONDITIONS.items()}
