"""Input checks: every complaint names the argument, the offending value and the rule."""

from __future__ import annotations

import reprlib
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from speedlib._tolerances import POLICY_TOLERANCE, PSD_TOLERANCE

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
    "check_policy",
    "check_psd",
    "check_rng",
    "check_rounds",
    "check_share",
    "check_sizes",
    "check_variances",
    "check_vector",
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

#: The largest number of pulls: whole numbers up to here are exact as floats.
MAX_COUNT = 2**53


def check_finite(name: str, values: ArrayLike) -> Floats:
    """Return `values` as a contiguous float64 array, or say why they are not finite numbers."""
    try:
        given = np.asarray(values)
    except ValueError as error:
        raise TypeError(f"{name}: expected an array of real numbers; {error}") from error
    if given.dtype.kind not in "biuf":
        raise TypeError(f"{name}: expected an array of real numbers; got {reprlib.repr(values)}")
    array = np.ascontiguousarray(given, dtype=np.float64)
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
    """Return a probability vector of shape (A,): entries in [0, 1] that sum to 1 within 1e-8."""
    array = check_finite(name, policy)
    if array.shape != (n_actions,):
        raise ValueError(
            f"{name}: expected one probability per action, shape ({n_actions},); "
            f"got shape {array.shape}"
        )
    if np.any(array < 0):
        action = int(np.argmin(array))
        raise ValueError(
            f"{name}: entries must be at least 0; got {array[action]:g} for action {action}"
        )
    total = float(array.sum())
    if abs(total - 1.0) > POLICY_TOLERANCE:
        raise ValueError(
            f"{name}: entries must sum to 1 within {POLICY_TOLERANCE:g}; got sum {total:.12g}"
        )
    return array


def check_variances(
    variances: ArrayLike,
    n_actions: int,
    *,
    allow_zero: bool = False,
    batch: bool = False,
    name: str = "variances",
) -> Floats:
    """Return variances, shape (A,) or (..., A) with `batch`, positive (or 0), of moderate sizes."""
    array = check_finite(name, variances)
    if array.shape[-1:] != (n_actions,) or (array.ndim != 1 and not batch):
        raise ValueError(
            f"{name}: expected one variance per action, shape ({n_actions},); "
            f"got shape {array.shape}"
        )
    if np.any(array < 0 if allow_zero else array <= 0):
        place = tuple(int(i) for i in np.unravel_index(np.argmin(array), array.shape))
        rule = "at least 0" if allow_zero else "greater than 0"
        raise ValueError(f"{name}: must be {rule}; got {array[place]:g} at index {place}")
    return check_sizes(name, array)


def check_vector(name: str, vector: ArrayLike, length: int) -> Floats:
    """Return a finite vector of the given length."""
    array = check_finite(name, vector)
    if array.shape != (length,):
        raise ValueError(f"{name}: expected shape ({length},); got shape {array.shape}")
    return array


def check_direction(direction: ArrayLike, d: int) -> Floats:
    """Return the vector c whose inner product with theta is to be estimated, shape (d,)."""
    c = check_vector("direction", direction, d)
    check_sizes("direction", np.abs(c).max(), "its largest entry")
    return c


def check_psd(name: str, matrix: ArrayLike, d: int) -> Floats:
    """Return a symmetric positive semidefinite matrix of shape (d, d).

    Each row and its column are judged in their own unit, the root of the diagonal entry: rounding
    errors are forgiven up to 1e-10 of it. Where that is zero, so must be the row.
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
    scaled = array / unit[:, None] / unit
    skew = np.abs(array - array.T)
    if np.any(skew / unit[:, None] / unit > PSD_TOLERANCE):
        raise ValueError(
            f"{name}: must be symmetric; it differs from its transpose by {skew.max():.3g}"
        )
    smallest = float(np.linalg.eigvalsh((scaled + scaled.T) / 2)[0])
    if smallest < -PSD_TOLERANCE:
        raise ValueError(f"{rule}; with a unit diagonal it has the eigenvalue {smallest:.3g}")
    return (array + array.T) / 2


def check_count(name: str, value: Any, minimum: int, maximum: int | None = None) -> int:
    """Return a whole number that is at least `minimum`, and at most `maximum` if there is one."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name}: expected a whole number; got {value!r}")
    if value < minimum:
        raise ValueError(f"{name}: must be at least {minimum}; got {value}")
    if maximum is not None and value > maximum:
        raise ValueError(f"{name}: must be at most {maximum}; got {value}")
    return int(value)


def check_rounds(value: Any, minimum: int = 1) -> int:
    """Return a number of rounds: whole, and not beyond what floats count exactly."""
    return check_count("rounds", value, minimum, MAX_COUNT)


def check_budgets(rounds: Any, minimum: int = 0) -> Counts:
    """Return one number of rounds, or an array of them with one for each replication."""
    if not isinstance(rounds, np.ndarray) and np.ndim(rounds) == 0:
        return np.asarray(check_rounds(rounds, minimum))
    array = np.asarray(rounds)
    if array.dtype.kind not in "iu":
        raise TypeError(f"rounds: expected whole numbers; got dtype {array.dtype}")
    if array.size and (array.min() < minimum or array.max() > MAX_COUNT):
        raise ValueError(
            f"rounds: must lie between {minimum} and {MAX_COUNT}; "
            f"got {array.min()} to {array.max()}"
        )
    return array.astype(np.int64)


def check_share(name: str, value: Any) -> float:
    """Return a number strictly between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise TypeError(f"{name}: expected a number; got {value!r}")
    if not 0 < value < 1:
        raise ValueError(f"{name}: must lie strictly between 0 and 1; got {value}")
    return float(value)


def check_flag(name: str, value: Any) -> bool:
    """Return a truth value, and nothing that merely looks like one."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name}: expected True or False; got {value!r}")
    return bool(value)


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """Return `value` if it is one of the named choices."""
    if value not in choices:
        allowed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name}: must be one of {allowed}; got {value!r}")
    return str(value)


def check_counts(counts: ArrayLike, n_actions: int) -> Counts:
    """Return whole, non-negative numbers of pulls of shape (..., A)."""
    array = np.asarray(counts)
    if array.dtype.kind not in "iu":
        array = check_finite("counts", counts)
        broken = array[array != np.rint(array)]
        if broken.size:
            raise ValueError(f"counts: numbers of pulls must be whole numbers; got {broken[0]:g}")
    if array.shape[-1:] != (n_actions,):
        raise ValueError(
            f"counts: expected one count per action, shape (..., {n_actions}); "
            f"got shape {array.shape}"
        )
    if np.any(array < 0):
        raise ValueError(f"counts: numbers of pulls must be at least 0; got {array.min()}")
    if np.any(array > MAX_COUNT):
        raise ValueError(f"counts: must be at most {MAX_COUNT}; got {array.max()}")
    return array.astype(np.int64)


def check_actions(actions: ArrayLike, n_actions: int) -> Counts:
    """Return a sequence of actions, whole numbers from 0 to A - 1, shape (n,)."""
    index = np.asarray(actions)
    if index.dtype.kind not in "iu" and index.size:
        raise TypeError(f"actions: expected whole numbers; got dtype {index.dtype}")
    if index.ndim != 1:
        raise ValueError(f"actions: expected a sequence; got shape {index.shape}")
    if index.size and (index.min() < 0 or index.max() >= n_actions):
        raise ValueError(
            f"actions: must lie between 0 and {n_actions - 1}; got {index.min()} to {index.max()}"
        )
    return index.astype(np.int64)


def check_designs(weights: ArrayLike) -> Floats:
    """Return designs of shape (..., A): non-negative, each summing to one (exactly, now)."""
    b = check_not_negative("weights", weights)
    if b.ndim < 1 or b.shape[-1] < 1:
        raise ValueError(f"weights: expected shape (..., A) with A >= 1; got {b.shape}")
    miss = np.abs(b.sum(axis=-1) - 1.0).max(initial=0.0)
    if miss > POLICY_TOLERANCE:
        raise ValueError(
            f"weights: each design must sum to 1 within 1e-8; one misses by {miss:.3g}"
        )
    return np.asarray(b / b.sum(axis=-1, keepdims=True))


def check_rng(rng: Any) -> np.random.Generator:
    """Return a Generator from a Generator, a SeedSequence or a whole-number seed."""
    if isinstance(rng, np.random.Generator):
        return rng
    if isinstance(rng, np.random.SeedSequence):
        return np.random.default_rng(rng)
    if isinstance(rng, int | np.integer) and not isinstance(rng, bool):
        return np.random.default_rng(check_count("seed", rng, 0))
    raise TypeError(
        f"rng: pass a numpy Generator, a SeedSequence or a seed (a whole number); got {rng!r}"
    )


def frozen(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return a read-only copy of an array."""
    copy = np.array(array)
    copy.flags.writeable = False
    return copy
