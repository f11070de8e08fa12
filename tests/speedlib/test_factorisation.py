"""Factorisation with missing entries: the singular value decomposition, and a general optimiser."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from speedlib.factorisation import factorise


def everywhere(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows, columns = np.indices(matrix.shape)
    return rows.ravel(), columns.ravel(), matrix.ravel()


def some(rng: np.random.Generator, shape: tuple[int, int], share: float) -> tuple:
    return np.nonzero(rng.random(shape) < share)


def objective(left: np.ndarray, right: np.ndarray, known: list, ridge: float) -> float:
    """Say what is minimised, entry by entry."""
    total = 0.0
    for row, column, value in known:
        total += (value - left[row] @ right[column]) ** 2
        total += ridge * (left[row] @ left[row] + right[column] @ right[column])
    return total


@pytest.mark.parametrize("ridge", [0.01, 0.1])
def test_a_matrix_that_is_fully_known_gives_its_decomposition_with_lower_values(
    ridge: float,
) -> None:
    matrix = np.random.default_rng(1).normal(size=(9, 7))
    found = factorise(*everywhere(matrix), 3, ridge=ridge, tolerance=1e-14, max_iterations=20_000)
    u, spread, vt = np.linalg.svd(matrix, full_matrices=False)
    lowered = np.maximum(spread - ridge * np.sqrt(matrix.size), 0.0)[:3]
    np.testing.assert_allclose(found.left @ found.right.T, (u[:, :3] * lowered) @ vt[:3], atol=2e-5)
    np.testing.assert_allclose(
        np.reshape(found.residuals, matrix.shape), matrix - found.left @ found.right.T, atol=1e-12
    )


@pytest.mark.slow
def test_missing_entries_of_a_low_rank_matrix_are_recovered() -> None:
    rng = np.random.default_rng(2)
    truth = rng.normal(size=(40, 2)) @ rng.normal(size=(2, 30))
    rows, columns = some(rng, truth.shape, 0.5)
    found = factorise(
        rows, columns, truth[rows, columns], 2, ridge=1e-6, tolerance=1e-10, max_iterations=2000
    )
    np.testing.assert_allclose(found.left @ found.right.T, truth, atol=1e-3)


@pytest.mark.slow
def test_no_optimiser_goes_lower_from_there() -> None:
    rng = np.random.default_rng(3)
    rows, columns = some(rng, (8, 6), 0.6)
    values = rng.normal(size=rows.size) + 1.0
    known = list(zip(rows, columns, values, strict=True))
    found = factorise(rows, columns, values, 2, ridge=0.2, tolerance=1e-14, max_iterations=20_000)
    assert found.objective == pytest.approx(objective(found.left, found.right, known, 0.2))

    def loss(x: np.ndarray) -> float:
        factors = x.reshape(-1, 2)
        return objective(factors[: len(found.left)], factors[len(found.left) :], known, 0.2)

    start = np.concatenate([found.left, found.right]).ravel()
    lowest = minimize(loss, start + 0.01 * rng.normal(size=start.size), method="BFGS")
    assert found.objective <= lowest.fun + 1e-7


def test_factors_stand_on_their_main_axes() -> None:
    rng = np.random.default_rng(4)
    rows, columns = some(rng, (20, 15), 0.5)
    found = factorise(rows, columns, rng.normal(size=rows.size), 3)
    moments = found.right.T @ found.right
    lengths = np.diag(moments)
    np.testing.assert_allclose(moments, np.diag(lengths), atol=1e-9)
    assert np.all(np.diff(lengths) <= 0)
    assert np.all(found.right[np.abs(found.right).argmax(axis=0), range(3)] > 0)


def test_rows_and_columns_of_which_nothing_is_known_are_zero() -> None:
    found = factorise([0, 2, 2], [1, 1, 3], [1.0, 2.0, 3.0], 2)
    assert found.left.shape == (3, 2)
    assert found.right.shape == (4, 2)
    assert np.all(found.left[1] == 0)
    assert np.all(found.right[[0, 2]] == 0)
    assert np.all(found.left[[0, 2]] != 0)


def test_a_seed_gives_the_same_factors_and_the_start_is_the_only_chance() -> None:
    rng = np.random.default_rng(5)
    rows, columns = some(rng, (30, 20), 0.5)
    values = rng.normal(size=rows.size)
    first, second = (factorise(rows, columns, values, 2, rng=7) for _ in range(2))
    assert np.array_equal(first.right, second.right)
    order = rng.permutation(rows.size)
    shuffled = factorise(rows[order], columns[order], values[order], 2, rng=7)
    np.testing.assert_allclose(shuffled.right, first.right, rtol=1e-9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 0], [1, 1], [1.0, 2.0], 1), "must name each position at most once"),
        (([0, -1], [1, 1], [1.0, 2.0], 1), "rows: must hold 2 whole numbers"),
        (([0, 1], [1.0, 1.0], [1.0, 2.0], 1), "columns: must hold 2 whole numbers"),
        (([0], [1, 1], [1.0, 2.0], 1), "rows: must hold 2"),
        (([0, 1], [1, 1], [1.0, np.nan], 1), "values"),
        (([0, 1], [1, 1], [1.0, 2.0], 0), "rank"),
    ],
)
def test_bad_entries_are_refused(arguments: tuple, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        factorise(*arguments)


def test_a_penalty_is_needed() -> None:
    with pytest.raises(ValueError, match=r"ridge: must be above 0 .*; got 0"):
        factorise([0, 1], [1, 1], [1.0, 2.0], 1, ridge=0)
