r"""A family of bandits that are hard to distinguish and have different optimal supports.

In d >= 3 dimensions, with m = d - 1, the actions are

- for every pair i < j <= m and every sign, :math:`\pm\xi + e_d` with :math:`\xi = e_i + e_j` or
  :math:`e_i - e_j`: M = m (m - 1) couples of actions, squared length 3;
- :math:`\pm e_k` for k <= m, squared length 1.

A = 2 (d - 1)^2 in all. The policy gives the couples the probability rho together, in equal shares,
and the rest in equal shares to :math:`\pm e_k`, so :math:`c = \rho e_d`. In the null bandit
:math:`\Sigma_0 = I`. In bandit h, one for each couple, :math:`\Sigma_h` differs from it in one pair
of entries: couple h has the variance 3 - g; its *twin*, the couple with the other sign, has 3 + g;
all others are unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from speedlib import LinearBandit

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class HardFamily:
    r"""The family in one dimension.

    Parameters
    ----------
    d : int
        Dimension, at least 3.
    rho : float
        Probability of the couples, strictly between 0 and 1.

    Attributes
    ----------
    features : ndarray, shape (A, d)
        Actions 2h and 2h + 1 are couple h; its twin is couple h + 1 for even h, else h - 1. The
        last 2 (d - 1) actions are :math:`\pm e_k`.
    policy : ndarray, shape (A,)
    """

    d: int
    rho: float = 0.5
    features: Floats = field(init=False)
    policy: Floats = field(init=False)

    def __post_init__(self) -> None:
        if self.d < 3:
            raise ValueError(f"d: must be at least 3; got {self.d}")
        if not 0 < self.rho < 1:
            raise ValueError(f"rho: must be strictly between 0 and 1; got {self.rho}")
        eye = np.eye(self.d)
        rows = []
        for i, j in combinations(range(self.d - 1), 2):
            for xi in (eye[i] + eye[j], eye[i] - eye[j]):
                rows += [xi + eye[-1], -xi + eye[-1]]
        paired = len(rows)
        for k in range(self.d - 1):
            rows += [eye[k], -eye[k]]
        alone = len(rows) - paired
        policy = np.repeat([self.rho / paired, (1 - self.rho) / alone], [paired, alone])
        object.__setattr__(self, "features", np.array(rows))
        object.__setattr__(self, "policy", policy)

    @property
    def n_actions(self) -> int:
        """Number of actions A = 2 (d - 1)^2."""
        return len(self.features)

    @property
    def couples(self) -> int:
        """Number of couples M = (d - 1) (d - 2), and of bandits besides the null one."""
        return (self.d - 1) * (self.d - 2)

    @cached_property
    def direction(self) -> Floats:
        r"""The target direction :math:`c = \rho e_d`, shape (d,), exactly."""
        return np.asarray(self.rho * np.eye(self.d)[-1])

    def matrix(self, couple: int | None, u: float) -> Floats:
        r"""Return :math:`\Sigma_h`, shape (d, d); the identity where the couple is None.

        Parameters
        ----------
        couple : int or None
            h, from 0 to M - 1.
        u : float
            :math:`u = g/(3 - g)`, from 0 to 1/4 in the proofs; :math:`g = 3u/(1 + u)`.
        """
        matrix = np.eye(self.d)
        if couple is None:
            return matrix
        if not 0 <= couple < self.couples:
            raise ValueError(f"couple: must be from 0 to {self.couples - 1}; got {couple}")
        i, j = list(combinations(range(self.d - 1), 2))[couple // 2]
        sign = 1 - 2 * (couple % 2)
        matrix[i, j] = matrix[j, i] = -sign * gap(u) / 2
        return matrix

    def variances(self, couple: int | None, u: float) -> Floats:
        r"""Return the variances of all actions under :math:`\Sigma_h`, shape (A,)."""
        matrix = self.matrix(couple, u)
        return np.asarray(np.einsum("ai,ij,aj->a", self.features, matrix, self.features))

    def bandit(self, couple: int | None, u: float) -> LinearBandit:
        """Return bandit h, with means 0."""
        return LinearBandit(self.features, np.zeros(self.d), Sigma=self.matrix(couple, u))

    def optimal_value(self, u: float) -> float:
        r"""Return :math:`S_h^2 = \rho^2(3 - g) = 3\rho^2/(1 + u)`, the same for every h."""
        return 3 * self.rho**2 / (1 + u)

    def least_excess(self, share: Floats | float, u: float) -> Floats:
        r"""Return the lower bound on :math:`nL_n(b) - S_h^2` for a share of couple h.

        .. math:: \frac{3\rho^2u}{(1 + u)^2}\,(1 - \beta_h) .

        The result has the shape of the share :math:`\beta_h`.
        """
        missed = 1 - np.asarray(share, dtype=float)
        return np.asarray(3 * self.rho**2 * u / (1 + u) ** 2 * missed)


def gap(u: float) -> float:
    """Return g = 3u / (1 + u), by which the variance of couple h lies below 3."""
    return 3 * u / (1 + u)
