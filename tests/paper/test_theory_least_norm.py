"""The exact least-norm covariance, against the library's least squares on noiseless data."""

from __future__ import annotations

import numpy as np
import pytest

from paper.exact import matrix, variances, vector
from paper.theory.least_norm import least_norm_covariance
from speedlib import Rewards, estimate_covariance, optimal_design


def limit_by_library(actions, values):
    """Least squares on scatters that are the variances, with an error of the means of zero."""
    counts = np.full(len(actions), 7)
    rewards = Rewards(counts, np.zeros(len(actions)), 7 * np.asarray(values, dtype=float))
    return estimate_covariance(rewards, np.asarray(actions, dtype=float)).Sigma


@pytest.mark.parametrize("seed", range(10))
def test_agrees_with_least_squares(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 4))
    actions = rng.integers(-4, 5, (int(rng.integers(1, d + 1)), d))
    actions[:, 0] += 1 + np.arange(len(actions)) * 9
    values = rng.integers(1, 10, len(actions))
    x, z = matrix(actions.tolist()), vector(values.tolist())
    exact = least_norm_covariance(x, z)
    found = np.array(exact, dtype=float)
    assert found == pytest.approx(limit_by_library(actions, values), rel=1e-7, abs=1e-9)
    assert variances(x, exact) == z


def test_by_hand():
    exact = least_norm_covariance(matrix([[1, 0], [1, 1]]), vector([1, 3]))
    assert exact == matrix([["1", "2/3"], ["2/3", "2/3"]])


def test_impossible_variances_are_refused():
    with pytest.raises(ValueError, match="no symmetric matrix"):
        least_norm_covariance(matrix([[1, 2], [2, 4]]), vector([1, 5]))


def test_an_action_explored_once_is_believed_to_be_free_of_noise():
    # The page on Proposition 6: x2 once, x3 nine times. Rewards by hand, least squares by the
    # library, the design by its linear program: x2 is needed and gets no pull.
    features = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 1.0]])
    nine = np.array([3.0, -1.0, 2.0, 0.0, 5.0, -4.0, 1.0, 1.0, 2.0])
    scatter = ((nine - nine.mean()) ** 2).sum()
    means, scatters = np.array([0, 7, nine.mean()]), np.array([0, 0, scatter])
    rewards = Rewards(np.array([0, 1, 9]), means, scatters)
    found = estimate_covariance(rewards, features).variances
    z = nine.var()
    np.testing.assert_allclose(found, [z / 6, 0, z], atol=1e-9 * z)
    design = optimal_design(features, [z / 6, 1e-9 * z, z], policy=[1 / 3] * 3).weights
    np.testing.assert_array_equal(np.floor(90 * design), [89, 0, 0])


def summed_squares(S, features, played, squares):
    """Equation (5), term by term over rounds."""
    return sum(
        (features[a] @ S @ features[a] - q) ** 2 for a, q in zip(played, squares, strict=True)
    )


@pytest.mark.parametrize("seed", range(5))
def test_a_positive_definite_matrix_is_as_good_a_minimiser(seed):
    # With d explored actions least squares for the mean leaves each action its own mean.
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 5))
    features = rng.standard_normal((d, d))
    played = np.repeat(np.arange(d), 4)
    rewards = rng.standard_normal(4 * d) * (1 + played)
    means = rewards.reshape(d, 4).mean(axis=1)
    scatters = ((rewards.reshape(d, 4) - means[:, None]) ** 2).sum(axis=1)
    squares = (rewards - means[played]) ** 2
    inverse = np.linalg.inv(features)
    definite = inverse @ np.diag(scatters / 4) @ inverse.T
    least = estimate_covariance(Rewards(np.full(d, 4), means, scatters), features).Sigma
    assert np.all(np.linalg.eigvalsh(definite) > 0)
    best = summed_squares(least, features, played, squares)
    assert summed_squares(definite, features, played, squares) == pytest.approx(best, rel=1e-9)


def test_the_page_has_matrices_that_fit_and_are_positive_definite():
    # Three actions, variances 2, 74, 10; the explored two determine the matrix by its inverse.
    actions, known = np.array([[3, 2], [3, -2], [1, 2]]), np.array([2.0, 74.0, 10.0])
    for third, variance in ((2, 82 / 9), (1, 98), (0, 41)):
        rest = [k for k in range(3) if k != third]
        inverse = np.linalg.inv(actions[rest])
        S = inverse @ np.diag(known[rest]) @ inverse.T
        assert actions[third] @ S @ actions[third] == pytest.approx(variance)
    by_hand = matrix([[3, -3], [-3, 5]])
    assert variances(matrix([[1, 0], [1, 1], [0, 1]]), by_hand) == vector([3, 2, 5])
    assert np.linalg.det(np.array(by_hand, dtype=float)) == pytest.approx(6)


def test_a_solution_that_errs_upwards_meets_a_bound_from_one_side():
    # The page on Lemma 2: e1 and e2 explored, both 1; the third action has 3, least norm 2.
    actions = matrix([[1, 0], [0, 1], [1, 1]])
    least = least_norm_covariance(actions[:2], vector([1, 1]))
    assert variances(actions, least) == vector([1, 1, 2])
    above = variances(actions, matrix([["1", "3/4"], ["3/4", "1"]]))
    assert above[:2] == vector([1, 1])
    assert above[2] > 3
