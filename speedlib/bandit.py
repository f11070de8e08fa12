"""The linear heteroscedastic bandit: what an action returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from speedlib._labels import check_order
from speedlib._tolerances import VARIANCE_AGREEMENT
from speedlib.checks import (
    LARGEST,
    Counts,
    Floats,
    check_actions,
    check_choice,
    check_count,
    check_counts,
    check_features,
    check_finite,
    check_policy,
    check_psd,
    check_rng,
    check_sizes,
    check_variances,
    check_vector,
    frozen,
)
from speedlib.rewards import Rewards

__all__ = ["NOISE_LAWS", "LinearBandit", "quadratic_form", "standard_noise"]

#: Noise laws by name, with kappa = Var(eta^2) / sigma^4: how noisy squared residuals are.
NOISE_LAWS: dict[str, float] = {
    "gaussian": 2.0,
    "uniform": 0.8,
    "rademacher": 0.0,
    "laplace": 5.0,
    "student": 8.0,
}

#: Degrees of freedom of the "student" law: the smallest whole number with a fourth moment.
STUDENT_DF = 5

#: About how many single rewards are held in memory at once when a law has no short cut.
_CHUNK = 2_000_000


@dataclass(frozen=True, eq=False)
class LinearBandit:
    r"""A bandit whose means are linear and whose variances are quadratic in the features.

    Pulling action a returns

    .. math:: r = x(a)^\top \theta_* + \eta, \qquad \mathbb E\,\eta = 0, \qquad
              \operatorname{Var} \eta = \sigma^2(a) = x(a)^\top \Sigma_* x(a).

    Parameters
    ----------
    features : array, shape (A, d)
        One row x(a) per action; finite.
    theta : array, shape (d,)
        The reward parameter; the mean reward of action a is ``features[a] @ theta``.
    Sigma : array, shape (d, d), optional
        The noise matrix: symmetric positive semidefinite, possibly singular.
    variances : array, shape (A,), optional
        The variances of the actions, at least 0, for a bandit that no `Sigma` describes. One of
        `Sigma` and `variances` must be given, and if both are, they must agree.
    noise : {"gaussian", "uniform", "rademacher", "laplace", "student"}
        The law of :math:`\eta`, always scaled to variance :math:`\sigma^2(a)`. ``"student"`` has
        five degrees of freedom.

    Raises
    ------
    ValueError
        If a shape does not fit, an entry is not finite, `Sigma` is not positive semidefinite or a
        variance is negative.

    Notes
    -----
    The model is from Section 2 of the paper.

    Examples
    --------
    >>> import numpy as np
    >>> bandit = LinearBandit(features=np.eye(2), theta=[1.0, 0.0], Sigma=np.diag([0.05, 0.35]))
    >>> bandit.means.tolist(), bandit.variances.tolist()
    ([1.0, 0.0], [0.05, 0.35])
    >>> bandit.value([0.8, 0.2])
    0.8
    """

    features: Floats
    theta: Floats
    Sigma: Floats | None = None
    variances: Floats = None  # type: ignore[assignment]  # filled in from Sigma
    noise: str = "gaussian"

    def __post_init__(self) -> None:
        columns = {"theta": self.theta, "Sigma": self.Sigma}
        check_order(self.features, {"variances": self.variances}, columns)
        features = check_features(self.features)
        n_actions, d = features.shape
        if self.Sigma is None and self.variances is None:
            raise ValueError("Sigma, variances: give Sigma or variances; got neither")
        Sigma = None if self.Sigma is None else check_psd("Sigma", self.Sigma, d)
        if Sigma is None:
            variances = check_variances(self.variances, n_actions, allow_zero=True)
        else:
            # Rounding can push the variance of an action in the null space of Sigma below zero.
            variances = np.maximum(quadratic_values(features, Sigma), 0.0)
            check_sizes("Sigma", variances, "the variances that it gives")
            if self.variances is not None:
                given = check_variances(self.variances, n_actions, allow_zero=True)
                if np.any(np.abs(given - variances) > VARIANCE_AGREEMENT * variances.max()):
                    raise ValueError(
                        "LinearBandit: variances must agree with Sigma where both are given; "
                        f"got {given} against {variances}"
                    )
        check_choice("noise", self.noise, tuple(NOISE_LAWS))
        theta = check_vector("theta", self.theta, d)
        with np.errstate(over="ignore"):
            largest = np.abs(features @ theta).max()
        if not largest <= LARGEST:
            raise ValueError(
                f"theta: the mean rewards that it gives must be at most {LARGEST:g} in size; "
                f"got {largest:g}"
            )
        fields = {
            "features": features,
            "theta": theta,
            "Sigma": Sigma,
            "variances": variances,
        }
        for name, value in fields.items():
            object.__setattr__(self, name, None if value is None else frozen(value))

    def __reduce__(self) -> tuple[Any, ...]:
        """Build a copy from its parts, since NumPy forgets that an array is read-only."""
        parts = (self.features, self.theta, self.Sigma, self.variances, self.noise)
        return type(self), parts

    @property
    def n_actions(self) -> int:
        """Number of actions A."""
        return int(self.features.shape[0])

    @property
    def d(self) -> int:
        """Dimension of the features."""
        return int(self.features.shape[1])

    @property
    def means(self) -> Floats:
        """Mean reward of each action, shape (A,)."""
        return self.features @ self.theta

    @property
    def kappa(self) -> float:
        r"""Relative variance of the squared noise, :math:`\operatorname{Var}\eta^2/\sigma^4`."""
        return NOISE_LAWS[self.noise]

    def value(self, policy: ArrayLike) -> float:
        r"""Return the value of a policy, :math:`v(\pi) = \sum_a \pi(a)\, x(a)^\top\theta_*`."""
        return float(check_policy(policy, self.n_actions) @ self.means)

    def pull(self, counts: ArrayLike, rng: np.random.Generator) -> Rewards:
        r"""Pull every action a given number of times and summarise the rewards.

        Parameters
        ----------
        counts : array of int, shape (..., A)
            Number of pulls; leading axes are independent replications.
        rng : numpy.random.Generator
            Source of randomness, the same for all phases of an experiment. A seed would start the
            same noise at every call, so the phases would not be independent.

        Returns
        -------
        Rewards
            Counts, means and scatters of shape (..., A), distributed exactly as if each reward had
            been drawn by itself.

        Notes
        -----
        For Gaussian rewards the cost is O(A) whatever the counts are, since :math:`\bar r \sim
        N(\mu, \sigma^2/T)` and :math:`S \sim \sigma^2\chi^2_{T-1}` are independent; Rademacher
        noise needs one binomial per action. The other laws are drawn reward by reward, O(sum of
        counts).
        """
        counts, rng = check_counts(counts, self.n_actions), check_rng(rng)
        if self.noise == "gaussian":
            noise = _gaussian_rewards(counts, rng)
        elif self.noise == "rademacher":
            noise = _rademacher_rewards(counts, rng)
        else:
            noise = _drawn_rewards(counts, self.noise, rng)
        means = np.where(counts > 0, self.means + np.sqrt(self.variances) * noise.means, 0.0)
        return Rewards(counts, means, self.variances * noise.scatters)

    def pull_each(self, actions: ArrayLike, rng: np.random.Generator) -> Floats:
        """Pull a sequence of actions one by one and return every single reward, shape (n,).

        This simulator is slow and simple; tests compare `pull` with it.
        """
        index = check_actions(actions, self.n_actions)
        eta = standard_noise(self.noise, index.size, check_rng(rng))
        return np.asarray(self.means[index] + np.sqrt(self.variances[index]) * eta)


def check_bandit(bandit: object) -> LinearBandit:
    """Return a bandit, or say what it is instead."""
    if not isinstance(bandit, LinearBandit):
        raise TypeError(f"bandit: expected a LinearBandit; got {type(bandit).__name__}")
    return bandit


def quadratic_form(features: ArrayLike, matrix: ArrayLike) -> Floats:
    r"""Return :math:`x(a)^\top S x(a)` for every row a, shape (..., A); S has shape (..., d, d)."""
    x, S = check_features(features), check_finite("matrix", matrix)
    d = x.shape[1]
    if S.shape[-2:] != (d, d):
        raise ValueError(f"matrix: expected shape (..., {d}, {d}); got shape {S.shape}")
    if not np.abs(S).max(initial=0.0) <= LARGEST**2:
        raise ValueError(
            f"matrix: entries must be at most {LARGEST**2:g} in size; got {np.abs(S).max():g}"
        )
    return quadratic_values(x, S)


def quadratic_values(features: Floats, matrix: Floats) -> Floats:
    """Return quadratic forms of checked numbers."""
    return np.asarray(np.einsum("ai,...ij,aj->...a", features, matrix, features, optimize=True))


def standard_noise(law: str, size: int, rng: np.random.Generator) -> Floats:
    """Draw noise of mean 0 and variance 1 from a law of `NOISE_LAWS`, shape (size,)."""
    check_choice("noise", law, tuple(NOISE_LAWS))
    size, rng = check_count("size", size, 0), check_rng(rng)
    if law == "gaussian":
        return rng.standard_normal(size)
    if law == "uniform":
        return rng.uniform(-np.sqrt(3.0), np.sqrt(3.0), size)
    if law == "rademacher":
        return rng.choice(np.array([-1.0, 1.0]), size)
    if law == "laplace":
        return rng.laplace(0.0, np.sqrt(0.5), size)
    scale = float(np.sqrt((STUDENT_DF - 2) / STUDENT_DF))
    return np.asarray(scale * rng.standard_t(STUDENT_DF, size))


def _gaussian_rewards(counts: Counts, rng: np.random.Generator) -> Rewards:
    mean = rng.standard_normal(counts.shape) / np.sqrt(np.maximum(counts, 1))
    freedom = np.maximum(counts - 1, 0)
    # A chi-squared variable is twice a gamma variable of half the freedom, and gamma allows 0.
    return Rewards(counts, np.where(counts > 0, mean, 0.0), 2 * rng.standard_gamma(freedom / 2))


def _rademacher_rewards(counts: Counts, rng: np.random.Generator) -> Rewards:
    mean = (2.0 * rng.binomial(counts, 0.5) - counts) / np.maximum(counts, 1)
    return Rewards(counts, mean, counts * (1.0 - mean**2))


def _drawn_rewards(counts: Counts, law: str, rng: np.random.Generator) -> Rewards:
    """Draw reward by reward, in pieces of at most _CHUNK rewards of one cell."""
    flat = counts.ravel()
    pieces = np.maximum(-(-flat // _CHUNK), 1)
    cell = np.repeat(np.arange(flat.size), pieces)
    size = np.full(cell.size, _CHUNK)
    size[np.cumsum(pieces) - 1] = flat - (pieces - 1) * _CHUNK
    mean, scatter = _drawn_pieces(size, law, rng)
    total = np.bincount(cell, weights=size * mean, minlength=flat.size)
    whole = total / np.maximum(flat, 1)
    scatter = scatter + size * (mean - whole[cell]) ** 2
    pooled = np.bincount(cell, weights=scatter, minlength=flat.size).astype(np.float64)
    return Rewards(counts, whole.reshape(counts.shape), pooled.reshape(counts.shape))


def _drawn_pieces(sizes: Counts, law: str, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw in runs of pieces that fill the memory allowed; return their means and scatters."""
    mean, scatter = np.zeros(sizes.size), np.zeros(sizes.size)
    for start, stop in _runs(np.cumsum(sizes) // _CHUNK):
        owner = np.repeat(np.arange(stop - start), sizes[start:stop])
        eta = standard_noise(law, owner.size, rng)
        drawn = np.maximum(sizes[start:stop], 1)
        part = np.bincount(owner, weights=eta, minlength=stop - start) / drawn
        squares = (eta - part[owner]) ** 2
        mean[start:stop] = part
        scatter[start:stop] = np.bincount(owner, weights=squares, minlength=stop - start)
    return mean, scatter


def _runs(labels: Counts) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(labels)) + 1
    return list(zip([0, *edges.tolist()], [*edges.tolist(), labels.size], strict=True))
