r"""Newton's method for A-, D- and linear designs on a moderate number of points.

With :math:`M(w) = \sum_a w_a x_a x_a^\top` and :math:`K = BB^\top`, both families of criteria
minimise a convex function of weights that need not sum to one:

.. math:: F(w) + \sum_a w_a, \quad w \ge 0, \qquad
   F = -\tfrac1d \log\det M(w) \quad\text{or}\quad F = \log \mathrm{Tr}(M(w)^{-1} K).

The *sensitivity* :math:`q_a = -\partial F / \partial w_a` is :math:`x_a^\top M^{-1} x_a / d` or
:math:`x_a^\top M^{-1} K M^{-1} x_a / \mathrm{Tr}(M^{-1}K)`. Always :math:`\sum_a w_a q_a = 1`; at
the optimum :math:`q_a \le 1` with equality on the support (the equivalence theorem), and so the
weights sum to one by themselves. The method is primal-dual: slacks s represent :math:`1 - q`, and
:math:`w_a s_a = \mu` is driven to zero.

Every iterate is kept in coordinates in which its information matrix is the identity. Then products
replace all inverses, and accuracy suffers neither from the scale of the points nor from a singular
information matrix at the optimum.

References
----------
Z. Lu and T. K. Pong, "Computing optimal experimental designs via interior point method", SIAM J.
Matrix Anal. Appl. 34 (2013).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from speedlib._tolerances import BARRIER_ROUNDING, COPIES_RIDGE, LEAST_GAP, NO_LENGTH
from speedlib.checks import Floats

__all__ = ["Iterate", "newton_step", "start"]

#: Each step aims at a complementarity w * s this many times smaller.
CENTRING = 0.05

#: On the central path the gap is at most m * mu; beyond this multiple the aim is kept.
OFF_PATH = 3.0

#: Share of the way to the boundary that a step may go.
TO_BOUNDARY = 0.99

#: Share of the descent promised by the slope that a step must bring (Armijo), and the factor by
#: which a step that does not is shortened.
SUFFICIENT, SHORTER = 1e-4, 0.4

#: Multiples of the central value mu / w between which a slack is kept.
LEAST_SLACK, MOST_SLACK = 0.01, 100.0

#: Newton's method starts where no sensitivity exceeds this.
NEAR = 10.0


@dataclass(frozen=True, eq=False)
class Iterate:
    """Weights on m points, in coordinates in which their information matrix is the identity.

    Attributes
    ----------
    weights, slacks : ndarray, shape (m,)
        Positive numbers w and s.
    points : ndarray, shape (m, r)
        The points, in these coordinates.
    root : ndarray, shape (r, k), or None
        The factor B of K, in these coordinates; None for the D-criterion.
    frame : ndarray, shape (d, r)
        Takes points as they were given (as rows) to these coordinates.
    loss : float
        F, up to a constant.
    mu : float
        The product w * s that the last step aimed at.
    """

    weights: Floats
    slacks: Floats
    points: Floats
    root: Floats | None
    frame: Floats
    loss: float
    mu: float

    @property
    def total(self) -> float:
        """Sum of the weights: one at the optimum."""
        return float(self.weights.sum())

    @property
    def gap(self) -> float:
        """Largest sensitivity of the normalised weights, minus one: zero at the optimum."""
        return float(self.sensitivity.max()) * self.total - 1.0

    @property
    def factor(self) -> Floats:
        """Matrix G, shape (d, r or k): a point x, as given, has ``q = |G'x|^2 / size``."""
        return self.frame if self.root is None else self.frame @ self.root

    @cached_property
    def size(self) -> float:
        """The dimension r, or Tr(M^-1 K)."""
        return self.points.shape[1] if self.root is None else float((self.root**2).sum())

    @cached_property
    def sensitivity(self) -> Floats:
        """The numbers q, shape (m,)."""
        images = self.points if self.root is None else self.points @ self.root
        return np.asarray((images**2).sum(axis=1) / self.size)

    def hessian(self) -> Floats:
        """Second derivatives of F, shape (m, m)."""
        gram = self.points @ self.points.T
        if self.root is None:
            return np.asarray(gram**2 / self.size)
        images = self.points @ self.root
        curvature = gram * (images @ images.T) * (2.0 / self.size)
        return np.asarray(curvature - np.outer(self.sensitivity, self.sensitivity))

    def moved(self, weights: Floats, slacks: Floats, mu: float) -> Iterate:
        """Take new weights and the coordinates that belong to them."""
        information = self.points.T @ (weights[:, None] * self.points)
        change = np.linalg.inv(np.linalg.cholesky(information)).T
        points, frame = self.points @ change, self.frame @ change
        if self.root is None:
            root = None
            loss = self.loss + 2.0 * float(np.log(np.diagonal(change)).mean())
        else:
            root = change.T @ self.root
            loss = float(np.log((root**2).sum()))
        return Iterate(weights, slacks, points, root, frame, loss, mu)


def start(
    points: Floats, root: Floats | None, frame: Floats, weights: Floats, least_slack: float
) -> Iterate:
    """First iterate from positive weights (of any sum) whose information matrix is invertible.

    Far from the optimum a few multiplicative steps, w * sqrt(q), come first: they cross many
    orders of magnitude where Newton's method would halve a weight at a time.
    """
    weights = weights / weights.sum()
    iterate = Iterate(weights, weights, points, root, frame, 0.0, 0.0).moved(weights, weights, 0.0)
    for _ in range(40):
        if iterate.gap < NEAR:
            break
        weights = iterate.weights * np.sqrt(np.maximum(iterate.sensitivity, 0.01))
        closer = _moved_if_regular(iterate, weights / weights.sum(), weights, 0.0)
        if closer is None:
            break
        iterate = closer
    slacks = np.maximum(1.0 - iterate.sensitivity, least_slack)
    return replace(iterate, slacks=slacks, mu=min(max(iterate.gap, LEAST_GAP), 1.0) / weights.size)


def _moved_if_regular(
    iterate: Iterate, weights: Floats, slacks: Floats, mu: float
) -> Iterate | None:
    """Move, or return None where rounding leaves the information matrix no longer definite."""
    try:
        return iterate.moved(weights, slacks, mu)
    except np.linalg.LinAlgError:
        return None


def newton_step(iterate: Iterate) -> Iterate:
    """One primal-dual step with a line search on F + sum of w - mu * sum of log w.

    Where rounding allows no step, the iterate stays as it is. Costs O(m^2 (m + r)).
    """
    w, s, q = iterate.weights, iterate.slacks, iterate.sensitivity
    on_path = iterate.gap <= OFF_PATH * w.size * iterate.mu
    mu = iterate.mu * (CENTRING if on_path else 1.0)
    system = w[:, None] * iterate.hessian() * w
    diagonal = system.diagonal() + w * s
    # Copies of a point make the system singular but for w * s, which may be negligible.
    np.fill_diagonal(system, diagonal * (1.0 + COPIES_RIDGE))
    descent = mu - w * (1.0 - q)
    relative = cho_solve(cho_factor(system, check_finite=False), descent, check_finite=False)
    slope = float(relative @ descent)

    longest = min(1.0, TO_BOUNDARY / max(float(-relative.min()), NO_LENGTH))
    barrier = iterate.loss + iterate.total - mu * float(np.log(w).sum())
    step_s = mu / w - s * (1.0 + relative)
    length_s = min(1.0, TO_BOUNDARY / max(float((-step_s / s).max()), NO_LENGTH))
    slacks = s + length_s * step_s
    best = iterate
    for length in longest * SHORTER ** np.arange(30):
        weights = w * (1.0 + length * relative)
        within = np.clip(slacks, LEAST_SLACK * mu / weights, MOST_SLACK * mu / weights)
        if (moved := _moved_if_regular(iterate, weights, within, mu)) is None:
            continue
        best = moved
        reached = moved.loss + moved.total - mu * float(np.log(weights).sum())
        if reached <= barrier - SUFFICIENT * length * slope + BARRIER_ROUNDING:
            break
    return best
