"""PE-optimal designs of a setting: with its costs, bounds and policies, if it has any."""

from __future__ import annotations

import numpy as np

from speedlib._best_designs import best_design
from speedlib._tolerances import LIMITED_EFFICIENCY
from speedlib.checks import Floats
from speedlib.limits import Limits
from speedlib.solvers.batch import pe_designs
from speedlib.trials import Setting

__all__ = ["pe_within"]


def pe_within(variances: Floats, setting: Setting, tolerance: float) -> Floats:
    """Return shares of the rounds, shape (R, A), for R rows of variances.

    Costs alone change the variances, so all rows are solved at once; with bounds or several
    policies they are solved one by one.
    """
    limits, targets = setting.limits, setting.targets
    if targets is None and (limits is None or not limits.bounded):
        costs = np.ones(variances.shape[1]) if limits is None else limits.costs
        found = pe_designs(
            setting.features, variances * costs, setting.direction, tolerance=tolerance
        )
        if limits is None:
            return found.weights
        rounds = found.weights / costs
        return np.asarray(rounds / rounds.sum(axis=1, keepdims=True))
    bounds = Limits.of(variances.shape[1]) if limits is None else limits
    target = setting.direction if targets is None else targets
    allowed = max(tolerance, LIMITED_EFFICIENCY)
    rows = [best_design("PE", setting.features, v, target, allowed, bounds) for v in variances]
    return np.stack([row.weights for row in rows]) if rows else np.zeros(variances.shape)
