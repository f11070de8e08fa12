r"""Descent to a PE-optimal design by Frank-Wolfe steps, with and without steps away.

All losses are n times those of the paper, :math:`f(b) = c^\top A(b)^{-1}c`. With
:math:`y = A^{-1}c` and :math:`g_a = \tilde x(a)^\top y` the derivative in the weight of an action
is :math:`-g_a^2`; a step moves all weights towards the action with the largest :math:`g_a^2`, or
away from the action in use with the smallest.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from speedlib.checks import check_direction, check_features, check_variances

Floats = NDArray[np.float64]

#: A design whose Frank-Wolfe gap is this small, relative to its loss, is not changed any more.
CLOSE = 1e-12
#: The weight that a step away leaves to an action that keeps the information matrix regular.
LEAST_SHARE = 1e-9
#: Such an action is one whose removal shrinks the determinant of the matrix by more than this.
SHRINK = 1e-6


def best_step(loss: float, square: float, own: float) -> float:
    r"""Return the step r to an action with the smallest loss along the line.

    The weights :math:`(b + r e_a)/(1 + r)` have n times the loss

    .. math:: (1 + r)\Bigl(f - \frac{r\,g^2}{1 + r q}\Bigr),
              \qquad q = \tilde x(a)^\top A^{-1}\tilde x(a),

    by the formula of Sherman and Morrison. It is convex in r where :math:`1 + rq > 0`, and its
    derivative vanishes at a root of
    :math:`q D r^2 + 2 D r - (g^2 - f) = 0` with :math:`D = fq - g^2 \ge 0` (Cauchy-Schwarz).

    Parameters
    ----------
    loss : float
        n times the loss f of the design, positive.
    square : float
        The square :math:`g^2` of the action.
    own : float
        The variance q of its prediction, positive.

    Returns
    -------
    float
        If :math:`g^2 > f`, the step is positive; it is infinite if the action alone is best. If
        :math:`g^2 < f`, the step is negative; it is minus infinity if :math:`q \le 1`, because then
        no finite step is best.
    """
    spread = max(loss * own - square, 0.0)
    if square >= loss:
        if spread <= CLOSE * loss * own:
            return math.inf
        return (math.sqrt(spread**2 + own * spread * (square - loss)) - spread) / (own * spread)
    inside = spread**2 + own * spread * (square - loss)
    return -math.inf if inside <= 0 else (math.sqrt(inside) - spread) / (own * spread)


def frank_wolfe(
    features: ArrayLike,
    variances: ArrayLike,
    direction: ArrayLike,
    steps: int,
    *,
    away: bool = False,
    enough: float = 0.0,
) -> Floats:
    r"""Return n times the loss after 0, 1, ..., `steps` steps from even shares.

    Each step is the best one along its line (`best_step`). The gap :math:`\max_a g_a^2 - f` bounds
    how much the loss may still fall. The steps end as soon as the gap is a trillionth of the loss,
    a single action is left, or the loss is `enough`.

    Parameters
    ----------
    features : array-like, shape (A, d)
        Actions that span the space.
    variances : array-like, shape (A,)
        Positive.
    direction : array-like, shape (d,)
        Not zero.
    steps : int
        At least 0.
    away : bool
        Whether a step may also lead away from an action in use, if the loss falls more steeply in
        that direction.
    enough : float
        A loss at which to stop.

    Returns
    -------
    ndarray, shape (steps + 1,)

    References
    ----------
    S. Lacoste-Julien and M. Jaggi, "An affine invariant linear convergence analysis for Frank-Wolfe
    algorithms" (2013), which the paper quotes.

    Examples
    --------
    >>> frank_wolfe([[1, 0], [0, 1]], [1, 1], [1, 0], 1)
    array([2., 1.])
    """
    x = check_features(features)
    points = x / np.sqrt(check_variances(variances, x.shape[0]))[:, None]
    c = check_direction(direction, x.shape[1])
    weights = np.full(len(x), 1 / len(x))
    losses = np.empty(steps + 1)
    for step in range(steps + 1):
        matrix = points.T @ (weights[:, None] * points)
        y = np.linalg.solve(matrix, c)
        loss, squares = float(c @ y), (points @ y) ** 2
        losses[step] = loss
        chosen = int(squares.argmax())
        if squares[chosen] - loss <= CLOSE * loss or loss <= enough:
            losses[step:] = loss
            break
        in_use = np.where(weights > LEAST_SHARE, squares, math.inf)
        least = int(in_use.argmin())
        if away and loss - squares[least] > squares[chosen] - loss:
            chosen = least
        own = float(points[chosen] @ np.linalg.solve(matrix, points[chosen]))
        size = best_step(loss, float(squares[chosen]), own)
        if math.isinf(size) and size > 0:
            losses[step + 1 :] = float(c @ c) ** 2 / float(points[chosen] @ c) ** 2
            break
        if (held := float(weights[chosen])) + size <= LEAST_SHARE:
            # Removing it multiplies the determinant, apart from the scale, by 1 - held own.
            size = -held if 1 - held * own > SHRINK else LEAST_SHARE - held
        weights[chosen] += size
        weights = np.maximum(weights, 0) / (1 + size)
    return losses
