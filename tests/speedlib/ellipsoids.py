"""Values, sensitivities and certificates of A-, D- and linear designs by the textbook."""

from __future__ import annotations

import numpy as np
import pytest

TOLERANCE = 1e-6


def root_of(criterion, matrix, d):
    """Return B with K = BB', None for D."""
    if criterion == "D":
        return None
    if matrix is None:
        return np.eye(d)
    eigenvalues, vectors = np.linalg.eigh(matrix)
    return vectors * np.sqrt(np.maximum(eigenvalues, 0.0))


def value_of(points, weights, root):
    """Value of a design with an invertible information matrix, by QR."""
    rows = np.sqrt(weights[weights > 0])[:, None] * points[weights > 0]
    upper = np.linalg.qr(rows, mode="r")
    if root is None:
        return 2 * np.log(np.abs(np.diagonal(upper))).sum()
    return (np.linalg.solve(upper.T, root) ** 2).sum()


def sensitivities(points, weights, root):
    """Directional derivatives towards each point, which average one under the design."""
    inverse = np.linalg.inv((points.T * weights) @ points)
    images = points @ (np.linalg.cholesky(inverse) if root is None else inverse @ root)
    q = (images**2).sum(axis=1)
    return q / (weights @ q)


def certified_efficiency(points, design, criterion, matrix=None):
    """Recompute the bound from the ellipsoid and the value, as the docstring defines them."""
    points = np.asarray(points, dtype=float)
    g = design.dual / np.sqrt(((points @ design.dual) ** 2).sum(axis=1).max())
    d = points.shape[1]
    if criterion == "D":
        best = -d * np.log(d) - 2 * np.linalg.slogdet(g)[1]
        return np.exp((design.value - best) / d)
    root = root_of(criterion, matrix, d)
    return np.linalg.svd(root.T @ g, compute_uv=False).sum() ** 2 / design.value


def assert_certified(points, design, criterion, matrix=None, tolerance=TOLERANCE):
    """Check weights, ellipsoid and bound from the input alone."""
    points = np.asarray(points, dtype=float)
    assert design.weights.shape == (len(points),)
    assert design.weights.min() >= 0
    assert design.weights.sum() == pytest.approx(1, abs=1e-12)
    assert ((points @ design.dual) ** 2).sum(axis=1).max() <= 1 + 1e-12
    assert 1 - tolerance <= design.efficiency_bound <= 1
    efficiency = certified_efficiency(points, design, criterion, matrix)
    # The reported bound also allows for rounding errors.
    assert design.efficiency_bound - 1e-9 <= efficiency <= design.efficiency_bound + 1e-6


def gaussian(seed, n_points, d):
    return np.random.default_rng(seed).normal(size=(n_points, d))


def kernel(seed, d, rank):
    root = gaussian(seed + 1000, d, rank)
    return root @ root.T
