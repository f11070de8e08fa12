"""Every complaint names the argument, the offending value and the rule."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from speedlib import checks

NAN, INF = float("nan"), float("inf")


def says(*parts: str) -> str:
    """Return a pattern that wants these parts in this order."""
    return ".*".join(re.escape(part) for part in parts)


@pytest.mark.parametrize(
    ("features", "error", "message"),
    [
        ([[1.0, NAN]], ValueError, says("features", "finite", "nan", "(0, 1)")),
        ([[1.0], [INF]], ValueError, says("features", "finite", "inf", "(1, 0)")),
        ([[1.0, 2.0], [3.0]], TypeError, says("features", "real numbers")),
        ([["a"]], TypeError, says("features", "real numbers", "a")),
        ([[{}]], TypeError, says("features", "real numbers")),
        ([1.0, 2.0], ValueError, says("features", "(A, d)", "(2,)")),
        (3.0, ValueError, says("features", "(A, d)", "()")),
        (np.zeros((0, 2)), ValueError, says("features", "A >= 1", "(0, 2)")),
        (np.zeros((2, 0)), ValueError, says("features", "d >= 1", "(2, 0)")),
        (np.zeros((2, 2, 2)), ValueError, says("features", "(2, 2, 2)")),
    ],
)
def test_features_are_refused(features: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        checks.check_features(features)


def test_features_become_contiguous_floats() -> None:
    array = checks.check_features(np.arange(6).reshape(2, 3).T)
    assert array.dtype == np.float64
    assert array.flags.c_contiguous
    assert array.tolist() == [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ([0.5, 0.43], says("policy", "sum to 1 within 1e-08", "got sum 0.93")),
        ([0.5, 0.5 + 3e-8], says("policy", "sum to 1", "1.00000003")),
        ([1.25, -0.25], says("policy", "at least 0", "-0.25", "action 1")),
        ([0.5, 0.25, 0.25], says("policy", "(2,)", "(3,)")),
        ([[0.5, 0.5]], says("policy", "(2,)", "(1, 2)")),
        ([0.5, NAN], says("policy", "finite", "nan")),
    ],
)
def test_policy_is_refused(policy: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        checks.check_policy(policy, 2)


def test_policy_within_tolerance_is_kept_as_it_is() -> None:
    assert checks.check_policy([0.5, 0.5 + 5e-9], 2).tolist() == [0.5, 0.5 + 5e-9]
    assert checks.check_policy([1, 0], 2).dtype == np.float64


def test_policy_complaint_uses_the_name_given() -> None:
    with pytest.raises(ValueError, match=says("weights", "got sum 2")):
        checks.check_policy([1.0, 1.0], 2, name="weights")


@pytest.mark.parametrize(
    ("variances", "options", "message"),
    [
        ([1.0, 0.0], {}, says("variances", "greater than 0", "got 0", "(1,)")),
        ([1.0, -0.5], {}, says("variances", "greater than 0", "-0.5", "(1,)")),
        ([1.0, -0.5], {"allow_zero": True}, says("variances", "at least 0", "-0.5", "(1,)")),
        ([[1.0, 2.0], [3.0, -4.0]], {"batch": True}, says("variances", "-4", "(1, 1)")),
        ([[1.0, 2.0]], {}, says("variances", "(2,)", "(1, 2)")),
        ([1.0, 2.0, 3.0], {}, says("variances", "(2,)", "(3,)")),
        ([1.0, INF], {}, says("variances", "finite", "inf")),
    ],
)
def test_variances_are_refused(variances: object, options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        checks.check_variances(variances, 2, **options)


def test_variances_zero_and_batches_on_request() -> None:
    assert checks.check_variances([0.0, 1.0], 2, allow_zero=True).tolist() == [0.0, 1.0]
    assert checks.check_variances(np.ones((3, 4, 2)), 2, batch=True).shape == (3, 4, 2)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[1.0, 0.0], [1.0, 1.0]], says("Sigma", "symmetric")),
        ([[1.0, 2.0], [2.0, 1.0]], says("Sigma", "semidefinite", "eigenvalue -1")),
        ([[1.0, 3.0], [3.0, 1.0]], says("Sigma", "semidefinite", "eigenvalue -2")),
        ([[1e-60, 1e60], [1e60, 1.0]], says("Sigma", "semidefinite", "eigenvalue -1e+90")),
        ([[1e-61, 0.0], [0.0, 1.0]], says("Sigma", "diagonal", "1e-60 and 1e+60", "1e-61", "(0,)")),
        ([[1.0, 0.0], [0.0, -1e-9]], says("Sigma", "semidefinite", "diagonal holds -1e-09")),
        ([[1.0, 1e-20], [1e-20, 0.0]], says("Sigma", "diagonal is 0 at index 1", "row is not")),
        ([[1.0]], says("Sigma", "(2, 2)", "(1, 1)")),
        ([[1.0, NAN], [NAN, 1.0]], says("Sigma", "finite", "nan")),
    ],
)
def test_matrices_that_are_not_semidefinite_are_refused(matrix: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        checks.check_psd("Sigma", matrix, 2)


def test_singular_and_zero_matrices_are_semidefinite() -> None:
    assert checks.check_psd("Sigma", [[1.0, 1.0], [1.0, 1.0]], 2).tolist() == [[1, 1], [1, 1]]
    assert not checks.check_psd("Sigma", np.zeros((2, 2)), 2).any()


SINGULAR = np.array([[1.0, 2.0, 3.0], [2.0, 5.0, 7.0], [3.0, 7.0, 10.0]])


@pytest.mark.parametrize("spread", [0, 3, 12, 29])
def test_semidefinite_check_forgives_rounding_in_the_units_of_each_row(spread: int) -> None:
    units = 10.0 ** np.linspace(-spread, spread, 3)
    slightly = np.array([[0.0, 1e-12, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, -1e-12]])
    fixed = checks.check_psd("Sigma", (SINGULAR + slightly) * np.outer(units, units), 3)
    assert np.array_equal(fixed, fixed.T)
    wrong = (SINGULAR - 1e-6 * np.eye(3)) * np.outer(units, units)
    with pytest.raises(ValueError, match=says("Sigma", "semidefinite", "unit diagonal")):
        checks.check_psd("Sigma", wrong, 3)
    skew = SINGULAR + 1e-6 * np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]])
    with pytest.raises(ValueError, match=says("Sigma", "symmetric")):
        checks.check_psd("Sigma", skew * np.outer(units, units), 3)


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (2, ValueError, says("rounds", "at least 3", "2")),
        (5.0, TypeError, says("rounds", "whole number", "5.0")),
        (True, TypeError, says("rounds", "whole number", "True")),
        ("7", TypeError, says("rounds", "whole number", "'7'")),
        (None, TypeError, says("rounds", "whole number", "None")),
    ],
)
def test_counts_of_things(value: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        checks.check_count("rounds", value, 3)
    assert checks.check_count("rounds", np.int32(3), 3) == 3


def test_choices() -> None:
    assert checks.check_choice("noise", "b", ("a", "b")) == "b"
    with pytest.raises(ValueError, match=says("noise", "'a', 'b'", "got 'c'")):
        checks.check_choice("noise", "c", ("a", "b"))
    with pytest.raises(ValueError, match=says("noise", "got 1")):
        checks.check_choice("noise", 1, ("a", "b"))


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([1, -1], says("counts", "at least 0", "-1")),
        ([1.5, 2.0], says("counts", "whole numbers")),
        ([1, 2, 3], says("counts", "(..., 2)", "(3,)")),
        (4, says("counts", "(..., 2)", "()")),
        ([1.0, NAN], says("counts", "finite", "nan")),
    ],
)
def test_pull_counts_are_refused(counts: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        checks.check_counts(counts, 2)


def test_pull_counts_accept_whole_floats_and_batches() -> None:
    array = checks.check_counts([[1.0, 2.0], [0.0, 7.0]], 2)
    assert array.dtype == np.int64
    assert array.tolist() == [[1, 2], [0, 7]]


def test_pull_counts_complaint_names_the_value() -> None:
    with pytest.raises(ValueError, match=says("counts", "whole", "1.5")):
        checks.check_counts([1.5, 2.0], 2)


def test_symmetry_complaint_names_the_value() -> None:
    with pytest.raises(ValueError, match=says("Sigma", "symmetric", "0.25")):
        checks.check_psd("Sigma", [[1.0, 0.25], [0.0, 1.0]], 2)


@pytest.mark.parametrize("counts", [np.array([2**63 + 5, 1], dtype=np.uint64), [1e19, 1.0]])
def test_pull_counts_that_do_not_fit_are_refused(counts: object) -> None:
    with pytest.raises(ValueError, match="counts"):
        checks.check_counts(counts, 2)


@pytest.mark.parametrize("values", [np.array([1.0 + 2.0j]), ["1.0"]])
def test_values_of_another_type_are_refused(values: object) -> None:
    with pytest.raises(TypeError, match=says("x", "real numbers")):
        checks.check_finite("x", values)


def test_random_sources() -> None:
    generator = np.random.default_rng(3)
    assert checks.check_rng(generator) is generator
    first = checks.check_rng(3).random(4)
    again = checks.check_rng(np.random.SeedSequence(3)).random(4)
    assert first.tolist() == again.tolist() == np.random.default_rng(3).random(4).tolist()


@pytest.mark.parametrize(
    ("rng", "error", "message"),
    [
        (None, TypeError, says("rng", "Generator", "None")),
        (True, TypeError, says("rng", "Generator", "True")),
        (1.0, TypeError, says("rng", "Generator", "1.0")),
        (-1, ValueError, says("rng", "at least 0", "-1")),
    ],
)
def test_random_sources_are_refused(rng: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        checks.check_rng(rng)


def test_vectors_and_directions() -> None:
    assert checks.check_direction([1, 2], 2).tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match=says("direction", "(2,)", "(3,)")):
        checks.check_direction([1, 2, 3], 2)
    with pytest.raises(ValueError, match=says("theta", "(2,)", "(1, 2)")):
        checks.check_vector("theta", [[1, 2]], 2)
    with pytest.raises(ValueError, match=says("theta", "finite", "inf", "(1,)")):
        checks.check_vector("theta", [1, INF], 2)


# --- the door for arrays ------------------------------------------------------------------------


def test_floats_are_not_copied() -> None:
    x, v = np.ones((5, 2)), np.ones(5)
    assert checks.check_features(x) is x
    assert checks.check_variances(v, 5, features=x) is v
    assert checks.check_policy(v / 5, 5).base is None
    assert checks.check_finite("x", x) is x


SOFTMAX = np.exp(np.random.default_rng(1).normal(size=50))


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_policies_of_lower_precision_are_divided_by_their_sum(dtype: type) -> None:
    weights = SOFTMAX.astype(dtype)
    policy = weights / weights.sum()
    exact = policy.astype(float)
    assert abs(exact.sum() - 1) > 1e-8
    for given in (policy, pd.Series(policy), list(policy)):
        assert np.array_equal(checks.check_policy(given, 50), exact / exact.sum())
        assert np.array_equal(checks.check_designs(given), exact / exact.sum())
    with pytest.raises(ValueError, match=says("policy", "sum to 1 within 1e-08", "divide by")):
        checks.check_policy(exact, 50)
    with pytest.raises(ValueError, match=says("policy", "sum to 1 within")):
        checks.check_policy((0.9 * exact).astype(dtype), 50)


@pytest.mark.parametrize(
    ("dtype", "within", "beyond"),
    [(np.float64, 5e-9, 3e-8), (np.float32, 5e-6, 3e-5), (np.float16, 5e-3, 3e-2)],
)
def test_a_sum_may_miss_one_by_what_its_precision_allows(
    dtype: type, within: float, beyond: float
) -> None:
    for sign in (-1, 1):
        assert checks.check_policy(np.array([1 + sign * within, 0], dtype), 2).sum() == (
            pytest.approx(1, abs=1e-8)
        )
        for check in (lambda p: checks.check_policy(p, 2), checks.check_designs):
            with pytest.raises(ValueError, match=r"must sum to 1 within"):
                check(np.array([1 + sign * beyond, 0], dtype))


def test_rounding_below_zero_counts_as_zero() -> None:
    policy = [0.25, 0.75 + 1e-17, -1e-17]
    assert checks.check_policy(policy, 3).tolist() == [0.25, 0.75, 0.0]
    assert checks.check_designs(policy).tolist() == [0.25, 0.75, 0.0]
    assert checks.check_weights([4.0, -1e-15], 2).tolist() == [4.0, 0.0]
    single = np.array([0.25, 0.75, -1e-7], dtype=np.float32)
    assert checks.check_policy(single, 3).tolist() == [0.25, 0.75, 0.0]
    for wrong in ([0.25, 0.75, -1e-9], [0.25, 0.75, -1e-11], [0.5, 0.51, -0.01]):
        with pytest.raises(ValueError, match=says("policy", "at least 0", "for action 2")):
            checks.check_policy(wrong, 3)
    with pytest.raises(ValueError, match=says("weights", "at least 0", "-1")):
        checks.check_weights([4.0, -1.0], 2)


TABLE = pd.DataFrame({"a": [True, False], "b": [1, 2], "c": [0.5, 0.25]}, index=["u", "w"])


@pytest.mark.parametrize(
    "table",
    [
        TABLE,
        TABLE.convert_dtypes(),
        TABLE.astype({"a": "boolean", "b": "Int64", "c": "Float32"}),
        TABLE.astype(object),
        TABLE.astype({"c": pd.SparseDtype(float)}),
    ],
)
def test_tables_of_mixed_columns_are_read(table: pd.DataFrame) -> None:
    assert checks.check_features(table).tolist() == [[1.0, 1.0, 0.5], [0.0, 2.0, 0.25]]
    assert checks.check_counts(table[["a", "b"]], 2).tolist() == [[1, 1], [0, 2]]
    assert checks.check_vector("b", table["b"], 2).tolist() == [1.0, 2.0]


def test_mixed_columns_lose_no_digits() -> None:
    table = pd.DataFrame({"a": [True, False], "b": [2**40 + 1, 2], "c": [0.1, 1 / 3]})
    for given in (table, table.convert_dtypes(), table.astype(object)):
        found = checks.check_features(given).tolist()
        assert found == [[1.0, 2**40 + 1, 0.1], [0.0, 2.0, 1 / 3]]


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "boolean", "object", "float64"])
def test_what_is_missing_in_a_table_is_named_by_its_place(dtype: str) -> None:
    column = pd.Series([1, None], index=["u", "w"], dtype=dtype)
    with pytest.raises(ValueError, match=says("y: ", "in row 'w' is missing", "leave it out")):
        checks.check_vector("y", column, 2)
    table = pd.DataFrame({"a": [1.0, 2.0], "b": column}, index=["u", "w"])
    with pytest.raises(ValueError, match=says("features: ", "row 'w' of column 'b' is missing")):
        checks.check_features(table)


@pytest.mark.parametrize("dtype", ["category", "datetime64[s]", "string"])
def test_columns_that_hold_no_numbers_are_named_with_their_dtype(dtype: str) -> None:
    table = pd.DataFrame({"a": [1, 2], "b": pd.Series([1, 2]).astype(dtype)})
    with pytest.raises(TypeError, match=says("features: ", "column 'b' has dtype", dtype[:3])):
        checks.check_features(table)


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        (np.ma.array([1.0, 2.0], mask=[0, 1]), ValueError, says("y: ", "index (1,) is masked")),
        ([np.ma.array([1.0, -9.0], mask=[0, 1])], ValueError, says("y: ", "(0, 1) is masked")),
        ([1.0, np.ma.masked], ValueError, says("y: ", "(1,) is masked")),
        (None, TypeError, says("y: ", "real numbers", "None")),
        ([1.0, None], ValueError, says("y: ", "(1,) is missing")),
        ([1.0, pd.NA], ValueError, says("y: ", "(1,) is missing")),
        ("ab", TypeError, says("y: ", "text", "'ab'")),
        ([1.0, [2.0, 3.0]], TypeError, says("y: ", "rows differ in length")),
        (pd.Series([np.ones(2), np.ones(2)]), TypeError, says("y: ", "(0,)", "np.stack(list(")),
        (np.array([1j]), TypeError, says("y: ", "complex", "real part")),
        (np.zeros(2, "datetime64[D]"), TypeError, says("y: ", "dates")),
        (sparse.csr_array(np.eye(2)), TypeError, says("y: ", "sparse", "toarray()")),
        ([10**400], ValueError, says("y: ", "float")),
        ({1.0}, TypeError, says("y: ", "{1.0}")),
        (["a" * 1000], TypeError, says("y: ", "text")),
    ],
)
def test_what_is_no_array_of_numbers_is_refused(
    values: object, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message) as caught:
        checks.check_finite("y", values)
    assert len(str(caught.value)) < 200


class Variable:
    """A variable of a file, as netCDF4 has them: an array only when asked for one."""

    def __init__(self, values: object) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.values


def test_a_mask_is_seen_on_what_turns_into_an_array() -> None:
    hidden = Variable(np.ma.array([1.0, -9999.0], mask=[0, 1]))
    with pytest.raises(ValueError, match=says("y: ", "(1,) is masked")):
        checks.check_finite("y", hidden)
    for seen in (np.ma.array([0.25, 0.5], mask=False), np.array([0.25, 0.5])):
        assert checks.check_finite("y", Variable(seen)).tolist() == [0.25, 0.5]


def test_rows_within_a_column_pass_once_they_are_stacked() -> None:
    column = pd.Series([np.array([1.0, 2.0]), np.array([3.0, 5.0])])
    stacked = np.stack(list(column))
    assert checks.check_features(stacked).tolist() == [[1.0, 2.0], [3.0, 5.0]]


def test_numbers_in_other_forms_are_read() -> None:
    for values in (
        [Fraction(1, 4), Decimal("0.5")],
        np.array([0.25, Fraction(1, 2)], dtype=object),
        np.ma.array([0.25, 0.5], mask=False),
        [np.ma.array(0.25), 0.5],
        (np.float32(0.25), np.float16(0.5)),
    ):
        assert checks.check_finite("y", values).tolist() == [0.25, 0.5]


@pytest.mark.parametrize("value", ["x", None, 1j, np.complex128(1), [0.5], True, np.ma.masked])
def test_what_is_no_number_is_refused(value: object) -> None:
    for check in (checks.check_share, checks.check_number):
        with pytest.raises(TypeError, match=r"^level: expected a number; got"):
            check("level", value)


def test_numbers_are_held_to_their_limits() -> None:
    assert checks.check_number("k", Fraction(1, 2), least=0) == 0.5
    assert checks.check_number("k", np.float32(0.5)) == 0.5
    for value, limits, rule in (
        (-1, {"least": 0, "most": 1}, "lie between 0 and 1"),
        (0, {"above": 0}, "above 0"),
        (1, {"below": 1}, "below 1"),
        (NAN, {"least": 0}, "at least 0"),
        (10**400, {"most": 1}, "at most 1"),
    ):
        with pytest.raises(ValueError, match=says("k: must ", rule, "; got ")):
            checks.check_number("k", value, **limits)
