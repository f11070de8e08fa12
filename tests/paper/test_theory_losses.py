"""Bounds on the oracle's loss against the optimal design and against counting pulls."""

from __future__ import annotations

import math

import numpy as np
import pytest

from paper.theory.losses import (
    loss_bounds,
    printed_first_term,
    printed_loss_bounds,
    rounding_up_bounds,
)
from speedlib import ceil_counts, optimal_design, pe_loss


def case(seed: int, d: int = 3):
    rng = np.random.default_rng(seed)
    x, root = rng.standard_normal((2 * d + 2, d)), rng.standard_normal((d, d))
    return x, rng.dirichlet(np.ones(len(x))), root @ root.T


@pytest.mark.parametrize("seed", range(5))
def test_printed_bounds_are_the_eigenvalues_of_the_double_sum(seed):
    x, p, _ = case(seed)
    w = p[:, None] * x
    V = sum(np.outer(one, two) for one in w for two in w)
    eigenvalues = np.linalg.eigvalsh((V + V.T) / 2)
    assert printed_loss_bounds(x, p) == pytest.approx((0, 3 * eigenvalues[-1]), abs=1e-9)
    assert printed_first_term(x, p, 50) == pytest.approx(3 * eigenvalues[-1] * math.log(50))


def test_in_one_dimension_both_printed_bounds_are_the_same():
    assert printed_loss_bounds([[2.0], [-1.0]], [0.75, 0.25]) == (1.5625, 1.5625)


@pytest.mark.parametrize("seed", range(10))
def test_the_loss_lies_between_the_bounds(seed):
    x, p, Sigma = case(seed, d=1 + seed % 4)
    variances = np.einsum("ai,ij,aj->a", x, Sigma, x)
    low, high = loss_bounds(x, p, Sigma)
    value = optimal_design(x, variances, policy=p).value
    assert low * (1 - 1e-9) <= value <= high * (1 + 1e-9)
    # A direction along one action reaches the lower bound.
    one = np.eye(len(x))[0]
    assert loss_bounds(x, one, Sigma).lower == pytest.approx(variances[0])
    assert optimal_design(x, variances, policy=one).value == pytest.approx(variances[0])


def test_one_hot_features_reach_the_upper_bound():
    p, v = np.array([0.2, 0.3, 0.5]), np.array([1.0, 4.0, 9.0])
    high = loss_bounds(np.eye(3), p, np.diag(v)).upper
    assert high == pytest.approx(2.3**2) == optimal_design(np.eye(3), v, policy=p).value


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("rounds", [1, 7, 100])
def test_rounding_up_is_worth_at_most_what_it_adds(seed, rounds):
    x, p, Sigma = case(seed)
    variances = np.einsum("ai,ij,aj->a", x, Sigma, x)
    best = optimal_design(x, variances, policy=p)
    loss = rounds * pe_loss(ceil_counts(best.weights, rounds), x, variances, policy=p)
    low, high = rounding_up_bounds(best.support.size, rounds)
    assert low * (1 - 1e-9) <= loss / best.value <= high * (1 + 1e-9)
