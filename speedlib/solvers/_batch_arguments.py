"""What both batches of problems ask of their arguments."""

from __future__ import annotations

from numpy.typing import ArrayLike

from speedlib.checks import Floats, check_variances

__all__ = ["check_problems"]


def check_problems(variances: ArrayLike, n_actions: int) -> Floats:
    """Return positive variances of shape (R, A), one row per problem."""
    v = check_variances(variances, n_actions, batch=True)
    if v.ndim != 2:
        raise ValueError(f"variances: expected shape (R, {n_actions}); got shape {v.shape}")
    return v
