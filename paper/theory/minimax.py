r"""The quantities in the proof of the lower bound that holds for every strategy.

They belong to the hard family of `paper.theory.hard_family`: the information of one pull about the
bandit, the cost of a share on the wrong couple, the bound that follows, the risk of a Bayesian who
knows the bandit but not the parameter, and two strategies whose excess can be computed exactly.

Losses are stated as n times :math:`L_n`, so they do not depend on n. Signed permutations of the
first d - 1 coordinates map couples to each other. By this symmetry, it is enough to consider couple
0 if a design is arbitrary.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import quad
from scipy.stats import chi2

from paper.theory.hard_family import HardFamily
from speedlib.checks import Floats

#: The largest u of the lemmas; up to it, the eigenvalues of all matrices lie in [0.7, 1.3].
LARGEST_SEPARATION = 0.25
#: The bound of the theorem is this number times rho^2 sqrt(M) n^(-3/2).
CONSTANT = 6 / 25
#: Smallest u, and largest ratio of two shares, in searches: beyond these, rounding errors exceed
#: the difference of the losses.
SMALLEST_SEPARATION, LOG_SHARES = 0.01, 7.0


def scale_divergence(ratio: ArrayLike) -> Floats:
    r"""Return :math:`KL(N(\mu,\sigma^2)\|N(\mu,\sigma'^2)) = \tfrac12(r-1-\log r)`.

    Parameters
    ----------
    ratio : array
        :math:`r=\sigma^2/\sigma'^2`, positive.
    """
    step = np.asarray(ratio, dtype=np.float64) - 1
    return np.asarray((step - np.log1p(step)) / 2)


def pull_divergences(family: HardFamily, couple: int, u: float) -> Floats:
    """Return the divergence of the null bandit from bandit h for one pull of each action, (A,)."""
    return scale_divergence(family.variances(None, u) / family.variances(couple, u))


def variation(ratio: float, pulls: int) -> float:
    r"""Return the total variation between two laws of N rewards of one action, exactly.

    The sum of squares about the known mean is sufficient. Where the variances are
    :math:`\sigma^2` and :math:`\sigma'^2=\sigma^2/r`, the densities cross at one value of it.

    Parameters
    ----------
    ratio : float
        r, positive.
    pulls : int
        N.
    """
    if ratio == 1 or pulls == 0:
        return 0.0
    crossing = pulls * np.log(ratio) / (ratio - 1)
    return float(abs(chi2.cdf(crossing, pulls) - chi2.cdf(ratio * crossing, pulls)))


def variation_bound(couples: int, pulls: float, u: float) -> float:
    r"""Return :math:`\tfrac u2\sqrt{N/M}`, a bound on how far the bandits are from the null bandit.

    The bound is on the total variation between the rewards of bandit h and of the null bandit,
    averaged over h.
    """
    return float(u / 2 * np.sqrt(pulls / couples))


def missed_bound(couples: int, pulls: float, u: float) -> float:
    r"""Return Lemma 2's bound on the missed share: :math:`1-\tfrac1M-\tfrac u2\sqrt{N/M}`."""
    return 1 - 1 / couples - variation_bound(couples, pulls, u)


def separation(couples: int, rounds: float) -> float:
    r"""Return the u of the proof, :math:`\tfrac12\sqrt{M/n}`.

    Raises
    ------
    ValueError
        If n is below 4M.

    Examples
    --------
    >>> separation(2, 800)
    0.025
    """
    if rounds < 4 * couples:
        raise ValueError(f"rounds: must be at least 4M = {4 * couples}; got {rounds}")
    return float(np.sqrt(couples / rounds) / 2)


def regret_bound(family: HardFamily, rounds: float) -> float:
    r"""Return the bound for every strategy, :math:`\tfrac6{25}\rho^2\sqrt M\,n^{-3/2}`."""
    separation(family.couples, rounds)  # raises an error for too few rounds
    return float(CONSTANT * family.rho**2 * np.sqrt(family.couples) / rounds**1.5)


def unrounded_bound(family: HardFamily, rounds: float) -> float:
    r"""Return the bound of the lemmas before its constants are rounded.

    .. math:: \frac1n\,\frac{3\rho^2u}{(1+u)^2}\Bigl(1-\frac1M-\frac u2\sqrt{n/M}\Bigr)
              \quad\text{at } u=\tfrac12\sqrt{M/n}
    """
    u = separation(family.couples, rounds)
    missed = missed_bound(family.couples, rounds, u)
    return float(family.least_excess(1 - missed, u) / rounds)


def bounded_parameter_bound(family: HardFamily, rounds: float) -> float:
    r"""Return the bound for all estimators and parameters of length at most 1; may be negative.

    .. math:: \frac{\rho^2}n\Bigl[\tfrac6{25}\sqrt{M/n} - 9n^{-3/4}
              - 4d\,n^{3/4}P(\chi^2_{d+2}>n^{1/4})\Bigr]
    """
    outside = 4 * family.d * rounds**0.75 * chi2.sf(rounds**0.25, family.d + 2)
    lost = family.rho**2 * (9 * rounds**-0.75 + outside) / rounds
    return regret_bound(family, rounds) - float(lost)


def couple_shares(family: HardFamily, weights: ArrayLike) -> Floats:
    """Return the shares of the couples, shape (..., M), for designs of shape (..., A)."""
    paired = np.asarray(weights, dtype=np.float64)[..., : 2 * family.couples]
    return np.asarray(paired[..., ::2] + paired[..., 1::2])


def loss(
    family: HardFamily, weights: ArrayLike, u: float, couple: int | None = 0, ridge: float = 0.0
) -> float:
    r"""Return :math:`c^\top(A_b + \varepsilon I)^{-1}c`, which is :math:`nL_n(b)` if ε is 0.

    With :math:`\varepsilon=1/(n\tau^2)` it is n times the posterior variance of the value, given
    pulls in the shares b and the prior :math:`N(0,\tau^2I)`.

    Parameters
    ----------
    family : HardFamily
    weights : array, shape (A,)
        The design b.
    u : float
    couple : int or None
        h.
    ridge : float
        ε, at least 0; positive if b does not determine the value.
    """
    x = family.features
    scaled = np.asarray(weights, dtype=np.float64) / family.variances(couple, u)
    matrix = (x.T * scaled) @ x + ridge * np.eye(family.d)
    c = family.direction
    return float(c @ np.linalg.solve(matrix, c))


def excess_ratio(family: HardFamily, weights: ArrayLike, u: float, ridge: float = 0.0) -> float:
    r"""Return (loss - S² + 9ρ²ε) over the bound of Lemma 1, in bandit 0: at least 1 by the proofs.

    At ε = 0 this is Lemma 1; for positive ε the step from the design to estimators.
    """
    left = loss(family, weights, u, ridge=ridge) - family.optimal_value(u)
    share = couple_shares(family, weights)[0]
    return float((left + 9 * family.rho**2 * ridge) / family.least_excess(share, u))


def blind_excess(family: HardFamily, u: float) -> float:
    r"""Return :math:`nL_n-S_h^2` of pulling all couples equally, whatever the data.

    .. math:: \rho^2\Bigl[\frac{M-2}{3M}+\frac1M\Bigl(\frac1{3-g}+\frac1{3+g}\Bigr)\Bigr]^{-1}-S_h^2
    """
    return _excess_of_shares(family, u, 1 / family.couples, 1 / family.couples)


def choice_chances(couples: int, pulls: int, u: float) -> tuple[float, float]:
    """Return the probabilities that couple h, or its twin, looks quietest in bandit h.

    Each couple gets the same number of pulls, and the sums of squares are compared. The other
    M - 2 couples share the rest of the probability.

    Parameters
    ----------
    couples : int
        M, even.
    pulls : int
        Of each couple.
    u : float
    """
    down, up = 1 / (1 + u), (1 + 2 * u) / (1 + u)

    def wins(own: float, rival: float) -> float:
        def density(value: float) -> float:
            alone = chi2.pdf(value / own, pulls) / own * chi2.sf(value / rival, pulls)
            return float(alone * chi2.sf(value, pulls) ** (couples - 2))

        low, high = (float(chi2.ppf(level, pulls)) * own for level in (1e-13, 1 - 1e-13))
        return float(quad(density, low, high, limit=200)[0])

    return wins(down, up), wins(up, down)


def look_once_excess(family: HardFamily, u: float, rounds: int, part: float) -> float:
    r"""Return n R' of pulling all couples equally first, then only the one that looked quietest.

    Parameters
    ----------
    family : HardFamily
    u : float
    rounds : int
        n.
    part : float
        The fraction of the rounds that is used for the comparison, between 0 and 1. Each couple
        gets at least one pull, and its pulls are divided evenly between its two actions.
    """
    M = family.couples
    pulls = int(part * rounds) // M
    right, twin = choice_chances(M, pulls, u)
    each, rest = pulls / rounds, 1 - M * pulls / rounds
    outcomes = (
        (right, each + rest, each),
        (twin, each, each + rest),
        (1 - right - twin, each, each),
    )
    return sum(chance * _excess_of_shares(family, u, h, t) for chance, h, t in outcomes)


def _excess_of_shares(family: HardFamily, u: float, own: float, twin: float) -> float:
    """Return the excess if couples are balanced: only the shares of h and its twin matter."""
    information = (own * (1 + u) + twin * (1 + u) / (1 + 2 * u) + 1 - own - twin) / 3
    return float(family.rho**2 / information - family.optimal_value(u))


@dataclass(frozen=True, eq=False)
class Instance:
    """A design, a bandit and a prior, to be searched.

    Parameters
    ----------
    d : int
    u : float
    logs : array, shape (A,)
        Logarithms of the shares, up to a constant.
    log_ridge : float
        Logarithm of ε = 1/(nτ²).
    """

    d: int
    u: float
    logs: Floats
    log_ridge: float

    @property
    def family(self) -> HardFamily:
        """The family in d dimensions."""
        return _family(self.d)

    @property
    def weights(self) -> Floats:
        """The design, shape (A,), positive, of sum 1."""
        shares = np.exp(self.logs - self.logs.max())
        return np.asarray(shares / shares.sum())


def sample_instance(d: int, rng: np.random.Generator) -> Instance:
    """Draw an instance; in half of the cases, the actions of a group have equal shares.

    The groups are couple 0, its twin, the other couples and the single actions. In these cases,
    couple 0 has the largest shares.
    """
    groups = _groups(d)
    logs = rng.uniform(-LOG_SHARES, 0, len(groups))
    if rng.random() < 0.5:
        logs = np.array([0.0, *rng.uniform(-LOG_SHARES, 0, 3)])[groups]
    return _within(d, float(rng.uniform(0, LARGEST_SEPARATION)), logs, float(rng.uniform(-9, 0)))


def perturb_instance(instance: Instance, scale: float, rng: np.random.Generator) -> Instance:
    """Change some of its parts by steps of the order of the scale: shares one by one, or groups."""
    groups = _groups(instance.d)
    if rng.random() < 0.5:
        moves = rng.standard_normal(4)[groups]
    else:
        moved = rng.random(len(groups)) < rng.choice([0.1, 0.5, 1.0])
        moves = rng.standard_normal(len(groups)) * moved
    u, ridge = instance.u, instance.log_ridge
    if rng.random() < 0.5:
        u = u + scale * LARGEST_SEPARATION * float(rng.standard_normal())
    if rng.random() < 0.5:
        ridge = ridge + 9 * scale * float(rng.standard_normal())
    return _within(instance.d, u, instance.logs + scale * LOG_SHARES * moves, ridge)


def _groups(d: int) -> NDArray[np.int64]:
    """Return for each action: 0 in couple 0, 1 in its twin, 2 in another couple, 3 single."""
    family = _family(d)
    paired = 2 * family.couples
    groups = np.repeat([2, 3], [paired, family.n_actions - paired])
    groups[:2], groups[2:4] = 0, 1
    return groups


def _within(d: int, u: float, logs: Floats, log_ridge: float) -> Instance:
    return Instance(
        d=d,
        u=float(np.clip(u, SMALLEST_SEPARATION, LARGEST_SEPARATION)),
        logs=np.clip(logs - logs.max(), -LOG_SHARES, 0),
        log_ridge=float(np.clip(log_ridge, -12, 1)),
    )


@lru_cache(maxsize=32)
def _family(d: int) -> HardFamily:
    return HardFamily(d)
