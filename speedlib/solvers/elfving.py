"""PE-optimal (c-optimal) designs by Elfving's linear program."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog

from speedlib.checks import Floats, check_direction, check_features, check_variances

__all__ = ["ElfvingSolution", "elfving"]


@dataclass(frozen=True)
class ElfvingSolution:
    """Optimal design and its dual: norm and lower agree at the optimum."""

    weights: Floats
    support: NDArray[np.intp]
    coefficients: Floats
    dual: Floats
    norm: float
    lower: float
    residual: float
    iterations: int


def elfving(features: ArrayLike, variances: ArrayLike, direction: ArrayLike) -> ElfvingSolution:
    """Solve the whole program by HiGHS (first floor; column generation follows)."""
    x = check_features(features)
    n_actions, d = x.shape
    sigma = np.sqrt(check_variances(variances, n_actions))
    c = check_direction(direction, d)
    if not c.any():
        weights = np.zeros(n_actions)
        weights[sigma.argmin()] = 1.0
        none = np.zeros(0, dtype=np.intp)
        return ElfvingSolution(weights, none, np.zeros(0), np.zeros(d), 0.0, 0.0, 0.0, 0)
    points = x / sigma[:, None]
    scale = np.abs(points).max(axis=0)
    scale[scale == 0] = 1.0
    z = points / scale
    size = np.abs(c / scale).max()
    result = linprog(
        np.ones(2 * n_actions),
        A_eq=np.hstack([z.T, -z.T]),
        b_eq=c / scale / size,
        method="highs-ds",
    )
    if result.status == 2:
        raise ValueError("direction: not in the span of the features, so it cannot be estimated")
    if result.x is None:
        raise RuntimeError(f"HiGHS failed: {result.message}")
    u = result.x[:n_actions] - result.x[n_actions:]
    support = np.flatnonzero(np.abs(u) > 1e-9 * np.abs(u).sum())
    coefficients = np.linalg.lstsq(points[support].T / scale[:, None], c / scale, rcond=None)[0]
    y = np.asarray(result.eqlin.marginals) / scale
    y /= np.abs(points @ y).max()
    norm = float(np.abs(coefficients).sum())
    residual = np.abs((coefficients @ points[support] - c) / scale).max() / size
    weights = np.zeros(n_actions)
    weights[support] = np.abs(coefficients) / norm
    return ElfvingSolution(
        weights, support, coefficients, y, norm, float(c @ y), float(residual), int(result.nit)
    )
