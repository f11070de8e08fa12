"""The six actions whose supports nearly tie."""

import math
from itertools import combinations

import numpy as np
import pytest

from paper.theory.near_ties import POINTS, POLICY, near_tie


def costs(gap):
    """Return the cost of every vertex, over all bases, cheapest first."""
    c, deviations = POLICY @ POINTS, np.sqrt(near_tie(gap).variances)
    found = {}
    for rows in combinations(range(6), 3):
        basis = POINTS[list(rows)]
        if abs(np.linalg.det(basis)) > 1e-9:
            w = np.zeros(6)
            w[list(rows)] = np.linalg.solve(basis.T, c)
            found[tuple(np.flatnonzero(abs(w) > 1e-12))] = np.sum(abs(w) * deviations)
    return sorted((cost, support) for support, cost in found.items())


def test_at_no_gap_two_supports_tie():
    (first, a), (second, b), (third, _), *_ = costs(0.0)
    assert first == pytest.approx(second, rel=1e-12)
    assert third > second * 1.001
    assert a != b


@pytest.mark.parametrize("gap", [0.01, 0.5, 11.0])
def test_a_gap_makes_the_first_couple_the_cheaper_one(gap):
    (_, support), *_ = costs(gap)
    assert {0, 1} <= set(support)
    assert 3 not in support


@pytest.mark.parametrize("gap", [-1.0, math.nan, math.inf])
def test_a_matrix_that_is_not_positive_definite_is_refused(gap):
    with pytest.raises(ValueError, match="gap: must be"):
        near_tie(gap)


def test_the_law_of_the_noise_is_passed_on():
    assert near_tie(0.5, "laplace").noise == "laplace"
