"""Least squares for the reward parameter, and the value of a policy with its standard error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from speedlib._labels import check_order
from speedlib._tolerances import ESTIMABLE_TOLERANCE, ROWS_RANK_TOLERANCE, WELL_CONDITIONED
from speedlib._value import ValueEstimate, normal_interval
from speedlib.checks import (
    LARGEST,
    Counts,
    Flags,
    Floats,
    Scalar,
    check_counts,
    check_direction,
    check_features,
    check_finite,
    check_replications,
    check_variances,
)
from speedlib.rewards import Rewards, check_rewards

__all__ = [
    "ValueEstimate",
    "conditional_variance",
    "least_squares",
    "normal_interval",
    "policy_value",
    "value_coefficients",
]

#: Numbers held at once in the products of features behind the normal equations.
_PIECE_ENTRIES = 1_000_000


@dataclass(frozen=True, eq=False)
class WeightedRows:
    r"""The pulled actions as rows of a least-squares problem, with their singular values.

    The rows are :math:`\sqrt{T(a)/\sigma^2(a)}\, x(a)^\top` of the pulled actions only, with each
    feature divided by its largest size, so units do not matter. Factorising the rows, rather than
    the normal equations, keeps twice the digits if some actions give far more information than
    others.

    Parameters
    ----------
    index : array of int, shape (..., k)
        The pulled actions, filled up with other actions of weight zero.
    root : array, shape (..., k)
        Square roots of the weights.
    scale : array, shape (d,)
        Size of each feature.
    left, right : array, shape (..., k, r) and (..., r, d)
        Singular vectors.
    inverse : array, shape (..., r)
        Inverse singular values; 0 for a singular value that counts as zero.
    """

    index: Counts
    root: Floats
    scale: Floats
    left: Floats
    right: Floats
    inverse: Floats


def weighted_rows(counts: Counts, features: Floats, variances: Floats) -> WeightedRows:
    """Factorise the rows of a weighted least-squares problem; O(k d^2) per replication."""
    index = pulled_actions(counts)
    weights = np.broadcast_to(counts / variances, counts.shape)
    root = np.sqrt(np.take_along_axis(weights, index, axis=-1))
    scale = column_scale(features)
    rows = (features / scale)[index] * root[..., None]
    left, values, right = np.linalg.svd(rows, full_matrices=False)
    kept = values > ROWS_RANK_TOLERANCE * values[..., :1]
    inverse = np.where(kept, 1.0, 0.0) / np.where(kept, values, 1.0)
    return WeightedRows(index, root, scale, left, right, inverse)


def pulled_actions(counts: Counts | Floats) -> Counts:
    """Return the pulled actions of each replication, shape (..., k) with k their largest number.

    Replications with fewer are filled up with actions that were not pulled.
    """
    k = max(1, int(np.max(np.sum(counts > 0, axis=-1), initial=0)))
    return np.argsort(counts == 0, axis=-1, kind="stable")[..., :k]


def column_scale(features: Floats) -> Floats:
    """Return the largest size of each feature, 1 for a feature that is always 0; shape (d,)."""
    size = np.abs(features).max(axis=0)
    return np.where(size > 0, size, 1.0)


def value_coefficients(
    counts: ArrayLike, features: ArrayLike, variances: ArrayLike, direction: ArrayLike
) -> Floats:
    r"""Return the coefficients with which weighted least squares combines the mean rewards.

    With weights :math:`T(a)/\sigma^2(a)` and :math:`M = \sum_a T(a)\,x(a)x(a)^\top/\sigma^2(a)`,

    .. math:: c^\top\hat\theta = \sum_a \ell_a\, \bar r(a), \qquad
              \ell_a = \frac{T(a)}{\sigma^2(a)}\, x(a)^\top M^{-} c .

    Parameters
    ----------
    counts : array of int, shape (..., A)
        Pulls of each action.
    features : array, shape (A, d)
    variances : array, shape (..., A)
        Positive variances to weight by; all ones give ordinary least squares.
    direction : array, shape (d,)
        The vector c; for a policy, the sum of policy-weighted features.

    Returns
    -------
    array, shape (..., A)
        Zero for actions that were not pulled.

    Raises
    ------
    ValueError
        If an argument breaks its rule.

    Notes
    -----
    Cost O(k d^2) per replication with k pulled actions. If these do not span the direction c, a
    generalised inverse is used, and the sum of :math:`\ell_a x(a)` is then not c. Well-conditioned
    replications use the normal equations and share one product with the features. The other
    replications use singular values of the weighted rows, which keep twice the digits.
    """
    check_order(features, {"counts": counts, "variances": variances}, {"direction": direction})
    features = check_features(features)
    counts = check_counts(counts, len(features))
    variances = check_variances(variances, len(features), features=features, batch=True)
    check_replications("variances", variances, "counts", counts, within=True)
    direction = check_direction(direction, features.shape[1])
    return weighted_coefficients(counts, features, variances, direction)


def weighted_coefficients(
    counts: Counts, features: Floats, variances: Floats, direction: Floats
) -> Floats:
    """Return the coefficients of weighted least squares for checked numbers."""
    variances = np.broadcast_to(variances, counts.shape)
    coefficients, sound = _by_normal_equations(counts / variances, features, direction)
    if not sound.all():
        coefficients[~sound] = _by_rows(counts[~sound], features, variances[~sound], direction)
    return coefficients


def _by_normal_equations(
    weights: Floats, features: Floats, direction: Floats
) -> tuple[Floats, Flags]:
    """Return the coefficients, and where they can be trusted."""
    scale = column_scale(features)
    x = features / scale
    values, vectors = np.linalg.eigh(_weighted_products(weights, x))
    sound = values[..., 0] > WELL_CONDITIONED * values[..., -1]
    inverse = 1.0 / np.where(sound[..., None], values, 1.0)
    part = ((direction / scale) @ vectors) * inverse
    solution = (vectors @ part[..., None])[..., 0]
    return np.asarray(weights * (solution @ x.T)), np.asarray(sound)


def _weighted_products(weights: Floats, x: Floats) -> Floats:
    r"""Return :math:`\sum_a w(a)\,x(a)x(a)^\top`, shape (..., d, d), in pieces of few actions."""
    n_actions, d = x.shape
    step = max(1, _PIECE_ENTRIES // d**2)
    total = np.zeros((*weights.shape[:-1], d * d))
    for first in range(0, n_actions, step):
        part, row = weights[..., first : first + step], x[first : first + step]
        if part.any():
            total += part @ (row[:, :, None] * row[:, None, :]).reshape(len(row), -1)
    return total.reshape(*weights.shape[:-1], d, d)


def _by_rows(counts: Counts, features: Floats, variances: Floats, direction: Floats) -> Floats:
    """Return the coefficients from the singular values of the weighted rows."""
    rows = weighted_rows(counts, features, variances)
    part = (rows.right @ (direction / rows.scale)) * rows.inverse
    small = rows.root * (rows.left @ part[..., None])[..., 0]
    coefficients = np.zeros(counts.shape)
    np.put_along_axis(coefficients, rows.index, small, axis=-1)
    return coefficients


def distinct_rows(rows: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return the first of the rows, kept as (1, A), if all replications share one; else all."""
    shared = rows.ndim > 1 and len(rows) > 1 and rows.strides[0] == 0
    return rows[:1] if shared else rows


def is_estimable(coefficients: Floats, features: Floats, direction: Floats) -> Flags:
    """Return whether the coefficients reproduce the direction, shape (...,).

    The answer does not depend on the units of the features.
    """
    scale = column_scale(features)
    miss = np.linalg.norm((coefficients @ features - direction) / scale, axis=-1)
    return np.asarray(miss <= ESTIMABLE_TOLERANCE * np.linalg.norm(direction / scale))


def policy_value(
    rewards: Rewards,
    features: ArrayLike,
    direction: ArrayLike,
    variances: ArrayLike,
    *,
    weights: ArrayLike | None = None,
) -> ValueEstimate:
    r"""Estimate :math:`c^\top\theta_*` by weighted least squares.

    Parameters
    ----------
    rewards : Rewards
        Observed statistics of shape (..., A).
    features : array, shape (A, d)
    direction : array, shape (d,)
        The vector c; see `speedlib.criteria.target_direction`.
    variances : array, shape (..., A)
        True or estimated variances, from which the standard error is computed; positive, but 0 is
        allowed where the features of an action are all 0. One row for all replications of the
        rewards, or one for each; rewards of a single experiment take a single row.
    weights : array, shape (..., A), optional
        Variances to weight by (not their inverses), if these differ from `variances`; all ones give
        ordinary least squares.

    Returns
    -------
    ValueEstimate
        Fields of shape (...,). Its intervals are normal, since the variances count as known.

    Raises
    ------
    ValueError
        If an argument breaks its rule.

    Examples
    --------
    >>> rewards = Rewards.from_log([0, 0, 1], [1.0, 3.0, 5.0], n_actions=2)
    >>> estimate = policy_value(rewards, [[1, 0], [0, 1]], direction=[0.5, 0.5], variances=[2, 1])
    >>> round(float(estimate.value), 6), round(float(estimate.standard_error), 6)
    (3.5, 0.707107)
    """
    rows = {"variances": variances, "weights": weights}
    check_order(features, rows, {"direction": direction})
    features = check_features(features)
    direction = check_direction(direction, features.shape[1])
    counts = check_rewards(rewards, len(features)).counts
    variances = check_variances(variances, len(features), features=features, batch=True)
    check_replications("variances", variances, "rewards", counts, within=True)
    used = variances
    if weights is not None:
        used = check_variances(
            weights, len(features), features=features, batch=True, name="weights"
        )
        check_replications("weights", used, "rewards", counts, within=True)
    coefficients = weighted_coefficients(counts, features, used, direction)
    return combine(
        coefficients, rewards, variances, is_estimable(coefficients, features, direction)
    )


def combine(
    coefficients: Floats, rewards: Rewards, variances: Floats, estimable: Flags
) -> ValueEstimate:
    """Combine mean rewards with given coefficients into a value and its standard error."""
    error = np.sqrt(combined_variance(coefficients, rewards.counts, variances))
    value = np.sum(coefficients * rewards.means, axis=-1)
    return ValueEstimate(value, np.where(estimable, error, np.inf), estimable)


def conditional_variance(
    coefficients: ArrayLike, counts: ArrayLike, variances: ArrayLike
) -> Floats:
    r"""Return :math:`\sum_a \ell_a^2\sigma^2(a)/T(a)` over the pulled actions, shape (...,).

    Coefficients, counts and variances have the shape (..., A).
    """
    weights = check_finite("coefficients", coefficients)
    if weights.ndim == 0:
        raise ValueError("coefficients: expected shape (..., A); got one number")
    if not np.abs(weights).max(initial=0.0) <= LARGEST**2:
        raise ValueError(f"coefficients: must be at most {LARGEST**2:g} in size")
    pulls = check_counts(counts, weights.shape[-1])
    v = check_variances(variances, weights.shape[-1], allow_zero=True, batch=True)
    check_replications("counts", pulls, "coefficients", weights)
    check_replications("variances", v, "coefficients", weights)
    check_replications("variances", v, "counts", pulls)
    return combined_variance(weights, pulls, v)


def combined_variance(coefficients: Floats, counts: Counts, variances: Floats) -> Floats:
    """Return the variance of a combination of mean rewards, for checked numbers."""
    return np.asarray(np.sum(coefficients**2 * variances / np.maximum(counts, 1), axis=-1))


def least_squares(
    rewards: Rewards, features: ArrayLike, variances: ArrayLike | None = None
) -> Floats:
    r"""Estimate the reward parameter.

    .. math:: \hat\theta = \arg\min_\theta \sum_a \frac{T(a)}{\sigma^2(a)}
              \bigl(\bar r(a) - x(a)^\top\theta\bigr)^2

    Parameters
    ----------
    rewards : Rewards
        Observed statistics of shape (..., A).
    features : array, shape (A, d)
    variances : array, shape (..., A), optional
        Positive variances (weighted least squares), one row for all replications of the rewards or
        one for each; without them, ordinary least squares.

    Returns
    -------
    array, shape (..., d)
        The estimate. If the pulled actions do not span the space, it is one of the minimisers.

    Raises
    ------
    ValueError
        If an argument breaks its rule.

    Examples
    --------
    >>> import numpy as np
    >>> rewards = Rewards.from_log([0, 0, 1], [1.0, 3.0, 5.0], n_actions=2)
    >>> least_squares(rewards, np.eye(2)).round(6).tolist()
    [2.0, 5.0]
    """
    check_order(features, {"variances": variances})
    features = check_features(features)
    counts = check_rewards(rewards, len(features)).counts
    if variances is None:
        variances = np.ones(len(features))
    variances = check_variances(variances, len(features), features=features, batch=True)
    check_replications("variances", variances, "rewards", counts, within=True)
    return fit_parameter(rewards, features, variances)


def fit_parameter(rewards: Rewards, features: Floats, variances: Floats) -> Floats:
    """Return the parameter that weighted least squares fits, for checked numbers."""
    rows = weighted_rows(rewards.counts, features, variances)
    response = rows.root * np.take_along_axis(rewards.means, rows.index, axis=-1)
    part = np.einsum("...kr,...k->...r", rows.left, response) * rows.inverse
    return np.asarray(np.einsum("...r,...rd->...d", part, rows.right) / rows.scale)
