r"""The error of an estimate from the scatter of the rewards that it combines.

Given exploration, the estimate of explore-then-commit is :math:`\sum_a \ell_a\,\bar r(a)` with
coefficients and counts that no later reward changes. Its variance is a sum over the pulled actions,
and the scatter :math:`S(a)` of an action's rewards estimates the action's part without bias:

.. math:: \sum_a \frac{\ell_a^2\,\sigma^2(a)}{T(a)} \approx \sum_a g_a, \qquad
          g_a = \frac{\ell_a^2\, s^2(a)}{T(a)}, \qquad s^2(a) = \frac{S(a)}{T(a) - 1} .

A variance learnt in exploration cannot be used here, since it decided the pulls. An action that
looked quiet by chance is pulled too seldom, *and* the learnt variance calls it quiet once more, so
the estimated error would be too small. Under Gaussian noise the sum has about the law of a chi
square with

.. math:: \nu = \Bigl(\sum_a g_a\Bigr)^2 \Big/ \sum_a \frac{g_a^2}{\nu_a}, \qquad
          \nu_a = T(a) - 1,

degrees of freedom, chosen such that mean and variance match (Satterthwaite), and the interval takes
Student's quantile. For one action the interval is the t-interval of a mean, and for two actions the
interval of Welch's test.

A single reward, or several equal rewards, have no scatter, but this does not show that there is no
noise. One squared deviation is then added. Its size is the variance v(a): the variance learnt in
exploration or the mean variance of the other rewards, whichever is larger. So :math:`s^2(a) =
v(a)/T(a)` with :math:`\nu_a = T(a)`. If neither variance is known, since no two rewards differ, the
error is infinite.

Limits. Rewards of one action must be independent with one variance. The interval is valid at a
fixed end of the experiment. If you look every day and stop when the result looks good, the interval
misses the true value more often than its level says. It is also too short if an important action
has few rewards, with heavy tails or with rare large values.

References
----------
F. E. Satterthwaite, "An approximate distribution of estimates of variance components", Biometrics
Bulletin 2 (1946) 110-114. B. L. Welch, Biometrika 34 (1947) 28-35, on Student's problem with
several unequal variances.
"""

from __future__ import annotations

import numpy as np

from speedlib._tolerances import NO_DEVIATION, ROUNDING, VANISHING_VARIANCE
from speedlib.checks import Floats
from speedlib.rewards import Rewards


def variance_within(
    coefficients: Floats, rewards: Rewards, learnt: Floats
) -> tuple[Floats, Floats]:
    """Estimate the variance of a combination of mean rewards from their scatter.

    Parameters
    ----------
    coefficients : array, shape (..., A)
        The coefficients of the mean rewards.
    rewards : Rewards
        The rewards that are combined, of shape (..., A).
    learnt : array, shape (..., A)
        Variances from elsewhere, for actions whose rewards have no scatter.

    Returns
    -------
    variance : array, shape (...,)
        In units of reward squared. Infinite if an action with a coefficient other than 0 has no
        scatter, and no other variance can replace it.
    degrees_of_freedom : array, shape (...,)
        At least 1; infinite where the variance is 0.
    """
    counts = rewards.counts.astype(np.float64)  # products of counts may exceed 2**63
    alike = rewards.scatters <= counts * (counts * ROUNDING * rewards.means) ** 2
    free = np.where(alike, counts, counts - 1)
    scatter = np.where(alike, 0.0, rewards.scatters)
    pooled = scatter.sum(axis=-1, keepdims=True) / np.maximum(
        np.where(alike, 0, free).sum(axis=-1, keepdims=True), 1
    )
    stand_in = np.maximum(learnt, pooled)
    # With a great many rewards far from 0, even true noise may look like rounding: it counts.
    squares = np.where(alike, np.maximum(stand_in, rewards.scatters), scatter)
    pulled = counts > 0
    times = np.where(pulled, counts * free, 1)
    parts = np.where(pulled, coefficients**2 * squares / times, 0.0)
    size = np.abs(rewards.means).max(axis=-1, keepdims=True, initial=0.0)
    nothing = (stand_in == VANISHING_VARIANCE) | (stand_in <= (NO_DEVIATION * size) ** 2)
    unknown = alike & pulled & (coefficients != 0) & nothing
    total = np.asarray(parts.sum(axis=-1))
    some = total > 0
    variance = np.where(unknown.any(axis=-1), np.inf, total)
    shares = parts / np.where(some, total, 1.0)[..., None]
    spread = np.sum(shares**2 / np.maximum(free, 1), axis=-1)
    return variance, np.where(some, 1.0 / np.where(some, spread, 1.0), np.inf)


def student_quantile(degrees_of_freedom: Floats, probability: float) -> Floats:
    """Return quantiles of Student's law, the normal one where the degrees are infinite."""
    from statistics import NormalDist  # brings decimal numbers and fractions along

    normal = NormalDist().inv_cdf(probability)
    finite = np.isfinite(degrees_of_freedom)
    if not finite.any():
        return np.full(degrees_of_freedom.shape, normal)
    from scipy.special import stdtrit  # takes longer to import than all of numpy

    found = stdtrit(np.where(finite, degrees_of_freedom, 1.0), probability)
    return np.where(finite, found, normal)
