r"""Units of moderate size: no square of a number overflows or vanishes, whatever its unit.

Criteria of design are quadratic, and a square leaves the range of floats long before its root
does: with a direction of size 1e-170 each loss is 0, with one of 1e200 infinite. The design and
its efficiency do not depend on units, however. So they are computed in units in which features,
standard deviations and what is to be estimated are near one, and only results are taken back.
All units are powers of two, so that a change of units loses nothing.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from speedlib.checks import Floats

__all__ = ["Units", "moderate", "times_power_of_two"]

Exponents = NDArray[np.int32]
Target = TypeVar("Target", Floats, Floats | None)

#: Numbers between 2^-64 and 2^64 stay as they are: their fourth powers are harmless.
MODERATE = 64

#: About how many actions the size of the features is judged by.
SAMPLE = 512


class Units(NamedTuple):
    r"""Binary exponents of the units.

    Attributes
    ----------
    features : int
        One unit of the features is two to this power.
    noise : ndarray of int, shape (...)
        The same for standard deviations, one for each vector of variances.
    target : int
        The same for the direction c, or for the root of the matrix K.
    """

    features: int
    noise: Exponents
    target: int

    @property
    def value(self) -> Exponents:
        r"""Exponent of the unit of :math:`c^\top A(b)^- c` and :math:`\mathrm{Tr}(A(b)^{-1}K)`."""
        return 2 * (self.target - self.determinant)

    @property
    def determinant(self) -> Exponents:
        r"""Exponent of the unit of :math:`(\det A(b))^{1/(2d)}`."""
        return np.asarray(self.features - self.noise)

    @property
    def dual(self) -> Exponents:
        r"""Exponent of the unit of y with :math:`|x(a)^\top y| \le \sigma(a)`."""
        return -self.determinant


def moderate(x: Floats, variances: Floats, target: Target) -> tuple[Floats, Floats, Target, Units]:
    """Measure a problem in units of moderate size.

    Parameters
    ----------
    x : ndarray, shape (A, d)
        Features. They are copied only if their unit changes.
    variances : ndarray, shape (..., A)
        Positive variances.
    target : ndarray, shape (d,) or (d, d), or None
        The direction c, or the positive semidefinite matrix K, or neither.

    Returns
    -------
    x, variances, target
        The same in the new units.
    Units
        The new units in terms of the old.

    Notes
    -----
    Features are measured together, on a sample of the actions; that some are much larger than
    others is left to the solvers, which measure each by itself. The unit of the target is that of
    the features times the size of the coefficients that combine them to the target.
    """
    columns = _exponent(_sizes(x))
    features = int(_middle(columns.min(), columns.max()))
    noise = _middle(_exponent(variances.min(axis=-1)), _exponent(variances.max(axis=-1))) // 2
    x = np.ldexp(x, -features) if features else x
    variances = np.ldexp(variances, -2 * noise[..., None]) if noise.any() else variances
    if target is None or not target.any():
        return x, variances, target, Units(features, noise, 0)
    length, power = (np.abs(target), 1) if target.ndim == 1 else (np.diagonal(target), 2)
    coefficient = (_exponent(length) // power - columns)[length > 0].max()
    unit = features + int(_middle(coefficient, coefficient))
    return x, variances, np.ldexp(target, -power * unit), Units(features, noise, unit)


def times_power_of_two(values: float | Floats, exponent: int | Exponents) -> Floats:
    """Return ``values * 2**exponent``: infinite or zero where floats hold no such number."""
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.ldexp(values, exponent))


def _sizes(x: Floats) -> Floats:
    """Typical largest value of each feature; of one that never differs from zero, that of all."""
    sizes = np.abs(x[:: max(1, x.shape[0] // SAMPLE)]).max(axis=0)
    empty = sizes == 0
    if empty.any():
        sizes[empty] = np.abs(x[:, empty]).max(axis=0)
        sizes[sizes == 0] = sizes.max() or 1.0
    return np.asarray(sizes)


def _exponent(values: Floats) -> Exponents:
    return np.asarray(np.frexp(values)[1])


def _middle(lowest: Exponents, highest: Exponents) -> Exponents:
    """Middle of a range of exponents, zero if all are moderate."""
    extreme = np.maximum(-lowest, highest) > MODERATE
    return np.where(extreme, (lowest + highest) // 2, 0)
