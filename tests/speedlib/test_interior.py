"""Newton's method, and the multiplicative algorithm that it is checked against."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from speedlib.designs import DesignWarning, optimal_design
from speedlib.solvers.exchange import exchange_design
from speedlib.solvers.multiplicative import multiplicative_design

from .ellipsoids import assert_certified, gaussian, kernel, root_of, value_of

#: Found among random problems: here a step once led to an indefinite information matrix.
HARD_ROWS = [
    [-1.2805193601474408e84, 4.5988666424412620e84, -5.7162922084107225e84],
    [1.2252917744179547e89, 1.9776264239541411e89, -2.6579447290597605e89],
    [-2.1666762182610963e94, 2.8630961966708735e94, 5.3281158146726452e94],
]
HARD_KERNEL = [
    [0.00723621785499732, 0.011679288099627804, -0.0156970507005604],
    [0.011679288099627804, 0.018850423418347757, -0.025335110291034385],
    [-0.0156970507005604, -0.025335110291034385, 0.034050578027553735],
]

# --- Newton's method -----------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["A", "D", "linear"])
@pytest.mark.parametrize(("n_points", "d"), [(400, 3), (400, 6), (2000, 8)])
def test_ten_more_digits_cost_few_steps(criterion, n_points, d):
    """With wrong derivatives, each digit would cost as much as those before it."""
    points = gaussian(d, n_points, d)
    matrix = kernel(d, d, 2) if criterion == "linear" else None
    rough, fine = (
        exchange_design(points, criterion, matrix=matrix, tolerance=tolerance)
        for tolerance in (1e-2, 1e-12)
    )
    assert fine.efficiency_bound >= 1 - 1e-12
    assert rough.iterations < fine.iterations <= rough.iterations + 15


@pytest.mark.parametrize("criterion", ["A", "D"])
@pytest.mark.parametrize("failures", [1, 7, 30])
def test_steps_to_where_nothing_is_determined_are_shortened(criterion, failures, monkeypatch):
    """Rounding may leave an information matrix indefinite: that costs steps, and no more."""
    points, cholesky, asked = gaussian(22, 9, 3), np.linalg.cholesky, []
    expected = exchange_design(points, criterion)

    def refuses_at_times(matrix):
        asked.append(matrix)
        if 1 < len(asked) <= 1 + failures:
            raise np.linalg.LinAlgError("Matrix is not positive definite")
        return cholesky(matrix)

    monkeypatch.setattr(np.linalg, "cholesky", refuses_at_times)
    design = exchange_design(points, criterion)
    assert len(asked) > failures + 1
    assert_certified(points, design, criterion)
    assert design.value == pytest.approx(expected.value, rel=1e-6, abs=1e-6)


def test_designs_of_rows_that_rounding_mistakes_for_dependent():
    """Lengths over ten orders and a kernel of almost rank one: a design and an honest bound."""
    x, kernel = np.array(HARD_ROWS) * 2.0**-314, np.array(HARD_KERNEL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DesignWarning)
        design = optimal_design(x, np.ones(3), "linear", matrix=kernel)
    assert 0 <= design.efficiency_bound <= 1
    assert design.weights.sum() == pytest.approx(1)


# --- the multiplicative reference ----------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["A", "D"])
def test_multiplicative_steps_never_lose(criterion):
    points = gaussian(17, 30, 3)
    root = root_of(criterion, None, 3)
    values = [
        value_of(points, multiplicative_design(points, criterion, iterations=n), root)
        for n in (1, 2, 5, 20, 100)
    ]
    assert np.all(np.diff(values) > 0 if criterion == "D" else np.diff(values) < 0)


def test_multiplicative_closed_form():
    weights = multiplicative_design(np.diag([1.0, 0.5, 0.2]), "A")
    assert weights == pytest.approx(np.array([1, 2, 5]) / 8, abs=1e-6)


def test_multiplicative_with_a_singular_matrix():
    c = np.array([1.0, 2.0])
    weights = multiplicative_design(np.eye(2), "linear", matrix=np.outer(c, c))
    assert weights == pytest.approx(c / 3, abs=1e-6)


def test_multiplicative_refuses_points_that_span_too_little():
    with pytest.raises(ValueError, match="span"):
        multiplicative_design([[1.0, 1.0], [2.0, 2.0]], "D")
