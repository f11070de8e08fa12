"""Supports of optimal designs that do not depend on the noise matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from speedlib._rows import unit_rows
from speedlib._tolerances import ACTIONS_RANK_TOLERANCE, COORDINATE_TOLERANCE
from speedlib.checks import Floats, Indices
from speedlib.estimators import column_scale, is_estimable
from speedlib.solvers._circuits import occurring
from speedlib.solvers._frame import frame_of
from speedlib.strategies._vertices import coefficients_on

__all__ = ["known_support", "support_of"]


def known_support(features: Floats, direction: Floats, name: str) -> Floats:
    r"""Return the coefficients w of the optimal vertex, (A,), if its support is known beforehand.

    Write :math:`\sigma(z) = \sqrt{z^\top\Sigma z}` with :math:`\Sigma \succ 0`. It is a norm.

    *An action parallel to c* is enough alone: the triangle inequality gives :math:`\sum_a
    |w_a|\,\sigma(x(a)) \ge \sigma(\sum_a w_a\,x(a)) = \sigma(c)`, and this action attains equality.
    For the same reason parallel actions are equally good, and one action of each direction is
    enough.

    *Linearly independent directions* have one vertex.

    *In a plane* the points :math:`\pm x/\sigma(x)` lie on an ellipse, so all are corners of their
    convex hull; parallel actions give the same corner. The ray through c leaves the hull on the
    side between the two corners next to it, and by Elfving's theorem these are the support.

    Raises
    ------
    ValueError
        If none of these three cases holds for the actions that matter.
    """
    actions = np.flatnonzero(occurring(features, direction))
    if actions.size == 0:
        return np.zeros(len(features))
    frame = frame_of(features[actions], direction)
    points = unit_rows(frame.points(features[actions], np.arange(actions.size)))
    target = frame.target / np.linalg.norm(frame.target)
    chosen = _parallel(points, target)
    if chosen.size == 0 and frame.basis.size == 2:
        chosen = _next_to(points, target)
    elif chosen.size == 0:
        chosen = _directions(points, frame.basis)
    if chosen.size == 0:
        raise ValueError(
            f"support: {name} needs the optimal actions to be known, but for these {actions.size} "
            f"actions, which span {frame.basis.size} dimensions, they may depend on the variances; "
            "pass support=(...), linearly independent actions that span the direction of the "
            "policy, or use BookedOptimism"
        )
    return _coefficients(actions[chosen], features, direction)


def _parallel(points: Floats, target: Floats) -> Indices:
    """Return the first of the unit points (A, r) that is parallel to a unit target; or none."""
    across = np.linalg.norm(points - np.outer(points @ target, target), axis=1)
    return np.flatnonzero(across <= COORDINATE_TOLERANCE)[:1]


def _next_to(points: Floats, target: Floats) -> Indices:
    """Return the points (A, 2) whose lines are next to the target on either side.

    None may be parallel to it. Two lines count as one if the angle between them is negligible
    compared with the angle that all lines cover. So the two lines that are found differ.
    """
    side = target[0] * points[:, 1] - target[1] * points[:, 0]
    # The ray of each line to the left of the target; it rises with the angle between them.
    angle = np.arctan2(np.abs(side), np.copysign(1.0, side) * (points @ target))
    margin = COORDINATE_TOLERANCE * np.ptp(angle)
    left, right = angle <= angle.min() + margin, angle >= angle.max() - margin
    return np.array([left.argmax(), right.argmax()])


def _directions(points: Floats, basis: Indices) -> Indices:
    """Return the first point (A, r) of each direction, if these are independent; otherwise none.

    The directions are independent if every point is parallel to a vector of the basis.
    """
    needs = np.abs(np.linalg.solve(points[basis].T, points.T)).T
    needs = needs > COORDINATE_TOLERANCE * needs.max(axis=1, keepdims=True)
    if np.any(np.count_nonzero(needs, axis=1) > 1):
        return np.zeros(0, dtype=np.int64)
    return np.sort(needs.argmax(axis=0))


def support_of(support: tuple[int, ...], features: Floats, direction: Floats) -> Floats:
    """Return the coefficients on a support that was named, shape (A,).

    Raises
    ------
    ValueError
        If an action does not exist, or the actions are dependent or do not span the direction.
    """
    if max(support) >= len(features):
        raise ValueError(
            f"support: actions have the numbers 0 to {len(features) - 1}; got {max(support)}"
        )
    if not direction.any():
        return np.zeros(len(features))
    chosen = np.array(support)
    rows = features[chosen]
    if not _independent(rows):
        raise ValueError(f"support: its actions must be linearly independent; got {support}")
    w = _coefficients(chosen, features, direction)
    # What is no more than rounding is not pulled, unless the direction itself is as small.
    part = np.abs(w[chosen]) * np.linalg.norm(rows / column_scale(rows), axis=1)
    needed = w.copy()
    needed[chosen[part <= COORDINATE_TOLERANCE * part.max()]] = 0.0
    return needed if is_estimable(needed, features, direction) else w


def _coefficients(chosen: Indices, features: Floats, direction: Floats) -> Floats:
    """Return the coefficients on independent actions, shape (A,), once they give the direction."""
    w = np.zeros(len(features))
    w[chosen] = coefficients_on(features[chosen], direction)
    if not is_estimable(w, features, direction):
        raise ValueError(
            "support: its actions must span the direction of the policy; got "
            f"{tuple(chosen.tolist())}"
        )
    return w


def _independent(rows: NDArray[np.float64]) -> bool:
    scale = np.abs(rows).max(axis=0)
    points = rows[:, scale > 0] / scale[scale > 0]
    lengths = np.linalg.norm(points, axis=1)
    if len(rows) > points.shape[1] or not lengths.all():
        return False
    values = np.linalg.svd(points / lengths[:, None], compute_uv=False)
    return bool(values[-1] > ACTIONS_RANK_TOLERANCE * values[0])
