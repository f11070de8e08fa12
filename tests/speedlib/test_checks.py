"""Every complaint names the argument, the offending value and the rule."""

from __future__ import annotations

import re

import numpy as np
import pytest

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
