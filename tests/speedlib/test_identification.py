"""What exploration determines: against the null space, by hand, and in any coordinates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from speedlib.exploration import identifiable_design
from speedlib.identification import identifiability, quadratic_coordinates
from speedlib.quadratic import quadratic_features

AXES = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0], [2.0, 0.0]])


@pytest.mark.parametrize(
    ("explored", "rank", "determined"),
    [
        ([0], 1, [True, False, False, False, True]),
        ([0, 1], 2, [True, True, False, False, True]),
        ([2, 3], 2, [False, False, True, True, False]),
        ([0, 1, 2], 3, [True] * 5),
        ([0, 4], 1, [True, False, False, False, True]),
    ],
)
def test_in_the_plane_by_hand(explored: list[int], rank: int, determined: list[bool]) -> None:
    """sigma^2 of e1 and e2 says nothing of (1, 1): the off-diagonal entry is free."""
    found = identifiability(AXES, np.isin(np.arange(5), explored) / len(explored))
    assert (found.rank, found.unknowns) == (rank, 3)
    assert found.determined.tolist() == determined
    assert found.complete == (rank == 3)
    assert f"rank {rank} of 3" in repr(found)


def test_an_undetermined_variance_differs_between_matrices_that_agree_on_what_is_seen() -> None:
    """By the null space: two matrices with the same explored variances and another elsewhere."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        d = int(rng.integers(2, 5))
        x = rng.normal(size=(9, d))
        explored = rng.random(9) < 0.5
        rows = np.array([np.outer(a, a)[np.triu_indices(d)] for a in x])
        rows[:, np.triu_indices(d)[0] != np.triu_indices(d)[1]] *= 2
        seen = rows[explored]
        null = np.linalg.svd(seen)[2][np.linalg.matrix_rank(seen) if seen.size else 0 :]
        moves = np.abs(rows @ null.T).max(axis=1, initial=0.0) > 1e-8
        found = identifiability(x, explored.astype(float))
        assert found.determined.tolist() == (~moves).tolist()
        assert found.rank == (np.linalg.matrix_rank(seen) if seen.size else 0)


@pytest.mark.slow
@given(st.integers(0, 10_000))
def test_neither_units_nor_coordinates_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(6, 3))
    explored = (rng.random(6) < 0.6).astype(float)
    one = identifiability(x, explored)
    turned = x @ np.linalg.qr(rng.normal(size=(3, 3)))[0]
    for other in (x * 10.0 ** rng.uniform(-6, 6, 3), x * rng.uniform(-9, 9, (6, 1)), turned):
        found = identifiability(other, explored)
        assert (found.rank, found.determined.tolist()) == (one.rank, one.determined.tolist())


@pytest.mark.parametrize("gap", [1e-3, 1e-5, 1e-7])
def test_nearly_collinear_features_lose_nothing(gap: float) -> None:
    """Two features that differ by little: another basis of the same plane, the same answers."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=(8, 2))
    other = x @ [[1.0, 1.0], [0.0, gap]]
    for explored in ([1, 1, 0, 0, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0, 0, 0]):
        one, found = identifiability(x, explored), identifiability(other, explored)
        assert (found.rank, found.determined.tolist()) == (one.rank, one.determined.tolist())
    assert identifiable_design(other) == pytest.approx(identifiable_design(x), abs=1e-6)


def test_an_action_without_features_has_no_noise_to_find() -> None:
    found = identifiability([[0.0, 0.0], [1.0, 0.0]], [0.0, 1.0])
    assert found.determined.tolist() == [True, True]


def test_coordinates_keep_the_regression() -> None:
    """Inner products with any matrix's vector survive the change of coordinates."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=(7, 2)) @ rng.normal(size=(2, 4))  # a plane in four dimensions
    coordinates = quadratic_coordinates(x)
    assert coordinates.shape == (7, 3)
    S = rng.normal(size=(4, 4))
    variances = np.einsum("ai,ij,aj->a", x, S + S.T, x)
    fitted = coordinates @ np.linalg.lstsq(coordinates, variances, rcond=None)[0]
    assert fitted == pytest.approx(variances)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], r"weights.*\(5,\).*\(1,\)"),
        ([-1.0, 1, 1, 1, 1], "weights.*at least 0.*-1"),
        ([np.nan, 1, 1, 1, 1], "weights.*finite"),
    ],
)
def test_bad_weights_are_refused(weights: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        identifiability(AXES, weights)


def test_features_that_are_all_zero_leave_nothing_to_design() -> None:
    with pytest.raises(ValueError, match=r"features.*not all 0"):
        identifiable_design(np.zeros((3, 2)))


# --- the identifiable design --------------------------------------------------------------------


@pytest.mark.slow
@given(st.integers(0, 10_000), st.integers(1, 3))
def test_the_identifiable_design_satisfies_the_equivalence_theorem(seed: int, d: int) -> None:
    """Of the quadratic regression: no sensitivity above the rank, whatever the features."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(d * (d + 1) // 2 + int(rng.integers(0, 6)), d))
    b = identifiable_design(x)
    phi = quadratic_features(x)
    inverse = np.linalg.inv((phi.T * b) @ phi)
    assert b.sum() == pytest.approx(1)
    assert np.einsum("ai,ij,aj->a", phi, inverse, phi).max() <= phi.shape[1] * (1 + 2e-6)
    assert identifiability(x, b).complete


def test_the_identifiable_design_covers_what_can_be_covered() -> None:
    """Four actions in three dimensions span four of six products; all four must be explored."""
    x = np.random.default_rng(3).normal(size=(4, 3))
    assert identifiable_design(x) == pytest.approx(np.full(4, 0.25), abs=1e-5)
    line = np.outer([1.0, 2.0, -3.0], [1.0, 1.0])
    assert identifiable_design(line) == pytest.approx([0, 0, 1], abs=1e-5)
