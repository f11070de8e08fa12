"""What is to be estimated: the directions of one policy or of several, or a matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from speedlib.checks import (
    LARGEST,
    Floats,
    check_finite,
    check_not_negative,
    check_policy,
    check_psd,
    check_sizes,
)
from speedlib.criteria import chosen_direction, mean_feature

__all__ = ["columns_of", "importance_of", "target_of"]


def target_of(
    criterion: str,
    x: Floats,
    policy: ArrayLike | None,
    direction: ArrayLike | None,
    matrix: ArrayLike | None,
    importance: ArrayLike | None,
) -> Floats | None:
    r"""Return what is to be estimated; refuse what the criterion does not use.

    Returns
    -------
    array, shape (d,) or (d, K), or (d, d), or None
        For ``"PE"`` c, or for K targets the columns :math:`\sqrt{\omega_k}\,c_k`; for ``"linear"``
        the matrix K; else None.
    """
    if criterion != "PE" and not (policy is None and direction is None):
        raise ValueError(f'policy, direction: only for criterion "PE"; got criterion {criterion!r}')
    if (criterion == "linear") != (matrix is not None):
        raise ValueError(
            'matrix: required by criterion "linear" and by no other; '
            f"got criterion {criterion!r} {'with' if matrix is not None else 'without'} matrix"
        )
    if criterion != "PE" and importance is not None:
        raise ValueError(f'importance: only for criterion "PE"; got criterion {criterion!r}')
    if criterion != "PE":
        return None if matrix is None else check_psd("matrix", matrix, x.shape[1])
    name, given = ("policy", policy) if policy is not None else ("direction", direction)
    several = given is not None and check_finite(name, given).ndim == 2
    if not several or (policy is not None) == (direction is not None):
        if importance is not None:
            raise ValueError("importance: only for several policies, one in each row of `policy`")
        return chosen_direction(x, policy, direction)
    return columns_of(x, policy, direction, importance)


def columns_of(
    x: Floats, policy: ArrayLike | None, direction: ArrayLike | None, importance: ArrayLike | None
) -> Floats:
    r"""Return the columns :math:`\sqrt{\omega_k}\,c_k` of several targets, shape (d, K)."""
    if policy is not None:
        policies = check_finite("policy", policy)
        each = [mean_feature(x, check_policy(row, len(x))) for row in policies]
        targets = np.stack(each) if each else np.zeros((0, x.shape[1]))
    else:
        targets = check_finite("direction", direction if direction is not None else [])
        if targets.shape[-1:] != (x.shape[1],):
            raise ValueError(
                f"direction: expected shape ({x.shape[1]},) or (K, {x.shape[1]}); "
                f"got shape {targets.shape}"
            )
        check_sizes("direction", np.abs(targets).max(axis=1), "the largest entry of each row")
    shares = importance_of(importance, len(targets))
    return np.asarray(np.sqrt(shares)[:, None] * targets).T


def importance_of(importance: ArrayLike | None, several: int) -> Floats:
    """Return the weights of several targets: positive, equal if they are not given, (K,)."""
    if not several:
        raise ValueError("policy: needs at least one row")
    if importance is None:
        return np.full(several, 1.0 / several)
    shares = check_not_negative("importance", importance)
    if shares.shape != (several,):
        raise ValueError(
            f"importance: expected one number per policy, shape ({several},); "
            f"got shape {shares.shape}"
        )
    if not (0 < shares.sum() <= LARGEST):
        raise ValueError(
            f"importance: must have a sum above 0 and at most {LARGEST:g}; got {shares.sum():g}"
        )
    return np.asarray(shares / shares.sum())
