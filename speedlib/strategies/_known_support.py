"""Supports of optimal designs that do not depend on the covariance matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from speedlib._tolerances import ACTIONS_RANK_TOLERANCE, COORDINATE_TOLERANCE
from speedlib.checks import Floats, Indices
from speedlib.estimators import is_estimable
from speedlib.solvers._circuits import occurring
from speedlib.solvers._frame import frame_of
from speedlib.strategies._vertices import coefficients_on

__all__ = ["known_support", "support_of"]


def known_support(features: Floats, direction: Floats, name: str) -> Floats:
    r"""Return the coefficients w of the optimal vertex, shape (A,), where all agree on its support.

    Linearly independent actions have one vertex. In a plane the points :math:`\pm x/\sigma(x)` lie
    on an ellipse, whatever :math:`\Sigma \succ 0` is, so that all are corners of their convex hull,
    parallel ones at one place. The ray through c leaves the hull on the side between the two
    corners next to it, and by Elfving's theorem these are the support.

    Raises
    ------
    ValueError
        If the actions that matter are dependent and span more than a plane.
    """
    w = np.zeros(len(features))
    actions = np.flatnonzero(occurring(features, direction))
    if actions.size == 0:
        return w
    rows = features[actions]
    frame = frame_of(rows, direction)
    rank = frame.basis.size
    chosen = np.arange(actions.size)
    if rank == 2:
        chosen = _next_to(frame.points(rows, chosen), frame.target)
    elif rank < actions.size:
        raise ValueError(
            f"support: {name} must be told which actions are optimal where it depends on the "
            f"variances, as with these {actions.size} actions that span {rank} dimensions: pass "
            "support=(...), linearly independent actions that span the direction of the policy, or "
            "take BookedOptimism"
        )
    w[actions[chosen]] = coefficients_on(rows[chosen], direction)
    return w


def _next_to(points: Floats, target: Floats) -> Indices:
    """Return the points (A, 2) whose lines are next to the target on either side.

    One that is parallel to it stands alone.
    """
    points = points / np.linalg.norm(points, axis=1, keepdims=True)
    target = target / np.linalg.norm(target)
    side = target[0] * points[:, 1] - target[1] * points[:, 0]
    parallel = np.abs(side) <= COORDINATE_TOLERANCE
    if parallel.any():
        return np.array([parallel.argmax()])
    # The ray of each line to the left of the target; it rises with the angle between them.
    angle = np.arctan2(np.abs(side), np.copysign(1.0, side) * (points @ target))
    left = angle <= angle.min() + COORDINATE_TOLERANCE
    right = angle >= angle.max() - COORDINATE_TOLERANCE
    return np.array([left.argmax(), right.argmax()])


def support_of(support: tuple[int, ...], features: Floats, direction: Floats) -> Floats:
    """Return the coefficients on a support that was named, shape (A,).

    Raises
    ------
    ValueError
        If an action does not exist, or they are dependent or do not span the direction.
    """
    w = np.zeros(len(features))
    if max(support) >= len(features):
        raise ValueError(
            f"support: actions have the numbers 0 to {len(features) - 1}; got {max(support)}"
        )
    if not direction.any():
        return w
    chosen = np.array(support)
    rows = features[chosen]
    if not _independent(rows):
        raise ValueError(f"support: its actions must be linearly independent; got {support}")
    found = coefficients_on(rows, direction)
    w[chosen] = found
    if not is_estimable(w, features, direction):
        raise ValueError(
            f"support: its actions must span the direction of the policy; got {support}"
        )
    largest = np.abs(found * np.linalg.norm(rows, axis=1)).max()
    w[np.abs(w) * np.linalg.norm(features, axis=1) <= COORDINATE_TOLERANCE * largest] = 0.0
    return w


def _independent(rows: NDArray[np.float64]) -> bool:
    scale = np.abs(rows).max(axis=0)
    points = rows[:, scale > 0] / scale[scale > 0]
    lengths = np.linalg.norm(points, axis=1)
    if len(rows) > points.shape[1] or not lengths.all():
        return False
    values = np.linalg.svd(points / lengths[:, None], compute_uv=False)
    return bool(values[-1] > ACTIONS_RANK_TOLERANCE * values[0])
