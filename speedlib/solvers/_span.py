"""The span of points: coordinates in which they are spread out, and few points that span it.

Points may span fewer than d dimensions, differ in size by many orders of magnitude and occur
thousands of times. Each function here takes only a few passes over blocks of rows.
"""

from __future__ import annotations

import numpy as np

from speedlib._rows import blocks
from speedlib._tolerances import (
    MOMENT_MISSING,
    MOMENT_RANK_TOLERANCE,
    MOMENT_RESOLVED,
    SPAN_TOLERANCE,
)
from speedlib.checks import Floats, Indices

__all__ = ["first_copies", "spanning_set", "squared_norms", "whitening"]


def whitening(x: Floats, root: Floats | None, name: str) -> Floats:
    """Coordinates of the span, shape (d, r), in which the directions of the points are spread out.

    If the span is too small for the criterion, a ValueError is raised that calls the points `name`.
    """
    scale = np.maximum(x.max(axis=0), -x.min(axis=0))
    frame = np.diag(1.0 / np.where(scale > 0, scale, 1.0))
    lengths = squared_norms(x, frame)
    inverse = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    for _ in range(2):  # The second pass resolves what the first, on squares, could not.
        eigenvalues, vectors = np.linalg.eigh(_gram(x, frame, inverse))
        floor = MOMENT_RANK_TOLERANCE * eigenvalues[-1]
        if floor == 0.0:
            raise ValueError(f"{name}: must not all be zero")
        frame = frame @ (vectors / np.sqrt(np.maximum(eigenvalues, floor)))
        if eigenvalues[0] > MOMENT_RESOLVED * floor:
            return np.asarray(frame)
    missing = frame[:, eigenvalues <= MOMENT_MISSING * floor]
    frame = frame[:, eigenvalues > MOMENT_MISSING * floor]
    if missing.size and (root is None or _overlap(missing, root)):
        raise ValueError(
            f"{name}: they span {frame.shape[1]} of "
            f"{x.shape[1]} dimensions and miss some that the criterion needs, so no design "
            "has a finite loss; add actions, drop dependent features, or centre features that "
            "vary little compared with their mean"
        )
    return np.asarray(frame)


def _overlap(missing: Floats, root: Floats) -> bool:
    """Whether K needs, beyond rounding, directions that the points do not span."""
    terms = np.abs(missing).T @ np.abs(root)
    return bool(np.any(np.abs(missing.T @ root) > SPAN_TOLERANCE * terms.max()))


def spanning_set(x: Floats, frame: Floats, root: Floats | None) -> Indices:
    """Start with the points of highest sensitivity, and others until they span everything."""
    r = frame.shape[1]
    lengths = squared_norms(x, frame)
    scores = lengths if root is None else squared_norms(x, frame @ (frame.T @ root))
    work = np.zeros(0, dtype=np.intp)
    while True:
        count = min(8 * r + 8, x.shape[0])
        best = np.argpartition(scores, -count)[-count:]
        work = first_copies(x, np.union1d(work, best[lengths[best] > 0]))
        rows = x[work] @ frame / np.sqrt(lengths[work])[:, None]
        eigenvalues, vectors = np.linalg.eigh(rows.T @ rows)
        # Some point has at least the share 1/r of its length in any missing directions.
        absent = eigenvalues < 0.5 / r**2
        if not absent.any():
            return work
        scores = squared_norms(x, frame @ vectors[:, absent])
        np.divide(scores, lengths, out=scores, where=lengths > 0)


def first_copies(x: Floats, chosen: Indices) -> Indices:
    """Drop points that equal an earlier one or its opposite; the first len(work) stay first."""
    rows = x[chosen]
    leading = rows[np.arange(chosen.size), (rows != 0).argmax(axis=1)]
    _, first = np.unique(
        rows * np.where(leading < 0, -1.0, 1.0)[:, None], axis=0, return_index=True
    )
    return chosen[np.sort(first)]


def squared_norms(x: Floats, factor: Floats) -> Floats:
    """Return |G'x|^2 of every point, block by block."""
    norms = np.empty(x.shape[0])
    for block in blocks(len(x)):
        images = x[block] @ factor
        np.einsum("ij,ij->i", images, images, out=norms[block])
    return norms


def _gram(x: Floats, frame: Floats, weights: Floats) -> Floats:
    """Information matrix of the weights in the given coordinates, block by block."""
    total = np.zeros((frame.shape[1], frame.shape[1]))
    for block in blocks(len(x)):
        images = x[block] @ frame
        total += images.T @ (weights[block, None] * images)
    return total
