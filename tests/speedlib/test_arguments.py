"""Whatever is passed to a public function is taken for what it is, or refused by its name.

Each argument of each door is replaced by things that are wrong, or that look unlike what they are.
What says the same in another form (a list, float32, a table, fractions) must give the same result
to the bit; what hides or lacks numbers must be refused; and whatever else happens, no result holds
a NaN, nothing warns, and each complaint begins with the name of an argument.
"""

from __future__ import annotations

import importlib
import inspect
from collections import deque
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from .doors import DOORS, ELSEWHERE
from .outcomes import outcome, same
from .test_surface import SURFACE

WHERE = [(name, argument) for name, door in DOORS.items() for argument in door.arguments]
ARRAYS = [
    (name, argument)
    for name, argument in WHERE
    if isinstance(DOORS[name].arguments[argument], np.ndarray)
]
OTHERS = [each for each in WHERE if each not in ARRAYS]

#: Arguments that hold shares which sum to 1: in lower precision they are divided by their sum.
SHARES = {"policy", "weights", "design", "exploration"}

#: Where weights may have any sum, or are no shares.
ANY_SUM = (
    "information_matrix",
    "information_matrix batch",
    "pe_loss",
    "pe_loss policy",
    "policy_value",
)


#: Doors that take a while: one in seven of all things is tried there.
LONG = (
    "design_efficiency",
    "exchange_design",
    "fit_environment",
    "fit_model",
    "fit_psd",
    "fit_variances",
    "identifiable_design",
    "mse_curve",
    "optimal_design",
    "smooth_designs",
)


def some(kinds: Iterable[str], where: tuple[str, str]) -> list[str]:
    """Return the kinds of things to try at a place."""
    if where[0].split(" ")[0] not in LONG:
        return list(kinds)
    return list(kinds)[WHERE.index(where) % 7 :: 7]


# --- the same in another form ---------------------------------------------------------------------


def clean(where: tuple[str, str], array: np.ndarray) -> np.ndarray:
    """Return what numbers of a lower precision stand for."""
    plain = np.asarray(array, dtype=np.float64)
    lower = array.dtype.kind == "f" and array.dtype.itemsize < 8
    if where[1] in SHARES and lower and where[0] not in ANY_SUM:
        plain = plain / plain.sum(axis=-1, keepdims=True)
    return plain


def nested(array: np.ndarray, convert: Callable[[Any], Any]) -> Any:
    if array.ndim == 0:
        return convert(array.item())
    return [nested(part, convert) for part in array]


def frame(array: np.ndarray, dtype: Any = None) -> Any:
    if array.ndim == 1:
        return pd.Series(array, dtype=dtype)
    return pd.DataFrame(array, columns=[f"c{i}" for i in range(array.shape[-1])], dtype=dtype)


FORMS: dict[str, Callable[[np.ndarray], Any]] = {
    "list": lambda a: a.tolist(),
    "tuple": lambda a: tuple(a.tolist()),
    "deque": lambda a: deque(a.tolist()),
    "objects": lambda a: a.astype(object),
    "fractions": lambda a: nested(a, Fraction),
    "decimals": lambda a: nested(a, Decimal),
    "numpy scalars": lambda a: nested(a, a.dtype.type),
    "fractions among floats": lambda a: (
        [Fraction(a[0].item()), *a[1:].tolist()] if a.ndim == 1 else a.tolist()
    ),
    "columns": np.asfortranarray,
    "reversed twice": lambda a: a[::-1].copy()[::-1],
    "other byte order": lambda a: a.astype(a.dtype.newbyteorder(">")),
    "not to be written": lambda a: np.frombuffer(a.tobytes(), a.dtype).reshape(a.shape),
    "mask of nothing": lambda a: np.ma.array(a, mask=np.zeros(a.shape, bool)),
    "no mask": np.ma.array,
    "masks of nothing in a list": lambda a: (
        [np.ma.array(row, mask=False) for row in a] if a.ndim > 1 else np.ma.array(a)
    ),
    "table": lambda a: frame(a) if a.ndim <= 2 else a,
    "nullable table": lambda a: (
        frame(a, "Int64" if a.dtype.kind == "i" else "Float64") if a.ndim <= 2 else a
    ),
    "table of objects": lambda a: frame(a, object) if a.ndim <= 2 else a,
}

#: Other numbers than those of the argument: compared with what they are as floats.
PRECISIONS = ("float32", "float16", "longdouble", "bool", "int8", "uint16")


@pytest.mark.slow
@pytest.mark.parametrize("where", ARRAYS, ids=" ".join)
def test_another_form_gives_the_same(where: tuple[str, str]) -> None:
    given = DOORS[where[0]].arguments[where[1]]
    expected = outcome(where, given)
    assert not expected.complaint
    for form in some(FORMS, where):
        found = outcome(where, FORMS[form](given))
        if found.complaint and given.dtype.kind == "i" and form.startswith(("fractions", "deci")):
            continue  # whole numbers may be refused in this form
        assert not found.complaint, f"{form}: {found.complaint}"
        assert same(found.result, expected.result), form


@pytest.mark.slow
@pytest.mark.parametrize("where", ARRAYS, ids=" ".join)
def test_another_precision_counts_as_its_floats(where: tuple[str, str]) -> None:
    given = DOORS[where[0]].arguments[where[1]]
    for precision in some(PRECISIONS, where):
        lower = (given > np.median(given)) if precision == "bool" else given.astype(precision)
        if where[1] in ("actions", "rounds", "rows", "columns") and lower.dtype.kind not in "iu":
            assert outcome(where, lower, also=True).complaint, precision
            continue
        exact = clean(where, lower)
        whole = given.dtype.kind == "i"
        expected = outcome(where, exact.astype(np.int64) if whole else exact, also=True)
        found = outcome(where, lower, also=True)
        assert bool(found.complaint) == bool(expected.complaint), (precision, found.complaint)
        if not found.complaint:
            assert same(found.result, expected.result), precision


# --- what hides or lacks numbers ------------------------------------------------------------------


def with_entry(array: np.ndarray, value: Any, place: int = 0) -> np.ndarray:
    changed = array.astype(object if not isinstance(value, float) else np.float64)
    changed.flat[place % array.size] = value
    return changed


def masked(array: np.ndarray, place: int = 0) -> Any:
    mask = np.zeros(array.shape, bool)
    mask.flat[place % array.size] = True
    return np.ma.array(array, mask=mask)


HIDDEN: dict[str, Callable[[np.ndarray, int], Any]] = {
    "nothing": lambda a, i: None,
    "text": lambda a, i: "x",
    "bytes": lambda a, i: b"x",
    "texts": lambda a, i: a.astype(str),
    "complex numbers": lambda a, i: a + 0j,
    "dates": lambda a, i: np.zeros(a.shape, "datetime64[D]"),
    "lengths of time": lambda a, i: np.zeros(a.shape, "timedelta64[s]"),
    "records": lambda a, i: np.zeros(a.shape, [("a", float)]),
    "a dictionary": lambda a, i: {"a": a},
    "a set": lambda a, i: set(a.ravel().tolist()),
    "a generator": lambda a, i: (each for each in a),
    "a function": lambda a, i: len,
    "a masked entry": masked,
    "a masked entry in a list": lambda a, i: list(masked(a, i)),
    "a masked row in a list": lambda a, i: [masked(np.atleast_1d(a[0])), *a[1:]],
    "the masked constant": lambda a, i: [np.ma.masked, *a[1:].tolist()],
    "a sparse matrix": lambda a, i: sparse.csr_array(np.atleast_2d(a.reshape(a.shape[0], -1))),
    "a missing entry": lambda a, i: with_entry(a, None, i),
    "an NA among objects": lambda a, i: with_entry(a, pd.NA, i),
    "a time that is none": lambda a, i: with_entry(a, pd.NaT, i),
    "a text among objects": lambda a, i: with_entry(a, "1", i),
    "a NaN": lambda a, i: with_entry(a, float("nan"), i),
    "infinite": lambda a, i: with_entry(a, float("inf"), i),
    "a NaN among decimals": lambda a, i: with_entry(a, Decimal("nan"), i),
    "beyond floats": lambda a, i: with_entry(a, 10**400, i),
    "ragged": lambda a, i: [*a.tolist()[:-1], [1.0] * (np.size(a[0]) + 1)],
    "a table with a gap": lambda a, i: (
        frame(with_entry(a, float("nan"), i)) if a.ndim <= 2 else None
    ),
    "a nullable table with a gap": lambda a, i: (
        frame(with_entry(a, float("nan"), i)).convert_dtypes() if a.ndim <= 2 else None
    ),
    "a table of texts": lambda a, i: frame(a).astype(str) if a.ndim <= 2 else None,
    "a table of categories": lambda a, i: frame(a).astype("category") if a.ndim <= 2 else None,
    "a table of dates": lambda a, i: (
        frame(np.zeros(a.shape, "datetime64[s]")) if a.ndim <= 2 else None
    ),
}

#: Where infinity says something, and where leaving the argument out does.
INFINITE = {("best_exploration_length", "cost"), ("normal_interval", "error")}
LIMITED = ("Limits.of", "optimal_design costs", "optimal_design limits", "design_efficiency limits")
OPTIONAL = {
    ("LinearBandit", "Sigma"),
    ("policy_value", "weights"),
    ("least_squares", "variances"),
    *((door, name) for door in LIMITED for name in ("costs", "least", "most", "importance")),
}


def refused(where: tuple[str, str], kind: str, place: int) -> None:
    if (kind == "infinite" and where in INFINITE) or (kind == "nothing" and where in OPTIONAL):
        return
    value = HIDDEN[kind](DOORS[where[0]].arguments[where[1]], place)
    # Where one of two arguments is needed, the complaint that none came names both.
    assert outcome(where, value).complaint, kind


@pytest.mark.slow
@pytest.mark.parametrize("where", ARRAYS, ids=" ".join)
def test_what_hides_or_lacks_numbers_is_refused(where: tuple[str, str]) -> None:
    for kind in some(HIDDEN, where):
        refused(where, kind, 1)


# --- wrong shapes and sizes -----------------------------------------------------------------------

SHAPES: dict[str, Callable[[np.ndarray], Any]] = {
    "one number": lambda a: a.ravel()[0],
    "no axis": lambda a: np.asarray(a.ravel()[0]),
    "another axis": lambda a: a[None],
    "a column": lambda a: a[..., None],
    "an axis less": lambda a: a[0],
    "all in a row": np.ravel,
    "one less": lambda a: a[:-1],
    "one less at the end": lambda a: a[..., :-1],
    "one more": lambda a: np.concatenate([a, a[:1]]),
    "three copies": lambda a: np.stack([a] * 3),
    "empty": lambda a: np.zeros(0, a.dtype),
    "an empty list": lambda a: [],
    "no rows": lambda a: a[:0],
    "no columns": lambda a: a[..., :0],
}

SIZES = {
    "zeros": lambda a, i: a * 0,
    "a zero": lambda a, i: with_entry(a, 0.0, i),
    "negative": lambda a, i: -a,
    "a negative entry": lambda a, i: with_entry(a, -1.0, i),
    "dust below zero": lambda a, i: with_entry(a, -1e-17, i),
    "huge": lambda a, i: a * 1e300,
    "a huge entry": lambda a, i: with_entry(a, 1e300, i),
    "an entry at the limit": lambda a, i: with_entry(a, 1e60, i),
    "large": lambda a, i: a * 1e59,
    "small": lambda a, i: a * 1e-57,
    "subnormal": lambda a, i: a * 1e-310,
    "a subnormal entry": lambda a, i: with_entry(a, 5e-324, i),
    "an entry of dust": lambda a, i: with_entry(a, 1e-309, i),
    "equal": lambda a, i: a * 0 + a.ravel()[0],
    "half": lambda a, i: a * 0 + 0.5,
    "a large whole number": lambda a, i: with_entry(a, 2.0**60, i),
}


@pytest.mark.slow
@pytest.mark.parametrize("where", ARRAYS, ids=" ".join)
def test_other_shapes_and_sizes_are_judged_by_name(where: tuple[str, str]) -> None:
    given = DOORS[where[0]].arguments[where[1]]
    for kind in some(SHAPES, where):
        try:
            outcome(where, SHAPES[kind](given), also=True)
        except Exception as error:
            raise AssertionError(f"{kind}: {type(error).__name__}: {error}") from error
    for kind in some(SIZES, where):
        try:
            outcome(where, SIZES[kind](given, 1), also=True)
        except Exception as error:
            raise AssertionError(f"{kind}: {type(error).__name__}: {error}") from error


# --- numbers, choices and objects -----------------------------------------------------------------

WRONG: dict[str, Any] = {
    "nothing": None,
    "text": "nonsense",
    "bytes": b"1",
    "complex": 1j,
    "numpy complex": np.complex128(1),
    "NaN": float("nan"),
    "a list": [1.0, 2.0],
    "a dictionary": {},
    "an array": np.array([1.0, 2.0]),
    "no axis": np.array(0.5),
    "masked": np.ma.masked,
    "NA": pd.NA,
    "true": True,
    "numpy true": np.bool_(True),
    "a date": np.datetime64("2020-01-01"),
    "huge": 1e300,
    "beyond floats": 10**400,
    "infinite": float("inf"),
    "negative": -1,
    "a negative share": -0.5,
    "subnormal": 5e-324,
    "a decimal": Decimal("0.25"),
    "a class": int,
}
PURE = ("text", "complex", "numpy complex", "NaN", "masked", "NA", "a date", "a class", "bytes")


@pytest.mark.slow
@pytest.mark.parametrize("where", OTHERS, ids=" ".join)
def test_other_things_in_place_of_a_number_are_judged_by_name(where: tuple[str, str]) -> None:
    counted = not isinstance(DOORS[where[0]].arguments[where[1]], float)
    for kind in some(WRONG, where):
        value = WRONG[kind]
        if counted and kind == "beyond floats":
            continue  # so many actions or steps are no error, but no memory or time suffices
        if kind == "a class" and callable(DOORS[where[0]].arguments[where[1]]):
            continue  # it may be called, and complains itself
        try:
            found = outcome(where, value)
        except Exception as error:
            raise AssertionError(f"{kind}: {type(error).__name__}: {error}") from error
        assert found.complaint or kind not in PURE, kind
    given = DOORS[where[0]].arguments[where[1]]
    if isinstance(given, float):
        expected = outcome(where, given)
        for form in (np.float32(given), np.float64(given), Fraction(given)):
            found = outcome(where, form)
            assert not found.complaint and same(found.result, expected.result), type(form)
    elif isinstance(given, int):
        for form in (np.int8(given), np.uint64(given)):
            found = outcome(where, form)
            assert not found.complaint and same(found.result, outcome(where, given).result)


# --- all at once, a little of each ----------------------------------------------------------------


@settings(max_examples=100)
@given(st.sampled_from(ARRAYS), st.sampled_from(sorted(HIDDEN)), st.integers(0, 40))
def test_nothing_hidden_comes_through_any_door(
    where: tuple[str, str], kind: str, place: int
) -> None:
    refused(where, kind, place)


@settings(max_examples=40)
@given(st.sampled_from(ARRAYS), st.sampled_from(sorted(FORMS)))
def test_any_form_comes_through_any_door(where: tuple[str, str], form: str) -> None:
    given = DOORS[where[0]].arguments[where[1]]
    if given.dtype.kind == "f":
        assert same(outcome(where, FORMS[form](given)).result, outcome(where, given).result)


@settings(max_examples=40)
@given(st.sampled_from(ARRAYS), st.sampled_from(sorted(SIZES)), st.integers(0, 40))
def test_any_size_is_judged_by_name(where: tuple[str, str], kind: str, place: int) -> None:
    outcome(where, SIZES[kind](DOORS[where[0]].arguments[where[1]], place), also=True)


# --- no door is forgotten -------------------------------------------------------------------------


def test_no_public_function_is_forgotten() -> None:
    tried = {name.split(" ")[0].split(".")[0] for name in DOORS} | set(ELSEWHERE)
    for module in set(SURFACE) - {"speedlib.checks"}:
        for name in importlib.import_module(module).__all__:
            part = getattr(importlib.import_module(module), name)
            assert not inspect.isfunction(part) or name in tried, f"{module}.{name}"


def test_no_array_of_a_door_is_forgotten() -> None:
    """Each argument that may be an array, by its annotation, is tried at one of the doors."""
    tried: dict[str, set[str]] = {}
    for name, door in DOORS.items():
        tried.setdefault(name.split(" ")[0], set()).update(door.arguments)
    for module in set(SURFACE) - {"speedlib.checks"}:
        for name in importlib.import_module(module).__all__:
            part = getattr(importlib.import_module(module), name)
            if inspect.isfunction(part) and name not in ELSEWHERE:
                arguments = inspect.signature(part).parameters.items()
                arrays = {key for key, each in arguments if "ArrayLike" in str(each)}
                assert arrays <= tried[name], (name, arrays - tried[name])
