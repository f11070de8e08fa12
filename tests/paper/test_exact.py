"""Exact arithmetic against floating point, and against what one sees at a glance."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from paper import exact
from speedlib import optimal_design, pe_loss

WHOLE = st.integers(-4, 4)


def floats(value):
    return np.array(value, dtype=float)


def squares(size):
    return st.lists(st.lists(WHOLE, min_size=size, max_size=size), min_size=size, max_size=size)


@pytest.mark.slow
@given(squares(3), st.lists(WHOLE, min_size=3, max_size=3))
def test_elimination_agrees_with_numpy(rows, right):
    rows, right = exact.matrix(rows), exact.vector(right)
    determinant = exact.determinant(rows)
    assert float(determinant) == pytest.approx(np.linalg.det(floats(rows)), abs=1e-9)
    assume(determinant)
    assert floats(exact.solve(rows, right)) == pytest.approx(
        np.linalg.solve(floats(rows), floats(right))
    )
    assert floats(exact.inverse(rows)) == pytest.approx(np.linalg.inv(floats(rows)))


@given(squares(3), st.lists(WHOLE, min_size=3, max_size=3))
def test_a_solution_exists_exactly_where_the_rank_allows_it(rows, right):
    rows, right = exact.matrix(rows), exact.vector(right)
    found = exact.solve(rows, right)
    joined = np.column_stack([floats(rows), floats(right)])
    solvable = np.linalg.matrix_rank(joined) == np.linalg.matrix_rank(floats(rows))
    assert (found is not None) == solvable
    if found is not None:
        assert exact.times(rows, found) == right


def test_more_equations_than_unknowns():
    tall = exact.matrix([[1, 0], [0, 1], [1, 1]])
    assert exact.solve(tall, exact.vector([1, 2, 3])) == (1, 2)
    assert exact.solve(tall, exact.vector([1, 2, 4])) is None


@pytest.mark.slow
@given(st.lists(st.tuples(WHOLE, WHOLE), min_size=2, max_size=5), st.data())
def test_designs_agree_with_the_library(points, data):
    points = [p for p in points if any(p)]
    assume(points and np.linalg.matrix_rank(np.array(points)) == 2)
    positive = st.integers(1, 5)
    many = st.lists(positive, min_size=len(points), max_size=len(points))
    features, deviations = exact.matrix(points), exact.vector(data.draw(many))
    weights = data.draw(many)
    weights = tuple(Fraction(b, sum(weights)) for b in weights)
    direction = exact.vector(data.draw(st.tuples(positive, positive)))
    variances = tuple(s * s for s in deviations)

    x, v, c = floats(features), floats(variances), floats(direction)
    loss = exact.loss(weights, features, variances, direction)
    assert float(loss) == pytest.approx(pe_loss(floats(weights), x, v, direction=c))
    found = exact.best_design(features, deviations, direction)
    assert float(found.value) == pytest.approx(optimal_design(x, v, direction=c).value)
    assert sum(found.weights) == 1
    assert len(found.support) <= 2
    assert exact.loss(found.weights, features, variances, direction) == found.value
    assert exact.mean_feature(found.combination, features) == direction


def test_the_gradient_agrees_with_differences():
    features = exact.matrix([[1, 0], [0, 1], [1, 2]])
    variances, direction = exact.vector([1, 4, 2]), exact.vector([1, 3])
    weights, step = exact.vector("1/2 1/3 1/6"), Fraction(1, 10**6)
    slope = exact.gradient(weights, features, variances, direction)
    for a in range(3):
        up, down = (
            exact.loss(
                tuple(b + sign * step * (i == a) for i, b in enumerate(weights)),
                features,
                variances,
                direction,
            )
            for sign in (1, -1)
        )
        assert float((up - down) / (2 * step)) == pytest.approx(float(slope[a]), rel=1e-9)


def test_a_direction_out_of_range_costs_infinity():
    one = exact.matrix([[1, 0]])
    assert exact.loss((Fraction(1),), one, (Fraction(1),), exact.vector([0, 1])) == math.inf
    with pytest.raises(ValueError, match="direction"):
        exact.best_design(one, (Fraction(1),), exact.vector([0, 1]))


def test_only_exact_numbers_are_taken():
    with pytest.raises(TypeError, match=r"exact numbers are int, str or Fraction; got 0\.5"):
        exact.vector([0.5])
    with pytest.raises(ValueError, match="same length"):
        exact.matrix([[1, 2], [3]])
    with pytest.raises(ValueError, match="singular"):
        exact.inverse(exact.matrix([[1, 1], [1, 1]]))


def test_eigenvalues_of_small_matrices():
    square = exact.matrix([["5/16", "-1/4"], ["-1/4", "5/16"]])
    assert exact.eigenvalues(square) == (Fraction(1, 16), Fraction(9, 16))
    with pytest.raises(ValueError, match="not rational"):
        exact.eigenvalues(exact.matrix([[1, 1], [1, 2]]))


def test_numbers_are_written_as_one_writes_them():
    table = exact.steps({"b": exact.vector("1/2 1/2"), "A": exact.matrix([[1, 0], [0, 1]])})
    assert list(table["value"]) == ["(1/2, 1/2)", "[1, 0; 0, 1]"]
    assert exact.text(math.inf) == "∞"


@pytest.mark.parametrize("value", ["2", "1/3", "16/9", "0", "5000000000000000000000", "7/1000000"])
def test_the_root_lies_between_its_bounds(value):
    low, high = exact.root(value, 12)
    assert low**2 <= Fraction(value) <= high**2
    assert 0 <= high - low <= Fraction(1, 10**12)


def test_a_root_of_few_decimals_is_exact_and_a_negative_number_has_none():
    assert exact.root("9/4") == (Fraction(3, 2), Fraction(3, 2))
    with pytest.raises(ValueError, match="at least 0"):
        exact.root(-1)
