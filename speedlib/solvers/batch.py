"""Many small PE problems that share features and differ in their variances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from speedlib.checks import Floats, check_direction, check_features, check_variances
from speedlib.solvers.elfving import elfving

__all__ = ["BatchDesigns", "pe_designs"]


@dataclass(frozen=True)
class BatchDesigns:
    """Weights (R, A) and values (R,) of the optimal designs."""

    weights: Floats
    values: Floats


def pe_designs(features: ArrayLike, variances: ArrayLike, direction: ArrayLike) -> BatchDesigns:
    """Solve one by one (first floor; the vectorised solver follows)."""
    x = check_features(features)
    v = np.atleast_2d(check_variances(variances, x.shape[0], batch=True))
    c = check_direction(direction, x.shape[1])
    solutions = [elfving(x, row, c) for row in v]
    weights = np.array([s.weights for s in solutions]).reshape(v.shape)
    return BatchDesigns(weights, np.array([s.norm**2 for s in solutions]))
