"""Sums of products against exact fractions, where plain ones lose every digit."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from speedlib.solvers._products import accurate_product


def cancelling(seed, n_rows=6, m=9):
    """Rows whose products with a vector are fifteen orders smaller than their terms."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n_rows, m)) * 10.0 ** rng.uniform(-8, 8, size=m)
    vector = rng.normal(size=m)
    rows[:, -1] -= rows @ vector / vector[-1]
    return rows, vector


def exact(row, vector):
    return float(sum(Fraction(a) * Fraction(b) for a, b in zip(row, vector, strict=True)))


@pytest.mark.parametrize("seed", range(20))
def test_products_keep_their_digits_where_terms_cancel(seed):
    rows, vector = cancelling(seed)
    expected = [exact(row, vector) for row in rows]
    assert accurate_product(rows, vector) == pytest.approx(expected, rel=1e-10, abs=0)


def test_plain_products_lose_them():
    errors = []
    for seed in range(20):
        rows, vector = cancelling(seed)
        expected = np.array([exact(row, vector) for row in rows])
        errors.append(np.abs((rows @ vector) / expected - 1).max())
    assert np.median(errors) > 1e-2


def test_one_row_and_one_column():
    assert float(accurate_product(np.array([0.1, 0.2]), np.array([3.0, 4.0]))) == exact(
        [0.1, 0.2], [3.0, 4.0]
    )
    assert accurate_product(np.array([[2.0], [3.0]]), np.array([0.5])).tolist() == [1.0, 1.5]
