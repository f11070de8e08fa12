"""Least squares and policy values: by hand, against numpy, in batches, for many actions."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from speedlib import estimators
from speedlib.estimators import (
    conditional_variance,
    least_squares,
    policy_value,
    value_coefficients,
    weighted_rows,
)
from speedlib.rewards import Rewards

from .per_round import ordinary_least_squares, weighted_least_squares

ALPHA = 1e-4
SETTINGS = settings(deadline=None, derandomize=True, max_examples=60)
seeds = st.integers(0, 2**32 - 1)


def random_log(
    rng: np.random.Generator, n_actions: int, d: int, rounds: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features, actions and rewards of a log in which the first d actions do appear."""
    features = rng.normal(size=(n_actions, d))
    actions = np.concatenate([np.arange(d), rng.integers(0, n_actions, rounds - d)])
    return features, actions, rng.normal(size=rounds) * 3


# --- by hand ------------------------------------------------------------------------------------


def test_one_dimension_by_hand() -> None:
    # x = 1, 2 with variances 1, 4 and rewards 3; 10, 14. Weighted: (3 + 2*10/4 + 2*14/4) / 3 = 5.
    rewards = Rewards.from_log([0, 1, 1], [3.0, 10.0, 14.0], 2)
    assert least_squares(rewards, [[1.0], [2.0]], [1.0, 4.0]) == pytest.approx([5.0])
    # Ordinary: (3 + 20 + 28) / (1 + 4 + 4) = 51/9.
    assert least_squares(rewards, [[1.0], [2.0]]) == pytest.approx([51 / 9])
    result = policy_value(rewards, [[1.0], [2.0]], [3.0], [1.0, 4.0])
    assert float(result.value) == pytest.approx(15.0)
    # The information is 1 + 2*4/4 = 3, hence the variance 9/3.
    assert float(result.standard_error) == pytest.approx(np.sqrt(3.0))


def test_two_dimensions_by_hand() -> None:
    """Rewards 2 of e1, 5 of e2 and 1 of (1, 1), variances 1, 1, 2, once each.

    Normal equations: (3/2, 1/2; 1/2, 3/2) theta = (2.5, 5.5), hence theta = (.5, 3.5).
    The inverse is (3/4, -1/4; -1/4, 3/4).
    """
    features = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    rewards = Rewards.from_log([0, 1, 2], [2.0, 5.0, 1.0], 3)
    variances = [1.0, 1.0, 2.0]
    assert least_squares(rewards, features, variances) == pytest.approx([0.5, 3.5])
    result = policy_value(rewards, features, [1.0, 2.0], variances)
    assert float(result.value) == pytest.approx(7.5)
    assert float(result.standard_error) ** 2 == pytest.approx(3 / 4 - 4 / 4 + 4 * 3 / 4)
    # l(a) = T x'M^-1 c / sigma^2 with M^-1 c = (1/4, 5/4).
    coefficients = value_coefficients([1, 1, 1], features, variances, [1.0, 2.0])
    assert coefficients == pytest.approx([1 / 4, 5 / 4, 6 / 8])


def test_one_hot_optimum_has_the_textbook_error() -> None:
    """With T proportional to pi sigma the variance is (sum of pi sigma)^2 / n."""
    policy, sigma = np.array([0.5, 0.3, 0.2]), np.array([1.0, 2.0, 3.0])
    counts = np.array([500, 600, 600])  # 1000 pi sigma
    rewards = Rewards(counts, np.array([1.0, -1.0, 4.0]), np.zeros(3))
    result = policy_value(rewards, np.eye(3), policy, sigma**2)
    assert float(result.value) == pytest.approx(0.5 - 0.3 + 0.8)
    assert float(result.standard_error) ** 2 == pytest.approx((policy @ sigma) ** 2 / 1700)


def test_basic_support_interpolates_whatever_the_variances() -> None:
    features, counts = [[1.0, 2.0], [3.0, -1.0], [1.0, 1.0]], [3, 50, 0]
    one = value_coefficients(counts, features, [1.0, 1.0, 1.0], [2.0, 1.0])
    other = value_coefficients(counts, features, [9.0, 0.01, 5.0], [2.0, 1.0])
    # 2, 1 = w1 (1, 2) + w2 (3, -1) gives w = (5/7, 3/7).
    assert one == pytest.approx([5 / 7, 3 / 7, 0.0])
    assert other == pytest.approx([5 / 7, 3 / 7, 0.0])


# --- against numpy on single rounds -------------------------------------------------------------


@SETTINGS
@given(seeds, st.integers(1, 4), st.integers(0, 4), st.integers(0, 20))
def test_least_squares_equals_numpy_on_single_rounds(
    seed: int, d: int, more: int, rounds: int
) -> None:
    rng = np.random.default_rng(seed)
    features, actions, rewards = random_log(rng, d + more, d, d + rounds)
    variances = rng.uniform(0.1, 3.0, d + more)
    stats_ = Rewards.from_log(actions, rewards, d + more)
    X = features[actions]
    assume(np.linalg.cond(X) < 1e3)
    ordinary = ordinary_least_squares(X, rewards)
    weighted = weighted_least_squares(X, rewards, variances[actions])
    assert least_squares(stats_, features) == pytest.approx(ordinary, rel=1e-7, abs=1e-7)
    assert least_squares(stats_, features, variances) == pytest.approx(weighted, rel=1e-7, abs=1e-7)


@SETTINGS
@given(seeds, st.integers(1, 4), st.integers(0, 4))
def test_value_and_error_equal_the_matrix_formulas(seed: int, d: int, more: int) -> None:
    """Value c'theta and variance c'(X'WX)^-1 c; for other weights the sandwich."""
    rng = np.random.default_rng(seed)
    features, actions, rewards = random_log(rng, d + more, d, d + 15)
    X, c = features[actions], rng.normal(size=d)
    assume(np.linalg.cond(X) < 1e3)
    true, used = rng.uniform(0.1, 3.0, (2, d + more))
    stats_ = Rewards.from_log(actions, rewards, d + more)
    best = policy_value(stats_, features, c, true)
    other = policy_value(stats_, features, c, true, weights=used)
    W = np.diag(1 / true[actions])
    assert float(best.value) == pytest.approx(
        c @ weighted_least_squares(X, rewards, true[actions]), rel=1e-7, abs=1e-7
    )
    assert float(best.standard_error) ** 2 == pytest.approx(
        c @ np.linalg.inv(X.T @ W @ X) @ c, rel=1e-7
    )
    U = np.diag(1 / used[actions])
    hat = c @ np.linalg.inv(X.T @ U @ X) @ X.T @ U
    assert float(other.value) == pytest.approx(hat @ rewards, rel=1e-7, abs=1e-7)
    assert float(other.standard_error) ** 2 == pytest.approx(
        hat @ np.diag(true[actions]) @ hat, rel=1e-7
    )
    # Gauss and Markov.
    assert best.standard_error <= other.standard_error * (1 + 1e-9)
    assert best.estimable
    assert other.estimable


@SETTINGS
@given(seeds)
def test_a_change_of_basis_or_unit_changes_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    features, actions, rewards = random_log(rng, 5, 3, 20)
    variances, policy = rng.uniform(0.1, 3.0, 5), rng.dirichlet(np.ones(5))
    change = np.linalg.qr(rng.normal(size=(3, 3)))[0] @ np.diag([1.0, 30.0, 0.02])
    stats_ = Rewards.from_log(actions, rewards, 5)
    plain = policy_value(stats_, features, policy @ features, variances)
    turned = policy_value(stats_, features @ change, policy @ features @ change, variances)
    assert float(turned.value) == pytest.approx(float(plain.value), rel=1e-6, abs=1e-6)
    assert float(turned.standard_error) == pytest.approx(float(plain.standard_error), rel=1e-6)


# --- generalised inverses and what cannot be estimated ------------------------------------------


@pytest.mark.parametrize("rank", [1, 2, 3, 4])
def test_factors_of_the_rows_give_a_reflexive_inverse(rank: int) -> None:
    """Moore and Penrose's four conditions, in the units of the features' sizes."""
    rng = np.random.default_rng(rank)
    features = rng.normal(size=(6, rank)) @ rng.normal(size=(rank, 4)) * [1.0, 1e4, 1e-4, 1.0]
    counts, variances = np.array([3, 1, 0, 2, 5, 1]), rng.uniform(0.5, 2.0, 6)
    rows = weighted_rows(counts, features, variances)
    assert np.count_nonzero(rows.inverse) == rank
    assert 2 not in rows.index
    M = (features / rows.scale)[rows.index] * rows.root[:, None]
    G = (rows.right.T * rows.inverse) @ rows.left.T
    assert pytest.approx(M, abs=1e-10) == M @ G @ M
    assert pytest.approx(G, rel=1e-8, abs=1e-10) == G @ M @ G
    assert pytest.approx((M @ G).T, abs=1e-10) == M @ G
    assert pytest.approx((G @ M).T, abs=1e-10) == G @ M


def test_unsampled_support_makes_a_value_inestimable() -> None:
    rewards = Rewards.from_log([0, 0], [1.0, 3.0], 2)
    result = policy_value(rewards, np.eye(2), [0.5, 0.5], [1.0, 1.0])
    assert not result.estimable
    assert result.standard_error == np.inf
    assert result.interval() == (-np.inf, np.inf)
    # What the sampled action does determine is estimated as ever.
    known = policy_value(rewards, np.eye(2), [0.5, 0.0], [1.0, 1.0])
    assert known.estimable
    assert float(known.value) == pytest.approx(1.0)
    assert float(known.standard_error) == pytest.approx(0.5 / np.sqrt(2))


def test_no_rewards_at_all() -> None:
    result = policy_value(Rewards.none((2,)), np.eye(2), [0.5, 0.5], [1.0, 1.0])
    assert not result.estimable
    assert float(result.value) == 0.0
    nothing = policy_value(Rewards.none((2,)), np.eye(2), [0.0, 0.0], [1.0, 1.0])
    assert nothing.estimable
    assert float(nothing.standard_error) == 0.0


def test_rank_deficient_features_need_only_span_the_direction() -> None:
    """(1, 1) and (2, 2) are one dimension: the same as x = 1, 2."""
    rewards = Rewards.from_log([0, 1, 1], [3.0, 10.0, 14.0], 2)
    double = policy_value(rewards, [[1.0, 1.0], [2.0, 2.0]], [3.0, 3.0], [1.0, 4.0])
    assert double.estimable
    assert float(double.value) == pytest.approx(15.0)
    assert float(double.standard_error) == pytest.approx(np.sqrt(3.0))
    outside = policy_value(rewards, [[1.0, 1.0], [2.0, 2.0]], [3.0, 2.9], [1.0, 4.0])
    assert not outside.estimable


def test_fitted_means_are_those_of_every_minimiser() -> None:
    features = np.array([[1.0, 1.0, 0.0], [2.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    rewards = Rewards.from_log([0, 1, 0], [1.0, 4.0, 2.0], 3)
    theta = least_squares(rewards, features)
    # x = 1, 2 along (1, 1): (1 + 2 + 2*4) / (1 + 1 + 4) = 11/6.
    assert features[:2] @ theta == pytest.approx([11 / 6, 11 / 3])


@pytest.mark.parametrize("unit", [1e-7, 1e7])
def test_estimability_does_not_depend_on_units(unit: float) -> None:
    # Two arms, of which only the first was pulled; the second feature is merely in another unit.
    rewards = Rewards.from_log([0, 0], [1.0, 3.0], 2)
    features = np.diag([1.0, unit])
    assert not policy_value(rewards, features, [0.5, 0.5 * unit], [1.0, 1.0]).estimable
    assert policy_value(rewards, features, [0.5, 0.0], [1.0, 1.0]).estimable
    other = Rewards.from_log([1, 1], [1.0, 3.0], 2)
    assert not policy_value(other, features, [0.5, 0.5 * unit], [1.0, 1.0]).estimable


@pytest.mark.parametrize(
    ("counts", "variances"), [([10**12, 1], [1.0, 1.0]), ([1, 1], [1e-6, 1e6])]
)
def test_unequal_information_is_not_taken_for_rank_deficiency(
    counts: list[int], variances: list[float]
) -> None:
    # (1, 0) is half the sum of (1, 1) and (1, -1), whatever is known about each.
    features = [[1.0, 1.0], [1.0, -1.0]]
    coefficients = value_coefficients(counts, features, variances, [1.0, 0.0])
    assert coefficients == pytest.approx([0.5, 0.5], rel=1e-4)


# --- batches ------------------------------------------------------------------------------------


def test_batches_equal_one_by_one() -> None:
    rng = np.random.default_rng(5)
    features, c = rng.normal(size=(6, 3)), rng.normal(size=3)
    counts = rng.integers(0, 4, size=(4, 2, 6))
    rewards = Rewards(
        counts, np.where(counts, rng.normal(size=counts.shape), 0.0), np.zeros(counts.shape)
    )
    variances = rng.uniform(0.2, 2.0, size=(2, 6))
    batch = policy_value(rewards, features, c, variances)
    theta = least_squares(rewards, features, variances)
    assert batch.value.shape == batch.standard_error.shape == batch.estimable.shape == (4, 2)
    assert theta.shape == (4, 2, 3)
    for i in range(4):
        for j in range(2):
            one = Rewards(counts[i, j], rewards.means[i, j], np.zeros(6))
            single = policy_value(one, features, c, variances[j])
            assert float(batch.value[i, j]) == pytest.approx(float(single.value), rel=1e-9)
            assert batch.standard_error[i, j] == pytest.approx(float(single.standard_error))
            assert batch.estimable[i, j] == single.estimable
            assert theta[i, j] == pytest.approx(
                least_squares(one, features, variances[j]), rel=1e-7, abs=1e-9
            )


def test_conditional_variance_skips_what_was_not_pulled() -> None:
    value = conditional_variance(np.array([0.5, 2.0, 0.0]), np.array([5, 4, 0]), np.ones(3) * 3)
    assert float(value) == pytest.approx(0.25 * 3 / 5 + 4 * 3 / 4)


def test_a_feature_that_is_always_zero_changes_nothing() -> None:
    features, variances, counts = np.array([[1.0], [-2.0], [3.0]]), [1.0, 2.0, 4.0], [3, 0, 5]
    wider = np.column_stack([np.zeros(3), features])
    expected = value_coefficients(counts, features, variances, [2.0])
    assert value_coefficients(counts, wider, variances, [0.0, 2.0]) == pytest.approx(expected)
    rewards = Rewards(np.array(counts), np.array([1.0, 0.0, 2.0]), np.zeros(3))
    assert least_squares(rewards, wider, variances)[1] == pytest.approx(
        least_squares(rewards, features, variances)[0]
    )
    assert bool(policy_value(rewards, wider, [0.0, 2.0], variances).estimable)
    assert not bool(policy_value(rewards, wider, [1e-3, 2.0], variances).estimable)


def test_no_replications_at_all() -> None:
    rewards = Rewards.none((0, 3))
    assert least_squares(rewards, np.eye(3)).shape == (0, 3)
    assert policy_value(rewards, np.eye(3), np.ones(3), np.ones(3)).value.shape == (0,)


# --- many actions -------------------------------------------------------------------------------


@pytest.mark.parametrize("entries", [1, 12, 40, 1000])
def test_products_are_summed_over_pieces(entries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of one action, of three, of ten (of which one is empty), and all of them at once."""
    rng = np.random.default_rng(14)
    x, weights = rng.normal(size=(30, 2)), rng.uniform(size=(5, 30))
    weights[:, 10:20] = 0.0
    monkeypatch.setattr(estimators, "_PIECE_ENTRIES", entries)
    found = estimators._weighted_products(weights, x)
    assert found == pytest.approx(np.einsum("ra,ai,aj->rij", weights, x, x))


@pytest.mark.slow
def test_many_actions_need_little_more_memory_than_their_features() -> None:
    """One live trial, a few actions pulled or all of them."""
    rng = np.random.default_rng(13)
    features, c = rng.normal(size=(40_000, 20)), rng.normal(size=20)
    few = np.zeros(len(features), dtype=np.int64)
    few[rng.choice(len(features), 25, replace=False)] = 40
    everything = np.ones(len(features), dtype=np.int64)
    for counts in (few, everything):
        variances = rng.uniform(0.5, 2.0, len(features))
        tracemalloc.start()
        try:
            coefficients = value_coefficients(counts, features, variances, c)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        weighted = features * (counts / variances)[:, None]
        expected = weighted @ np.linalg.solve(weighted.T @ features, c)
        assert coefficients == pytest.approx(expected, rel=1e-9, abs=1e-12)
        assert peak <= 8 * features.nbytes


def test_the_variance_given_coefficients_by_hand() -> None:
    """4 * 2 / 8 + 9 * 5 / 3, an action without noise, and one for each of two replications."""
    assert conditional_variance([2.0, -3.0], [8, 3], [2.0, 5.0]) == pytest.approx(16.0)
    assert conditional_variance([2.0, -3.0], [8, 3], [0.0, 5.0]) == pytest.approx(15.0)
    rows = conditional_variance([2.0, -3.0], [8, 3], [[2.0, 5.0], [0.0, 10.0]])
    assert rows.tolist() == pytest.approx([16.0, 30.0])
    assert conditional_variance([2.0, 1.0], [8, 0], [2.0, 5.0]) == pytest.approx(6.0)  # as one pull
