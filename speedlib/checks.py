"""Input checks: every error names the argument, the offending value and the rule.

`speedlib._arrays.real_array` reads the arrays; the functions here check what an array must hold.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from speedlib._arrays import real_array, shown
from speedlib._scalars import (
    MAX_COUNT,
    check_choice,
    check_count,
    check_flag,
    check_number,
    check_rng,
    check_rounds,
    check_share,
)
from speedlib._tolerances import (
    HALF_POLICY_TOLERANCE,
    POLICY_TOLERANCE,
    PROBABILITY_TOLERANCE,
    PSD_TOLERANCE,
    SINGLE_POLICY_TOLERANCE,
)

__all__ = [
    "Counts",
    "Flags",
    "Floats",
    "Indices",
    "check_actions",
    "check_budgets",
    "check_choice",
    "check_count",
    "check_counts",
    "check_designs",
    "check_direction",
    "check_features",
    "check_finite",
    "check_flag",
    "check_not_negative",
    "check_number",
    "check_policy",
    "check_problems",
    "check_psd",
    "check_replications",
    "check_rng",
    "check_rounds",
    "check_share",
    "check_sizes",
    "check_variances",
    "check_vector",
    "check_weights",
    "frozen",
]

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.intp]
Scalar = TypeVar("Scalar", bound=np.generic)

#: Sizes of numbers that squares and products of squares, as designs and variances need them, do not
#: take out of the range of floats.
SMALLEST, LARGEST = 1e-60, 1e60


def check_finite(name: str, values: ArrayLike) -> Floats:
    """Return `values` as a contiguous float64 array, or say why they are not finite numbers."""
    return _finite(name, real_array(name, values))


def _finite(name: str, given: NDArray[Any]) -> Floats:
    with np.errstate(over="ignore"):  # what does not fit becomes infinite, and is refused below
        array = np.asarray(given, dtype=np.float64, order="C")
    if not np.all(np.isfinite(array)):
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise ValueError(f"{name}: every entry must be finite; got {array[place]} at index {place}")
    return array


def check_sizes(name: str, array: Floats, what: str = "entries") -> Floats:
    """Return the array if each entry is 0 or between 1e-60 and 1e60 in size."""
    size = np.abs(array)
    wrong = (size > LARGEST) | ((size < SMALLEST) & (size > 0))
    if wrong.any():
        place = tuple(map(int, np.argwhere(wrong)[0]))
        raise ValueError(
            f"{name}: {what} must be 0 or between {SMALLEST:g} and {LARGEST:g} in size; "
            f"got {array[place]:g}" + (f" at index {place}" if place else "")
        )
    return array


def check_not_negative(name: str, values: ArrayLike) -> Floats:
    """Return a finite array whose entries are at least 0."""
    array = check_finite(name, values)
    if np.any(array < 0):
        raise ValueError(f"{name}: must be at least 0; got {array.min():g}")
    return array


def check_features(features: ArrayLike, name: str = "features") -> Floats:
    """Return the features as a float64 array of shape (A, d), A, d >= 1, of moderate sizes."""
    array = check_finite(name, features)
    if array.ndim != 2 or array.shape[0] < 1 or array.shape[1] < 1:
        raise ValueError(
            f"{name}: expected shape (A, d), one row per action, with A >= 1 and d >= 1; "
            f"got shape {np.shape(features)}"
        )
    # A few rows show, as a rule, that no column is too small.
    some = np.abs(array[:: max(1, array.shape[0] // 512)]).max(axis=0)
    if some.min() < SMALLEST or max(array.max(), -array.min()) > LARGEST:
        check_sizes(name, np.abs(array).max(axis=0), "the largest entry of each column")
    return array


def check_policy(policy: ArrayLike, n_actions: int, name: str = "policy") -> Floats:
    """Return a probability vector of shape (A,): entries in [0, 1] that sum to 1 within 1e-8.

    The sum of a vector in single or half precision may miss 1 by more than 1e-8; the vector is then
    divided by its sum. An entry below 0 by no more than rounding becomes 0.
    """
    given = real_array(name, policy)
    array = _finite(name, given)
    if array.shape != (n_actions,):
        raise ValueError(
            f"{name}: expected one probability per action, shape ({n_actions},); "
            f"got shape {array.shape}"
        )
    clipped = _without_negative_dust(name, array, given.dtype)
    _check_sums(name, clipped, given.dtype, "entries")
    if clipped is array and _is_exact(given.dtype):
        return array
    return np.asarray(clipped / clipped.sum())


def check_weights(
    weights: ArrayLike, n_actions: int, name: str = "weights", *, batch: bool = True
) -> Floats:
    """Return weights of any sum, shape (..., A); an entry below 0 by rounding alone becomes 0."""
    given = real_array(name, weights)
    array = _finite(name, given)
    if array.shape[-1:] != (n_actions,) or (array.ndim != 1 and not batch):
        shape = f"(..., {n_actions})" if batch else f"({n_actions},)"
        raise ValueError(
            f"{name}: expected one weight per action, shape {shape}; got shape {array.shape}"
        )
    return _without_negative_dust(name, array, given.dtype)


def _is_exact(dtype: DTypeLike) -> bool:
    """Return whether numbers of a dtype have the precision in which we compute."""
    return np.dtype(dtype).kind != "f" or np.dtype(dtype).itemsize >= 8


def _sum_tolerance(dtype: DTypeLike) -> float:
    if _is_exact(dtype):
        return POLICY_TOLERANCE
    return SINGLE_POLICY_TOLERANCE if np.dtype(dtype).itemsize == 4 else HALF_POLICY_TOLERANCE


def _without_negative_dust(name: str, array: Floats, dtype: DTypeLike) -> Floats:
    """Return weights whose entries below 0, if they are rounding errors, are 0."""
    if not np.any(array < 0):
        return array
    share = PROBABILITY_TOLERANCE if _is_exact(dtype) else _sum_tolerance(dtype)
    size = np.abs(array).max(axis=-1, keepdims=True)
    wrong = array < -share * size
    if wrong.any():
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise ValueError(
            f"{name}: entries must be at least 0; got {array[place]:g} for action {place[-1]}"
            + (f", at index {place}" if len(place) > 1 else "")
        )
    return np.maximum(array, 0.0)


def _check_sums(name: str, array: Floats, dtype: DTypeLike, what: str) -> None:
    allowed = _sum_tolerance(dtype)
    sums = array.sum(axis=-1)
    worst = np.abs(sums - 1.0)
    if not np.all(worst <= allowed):
        total = float(np.ravel(sums)[np.argmax(worst)])
        raise ValueError(
            f"{name}: {what} must sum to 1 within {allowed:g}; got sum {total:.12g}: "
            "divide by the sum"
        )


def check_variances(
    variances: ArrayLike,
    n_actions: int | None = None,
    *,
    features: Floats | None = None,
    allow_zero: bool = False,
    batch: bool = False,
    name: str = "variances",
) -> Floats:
    r"""Return variances, shape (A,) or (..., A) with `batch`, positive (or 0), of moderate sizes.

    If features are given, an action whose features are all 0 may have the variance 0, the value of
    :math:`x^\top\Sigma x`. The variance of this action does not matter, since the action gives no
    information. It is replaced by the largest of the other variances, so one can divide by it.
    """
    array = check_finite(name, variances)
    if n_actions is None:
        n_actions = array.shape[-1] if array.ndim else 0
    if array.shape[-1:] != (n_actions,) or (array.ndim != 1 and not batch) or not array.ndim:
        raise ValueError(
            f"{name}: expected one variance per action, shape ({n_actions},); "
            f"got shape {array.shape}"
        )
    if features is not None and array.size and not array.all():
        array = _filled_where_nothing_is_learnt(array, features)
    if np.any(array < 0 if allow_zero else array <= 0):
        place = tuple(int(i) for i in np.unravel_index(np.argmin(array), array.shape))
        rule = "at least 0" if allow_zero else "greater than 0"
        cure = "" if features is None else " (0 is for actions whose features are all 0)"
        raise ValueError(
            f"{name}: must be {rule}; got {array[place]:g} at index {place}, "
            f"for action {place[-1]}{cure}"
        )
    return check_sizes(name, array)


def _filled_where_nothing_is_learnt(array: Floats, features: Floats) -> Floats:
    idle = (array == 0) & ~features.any(axis=1)
    largest = array.max(axis=-1, keepdims=True)
    return np.where(idle, np.where(largest > 0, largest, 1.0), array)


def check_problems(variances: ArrayLike, features: Floats) -> Floats:
    """Return positive variances of shape (R, A), one row per problem."""
    v = check_variances(variances, len(features), features=features, batch=True)
    if v.ndim != 2:
        raise ValueError(f"variances: expected shape (R, {len(features)}); got shape {v.shape}")
    return v


def check_replications(
    name: str, array: NDArray[Any], other: str, of: NDArray[Any], *, within: bool = False
) -> None:
    """Refuse replications (leading axes) that do not fit those of another argument.

    With `within`, the other argument must already have as many replications, since there is one
    result for each of these.
    """
    try:
        shape = np.broadcast_shapes(array.shape[:-1], of.shape[:-1])
    except ValueError:
        shape = None
    if shape is None or (within and shape != of.shape[:-1]):
        raise ValueError(
            f"{name}: expected one row for all replications of {other}, shape ({of.shape[-1]},), "
            f"or one for each, shape {of.shape}; got shape {array.shape}"
        )


def check_vector(name: str, vector: ArrayLike, length: int | None = None) -> Floats:
    """Return a finite vector of the given length, or of any length."""
    array = check_finite(name, vector)
    if array.ndim != 1 or (length is not None and array.size != length):
        expected = "expected one axis" if length is None else f"expected shape ({length},)"
        raise ValueError(f"{name}: {expected}; got shape {array.shape}")
    return array


def check_direction(direction: ArrayLike, d: int) -> Floats:
    """Return the vector c whose inner product with theta is to be estimated, shape (d,)."""
    c = check_vector("direction", direction, d)
    check_sizes("direction", np.abs(c).max(), "its largest entry")
    return c


def check_psd(name: str, matrix: ArrayLike, d: int) -> Floats:
    """Return a symmetric positive semidefinite matrix of shape (d, d).

    Each row and its column have their own unit, the root of the diagonal entry, and rounding errors
    of up to 1e-10 of this unit are accepted. If the diagonal entry is zero, the whole row must be
    zero.
    """
    array = check_finite(name, matrix)
    if array.shape != (d, d):
        raise ValueError(f"{name}: expected shape ({d}, {d}); got shape {array.shape}")
    rule = f"{name}: must be positive semidefinite"
    diagonal = check_sizes(name, np.diagonal(array), "its diagonal")
    if np.any(diagonal < 0):
        raise ValueError(f"{rule}; its diagonal holds {diagonal.min():.3g}")
    filled = np.flatnonzero((diagonal == 0) & (array.any(axis=0) | array.any(axis=1)))
    if filled.size:
        raise ValueError(f"{rule}; its diagonal is 0 at index {filled[0]} but the row is not")
    unit = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    with np.errstate(over="ignore"):
        scaled = array / unit[:, None] / unit
    if not np.all(np.isfinite(scaled)):
        raise ValueError(f"{rule}; its entries are too large for its diagonal")
    skew = np.abs(array - array.T)
    if np.any(skew / unit[:, None] / unit > PSD_TOLERANCE):
        raise ValueError(
            f"{name}: must be symmetric; it differs from its transpose by {skew.max():.3g}"
        )
    smallest = float(np.linalg.eigvalsh((scaled + scaled.T) / 2)[0])
    if smallest < -PSD_TOLERANCE:
        raise ValueError(f"{rule}; with a unit diagonal it has the eigenvalue {smallest:.3g}")
    return (array + array.T) / 2


def check_budgets(rounds: Any, minimum: int = 0) -> Counts:
    """Return one number of rounds, or an array of them with one for each replication."""
    if isinstance(rounds, int | np.integer):
        return np.asarray(check_rounds(rounds, minimum))
    array = real_array("rounds", rounds)
    if array.dtype.kind not in "iu" and array.size:
        raise TypeError(f"rounds: expected whole numbers; got dtype {array.dtype}: {shown(rounds)}")
    if array.size and array.min() < minimum:
        raise ValueError(f"rounds: must be at least {minimum}; got {array.min()}")
    if array.size and array.max() > MAX_COUNT:
        raise ValueError(f"rounds: must be at most {MAX_COUNT}; got {array.max()}")
    return array.astype(np.int64)


def check_counts(
    counts: ArrayLike, n_actions: int, name: str = "counts", *, batch: bool = True
) -> Counts:
    """Return whole, non-negative numbers of pulls of shape (..., A)."""
    array = real_array(name, counts)
    if array.dtype.kind not in "iu":
        array = _finite(name, array)
        broken = array[array != np.rint(array)]
        if broken.size:
            raise ValueError(f"{name}: numbers of pulls must be whole numbers; got {broken[0]:g}")
    if array.shape[-1:] != (n_actions,) or (array.ndim != 1 and not batch):
        shape = f"(..., {n_actions})" if batch else f"({n_actions},)"
        raise ValueError(
            f"{name}: expected one count per action, shape {shape}; got shape {array.shape}"
        )
    if np.any(array < 0):
        raise ValueError(f"{name}: numbers of pulls must be at least 0; got {array.min()}")
    if np.any(array > MAX_COUNT):
        raise ValueError(f"{name}: must be at most {MAX_COUNT}; got {array.max()}")
    return array.astype(np.int64)


def check_actions(actions: ArrayLike, n_actions: int) -> Counts:
    """Return a sequence of actions, whole numbers from 0 to A - 1, shape (n,)."""
    index = real_array("actions", actions)
    if index.dtype.kind not in "iu" and index.size:
        raise TypeError(
            f"actions: expected whole numbers; got dtype {index.dtype}: {shown(actions)}"
        )
    if index.ndim != 1:
        raise ValueError(f"actions: expected a sequence; got shape {index.shape}")
    if index.size and (index.min() < 0 or index.max() >= n_actions):
        raise ValueError(
            f"actions: must lie between 0 and {n_actions - 1}; got {index.min()} to {index.max()}"
        )
    return index.astype(np.int64)


def check_designs(
    weights: ArrayLike, n_actions: int | None = None, name: str = "weights"
) -> Floats:
    """Return designs of shape (..., A): non-negative, each divided by its sum, which must be 1."""
    given = real_array(name, weights)
    b = _finite(name, given)
    if b.ndim < 1 or b.shape[-1] < 1:
        raise ValueError(f"{name}: expected shape (..., A) with A >= 1; got shape {b.shape}")
    if n_actions is not None and b.shape[-1] != n_actions:
        raise ValueError(
            f"{name}: expected one share per action, shape (..., {n_actions}); got shape {b.shape}"
        )
    b = _without_negative_dust(name, b, given.dtype)
    _check_sums(name, b, given.dtype, "each design")
    return np.asarray(b / b.sum(axis=-1, keepdims=True))


def frozen(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return a read-only copy of an array."""
    copy = np.array(array)
    copy.flags.writeable = False
    return copy
