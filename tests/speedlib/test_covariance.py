"""Covariance estimates: against numpy on single rounds, cvxpy, first-order conditions, by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from speedlib.bandit import LinearBandit
from speedlib.covariance import CovarianceEstimate, estimate_covariance, squared_residuals
from speedlib.psd import fit_psd
from speedlib.quadratic import quadratic_features, svec_to_matrix
from speedlib.rewards import Rewards

from .logs import drawn_problem, exact_squares, random_log
from .per_round import covariance, ordinary_least_squares

ALPHA = 1e-4
SETTINGS = settings(deadline=None, derandomize=True, max_examples=60)
METHODS = ["lstsq", "psd", "ridge"]
SIGMA_3 = np.array([[0.6, 0.2, -0.1], [0.2, 0.5, 0.1], [-0.1, 0.1, 0.3]])


def well_conditioned(X: np.ndarray) -> bool:
    """Tell whether no singular value of the quadratic design lies near the edge of the rank."""
    rows = np.array([np.outer(x, x).ravel() for x in X])
    values = np.linalg.svd(rows, compute_uv=False) / np.linalg.norm(rows, 2)
    return not np.any((values > 1e-11) & (values < 1e-3))


# --- svec ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_quadratic_features_turn_forms_and_norms_into_vectors(d: int) -> None:
    rng = np.random.default_rng(d)
    x, root = rng.normal(size=(4, d)), rng.normal(size=(d, d))
    S = root + root.T
    vector = np.array(
        [S[i, j] * (1 if i == j else np.sqrt(2)) for i in range(d) for j in range(i, d)]
    )
    assert quadratic_features(x) @ vector == pytest.approx(np.array([v @ S @ v for v in x]))
    assert svec_to_matrix(vector, d) == pytest.approx(S)
    assert np.linalg.norm(vector) == pytest.approx(np.linalg.norm(S))
    assert svec_to_matrix(np.stack([vector, -vector]), d)[1] == pytest.approx(-S)


# --- as printed: least squares over all matrices ------------------------------------------------


@SETTINGS
@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.integers(1, 7), st.integers(1, 30))
def test_lstsq_equals_numpy_on_vec_rows(seed: int, d: int, explored: int, rounds: int) -> None:
    """Same least-norm matrix, same rank, same mean square; often with too few actions."""
    rng = np.random.default_rng(seed)
    features, actions, rewards = random_log(rng, 7, d, rounds, explored)
    X = features[actions]
    assume(well_conditioned(X))
    Sigma, mean_square = covariance(X, rewards)
    found = estimate_covariance(Rewards.from_log(actions, rewards, 7), features)
    rows = np.array([np.outer(x, x).ravel() for x in X])
    slack = 1e-7 * (1.0 + mean_square) * np.linalg.norm(np.linalg.pinv(rows, rcond=1e-8), 2)
    assert found.Sigma == pytest.approx(Sigma, abs=slack)
    assert found.variances == pytest.approx(
        np.array([x @ Sigma @ x for x in features]), abs=10 * slack
    )
    assert found.rank == np.linalg.matrix_rank(rows, tol=1e-8 * np.linalg.norm(rows, 2))
    assert float(found.mean_square) == pytest.approx(mean_square, rel=1e-7, abs=1e-20)
    assert float(found.optimality) == 0.0


def test_squared_residuals_of_single_rounds() -> None:
    rng = np.random.default_rng(1)
    features, actions, rewards = random_log(rng, 5, 2, 30, 4)
    theta = ordinary_least_squares(features[actions], rewards)
    squares = squared_residuals(Rewards.from_log(actions, rewards, 5), features, theta)
    for a in range(4):
        residuals = rewards[actions == a] - features[a] @ theta
        assert squares[a] == pytest.approx(np.mean(residuals**2))
    assert squares[4] == 0.0


def test_unidentified_variance_gets_the_least_norm_value() -> None:
    """Explore e1 and e2 when Sigma = (1, 1/2; 1/2, 1): (1, 1) has variance 3, and 2 is found."""
    features = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    found = estimate_covariance(exact_squares([50, 70, 0], [1.0, 1.0, 0.0]), features)
    assert found.Sigma == pytest.approx(np.eye(2), abs=1e-12)
    assert found.variances == pytest.approx([1.0, 1.0, 2.0])
    assert found.rank == 2
    assert not found.identified
    # Drawn rewards tend to the same wrong limit.
    bandit = LinearBandit(features, [1.0, -1.0], Sigma=[[1.0, 0.5], [0.5, 1.0]])
    assert bandit.variances[2] == 3.0
    drawn = bandit.pull([10**8, 10**8, 0], np.random.default_rng(2))
    assert estimate_covariance(drawn, features).variances[2] == pytest.approx(2.0, abs=2e-3)


def test_unidentified_variance_can_be_far_too_large() -> None:
    """Sigma = (4, -3; -3, 4): the variance of (1, 1) is 2, the limit 8."""
    features = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    found = estimate_covariance(exact_squares([9, 9, 0], [4.0, 4.0, 0.0]), features)
    assert found.variances == pytest.approx([4.0, 4.0, 8.0])


@pytest.mark.parametrize("method", ["lstsq", "psd"])
@pytest.mark.parametrize("noise", ["gaussian", "rademacher"])
def test_identifiable_exploration_finds_sigma(method: str, noise: str) -> None:
    rng = np.random.default_rng(3)
    bandit = LinearBandit(rng.normal(size=(9, 3)), [1.0, 2.0, 3.0], Sigma=SIGMA_3, noise=noise)
    found = estimate_covariance(bandit.pull(np.full(9, 10**9), rng), bandit.features, method)
    assert found.Sigma == pytest.approx(SIGMA_3, abs=3e-4)
    assert found.variances == pytest.approx(bandit.variances, rel=2e-3)
    assert found.identified
    assert found.rank == 6


def test_one_dimension_has_a_chi_squared_law() -> None:
    """x = 1: the estimate is sigma^2 times chi^2 of Gamma - 1 freedom over Gamma."""
    bandit, gamma = LinearBandit([[1.0]], [5.0], Sigma=[[2.0]]), 6
    rewards = bandit.pull(np.full((5000, 1), gamma), np.random.default_rng(4))
    found = estimate_covariance(rewards, bandit.features)
    assert found.Sigma.shape == (5000, 1, 1)
    law = stats.chi2(gamma - 1, scale=2.0 / gamma)
    assert stats.kstest(found.Sigma[:, 0, 0], law.cdf).pvalue > ALPHA


# --- over semidefinite matrices -----------------------------------------------------------------


def test_semidefinite_estimate_by_hand() -> None:
    """e1, e2, (1, 1) with squares 1, 1, 5: over all matrices S12 = 3/2, which is indefinite.

    By symmetry the best semidefinite matrix is a (1, 1; 1, 1), and
    2 (a - 1)^2 + (4 a - 5)^2 is least at a = 11/9.
    """
    features = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0]])
    rewards = exact_squares([20, 20, 20, 0], [1.0, 1.0, 5.0, 0.0])
    free = estimate_covariance(rewards, features, "lstsq")
    assert free.Sigma == pytest.approx(np.array([[1.0, 1.5], [1.5, 1.0]]))
    assert free.variances[3] == pytest.approx(-1.0)
    found = estimate_covariance(rewards, features, "psd")
    assert found.Sigma == pytest.approx(np.full((2, 2), 11 / 9), rel=1e-5)
    assert found.variances == pytest.approx([11 / 9, 11 / 9, 44 / 9, 0.0], abs=1e-5)


def regression(features: np.ndarray, rewards: Rewards) -> tuple[np.ndarray, np.ndarray]:
    """Return weights of total 1 and mean squared residuals, by numpy's least squares."""
    root = np.sqrt(rewards.counts)
    theta = ordinary_least_squares(features * root[:, None], rewards.means * root)
    squares = rewards.scatters / rewards.counts + (rewards.means - features @ theta) ** 2
    return rewards.counts / rewards.counts.sum(), squares


PROBLEMS = [(1, 2, 4, 5), (2, 2, 6, 20), (3, 3, 8, 6), (4, 3, 8, 40), (5, 4, 12, 8), (6, 3, 5, 9)]


@pytest.mark.parametrize("problem", PROBLEMS)
def test_semidefinite_estimate_equals_cvxpy(problem: tuple[int, int, int, int]) -> None:
    cvxpy = pytest.importorskip("cvxpy", reason="cvxpy, an independent solver, is not installed")
    features, rewards = drawn_problem(*problem)
    weights, squares = regression(features, rewards)
    S = cvxpy.Variable(2 * [features.shape[1]], PSD=True)
    forms = cvxpy.hstack([cvxpy.trace(np.outer(x, x) @ S) for x in features])
    miss = cvxpy.multiply(np.sqrt(weights), forms - squares)
    # Not squared: interior-point solvers are more exact about norms.
    cvxpy.Problem(cvxpy.Minimize(cvxpy.norm(miss))).solve(solver="CLARABEL")
    found = estimate_covariance(rewards, features, "psd")
    size = np.sqrt(weights @ squares**2)
    # The fitted variances are unique even where Sigma is not.
    assert found.variances == pytest.approx(np.array(forms.value), abs=3e-4 * size)
    mine = np.sqrt(weights @ (found.variances - squares) ** 2)
    assert mine == pytest.approx(float(np.linalg.norm(miss.value)), abs=1e-5 * size)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_semidefinite_estimate_meets_the_optimality_conditions(
    problem: tuple[int, int, int, int],
) -> None:
    """S and the gradient G are semidefinite and complementary: <G, S> = 0."""
    features, rewards = drawn_problem(*problem)
    weights, squares = regression(features, rewards)
    found = estimate_covariance(rewards, features, "psd")
    S = found.Sigma
    assert pytest.approx(S.T, rel=1e-12, abs=1e-14) == S
    assert np.linalg.eigvalsh(S)[0] >= -1e-12 * np.linalg.norm(S)
    misses = np.array([x @ S @ x for x in features]) - squares
    G = sum(w * m * np.outer(x, x) for w, m, x in zip(weights, misses, features, strict=True))
    scale = np.sqrt(weights @ squares**2)
    moment = np.linalg.norm(features.T @ (weights[:, None] * features), 2)
    assert np.linalg.eigvalsh(G)[0] >= -1e-7 * scale * moment
    assert abs(np.sum(G * S)) <= 1e-7 * scale**2
    assert 0 <= found.optimality <= 1e-8


def test_some_of_these_problems_are_indefinite_without_the_constraint() -> None:
    smallest = []
    for problem in PROBLEMS:
        features, rewards = drawn_problem(*problem)
        Sigma = estimate_covariance(rewards, features, "lstsq").Sigma
        smallest.append(np.linalg.eigvalsh(Sigma)[0])
    assert sum(value < -1e-3 for value in smallest) >= 3
    assert sum(value > 1e-3 for value in smallest) >= 1


def test_constraint_does_nothing_where_it_does_not_bind() -> None:
    bandit = LinearBandit(np.random.default_rng(7).normal(size=(9, 3)), np.zeros(3), Sigma=SIGMA_3)
    rewards = bandit.pull(np.full(9, 2000), np.random.default_rng(8))
    free = estimate_covariance(rewards, bandit.features, "lstsq")
    assert np.linalg.eigvalsh(free.Sigma)[0] > 0.05
    bound = estimate_covariance(rewards, bandit.features, "psd")
    assert bound.Sigma == pytest.approx(free.Sigma, abs=1e-10)


def test_an_unfinished_fit_says_so() -> None:
    """Few steps from a far start leave a violation that is reported."""
    points = np.random.default_rng(9).normal(size=(1, 8, 3))
    root, target = np.full((1, 8), 8**-0.5), np.random.default_rng(10).exponential(size=(1, 8))
    start = 100 * np.eye(3)[None]
    _, early = fit_psd(points, root, target, points[0], start=start, max_iterations=3)
    Sigma, late = fit_psd(points, root, target, points[0], start=start)
    assert early[0] > 1e-3
    assert late[0] <= 1e-8
    other, _ = fit_psd(points, root, target, points[0], start=np.zeros((1, 3, 3)))
    assert Sigma == pytest.approx(other, abs=1e-6)


# --- properties of both -------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_estimates_scale_with_the_square_of_the_rewards(method: str) -> None:
    features, rewards = drawn_problem(11, 3, 9, 6)
    scaled = Rewards(rewards.counts, 1e3 * rewards.means, 1e6 * rewards.scatters)
    one, other = (estimate_covariance(r, features, method) for r in (rewards, scaled))
    assert other.Sigma == pytest.approx(1e6 * one.Sigma, rel=1e-5, abs=1e-3)
    assert float(other.mean_square) == pytest.approx(1e6 * float(one.mean_square))


@pytest.mark.parametrize("method", METHODS)
def test_identified_variances_do_not_depend_on_the_basis(method: str) -> None:
    features, rewards = drawn_problem(12, 3, 9, 6)
    turn = np.linalg.qr(np.random.default_rng(13).normal(size=(3, 3)))[0] @ np.diag([1, 5, 0.2])
    one = estimate_covariance(rewards, features, method)
    other = estimate_covariance(rewards, features @ turn, method)
    assert one.identified
    assert other.variances == pytest.approx(one.variances, rel=1e-4, abs=1e-5)


def nearly_dependent(seed: int, distance: float) -> tuple[LinearBandit, list[int]]:
    """Return a bandit, and pulls of as many arms as dimensions, nearly dependent."""
    rng = np.random.default_rng([14, seed])
    d = int(rng.integers(3, 7))
    x, root = rng.normal(size=(d + 10, d)), rng.normal(size=(d, d))
    x[d - 1] = 2 * rng.dirichlet(np.ones(d - 1)) @ x[: d - 1] + distance * rng.normal(size=d)
    return LinearBandit(x, rng.normal(size=d), Sigma=root @ root.T), [9] * d + [0] * 10


@pytest.mark.parametrize("distance", [1e-2, 1e-3, 1e-4, 1e-5, 1e-6])
@pytest.mark.parametrize("seed", range(12))
def test_what_exploration_hardly_saw_gets_no_variance_beyond_all_measure(
    distance: float, seed: int
) -> None:
    """The squares are exactly those of the true variances, which a moderate matrix fits."""
    bandit, counts = nearly_dependent(seed, distance)
    squares, true = exact_squares(counts, bandit.variances.tolist()), bandit.variances
    found = estimate_covariance(squares, bandit.features, "psd")
    pulled = np.array(counts) > 0
    assert found.optimality <= 1e-8
    assert found.variances[pulled] == pytest.approx(true[pulled], rel=1e-4, abs=1e-4 * true.max())
    assert found.variances.max() <= 1000 * true.max()


@pytest.mark.slow
@pytest.mark.parametrize("distance", [1e-2, 1e-3, 1e-4, 1e-5])
@pytest.mark.parametrize("seed", range(12))
def test_the_same_arms_with_noisy_rewards_are_fitted_to_the_end(distance: float, seed: int) -> None:
    bandit, counts = nearly_dependent(seed, distance)
    rewards = bandit.pull(np.array(counts), np.random.default_rng([15, seed]))
    assert estimate_covariance(rewards, bandit.features, "psd").optimality <= 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("loud", [[1e3, 1e3, 1e3], [1e6, 1e6, 1e6], [1, 1e4, 1], [1e12, 1, 1]])
@pytest.mark.parametrize("seed", range(4))
def test_arms_that_were_not_played_do_not_spoil_a_fit_that_is_determined(
    loud: list[float], seed: int
) -> None:
    features, rewards = drawn_problem(seed, 3, 9, 6)
    plain = estimate_covariance(rewards, features, "psd")
    log = (rewards.counts, rewards.means, rewards.scatters)
    unplayed = Rewards(*(np.append(part, 0) for part in log))
    row = np.random.default_rng(seed).normal(size=(1, 3)) * loud
    found = estimate_covariance(unplayed, np.vstack([features, row]), "psd")
    assert plain.identified
    assert found.optimality <= 1e-8
    assert found.variances[:9] == pytest.approx(plain.variances, rel=1e-3, abs=1e-5)


def test_identification_does_not_depend_on_units() -> None:
    # Three arms with variances 1, 1 and 2; the second feature is in a small unit.
    features = np.array([[1.0, 0.0], [0.0, 1e-5], [1.0, 1e-5]])
    found = estimate_covariance(exact_squares([9, 9, 9], [1.0, 1.0, 2.0]), features)
    assert found.identified
    assert found.variances == pytest.approx([1.0, 1.0, 2.0])


@SETTINGS
@given(st.integers(0, 2**32 - 1), st.integers(2, 3), st.sampled_from([1e2, 1e4, 1e9, 1e12]))
def test_unlike_units_leave_the_variances_of_what_was_explored(
    seed: int, d: int, factor: float
) -> None:
    """The same arms in other units, often too few of them to determine the whole matrix."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-2, 3, (7, d)).astype(float)
    counts = rng.multinomial(40, rng.dirichlet(np.full(7, 0.5)), size=3)
    units = factor ** rng.integers(-1, 2, d)
    rewards = LinearBandit(x, np.zeros(d), variances=np.ones(7)).pull(counts, rng)
    plain, other = (estimate_covariance(rewards, features) for features in (x, x * units))
    pulled = counts > 0
    assert np.array_equal(plain.rank, other.rank)
    assert other.variances[pulled] == pytest.approx(plain.variances[pulled], rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("unit", [1, 10**3, 30_000, 35_000, 10**5, 10**6])
def test_least_norm_is_that_of_the_given_units(unit: int) -> None:
    """Two arms explored, the third predicted: exactly, by the kernel (x'y)^2 of the least norm."""
    x = [[1, 0], [1, unit], [1, -unit]]
    kernel = [[Fraction(int(np.dot(a, b))) ** 2 for b in x[:2]] for a in x]
    (p, q), (_, r), (s, t) = kernel
    det = p * r - q * q
    first, second = Fraction(1), Fraction(2)
    wanted = (s * (r * first - q * second) + t * (p * second - q * first)) / det
    found = estimate_covariance(exact_squares([9, 9, 0], [1.0, 2.0, 1.0]), np.array(x, float))
    assert found.rank == 2
    assert found.variances == pytest.approx([1.0, 2.0, float(wanted)], rel=1e-4)


def test_arms_that_are_nearly_one_share_their_variance() -> None:
    """What tells them apart is smaller than the tolerance of the rank, and is not divided by."""
    x = np.array([[1.0, 0.0], [1.0, 1e-10], [0.0, 1.0]])
    found = estimate_covariance(exact_squares([9, 9, 0], [1.0, 2.0, 1.0]), x)
    assert found.rank == 1
    assert found.variances == pytest.approx([1.5, 1.5, 0.0], abs=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_batches_equal_one_by_one(method: str) -> None:
    """Also where replications explored different numbers of actions, or too few."""
    rng = np.random.default_rng(14)
    bandit = LinearBandit(rng.normal(size=(8, 3)), [1.0, 0.0, -1.0], Sigma=SIGMA_3)
    counts = rng.multinomial(15, np.full(8, 1 / 8), size=(6, 2))
    counts[0, 0] = [15, 0, 0, 0, 0, 0, 0, 0]
    counts[1, 0] = [5, 5, 5, 0, 0, 0, 0, 0]
    counts[2, 1] = [0, 0, 0, 0, 0, 0, 8, 7]
    rewards = bandit.pull(counts, rng)
    batch = estimate_covariance(rewards, bandit.features, method)
    assert batch.Sigma.shape == (6, 2, 3, 3)
    assert batch.variances.shape == (6, 2, 8)
    assert batch.rank.shape == batch.mean_square.shape == batch.optimality.shape == (6, 2)
    for place in np.ndindex(6, 2):
        one = Rewards(counts[place], rewards.means[place], rewards.scatters[place])
        single = estimate_covariance(one, bandit.features, method)
        assert batch.Sigma[place] == pytest.approx(single.Sigma, rel=1e-6, abs=1e-6)
        assert batch.variances[place] == pytest.approx(single.variances, rel=1e-6, abs=1e-6)
        assert batch.rank[place] == single.rank
        assert batch.identified[place] == single.identified
        assert batch.mean_square[place] == pytest.approx(float(single.mean_square))
    assert batch.rank[0, 0] == 1
    assert batch.rank[1, 0] == 3


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("gap", [1e-2, 1e-5])
def test_nearly_collinear_features_lose_nothing(method: str, gap: float) -> None:
    """Two features that differ by little: another basis of the same plane, the same variances."""
    features, rewards = drawn_problem(15, 2, 7, 9)
    one = estimate_covariance(rewards, features, method)
    other = estimate_covariance(rewards, features @ [[1.0, 1.0], [0.0, gap]], method)
    assert one.identified
    assert other.identified
    size = float(one.mean_square)
    assert other.variances == pytest.approx(one.variances, rel=1e-4, abs=1e-5 * size)


@pytest.mark.parametrize("method", METHODS)
def test_noise_free_data_have_no_variance(method: str) -> None:
    bandit = LinearBandit(np.eye(2), [0.3, -0.7], variances=[0.0, 0.0])
    found = estimate_covariance(bandit.pull([4, 5], np.random.default_rng(0)), np.eye(2), method)
    assert np.abs(found.Sigma).max() < 1e-30
    assert found.floored(0.01) == pytest.approx(1e-24)


def test_one_reward_is_fitted_exactly() -> None:
    rewards = Rewards.from_log([1], [3.0], 2)
    found = estimate_covariance(rewards, [[1.0, 0.0], [1.0, 1.0]])
    assert float(found.mean_square) == pytest.approx(0.0, abs=1e-25)
    assert found.rank == 1


def test_floor_is_a_share_of_the_mean_square() -> None:
    found = CovarianceEstimate(
        Sigma=np.zeros((2, 2, 2)),
        variances=np.array([[1.0, -3.0, 0.01], [5.0, 1e-30, 0.5]]),
        rank=np.array([3, 3]),
        mean_square=np.array([2.0, 0.0]),
        optimality=np.zeros(2),
    )
    assert found.floored(0.1).tolist() == [[1.0, 0.2, 0.2], [5.0, 1e-24, 0.5]]


@pytest.mark.parametrize("floor", [0.0, -0.1, float("nan"), float("inf")])
def test_floors_that_are_no_floor_are_refused(floor: float) -> None:
    found = estimate_covariance(Rewards.from_log([0], [1.0], 1), [[1.0]])
    with pytest.raises(ValueError, match=f"floor: must be above 0 .*got {floor}"):
        found.floored(floor)


@pytest.mark.parametrize(
    ("rewards", "features", "method", "message"),
    [
        (exact_squares([1, 1], [1.0, 1.0]), np.eye(2), "clip", "method.*'lstsq', 'psd'.*clip"),
        (Rewards.none((2,)), np.eye(2), "lstsq", "rewards.*at least one"),
        (Rewards.none((3, 2)), np.eye(2), "psd", "rewards.*at least one"),
        (exact_squares([1, 1], [1.0, 1.0]), [[1.0, np.nan], [0, 1]], "lstsq", "features.*nan"),
        (exact_squares([1, 1], [1.0, 1.0]), [1.0, 1.0], "lstsq", r"features.*\(2,\)"),
    ],
)
def test_bad_arguments_are_refused(
    rewards: Rewards, features: object, method: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        estimate_covariance(rewards, features, method)  # type: ignore[arg-type]
