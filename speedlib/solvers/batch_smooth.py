r"""Many small A- and D-optimal designs that share their features, all at once.

A strategy that commits to an A- or D-optimal design needs one for every replication, with the same
features and other variances. For a few dozen actions the Newton steps of
:mod:`speedlib.solvers.interior` on *all* actions are small dense systems, and thousands of them fit
into one stacked call. Each design is certified by its largest sensitivity: with
:math:`M = \sum_a w_a x_a x_a^\top`, points :math:`x_a` scaled by their deviations and

.. math::
   s_a = \tfrac1d\, x_a^\top M^{-1} x_a \;\;\text{(D)}, \qquad
   s_a = x_a^\top M^{-2} x_a / \operatorname{Tr} M^{-1} \;\;\text{(A)},

the efficiency is at least :math:`1/\max_a s_a`, and the optimum attains one. What the batch does
not solve goes to :func:`speedlib.solvers.exchange.exchange_design`, one by one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from speedlib.checks import Floats, check_choice, check_features, check_share, check_variances
from speedlib.solvers.exchange import exchange_design
from speedlib.solvers.interior import CENTRING, OFF_PATH, TO_BOUNDARY

__all__ = ["SmoothDesigns", "smooth_designs"]

#: With more actions than this a working set for each problem is cheaper than all actions at once.
MANY_ACTIONS = 48

#: Numbers in one stack of Hessians.
BLOCK = 1_000_000

#: Newton steps, multiplicative steps before them, and halvings of a step, at most.
STEPS, FIRST_STEPS, HALVINGS = 50, 12, 20

#: Weights below this multiple of the largest are taken for zero, if the design stays good.
VANISHING = 1e-6

#: Problems with an information matrix of a larger condition number go one by one.
CONDITION = 1e9


@dataclass(frozen=True)
class SmoothDesigns:
    """Designs of R problems.

    Attributes
    ----------
    weights : ndarray, shape (R, A)
        Non-negative; each row sums to one.
    values : ndarray, shape (R,)
        Log-determinant of the information matrix for ``"D"``, trace of its inverse for ``"A"``.
    efficiency_bounds : ndarray, shape (R,)
        Certified lower bounds on the efficiencies.
    singles : int
        How many problems were solved one by one.
    """

    weights: Floats
    values: Floats
    efficiency_bounds: Floats
    singles: int


def smooth_designs(
    features: ArrayLike, variances: ArrayLike, criterion: str, *, tolerance: float = 1e-6
) -> SmoothDesigns:
    r"""Find A- or D-optimal designs for many vectors of variances.

    Parameters
    ----------
    features : array-like, shape (A, d)
        One row x(a) per action, the same for all problems.
    variances : array-like, shape (R, A)
        Positive noise variances, one row a problem.
    criterion : {"A", "D"}
        Minimise :math:`\mathrm{Tr}\,A(b)^{-1}` or maximise :math:`\log\det A(b)`.
    tolerance : float
        Efficiency that may be missed.

    Returns
    -------
    SmoothDesigns
        Weights, values and certificates.

    Raises
    ------
    ValueError
        If an argument breaks its rule, or the features do not span the space.

    Notes
    -----
    About fifteen Newton steps of cost :math:`O(A^3)` a problem. Where several designs are optimal
    (for D only their information matrix is unique) one of them is returned.

    Examples
    --------
    >>> designs = smooth_designs([[1.0, 0.0], [0.0, 1.0]], [[1.0, 1.0], [1.0, 4.0]], "A")
    >>> designs.weights.round(5)
    array([[0.5    , 0.5    ],
           [0.33333, 0.66667]])
    """
    x = check_features(features)
    v = check_variances(variances, x.shape[0], batch=True)
    if v.ndim != 2:
        raise ValueError(f"variances: expected shape (R, {x.shape[0]}); got shape {v.shape}")
    check_choice("criterion", criterion, ("A", "D"))
    tolerance = check_share("tolerance", tolerance)
    weights, values, bounds = np.zeros(v.shape), np.zeros(len(v)), np.zeros(len(v))
    frame = _frame(x)
    if frame is not None and len(x) <= MANY_ACTIONS:
        size = max(1, BLOCK // len(x) ** 2)
        for first in range(0, len(v), size):
            block = slice(first, first + size)
            points = (x @ frame) / np.sqrt(v[block])[..., None]
            problems = _Problems(points, frame, criterion)
            weights[block], values[block], bounds[block] = problems.solve(tolerance)
    left = np.flatnonzero(~(bounds >= 1.0 - tolerance))
    for r in left:
        single = exchange_design(x / np.sqrt(v[r])[:, None], criterion, tolerance=tolerance)
        weights[r], values[r], bounds[r] = single.weights, single.value, single.efficiency_bound
    return SmoothDesigns(weights, values, bounds, left.size)


def _frame(x: Floats) -> Floats | None:
    """Coordinates in which the features are orthonormal columns; None if they do not span."""
    scale = np.abs(x).max(axis=0)
    if not scale.all():
        return None
    _, values, right = np.linalg.svd(x / scale, full_matrices=False)
    if values.size < x.shape[1] or values[-1] < 1e-8 * values[0]:
        return None
    return np.asarray((right / values[:, None]).T / scale[:, None])


@dataclass(frozen=True)
class _State:
    """What follows from weights (R, A): loss, and of all actions sensitivity and curvature."""

    weights: Floats
    loss: Floats
    sensitivity: Floats
    hessian: Floats


class _Problems:
    """Problems with points (R, A, d) in a frame that is common to all."""

    def __init__(self, points: Floats, frame: Floats, criterion: str) -> None:
        self.points, self.frame, self.criterion = points, frame, criterion

    def solve(self, tolerance: float) -> tuple[Floats, Floats, Floats]:
        """Return weights, values and efficiency bounds; a bound of zero where nothing was found."""
        try:
            with np.errstate(all="ignore"):
                return self._certified(self._central_path(tolerance), tolerance)
        except np.linalg.LinAlgError:
            n_problems, n_actions, _ = self.points.shape
            return np.zeros((n_problems, n_actions)), np.zeros(n_problems), np.zeros(n_problems)

    def _central_path(self, tolerance: float) -> Floats:
        """Follow the central path of every problem until its gap is a quarter of the tolerance."""
        weights: Floats = 1.0 / (self.points**2).sum(axis=-1)
        for _ in range(FIRST_STEPS):
            weights /= weights.sum(axis=-1, keepdims=True)
            q = self._state(self.points, weights).sensitivity
            weights = weights * np.sqrt(np.maximum(q, 0.01))
        final: Floats = weights / weights.sum(axis=-1, keepdims=True)
        going, points = np.arange(len(final)), self.points
        state = self._state(points, final)
        slacks = np.maximum(1.0 - state.sensitivity, 0.1)
        mu = np.clip(_gap(state), 1e-15, 1.0) / final.shape[1]
        for _ in range(STEPS):
            state, slacks, mu = self._newton_step(points, state, slacks, mu)
            final[going] = state.weights
            far = ~(_gap(state) <= tolerance / 4)
            if not far.any():
                break
            going, points, slacks, mu = going[far], points[far], slacks[far], mu[far]
            state = _State(*(part[far] for part in vars(state).values()))
        return final

    def _newton_step(
        self, points: Floats, state: _State, slacks: Floats, mu: Floats
    ) -> tuple[_State, Floats, Floats]:
        """One primal-dual step with a line search, as `interior.newton_step` makes it."""
        w, q = state.weights, state.sensitivity
        on_path = _gap(state) <= OFF_PATH * w.shape[1] * mu
        mu = mu * np.where(on_path, CENTRING, 1.0)
        system = w[:, :, None] * state.hessian * w[:, None, :]
        diagonal = np.einsum("raa->ra", system)
        diagonal += w * slacks
        diagonal *= 1.0 + 1e-12
        descent = mu[:, None] - w * (1.0 - q)
        relative = np.linalg.solve(system, descent[..., None])[..., 0]
        slope = np.sum(relative * descent, axis=-1)
        length = np.minimum(1.0, TO_BOUNDARY / np.maximum(-relative.min(axis=-1), 1e-300))
        step = mu[:, None] / w - slacks * (1.0 + relative)
        reach = np.maximum((-step / slacks).max(axis=-1), 1e-300)
        slacks = slacks + np.minimum(1.0, TO_BOUNDARY / reach)[:, None] * step
        barrier = _barrier(state, mu)
        for _ in range(HALVINGS):
            moved = self._state(points, w * (1.0 + length[:, None] * relative))
            short = ~(_barrier(moved, mu) <= barrier - 1e-4 * length * slope + 1e-12)
            if not short.any():
                break
            length = np.where(short, 0.4 * length, length)
        centre = mu[:, None] / moved.weights
        return moved, np.clip(slacks, 0.01 * centre, 100.0 * centre), mu

    def _state(self, points: Floats, weights: Floats) -> _State:
        columns = np.swapaxes(points, -1, -2)
        information = (columns * weights[:, None, :]) @ points
        inverse = np.linalg.inv(information)
        images = points @ inverse
        gram = images @ columns
        if self.criterion == "D":
            d = points.shape[-1]
            loss = -np.linalg.slogdet(information)[1] / d
            return _State(weights, loss, np.einsum("raa->ra", gram) / d, gram**2 / d)
        images = images @ self.frame.T
        size = np.einsum("ij,rjk,ik->r", self.frame, inverse, self.frame, optimize=True)
        q = np.sum(images**2, axis=-1) / size[:, None]
        curvature = gram * (images @ np.swapaxes(images, -1, -2)) * (2.0 / size[:, None, None])
        return _State(weights, np.log(size), q, curvature - q[:, :, None] * q[:, None, :])

    def _certified(self, weights: Floats, tolerance: float) -> tuple[Floats, Floats, Floats]:
        """Drop vanishing weights where the certificate allows it, and compute both afresh."""
        weights = weights / weights.sum(axis=-1, keepdims=True)
        pruned = np.where(weights > VANISHING * weights.max(axis=-1, keepdims=True), weights, 0.0)
        pruned /= pruned.sum(axis=-1, keepdims=True)
        values, bounds = self._judged(pruned)
        worse = ~(bounds >= 1.0 - tolerance)
        if worse.any():
            full_values, full_bounds = self._judged(weights)
            pruned[worse], values[worse] = weights[worse], full_values[worse]
            bounds[worse] = full_bounds[worse]
        return pruned, values, bounds

    def _judged(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return values and efficiency bounds from singular values; zero bounds if in doubt."""
        rows = np.sqrt(weights)[..., None] * self.points
        _, singular, right = np.linalg.svd(rows, full_matrices=False)
        sound = singular[:, -1] > singular[:, 0] / CONDITION
        inverse = right / np.where(sound[:, None], singular, 1.0)[..., None]
        images = self.points @ np.swapaxes(inverse, -1, -2)
        if self.criterion == "D":
            d = self.points.shape[-1]
            values = 2.0 * (np.log(singular).sum(axis=-1) - np.linalg.slogdet(self.frame)[1])
            largest = np.sum(images**2, axis=-1).max(axis=-1) / d
        else:
            target = inverse @ self.frame.T
            values = np.sum(target**2, axis=(-1, -2))
            largest = np.sum((images @ target) ** 2, axis=-1).max(axis=-1) / values
        return values, np.where(sound, np.minimum(1.0, 1.0 / largest), 0.0)


def _gap(state: _State) -> Floats:
    """Largest sensitivity of the normalised weights, minus one."""
    total = state.weights.sum(axis=-1)
    return np.asarray(state.sensitivity.max(axis=-1) * total - 1.0)


def _barrier(state: _State, mu: Floats) -> Floats:
    logarithms = np.log(state.weights).sum(axis=-1)
    return np.asarray(state.loss + state.weights.sum(axis=-1) - mu * logarithms)
