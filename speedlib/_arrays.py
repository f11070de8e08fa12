"""Input of arrays: an argument becomes an array of real numbers, or is refused.

NumPy converts much without a warning: it drops the mask of a masked array, keeps a table with
missing values as Python objects, and turns a sparse matrix into an array of one object. Such an
input must not lead to a result from numbers that were never meant. Every public function takes its
arrays through `real_array`, mostly by one of the rules in `speedlib.checks`.
"""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["real_array", "shown"]

#: Kinds of dtypes that hold real numbers: truth values, whole numbers, floats.
REAL = "biuf"

#: What is wrong with arrays of another kind, and what to do.
_KINDS = {
    "c": "got complex numbers; pass their real part if that is what you mean",
    "U": "got text; convert it to numbers first",
    "S": "got text; convert it to numbers first",
    "T": "got text; convert it to numbers first",
    "M": "got dates; convert them to numbers first",
    "m": "got lengths of time; convert them to numbers first",
}

#: Names of the types of `pandas.NA` and `pandas.NaT`: pandas itself is not imported.
_MISSING = ("NAType", "NaTType")


def shown(value: object) -> str:
    """Return a value as it is shown in a message: on one line, and short."""
    return " ".join(reprlib.repr(value).split())


def real_array(name: str, values: object) -> NDArray[Any]:
    """Return an array of truth values, whole numbers or floats, in the precision that was given.

    An array of such numbers is returned without a copy or a check. The caller must check that its
    entries are finite.

    Parameters
    ----------
    name : str
        Name of the argument, for messages.
    values : object
        A number, an array, a sequence, or a pandas table, column or array. Each object must be a
        real number; `fractions.Fraction` and `decimal.Decimal` are accepted.

    Raises
    ------
    TypeError
        If `values` holds anything but real numbers, or rows of different length.
    ValueError
        If an entry is masked or missing, or too large for a float.
    """
    if isinstance(values, np.ma.MaskedArray):
        values = _unmasked(name, values)
    elif hasattr(values, "isna") and hasattr(values, "to_numpy"):
        values = _unlabelled(name, values)
    elif hasattr(values, "toarray"):
        raise TypeError(
            f"{name}: expected an array of real numbers; got a sparse {type(values).__name__}; "
            "pass its toarray()"
        )
    elif isinstance(values, Sequence) and not isinstance(values, str | bytes):
        _refuse_masked_parts(name, values)
    array = _converted(name, values)
    if isinstance(array, np.ma.MaskedArray):  # as variables of netCDF files turn into
        array = _unmasked(name, array)
    if array.dtype.kind == "O":
        array = _numbers(name, array)
    if array.dtype.kind not in REAL:
        raise TypeError(
            f"{name}: expected an array of real numbers; "
            f"{_KINDS.get(array.dtype.kind, f'got dtype {array.dtype}')}: {shown(values)}"
        )
    return array


def _converted(name: str, values: object) -> NDArray[Any]:
    try:
        array = np.asanyarray(values)
        return array if isinstance(array, np.ma.MaskedArray) else np.asarray(array)
    except ValueError as error:
        why = "its rows differ in length" if "inhomogeneous" in str(error) else str(error)
        raise TypeError(
            f"{name}: expected an array of real numbers; {why}: {shown(values)}"
        ) from error


def _masked(name: str, place: str) -> ValueError:
    return ValueError(
        f"{name}: every entry must be a number; the one {place} is masked: leave it out, or fill it"
    )


def _missing(name: str, place: str) -> ValueError:
    return ValueError(
        f"{name}: every entry must be a number; the one {place} is missing: leave it out, or fill "
        "it"
    )


def _unmasked(name: str, values: np.ma.MaskedArray[Any, Any]) -> NDArray[Any]:
    """Return the numbers of a masked array that masks none of them."""
    hidden = np.argwhere(np.ma.getmaskarray(values))
    if len(hidden):
        raise _masked(name, f"at index {tuple(map(int, hidden[0]))}")
    return np.asarray(np.ma.getdata(values))


def _refuse_masked_parts(name: str, values: Sequence[Any]) -> None:
    """Look for masked arrays within lists, whose masks NumPy would drop."""
    kinds = set(map(type, values)) if not isinstance(values, range) else set()
    if any(issubclass(kind, np.ma.MaskedArray) for kind in kinds):
        for i, part in enumerate(values):
            if isinstance(part, np.ma.MaskedArray) and np.ma.getmaskarray(part).any():
                raise _masked(name, f"at index {(i, *map(int, _first_masked(part)))}")
    if any(issubclass(kind, Sequence) and not issubclass(kind, str | bytes) for kind in kinds):
        for part in values:
            if isinstance(part, Sequence) and not isinstance(part, str | bytes):
                _refuse_masked_parts(name, part)


def _first_masked(values: np.ma.MaskedArray[Any, Any]) -> NDArray[Any]:
    return np.asarray(np.argwhere(np.ma.getmaskarray(values))[0])


def _unlabelled(name: str, table: Any) -> NDArray[Any]:
    """Return the numbers of a pandas table, column, index or array."""
    missing = np.argwhere(np.asarray(table.isna()))
    if len(missing):
        raise _missing(name, _place(table, missing[0]))
    if table.ndim == 1:
        return _column(name, "it", table)
    parts = [
        _column(name, f"column {label!r}", table.iloc[:, j])
        for j, label in enumerate(table.columns)
    ]
    plain = {dtype for dtype in table.dtypes if isinstance(dtype, np.dtype)}
    if (
        len(plain) == 1
        and all(dtype in plain for dtype in table.dtypes)
        and parts[0].dtype in plain
    ):
        return np.asarray(table)  # one kind of numbers: not copied
    if not parts:
        return np.zeros(table.shape)
    return np.stack(parts, axis=1, dtype=np.result_type(*parts))


def _column(name: str, what: str, column: Any) -> NDArray[Any]:
    dtype = column.dtype
    if dtype.kind in REAL:
        # Nullable and sparse columns name the dtype of their numbers.
        plain = getattr(dtype, "numpy_dtype", getattr(dtype, "subtype", dtype))
        return np.asarray(column.to_numpy(dtype=plain))
    if isinstance(dtype, np.dtype) and dtype.kind == "O":
        return _numbers(f"{name}, {what}" if what != "it" else name, np.asarray(column))
    raise TypeError(
        f"{name}: expected real numbers; {what} has dtype {dtype}: convert it to numbers first"
    )


def _place(table: Any, index: NDArray[Any]) -> str:
    """Say where an entry of a pandas object stands, by its labels if it has any."""
    labels = getattr(table, "index", None)
    row = f"in row {labels[index[0]]!r}" if labels is not None else f"at index {int(index[0])}"
    return row + (f" of column {table.columns[index[1]]!r}" if len(index) > 1 else "")


def _numbers(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """Return an array of objects as numbers, each of which must be one."""
    for index, value in np.ndenumerate(array):
        place = f"at index {index}" if index else "given"
        if isinstance(value, np.ma.MaskedArray):
            raise _masked(name, place)
        if index and (value is None or type(value).__name__ in _MISSING):
            raise _missing(name, place)
        if not isinstance(value, Real | Decimal | np.bool_):
            row = isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes)
            raise TypeError(
                f"{name}: expected an array of real numbers; "
                f"got {shown(value)}"
                + (f" {place}" if index else "")
                + ("; stack rows of one length by np.stack(list(...))" if row else "")
            )
    plain = np.asarray(array.tolist())
    if plain.dtype.kind in REAL:
        return plain.reshape(array.shape)
    try:
        return array.astype(np.float64)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{name}: every entry must fit into a float; {error}") from error
