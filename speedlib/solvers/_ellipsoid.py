r"""Certificates of A-, D-, G- and linear designs that allow for rounding errors.

The value says how good a design is. An ellipsoid :math:`\{x : |G^\top x| \le 1\}` that holds every
point says how good a design can be (see :mod:`speedlib.solvers.exchange`). Both are known only up
to rounding errors, which affect the products :math:`G^\top x` and :math:`B^\top G`, the value, and
the matrix K itself, whose eigenvalues are uncertain by the rounding of its entries. An efficiency
bound here takes the worse end of each: the worst case for sums of up to 8 terms, and for longer
sums the usual size of errors that partly cancel. It holds for the points as they are stored and for
every K that rounds to the one given, as long as the range of the information matrix holds the range
of K.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import qr, solve_triangular

from speedlib._rows import blocks
from speedlib._tolerances import (
    EPS,
    FACTOR_ROUNDING,
    PRODUCT_ROUNDING,
    SPAN_TOLERANCE,
    WHITENED,
)
from speedlib.checks import Floats
from speedlib.criteria import solid_parts
from speedlib.solvers._products import accurate_product

__all__ = [
    "Certified",
    "Kernel",
    "certified_value",
    "certified_variance",
    "kernel_of",
    "largest_error",
]


class Kernel(NamedTuple):
    r"""A positive semidefinite matrix K, known up to rounding.

    Attributes
    ----------
    root : ndarray, shape (d, k)
        B with :math:`K \approx BB^\top`, of full column rank.
    least : ndarray, shape (d, k)
        The matrix B with shortened columns, L, such that :math:`LL^\top \preceq K`.
    excess : ndarray, shape (d,)
        Numbers e with :math:`K \preceq BB^\top + \mathrm{diag}(e)^2`.
    doubt : ndarray, shape (k,)
        Share of each column of B that may be rounding error.
    """

    root: Floats
    least: Floats
    excess: Floats
    doubt: Floats


def kernel_of(matrix: Floats | None, d: int) -> Kernel:
    """Factor K, or the identity, with bounds on its rounding errors."""
    if matrix is None:
        return Kernel(np.eye(d), np.eye(d), np.zeros(d), np.zeros(d))
    scale = np.sqrt(np.diagonal(matrix))
    unit = np.where(scale > 0, scale, 1.0)
    correlations = matrix / unit[:, None] / unit
    eigenvalues, vectors = solid_parts(correlations)
    missed = correlations - (vectors * eigenvalues) @ vectors.T
    noise = np.linalg.norm(missed) + d * EPS
    scaled = scale[:, None] * vectors
    return Kernel(
        scaled * np.sqrt(eigenvalues),
        scaled * np.sqrt(np.maximum(eigenvalues - noise, 0.0)),
        scale * np.sqrt(noise),
        noise / eigenvalues,
    )


class Certified(NamedTuple):
    r"""What a design is worth.

    Attributes
    ----------
    value : float
        :math:`\log\det M`, or :math:`\mathrm{Tr}(M^- K)`: infinite if M cannot estimate K.
    efficiency_bound : float
        A number in [0, 1].
    """

    value: float
    efficiency_bound: float


def certified_value(weights: Floats, x: Floats, kernel: Kernel | None, factor: Floats) -> Certified:
    r"""Value of a design, and a lower bound on its efficiency.

    Parameters
    ----------
    weights : ndarray, shape (A,)
        Weights w.
    x : ndarray, shape (A, d)
        Points.
    kernel : Kernel or None
        The matrix K; None for the D-criterion.
    factor : ndarray, shape (d, k)
        G, with :math:`|G^\top x_a| \le 1` for every point.

    Returns
    -------
    Certified
    """
    support = np.flatnonzero(weights)
    rows = np.sqrt(weights[support])[:, None] * x[support]
    if kernel is None:
        determinant, volume, d = _log_determinant(rows), _log_volume(factor), x.shape[1]
        gain = determinant.least + d * np.log(d) + 2.0 * volume.least
        return Certified(determinant.value, float(min(1.0, np.exp(gain / d))))
    trace = _trace(rows, kernel)
    products = np.linalg.svd(kernel.least.T @ factor, compute_uv=False).sum()
    lost = PRODUCT_ROUNDING * (np.abs(kernel.least).T @ np.abs(factor)).sum()
    return Certified(trace.value, float(min(1.0, max(0.0, products - lost) ** 2 / trace.most)))


def certified_variance(weights: Floats, x: Floats, tolerance: float) -> Certified:
    r"""Largest variance :math:`\max_a x_a^\top M^{-1} x_a` of a design, and its efficiency for G.

    No design has a largest variance below d, since the variances average d under the design itself.
    So the efficiency is d divided by the value, and only rounding errors must be allowed for. For
    any regular F, :math:`y = F^\top x` and :math:`N = F^\top M F`,

    .. math:: x^\top M^{-1} x = y^\top N^{-1} y ,

    and if N is close to the identity, only rounding in y matters, where large terms cancel. If this
    rounding leaves open whether the design is good enough, y is computed in twice the precision for
    the points that may have the largest variance.

    Parameters
    ----------
    weights : ndarray, shape (A,)
        Weights w that sum to one.
    x : ndarray, shape (A, d)
        Points.
    tolerance : float
        How far the efficiency may fall short of 1.

    Returns
    -------
    Certified
        An infinite value and efficiency 0 if M is singular, up to rounding.
    """
    support, d = np.flatnonzero(weights), x.shape[1]
    roots = np.sqrt(weights[support])
    triangle = _Triangle(roots[:, None] * x[support])
    if triangle.rank < d:
        return Certified(np.inf, 0.0)
    factor = np.asarray(triangle.half_solution(np.eye(d)).T)
    images, lost = _accurate_images(x[support], factor)
    lengths = roots * np.linalg.norm(images, axis=1)
    near_identity = (roots[:, None] * images).T @ (roots[:, None] * images)
    eigenvalues, vectors = np.linalg.eigh(near_identity)
    if not eigenvalues[0] > WHITENED:  # Rounding alone: not judged.
        return Certified(np.inf, 0.0)
    change = vectors / np.sqrt(eigenvalues)
    error = float((roots * lost * (2.0 * lengths + roots * lost)).sum())
    error = (error + (PRODUCT_ROUNDING + FACTOR_ROUNDING) * d * eigenvalues[-1]) / eigenvalues[0]
    lengths, lost = _lengths(x, factor, change)
    limit = np.sqrt(max(0.0, 1.0 - error) * d / (1.0 - tolerance))
    value, most, least = lengths.max(), (lengths + lost).max(), (lengths - lost).max()
    if least <= limit < most:
        contenders = np.flatnonzero(lengths + lost >= least)
        value, most = 0.0, 0.0
        for block in blocks(contenders.size):
            images, lost = _accurate_images(x[contenders[block]], factor)
            lengths = np.linalg.norm(images @ change, axis=1)
            longest = lengths * (1.0 + PRODUCT_ROUNDING * d) + lost / np.sqrt(eigenvalues[0])
            value, most = max(value, lengths.max()), max(most, longest.max())
    return Certified(float(value**2), float(min(1.0, max(0.0, 1.0 - error) * d / most**2)))


def _lengths(x: Floats, factor: Floats, change: Floats) -> tuple[Floats, Floats]:
    """Return ``|change' factor' x|`` of every point, and its rounding error, block by block."""
    lengths, lost = np.empty(len(x)), np.empty(len(x))
    for block in blocks(len(x)):
        lengths[block] = np.linalg.norm(x[block] @ factor @ change, axis=1)
        lost[block] = np.linalg.norm(np.abs(x[block]) @ np.abs(factor), axis=1)
    return lengths, 2.0 * PRODUCT_ROUNDING * np.linalg.norm(change) * lost


def _accurate_images(rows: Floats, factor: Floats) -> tuple[Floats, Floats]:
    """Return the products ``rows @ factor``, and by how much each may be too short or too long."""
    images = np.stack([accurate_product(rows, column) for column in factor.T], axis=1)
    terms = np.abs(rows) @ np.abs(factor)
    lost = EPS * np.abs(images) + (len(factor) * EPS) ** 2 * terms
    return images, np.linalg.norm(lost, axis=1)


def largest_error(x: Floats, factor: Floats) -> float:
    """Return the rounding error of any ``|G'x|``; it matters where large terms cancel."""
    largest = 0.0
    for block in blocks(len(x)):
        terms = np.abs(x[block]) @ np.abs(factor)
        largest = max(largest, float(np.einsum("ij,ij->i", terms, terms).max()))
    return PRODUCT_ROUNDING * float(np.sqrt(largest))


class _Rounded(NamedTuple):
    """A computed value, and by how much the true value may differ."""

    value: float
    error: float

    @property
    def least(self) -> float:
        """The least that the true value may be."""
        return self.value - self.error

    @property
    def most(self) -> float:
        """The most that the true value may be."""
        return self.value + self.error


def _trace(rows: Floats, kernel: Kernel) -> _Rounded:
    """Return Tr(M^- K) with M = rows' rows."""
    triangle = _Triangle(rows)
    halves = triangle.half_solution(kernel.root)
    if triangle.rank < kernel.root.shape[1] or triangle.missed(kernel.root, halves, kernel.doubt):
        return _Rounded(np.inf, np.inf)
    y = triangle.solution(halves)
    shift = 2.0 * PRODUCT_ROUNDING * float((np.abs(rows @ y) * (np.abs(rows) @ np.abs(y))).sum())
    excess = float((triangle.half_solution(np.diag(kernel.excess)) ** 2).sum())
    return _Rounded(float((halves**2).sum()), shift + excess)


def _log_determinant(rows: Floats) -> _Rounded:
    """Return log det(rows' rows)."""
    triangle, d = _Triangle(rows), rows.shape[1]
    if triangle.rank < d:
        return _Rounded(-np.inf, 0.0)
    y = triangle.solution(triangle.half_solution(np.eye(d)))
    error = 2.0 * PRODUCT_ROUNDING * float(np.abs((rows @ y) * rows).sum())
    return _Rounded(triangle.log_determinant, error)


def _log_volume(factor: Floats) -> _Rounded:
    """Return log |det G|."""
    scaled = factor / np.abs(factor).max(axis=1, keepdims=True)
    logarithm = np.linalg.slogdet(scaled)[1] + np.log(np.abs(factor).max(axis=1)).sum()
    terms = float((np.abs(np.linalg.inv(scaled).T) * np.abs(scaled)).sum())
    return _Rounded(float(logarithm), PRODUCT_ROUNDING * terms)


class _Triangle:
    """Triangular factor R of rows that may differ in size by many orders of magnitude.

    With columns measured in their own units, the rows sorted by size and the columns pivoted,
    rounding errors in each row are relative to that row.
    """

    def __init__(self, rows: Floats) -> None:
        unit = np.abs(rows).max(axis=0)
        self.unit = np.where(unit > 0, unit, 1.0)
        scaled = rows / self.unit
        sizes = np.linalg.norm(scaled, axis=1)
        order = np.argsort(-sizes)
        upper, self.order = qr(scaled[order], mode="r", pivoting=True)
        diagonal = np.abs(np.diagonal(upper))
        noise = FACTOR_ROUNDING * max(rows.shape) * sizes[order][: diagonal.size]
        self.rank = int((np.cumsum(diagonal <= noise) == 0).sum())
        self.upper = upper[: self.rank]

    @property
    def log_determinant(self) -> float:
        """Logarithm of det(rows' rows)."""
        diagonal = np.abs(np.diagonal(self.upper))
        return 2.0 * float(np.log(diagonal).sum() + np.log(self.unit).sum())

    def half_solution(self, targets: Floats) -> Floats:
        """Solve R'v = target for each column: v is as long as the shortest u of rows'u = target."""
        scaled = (targets / self.unit[:, None])[self.order[: self.rank]]
        return np.asarray(solve_triangular(self.upper[:, : self.rank], scaled, trans="T"))

    def missed(self, targets: Floats, halves: Floats, doubt: Floats) -> bool:
        """Whether some target is no combination of the rows, by more than its uncertainty."""
        scaled = (targets / self.unit[:, None])[self.order]
        rest = self.upper[:, self.rank :].T
        distance = np.abs(scaled[self.rank :] - rest @ halves)
        size = np.abs(scaled).max(axis=0) + (np.abs(rest) @ np.abs(halves))
        return bool(np.any(distance > (SPAN_TOLERANCE + doubt) * size))

    def solution(self, halves: Floats) -> Floats:
        """Solve (rows' rows) y = target."""
        y = np.zeros((self.unit.size, halves.shape[1]))
        y[self.order[: self.rank]] = solve_triangular(self.upper[:, : self.rank], halves)
        return y / self.unit[:, None]
