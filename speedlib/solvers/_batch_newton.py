r"""Newton's method for many A- or D-optimal designs that share their features.

This is the method of :mod:`speedlib.solvers._interior`, applied to all actions of all problems side
by side. With :math:`M = \sum_a u_a x_a x_a^\top` and :math:`u_a = w_a / \sigma_a^2`, the
sensitivities and the second derivatives of the loss F are

.. math::
   q_a = \frac{x_a^\top C\, x_a}{\sigma_a^2 \tau}, \qquad
   H_{ab} = \frac{\varphi_a^\top N \varphi_b}{\sigma_a^2 \sigma_b^2}, \qquad
   \varphi_a = (x_{ai} x_{aj})_{i \le j} ,

where :math:`C = M^{-1}, \tau = d` for D and :math:`C = M^{-2}, \tau = \mathrm{Tr}\,M^{-1}` for A,
and N holds the second derivatives with respect to M. So a Newton step has d(d+1)/2 unknowns,
whatever the number of actions. A step uses the actions only through M and :math:`\sum_a t_a
\varphi_a \varphi_a^\top`. These are sums of products of two and of four features. These products
are the same for all problems, and one product of two matrices makes all the sums.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from speedlib._tolerances import BARRIER_ROUNDING, LEAST_GAP, NO_LENGTH
from speedlib.checks import Flags, Floats
from speedlib.solvers._interior import (
    CENTRING,
    LEAST_SLACK,
    MOST_SLACK,
    OFF_PATH,
    SHORTER,
    SUFFICIENT,
    TO_BOUNDARY,
)

__all__ = ["Problems"]

#: Newton steps, multiplicative steps before them, and reductions of a step, at most.
STEPS, FIRST_STEPS, REDUCTIONS = 50, 12, 20


@dataclass(frozen=True, eq=False)
class _Iterates:
    """Weights (R, A) of any sum, and quantities computed from these.

    Besides F and q, these quantities are M^-1, C (called middle) and tau (called size).
    """

    precisions: Floats
    weights: Floats
    inverse: Floats
    middle: Floats
    size: Floats
    loss: Floats
    sensitivity: Floats

    @property
    def gap(self) -> Floats:
        """Largest sensitivity of the normalised weights, minus one."""
        return np.asarray(self.sensitivity.max(axis=1) * self.weights.sum(axis=1) - 1.0)

    def barrier(self, mu: Floats) -> Floats:
        """Return what a step must reduce."""
        logarithms = np.log(self.weights).sum(axis=1)
        return np.asarray(self.loss + self.weights.sum(axis=1) - mu * logarithms)

    def those(self, chosen: Flags) -> _Iterates:
        """Keep some of the problems."""
        return _Iterates(*(part[chosen] for part in vars(self).values()))


class Problems:
    r"""The products of features, and Newton's method with their help.

    Parameters
    ----------
    points : ndarray, shape (A, d)
        The features, in coordinates in which they are as different as possible.
    kernel : ndarray, shape (d, d), or None
        For the A-criterion the matrix K for which :math:`\mathrm{Tr}(M^{-1} K)` in these
        coordinates is the trace in those of the features, and :math:`C = M^{-1} K M^{-1}`; None
        for D.
    """

    def __init__(self, points: Floats, kernel: Floats | None) -> None:
        self.points, self.kernel = points, kernel
        d = points.shape[1]
        self.i, self.j = i, j = np.triu_indices(d)
        self.twice = np.where(i == j, 1.0, 2.0)
        self.pairs = points[:, i] * points[:, j]
        self.pair_of = np.zeros((d, d), dtype=np.intp)
        self.pair_of[i, j] = self.pair_of[j, i] = np.arange(i.size)
        # Products of four do not depend on the order: most of those of two pairs are the same.
        first, second = np.divmod(np.arange(i.size**2), i.size)
        fours = np.sort(np.stack([i[first], j[first], i[second], j[second]]), axis=0)
        _, chosen, four_of = np.unique(fours, axis=1, return_index=True, return_inverse=True)
        self.fours = self.pairs[:, first[chosen]] * self.pairs[:, second[chosen]]
        self.four_of = four_of.reshape(i.size, i.size)

    def central_path(self, precisions: Floats, tolerance: float) -> Floats:
        """Follow the central path of every problem until its gap is a quarter of the tolerance.

        Takes the precisions 1 / variance, shape (R, A), and returns positive weights of the
        same shape and of any sum; nan where numbers left the range of floats.
        """
        lengths = (self.points**2).sum(axis=1)
        weights: Floats = 1.0 / (precisions * np.where(lengths > 0, lengths, 1.0))
        for _ in range(FIRST_STEPS):
            weights /= weights.sum(axis=1, keepdims=True)
            q = self.at(precisions, weights).sensitivity
            weights *= np.sqrt(np.maximum(q, 0.01))
        weights /= weights.sum(axis=1, keepdims=True)
        final, going = weights.copy(), np.arange(len(weights))
        iterates = self.at(precisions, weights)
        slacks = np.maximum(1.0 - iterates.sensitivity, 0.1)
        mu = np.clip(iterates.gap, LEAST_GAP, 1.0) / weights.shape[1]
        for _ in range(STEPS):
            iterates, slacks, mu = self._newton_step(iterates, slacks, mu)
            final[going] = iterates.weights
            far = ~(iterates.gap <= tolerance / 4) & np.isfinite(iterates.loss)
            if not far.any():
                break
            going, slacks, mu, iterates = going[far], slacks[far], mu[far], iterates.those(far)
        return final

    def _newton_step(
        self, here: _Iterates, slacks: Floats, mu: Floats
    ) -> tuple[_Iterates, Floats, Floats]:
        """One primal-dual step with a line search, as `_interior.newton_step` makes it."""
        w = here.weights
        mu = mu * np.where(here.gap <= OFF_PATH * w.shape[1] * mu, CENTRING, 1.0)
        descent = mu[:, None] - w * (1.0 - here.sensitivity)
        relative = self._solution(here, slacks, descent)
        slope = (relative * descent).sum(axis=1)
        length = np.minimum(1.0, TO_BOUNDARY / np.maximum(-relative.min(axis=1), NO_LENGTH))
        step = mu[:, None] / w - slacks * (1.0 + relative)
        reach = np.maximum((-step / slacks).max(axis=1), NO_LENGTH)
        slacks = slacks + np.minimum(1.0, TO_BOUNDARY / reach)[:, None] * step
        barrier = here.barrier(mu)
        for _ in range(REDUCTIONS):
            moved = self.at(here.precisions, w * (1.0 + length[:, None] * relative))
            short = ~(moved.barrier(mu) <= barrier - SUFFICIENT * length * slope + BARRIER_ROUNDING)
            if not short.any():
                break
            length = np.where(short, SHORTER * length, length)
        centre = mu[:, None] / moved.weights
        return moved, np.clip(slacks, LEAST_SLACK * centre, MOST_SLACK * centre), mu

    def _solution(self, here: _Iterates, slacks: Floats, descent: Floats) -> Floats:
        """Solve (WHW + WS) r = descent for the relative step r, by way of y = N phi' U r."""
        u, diagonal = here.weights * here.precisions, here.weights * slacks
        curvature = self._curvature(here)
        moments = ((u**2 / diagonal) @ self.fours)[:, self.four_of]
        system = np.eye(self.i.size) + curvature @ moments
        right = curvature @ ((u * descent / diagonal) @ self.pairs)[..., None]
        y = np.linalg.solve(system, right)[..., 0]
        return np.asarray((descent - u * (y @ self.pairs.T)) / diagonal)

    def _curvature(self, here: _Iterates) -> Floats:
        """Second derivatives N of the loss with respect to M, shape (R, d(d+1)/2, d(d+1)/2)."""
        i, j, left, right = self.i, self.j, here.inverse, here.middle
        k, m = i[:, None], j[:, None]
        n = left[:, k, i] * right[:, m, j] + left[:, k, j] * right[:, m, i]
        twice = self.twice / here.size[:, None]
        both = 0.5 * twice[:, :, None] * self.twice
        if self.kernel is None:
            return np.asarray(n * both)
        n += left[:, m, i] * right[:, k, j] + left[:, m, j] * right[:, k, i]
        slope = twice * right[:, i, j]
        return np.asarray(n * both - slope[:, :, None] * slope[:, None, :])

    def at(self, precisions: Floats, weights: Floats) -> _Iterates:
        """Compute what follows from the weights."""
        information = ((weights * precisions) @ self.pairs)[:, self.pair_of]
        inverse, logarithm = _inverse(information)
        if self.kernel is None:
            middle, size = inverse, np.full(len(weights), float(self.points.shape[1]))
            loss = -logarithm / size
        else:
            middle = inverse @ self.kernel @ inverse
            size = np.einsum("rij,ij->r", inverse, self.kernel)
            loss = np.log(size)
        form = middle[:, self.i, self.j] * self.twice / size[:, None]
        sensitivity = (form @ self.pairs.T) * precisions
        return _Iterates(precisions, weights, inverse, middle, size, loss, sensitivity)


def _inverse(matrices: Floats) -> tuple[Floats, Floats]:
    """Invert positive definite matrices, and return the logarithms of their determinants too.

    Gauss-Jordan steps of all matrices at once: where one is singular, its numbers come out as nan.
    """
    inverse, logarithm = matrices.copy(), np.zeros(len(matrices))
    for k in range(matrices.shape[1]):
        pivot = inverse[:, k, k].copy()
        logarithm += np.log(pivot)
        row = inverse[:, k] / pivot[:, None]
        column = inverse[:, :, k].copy()
        inverse -= column[:, :, None] * row[:, None, :]
        inverse[:, k], inverse[:, :, k] = row, -column / pivot[:, None]
        inverse[:, k, k] = 1.0 / pivot
    return inverse, logarithm
